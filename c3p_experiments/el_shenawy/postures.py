# SPDX-License-Identifier: Apache-2.0
"""
Steering postures of paper I, Fig. 4 and paper II, Fig. 2: which motions the wheels reach.

A torque τ_i pushes the platform at its wheel with τ_i/r along the rolling line e_i. From
standstill the reachable accelerations are M⁻¹ J_xᵀ τ, |τ_i| ≤ τ_max: a parallelepiped in
(v̇x, v̇y, ω̇), of which the page shows the part without yaw acceleration. At a singular posture it
is flat.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Polygon

from c3p_description import load
from c3p_description.model import Array, CasterRobot, Friction
from c3p_dynamics.reach import reach as largest
from c3p_dynamics.traction import torque_bounds
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.loop.outcome import Row
from c3p_experiments.page_curves import save_page
from c3p_experiments.robots.plan import (
    draw_from_above,
    draw_lost,
    draw_rolling_lines,
    half_width,
    square,
)
from c3p_kinematics.singularity import Lines, singularity
from c3p_plots import style

NAME = 'postures'
TITLE = 'Singular and regular steering postures, and what the wheels reach'
SOURCE = 'paper I, Fig. 4; paper II, Fig. 2'

# panel, steering angles [deg], lost twist in print
POSTURES = (
    ('(a)', (-90.0, -90.0, -90.0), 'Ẏ'),
    ('(b)', (-45.0, -45.0, -45.0), '[−1 1 0]'),
    ('(c)', (0.0, 0.0, 0.0), 'Ẋ'),
    ('(d)', (45.0, -45.0, 90.0), 'none'),
    ('(e)', (-60.0, 60.0, 180.0), 'not printed'))

# directions of the outline of reachable accelerations
DIRECTIONS = 120

ROWS = tuple(
    row for k, (panel, _, printed) in enumerate(POSTURES) for row in (
        Row(f'postures.{k}.rank', f'{panel} rank of J_x', digits=0),
        Row(f'postures.{k}.sigma_min', f'{panel} smallest singular value, scaled', digits=3),
        Row(f'postures.{k}.largest_mps2', f'{panel} largest acceleration without yaw', 'm/s²'),
        Row(f'postures.{k}.least_mps2', f'{panel} the same, worst direction', 'm/s²',
            printed=f'lost: {printed}')))


class Reach(NamedTuple):
    """
    Reachable accelerations at one posture from standstill.

    Attributes
    ----------
    rank : int
        Of J_x.
    sigma_min : float
        Of J_x, scaled as in `singularity`.
    lost : (3,) array
        Twist that no motor moves, ``base_link``; zeros at a regular posture.
    lines : str
        Name of `Lines`.
    outline : (k, 2) array, m/s²
        Largest accelerations without yaw acceleration, one for each direction of X and Y.
    """

    rank: int
    sigma_min: float
    lost: Array
    lines: str
    outline: Array


def papers_robot(name: str) -> CasterRobot:
    """
    Return the robot called `name`, with three driven casters as in the papers.

    Raises
    ------
    ValueError
        A robot of another kind, or with other casters.
    """
    robot = load(name)
    if not isinstance(robot, CasterRobot) or robot.count != 3 or not robot.driven.all():
        raise ValueError(f'robot {name}: the models of the papers have three driven casters, '
                         'such as c3p')
    return robot


def reach(robot: CasterRobot, steering: Array) -> Reach:
    """Return what the `robot` reaches at `steering` (n,), rad, without friction."""
    found = singularity(robot, steering)
    rolling = replace(robot, friction=Friction())
    angles = np.arange(DIRECTIONS) * 2.0 * np.pi / DIRECTIONS
    ways = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(DIRECTIONS)])
    outline = np.array([largest(rolling, steering, way) * way[:2] for way in ways])
    return Reach(int(found.rank), float(found.sigma_min), found.unactuated_direction,
                 Lines(int(found.lines)).name.lower(), outline)


def postures(out: Path, options: Conditions, progress: Any = lambda done: None
             ) -> dict[str, Any]:
    """Write the page of the postures into `out`; return the metrics."""
    name = options.robot or 'c3p'
    robot = papers_robot(name)
    found = []
    for k, (_, degrees, _) in enumerate(POSTURES):
        found.append(reach(robot, np.radians(degrees)))
        progress((k + 1) / len(POSTURES))
    files = _page(robot, found, out / NAME)
    speeds = [np.hypot(*r.outline.T) for r in found]
    return {'conditions': {'robot': str(name)},
            'reached': [r.rank for r in found] == [2, 2, 2, 3, 2],
            'postures': [{'steering_deg': list(degrees), 'rank': r.rank,
                          'sigma_min': r.sigma_min, 'lines': r.lines,
                          'lost_twist': (r.lost + 0.0).tolist(),
                          'largest_mps2': float(speed.max()), 'least_mps2': float(speed.min())}
                         for (_, degrees, _), r, speed in zip(POSTURES, found, speeds,
                                                              strict=True)],
            'files': files}


def _page(robot: CasterRobot, found: list[Reach], path: Path) -> list[Path]:
    sheet, grid = style.page(
        'Steering postures of the C3P', [
            'dashed: rolling lines', 'arrows: push of each wheel at its largest torque',
            'black: motion that no wheel moves',
            'below: reachable accelerations without yaw acceleration; at (e) there is no other'],
        SOURCE, size=(15.0, 6.4), rows=2, columns=len(found), hspace=0.18, wspace=0.2,
        height_ratios=(1.35, 1.0))
    largest = max(float(np.abs(r.outline).max()) for r in found)
    for k, ((panel, degrees, _), reached) in enumerate(zip(POSTURES, found, strict=True)):
        axes = sheet.add_subplot(grid[0, k])
        _posture(axes, robot, np.radians(degrees), reached)
        text = ', '.join(f'{d:g}°' for d in degrees).replace('-', '−')
        axes.set_title(f'{panel} {text}: {"singular" if reached.rank < 3 else "regular"}',
                       fontsize=style.TITLE, loc='left', fontweight='bold', color=style.INK)
        axes = sheet.add_subplot(grid[1, k])
        axes.set_aspect('equal')
        # parallel rolling lines: flat, there and back on one line
        flat = reached.lines == 'parallel'
        axes.add_patch(Polygon(reached.outline, facecolor=style.SENSED, alpha=0.3))
        axes.plot(*np.vstack([reached.outline, reached.outline[:1]]).T,
                  color=style.ALERT if flat else style.SENSED, linewidth=2.2 if flat else 1.0,
                  label='outline')
        axes.set_xlim(-1.15 * largest, 1.15 * largest)
        axes.set_ylim(-1.15 * largest, 1.15 * largest)
        style.dress(axes, '', 'acceleration along X [m/s²]', 'along Y [m/s²]' if k == 0 else '')
    return save_page(sheet, path)


def _posture(axes: Axes, robot: CasterRobot, steering: Array, reached: Reach) -> None:
    """Draw the robot with rolling lines, pushes and the lost motion."""
    size = 1.45 * half_width(robot)
    draw_from_above(axes, robot, steering)
    draw_rolling_lines(axes, robot, steering, size)
    push = torque_bounds(robot) / robot.wheel_radius
    for i in range(robot.count):
        forward = np.array([-np.sin(steering[i]), np.cos(steering[i])])
        contact = robot.hip_position[i] - robot.caster_offset[i] * forward
        tip = contact + 0.45 * size * push[i] / push.max() * forward
        axes.add_patch(FancyArrowPatch(contact, tip, arrowstyle='-|>', mutation_scale=11,
                                       color=style.caster_colour(i), linewidth=1.8, zorder=8))
    if reached.rank < 3:
        draw_lost(axes, reached.lost, size, style.INK)
    square(axes, size)
