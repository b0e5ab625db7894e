# SPDX-License-Identifier: Apache-2.0
"""
Executes velocity commands with a torque law: limits, preview, controlled stop, standstill.

A command is a twist with its stamp. A preview with the same stamp is part of the setpoint;
without one the setpoint is the bare twist. Without a command the robot stops along its present
motion; nothing pulls it back to a place. At standstill the law is reset and the torques are zero:
behind a closed wheel gate the observer of the law would drift, and the gate would never get the
zero that opens it. If a stop does not end in time the wheels brake: when torques arrive 0.1 s
late the closed loop limit-cycles about standstill, braking does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from c3p_controller._limit_kernels import STANDSTILL_COMMAND
from c3p_controller.divergence import DivergenceWatch
from c3p_controller.limits import (
    Demand,
    ReferenceLimits,
    TractionControl,
    TractionSettings,
    braking_torque,
    limit_twist,
)
from c3p_controller.previews import limit_preview, stay_near, stop_preview, stop_time
from c3p_controller.torque_law import Preview, Sensed, Setpoint, TorqueLaw, check_preview
from c3p_controller.velocity_controller_parameters import StopParameters
from c3p_description.model import Array, CasterRobot

# previews that may wait for the command of their stamp
WAITING = 3

# made-up cycles before the first: a plan is made and followed, so that everything is compiled
WARM_UP = 60
WARM_UP_PERIOD = 0.005

# their steering angles, rad: rolling lines are not one line
WARM_STEERING = 0.5

# a stop that exceeds its time by this is left to the brake, s
STOP_PATIENCE = 0.5

# standstill of this duration, with standstill commanded, is rest, s
REST_AFTER = 0.1

NOTHING = 'nothing'
TWIST = 'twist'
PREVIEW = 'ahead'
STOP = 'stop'
REST = 'rest'
BRAKE = 'brake'


class LawFailure(ArithmeticError):
    """A law returned an invalid torque or diverges; the text contains the numbers."""


@dataclass(frozen=True)
class FollowerSettings:
    """
    Limits of the setpoints, stop, standstill and traction control.

    `stop_deceleration` is in m/s², `stop_damping` of the brake in N·m·s/rad. The robot is at
    `standstill` below both speed, m/s, and yaw rate, rad/s.
    """

    limits: ReferenceLimits = field(default_factory=ReferenceLimits)
    stop_deceleration: float = StopParameters.stop_acceleration
    standstill: tuple[float, float] = (StopParameters.standstill_speed,
                                       StopParameters.standstill_yaw_rate)
    stop_damping: float = StopParameters.stop_damping
    traction: TractionSettings = field(default_factory=TractionSettings)

    @property
    def demand(self) -> Demand:
        """Limits by which traction control judges a command, and standstill."""
        return Demand(self.limits.speed, self.limits.yaw_rate, *self.standstill)


class CommandFollower:
    """
    Executes commands with a law; the memory is the previews, the present stop and the law's.

    Parameters
    ----------
    robot : CasterRobot
    law : TorqueLaw
    settings : FollowerSettings, optional

    Attributes
    ----------
    traction : TractionControl
    follows : str
        Last setpoint of the law: ``ahead`` (with a preview), ``twist``, ``stop``, or ``nothing``
        yet; ``rest`` and ``brake`` while the law does not run.
    """

    def __init__(self, robot: CasterRobot, law: TorqueLaw,
                 settings: FollowerSettings | None = None) -> None:
        """Start without previews."""
        self.law, self.settings = law, settings or FollowerSettings()
        self._demand = self.settings.demand
        self._robot = robot
        self.traction = TractionControl(robot, self.settings.traction)
        self._divergence = DivergenceWatch(robot)
        # last torques
        self._sent = np.zeros(robot.efforts)
        self._lever = float(np.hypot(*robot.hip_position.T).max())
        # stamp: preview as received, limits, and the preview within these limits
        self._previews: dict[int, tuple[Preview, ReferenceLimits, Preview]] = {}
        # exceptions of the law outside its step, by method: the next step fails with them
        self._failed: dict[str, str] = {}
        self.reset()

    def retune(self, settings: FollowerSettings, law_settings: Any) -> None:
        """Replace the settings, and those of the law."""
        self.settings, self.traction.settings = settings, settings.traction
        self._demand = settings.demand
        self._call('retune', law_settings)

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past; start from `sensed` (at rest when omitted)."""
        self._stop: tuple[float, Preview] | None = None
        self._stands, self._rest_by, self.follows = 0.0, math.inf, NOTHING
        self._restart_law(sensed)

    def metrics(self) -> dict[str, str]:
        """Return the metrics of the law for the diagnostics."""
        return {'input delay [ms]': f'{1e3 * self.law.latency:.1f}'}

    def forget(self) -> None:
        """Drop the previews: time has restarted."""
        self._previews.clear()

    def warm_up(self) -> None:
        """Compile the kernels, with and without a preview."""
        zero = np.zeros(self._robot.count)
        askew = np.full(self._robot.count, WARM_STEERING)
        preview = Preview(np.array([0.0, 1.0]), np.array([[0.0, 0.0, 0.0], [0.1, 0.1, 0.0]]),
                          np.full((2, 3), [0.1, 0.1, 0.0]))
        limits = self.settings.limits
        for k in range(WARM_UP):
            if k % 2:
                self._previews[k] = preview, limits, preview
            self.step(Sensed(WARM_UP_PERIOD * k, askew, zero, np.zeros(3), np.zeros(3)),
                      np.array([0.1, 0.1, 0.0]), k, k, WARM_UP_PERIOD)
            self.prepare()
        self.forget()
        self._divergence.reset()
        self._sent = np.zeros(self._robot.efforts)
        self.reset()
        self.traction.warm_up()
        limit_twist(np.zeros(3), limits)

    def take_preview(self, stamp: int, preview: Preview) -> None:
        """
        Keep the preview of the command with this stamp, ns.

        Raises
        ------
        ValueError
            An invalid preview; see `check_preview` and `limit_preview`.
        """
        preview = check_preview(preview)
        limits = self.settings.limits
        self._previews[stamp] = preview, limits, limit_preview(preview, limits)
        while len(self._previews) > WAITING:
            del self._previews[next(iter(self._previews))]

    def step(self, sensed: Sensed, command: Array | None, stamp: int, cycle: int, dt: float
             ) -> Array:
        """
        Return the torques (robot.efforts,) N·m, within the limits of the robot.

        Parameters
        ----------
        sensed : Sensed
        command : (3,) array or None
            Twist, ``base_link``; None stops the robot.
        stamp, cycle : int, ns
            Stamp of the command and of the cycle.
        dt : float, s
            Since the last call; greater than zero.

        Raises
        ------
        LawFailure
            The law raised an exception, since the last step too, returned an invalid torque, or
            diverges; after that until the robot rests.
        """
        if self._failed:
            raise LawFailure('; '.join(self._failed.values()))
        excess, moves, still = self.traction.update(sensed, self._sent, dt, command, self._demand)
        self._stands = self._stands + dt if still and not moves else 0.0
        if self._stands >= REST_AFTER:
            self._rest_by = math.inf
            return self._override(REST, sensed, np.zeros(self._robot.efforts))
        # a preview contains the place of rest, and reaching it may need motion
        if moves or (command is not None and stamp in self._previews):
            self._rest_by = math.inf
        elif self._overdue(sensed):
            return self._override(BRAKE, sensed, braking_torque(
                self._robot, sensed.wheel_rate, self.settings.stop_damping,
                self.settings.standstill[0]))
        setpoint = self._stopping(sensed) if command is None else self._following(
            sensed, command if excess == 1.0 else command / excess, stamp,
            1e-9 * (cycle - stamp))
        try:
            self._divergence.step(sensed.steering, sensed.twist, self._sent, setpoint, dt)
            self.law.limit = self.traction.limit
            torque = self.law.step(sensed, setpoint, dt)
            admitted = self.traction.admit(torque)
        except ArithmeticError as error:
            raise LawFailure(f'{type(self.law).__name__}: {error}') from error
        except Exception as error:  # the law may be the code of another package
            raise LawFailure(self._raised(error, 'step')) from error
        if admitted is None:
            raise LawFailure(f'{type(self.law).__name__}: torque = {np.asarray(torque).tolist()}: '
                             'must be finite')
        self._sent = admitted
        return admitted.copy()

    def halts(self, command: Array | None) -> float:
        """Return the deceleration of the stop of `command`, m/s²; 0 for a command that moves."""
        moves = command is not None and (self.follows == PREVIEW or bool(
            np.abs(command).max() >= STANDSTILL_COMMAND))
        return 0.0 if moves else self.settings.stop_deceleration

    def prepare(self) -> None:
        """Prepare the next step, as `TorqueLaw.prepare`."""
        self._call('prepare')

    def _raised(self, error: Exception, method: str) -> str:
        return f'{type(self.law).__name__}.{method} raised {type(error).__name__}: {error}'

    def _call(self, method: str, *arguments: Any) -> None:
        """Call a method of the law; the steps fail with its exception until it succeeds."""
        try:
            getattr(self.law, method)(*arguments)
        except Exception as error:  # the law may be the code of another package
            self._failed[method] = self._raised(error, method)
        else:
            self._failed.pop(method, None)

    def _restart_law(self, sensed: Sensed | None) -> None:
        """Reset the law, which also ends a failure of `prepare`."""
        self._failed.pop('prepare', None)
        self._call('reset', sensed)

    def _override(self, follows: str, sensed: Sensed, torque: Array) -> Array:
        """Send a torque in the place of the law's."""
        self._stop = None
        self.follows = follows
        self._sent = torque
        self._restart_law(sensed)
        return torque.copy()

    def _overdue(self, sensed: Sensed) -> bool:
        """Return whether a commanded standstill was not reached in time."""
        if self._rest_by == math.inf:
            self._rest_by = sensed.time + STOP_PATIENCE + stop_time(
                limit_twist(sensed.twist, self.settings.limits), self._lever,
                self.settings.stop_deceleration)
        return sensed.time > self._rest_by

    def _following(self, sensed: Sensed, twist: Array, stamp: int, age: float) -> Setpoint:
        self._stop, limits = None, self.settings.limits
        received = self._previews.get(stamp)
        if received is None:
            self.follows = TWIST
            return Setpoint(twist)
        raw, used, preview = received
        if used is not limits:
            preview = limit_preview(raw, limits)
            self._previews[stamp] = raw, limits, preview
        self.follows = PREVIEW
        return Setpoint(twist, stay_near(preview, age, sensed.pose, limits), sensed.time - age)

    def _stopping(self, sensed: Sensed) -> Setpoint:
        self.follows = STOP
        if self._stop is None:
            self._stop = sensed.time, stop_preview(
                sensed.pose, limit_twist(sensed.twist, self.settings.limits), self._lever,
                self.settings.stop_deceleration)
        begin, preview = self._stop
        return Setpoint(np.zeros(3), preview, begin)
