# SPDX-License-Identifier: Apache-2.0
"""
Draw docs/images/camber.png: the tricycle on the edge of a plateau, with the markers of its camber.

Run from the root of the repository: ``python scripts/write_camber_figure.py`` (half a minute;
the first time a minute more).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from c3p_description.model import Array
from c3p_description.reading.loader import load_tricycle
from c3p_experiments.auchter_moore.drawing import placement
from c3p_plots.style import figure
from c3p_rough_ground.closed_chain.vehicle import State
from c3p_rough_ground.node.commands import Commands
from c3p_rough_ground.node.run import RoughGroundRun
from c3p_rough_ground.vehicles import pvc_tricycle
from c3p_rough_ground.worlds.terrain_files import load_terrain
from c3p_viewers.mujoco.shapes import add_line
from c3p_viewers.mujoco.studio import Studio
from c3p_viewers.mujoco.terrain import GroundRectangle
from c3p_viewers.mujoco.view import View
from c3p_viewers.scene.camber_scene import camber_scene
from c3p_viewers.scene.colours import caster_colour
from c3p_viewers.scene.shapes import Label, Line, raised

FILE = Path(__file__).parents[1] / 'docs' / 'images' / 'camber.png'
SIZE, COLOURS = (1000, 560), 256
# how far it drives, s at 50 Hz, and a place of its path is kept every so often, steps
DURATION, PERIOD, EVERY = 10.6, 0.02, 4
# half the side of the piece of ground, m; lines of the contacts, m
HALF, WIDTH = 3.0, 0.012


def drive() -> tuple[RoughGroundRun, Array]:
    """Return the vehicle after its drive, and the contact points (k, 3, 3)."""
    model = load_tricycle('pvc')
    run, commands = RoughGroundRun(model, load_terrain('plateau_20deg')), Commands(model)
    commands.autodrive, commands.drive_rate = True, 1.5
    touched = []
    for k in range(round(DURATION / PERIOD)):
        run.advance(commands.rates(run.state.joint, k * PERIOD, PERIOD), PERIOD)
        if k % EVERY == 0:
            touched.append(run.contact_point.copy())
    return run, np.array(touched)


def in_ground(state: State, points: Array) -> Array:
    """Return points (…, 3) of the platform in {G}."""
    return np.asarray(points) @ state.rotation.T + state.position


def main() -> None:
    """Drive, draw and write the picture."""
    run, touched = drive()
    state, model = run.state, load_tricycle('pvc')
    x, y = state.position[:2]
    shapes = camber_scene(model, state.joint)
    near = (np.abs(touched[:, :, :2] - [x, y]) < HALF - 0.1).all(axis=(1, 2))

    def decorate(scene: Any) -> None:
        for shape in shapes:
            if isinstance(shape, Line):
                add_line(scene, in_ground(state, shape.points), shape.width, shape.colour)
        for wheel in range(3):
            add_line(scene, touched[near, wheel] + raised([0.0, 0.0], WIDTH), 2 * WIDTH,
                     caster_colour(wheel))

    forward = math.atan2(state.rotation[1, 0], state.rotation[0, 0])
    view = View(state.position + [0.0, 0.0, 0.2], 7.0, forward - math.radians(12),
                math.radians(16), math.radians(18))
    ground = GroundRectangle(run.terrain, (x - HALF, x + HALF), (y - HALF, y + HALF))
    page = figure(SIZE[0] / 100, SIZE[1] / 100)
    page.set_dpi(100)
    with Studio('pvc', SIZE, ground, rims={
            f'wheel_link_{i + 1}': caster_colour(i) for i in range(3)}) as studio:
        page.figimage(studio.picture([placement(pvc_tricycle(model), state)], view, decorate),
                      resize=False)
    for label in shapes:
        if isinstance(label, Label):
            place = view.project(in_ground(state, label.position)[None], SIZE)[0]
            page.text(place[0] / SIZE[0], 1 - place[1] / SIZE[1], label.text, ha='center',
                      va='center', fontsize=12, color='#20262e',
                      bbox={'boxstyle': 'round,pad=0.25', 'facecolor': (1, 1, 1, 0.85),
                            'edgecolor': 'none'})
    page.canvas.draw()
    picture = Image.fromarray(np.asarray(page.canvas.buffer_rgba())[..., :3].copy())
    picture.quantize(COLOURS, kmeans=1, dither=Image.Dither.NONE).save(FILE, optimize=True)
    print(f'{FILE}: {FILE.stat().st_size / 1e3:.0f} kB')


if __name__ == '__main__':
    main()
