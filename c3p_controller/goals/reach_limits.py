# SPDX-License-Identifier: Apache-2.0
"""
Limits of a position law within the reach of a robot: motors, tyres, wheel rates and casters.

A path with more acceleration than the motors reach is not followed, and a fast robot with short
casters outruns the steps of its controller. The gains of a law are lowered to these limits; a
strong robot keeps them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from c3p_description.model import CasterRobot
from c3p_description.settings import computed
from c3p_description.wheels import farthest_wheel
from c3p_dynamics.freedoms import heading_is_free
from c3p_dynamics.reach import Travel, travel

# fraction of the reachable acceleration that goals use: the rest turns the casters, and corrects
# errors; friction helps to brake
USED = 0.4
USED_BRAKING = 0.5

# shortest time in which a caster travels its offset, s: steps of the controllers are shorter
CASTER_TIME = 0.03

# fraction of the largest wheel rate that goals use
RATE_USED = 0.8

# slower robots do not travel: accelerations in m/s² and rad/s²
LEAST_ACCELERATION = 0.01
LEAST_YAW_ACCELERATION = 0.02

# directions of travel that are examined: 24 differ by less than 10 % from 8 in the worst one
DIRECTIONS = 8


class ReachLimits(NamedTuple):
    """
    Limits of a reference that a robot can follow.

    Attributes
    ----------
    speed, acceleration, deceleration : float, m/s and m/s²
    yaw_rate, yaw_acceleration : float, rad/s and rad/s²

    Examples
    --------
    >>> from c3p_description import load
    >>> from dataclasses import replace
    >>> [round(limit, 2) for limit in limits_of_reach(load('c3p'))]
    [0.8, 0.97, 1.22, 2.33, 2.82]
    >>> heavy = replace(load('c3p'), platform_mass=300.0)
    >>> [round(limit, 2) for limit in limits_of_reach(heavy)][1:3]
    [0.11, 0.14]
    """

    speed: float
    acceleration: float
    deceleration: float
    yaw_rate: float
    yaw_acceleration: float


def limits_of_reach(robot: CasterRobot, ability: Travel | None = None) -> ReachLimits:
    """
    Return the limits of a reference that `robot` follows.

    `ability` are its accelerations, computed when omitted.
    """
    ability = travel(robot, DIRECTIONS) if ability is None else ability
    # with fewer motors than freedoms the heading is free, and the robot turns to a good direction
    free = heading_is_free(robot)
    along = float(np.median(ability.along) if free else ability.along.min())
    turn = max(USED * float(ability.turn.min()), LEAST_YAW_ACCELERATION)
    wheels = RATE_USED * float((robot.wheel_rate_limit * robot.wheel_radius).min())
    trails = ~robot.fixed & (robot.caster_offset > 0.0) & (robot.driven | robot.steered)
    speed = min(wheels, float(robot.caster_offset[trails].min(initial=math.inf)) / CASTER_TIME)
    # a wheel at the farthest pivot turns with the same speed; and half a turn, half of it slower
    farthest = farthest_wheel(robot)
    yaw_rate = min(speed / farthest, math.inf if free else math.sqrt(turn * math.pi))
    return ReachLimits(speed, max(USED * along, LEAST_ACCELERATION),
                       max(USED_BRAKING * along, LEAST_ACCELERATION), yaw_rate, turn)


def within_reach(gains: Any, limits: ReachLimits) -> tuple[Any, list[str]]:
    """
    Return the `gains` of a position law within `limits`, and a text for each that was lowered.

    Gains without a field of a limit keep their own.

    Examples
    --------
    >>> from c3p_controller.goals.path_controller import PathGains
    >>> limits = ReachLimits(0.8, 0.2, 0.3, 2.0, 1.0)
    >>> gains, texts = within_reach(PathGains(), limits)
    >>> gains.speed, gains.acceleration, texts[0]
    (0.5, 0.2, 'acceleration 0.2 in the place of 0.8: motors and tyres reach no more')
    """
    lowered = {}
    texts = []
    for name, reason in (('speed', 'wheel rates or caster offsets allow no more'),
                         ('acceleration', 'motors and tyres reach no more'),
                         ('deceleration', 'motors and tyres reach no more'),
                         ('yaw_rate', 'wheels, casters or motors allow no more')):
        value = getattr(gains, name, 0.0)
        limit = getattr(limits, name)
        if value > limit:
            lowered[name] = limit
            texts.append(f'{name} {limit:.3g} in the place of {value:.3g}: {reason}')
    return (computed(gains, **lowered) if lowered else gains), texts
