# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN201, ANN202 (the compiler infers the types of kernels)
"""
Reference over the horizon, from a preview or a bare twist.

Its rows are ``[X, Y, φ, Ẋ, Ẏ, ω, χ]``: pose and velocity on the floor, and direction of the path,
which splits errors into along-track and cross-track.
"""

from __future__ import annotations

import math

from c3p_controller.predictive._kernels import on_piece, piece_of
from c3p_controller.predictive._line_kernels import follow_alone
from c3p_controller.predictive.states import ReferenceLine
from c3p_description.model import Array
from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import wrap_angle

# the direction of a slower reference is undefined, m/s
DIRECTION_SPEED = 1e-3


@kernel
def sample(time: Array, pose: Array, velocity: Array, times: Array, passed: float, yaw: float,
           rows_out: Array) -> None:
    """
    Write the reference at `times`, s from `passed` on, of a preview into `rows_out` (k, 7).

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
            rows_out[k, j] = on_piece(piece, now, time, pose, j)
            rows_out[k, 3 + j] = on_piece(piece, now, time, velocity, j)
            if beyond > 0.0:
                rows_out[k, j] += beyond * velocity[last, j]
    turn = rows_out[0, 2] - yaw
    turn = wrap_angle(turn) - turn
    for k in range(len(times)):
        rows_out[k, 2] += turn
    directions(rows_out)


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
        self.memory = ReferenceLine.new(0, acceleration=acceleration,
                                        yaw_acceleration=yaw_acceleration, leash=leash,
                                        yaw_leash=yaw_leash)

    def use(self, block: Array) -> None:
        """Keep the memory in the `block` of a ReferenceLine from now on."""
        block[:] = self.memory.block
        self.memory = ReferenceLine.of(block, 0)

    def reset(self) -> None:
        """Forget the pose."""
        self.memory.yaw_rate[0] = 0.0
        self.memory.begun[0] = 0.0

    def step(self, twist: Array, pose: Array, velocity: Array, times: Array, dt: float,
             rows: Array) -> None:
        """
        Write the reference at `times` (k,), s from now, into `rows` (k, 7).

        The last call was `dt` s before. `twist` is the command in ``base_link``, `pose` that of
        the robot with continuous φ, and `velocity` its Ẋ, Ẏ on the floor and ω.
        """
        follow_alone(self.memory.block, (twist, pose, velocity), times, dt, rows)
