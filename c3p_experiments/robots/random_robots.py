# SPDX-License-Identifier: Apache-2.0
"""Random caster robots of plausible geometry, masses and motors, by a seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from c3p_description.model import Array, CasterRobot, Friction
from c3p_dynamics.traction import least_loads
from c3p_kinematics.singularity import length_scale

# ranges: casters; offset and wheel radius, m; mass, kg; motor, N·m
CASTERS = (2, 6)
OFFSET = (0.01, 0.15)
RADIUS = (0.02, 0.15)
MASS = (5.0, 300.0)
TORQUE = (0.5, 100.0)

# half size of the footprint of 30 kg, m: it grows with the cube root of the mass
FOOTPRINT = 0.3
FOOTPRINT_MASS = 30.0

# least load of a wheel over the mean load, and of its footprint in offsets
SUPPORT = 0.25
ROOM = 2.5

# mass of a wheel and of its link: cylinders of half a radius width of this density, kg/m³, and
# the largest fraction of the robot
DENSITY = 1100.0
LARGEST = 0.03

# coefficient of rolling resistance: hard wheels on hard floor
ROLLING = (0.004, 0.015)

ATTEMPTS = 1000


def random_robot(seed: int, steering: bool = False) -> CasterRobot:
    """
    Return the random caster robot number `seed`.

    2 to 6 casters around a footprint that grows with the mass, offsets of 1 to 15 cm and wheel
    radii of 2 to 15 cm, 5 to 300 kg, any non-empty choice of driven wheels, motors of 0.5 to 100
    N·m at the wheel, centre of mass within the support of the contacts in every travel direction.
    Lengths of casters, masses and torques are evenly distributed in their logarithm. With
    `steering` the same robot has steering motors at any choice of casters, also of 0.5 to 100 N·m.
    """
    if steering:
        rng = np.random.default_rng([2017, seed])
        robot = random_robot(seed)
        steered = rng.random(robot.count) < rng.uniform(0.2, 1.0)
        steered[rng.integers(robot.count)] = True
        return replace(robot, steered=steered, steering_torque_limit=float(
            np.exp(rng.uniform(*np.log(TORQUE)))))
    rng = np.random.default_rng([2016, seed])
    for _ in range(ATTEMPTS):
        drawn = _draw(rng, seed)
        if drawn is not None:
            return drawn
    raise ValueError(f'seed = {seed}: {ATTEMPTS} attempts without a stable robot')


def _draw(rng: np.random.Generator, seed: int) -> CasterRobot | None:
    def logarithmic(limits: tuple[float, float], count: int | None = None) -> Array | float:
        low, high = np.log(limits)
        return np.exp(rng.uniform(low, high, count))

    n = int(rng.integers(CASTERS[0], CASTERS[1] + 1))
    mass = float(logarithmic(MASS))
    size = FOOTPRINT * (mass / FOOTPRINT_MASS) ** (1.0 / 3.0) * rng.uniform(0.7, 1.4)
    hips = _hips(rng, n, size)
    # casters of one kind, or each of its own
    many = 1 if rng.random() < 0.7 else n
    offset = np.resize(logarithmic(OFFSET, many), n)
    radius = np.resize(logarithmic(RADIUS, many), n)
    apart = min(np.hypot(*(hips[i] - hips[j])) for i in range(n) for j in range(i))
    if apart < ROOM * offset.max() or radius.max() > size:
        return None
    driven = rng.random(n) < rng.uniform(0.3, 1.0)
    if not driven.any():
        driven[rng.integers(n)] = True
    wheel = np.minimum(DENSITY * np.pi * 0.5 * radius**3, LARGEST * mass)
    link = wheel * rng.uniform(0.5, 2.0)
    body = mass - float((wheel + link).sum())
    weight = 9.81 * mass / n
    rolling = rng.uniform(*ROLLING) * weight * radius
    robot = CasterRobot(
        name=f'random_{seed}', hip_position=hips, caster_offset=offset, wheel_radius=radius,
        platform_mass=body,
        platform_inertia=body * float(np.mean(np.sum(hips**2, axis=1))) * rng.uniform(0.4, 0.9),
        platform_com=hips.mean(axis=0) + 0.25 * size * rng.uniform(-1.0, 1.0, 2),
        link_mass=link, link_com=offset * rng.uniform(0.2, 1.0),
        link_inertia=link * (0.4 * offset + 0.3 * radius) ** 2,
        wheel_mass=wheel, wheel_spin_inertia=0.5 * wheel * radius**2,
        wheel_yaw_inertia=wheel * radius**2 * (0.25 + 1.0 / 48.0),
        friction=Friction(
            pivot_viscous=1e-4 * weight * radius, pivot_coulomb=1e-3 * weight * radius,
            rolling_viscous=2e-3 * weight * radius, rolling_coulomb=rolling,
            scrub_coulomb=rng.uniform(0.5, 1.5) * rolling),
        driven=driven, torque_limit=float(logarithmic(TORQUE)))
    return robot if _stands(robot) else None


def _hips(rng: np.random.Generator, n: int, size: float) -> Array:
    """Return pivots around a footprint: of a circle, or of a rectangle with its sides moved in."""
    stretch = np.array([1.0, rng.uniform(0.6, 1.0)])
    angle = 2.0 * np.pi * (np.arange(n) + rng.uniform(-0.15, 0.15, n)) / n + rng.uniform(0, np.pi)
    return size * stretch * np.column_stack([np.cos(angle), np.sin(angle)])


def _stands(robot: CasterRobot) -> bool:
    if robot.count == 2:
        # it balances, or stands on what is not a caster: a plane plant only
        return True
    mean = 9.81 * robot.total_mass / robot.count
    return bool(least_loads(robot).min() > SUPPORT * mean and length_scale(robot) > 0.05)
