# SPDX-License-Identifier: Apache-2.0
"""Robots with unequal casters and states for them, shared by the tests of the dynamics."""

import numpy as np

from c3p_description.model import CasterRobot, Friction

# the papers' robot with the masses that the papers do not print (kg, m, kg·m²)
PAPERS = {'hip_radius': 0.343, 'hip_angles': np.radians([30, 150, 270]), 'caster_offset': 0.04,
          'wheel_radius': 0.04, 'platform_mass': 30.0, 'platform_inertia': 3.51,
          'link_mass': 1.2, 'link_com': 0.02, 'link_inertia': 1.5e-3, 'wheel_mass': 0.4,
          'wheel_spin_inertia': 0.5 * 0.4 * 0.04**2,
          'wheel_yaw_inertia': 0.4 * (3 * 0.04**2 + 0.025**2) / 12}
FRICTION = Friction(pivot_viscous=1e-3, pivot_coulomb=5e-3, rolling_viscous=1e-3,
                    rolling_coulomb=1e-2, scrub_coulomb=1e-2)


def papers_robot(**more):
    return CasterRobot.regular(**{**PAPERS, **more})


def random_robot(rng, count=3, **more):
    """Return a robot whose casters all differ and whose masses lie off centre."""
    angles = 2 * np.pi * (np.arange(count) + rng.uniform(-0.3, 0.3, count)) / count
    reach = rng.uniform(0.2, 0.6, count)
    values = {'name': 'random',
              'hip_position': np.column_stack([reach * np.cos(angles), reach * np.sin(angles)]),
              'caster_offset': rng.uniform(0.02, 0.08, count),
              'wheel_radius': rng.uniform(0.03, 0.1, count),
              'platform_mass': rng.uniform(5, 50), 'platform_inertia': rng.uniform(0.5, 5),
              'platform_com': rng.uniform(-0.1, 0.1, 2),
              'link_mass': rng.uniform(0.2, 3, count), 'link_com': rng.uniform(-0.01, 0.06, count),
              'link_inertia': rng.uniform(1e-4, 1e-2, count),
              'wheel_mass': rng.uniform(0.1, 2, count),
              'wheel_spin_inertia': rng.uniform(1e-4, 1e-2, count),
              'wheel_yaw_inertia': rng.uniform(1e-4, 1e-2, count)}
    return CasterRobot(**{**values, **more})


def random_state(rng, robot):
    """Return steering angles, a brisk twist and an acceleration."""
    return (rng.uniform(-np.pi, np.pi, robot.count), rng.uniform(-1.5, 1.5, 3),
            rng.uniform(-2, 2, 3))
