# SPDX-License-Identifier: Apache-2.0
"""Stopping distances of a robot by the formula, for the check of a robot."""

from __future__ import annotations

import math
from typing import Any

from c3p_description.model import CasterRobot
from c3p_hardware.stopping import StopCase, stopping_table

# speeds on level ground, m/s; and a slope, rad, at a speed
SPEEDS = (0.25, 0.5, 1.0)
SLOPE = math.radians(3.0)
ON_SLOPE = 0.5


def stop_cases(robot: CasterRobot) -> tuple[StopCase, ...]:
    """Return the cases of the columns, on a floor with the friction of the description."""
    return (*(StopCase(speed, friction=robot.tyre_friction) for speed in SPEEDS),
            StopCase(ON_SLOPE, slope=SLOPE, friction=robot.tyre_friction))


def stop_lines(robot: CasterRobot) -> list[str]:
    """Return the table as lines of text; empty for a robot without a driven wheel."""
    if not robot.driven.any():
        return []
    cases = stop_cases(robot)
    columns = ', '.join(f'{case.speed:g} m/s' + (f' {math.degrees(case.slope):.0f}° downhill'
                                                 if case.slope else '') for case in cases)
    lines = [f'  {"stopping distances [m]":30} {columns}; µ {robot.tyre_friction:g}, by the '
             'formula of docs/stopping.md']
    for reaction, distances in stopping_table(robot, cases):
        name = f'{reaction.part}: {reaction.brake} ({reaction.category})'
        lines.append(f'  {name:30} ' + ', '.join(
            f'{way:.2f}' if math.isfinite(way) else 'rolls on' for way in distances))
    return lines


def stops_json(robot: CasterRobot) -> list[dict[str, Any]]:
    """Return the table for JSON; a distance of None: the robot rolls on."""
    cases = stop_cases(robot)
    return [{'part': reaction.part, 'brake': reaction.brake, 'category': reaction.category,
             'reaction_s': reaction.time,
             'distances': [{'speed_mps': case.speed, 'slope_rad': case.slope,
                            'friction': case.friction,
                            'distance_m': way if math.isfinite(way) else None}
                           for case, way in zip(cases, distances, strict=True)]}
            for reaction, distances in stopping_table(robot, cases)]
