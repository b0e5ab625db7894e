# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN201, ANN202 (the compiler infers the types of kernels)
"""
Reference over the horizon, from a preview or a bare twist.

Its rows are ``[X, Y, φ, Ẋ, Ẏ, ω, χ]``: pose and velocity on the floor, and direction of the path,
which splits errors into along-track and cross-track.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_controller.predictive._kernels import interpolate
from c3p_controller.torque_law import Preview
from c3p_description.model import Array
from c3p_kinematics._planar_kernels import wrap_angle
from c3p_kinematics.compiled import kernel

# the direction of a slower reference is undefined, m/s
DIRECTION_SPEED = 1e-3


def sample(preview: Preview, times: Array, yaw: float, rows: Array) -> None:
    """
    Write the reference at `times` after the first of `preview` into `rows` (k, 7).

    Linear between points; beyond the last point the reference continues with its last velocity.
    Of the turns of φ the one nearest to `yaw`, of the robot, is taken.
    """
    _fill_rows(preview.time, preview.pose, preview.velocity, times, yaw, rows)
    directions(rows)


@kernel
def _fill_rows(time, pose, velocity, times, yaw, rows):
    last = len(time) - 1
    for k in range(len(times)):
        beyond = max(times[k] - time[last], 0.0)
        for j in range(3):
            rows[k, j] = interpolate(times[k], time, pose, j)
            rows[k, 3 + j] = interpolate(times[k], time, velocity, j)
            if beyond > 0.0:
                rows[k, j] += beyond * velocity[last, j]
    turn = rows[0, 2] - yaw
    turn = wrap_angle(turn) - turn
    for k in range(len(times)):
        rows[k, 2] += turn


def directions(rows: Array) -> None:
    """Write the direction of travel of each row; a row at rest takes its neighbour's."""
    rows[:, 6] = np.arctan2(rows[:, 4], rows[:, 3])
    _fill_directions(rows)


@kernel
def _fill_directions(rows):
    # of the first row that moves, for those before it
    first, count = 0, len(rows)
    while first < count and not math.hypot(rows[first, 3], rows[first, 4]) > DIRECTION_SPEED:
        first += 1
    last = rows[first, 6] if first < count else 0.0
    for k in range(count):
        if math.hypot(rows[k, 3], rows[k, 4]) > DIRECTION_SPEED:
            last = rows[k, 6]
        rows[k, 6] = last


class TwistReference:
    """
    Reference line of a bare twist; the memory is its present pose.

    The pose moves with the robot in the direction of travel and keeps the cross-track error, up to
    `leash`, m (and `yaw_leash`, rad), so that a push or a turning caster is corrected. Its speeds
    change with `acceleration`, m/s², and `yaw_acceleration`, rad/s².
    """

    def __init__(self, acceleration: float, yaw_acceleration: float, leash: float = 0.1,
                 yaw_leash: float = 0.6) -> None:
        """Start without a pose."""
        self.acceleration, self.yaw_acceleration = acceleration, yaw_acceleration
        self.leash, self.yaw_leash = leash, yaw_leash
        self._pose: Array | None = None
        self._turn = 0.0

    def reset(self) -> None:
        """Forget the pose."""
        self._pose, self._turn = None, 0.0

    def copy(self) -> TwistReference:
        """Return one with the same pose and yaw rate."""
        other = TwistReference(self.acceleration, self.yaw_acceleration, self.leash,
                               self.yaw_leash)
        other._pose, other._turn = None if self._pose is None else self._pose.copy(), self._turn
        return other

    def step(self, twist: Array, pose: Array, velocity: Array, times: Array, dt: float,
             rows: Array) -> None:
        """
        Write the reference at `times` (k,), s from now, into `rows` (k, 7).

        The last call was `dt` s before. `twist` is the command in ``base_link``, `pose` that of
        the robot with continuous φ, and `velocity` its Ẋ, Ẏ on the floor and ω.
        """
        if self._pose is None:
            self._pose = np.array(pose, float)
        most = self.yaw_acceleration * dt
        self._turn += min(max(twist[2] - self._turn, -most), most)
        reference = self._pose
        reference[2] += self._turn * dt
        reference[2] += wrap_angle(reference[2] - pose[2]) - (reference[2] - pose[2])
        reference[2] = min(max(reference[2], pose[2] - self.yaw_leash), pose[2] + self.yaw_leash)
        # travel: along the line the pose is at the robot, across it up to the leash away
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
            # stop along the present motion; then hold the place
            now = 0.0
            begin = math.atan2(velocity[1], velocity[0])
            gap = np.array([reference[0] - pose[0], reference[1] - pose[1]])
            going = math.hypot(velocity[0], velocity[1])
            distance = math.hypot(*gap)
            if going > 0.02:
                now, reference[:2] = going, pose[:2]
            elif distance > self.leash:
                reference[:2] = pose[:2] + gap * self.leash / distance
        self._fill(reference, speed, now, begin, twist[2], times, rows)

    def _fill(self, pose: Array, speed: float, now: float, begin: float, turn: float,
              times: Array, rows: Array) -> None:
        """Write rows from ramps of speed and yaw rate, integrated by the trapezoidal rule."""
        reach = self.acceleration * times
        v = np.minimum(now + reach, speed) if speed > now else np.maximum(now - reach, speed)
        w = np.clip(turn, self._turn - self.yaw_acceleration * times,
                    self._turn + self.yaw_acceleration * times)
        gaps = np.diff(times)
        yaw = np.concatenate(([0.0], np.cumsum(0.5 * (w[1:] + w[:-1]) * gaps)))
        angle = begin + yaw
        vx, vy = v * np.cos(angle), v * np.sin(angle)
        rows[:, 0] = pose[0] + np.concatenate(
            ([0.0], np.cumsum(0.5 * (vx[1:] + vx[:-1]) * gaps)))
        rows[:, 1] = pose[1] + np.concatenate(
            ([0.0], np.cumsum(0.5 * (vy[1:] + vy[:-1]) * gaps)))
        rows[:, 2] = pose[2] + yaw
        rows[:, 3], rows[:, 4], rows[:, 5], rows[:, 6] = vx, vy, w, angle
