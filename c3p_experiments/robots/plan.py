# SPDX-License-Identifier: Apache-2.0
"""Pictures of a robot from above: dimensions, rolling lines and lost motions."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Polygon

from c3p_bags.report.path import outline
from c3p_description.model import Array, CasterRobot
from c3p_experiments.robots.ability import Ability, singular_postures
from c3p_experiments.robots.facts import motors
from c3p_plots import style

# width of a drawn wheel over its radius
WHEEL_WIDTH = 0.5

# lengths of scale bars, m
BARS = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0])

# rotation of a lost motion that is drawn, rad
SWEEP = 0.7

TEXT = 7.5


def half_width(robot: CasterRobot) -> float:
    """Return half the side of a square around `base_link` that holds the robot, m."""
    reach = robot.caster_offset + robot.wheel_radius
    return float((np.abs(robot.hip_position) + reach[:, None]).max())


def draw_from_above(axes: Axes, robot: CasterRobot, steering: Array) -> None:
    """Draw platform, forks and wheels at `steering` (n,); driven wheels filled, axes ringed."""
    axes.add_patch(Polygon(outline(robot), closed=True, facecolor=style.RULE, alpha=0.6,
                           edgecolor=style.MUTED, linewidth=0.9, zorder=1))
    for i in range(robot.count):
        forward = np.array([-np.sin(steering[i]), np.cos(steering[i])])
        hip = robot.hip_position[i]
        axle = np.array([forward[1], -forward[0]])
        contact = hip - robot.caster_offset[i] * forward
        along = robot.wheel_radius[i] * forward
        wide = 0.5 * WHEEL_WIDTH * robot.wheel_radius[i] * axle
        colour = style.caster_colour(i)
        driven = bool(robot.driven[i])
        axes.plot(*np.array([hip, contact]).T, color=style.INK, linewidth=1.1, zorder=4)
        axes.add_patch(Polygon(
            [contact + along + wide, contact - along + wide, contact - along - wide,
             contact + along - wide], closed=True, edgecolor=colour, linewidth=1.4,
            facecolor=colour if driven else 'none', alpha=0.85 if driven else 1.0, zorder=3))
        # a steering motor is a ring around the pivot
        axes.plot(*hip, 'o', markersize=3.6, color=style.INK, zorder=5)
        if robot.steered[i]:
            axes.plot(*hip, 'o', markersize=9.0, color=colour, markerfacecolor='none', zorder=5)


def plan(robot: CasterRobot) -> Figure:
    """Return the picture of the robot with its dimensions, all joints at zero."""
    sheet = style.figure(10.0, 5.6)
    axes = sheet.add_axes((0.0, 0.0, 0.62, 1.0))
    draw_from_above(axes, robot, robot.steering_zero)
    size = half_width(robot)
    # axes of base_link, as in every tool of ROS: x red, y green; named, for the colour-blind
    for direction, name in ((np.array([1.0, 0.0]), 'x'), (np.array([0.0, 1.0]), 'y')):
        tip = 0.28 * size * direction
        axes.add_patch(FancyArrowPatch((0, 0), tuple(tip), arrowstyle='-|>', mutation_scale=9,
                                       color=style.INK, linewidth=1.0, zorder=6))
        x, y = 1.22 * tip
        axes.text(x, y, name, fontsize=TEXT + 1, color=style.INK, ha='center',
                  va='center', zorder=6)
    axes.plot(*robot.platform_com, marker='P', markersize=8, color=style.ALERT,
              markeredgecolor='white', zorder=7, linestyle='none')
    axes.annotate('centre of mass of the platform', robot.platform_com, xytext=(7, -9),
                  textcoords='offset points', fontsize=TEXT, color=style.ALERT, zorder=7)
    for i in range(robot.count):
        # on the side away from the middle, beyond the wheel
        away = robot.hip_position[i] - robot.hip_position.mean(axis=0)
        away = away / max(float(np.hypot(*away)), 1e-9)
        place = robot.hip_position[i] + (
            robot.caster_offset[i] + 1.35 * robot.wheel_radius[i]) * away
        axes.text(place[0], place[1], f'{i + 1}', fontsize=TEXT + 3, fontweight='bold', zorder=8,
                  color=style.caster_colour(i), ha='center', va='center')
    _scale_bar(axes, size)
    span = 1.3 * size
    square(axes, span)
    _dimensions(sheet, robot)
    return sheet


def _scale_bar(axes: Axes, size: float) -> None:
    length = float(BARS[BARS <= max(0.5 * size, BARS[0])][-1])
    x, y = -1.22 * size, -1.22 * size
    axes.plot([x, x + length], [y, y], color=style.INK, linewidth=2.2, solid_capstyle='butt')
    axes.text(x + 0.5 * length, y + 0.03 * size, f'{length:g} m', fontsize=TEXT, ha='center',
              va='bottom', color=style.INK)


def _dimensions(sheet: Figure, robot: CasterRobot) -> None:
    """Write hips, offsets, radii and zero angles beside the picture."""
    top = 0.93
    step = min(0.052, 0.8 / (3.2 * robot.count + 3.0))
    y = top
    for i in range(robot.count):
        x, here = robot.hip_position[i].round(9) + 0.0
        lines = (f'caster {i + 1}, motors: {motors(robot, i)}',
                 f'hip ({x:.4g}, {here:.4g}) m, offset d {100 * robot.caster_offset[i]:.3g} cm',
                 f'wheel radius r {100 * robot.wheel_radius[i]:.3g} cm, steering zero '
                 f'{np.degrees(robot.steering_zero[i]):.4g}°')
        for k, text in enumerate(lines):
            sheet.text(0.64, y, text, fontsize=TEXT + (1 if k == 0 else 0), va='top',
                       color=style.caster_colour(i) if k == 0 else style.INK,
                       fontweight='bold' if k == 0 else 'normal')
            y -= step
        y -= 0.2 * step
    x, here = robot.platform_com.round(9) + 0.0
    for text in (f'platform {robot.platform_mass:.4g} kg, {robot.platform_inertia:.4g} kg·m²',
                 f'its centre of mass ({x:.4g}, {here:.4g}) m',
                 f'whole robot {robot.total_mass:.4g} kg'):
        sheet.text(0.64, y, text, fontsize=TEXT, va='top', color=style.INK)
        y -= step


def singular_figure(robot: CasterRobot) -> Figure:
    """Return the picture of two singular postures with the motions that they lose."""
    sheet = style.figure(10.0, 4.4)
    size = 1.5 * half_width(robot)
    for k, (name, steering, lost) in enumerate(singular_postures(robot)):
        axes = sheet.add_axes((0.5 * k, 0.0, 0.5, 0.92))
        draw_from_above(axes, robot, steering)
        draw_rolling_lines(axes, robot, steering, size)
        draw_lost(axes, lost, size)
        square(axes, size)
        axes.set_title(name, fontsize=style.TITLE + 0.5, color=style.INK, pad=2)
    return sheet


def draw_rolling_lines(axes: Axes, robot: CasterRobot, steering: Array, size: float) -> None:
    """Draw rolling lines of driven wheels of `robot` at `steering` into `axes` of `size`, m."""
    for i in np.flatnonzero(robot.driven):
        forward = np.array([-np.sin(steering[i]), np.cos(steering[i])])
        hip = robot.hip_position[i]
        axes.plot(*np.array([hip - 4 * size * forward, hip + 4 * size * forward]).T,
                  linestyle='--', linewidth=0.9, color=style.caster_colour(int(i)), zorder=2)


def square(axes: Axes, size: float) -> None:
    """Show a square of `axes` about the origin, 2 `size` m wide, without spines and ticks."""
    axes.set_xlim(-size, size)
    axes.set_ylim(-size, size)
    axes.set_aspect('equal')
    axes.axis('off')


def draw_lost(axes: Axes, lost: Array, size: float, colour: str = style.ALERT) -> None:
    """
    Draw a `lost` twist (3,) into `axes` in `colour`: an arrow, or an arc about its centre.

    `size` is half the width of the drawing, m.
    """
    options: dict[str, Any] = {'arrowstyle': '<|-|>', 'mutation_scale': 12, 'color': colour,
                               'linewidth': 2.0, 'zorder': 9}
    speed = float(np.hypot(*lost[:2]))
    rate = float(lost[2])
    if abs(rate) * 4.0 * size < speed:
        way = 0.45 * size * lost[:2] / speed
        axes.add_patch(FancyArrowPatch(tuple(-way), tuple(way), **options))
        return
    centre = np.array([-lost[1], lost[0]]) / rate
    radius = 0.45 * size
    tail, head = (tuple(centre + radius * np.array([np.cos(a), np.sin(a)]))
                  for a in (np.pi / 4 - SWEEP, np.pi / 4 + SWEEP))
    axes.add_patch(FancyArrowPatch(tail, head, connectionstyle=f'arc3,rad={np.tan(SWEEP / 2):.3f}',
                                   **options))
    axes.plot(*centre, 'x', markersize=7, color=colour, zorder=9)


def reach_figure(robot: CasterRobot, ability: Ability) -> Figure:
    """Return the picture of the accelerations: over the travel direction, and in any posture."""
    sheet = style.figure(10.0, 3.0)
    axes = sheet.add_axes((0.07, 0.17, 0.41, 0.7))
    found = ability.travel
    degrees = np.degrees(np.append(found.direction, 2.0 * np.pi))
    axes.plot(degrees, np.append(found.along, found.along[0]), color=style.SENSED,
              linewidth=1.6)
    axes.set_ylim(0.0, 1.15 * max(float(found.along.max()), 1e-3))
    axes.set_xlim(0.0, 360.0)
    axes.set_xticks(np.arange(0.0, 361.0, 60.0))
    style.dress(axes, '(a) trailing casters, straight', 'direction of travel from +x [deg]',
                'acceleration [m/s²]')
    axes = sheet.add_axes((0.57, 0.17, 0.41, 0.7))
    m = len(ability.accelerations)
    linear = np.sort(ability.accelerations[:, :4].reshape(-1))
    lever = float(np.hypot(*robot.hip_position.T).max())
    turning = np.sort(ability.accelerations[:, 4] * lever)
    for values, name, colour, dash in (
            (linear, 'straight', style.SENSED, '-'),
            (turning, 'turn, at the farthest pivot', style.TRUE, '--')):
        axes.step(values, np.arange(1, len(values) + 1) / len(values), where='post',
                  color=colour, linestyle=dash, linewidth=1.4, label=name)
    axes.set_ylim(0.0, 1.02)
    axes.set_xlim(left=0.0)
    shown = f'{m} random postures' if m > 1 else 'wheels aligned'
    style.dress(axes, f'(b) {shown}', 'at most [m/s²]', 'fraction')
    style.legend(axes, loc='lower right')
    return sheet
