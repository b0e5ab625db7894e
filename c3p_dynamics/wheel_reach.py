# SPDX-License-Identifier: Apache-2.0
"""
Freedoms and accelerations of the motors of a robot on wheels of any kind.

The motors push along the rates of their joints in a unit motion. A wheel that a motor steers below
its pivot pushes in any direction, after it has turned; fixed wheels bar the motion across their
axle. When all wheels point along a motion, the tyres hold the sides, and the acceleration along it
is

    a = (Σ_i b_i |J_i·w| − τ_f·J w) / (wᵀ M w)

with the direction w of the twist, the bounds b_i of the torques and the dry friction τ_f.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_description.wheels import angle_known
from c3p_dynamics.traction import torque_bounds
from c3p_dynamics.wheel_dynamics import kinetic_energy
from c3p_kinematics.fixed_axle import fixed_axle
from c3p_kinematics.module_commands import allowed_twist
from c3p_kinematics.rolling import rolling_rates
from c3p_kinematics.singularity import length_scale

# postures over which the most freedoms are sought; a random one is regular with probability 1
POSTURES = 8
SEED = 0

# angles of a wheel that a motor steers below its pivot
HEADINGS = 4

# least size of a robot, m
LEAST_SIZE = 1e-3

# singular values up to this fraction of the largest count as zero
TOLERANCE = 1e-6

# part of a direction that may be barred without barring the motion
BARRED = 1e-6


def pushed_freedoms(robot: CasterRobot) -> int:
    """
    Return how many freedoms of the platform the motors drive, 0 to 3.

    Examples
    --------
    >>> from c3p_description import load
    >>> [pushed_freedoms(load(name)) for name in ('swerve', 'twin', 'amr', 'tricycle_agv')]
    [3, 3, 2, 2]
    """
    random = np.random.default_rng(SEED)
    # no motor pushes at an angle that is not measured
    pushing = np.tile(angle_known(robot), 2)[:robot.efforts] & (torque_bounds(robot) > 0.0)
    below = robot.steered & (robot.caster_offset == 0.0)
    # motions that fixed wheels allow, as columns
    allowed = np.array([allowed_twist(robot, unit) for unit in np.eye(3)]).T
    # two wheels on the only pivot of a robot are apart by their lateral offsets
    size = max(length_scale(robot), float(np.ptp(robot.lateral_offset)), LEAST_SIZE)
    scale = np.array([1.0, 1.0, 1.0 / size])
    most = 0
    for posture in random.uniform(-np.pi, np.pi, (POSTURES, robot.count)):
        rows = []
        for turn in np.pi / HEADINGS * np.arange(HEADINGS):
            steering = np.where(robot.steered, posture + turn, posture)
            rates = rolling_rates(robot, np.tile(steering, (3, 1)), np.eye(3))
            columns = np.hstack([rates.wheel_rate, rates.steering_rate])[:, :robot.efforts]
            rows.append(columns[:, pushing].T)
            # a caster is turned by the motion alone, and has one posture
            if not below.any():
                break
        values = np.linalg.svd(np.concatenate(rows) @ allowed * scale, compute_uv=False)
        most = max(most, int(np.sum(values > TOLERANCE * values.max(initial=1e-300))))
    return most


def aligned(robot: CasterRobot, way: Array) -> Array:
    """Return steering angles (n,) at which all wheels that steer roll along a twist `way` (3,)."""
    x, y = robot.hip_position.T
    vx = way[0] - way[2] * y
    vy = way[1] + way[2] * x
    ahead = np.arctan2(-vx, vy)
    return np.where(robot.fixed, robot.steering_zero, ahead)


def aligned_acceleration(robot: CasterRobot, way: Array) -> float:
    """
    Return the acceleration from rest along a direction `way` (3,) of the twist, wheels aligned.

    Its length is the unit, as in `reach.reach`. 0 where fixed wheels bar it or friction is
    stronger.

    Examples
    --------
    >>> from c3p_description import load
    >>> amr = load('amr')
    >>> round(aligned_acceleration(amr, np.array([1.0, 0.0, 0.0])), 2)
    1.13
    >>> aligned_acceleration(amr, np.array([0.0, 1.0, 0.0]))
    0.0
    """
    way = np.asarray(way, float)
    if np.abs(allowed_twist(robot, way) - way).max() > BARRED * np.abs(way).max():
        return 0.0
    steering = aligned(robot, way)
    # modules do not turn meanwhile
    rolling, turning, _ = rolling_rates(robot, steering, way)
    push = np.abs(np.concatenate([rolling, turning])[:robot.efforts]) @ torque_bounds(robot)
    _, pivot, _, dry, scrub, _ = robot.losses.T
    lost = (dry @ np.abs(rolling) + pivot @ np.abs(turning)
            + scrub @ np.abs(turning + way[2]))
    inertia = 2.0 * float(kinetic_energy(robot, steering, way, 0.0))
    return max(float(push - lost), 0.0) / inertia


def aligned_travel(robot: CasterRobot, directions: int) -> tuple[Array, Array, Array, Array]:
    """
    Return directions, and accelerations along them, of the heading there, and of turns.

    As the fields of `reach.Travel`; a robot with fixed wheels travels ahead and back, and turns
    about the middle of their axle.
    """
    axle = fixed_axle(robot)
    angles = (2.0 * math.pi / directions * np.arange(directions) if axle is None else
              np.mod(axle.direction + np.array([0.0, math.pi]), 2.0 * math.pi))
    turn = np.array([0.0, 0.0, 1.0]) if axle is None else axle.twist(0.0, 1.0)
    along = np.array([aligned_acceleration(robot, np.array([math.cos(a), math.sin(a), 0.0]))
                      for a in angles])
    turns = np.array([aligned_acceleration(robot, sign * turn) for sign in (1.0, -1.0)])
    return angles, along, np.full(len(angles), turns.min()), turns
