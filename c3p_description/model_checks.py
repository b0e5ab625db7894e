# SPDX-License-Identifier: Apache-2.0
"""
Values that no robot has: each check returns what is wrong with a model, or an empty text.

`robot` is a `CasterRobot` everywhere, which imports this file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from c3p_description import wheels

# of a robot: lengths [m], offsets and radii of casters [m], masses and inertias [kg, kg·m²]
LONGEST = 1e3
SHORTEST = 1e-6
HEAVIEST = 1e9

# fields of the motors, one value per caster
LIMITS = ('torque_limit', 'wheel_rate_limit', 'steering_torque_limit', 'steering_rate_limit')

# fields of the stops of steering angles
STOPS = ('steering_lower', 'steering_upper')

POSITIVE = ('wheel_radius', 'platform_mass', 'platform_inertia', 'slip_angle')
NOT_NEGATIVE = ('caster_offset', 'link_mass', 'link_inertia', 'wheel_mass', 'wheel_spin_inertia',
                'wheel_yaw_inertia')
LENGTHS = ('hip_position', 'platform_com', 'link_com', 'caster_offset', 'wheel_radius',
           'lateral_offset')
MASSES = ('platform_mass', 'platform_inertia', 'link_mass', 'link_inertia', 'wheel_mass',
          'wheel_spin_inertia', 'wheel_yaw_inertia')


def wrong_sign(robot: Any) -> str:
    """Return the first value with a wrong sign or beyond its bounds."""
    for name in POSITIVE:
        if not np.all(np.asarray(getattr(robot, name)) > 0):
            return f'{name} = {getattr(robot, name)}: must be greater than zero'
    for name in NOT_NEGATIVE:
        if not np.all(np.asarray(getattr(robot, name)) >= 0):
            return f'{name} = {getattr(robot, name)}: must not be negative'
    for name in ('steering_sign', 'wheel_sign'):
        if not np.all(np.abs(getattr(robot, name)) == 1):
            return f'{name} = {getattr(robot, name)}: each must be +1 or -1'
    for name in LIMITS:
        if not np.all(getattr(robot, name) > 0):
            return (f'{name} = {getattr(robot, name)}: must be greater than zero; .inf means no '
                    'limit')
    if not 0 < robot.tyre_friction < np.inf:
        return (f'tyre_friction = {robot.tyre_friction}: must be a finite number greater than '
                'zero')
    if not 0 < robot.traction_margin <= 1:
        return (f'traction_margin = {robot.traction_margin}: must be greater than 0 and at most '
                '1')
    if not np.any(robot.driven | robot.steered):
        return 'driven: no caster is driven, so the robot cannot move'
    return ''


def wrong_size(robot: Any) -> str:
    """Return the first number with which the equations overflow."""
    for name in LENGTHS:
        if not np.all(np.abs(getattr(robot, name)) <= LONGEST):
            return f'{name} = {getattr(robot, name)}: at most {LONGEST:g} m; lengths are in m'
    for name in ('caster_offset', 'wheel_radius'):
        lengths = np.asarray(getattr(robot, name))
        # a wheel below its pivot has an offset of zero
        if not np.all((lengths >= SHORTEST) | (lengths == 0.0)):
            return f'{name} = {lengths}: at least {SHORTEST:g} m; lengths are in m'
    for name in MASSES:
        if not np.all(np.asarray(getattr(robot, name)) <= HEAVIEST):
            return f'{name} = {getattr(robot, name)}: at most {HEAVIEST:g}; masses are in kg'
    return ''


def wrong_stops(robot: Any) -> str:
    """Return what is wrong with the stops of steering axes, or an empty text."""
    lower = robot.steering_lower
    upper = robot.steering_upper
    # one that is not a number is not below another one
    if not np.all((lower < upper) & (lower < np.inf) & (upper > -np.inf)):
        return (f'steering_lower = {lower.tolist()}, steering_upper = {upper.tolist()}: each '
                'lower stop must be below the upper one; -.inf and .inf mean no stops')
    return ''


CHECKS = (wrong_sign, wrong_size, wrong_stops, wheels.one_place, wheels.contradiction)
