# SPDX-License-Identifier: Apache-2.0
"""
Scale of the cost of torque, so that one set of weights fits robots of any mass.

The weights of paths and speeds are in metres and seconds, but w_τ |τ|² is in N·m: the torque per
acceleration, m r/k with the mass m and the radius r of k driven wheels, differs by a factor of
1000 from 5 kg on wheels of 2 cm to 300 kg on wheels of 15 cm. With w_τ scaled by its inverse
square the cost of an acceleration is that of the C3P, for which the weights were tuned.
"""

from __future__ import annotations

import numpy as np

from c3p_description.model import CasterRobot
from c3p_dynamics.traction import torque_bounds

# m r/k of the C3P, kg·m
REFERENCE = 0.464

# mass of the C3P with its casters, kg
REFERENCE_MASS = 35.0

# robots whose torque per acceleration is within this factor of the reference keep the weights
NEAR = 1.5


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
    lever = torque_per_acceleration(robot)
    if not lever < np.inf:
        return 1.0
    relative = lever / REFERENCE
    beyond = relative / NEAR if relative > NEAR else min(relative * NEAR, 1.0)
    return 1.0 / beyond**2


def torque_per_acceleration(robot: CasterRobot) -> float:
    """Return m r/k, the torque of each driven wheel per acceleration, kg·m; inf without one."""
    pushing = torque_bounds(robot)[:robot.count] > 0.0
    if not pushing.any():
        return np.inf
    return float(robot.total_mass * np.mean(robot.wheel_radius[pushing]) / pushing.sum())


def heavier(robot: CasterRobot) -> float:
    """
    Return the factor of forces that grow with the mass, slopes among them; 1 up to 1.5 C3P.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from c3p_description import load
    >>> heavier(load('c3p'))
    1.0
    >>> heavier(replace(load('c3p'), platform_mass=300.0)) > 5.0
    True
    """
    return max(1.0, robot.total_mass / (NEAR * REFERENCE_MASS))
