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

from c3p_controller.predictive._kernels import on_piece, piece_of
from c3p_description.model import Array
from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import wrap_angle

# the direction of a slower reference is undefined, m/s
DIRECTION_SPEED = 1e-3

# a robot that is faster has not stopped yet, m/s
STOPPING_SPEED = 0.02


@kernel
def sample(time: Array, pose: Array, velocity: Array, times: Array, passed: float, yaw: float,
           rows: Array) -> None:
    """
    Write the reference at `times`, s from `passed` on, of a preview into `rows` (k, 7).

    `time`, `pose` and `velocity` are those of the preview. Linear between its points; beyond the
    last one the reference continues with its last velocity. Of the turns of φ the one nearest to
    `yaw`, of the robot, is taken.
    """
    last = len(time) - 1
    for k in range(len(times)):
        now = times[k] + passed
        piece = piece_of(now, time)
        beyond = max(now - time[last], 0.0)
        for j in range(3):
            rows[k, j] = on_piece(piece, now, time, pose, j)
            rows[k, 3 + j] = on_piece(piece, now, time, velocity, j)
            if beyond > 0.0:
                rows[k, j] += beyond * velocity[last, j]
    turn = rows[0, 2] - yaw
    turn = wrap_angle(turn) - turn
    for k in range(len(times)):
        rows[k, 2] += turn
    directions(rows)


@kernel
def directions(rows: Array) -> None:
    """Write the direction of travel of each row; a row at rest takes its neighbour's."""
    # of the first row that moves, for those before it
    first = 0
    count = len(rows)
    last = 0.0
    while first < count and not math.hypot(rows[first, 3], rows[first, 4]) > DIRECTION_SPEED:
        first += 1
    if first < count:
        last = math.atan2(rows[first, 4], rows[first, 3])
    for k in range(count):
        if math.hypot(rows[k, 3], rows[k, 4]) > DIRECTION_SPEED:
            last = math.atan2(rows[k, 4], rows[k, 3])
        rows[k, 6] = last


@kernel
def _follow_twist(twist, pose, velocity, limits, memory, times, dt, rows):
    # a cycle of `TwistReference`; `memory` is its pose and yaw rate
    acceleration, yaw_acceleration, leash, yaw_leash = limits
    most = yaw_acceleration * dt
    memory[3] += min(max(twist[2] - memory[3], -most), most)
    yaw = memory[2] + memory[3] * dt
    yaw += wrap_angle(yaw - pose[2]) - (yaw - pose[2])
    memory[2] = min(max(yaw, pose[2] - yaw_leash), pose[2] + yaw_leash)
    # travel: along the line the pose is at the robot, across it up to the leash away
    speed = math.hypot(twist[0], twist[1])
    if speed > 0.0:
        begin = pose[2] + math.atan2(twist[1], twist[0])
        c, s = math.cos(begin), math.sin(begin)
        across = (pose[1] - memory[1]) * c - (pose[0] - memory[0]) * s
        across = min(max(across, -leash), leash)
        memory[0], memory[1] = pose[0] + across * s, pose[1] - across * c
        now = min(max(velocity[0] * c + velocity[1] * s, 0.0), speed)
    else:
        # stop along the present motion; then hold the place
        now = 0.0
        begin = math.atan2(velocity[1], velocity[0])
        x, y = memory[0] - pose[0], memory[1] - pose[1]
        going = math.hypot(velocity[0], velocity[1])
        distance = math.hypot(x, y)
        if going > STOPPING_SPEED:
            now, memory[0], memory[1] = going, pose[0], pose[1]
        elif distance > leash:
            memory[0] = pose[0] + x * leash / distance
            memory[1] = pose[1] + y * leash / distance
    _ramps(memory, speed, now, begin, twist[2], acceleration, yaw_acceleration, times, rows)


@kernel
def _ramps(memory, speed, now, begin, turn, acceleration, yaw_acceleration, times, rows):
    # rows from ramps of speed and yaw rate, integrated by the trapezoidal rule
    x = 0.0
    y = 0.0
    yaw = 0.0
    gap = 0.0
    for k in range(len(times)):
        reach = acceleration * times[k]
        v = min(now + reach, speed) if speed > now else max(now - reach, speed)
        reach = yaw_acceleration * times[k]
        w = min(max(turn, memory[3] - reach), memory[3] + reach)
        if k > 0:
            gap = times[k] - times[k - 1]
            yaw += 0.5 * (w + rows[k - 1, 5]) * gap
        angle = begin + yaw
        vx, vy = v * math.cos(angle), v * math.sin(angle)
        if k > 0:
            x += 0.5 * (vx + rows[k - 1, 3]) * gap
            y += 0.5 * (vy + rows[k - 1, 4]) * gap
        rows[k, 0], rows[k, 1], rows[k, 2] = memory[0] + x, memory[1] + y, memory[2] + yaw
        rows[k, 3] = vx
        rows[k, 4] = vy
        rows[k, 5] = w
        rows[k, 6] = angle


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
        self.acceleration = acceleration
        self.yaw_acceleration = yaw_acceleration
        self.leash = leash
        self.yaw_leash = yaw_leash
        # X, Y, φ and yaw rate
        self._memory = np.zeros(4)
        self._begun = False

    def reset(self) -> None:
        """Forget the pose."""
        self._memory[3] = 0.0
        self._begun = False

    def copy(self) -> TwistReference:
        """Return one with the same pose and yaw rate."""
        other = TwistReference(self.acceleration, self.yaw_acceleration, self.leash,
                               self.yaw_leash)
        other._memory, other._begun = self._memory.copy(), self._begun
        return other

    def step(self, twist: Array, pose: Array, velocity: Array, times: Array, dt: float,
             rows: Array) -> None:
        """
        Write the reference at `times` (k,), s from now, into `rows` (k, 7).

        The last call was `dt` s before. `twist` is the command in ``base_link``, `pose` that of
        the robot with continuous φ, and `velocity` its Ẋ, Ẏ on the floor and ω.
        """
        if not self._begun:
            self._memory[:3] = pose
            self._begun = True
        _follow_twist(twist, pose, velocity, (self.acceleration, self.yaw_acceleration,
                                              self.leash, self.yaw_leash),
                      self._memory, times, dt, rows)
