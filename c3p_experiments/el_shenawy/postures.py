# SPDX-License-Identifier: Apache-2.0
"""
Steering postures of paper I, Fig. 4 and paper II, Fig. 2: which motions the wheels reach.

A torque τ_i pushes the platform at its wheel with τ_i/r along the rolling line e_i. From
standstill the reachable accelerations are M⁻¹ J_xᵀ τ, |τ_i| ≤ τ_max: a parallelepiped in
(v̇x, v̇y, ω̇), of which the page shows the part without yaw acceleration. At a singular posture it
is flat.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Polygon
from scipy.optimize import linprog

from c3p_bags.report import style
from c3p_description import load
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.caster_dynamics import mass_matrix
from c3p_dynamics.traction import torque_bounds
from c3p_experiments.loop.outcome import ModelOptions, Row
from c3p_experiments.robots.plan import draw_from_above, half_width
from c3p_kinematics.casters import wheel_jacobian
from c3p_kinematics.singularity import Lines, singularity

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


def reach(robot: CasterRobot, steering: Array) -> Reach:
    """Return what the `robot` reaches at `steering` (n,), rad."""
    found = singularity(robot, steering)
    # twist acceleration per torque
    gain = np.linalg.solve(mass_matrix(robot, steering), wheel_jacobian(robot, steering).T)
    bound = torque_bounds(robot)
    outline = np.zeros((DIRECTIONS, 2))
    for k, angle in enumerate(np.arange(DIRECTIONS) * 2.0 * np.pi / DIRECTIONS):
        along = np.array([np.cos(angle), np.sin(angle)])
        # largest a with M⁻¹J_xᵀτ = (a cos, a sin, 0)
        rows = np.column_stack([gain, -np.append(along, 0.0)])
        best = linprog(np.append(np.zeros(len(bound)), -1.0), A_eq=rows, b_eq=np.zeros(3),
                       bounds=[*zip(-bound, bound, strict=True), (0.0, None)])
        outline[k] = best.x[-1] * along
    return Reach(int(found.rank), float(found.sigma_min), found.unactuated_direction,
                 Lines(int(found.lines)).name.lower(), outline)


def postures(out: Path, options: ModelOptions, progress: Any = lambda done: None
             ) -> dict[str, Any]:
    """Write the page of the postures into `out`; return the metrics."""
    name = options.robot or 'c3p'
    robot = load(name)
    if not isinstance(robot, CasterRobot) or robot.count != 3 or not robot.driven.all():
        raise ValueError(f'robot {name}: the postures of the papers need three driven casters, '
                         'such as c3p')
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
        if reached.lines == 'parallel':
            # flat: there and back on one line
            axes.plot(*reached.outline.T, color=style.ALERT, linewidth=2.2)
        axes.add_patch(Polygon(reached.outline, facecolor=style.SENSED, alpha=0.3,
                               edgecolor=style.SENSED))
        axes.set_xlim(-1.15 * largest, 1.15 * largest)
        axes.set_ylim(-1.15 * largest, 1.15 * largest)
        style.dress(axes, '', 'acceleration along X [m/s²]', 'along Y [m/s²]' if k == 0 else '')
    return style.save(sheet, path)


def _posture(axes: Axes, robot: CasterRobot, steering: Array, reached: Reach) -> None:
    """Draw the robot with rolling lines, pushes and the lost motion."""
    size = 1.45 * half_width(robot)
    draw_from_above(axes, robot, steering)
    push = torque_bounds(robot) / robot.wheel_radius
    for i in range(robot.count):
        forward = np.array([-np.sin(steering[i]), np.cos(steering[i])])
        hip, colour = robot.hip_position[i], style.caster_colour(i)
        axes.plot(*np.array([hip - 4 * size * forward, hip + 4 * size * forward]).T,
                  linestyle='--', linewidth=0.9, color=colour, zorder=2)
        contact = hip - robot.caster_offset[i] * forward
        tip = contact + 0.45 * size * push[i] / push.max() * forward
        axes.add_patch(FancyArrowPatch(contact, tip, arrowstyle='-|>', mutation_scale=11,
                                       color=colour, linewidth=1.8, zorder=8))
    lost, options = reached.lost, {'color': style.INK, 'linewidth': 2.0, 'zorder': 9,
                                   'arrowstyle': '<|-|>', 'mutation_scale': 12}
    if np.hypot(*lost[:2]) > 1e-9:
        way = 0.5 * size * lost[:2] / np.hypot(*lost[:2])
        axes.add_patch(FancyArrowPatch(-way, way, **options))
    elif abs(lost[2]) > 1e-9:
        arc = 0.35 * size * np.array([[np.cos(0.3), np.sin(0.3)], [np.cos(2.2), np.sin(2.2)]])
        axes.add_patch(FancyArrowPatch(*arc, connectionstyle='arc3,rad=0.5', **options))
    axes.set_xlim(-size, size)
    axes.set_ylim(-size, size)
    axes.set_aspect('equal')
    axes.axis('off')
