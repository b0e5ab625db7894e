# SPDX-License-Identifier: Apache-2.0
"""
Between a command and a law that answers it in one step: limits, the reference ahead, stop, rest.

A command is a twist with its stamp. When a reference ahead has the same stamp the law is given
it, too; else it has to make do with the twist. Without a command the robot comes to rest along
its present motion and is left wherever it stands: nothing pulls it back to a place. At rest the
law is not asked: where its torques do not arrive, as behind a gate that is closed, what it
estimates drifts away, and it would never give the zero that opens the gate. A robot that was to
stand and does not in time has its wheels braked: on a computer that is so busy that torques come
0.1 s late a law swings about the rest that it wants to reach, and a brake does not.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_controller.ahead_limits import limit_ahead, stay_near, stop_ahead, stop_time
from c3p_controller.law import Ahead, Asked, Sensed, TorqueLaw, check_ahead
from c3p_controller.reference import ReferenceLimits, limit_twist
from c3p_controller.traction_control import TractionControl
from c3p_controller.velocity_controller import braking_torque, limit_torque
from c3p_description.model import Array, CasterRobot

# references ahead that may wait for the command of their stamp
WAITING = 3

# made-up cycles before the first: a plan is made and followed, so that everything is compiled
WARM_UP, WARM_UP_PERIOD = 60, 0.005

# a stop that is not over after its time and this is left to the brake, s
STOP_PATIENCE = 0.5

# a twist this small asks for rest, m/s and rad/s
ASKED = 1e-3

# a robot that stands for this long, and shall stand, is at rest, s
REST_AFTER = 0.1

NOTHING, TWIST, AHEAD, STOP, REST, BRAKE = ('nothing', 'twist', 'ahead', 'stop', 'rest',
                                            'brake')


class LawFailure(ArithmeticError):
    """A law that had no torque to give; the text says what it gave instead."""


class OneStep:
    """
    Asks a law of torques for what a command means.

    The memory is the references ahead that came, the present stop, and that of the law.

    Parameters
    ----------
    robot : CasterRobot
    law : TorqueLaw
    limits : ReferenceLimits
        Speed and yaw rate of whatever is asked.
    stop_deceleration : float, m/s²
    standstill : (speed, yaw_rate), m/s and rad/s
        A robot slower than both stands.
    stop_damping : float, N·m·s/rad
        Of the brake.

    Attributes
    ----------
    law : TorqueLaw
    traction : TractionControl
    limits : ReferenceLimits
    stop_deceleration : float
    standstill : tuple of float
    stop_damping : float
        These may be changed between steps.
    follows : str
        What the law was given last: ``ahead``, ``twist``, ``stop``, or ``nothing`` yet; or why it
        was not asked: ``rest``, ``brake``.
    """

    def __init__(self, robot: CasterRobot, law: TorqueLaw, limits: ReferenceLimits,
                 stop_deceleration: float, standstill: tuple[float, float] = (0.005, 0.01),
                 stop_damping: float = 0.1) -> None:
        """Start without references."""
        self.law, self.limits, self.stop_deceleration = law, limits, stop_deceleration
        self.standstill, self.stop_damping = standstill, stop_damping
        self._robot = robot
        self.traction, self._sent = TractionControl(robot), np.zeros(robot.count)
        self._lever = float(np.hypot(*robot.hip_position.T).max())
        # stamp: reference as it came, and what the limits made of it
        self._came: dict[int, tuple[Ahead, ReferenceLimits, Ahead]] = {}
        self.reset()

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past; the robot is where `sensed` says (at rest when left out)."""
        self._stop: tuple[float, Ahead] | None = None
        self._stands, self._rest_by, self.follows = 0.0, math.inf, NOTHING
        self.law.reset(sensed)

    def forget(self) -> None:
        """Drop the references that came: time has begun anew."""
        self._came.clear()

    def warm_up(self) -> None:
        """Compile the kernels, with and without a reference ahead."""
        zero = np.zeros(self._robot.count)
        ahead = Ahead(np.array([0.0, 1.0]), np.array([[0.0, 0.0, 0.0], [0.1, 0.1, 0.0]]),
                      np.full((2, 3), [0.1, 0.1, 0.0]))
        for k in range(WARM_UP):
            asked = Asked(np.array([0.1, 0.1, 0.0]), ahead if k % 2 else None)
            self.law.step(Sensed(WARM_UP_PERIOD * k, zero, zero, np.zeros(3), np.zeros(3)), asked,
                          WARM_UP_PERIOD)
        self.reset()

    def look_ahead(self, stamp: int, ahead: Ahead) -> None:
        """
        Keep the reference ahead of the command with this stamp, ns.

        Raises
        ------
        ValueError
            A reference that cannot be followed; see `check_ahead` and `limit_ahead`.
        """
        ahead = check_ahead(ahead)
        self._came[stamp] = ahead, self.limits, limit_ahead(ahead, self.limits)
        while len(self._came) > WAITING:
            del self._came[next(iter(self._came))]

    def step(self, sensed: Sensed, command: Array | None, stamp: int, cycle: int, dt: float
             ) -> Array:
        """
        Return the wheel torques (n,) N·m, within the limits of the robot.

        Parameters
        ----------
        sensed : Sensed
        command : (3,) array or None
            Twist asked for, ``base_link``; None to come to rest.
        stamp, cycle : int, ns
            Stamp of the command and of the cycle.
        dt : float, s
            Since the last call; greater than zero.

        Raises
        ------
        LawFailure
            The law gave something that is no torque.
        """
        self.traction.update(sensed, self._sent, dt)
        self.law.limit = self.traction.limit
        self._sent = self._torque(sensed, command, stamp, cycle, dt)
        return self._sent.copy()

    def _torque(self, sensed: Sensed, command: Array | None, stamp: int, cycle: int, dt: float
                ) -> Array:
        if self._rests(sensed, command, dt):
            self._stop, self._rest_by, self.follows = None, math.inf, REST
            self.law.reset(sensed)
            return np.zeros(self._robot.count)
        if self._overdue(sensed, command, stamp):
            self._stop, self.follows = None, BRAKE
            self.law.reset(sensed)
            return braking_torque(self._robot, sensed.wheel_rate, self.stop_damping,
                                  self.standstill[0])
        asked = self._stopping(sensed) if command is None else self._following(
            sensed, command, stamp, 1e-9 * (cycle - stamp))
        try:
            torque = np.asarray(self.law.step(sensed, asked, dt), float)
        except ArithmeticError as error:
            raise LawFailure(f'{type(self.law).__name__}: {error}') from error
        if not np.isfinite(torque).all():
            raise LawFailure(f'{type(self.law).__name__}: torque = {torque.tolist()}: must be '
                             'finite')
        return self.traction.apply(
            limit_torque(np.where(self._robot.driven, torque, 0.0), self.traction.bound))

    def _rests(self, sensed: Sensed, command: Array | None, dt: float) -> bool:
        speed, yaw_rate = self.standstill
        stands = (np.hypot(sensed.twist[0], sensed.twist[1]) < speed
                  and abs(sensed.twist[2]) < yaw_rate
                  and (command is None or (abs(command) < ASKED).all()))
        self._stands = self._stands + dt if stands else 0.0
        return self._stands >= REST_AFTER

    def _overdue(self, sensed: Sensed, command: Array | None, stamp: int) -> bool:
        """Return whether the robot was to stand and its time for that is over."""
        # a reference ahead says where to stand, which may need motion
        if command is not None and ((abs(command) >= ASKED).any() or stamp in self._came):
            self._rest_by = math.inf
            return False
        if self._rest_by == math.inf:
            self._rest_by = sensed.time + STOP_PATIENCE + stop_time(
                limit_twist(sensed.twist, self.limits), self._lever, self.stop_deceleration)
        return sensed.time > self._rest_by

    def _following(self, sensed: Sensed, command: Array, stamp: int, age: float) -> Asked:
        self._stop = None
        twist = limit_twist(command, self.limits)
        came = self._came.get(stamp)
        if came is None:
            self.follows = TWIST
            return Asked(twist)
        raw, limits, ahead = came
        if limits is not self.limits:
            ahead = limit_ahead(raw, self.limits)
            self._came[stamp] = raw, self.limits, ahead
        self.follows = AHEAD
        return Asked(twist, stay_near(ahead, age, sensed.pose, self.limits), sensed.time - age)

    def _stopping(self, sensed: Sensed) -> Asked:
        self.follows = STOP
        if self._stop is None:
            self._stop = sensed.time, stop_ahead(
                sensed.pose, limit_twist(sensed.twist, self.limits), self._lever,
                self.stop_deceleration)
        begin, way = self._stop
        return Asked(np.zeros(3), way, begin)
