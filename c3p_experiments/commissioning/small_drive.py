# SPDX-License-Identifier: Apache-2.0
"""
Slow drive on the spot with a wiring that was found: its joints show radii, offsets and zeros.

The reference is a figure of eight from rest to rest, then a turn to the left and back:

    x = A sin Ωt,   y = ½ A sin 2Ωt;    φ = ½ Φ (1 − cos 2πt/T).

The speed along the figure is never zero, so that casters turn around their pivots and do not flip;
its bends in both directions show radii, offsets and zeros relative to each other. The turn shows
them relative to the places of the pivots. Torques stay near those that the small motions needed,
and what drives a wheel on falls to zero at the speed limit.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.casters import inverse
from c3p_kinematics.commissioning.assignment import NONE, Assignment, WiringRecord, channels_of
from c3p_kinematics.commissioning.motions import MotionStep, not_finite
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.se2 import to_body, wrap

# torques of a motor are in proportion to the error of its rate: as a robot of this mass on that
# many wheels would need to approach the rate with BANDWIDTH, 1/s; their sum over time, by
# PERSISTENCE, 1/s, overcomes friction and is forgotten in MEMORY, s
BANDWIDTH = 6.0
PERSISTENCE = 5.0
MEMORY = 3.0

# feedback of the pose error, 1/s
GAIN = 1.0

# shortest time over which a speed is measured, s
SPEED_WINDOW = 0.08

# torque over the largest one of the small motions, at most
OVER = 2.0

# longest step that is taken as one of the drive, s
LONGEST_STEP = 0.1

# distance from the reference from which it waits, m, and where it goes on at LEAST_PACE: in
# another direction casters that block each other let go. The yaw counts by the farthest pivot
WAITS = 0.02, 0.06
LEAST_PACE = 0.3

# distance from the reference at which the drive is a contradiction, m
ASTRAY = 0.2

# longest drive, by its duration: waiting is not part of that
LONGEST = 1.6


@dataclass(frozen=True)
class SmallDriveSettings:
    """
    Size of the drive.

    Attributes
    ----------
    figure_time, turn_time : float, s
        Duration of the figure of eight, and of the turn there and back, T.
    speed : float, m/s
        Along the figure: between 0.66 and 1.41 of it.
    rim_speed : float, m/s
        Largest speed of the farthest pivot in the turn.
    reach : float, m
        A, half of the length of the figure.
    limit : float, m/s
        By the encoders: what drives a wheel on falls to zero from 70 % of it. The drive stops at
        twice this speed.
    fade : float, s
        In which the motion begins and ends.
    """

    figure_time: float = 50.0
    turn_time: float = 40.0
    speed: float = 0.05
    rim_speed: float = 0.07
    reach: float = 0.1
    limit: float = 0.11
    fade: float = 4.0

    @property
    def duration(self) -> float:
        """Of the drive, s, without pauses."""
        return self.figure_time + self.turn_time


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
        mass = (robot.platform_mass + float(np.sum(robot.link_mass))
                + float(np.sum(robot.wheel_mass))) / n
        gain = BANDWIDTH * mass * np.concatenate([robot.wheel_radius, robot.caster_offset])**2
        self._gain = gain[:robot.efforts]
        self._sum = np.zeros(robot.efforts)
        self._odometry = Odometry(robot, OdometrySettings())
        self._odometry.reset((0.0, 0.0, 0.0))
        self._limit = np.where(robot.actuated, robot.effort_limit, 0.0)
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
        self._driven = 0.0
        self._passed = 0.0
        self._stopped = ''
        self._done = False

    def record(self) -> WiringRecord:
        """Return what was measured and ordered until now."""
        return WiringRecord(np.array(self._times), np.array(self._measured),
                            np.array(self._ordered))

    def reference(self, time: float) -> tuple[Array, Array]:
        """
        Return pose and velocity (3,) on the floor, seen from the start.

        Examples
        --------
        >>> from c3p_description import load
        >>> from c3p_kinematics.commissioning.assignment import as_described
        >>> robot = load('c3p')
        >>> drive = SmallDrive(robot, as_described(robot), [0.2, 0.2, 0.2])
        >>> bool(np.allclose(drive.reference(90.0), 0.0))
        True
        """
        s = self._settings
        if time > s.figure_time:
            turn = 2.0 * math.pi / s.turn_time
            angle = turn * min(time - s.figure_time, s.turn_time)
            # half of Φ, for the speed of the farthest pivot
            swing = s.rim_speed / self._farthest / turn
            return (np.array([0.0, 0.0, swing * (1.0 - math.cos(angle))]),
                    np.array([0.0, 0.0, swing * turn * math.sin(angle)]))
        rate = s.speed / s.reach
        pose = np.array([s.reach * math.sin(rate * time),
                         0.5 * s.reach * math.sin(2.0 * rate * time), 0.0])
        velocity = np.array([s.speed * math.cos(rate * time),
                             s.speed * math.cos(2.0 * rate * time), 0.0])
        u = min(max(min(time, s.figure_time - time) / s.fade, 0.0), 1.0)
        window = u * u * (3.0 - 2.0 * u)
        slope = 6.0 * u * (1.0 - u) / s.fade * (1.0 if time < s.figure_time - time else -1.0)
        return window * pose, window * velocity + slope * pose

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
        left = max(0.0, self._settings.duration - self._driven)
        label = '' if self._done else f'drive of {self._settings.duration:.0f} s on the spot'
        return MotionStep(torque.copy(), self._done, self._stopped, label if left else '')

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
            self._sum[:] = 0.0
            return self._still
        target, velocity = self.reference(self._driven)
        error = target - estimate.pose
        error[2] = wrap(error[2])
        if self._contradicted(speed, error):
            return self._still
        astray = float(np.hypot(*error[:2]) + self._farthest * abs(error[2]))
        pace = float(np.clip((WAITS[1] - astray) / (WAITS[1] - WAITS[0]), LEAST_PACE, 1.0))
        self._driven += pace * passed
        self._passed += passed
        if max(self._driven, self._passed / LONGEST) >= self._settings.duration:
            self._done = True
            return self._still
        largest = self._settings.speed
        bound = np.array([largest, largest, largest / self._farthest])
        twist = to_body(estimate.pose[2], pace * velocity + np.clip(GAIN * error, -bound, bound))
        wheel, steering, _ = inverse(self._robot, joints[:n], twist)
        rates = np.roll(joint_rates, n)[:len(self._sum)]
        lack = self._gain * (np.concatenate([wheel, steering])[:len(rates)] - rates)
        self._sum = np.clip((self._sum + PERSISTENCE * lack * passed) * math.exp(-passed / MEMORY),
                            -self._limit, self._limit)
        effort = np.clip(lack + self._sum, -self._limit, self._limit)
        limit = self._settings.limit
        part = float(np.clip((limit - speed) / (0.3 * limit), 0.0, 1.0))
        effort[:n][effort[:n] * rates[:n] > 0.0] *= part
        return self._channel_torques(effort)

    def _contradicted(self, speed: float, error: Array) -> bool:
        """Stop where the robot does not do what it should; return whether it is so."""
        limit = 2.0 * self._settings.limit
        astray = float(np.hypot(*error[:2]))
        if speed > limit:
            self._stopped = (f'the wheels move at {speed:.2f} m/s, {limit:g} at most: a motor '
                             'that does not obey, or the robot is pushed')
        elif astray > ASTRAY:
            self._stopped = (f'the robot is {100.0 * astray:.0f} cm from where it should be: a '
                             'motor that does not obey, an obstacle, or a wheel in the air')
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
