# SPDX-License-Identifier: Apache-2.0
"""
Draw docs/images/wiring.png: node ids and positive senses of the C3P from above, and its bus.

Run from the root of the repository: ``python scripts/write_wiring_figure.py`` (a second).
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from c3p_bags.report.wiring_picture import draw_caster, draw_platform
from c3p_description.model import CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_hardware.axes import FIRST_DRIVE, FIRST_ENCODER
from c3p_plots.palette import ALERT, BLUE, GREEN, INK, MUTED, caster_colour
from c3p_plots.style import figure

FILE = Path(__file__).parents[1] / 'docs' / 'images' / 'wiring.png'
# points per line of text of a box
SMALL = 8.0


def draw_plan(axes: Axes, robot: CasterRobot) -> None:
    """Draw the robot from above with all steering angles zero: as after a push along +Y."""
    draw_platform(axes, robot, 'From above, all steering angles 0: as after a push along +Y')
    for i in range(robot.count):
        draw_caster(axes, robot, i, f'caster {i + 1}\ndrive: node {FIRST_DRIVE + i}\n'
                    f'encoder: node {FIRST_ENCODER + i}', caster_colour(i))
    x, y = robot.hip_position[-1]
    axes.text(x + 0.09, y - 0.1, 'straight arrow: + of the wheel’s angle\n'
              'round arrow: + of the steering angle', fontsize=SMALL, color=MUTED, va='top')
    axes.set_xlim(-0.66, 0.66)
    axes.set_ylim(-0.56, 0.46)


def box(axes: Axes, x: float, y: float, text: str, colour: str, width: float = 1.5,
        height: float = 0.62) -> None:
    """Draw a device."""
    axes.add_patch(FancyBboxPatch((x - width / 2, y - height / 2), width, height,
                                  boxstyle='round,pad=0,rounding_size=0.08', facecolor='white',
                                  edgecolor=colour, linewidth=1.6, zorder=4))
    axes.text(x, y, text, ha='center', va='center', fontsize=SMALL, color=INK, zorder=5,
              linespacing=1.25)


def draw_bus(axes: Axes, robot: CasterRobot) -> None:
    """Draw bus, supplies and emergency stop."""
    axes.axis('off')
    axes.set_xlim(0.0, 11.1)
    axes.set_ylim(0.2, 7.0)
    axes.set_title('One line with 120 Ω at both ends; two supplies; STO apart from the bus',
                   loc='left', fontsize=11, color=INK, fontweight='bold')
    bus = 4.0
    axes.plot([1.0, 10.6], [bus, bus], color=BLUE, linewidth=2.4, zorder=2)
    for x in (1.0, 10.6):
        box(axes, x, bus, '120 Ω', BLUE, 0.75, 0.42)
    axes.text(4.75, bus + 0.14, 'CAN_H, CAN_L, ground:\ntwisted, shielded', fontsize=SMALL,
              color=BLUE, va='bottom')
    axes.plot([1.75, 1.75], [bus, 5.6], color=BLUE, linewidth=1.8, zorder=2)
    box(axes, 1.75, 5.6, 'computer\nnode 127', INK)
    axes.text(1.85, 4.75, 'CAN adapter', fontsize=SMALL, color=MUTED, va='center')
    for i in range(robot.count):
        colour = caster_colour(i)
        x = 3.4 + 2.65 * i
        drive, encoder = x - 0.05, x + 1.25
        axes.plot([drive, drive], [bus, 2.75], color=BLUE, linewidth=1.8, zorder=2)
        axes.plot([encoder, encoder], [bus, 5.6], color=BLUE, linewidth=1.8, zorder=2)
        box(axes, drive, 2.75, f'drive {i + 1}\nnode {FIRST_DRIVE + i}', colour, 1.25)
        box(axes, encoder, 5.6, f'encoder {i + 1}\nnode {FIRST_ENCODER + i}', colour, 1.25)
        # supplies of the drives
        axes.plot([drive - 0.3, drive - 0.3], [2.45, 1.65], color=ALERT, linewidth=1.5, zorder=1)
        axes.plot([drive, drive], [2.45, 1.15], color=INK, linewidth=1.5, zorder=1)
        axes.plot([drive + 0.3, drive + 0.3], [2.45, 0.65], color=GREEN, linewidth=1.5, zorder=1)
    end = 3.4 + 2.65 * (robot.count - 1)
    for y, x, colour, text in (
            (1.65, end - 0.35, ALERT, 'motors’ 24 V, through the stop'),
            (1.15, end - 0.05, INK, 'electronics’ 24 V, always on'),
            (0.65, end + 0.25, GREEN, 'STO, both inputs, by the relay')):
        axes.plot([2.95, x], [y, y], color=colour, linewidth=1.5, zorder=1)
        axes.text(0.1, y, text, fontsize=SMALL, color=colour, va='center')
    axes.text(end + 0.1, 3.42, 'stubs below 0.3 m;\nslip ring in each caster', fontsize=SMALL,
              color=MUTED, va='center')


def main() -> None:
    """Write the picture."""
    robot = load_casters('c3p')
    page = figure(13.0, 5.0)
    draw_plan(page.add_axes((0.0, 0.02, 0.46, 0.88)), robot)
    draw_bus(page.add_axes((0.47, 0.02, 0.52, 0.88)), robot)
    page.savefig(FILE, dpi=130)


if __name__ == '__main__':
    main()
