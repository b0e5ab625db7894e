# SPDX-License-Identifier: Apache-2.0
"""
Scales of the costs of torque and yaw, of dry friction and of forces at rest, for any robot.

The weights of paths and speeds are in metres and seconds, but w_τ |τ|² is in N·m: the torque per
acceleration, m r/k with the mass m and the radius r of k driven wheels, differs by a factor of
1000 from 5 kg on wheels of 2 cm to 300 kg on wheels of 15 cm. With w_τ scaled by its inverse
square the cost of an acceleration is that of the C3P, for which the weights were tuned.

A yaw error φ displaces the pivots by L φ, with the length scale L of the robot. The weights of yaw
and yaw rate are scaled by L² in robots larger than the C3P, so that this displacement costs the
same; a large robot with unscaled weights reaches its goal with a yaw error. In smaller ones these
weights and that of the alignment are scaled by L: unscaled, a small robot rests in postures of
concurrent rolling lines, which it leaves by a yaw only; by L², or with the alignment unscaled, its
casters hold a yaw error of 0.3 rad at the goal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from c3p_description.model import GRAVITY, Array, CasterRobot
from c3p_dynamics.traction import torque_bounds
from c3p_kinematics.singularity import length_scale

# m r/k of the C3P, kg·m
REFERENCE = 0.464

# L of the C3P, m; robots of its size to a part of this keep the weights
SIZE = 0.343
EQUAL = 0.01

# robots whose torque per acceleration is within this factor of the reference keep the weights
NEAR = 1.5

# part of the rate at which dry friction is as fast as a step of the plan: with 0.04, 0.2 and
# 0.4 rad/s for 0.78 rad/s the base powered_caster has path errors of 0.13, 0.08 and 0.14 cm, and
# torques that vary by 39, 9 and 8 N·m/s
STIFF = 0.25

# the same for casters without steering motors: heavy robots with offsets of 1 to 3 cm have torques
# that vary by 166 to 231 N·m/s on a line in contact with 0.04 rad/s, by 70 to 95 with 0.5, and by
# 49 to 72 with 1.0, but then swing more
STIFF_PASSIVE = 0.5

# a force is held at rest above this multiple of what the casters hold by their dry friction, and
# above this part of the weight, for robots that have hardly any: the slope of 0.6°
HELD = 1.5
LEAST_HELD = 0.01


def resting_slack(robot: CasterRobot) -> float:
    """
    Return the disturbance, N, up to which `robot` rests without torque.

    Examples
    --------
    >>> from c3p_description import load
    >>> resting_slack(load('c3p'))
    6.75
    """
    losses = robot.losses
    # dry friction of pivot and tyre, across parallel casters
    sticking = float(((losses[:, 1] + losses[:, 4]) / robot.caster_offset).sum())
    return max(HELD * sticking, LEAST_HELD * GRAVITY * robot.total_mass)


def torque_scale(robot: CasterRobot) -> float:
    """
    Return the factor of the weight of squared torques for `robot`; 1 for robots like the C3P.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from c3p_description import load
    >>> c3p = load('c3p')
    >>> torque_scale(c3p)
    1.0
    >>> round(torque_scale(replace(c3p, platform_mass=300.0)), 4)
    0.0293
    """
    pushing = torque_bounds(robot)[:robot.count] > 0.0
    if not pushing.any():
        return 1.0
    lever = float(robot.total_mass * np.mean(robot.wheel_radius[pushing]) / pushing.sum())
    relative = lever / REFERENCE
    beyond = relative / NEAR if relative > NEAR else min(relative * NEAR, 1.0)
    return 1.0 / beyond**2


def stiff_rate(robot: CasterRobot, step: float, part: float = STIFF) -> float:
    """
    Return the rate, rad/s, over which a plan with steps of `step`, s, smooths dry friction.

    The friction c of pivot and tyre pushes the platform across with c/d; of the slope c/smoothing
    at rest a mass m sees the rate ``Σ c/d² / (m smoothing)``. Where that is faster than `part` of
    the steps, torques chatter about the friction of casters that do not turn.

    Examples
    --------
    >>> from c3p_description import load
    >>> [round(stiff_rate(load(name), 0.025), 3) for name in ('c3p', 'powered_caster')]
    [0.02, 0.194]
    """
    dry = robot.losses[:, 1] + robot.losses[:, 4]
    return float(part * step * np.sum(dry / robot.caster_offset**2) / robot.total_mass)


def friction_rate(smoothing: float, robot: CasterRobot, step: float, spanned: bool) -> float:
    """
    Return `smoothing`, rad/s, or `stiff_rate` of `robot` and steps of `step`, s, if larger.

    For casters without steering motors, not `spanned`, only if larger than NEAR times.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from c3p_description import load
    >>> c3p = load('c3p')
    >>> friction_rate(0.04, c3p, 0.025, False)
    0.04
    >>> round(friction_rate(0.04, replace(c3p, caster_offset=0.02), 0.025, False), 3)
    0.162
    """
    if spanned:
        return max(smoothing, stiff_rate(robot, step))
    stiff = stiff_rate(robot, step, STIFF_PASSIVE)
    return stiff if stiff > NEAR * smoothing else smoothing


def yaw_scale(robot: CasterRobot) -> float:
    """
    Return the factor of the weights of yaw and yaw rate for `robot`; 1 for the size of the C3P.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from c3p_description import load
    >>> c3p = load('c3p')
    >>> sizes = [replace(c3p, hip_position=k * c3p.hip_position) for k in (1, 2, 0.5)]
    >>> [round(yaw_scale(robot), 6) for robot in sizes]
    [1.0, 4.0, 0.5]
    """
    relative = length_scale(robot) / SIZE
    if abs(relative - 1.0) < EQUAL:
        return 1.0
    return relative**2 if relative > 1.0 else relative


def cost_weights(settings: Any, robot: CasterRobot, spanned: bool, fewer: bool, turning: float
                 ) -> Array:
    """
    Return the weights of the cost in the order of _kernels.py, scaled for `robot`.

    `settings` are those of the controller. If the motors have every direction at any steering
    angles, `spanned`, casters need no alignment and the weights of yaw stay, as with `fewer`
    motors than freedoms, whose heading is free. `turning` is the squared ratio of steering
    torques to wheel torques.
    """
    s = settings
    size = 1.0 if spanned or fewer else yaw_scale(robot)
    scale = torque_scale(robot)
    torque = s.torque_weight * scale
    rate = s.torque_rate_weight * scale
    # such motors hold casters that roll backwards; turning all of them at once takes torque from
    # the path: worst error 1.3 cm in place of 0.2 cm
    return np.array([s.across_weight, s.along_weight, size * s.yaw_weight, s.across_speed_weight,
                     s.along_speed_weight, size * s.yaw_rate_weight, torque,
                     0.0 if spanned else min(size, 1.0) * s.alignment_weight, torque / turning,
                     size * s.ripple_weight, 0.0, 0.0, 0.0, 0.0, rate, rate / turning])
