# SPDX-License-Identifier: Apache-2.0
"""A caster robot as a few lines of text, for ``print(robot)``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

# casters in the table, at most: a screen has 80 columns
MOST_COLUMNS = 6


def robot_text(robot: Any) -> str:
    """
    Return name, masses, and a table of the casters of a `CasterRobot`; ``repr`` has every field.

    Examples
    --------
    >>> from c3p_description import load
    >>> print(load('c3p'))
    c3p: 3 casters, 3 driven, 34.8 kg
      caster                      1        2        3
      pivot x [m]             0.297   -0.297        0
      pivot y [m]             0.171    0.171   -0.343
      offset d [m]             0.04     0.04     0.04
      wheel radius [m]         0.04     0.04     0.04
      motor of                wheel    wheel    wheel
      torque limit [N·m]        1.2      1.2      1.2
      rate limit [rad/s]         25       25       25
      platform: 30 kg, 3.51 kg·m², centre of mass at (0, 0) m
      tyres: µ 0.6, of which controllers use 70 %
    """
    driven = int(np.sum(robot.driven | robot.steered))
    lines = [f'{robot.name}: {robot.count} casters, {driven} driven, {robot.total_mass:.4g} kg']
    rows: dict[str, Iterable[object]] = {
        'caster': range(1, robot.count + 1),
        'pivot x [m]': robot.hip_position[:, 0],
        'pivot y [m]': robot.hip_position[:, 1],
        'offset d [m]': robot.caster_offset,
        'lateral offset b [m]': robot.lateral_offset,
        'wheel radius [m]': robot.wheel_radius,
        'motor of': map(_motor, robot.driven, robot.steered, robot.fixed),
        'torque limit [N·m]': robot.torque_limit,
        'rate limit [rad/s]': robot.wheel_rate_limit,
    }
    if not np.any(robot.lateral_offset):
        del rows['lateral offset b [m]']
    more = '        …' if robot.count > MOST_COLUMNS else ''
    for name, values in rows.items():
        cells = [f'{_short(value):>9}' for value in values][:MOST_COLUMNS]
        lines.append(f'  {name:20}{"".join(cells)}{more}')
    x, y = map(_short, robot.platform_com)
    lines.append(f'  platform: {robot.platform_mass:.4g} kg, {robot.platform_inertia:.4g} kg·m², '
                 f'centre of mass at ({x}, {y}) m')
    lines.append(f'  tyres: µ {robot.tyre_friction:.3g}, of which controllers use '
                 f'{100 * robot.traction_margin:.3g} %')
    return '\n'.join(lines)


def _motor(driven: bool, steered: bool, fixed: bool) -> str:
    """Return what turns a caster."""
    if driven and steered:
        return 'both'
    return 'wheel' if driven else 'steering' if steered else 'fixed' if fixed else 'free'


def _short(value: object) -> str:
    """Return a number in three digits, without the rest of a sine; a text as it is."""
    if not isinstance(value, float):
        return f'{value}'
    return '0' if abs(value) < 1e-9 else f'{value:.3g}'
