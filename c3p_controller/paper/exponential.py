# SPDX-License-Identifier: Apache-2.0
"""
Exponential position control, paper I, eqs (14)-(16), along a straight line.

In the paper each floor axis has its own speed, ``K (1 − e^(−μ|e|))``. Far from the goal every
axis saturates at K, so that the robot leaves a line that is not along an axis or a diagonal (14 cm
on the third leg of the paper's triangle, with an ideal robot). Here the same law acts along the
line from start to goal and across it:

    v = K (1 − e^(−μ|e_∥|)) sign(e_∥) t + K (1 − e^(−μ_⊥|e_⊥|)) sign(e_⊥) n,   |v| ≤ K
    ω = K_Φ Φ_e + K_er δ_er

with t along the line, n across, and δ_er the angle from the line to the remaining error. The error
is on the floor; the twist is given in ``base_link``, for which the rotation that the paper omits
is needed (docs/papers/el_shenawy.md). `paper.position` is the paper's own form.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from c3p_controller.goals.position_command import (
    PositionCommand,
    PositionLaw,
    body_twist,
    checked_goal,
    exponential,
)
from c3p_controller.position_controller_parameters import ExponentialParameters
from c3p_description.model import Array
from c3p_description.settings import SettingsError

# a start closer to the goal than this does not define a line, m
SHORTEST_LINE = 0.05


class PositionGains(ExponentialParameters):
    """
    Gains of the exponential law, and its goal zone: parameters of the position controller.

    `speed` is K, `approach` μ, `line_approach` μ_⊥ (0 switches line tracking off), `yaw_gain` K_Φ
    and `line_yaw_gain` K_er; the time constant at the goal is 1/(K μ). Yaw is soft on purpose:
    while the casters turn, the platform must be free to yaw. Inside the zone the robot approaches
    the goal to `stop_distance` and `stop_yaw` and then stops until it leaves the zone: position
    first, then yaw.
    """

    def __post_init__(self) -> None:
        """Reject invalid values."""
        super().__post_init__()
        for inner, outer in (('stop_distance', 'goal_tolerance'), ('stop_yaw', 'yaw_tolerance')):
            if getattr(self, inner) > getattr(self, outer):
                raise SettingsError(f'{inner} = {getattr(self, inner)}: must be at most {outer} = '
                                    f'{getattr(self, outer)}')


def line_velocity(error: Array, direction: Array, gains: PositionGains) -> Array:
    """
    Return the floor velocity (2,), m/s, along the line to the goal and back to the line.

    `error` (2,), m, is goal minus position, `direction` (2,) the unit vector of the line.
    """
    along = float(error @ direction)
    across = direction[0] * error[1] - direction[1] * error[0]
    v_along = exponential(along, gains.speed, gains.approach)
    v_across = exponential(across, gains.speed, gains.line_approach)
    velocity = np.array([v_along * direction[0] - v_across * direction[1],
                         v_along * direction[1] + v_across * direction[0]])
    return velocity * min(1.0, gains.speed / max(math.hypot(*velocity), 1e-12))


class PositionController(PositionLaw):
    """Drives to a goal pose; the memory is the goal, the line and the parts reached."""

    Settings: ClassVar[type[PositionGains]] = PositionGains
    shared: ClassVar[tuple[str, ...]] = tuple(item.name for item in fields(PositionGains))

    @classmethod
    def pace(cls, values: Any) -> tuple[float, float]:
        """Return the largest speed and yaw rate of the parameters `values`, m/s and rad/s."""
        return values.speed, values.yaw_rate

    def __init__(self, gains: PositionGains) -> None:
        """Start without a goal."""
        super().__init__(gains)
        self._direction: Array | None = None
        self._there = False
        self._turned = False

    def set_goal(self, goal: Array, pose: Array) -> None:
        """Drive from `pose` to `goal`, both (x, y, yaw) in the odometry frame."""
        self.goal = checked_goal(goal)
        line = self.goal[:2] - pose[:2]
        length = math.hypot(*line)
        self._direction = line / length if length > SHORTEST_LINE else None
        self._there = False
        self._turned = False

    def step(self, pose: Array, twist: Array | None = None) -> PositionCommand | None:
        """Return the command at `pose` (3,), None without a goal; `twist` is not used."""
        if self.goal is None:
            return None
        gains = self.gains
        error, distance, yaw_error = self._errors(pose)
        # arrival needs less error than the zone has, so that noise does not toggle it
        in_zone = distance <= gains.goal_tolerance
        turned = abs(yaw_error) <= gains.yaw_tolerance
        self._there = in_zone and (self._there or distance <= gains.stop_distance)
        self._turned = turned and self._there and (
            self._turned or abs(yaw_error) <= gains.stop_yaw)
        velocity = np.zeros(2)
        off_line = 0.0
        if not self._there:
            direction = error / distance if self._direction is None else self._direction
            velocity = line_velocity(error, direction, gains)
            off_line = 0.0 if in_zone else math.atan2(
                direction[0] * error[1] - direction[1] * error[0], error @ direction)
        turn = 0.0 if self._turned else (gains.yaw_gain * yaw_error
                                         + gains.line_yaw_gain * off_line)
        turn = min(max(turn, -gains.yaw_rate), gains.yaw_rate)
        return PositionCommand(body_twist(velocity, turn, pose[2]), distance, yaw_error,
                               in_zone and turned)
