# SPDX-License-Identifier: Apache-2.0
"""A robot into a recording of Rerun: its shapes once, then moment after moment."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from c3p_description.loader import robot_description
from c3p_description.model import Array, CasterRobot
from c3p_simulation.recording.transforms import FrameTree, Transform
from c3p_simulation.scene.shapes import (
    Arc,
    Arrow,
    Ball,
    Label,
    Line,
    Mesh,
    Shape,
    arc_points,
)
from c3p_simulation.viewers.caption import AIM, DRIVEN
from c3p_simulation.viewers.moment import Moment, joint_positions, scene_of
from c3p_simulation.viewers.rerun_layout import PLATFORM, TIMELINE, series
from c3p_simulation.viewers.urdf_visuals import visuals

# height of ways above the floor and their half width, m
LIFT, BROAD = 0.003, 0.006

# the true way: black, as in the figures, would not be seen on Rerun's dark ground
TRUE_WAY = '#E8E8E8'


def import_rerun() -> Any:
    """
    Return the module rerun.

    Raises
    ------
    ValueError
        It is not installed; the text says how to.
    """
    try:
        import rerun
    except ImportError as error:
        raise ValueError(f'Rerun is missing ({error}); install it with `pip install c3p[view]` or '
                         '`pip install rerun-sdk`, or choose --viewer mujoco or foxglove'
                         ) from None
    return rerun


class RerunLog:
    """
    Logs one robot.

    Parameters
    ----------
    recording : rerun.RecordingStream
    robot : CasterRobot
    description : str or Path
        How it looks, as for `loader.load`.
    """

    def __init__(self, recording: Any, robot: CasterRobot, description: str | Path) -> None:
        """Log what never changes."""
        self._rr, self._recording, self.robot = import_rerun(), recording, robot
        urdf = robot_description(description)
        self._tree = FrameTree(urdf)
        self._places = self._entities()
        self._shown: set[str] = set()
        self._goal: tuple[float, ...] | None = None
        self._static('/', self._rr.ViewCoordinates.RIGHT_HAND_Z_UP)
        for visual in visuals(urdf):
            self._static(f'{self._places[visual.link]}/{visual.name}', self._rr.Mesh3D(
                vertex_positions=visual.vertices, vertex_normals=visual.normals,
                triangle_indices=np.arange(len(visual.vertices)).reshape(-1, 3),
                albedo_factor=visual.colour))
        for frame in self._tree.fixed():
            self._static(self._places[frame.child], self._pose(frame.transform))
        for plot, lines in series(robot).items():
            for line, (label, colour) in lines.items():
                self._static(f'plots/{plot}/{line}', self._rr.SeriesLines(
                    colors=[_bytes(colour)], names=[label], widths=[1.8]))

    def _entities(self) -> dict[str, str]:
        """Return the path of each link below those of its parents."""
        parents = {joint.child: joint.parent for joint in self._tree.joints}
        paths = {self._tree.root: PLATFORM}

        def path(link: str) -> str:
            if link not in paths:
                paths[link] = f'{path(parents[link])}/{link}'
            return paths[link]

        for link in parents:
            path(link)
        return paths

    def _static(self, entity: str, what: Any) -> None:
        self._recording.log(entity, what, static=True)

    def _pose(self, transform: Transform) -> Any:
        return self._rr.Transform3D(translation=transform.translation,
                                    quaternion=transform.rotation)

    def numbers(self, plot: str, line: str, times: Array, values: Array) -> None:
        """
        Log a line of a plot at once.

        Parameters
        ----------
        plot, line : str
            As in `rerun_layout.series`.
        times : (k,) array, s
        values : (k,) array
            What is not finite is left out.
        """
        known = np.isfinite(values)
        if known.any():
            self._recording.send_columns(
                f'plots/{plot}/{line}',
                indexes=[self._rr.TimeColumn(TIMELINE, duration=times[known])],
                columns=self._rr.Scalars.columns(scalars=values[known]))

    def number(self, plot: str, line: str, value: float) -> None:
        """Log one value of a `line` of a `plot` at the time of the last moment."""
        if math.isfinite(value):
            self._recording.log(f'plots/{plot}/{line}', self._rr.Scalars(value))

    def way(self, name: str, points: Array, static: bool = True) -> None:
        """
        Log a way.

        Parameters
        ----------
        name : str
            ``driven`` or ``truth``.
        points : (k, 2) array, m
        static : bool
            It does not depend on the time.
        """
        if len(points) > 1:
            line = np.column_stack([points, np.full(len(points), LIFT)])
            self._recording.log(f'odom/ways/{name}', self._rr.LineStrips3D(
                [line], colors=[_bytes(DRIVEN if name == 'driven' else TRUE_WAY)], radii=[BROAD]),
                static=static)

    def moment(self, moment: Moment) -> None:
        """Log a moment: where the robot is, how its joints are, and what explains them."""
        self._recording.set_time(TIMELINE, duration=moment.time)
        x, y, yaw = (float(v) for v in moment.place)
        self._recording.log(PLATFORM, self._pose(Transform(
            (x, y, 0.0), (0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)))))
        for frame in self._tree.movable(joint_positions(self.robot, moment)):
            self._recording.log(self._places[frame.child], self._pose(frame.transform))
        goal = None if moment.goal is None else tuple(float(v) for v in moment.goal)
        if goal is not None and goal != self._goal:
            self._goal = goal
            self._recording.log('odom/goal', self._rr.Arrows3D(
                origins=[[goal[0], goal[1], LIFT]],
                vectors=[[0.3 * math.cos(goal[2]), 0.3 * math.sin(goal[2]), 0.0]],
                colors=[_bytes(AIM)], radii=[0.015], labels=['goal']))
        self._scene(scene_of(self.robot, moment))

    def _scene(self, shapes: Iterable[Shape]) -> None:
        """Log the shapes, and clear those that are not shown any more."""
        frame = self._places.get('base_link', PLATFORM)
        now = set()
        for shape in shapes:
            now.add(shape.name)
            self._recording.log(f'{frame}/scene/{shape.name}', self._drawn(shape))
        for name in self._shown - now:
            self._recording.log(f'{frame}/scene/{name}', self._rr.Clear(recursive=False))
        self._shown = now

    def _drawn(self, shape: Shape) -> Any:
        """Return what Rerun draws for a shape."""
        rr, colour = self._rr, [_bytes(shape.colour)]
        match shape:
            case Line():
                return rr.LineStrips3D([shape.points], colors=colour, radii=[shape.width / 2])
            case Arc():
                return rr.LineStrips3D([arc_points(shape)], colors=colour,
                                       radii=[shape.width / 2])
            case Arrow():
                return rr.Arrows3D(origins=[shape.start],
                                   vectors=[np.subtract(shape.end, shape.start)], colors=colour,
                                   radii=[shape.width / 2])
            case Ball():
                return rr.Points3D([shape.centre], colors=colour, radii=[shape.radius])
            case Label():
                return rr.Points3D([shape.position], colors=colour, radii=[0.0],
                                   labels=[shape.text])
            case Mesh():
                return rr.Mesh3D(vertex_positions=shape.vertices,
                                 triangle_indices=shape.triangles, albedo_factor=shape.colour)
        raise TypeError(f'{type(shape).__name__}: no such shape')


def _bytes(colour: str | Iterable[float]) -> list[int]:
    """Return red, green, blue, opacity as 0 to 255, of a code or of parts of one."""
    if isinstance(colour, str):
        return [int(colour[k:k + 2], 16) for k in (1, 3, 5)] + [255]
    return [round(255 * float(v)) for v in colour]
