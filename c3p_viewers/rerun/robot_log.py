# SPDX-License-Identifier: Apache-2.0
"""Any robot into a recording of Rerun: links with their shapes once, then place and joints."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from c3p_bags.recorder.transforms import FrameTree, Transform
from c3p_description.model import Array
from c3p_viewers.mujoco.caption import DRIVEN
from c3p_viewers.rerun.layout import PLATFORM, TIMELINE, import_rerun
from c3p_viewers.scene.shapes import Arc, Arrow, Ball, Label, Line, Shape
from c3p_viewers.sources.visuals import visuals

# samples of a line of a plot at most
SAMPLES = 50_000
# points of the path that are nearer to each other cannot be distinguished, m
SPACING = 0.02


class RobotLog:
    """
    Logs one robot.

    Parameters
    ----------
    recording : rerun.RecordingStream
    urdf : str
        XML text.
    plots : mapping
        ``{plot: {line: (label, colour)}}``.
    robot : str or Path
        Name or path of the robot as the user gave it: where its meshes may be.
    """

    # width of the path, m
    BROAD = 0.012

    def __init__(self, recording: Any, urdf: str,
                 plots: Mapping[str, Mapping[str, tuple[str, str]]],
                 robot: str | Path = '') -> None:
        """Log what never changes."""
        self._rr = import_rerun()
        self._recording = recording
        self._tree = FrameTree(urdf)
        self._places = self._entities()
        self._shown: set[str] = set()
        self._driven: list[Array] = []
        self._static('/', self._rr.ViewCoordinates.RIGHT_HAND_Z_UP)
        for visual in visuals(urdf, robot):
            self._static(f'{self._places[visual.link]}/{visual.name}', self._rr.Mesh3D(
                vertex_positions=visual.vertices, vertex_normals=visual.normals,
                triangle_indices=np.arange(len(visual.vertices)).reshape(-1, 3),
                albedo_factor=visual.colour))
        for frame in self._tree.fixed():
            self._static(self._places[frame.child], self._pose(frame.transform))
        for plot, lines in plots.items():
            for line, (label, colour) in lines.items():
                self._static(f'plots/{plot}/{line}', self._rr.SeriesLines(
                    colors=[as_bytes(colour)], names=[label], widths=[1.8]))

    def _entities(self) -> dict[str, str]:
        """Return the path of each link below those of its parents."""
        paths = {self._tree.root: PLATFORM}
        below = defaultdict(list)
        for joint in self._tree.joints:
            below[joint.parent].append(joint.child)
        todo = [self._tree.root]
        while todo:
            parent = todo.pop()
            for link in below[parent]:
                paths[link] = f'{paths[parent]}/{link}'
                todo.append(link)
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
            As in `plots`.
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

    def columns(self, times: Array, lines: Mapping[tuple[str, str], Array]) -> None:
        """Log ``{(plot, line): values}`` at `times` [s] at once, at most `SAMPLES` of each."""
        step = 1 + len(times) // SAMPLES
        for (plot, line), values in lines.items():
            self.numbers(plot, line, times[::step], values[::step])

    def live(self, lines: Mapping[tuple[str, str], Array], point: Array) -> None:
        """Log one value of each line, and the path to a `point` (3,), at the last moment."""
        for (plot, line), value in lines.items():
            if math.isfinite(value):
                self._recording.log(f'plots/{plot}/{line}', self._rr.Scalars(float(value)))
        if not self._driven or math.dist(point, self._driven[-1]) > SPACING:
            self._driven.append(np.array(point))
            self.line('driven', np.array(self._driven), DRIVEN, self.BROAD, static=False)

    def line(self, name: str, points: Array, colour: str, width: float, static: bool = True
             ) -> None:
        """
        Log a line in the odometry's frame, such as a way.

        Parameters
        ----------
        name : str
        points : (k, 3) array, m
        colour : str
        width : float, m
        static : bool
            It does not depend on the time.
        """
        if len(points) > 1:
            self._recording.log(f'odom/ways/{name}', self._rr.LineStrips3D(
                [points], colors=[as_bytes(colour)], radii=[width / 2]), static=static)

    def place(self, time: float, pose: Transform, positions: Mapping[str, float]) -> None:
        """
        Log where the robot is and how its joints are; what is logged next is of that time.

        Parameters
        ----------
        time : float, s
        pose : Transform
            Of the root link in the odometry's frame.
        positions : mapping
            Joint name → position, rad or m.
        """
        self._recording.set_time(TIMELINE, duration=time)
        self._recording.log(PLATFORM, self._pose(pose))
        for frame in self._tree.movable(positions):
            self._recording.log(self._places[frame.child], self._pose(frame.transform))

    def shapes(self, shapes: Iterable[Shape]) -> None:
        """Log the shapes in ``base_link``, and clear those that are not shown any more."""
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
        rr = self._rr
        colour = [as_bytes(shape.colour)]
        match shape:
            case Line() | Arc():
                return rr.LineStrips3D([shape.points], colors=colour, radii=[shape.width / 2])
            case Arrow():
                return rr.Arrows3D(origins=[shape.start],
                                   vectors=[np.subtract(shape.end, shape.start)], colors=colour,
                                   radii=[shape.width / 2])
            case Ball():
                return rr.Points3D([shape.centre], colors=colour, radii=[shape.radius])
            case Label():
                return rr.Points3D([shape.position], colors=colour, radii=[0.0],
                                   labels=[shape.text])
        raise TypeError(f'{type(shape).__name__}: no such shape')


def as_bytes(colour: str | Iterable[float]) -> list[int]:
    """
    Return red, green, blue, opacity as 0 to 255, of a code or of parts of one.

    Examples
    --------
    >>> as_bytes('#FF0080'), as_bytes((1.0, 0.0, 0.5, 1.0))
    ([255, 0, 128, 255], [255, 0, 128, 255])
    """
    if isinstance(colour, str):
        return [int(colour[k:k + 2], 16) for k in (1, 3, 5)] + [255]
    return [round(255 * float(v)) for v in colour]
