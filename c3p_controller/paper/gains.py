# SPDX-License-Identifier: Apache-2.0
"""Table I of paper I, as printed."""

from __future__ import annotations

from typing import NamedTuple


class TableOne(NamedTuple):
    """
    The numbers of paper I, Table I, and the goal zone of its section IV-B, in SI units.

    They are h, d, r, M_p (paper II has 25 kg), I_p, K_x and K_y, K_Φ, K_er, μ_x and μ_y, λ_1, λ_2,
    θ_si at the start, and the radius of the circle in which "the robot velocities will be zero".
    """

    hip_radius: float = 0.343
    caster_offset: float = 0.04
    wheel_radius: float = 0.04
    platform_mass: float = 30.0
    platform_inertia: float = 3.51
    axis_gain: tuple[float, float] = (0.5, 0.0)
    yaw_gain: float = 0.2
    line_yaw_gain: float = -0.3
    axis_rate: tuple[float, float] = (1.2, 1.2)
    lambda_1: float = 0.0
    lambda_2: float = 0.0
    steering: float = 0.0
    goal_zone: float = 0.05


TABLE_I = TableOne()

# the gain of X on both axes: with K_y = 0 there is no motion along Y, and the triangle of Fig. 10
# is impossible; the −225° of its third leg result from both axes in saturation
BOTH_AXES = (TABLE_I.axis_gain[0], TABLE_I.axis_gain[0])
