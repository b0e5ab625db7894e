# SPDX-License-Identifier: Apache-2.0
"""Robots for tests: the C3P, and hypothesis strategies for caster robots of any shape."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from c3p_description.model import CasterRobot

C3P = CasterRobot.regular(0.343, np.radians([30.0, 150.0, 270.0]), 0.04, 0.04, 30.0, 3.51,
                          link_mass=1.2, link_com=0.02, link_inertia=1.5e-3, wheel_mass=0.4,
                          wheel_spin_inertia=3.2e-4, wheel_yaw_inertia=2e-4)


@st.composite
def caster_robots(draw, min_casters=2, max_casters=6, equal=False):
    """
    Draw a robot whose casters stand irregularly about a point near the origin.

    Sizes from 0.2 m to 2 m; offsets so small against the distance of the pivots that two contact
    points never meet. `equal` gives all casters the same offset and radius.
    """
    count = draw(st.integers(min_casters, max_casters))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.floats(0.2, 2.0))
    direction = 2 * np.pi * (np.arange(count) + rng.uniform(-0.2, 0.2, count)) / count
    distance = size * rng.uniform(0.7, 1.3, count)
    hips = (np.column_stack([np.cos(direction), np.sin(direction)]) * distance[:, None]
            + size * rng.uniform(-0.5, 0.5, 2))
    many = 1 if equal else count
    offset = size * rng.uniform(0.03, 0.12, many) * np.ones(count)
    radius = size * rng.uniform(0.05, 0.2, many) * np.ones(count)
    return CasterRobot(
        name='random', hip_position=hips, caster_offset=offset, wheel_radius=radius,
        platform_mass=rng.uniform(5, 100), platform_inertia=size**2 * rng.uniform(1, 50),
        platform_com=size * rng.uniform(-0.3, 0.3, 2), link_mass=rng.uniform(0.1, 3, count),
        link_com=offset * rng.uniform(0, 1.5, count),
        link_inertia=size**2 * rng.uniform(1e-3, 1e-2, count),
        wheel_mass=rng.uniform(0.1, 2, count),
        wheel_spin_inertia=radius**2 * rng.uniform(0.05, 1, count),
        wheel_yaw_inertia=radius**2 * rng.uniform(0.02, 0.5, count))


@st.composite
def powered_robots(draw, **shape):
    """Draw a robot with motors in any of its wheels and steering axes, at least in one of each."""
    robot = draw(caster_robots(**shape))
    n = robot.count
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    driven, steered = rng.uniform(size=(2, n)) < rng.uniform(0.2, 1.0, (2, 1))
    driven[rng.integers(n)] = steered[rng.integers(n)] = True
    return replace(robot, driven=driven, steered=steered, torque_limit=rng.uniform(0.5, 5, n),
                   steering_torque_limit=rng.uniform(0.2, 5, n))


def vectors(size, limit):
    """Draw an array of `size` floats within ±limit."""
    return st.lists(st.floats(-limit, limit), min_size=size, max_size=size).map(np.array)


@st.composite
def robots_in_motion(draw, **shape):
    """Draw (robot, steering, twist, accel)."""
    robot = draw(caster_robots(**shape))
    return (robot, draw(vectors(robot.count, 7.0)), draw(vectors(3, 3.0)), draw(vectors(3, 5.0)))
