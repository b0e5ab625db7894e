# SPDX-License-Identifier: Apache-2.0
"""A run over rough ground drawn by MuJoCo: vehicle, ground and contact marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from c3p_description.model import Array
from c3p_rough_ground.closed_chain import Run, State, Vehicle
from c3p_rough_ground.closed_chain.vehicle import quaternion
from c3p_viewers.mujoco.shapes import add_dots
from c3p_viewers.mujoco.studio import SKY, RobotPlacement, Studio
from c3p_viewers.mujoco.terrain import TEXEL, GroundRectangle
from c3p_viewers.mujoco.view import View
from c3p_viewers.scene.colours import caster_colour

# ranges of the ground are multiples of this; distance between contact marks and their radius, m
WHOLE = 0.2
MARKS = 0.07
DOT = 0.022


def piece(run: Run, margin: Sequence[float]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return x and y ranges of the ground below a `run`, with a `margin` each way, m."""
    places = run.contact_point[..., :2].reshape(-1, 2)
    low = np.floor((places.min(axis=0) - margin) / WHOLE) * WHOLE
    high = np.ceil((places.max(axis=0) + margin) / WHOLE) * WHOLE
    return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))


def placement(vehicle: Vehicle, state: State) -> RobotPlacement:
    """Return where a `vehicle` is in a `state`."""
    return RobotPlacement(state.position, quaternion(state.rotation), dict(zip(
        (joint.name for joint in vehicle.joints), np.asarray(state.joint).tolist(), strict=True)))


class RunStudio(Studio):
    """
    Draws a run at any of its records.

    Parameters
    ----------
    run : Run
    robot : str or Path
        Name or path of the tricycle's description.
    size : (2,) sequence of int, pixels
    margin : (float, float), m
        Ground beyond the contact paths along x and y.
    sky : two colours
    texel : float, m
        Resolution of the lines on the ground.

    Raises
    ------
    PictureError
        As `Studio`.
    """

    def __init__(self, run: Run, robot: str | Path, size: Sequence[int],
                 margin: Sequence[float], sky: Sequence[Sequence[float]] = SKY,
                 texel: float = TEXEL) -> None:
        """Build ground and vehicle."""
        self.run, self.ground = run, GroundRectangle(run.terrain, *piece(run, margin), texel)
        super().__init__(robot, size, self.ground, sky, {
            f'wheel_link_{i + 1}': caster_colour(i) for i in range(run.vehicle.size[1])})

    def at(self, records: Iterable[int], view: View, until: float = np.inf) -> Array:
        """Return a picture of some records, with the contact marks `until` a time, s."""
        def marks(scene: object) -> None:
            for i in range(self.run.vehicle.size[1]):
                points, normals = contact_marks(self.run, i, until)
                add_dots(scene, points, normals, DOT, caster_colour(i))

        return self.picture([placement(self.run.vehicle, self.run.state(k)) for k in records],
                            view, marks)


def contact_marks(run: Run, wheel: int, until: float = np.inf) -> tuple[Array, Array]:
    """Return contact points of a wheel at equal distances `until` a time, and ground normals."""
    points = run.contact_point[run.time <= until, wheel]
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    points = points[np.unique(np.searchsorted(along, np.arange(0.0, along[-1], MARKS)))]
    gx, gy = run.terrain.derivatives(points[:, 0], points[:, 1])[1:3]
    normals = np.column_stack([-gx, -gy, np.ones(len(points))])
    return points, normals / np.linalg.norm(normals, axis=1, keepdims=True)
