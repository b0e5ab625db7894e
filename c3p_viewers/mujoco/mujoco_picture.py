# SPDX-License-Identifier: Apache-2.0
"""One picture of a recorded run without a screen: the robot on its way, with its scene."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.singularity import Lines, singularity
from c3p_viewers.mujoco.caption import AHEAD, AIM, DRIVEN, TRUE, Text, caption
from c3p_viewers.mujoco.mujoco_pictures import write_png
from c3p_viewers.mujoco.mujoco_shapes import add_line, add_shapes, in_world
from c3p_viewers.mujoco.mujoco_studio import SIZE, Studio, View
from c3p_viewers.mujoco.projection import project
from c3p_viewers.scene.colours import colour
from c3p_viewers.scene.shapes import Arc, Arrow, Label, Shape
from c3p_viewers.sources.bag_source import BagSource
from c3p_viewers.sources.moment import Moment, scene_of

# distance between points of a way in the picture, m, and its height above the floor
STEP, LIFT = 0.03, 0.004
# of the platform, so that the casters below it are seen
OPACITY = 0.45


def picture(source: BagSource, robot: CasterRobot, description: str | Path, path: str | Path,
            time: float | None = None, size: Sequence[int] = SIZE) -> Path:
    """
    Write a picture of a run at one time.

    Parameters
    ----------
    source : BagSource
    robot : CasterRobot
    description : str or Path
        How it looks: name or path of its description, as for `loader.load`.
    path : str or Path
        PNG.
    time : float, s, optional
        Since the first joint states; default when half of the way is driven.
    size : (2,) sequence of int, pixels

    Returns
    -------
    Path

    Raises
    ------
    PictureError
        As `Studio`.
    """
    moment = source.at(source.halfway if time is None else time)
    shapes = scene_of(robot, moment)
    view = _view(robot, moment)
    ways = _ways(source, moment.time)
    with Studio(description, size) as studio:
        def decorate(scene: Any) -> None:
            _fade(studio.model, scene)
            for name, way in ways.items():
                add_line(scene, _spaced(way), 0.016 if name == 'driven' else 0.009,
                         colour(COLOURS[name]))
            if moment.goal is not None:
                add_shapes(scene, _goal(robot), moment.goal)
            add_shapes(scene, shapes, moment.place, labels=False)

        pixels = studio.draw([moment.place], [moment.steering], [moment.wheel_angle], view=view,
                             decorate=decorate)
    # the measure stands among the numbers
    texts = [Text(project(in_world(shape.position, moment.place), view, size)[0], shape.text)
             for shape in shapes if isinstance(shape, Label) and shape.name != 'sigma_min']
    shown = {shape.name: shape.colour for shape in shapes if not isinstance(shape, Label)}
    shown |= {name: COLOURS[name] for name in ways}
    if moment.goal is not None:
        shown['goal'] = AIM
    return write_png(path, caption(pixels, f'{robot.name} at {moment.time:.2f} s',
                                   numbers(robot, moment), shown, texts))


COLOURS = {'driven': DRIVEN, 'ahead': AHEAD, 'truth': TRUE}


def numbers(robot: CasterRobot, moment: Moment) -> list[tuple[str, str]]:
    """
    Return names and values of what a picture tells of a moment.

    Parameters
    ----------
    robot : CasterRobot
    moment : Moment
    """
    rows = []
    if moment.twist is not None:
        vx, vy, rate = moment.twist
        rows += [('speed', f'{math.hypot(vx, vy):.2f} m/s'), ('yaw rate', f'{rate:+.2f} rad/s')]
    degrees = np.degrees(np.angle(np.exp(1j * moment.steering)))
    rows.append(('steering', '  '.join(f'{angle:+4.0f}°' for angle in degrees)))
    if moment.torque is not None:
        rows.append(('torque', '  '.join(f'{torque:+.2f}' for torque in moment.torque) + ' N·m'))
    state = singularity(robot, moment.steering)
    lines = Lines(int(state.lines))
    rows.append(('σ_min', f'{abs(float(state.sigma_min)):.2f}' + (
        '' if lines is Lines.REGULAR else f', lines {lines.name.lower()}')))
    return rows


def _view(robot: CasterRobot, moment: Moment) -> View:
    """Return a view from behind and above, from where the lines around the robot are seen."""
    reach = float(np.hypot(*robot.hip_position.T).max() + robot.caster_offset.max())
    heading = moment.place[2]
    if moment.twist is not None and math.hypot(*moment.twist[:2]) > 0.0:
        heading += math.atan2(moment.twist[1], moment.twist[0])
    # from behind and aside, so that the way ahead goes to the upper right
    return View(tuple(moment.place[:2]), 6.2 * reach, heading + math.radians(35),
                math.radians(48))


def _ways(source: BagSource, time: float) -> dict[str, Array]:
    """Return the ways that are drawn (k, 2): driven, ahead, and the true one where it differs."""
    driven = source.driven(time)
    whole = source.path if len(source.path) else source.truth
    ways = {'driven': driven, 'ahead': whole[max(0, len(driven) - 1):]}
    if source.apart:
        ways['truth'] = source.truth
    return {name: way for name, way in ways.items() if len(_spaced(way)) > 1}


def _spaced(way: Array) -> Array:
    """Return points (m, 3) of a way that are `STEP` apart, on the floor."""
    if len(way) < 2:
        return np.zeros((0, 3))
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(way, axis=0).T))])
    if along[-1] < STEP:
        return np.zeros((0, 3))
    marks = np.linspace(0.0, along[-1], 1 + math.ceil(along[-1] / STEP))
    return np.column_stack([*(np.interp(marks, along, column) for column in way.T),
                            np.full(len(marks), LIFT)])


def _goal(robot: CasterRobot) -> list[Shape]:
    """Return a ring on the floor and an arrow, in the frame of the goal."""
    reach = 0.5 * float(np.hypot(*robot.hip_position.T).max())
    centre, tip = np.array([[0.0, 0.0, 2 * LIFT], [1.9 * reach, 0.0, 2 * LIFT]])
    return [Arc('goal', 'goal', colour(AIM), centre, reach, 0.0, 2 * math.pi, 0.02),
            Arrow('goal', 'goal', colour(AIM), centre, tip, 0.03)]


def _fade(model: Any, scene: Any) -> None:
    """Make what lies over the casters translucent: all that does not move in the platform."""
    platform = model.body_weldid[1]
    for geom in scene.geoms[:scene.ngeom]:
        # 5: mjOBJ_GEOM
        if geom.objtype == 5 and model.body_weldid[model.geom_bodyid[geom.objid]] == platform:
            geom.rgba[3] = OPACITY
            geom.transparent = 1
