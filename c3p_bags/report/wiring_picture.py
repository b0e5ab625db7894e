# SPDX-License-Identifier: Apache-2.0
"""Pictures of a robot's wiring from above: casters, senses, and which channel is which joint."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc, FancyArrowPatch, FancyBboxPatch, Polygon

from c3p_bags.report.path import outline
from c3p_description.caster_labels import caster_labels
from c3p_description.model import CasterRobot
from c3p_kinematics.commissioning.assignment import (
    NONE,
    Assignment,
    as_described,
    channels_of,
)
from c3p_kinematics.commissioning.words import SAME_GEAR, SAME_ZERO
from c3p_plots.palette import ALERT, INK, MUTED, RULE
from c3p_plots.style import figure

# width of a drawn tyre by the radius of the wheel
WIDTH = 0.55

# points per line of text
TEXT = 9.0


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str
          ) -> None:
    """Draw an arrow on `axes` from `start` to `end`, m, in a `colour`."""
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle='-|>', mutation_scale=13,
                                   linewidth=1.8, color=colour, shrinkA=0, shrinkB=0, zorder=6))


def draw_platform(axes: Axes, robot: CasterRobot, title: str) -> None:
    """Draw the platform from above with its axes, and set the limits around the casters."""
    axes.set_aspect('equal')
    axes.axis('off')
    axes.set_title(title, loc='left', fontsize=11, color=INK, fontweight='bold')
    axes.add_patch(Polygon(1.15 * outline(robot), closed=True, facecolor=RULE, edgecolor=MUTED,
                           linewidth=1.0))
    size = float(np.abs(robot.hip_position).max())
    for k, name in enumerate('XY'):
        end = (0.45 * size, 0.0) if k == 0 else (0.0, 0.45 * size)
        arrow(axes, (0.0, 0.0), end, MUTED)
        axes.annotate(name, end, xytext=(6, 4), textcoords='offset points', fontsize=TEXT,
                      color=MUTED)
    x, y = robot.hip_position.T
    axes.set_xlim(x.min() - 1.2 * size, x.max() + 1.2 * size)
    axes.set_ylim(y.min() - 0.6 * size, y.max() + 0.5 * size)


def draw_caster(axes: Axes, robot: CasterRobot, i: int, text: str, colour: str) -> None:
    """
    Draw a caster behind its hip with the senses of its angles.

    Parameters
    ----------
    axes : Axes
    robot : CasterRobot
    i : int
        Caster, from 0.
    text : str
        Beside it.
    colour : str
    """
    x, y = robot.hip_position[i]
    contact = y - robot.caster_offset[i]
    r = robot.wheel_radius[i]
    size = float(np.abs(robot.hip_position).max())
    width = WIDTH * r
    axes.add_patch(FancyBboxPatch((x - 0.5 * width, contact - r), width, 2 * r,
                                  boxstyle=f'round,pad=0,rounding_size={0.2 * r}', color=colour,
                                  zorder=4))
    axes.plot([x, x], [y, contact], color=colour, linewidth=2.4, zorder=4)
    axes.plot(x, y, marker='o', markersize=6, color='white', markeredgecolor=colour,
              markeredgewidth=1.8, zorder=5)
    # a wheel that turns ahead rolls along +Y; seen from above steering is counterclockwise
    beside = 0.035 / 0.343 * size
    arrow(axes, (x + beside, contact - 0.5 * r), (x + beside, contact + 1.3 * r), colour)
    reach = 0.065 / 0.343 * size
    axes.add_patch(Arc((x, y), 2 * reach, 2 * reach, theta1=100, theta2=200, color=colour,
                       linewidth=1.8))
    tip = math.radians(200)
    end = (x + reach * math.cos(tip), y + reach * math.sin(tip))
    arrow(axes, (end[0] - 0.012 * size, end[1] + 0.035 * size), end, colour)
    left = x < -0.3 * size
    at = (x - 0.26 * size if left else x + 0.26 * size, y - 0.03 * size)
    axes.text(*at, text, fontsize=TEXT, color=ALERT if colour == ALERT else INK,
              va='center', ha='right' if left else 'left', linespacing=1.4)


def wiring_figure(robot: CasterRobot, assignment: Assignment,
                  nodes: dict[str, str] | None = None) -> Figure:
    """
    Return the wiring as described beside the one that was found; what differs is coloured.

    Parameters
    ----------
    robot : CasterRobot
    assignment : Assignment
    nodes : dict, optional
        Device of each channel in words, by the joint it is taken for.
    """
    page = figure(13.0, 5.0)
    panels = ((0.0, as_described(robot), 'As described'), (0.5, assignment, 'As found'))
    for x, wiring, title in panels:
        axes = page.add_axes((x, 0.02, 0.5, 0.88))
        draw_platform(axes, robot, title)
        for i in range(robot.count):
            lines, wrong = caster_lines(robot, wiring, i, nodes or {})
            draw_caster(axes, robot, i, '\n'.join(lines), ALERT if wrong else MUTED)
    return page


def caster_lines(robot: CasterRobot, assignment: Assignment, i: int, nodes: dict[str, str]
                 ) -> tuple[list[str], bool]:
    """
    Return the lines of text of a caster, and whether something of it is wired wrongly.

    Parameters
    ----------
    robot : CasterRobot
    assignment : Assignment
    i : int
        Caster, from 0.
    nodes : dict
        Device of each channel in words, by the joint it is taken for.
    """
    n = robot.count
    names, motors = channels_of(robot)
    lines = [f'caster {caster_labels(robot)[i]}']
    same = as_described(robot)
    wrong = False
    for k, what in ((n + i, 'wheel'), (i, 'steering')):
        channel = assignment.encoder_of[k]
        name = 'no channel' if channel == NONE else names[channel]
        notes = _notes(assignment, k, channel)
        lines.append(f'{what}: {nodes.get(name, name)}{notes}')
        wrong = wrong or channel != same.encoder_of[k] or bool(notes)
        motor = assignment.motor_of[k]
        if motor == NONE:
            continue
        differs = motors[motor] != name and k >= n
        reversed_ = assignment.leads[k] < 0.0
        if differs or reversed_:
            lines.append(f'motor: {nodes.get(motors[motor], motors[motor])}'
                         f'{", reversed" if reversed_ else ""}')
        wrong = wrong or motor != same.motor_of[k] or bool(reversed_)
    return lines, bool(wrong)


def _notes(assignment: Assignment, k: int, channel: int) -> str:
    if channel == NONE:
        return ''
    notes: Sequence[str] = (
        'reversed' if assignment.gear[k] < 0.0 else '',
        f'{math.degrees(assignment.zero[k]):+.0f}°' if abs(assignment.zero[k]) > SAME_ZERO else '',
        f'× {abs(assignment.gear[k]):.3f}' if abs(abs(assignment.gear[k]) - 1.0) > SAME_GEAR
        else '')
    return ''.join(f', {note}' for note in notes if note)
