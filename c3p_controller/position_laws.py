# SPDX-License-Identifier: Apache-2.0
"""The laws that the position controller may follow, by name and from their parameters."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from c3p_controller.paper.position import (
    PaperPositionController,
    PaperPositionGains,
    PaperPositionOptions,
)
from c3p_controller.path_controller import PathController, PathGains
from c3p_controller.position_controller import PositionController, PositionGains

# the papers' law, and its form to the letter
PAPER, PRINTED = 'paper', 'printed'

PositionLaw = PositionController | PaperPositionController | PathController


def make_position(values: Any) -> PositionLaw:
    """
    Return the law that the parameters ``controller`` and ``paper_law`` name.

    Raises
    ------
    ValueError
        Gains or readings that cannot be.
    """
    if values.controller != PAPER:
        return PathController(path_gains_of(values))
    if values.paper_law == PRINTED:
        return PaperPositionController(*printed_of(values.printed))
    return PositionController(gains_of(PositionGains, values))


def retune(law: PositionLaw, values: Any) -> None:
    """Give `law` the present parameters; errors as in `make_position`."""
    if isinstance(law, PathController):
        law.gains = path_gains_of(values)
    elif isinstance(law, PaperPositionController):
        law.gains, law.options = printed_of(values.printed)
    else:
        law.gains = gains_of(PositionGains, values)


def zone_of(law: PositionLaw) -> tuple[float, float]:
    """Return what `law` takes for arrived, m and rad; the printed law does not look at yaw."""
    if isinstance(law, PaperPositionController):
        return law.gains.goal_zone, math.inf
    return law.gains.goal_tolerance, law.gains.yaw_tolerance


def gains_of(kind: type, *groups: Any) -> Any:
    """Return gains of the dataclass `kind` from the first of `groups` that has each of them."""
    return kind(**{f.name: next(getattr(group, f.name) for group in groups
                                if hasattr(group, f.name)) for f in fields(kind)})


def path_gains_of(values: Any) -> PathGains:
    """
    Return the gains along a path from the parameters.

    Raises
    ------
    ValueError
        Where the robot stands is not within the goal zone.
    """
    for inner, outer in (('stop_distance', 'goal_tolerance'), ('stop_yaw', 'yaw_tolerance')):
        if getattr(values.path, inner) > getattr(values, outer):
            raise ValueError(f'path.{inner} = {getattr(values.path, inner)}: must be at most '
                             f'{outer} = {getattr(values, outer)}')
    return gains_of(PathGains, values.path, values)


def printed_of(group: Any) -> tuple[PaperPositionGains, PaperPositionOptions]:
    """Return gains and readings of the papers' law to the letter from their group."""
    gains = PaperPositionGains(
        axis_gain=tuple(group.axis_gain), axis_rate=tuple(group.axis_rate),
        yaw_gain=group.yaw_gain, line_yaw_gain=group.line_yaw_gain, goal_zone=group.goal_zone)
    return gains, gains_of(PaperPositionOptions, group)


def pace_of(law: PositionLaw, values: Any) -> tuple[float, float]:
    """Return how fast `law` drives and turns the robot, m/s and rad/s."""
    return values.speed, getattr(law.gains, 'yaw_rate', values.yaw_rate)
