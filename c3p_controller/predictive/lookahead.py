# SPDX-License-Identifier: Apache-2.0
"""
The reference over a predictive controller's horizon, from the reference ahead or a bare twist.

Rows ``[X, Y, φ, Ẋ, Ẏ, ω, χ]``: pose and velocity on the floor, and the direction of the path, in
which errors are split into along and across.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_controller.law import Ahead
from c3p_description.model import Array
from c3p_kinematics.se2 import wrap

# a reference slower than this has no direction of its own, m/s
DIRECTION_SPEED = 1e-3


def sample(ahead: Ahead, times: Array, yaw: float, rows: Array) -> None:
    """
    Write the reference at `times` after the first of `ahead` into `rows` (k, 7).

    Between points linear; beyond the last the reference stands still there if it ends at rest and
    goes on with its last velocity if not. `yaw` is where the robot looks: the turn of φ that is
    nearest to it is taken.
    """
    for j in range(3):
        rows[:, j] = np.interp(times, ahead.time, ahead.pose[:, j])
        rows[:, 3 + j] = np.interp(times, ahead.time, ahead.velocity[:, j])
    beyond = np.maximum(times - ahead.time[-1], 0.0)
    if beyond[-1] > 0.0:
        rows[:, :3] += beyond[:, None] * ahead.velocity[-1]
    rows[:, 2] += float(wrap(rows[0, 2] - yaw)) - (rows[0, 2] - yaw)
    directions(rows)


def directions(rows: Array) -> None:
    """Write the direction of travel of each row; one that stands takes its neighbour's."""
    moving = np.hypot(rows[:, 3], rows[:, 4]) > DIRECTION_SPEED
    if not moving.any():
        rows[:, 6] = 0.0
        return
    angles = np.arctan2(rows[:, 4], rows[:, 3])
    index = np.where(moving, np.arange(len(rows)), -1)
    last = np.maximum.accumulate(index)
    rows[:, 6] = angles[np.where(last >= 0, last, np.flatnonzero(moving)[0])]


class TwistReference:
    """
    The line that a bare twist describes; the memory is the pose that it has come to.

    The pose runs along with the robot in the direction of travel and stays beside it where the
    robot left the line, so that a push or a turning caster is made good; what is left of the line
    for longer than `leash` allows is given up.

    Parameters
    ----------
    acceleration, yaw_acceleration : float, m/s² and rad/s²
        With which the reference goes from the present motion to the twist.
    leash, yaw_leash : float, m and rad
        Largest distance of the reference from the robot.
    """

    def __init__(self, acceleration: float, yaw_acceleration: float, leash: float = 0.1,
                 yaw_leash: float = 0.6) -> None:
        """Start without a line."""
        self.acceleration, self.yaw_acceleration = acceleration, yaw_acceleration
        self.leash, self.yaw_leash = leash, yaw_leash
        self._pose: Array | None = None
        self._turn = 0.0

    def reset(self) -> None:
        """Forget the line."""
        self._pose, self._turn = None, 0.0

    def step(self, twist: Array, pose: Array, velocity: Array, times: Array, dt: float,
             rows: Array) -> None:
        """
        Write the reference at `times` from now into `rows` (k, 7).

        Parameters
        ----------
        twist : (3,) array
            Asked for, ``base_link``.
        pose : (3,) array
            Of the robot; φ continuous.
        velocity : (3,) array
            Of the robot: Ẋ, Ẏ on the floor and ω.
        times : (k,) array, s
            From 0.
        dt : float, s
            Since the last call.
        rows : (k, 7) array
        """
        if self._pose is None:
            self._pose = np.array(pose, float)
        most = self.yaw_acceleration * dt
        self._turn += min(max(twist[2] - self._turn, -most), most)
        reference = self._pose
        reference[2] += self._turn * dt
        reference[2] += float(wrap(reference[2] - pose[2])) - (reference[2] - pose[2])
        reference[2] = min(max(reference[2], pose[2] - self.yaw_leash), pose[2] + self.yaw_leash)
        speed = math.hypot(twist[0], twist[1])
        heading = math.atan2(twist[1], twist[0])
        if speed > 0.0:
            begin = pose[2] + heading
            c, s = math.cos(begin), math.sin(begin)
            across = (pose[1] - reference[1]) * c - (pose[0] - reference[0]) * s
            across = min(max(across, -self.leash), self.leash)
            reference[0], reference[1] = pose[0] + across * s, pose[1] - across * c
            now = min(max(velocity[0] * c + velocity[1] * s, 0.0), speed)
        else:
            # stopping is along the present motion; then the place is held
            now = 0.0
            begin = math.atan2(velocity[1], velocity[0])
            gap = np.array([reference[0] - pose[0], reference[1] - pose[1]])
            going = math.hypot(velocity[0], velocity[1])
            distance = math.hypot(*gap)
            if going > 0.02:
                now, reference[:2] = going, pose[:2]
            elif distance > self.leash:
                reference[:2] = pose[:2] + gap * self.leash / distance
        self._fill(speed, now, begin, twist[2], times, rows)

    def _fill(self, speed: float, now: float, begin: float, turn: float, times: Array,
              rows: Array) -> None:
        reach = self.acceleration * times
        v = np.minimum(now + reach, speed) if speed > now else np.maximum(now - reach, speed)
        w = np.clip(turn, self._turn - self.yaw_acceleration * times,
                    self._turn + self.yaw_acceleration * times)
        gaps = np.diff(times)
        yaw = np.concatenate(([0.0], np.cumsum(0.5 * (w[1:] + w[:-1]) * gaps)))
        angle = begin + yaw
        vx, vy = v * np.cos(angle), v * np.sin(angle)
        rows[:, 0] = self._pose[0] + np.concatenate(
            ([0.0], np.cumsum(0.5 * (vx[1:] + vx[:-1]) * gaps)))
        rows[:, 1] = self._pose[1] + np.concatenate(
            ([0.0], np.cumsum(0.5 * (vy[1:] + vy[:-1]) * gaps)))
        rows[:, 2] = self._pose[2] + yaw
        rows[:, 3], rows[:, 4], rows[:, 5], rows[:, 6] = vx, vy, w, angle
