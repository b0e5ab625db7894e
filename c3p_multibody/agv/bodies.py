# SPDX-License-Identifier: Apache-2.0
"""
The five bodies of the two-wheeled vehicle with a caster: twists, constraints and wheel loads.

Bodies as Saha & Angeles number them, counted from 0 here: wheels 1, 2, 3, the caster's fork, the
platform. Everything is in the platform's axes i, j, k at the moment. Eqs (16)-(28).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.agv_model import Agv
from c3p_description.model import Array
from c3p_multibody.agv.dynamics import LEVEL, direct_dynamics
from c3p_multibody.agv.kinematics import caster_jacobians, caster_map, caster_rates, platform_map
from c3p_multibody.orthogonal_complement import (
    Assembly,
    ConstraintForces,
    bodies,
    constraint_forces,
    constraint_wrench,
    inertial_rate,
    revolute_rows,
    rolling_rows,
    twist_map,
)

I, J, K = np.eye(3)
COUNT = 5
FORK = 3
PLATFORM = 4
# first row of the ground's forces in A, after the four revolute joints
GROUND = 24


class JointMaps(NamedTuple):
    """
    Parts of the twists by joint rates, ``t = T_a θ̇_a + T_u θ̇_u``, eq. (24), and their rates.

    Attributes
    ----------
    active, passive : (30, 2) arrays
        T_a for (θ̇₁, θ̇₂) and T_u for (θ̇₃, ψ̇).
    active_rate, passive_rate : (30, 2) arrays
        Ṫ_a and Ṫ_u.
    """

    active: Array
    passive: Array
    active_rate: Array
    passive_rate: Array


def joint_maps(agv: Agv, caster: float, rates: ArrayLike) -> JointMaps:
    """Return T_a, T_u and their rates at an angle `caster` ψ, rad, and `rates` (2,), rad/s."""
    r = agv.wheel_radius
    d = agv.caster_offset
    trail = agv.link_com
    e = np.array([np.cos(caster), np.sin(caster), 0.0])
    f = np.cross(K, e)
    yaw = platform_map(agv)[2]
    speed = platform_map(agv)[1]
    turn = float(yaw @ np.asarray(rates, float))
    steer = float(caster_rates(agv, caster, rates)[1])
    none = np.zeros((3, 2))
    turning = np.outer(K, yaw)
    pivot = np.outer(J, speed) - agv.pivot_lever * np.outer(I, yaw)
    centre = np.outer(J, speed) - agv.axle_distance * np.outer(I, yaw)
    first, second = np.eye(2)
    angular = [turning + np.outer(I, first), turning + np.outer(I, second), turning, turning,
               turning]
    linear = [-r * np.outer(J, first), -r * np.outer(J, second), pivot + d * np.outer(e, yaw),
              pivot + trail * np.outer(e, yaw), centre]
    passive_angular = [none, none, np.stack([e, K], axis=1), np.stack([0 * K, K], axis=1), none]
    passive_linear = [none, none, np.stack([0 * e, d * e], axis=1),
                      np.stack([0 * e, trail * e], axis=1), none]
    # in the platform's axes only e₃ changes, by ψ̇ f₃
    linear_rate = [none, none, d * steer * np.outer(f, yaw), trail * steer * np.outer(f, yaw),
                   none]
    passive_angular_rate = [none, none, np.stack([steer * f, 0 * K], axis=1), none, none]
    passive_linear_rate = [none, none, np.stack([0 * f, d * steer * f], axis=1),
                           np.stack([0 * f, trail * steer * f], axis=1), none]
    spin = turn * K
    return JointMaps(
        twist_map(angular, linear), twist_map(passive_angular, passive_linear),
        twist_map(inertial_rate(angular, np.zeros((COUNT, 3, 2)), spin),
                  inertial_rate(linear, linear_rate, spin)),
        twist_map(inertial_rate(passive_angular, passive_angular_rate, spin),
                  inertial_rate(passive_linear, passive_linear_rate, spin)))


def disc(spin: float, across: float, axle: ArrayLike) -> Array:
    """Return the inertia (3, 3) of a wheel with moment `spin` about `axle`, `across` else."""
    about = np.asarray(axle, float)
    return across * np.eye(3) + (spin - across) * np.outer(about, about)


def agv_assembly(agv: Agv, caster: float, rates: ArrayLike) -> Assembly:
    """
    Return the five bodies with T and Ṫ of eqs (27) and (28b), for ψ and rates as `joint_maps`.

    ``T = T_a − T_u J_u⁻¹ J_a`` and
    ``Ṫ = Ṫ_a − Ṫ_u J_u⁻¹ J_a + T_u J_u⁻¹ J̇_u J_u⁻¹ J_a − T_u J_u⁻¹ J̇_a``.
    I and C θ̇ are ``agv.mass_matrix`` and ``agv.bias``.
    """
    maps = joint_maps(agv, caster, rates)
    follow = caster_map(agv, caster)
    _, passive = caster_jacobians(agv, caster)
    steer = float(caster_rates(agv, caster, rates)[1])
    e = np.array([np.cos(caster), np.sin(caster)])
    f = np.array([-e[1], e[0]])
    active_rate = agv.caster_offset * steer * np.outer(f, platform_map(agv)[2])
    passive_rate = steer * np.stack([-agv.wheel_radius * e, agv.caster_offset * f], axis=1)
    # d/dt of −J_u⁻¹ J_a
    follow_rate = -np.linalg.solve(passive, passive_rate @ follow + active_rate)
    axle = np.array([*e, 0.0])
    wheel = agv.wheel_spin_inertia, agv.wheel_yaw_inertia
    inertia = [disc(*wheel, I), disc(*wheel, I), disc(*wheel, axle),
               agv.link_inertia * np.eye(3), np.diag(agv.platform_inertia)]
    masses = [*3 * [agv.wheel_mass], agv.link_mass, agv.platform_mass]
    return Assembly(bodies(masses, inertia), maps.active + maps.passive @ follow,
                    maps.active_rate + maps.passive_rate @ follow + maps.passive @ follow_rate,
                    np.asarray(rates, float))


def constraint_matrix(agv: Agv, caster: float) -> Array:
    """
    Return A (33, 30) of eq. (16): four revolute joints, six rows each, and three rolling wheels.

    Rank 28: each joint has one row too many, and wheels 1 and 2 on one axle forbid the same
    sideways motion twice. Rows: joints platform-wheel 1, platform-wheel 2, platform-fork,
    fork-wheel 3; from row `GROUND` on the contacts of wheels 1, 2, 3, each along i, j, k. `caster`
    is ψ, rad.
    """
    r = agv.wheel_radius
    l = agv.track
    a = agv.axle_distance
    b = agv.pivot_distance
    e = np.array([np.cos(caster), np.sin(caster), 0.0])
    f = np.cross(K, e)
    down = -(agv.centre_height - r) * K
    none = np.zeros(3)
    joints = [
        revolute_rows(COUNT, 0, PLATFORM, none, -l / 2 * I - a * J + down, I),
        revolute_rows(COUNT, 1, PLATFORM, none, l / 2 * I - a * J + down, I),
        revolute_rows(COUNT, FORK, PLATFORM, agv.link_com * f, b * J + down, K),
        revolute_rows(COUNT, 2, FORK, none, (agv.link_com - agv.caster_offset) * f, e)]
    return np.vstack(joints + [rolling_rows(COUNT, wheel, -r * K) for wheel in range(3)])


class WheelLoads(NamedTuple):
    """
    Forces of the ground on the wheels.

    Attributes
    ----------
    forces : (3, 3) array, N
        Wheels 1, 2, 3; along i, j, k. Only the sum of wheels 1 and 2 along i is determined; it is
        divided equally.
    constraints : ConstraintForces
        All 33 multipliers.
    """

    forces: Array
    constraints: ConstraintForces


def wheel_loads(agv: Agv, caster: float, rates: ArrayLike, torque: ArrayLike,
                gravity: ArrayLike = LEVEL) -> WheelLoads:
    """
    Return the ground forces under the motor torques `torque` (2,), N·m.

    Newton's and Euler's equations of all five bodies, solved for the constraints: weight, motors
    and viscous friction are known, θ̈ from `direct_dynamics`. `caster` is ψ, rad, `rates` (2,),
    rad/s, `gravity` (3,) as for `agv.inverse_dynamics`. A negative force along k means that the
    wheel lifts off.
    """
    state = agv_assembly(agv, caster, rates)
    moments = np.asarray(torque, float) - agv.viscous[:2] * rates
    third, pivot = -agv.viscous[2:] * caster_rates(agv, caster, rates)
    e = np.array([np.cos(caster), np.sin(caster), 0.0])
    external = np.zeros((COUNT, 2, 3))
    external[:, 1] = np.outer(state.bodies.mass, np.asarray(gravity, float))
    # every joint's torque on the outer body, and against it on the inner one
    external[0, 0], external[1, 0] = moments[0] * I, moments[1] * I
    external[2, 0] = third * e
    external[FORK, 0] = pivot * K - third * e
    external[PLATFORM, 0] = -moments.sum() * I - pivot * K
    wrench = constraint_wrench(*state, direct_dynamics(agv, caster, rates, torque, gravity),
                               external.ravel())
    found = constraint_forces(constraint_matrix(agv, caster), wrench)
    return WheelLoads(found.multipliers[GROUND:].reshape(3, 3), found)
