# SPDX-License-Identifier: Apache-2.0
"""
Slow drive on the spot with a wiring that was found: its joints show radii, offsets and zeros.

The robot drives to the corners of a square, several times there and back, then turns to the left
and to the right, by the control law and the position controller of the suite. On straight runs the
casters trail: their angles show the zeros, the paths of the wheels the ratios of the radii. At
corners they turn around, which shows the offsets. In the same time a figure of eight of 20 × 10 cm
leaves 2.5 times the error in a straight drive that a square of 40 cm leaves
(docs/commissioning.md). The turn shows all of them relative to the places of the pivots. Torques
stay near those that the small motions needed, and what drives a wheel on falls to zero at the
speed limit.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from c3p_controller import chosen_law, law_named
from c3p_controller.divergence import Divergence
from c3p_controller.torque_law import Sensed
from c3p_description.model import Array, CasterRobot
from c3p_experiments.loop.command_sources import Command, GoalSource
from c3p_experiments.loop.controllers import make_controller
from c3p_kinematics.commissioning.assignment import NONE, Assignment, WiringRecord, channels_of
from c3p_kinematics.commissioning.motions import MotionStep, not_finite
from c3p_kinematics.odometry import Odometry, OdometryEstimate, OdometrySettings
from c3p_kinematics.rolling import rolling_rates

# period of the position controller, s
COMMAND_PERIOD = 0.02

# delay of samples and torques in the model of the controller, s: that of batches of samples
LATENCY = 0.03

# time in the zone of a corner after which the next one is the goal, s: by then the robot stands
AT_CORNER = 3.0
AT_REST = 0.1

# shortest time over which a speed is measured, s
SPEED_WINDOW = 0.08

# torque by the largest one of the small motions, at most: there one motor alone moves the robot
OVER = 0.6

# longest step that is taken as one of the drive, s
LONGEST_STEP = 0.1

# distance from the square at which the drive is a contradiction, m
ASTRAY = 0.2

# free floor beside the robot, m
ROOM = 0.1

# longest drive, by its shortest duration
LONGEST = 2.0


@dataclass(frozen=True)
class SmallDriveSettings:
    """
    Size of the drive.

    Attributes
    ----------
    rounds : int
        Of the square, each there and back.
    side : float, m
        Of the square, around the start.
    speed : float, m/s
        Along a side.
    rim_speed : float, m/s
        Of the farthest pivot in the turn.
    turn : float, rad
        To the left, and then to the right.
    limit : float, m/s
        By the encoders: what drives a wheel on falls to zero from 70 % of it. The drive stops at
        twice this speed.
    """

    rounds: int = 3
    side: float = 0.4
    speed: float = 0.06
    rim_speed: float = 0.06
    turn: float = 0.5 * math.pi
    limit: float = 0.11

    @property
    def goals(self) -> list[Array]:
        """Poses (3,) in turn, from the start and back to it."""
        corners = 0.5 * self.side * np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
        there = np.concatenate([corners[1:], corners[:1]])
        back = np.concatenate([corners[:0:-1], corners[:1]])
        turns = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, -1], [0, 0, 0]]) * self.turn
        return list(np.concatenate([corners[:1], *([there, back] * self.rounds), turns]))

    def duration(self, farthest: float) -> float:
        """Return the shortest duration, s, for the distance of the farthest pivot, m."""
        path = self.rounds * 8 * self.side + math.sqrt(2.0) * self.side
        return path / self.speed + 4 * self.turn * farthest / self.rim_speed


def free_square(robot: CasterRobot, settings: SmallDriveSettings | None = None) -> float:
    """
    Return the side of the free square of floor that the drive needs, m.

    The robot reaches to its farthest pivot and the wheel behind it; `ROOM` is left on each side.

    Examples
    --------
    >>> from c3p_description import load
    >>> round(free_square(load('c3p')), 2)
    1.45
    """
    settings = settings or SmallDriveSettings()
    reach = (np.hypot(*robot.hip_position.T) + robot.caster_offset + robot.wheel_radius).max()
    return settings.side + 2.0 * (float(reach) + ROOM)


class SmallDrive:
    """
    State machine of the drive; takes and gives channels as `WiringMotions` does.

    Parameters
    ----------
    robot : CasterRobot
        As described.
    wiring : Assignment
        As found. One that moves alike in other axes of the robot does as well.
    torque : (m,) array_like, N·m
        Largest torque of each motor channel in the small motions; `OVER` times is the limit.
    settings : SmallDriveSettings, optional
    """

    def __init__(self, robot: CasterRobot, wiring: Assignment, torque: ArrayLike,
                 settings: SmallDriveSettings | None = None) -> None:
        """Stand."""
        self._robot = robot
        self._wiring = wiring
        self._settings = settings or SmallDriveSettings()
        n = robot.count
        self._channels = channels_of(robot)
        self._odometry = Odometry(robot, OdometrySettings())
        self._odometry.reset((0.0, 0.0, 0.0))
        self._limit = robot.effort_limit.copy()
        for joint in np.flatnonzero(wiring.motor_of != NONE).tolist():
            place = (joint + n) % (2 * n)
            self._limit[place] = min(self._limit[place],
                                     OVER * float(np.asarray(torque)[wiring.motor_of[joint]]))
        self._farthest = float(np.hypot(*robot.hip_position.T).max())
        self._arm = np.concatenate([robot.caster_offset, robot.wheel_radius])
        self._still = np.zeros(len(self._channels.motors))
        self._recent: deque[tuple[float, Array]] = deque()
        self._times: list[float] = []
        self._measured: list[Array] = []
        self._ordered: list[Array] = []
        self._passed = 0.0
        # a law with these limits plans with what it has
        weak = replace(robot, torque_limit=self._limit[:n].copy(),
                       steering_torque_limit=self._limit[n:] if robot.efforts > n
                       else robot.steering_torque_limit)
        self._law = make_controller('auto', weak, latency=LATENCY).law
        self._source = self._new_source()
        self._command: Command | None = None
        self._due = 0.0
        self._stopped = ''
        self._done = False

    def record(self) -> WiringRecord:
        """Return what was measured and ordered until now."""
        return WiringRecord(np.array(self._times), np.array(self._measured),
                            np.array(self._ordered))

    def _new_source(self) -> GoalSource:
        """Return the source of commands from corner to corner."""
        robot = self._robot
        s = self._settings
        position = law_named(chosen_law('auto', robot)).position
        gains = position.Settings(speed=s.speed)
        # of a law without this limit the position controller turns by its own
        if hasattr(gains, 'yaw_rate'):
            gains = replace(gains, yaw_rate=s.rim_speed / self._farthest)
        return GoalSource(position.make(gains, robot), s.goals, dwell=AT_REST, patience=AT_CORNER)

    def step(self, time: float, measured: ArrayLike, held: bool = True) -> MotionStep:
        """
        Take the angles of the encoder channels; return the torques of the motor channels.

        Parameters
        ----------
        time : float, s
            Of the angles; with an earlier one than before the step is left out.
        measured : (2n,) array_like, rad
            In the order of `channels_of`.
        held : bool
            The operator's key is held; if not, the torques are zero and the drive waits.
        """
        angles = np.array(measured, float)
        self._stopped = self._stopped or not_finite(self._channels.encoders, angles)
        new = not self._times or time > self._times[-1]
        if new and not self._stopped and not self._done:
            torque = self._advance(time, angles, held)
            if self._stopped or self._done:
                torque = self._still
            self._times.append(time)
            self._measured.append(angles)
            self._ordered.append(torque.copy())
        over = bool(self._stopped) or self._done or not self._ordered
        torque = self._still if over else self._ordered[-1]
        corner = f'{len(self._source.times) + 1} of {len(self._source.goals)}'
        label = '' if self._done else f'drive on the spot, corner {corner}'
        return MotionStep(torque.copy(), self._done, self._stopped, label)

    def _advance(self, time: float, angles: Array, held: bool) -> Array:
        """Return the torques of the motor channels for a new sample."""
        n = self._robot.count
        passed = min(time - self._times[-1], LONGEST_STEP) if self._times else 0.0
        joints = self._wiring.angles(angles[None])[0]
        unknown = np.full(n, np.nan)
        estimate = self._odometry.step(time, joints[:n], joints[n:], unknown, unknown)
        joint_rates = self._rates(time, joints)
        fast = np.abs(joint_rates) * self._arm
        # a caster rolls and turns at once: a bound of the speed of the pivots
        speed = float(np.hypot(fast[:n].max(), fast[n:].max()))
        if not held:
            # the law starts anew with the key
            self._command = None
            return self._still
        if self._contradicted(speed, estimate):
            return self._still
        self._passed += passed
        if self._passed > LONGEST * self._settings.duration(self._farthest):
            self._stopped = ('the drive is not over after twice its time: motors too weak for '
                             'the floor, or a caster that does not turn')
            return self._still
        effort = self._efforts(time, joints[:n], estimate, passed)
        if self._done or self._stopped:
            return self._still
        rates = np.roll(joint_rates, n)[:len(effort)]
        limit = self._settings.limit
        part = float(np.clip((limit - speed) / (0.3 * limit), 0.0, 1.0))
        effort[:n][effort[:n] * rates[:n] > 0.0] *= part
        return self._channel_torques(effort)

    def _efforts(self, time: float, steering: Array, estimate: OdometryEstimate, passed: float
                 ) -> Array:
        """Return the efforts of the law, within the limits of the drive, N·m."""
        rate = rolling_rates(self._robot, steering, estimate.twist).wheel_rate
        sensed = Sensed(time, steering, rate, estimate.pose, estimate.twist)
        if self._command is None:
            self._law.reset(sensed)
            if self._due == 0.0:
                self._source.start(estimate)
            self._due = time
        if time >= self._due:
            self._command = self._source.step(time, estimate)
            self._due = max(self._due + COMMAND_PERIOD, time)
        assert self._command is not None
        self._done = self._command.done or (
            self._command.in_zone and len(self._source.times) + 1 == len(self._source.goals))
        try:
            effort = self._law.step(sensed, self._command.setpoint, max(passed, 1e-3))
        except Divergence as error:
            self._stopped = f'the law {error}'
            return np.zeros(self._robot.efforts)
        self._law.prepare()
        return np.clip(effort, -self._limit, self._limit)

    def _contradicted(self, speed: float, estimate: OdometryEstimate) -> bool:
        """Stop where the robot does not do what it should; return whether it is so."""
        limit = 2.0 * self._settings.limit
        astray = float(np.abs(estimate.pose[:2]).max()) - 0.5 * self._settings.side
        if speed > limit:
            self._stopped = (f'the wheels move at {speed:.2f} m/s, {limit:g} at most: a motor '
                             'that does not obey, or the robot is pushed')
        elif astray > ASTRAY:
            self._stopped = (f'the robot is {100.0 * astray:.0f} cm beside its square of '
                             f'{100.0 * self._settings.side:.0f} cm: a motor that does not obey, '
                             'or the robot is pushed')
        return bool(self._stopped)

    def _rates(self, time: float, joints: Array) -> Array:
        """Return the rates (2n,) of the joints over the last window, rad/s."""
        recent = self._recent
        recent.append((time, joints))
        while len(recent) > 2 and time - recent[1][0] >= SPEED_WINDOW:
            recent.popleft()
        # stamps of one batch do not measure a speed
        passed = max(time - recent[0][0], 0.5 * SPEED_WINDOW)
        return (joints - recent[0][1]) / passed

    def _channel_torques(self, effort: Array) -> Array:
        """Return the torques (m,) of the motor channels for efforts of the joints, N·m."""
        n = self._robot.count
        wiring = self._wiring
        there = np.flatnonzero(wiring.motor_of != NONE)
        ordered = self._still.copy()
        ordered[wiring.motor_of[there]] = wiring.leads[there] * effort[(there + n) % (2 * n)]
        return ordered


def torque_needed(record: WiringRecord) -> Array:
    """Return the largest torque (m,) that small motions ordered of each motor channel, N·m."""
    return np.abs(record.ordered).max(axis=0)
