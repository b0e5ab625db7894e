# SPDX-License-Identifier: Apache-2.0
"""
Draw docs/images/scene.png: the markers in four situations of the C3P.

The same shapes that RViz gets as markers are drawn by MuJoCo without a screen. Run from the root
of the repository: ``python scripts/write_scene_figure.py`` (some seconds; needs the extra film).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from c3p_description.model import Array, CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_kinematics.casters import inverse
from c3p_plots.style import figure
from c3p_viewers.mujoco.pictures import CasterStudio
from c3p_viewers.mujoco.shapes import add_shapes
from c3p_viewers.mujoco.view import View
from c3p_viewers.scene.caster_scene import caster_scene
from c3p_viewers.scene.shapes import Label, Shape

FILE = Path(__file__).parents[1] / 'docs' / 'images' / 'scene.png'
# of one panel, pixels; of the palette of the file, colours
SIZE, COLOURS = (800, 560), 224
VIEW = View((0.0, 0.0, 0.06), 1.65, math.radians(-120), math.radians(55))
# of the platform, so that the casters below it are seen
OPACITY = 0.3


class Situation(NamedTuple):
    """A panel: title, steering angles, and further arguments of the scene."""

    title: str
    steering: Array
    known: dict[str, Any]


def situations(robot: CasterRobot) -> list[Situation]:
    """Return the four panels."""
    curve, ahead = np.array([0.28, 0.1, 0.55]), np.array([0.0, 0.3, 0.0])
    residual = np.array([[0.004, -0.002], [0.17, 0.05], [0.003, 0.006]])
    slipping = np.array([0.25, 0.0, 0.0])
    return [
        Situation('a  Drives a curve: the axles pass close by its centre', settled(robot, curve),
                  {'twist': curve, 'wheel_torque': [0.4, 0.7, 0.5]}),
        Situation('b  Rolling lines parallel: no push across them', np.zeros(3),
                  {'twist': ahead, 'wheel_torque': [0.35] * 3}),
        Situation('c  Rolling lines meet in one point: no turn about it',
                  towards(robot, np.array([0.22, -0.1])), {}),
        Situation('d  Wheel 2 slips', settled(robot, slipping),
                  {'twist': slipping, 'wheel_torque': [0.3, 1.2, 0.3], 'residual': residual,
                   'suspect': 1, 'slipping': True})]


def settled(robot: CasterRobot, twist: Array) -> Array:
    """Return the steering angles some time after the platform began to move with a twist."""
    steering = np.array([0.4, -0.8, 2.0])
    for _ in range(80):
        steering = steering + 0.005 * inverse(robot, steering, twist)[1]
    return steering


def towards(robot: CasterRobot, point: Array) -> Array:
    """Return the steering angles with which every wheel rolls towards a point."""
    x, y = (point - robot.hip_position).T
    return np.arctan2(-x, y)


def panel(studio: CasterStudio, robot: CasterRobot, case: Situation) -> tuple[Array, list[Label]]:
    """Return the pixels of a panel without texts, and its labels."""
    shapes = caster_scene(robot, case.steering, **case.known)
    drawn: list[Shape] = [shape for shape in shapes if not isinstance(shape, Label)]

    def decorate(scene: Any) -> None:
        studio.fade(scene, OPACITY)
        add_shapes(scene, drawn, [0.0, 0.0, 0.0])

    pixels = studio.draw([[0.0, 0.0, 0.0]], case.steering, view=VIEW, decorate=decorate)
    return pixels, [shape for shape in shapes if isinstance(shape, Label)]


def main() -> None:
    """Draw the panels and write the picture."""
    robot = load_casters('c3p')
    width, height = SIZE
    page = figure(2 * width / 100, 2 * height / 100)
    page.set_dpi(100)
    with CasterStudio('c3p', SIZE) as studio:
        for k, case in enumerate(situations(robot)):
            pixels, labels = panel(studio, robot, case)
            axes = page.add_axes([0.5 * (k % 2), 0.5 - 0.5 * (k // 2), 0.5, 0.5])
            axes.imshow(pixels, extent=(0, width, height, 0), interpolation='none')
            axes.set_axis_off()
            places = VIEW.project([label.position for label in labels], SIZE)
            for place, label in zip(places, labels, strict=True):
                axes.text(*place, label.text, ha='center', va='center', fontsize=12,
                          color='#20262e', clip_on=True,
                          bbox={'boxstyle': 'round,pad=0.25', 'facecolor': (1, 1, 1, 0.85),
                                'edgecolor': label.colour, 'linewidth': 1.2})
            axes.text(14, 16, case.title, fontsize=14, va='top', color='#11161c',
                      bbox={'boxstyle': 'round,pad=0.35', 'facecolor': (1, 1, 1, 0.9),
                            'edgecolor': 'none'})
    page.canvas.draw()
    picture = Image.fromarray(np.asarray(page.canvas.buffer_rgba())[..., :3].copy())
    FILE.parent.mkdir(exist_ok=True)
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(FILE, optimize=True)
    print(f'{FILE}: {FILE.stat().st_size / 1e3:.0f} kB')


if __name__ == '__main__':
    main()
