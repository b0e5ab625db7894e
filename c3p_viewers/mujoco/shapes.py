# SPDX-License-Identifier: Apache-2.0
"""Shapes of the scene in MuJoCo's pictures and windows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_viewers.mujoco.opengl import import_mujoco
from c3p_viewers.scene.shapes import Arc, Arrow, Ball, Label, Line, Shape

# MuJoCo's arrows are as broad as their head where ours are as broad as their shaft
ARROW_WIDTH = 0.75

# heights above the floor are lost in the picture's depth below this; pieces of a path, m
LIFT = 0.004
PIECE = 0.03


def in_world(points: ArrayLike, pose: ArrayLike) -> Array:
    """
    Return points (k, 3) of ``base_link`` on the floor frame.

    Parameters
    ----------
    points : (k, 3) or (3,) array_like, m
    pose : (3,) array_like
        x, y [m] and yaw [rad] of ``base_link``.

    Examples
    --------
    >>> in_world([1.0, 0.0, 0.2], [2.0, 0.0, math.pi / 2]).round(9).tolist()
    [2.0, 1.0, 0.2]
    """
    points, (x, y, yaw) = np.asarray(points, float), np.asarray(pose, float).tolist()
    cos, sin = math.cos(yaw), math.sin(yaw)
    turn = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return points @ turn.T + [x, y, 0.0]


def add_shapes(scene: Any, shapes: Iterable[Shape], pose: ArrayLike, labels: bool = True) -> None:
    """
    Add shapes to a ``MjvScene``; shapes beyond its capacity are left out.

    Parameters
    ----------
    scene : MjvScene
        Of a picture, or the user scene of a window.
    shapes : iterable of Shape
        In ``base_link``.
    pose : (3,) array_like
        x, y [m] and yaw [rad] of ``base_link``.
    labels : bool
        Draw texts with MuJoCo's own letters.
    """
    for shape in shapes:
        match shape:
            case Line() | Arc():
                add_line(scene, in_world(shape.points, pose), shape.width, shape.colour)
            case Arrow():
                start, end = in_world([shape.start, shape.end], pose)
                _connect(scene, 'ARROW', start, end, ARROW_WIDTH * shape.width, shape.colour)
            case Ball():
                _at(scene, 'SPHERE', in_world(shape.centre, pose), shape.radius, shape.colour)
            case Label() if labels:
                geom = _at(scene, 'LABEL', in_world(shape.position, pose), 0.1, shape.colour)
                if geom is not None:
                    geom.label = shape.text


def add_line(scene: Any, points: ArrayLike, width: float, colour: ArrayLike) -> None:
    """Add a line of `width` m through `points` (k, 3), m, to a `scene`, in an RGBA `colour`."""
    points = np.asarray(points, float)
    for a, b in zip(points, points[1:], strict=False):
        _connect(scene, 'CAPSULE', a, b, width / 2, colour)


def add_path(scene: Any, path: ArrayLike, width: float, colour: ArrayLike) -> None:
    """
    Add a path (k, 2), m, on the floor to a ``MjvScene``; other arguments as for `add_line`.

    Many samples a metre become pieces of `PIECE`, or longer ones where the scene is nearly full.
    """
    path = np.asarray(path, float)
    if len(path) < 2:
        return
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))])
    pieces = min(1 + int(along[-1] / PIECE), scene.maxgeom - scene.ngeom)
    marks = np.linspace(0.0, along[-1], pieces + 1)
    add_line(scene, np.column_stack([*(np.interp(marks, along, c) for c in path.T),
                                     np.full(len(marks), LIFT)]), width, colour)


def add_dots(scene: Any, points: ArrayLike, normals: ArrayLike, radius: float, colour: ArrayLike
             ) -> None:
    """Add marks of a `radius`, m, at `points` (k, 3) with `normals` of the ground to a `scene`."""
    for point, normal in zip(np.asarray(points, float), np.asarray(normals, float), strict=True):
        _connect(scene, 'CYLINDER', point - LIFT * normal, point + LIFT * normal, radius, colour)


def _connect(scene: Any, kind: str, start: Array, end: Array, radius: float,
             colour: ArrayLike) -> None:
    mj = import_mujoco()
    geom = _new(scene, kind, np.zeros(3), np.zeros(3), colour)
    # a shape without length has no direction
    if geom is not None and np.linalg.norm(end - start) > 0.0:
        mj.mjv_connector(geom, getattr(mj.mjtGeom, f'mjGEOM_{kind}'), radius, start, end)


def _at(scene: Any, kind: str, position: Array, radius: float, colour: ArrayLike) -> Any:
    return _new(scene, kind, np.full(3, radius), position, colour)


def _new(scene: Any, kind: str, size: Array, position: Array, colour: ArrayLike) -> Any:
    """Return one more shape of the scene, or None when the scene is full."""
    mj = import_mujoco()
    if scene.ngeom >= scene.maxgeom:
        return None
    geom = scene.geoms[scene.ngeom]
    mj.mjv_initGeom(geom, getattr(mj.mjtGeom, f'mjGEOM_{kind}'), size, position,
                    np.eye(3).ravel(), np.asarray(colour, np.float32))
    geom.category = mj.mjtCatBit.mjCAT_DECOR
    # colours have meanings: no reflections, which would change them
    geom.emission = 0.0
    geom.specular = 0.0
    scene.ngeom += 1
    return geom
