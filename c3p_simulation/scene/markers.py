# SPDX-License-Identifier: Apache-2.0
"""Shapes of the scene as markers for RViz and Foxglove."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, PoseStamped
from nav_msgs.msg import Path
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from c3p_ros.frames import fill_pose
from c3p_ros.messages import ns_to_stamp
from c3p_simulation.scene.layers import layer
from c3p_simulation.scene.shapes import Arc, Arrow, Ball, Label, Line, Mesh, Shape, arc_points

# head of an arrow against its shaft: diameter and length, the latter at most part of the arrow
HEAD_WIDTH, HEAD_LENGTH, HEAD_PART = 2.2, 3.5, 0.6


class MarkerScene:
    """
    Turns scenes into messages that show the new one and delete what is gone.

    Parameters
    ----------
    lifetime : float, s
        How long a viewer shows a marker that is not renewed; 0 is for ever.
    """

    def __init__(self, lifetime: float = 0.0) -> None:
        """Begin without markers."""
        self._lifetime = Duration(sec=int(lifetime), nanosec=int(1e9 * (lifetime % 1)))
        self._numbers: dict[str, int] = {}
        self._shown: dict[str, None] | None = None

    def message(self, shapes: Sequence[Shape], stamp: int) -> MarkerArray:
        """
        Return the markers of a scene, and deletions of those of the scene before.

        Markers follow their frame between messages (``frame_locked``), and the first message
        deletes what an earlier publisher left behind.

        Parameters
        ----------
        shapes : sequence of Shape
            With different names.
        stamp : int, ns
        """
        time, markers = ns_to_stamp(stamp), []
        if self._shown is None:
            markers.append(Marker(action=Marker.DELETEALL))
        names = {shape.name: None for shape in shapes}
        for name in self._shown or ():
            if name not in names:
                markers.append(Marker(ns=layer(name), id=self._number(name),
                                      action=Marker.DELETE))
        for shape in shapes:
            marker = marker_of(shape)
            marker.ns, marker.id = layer(shape.name), self._number(shape.name)
            marker.header.stamp, marker.lifetime = time, self._lifetime
            markers.append(marker)
        self._shown = names
        return MarkerArray(markers=markers)

    def forget(self) -> None:
        """Begin anew: the next message deletes all others."""
        self._shown = None

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))


def marker_of(shape: Shape) -> Marker:
    """Return a shape as a marker that follows its frame, without namespace, number and stamp."""
    marker = Marker(action=Marker.ADD, frame_locked=True)
    marker.header.frame_id = shape.frame
    marker.pose.orientation.w = 1.0
    red, green, blue, opacity = shape.colour
    marker.color = ColorRGBA(r=red, g=green, b=blue, a=opacity)
    _FILL[type(shape)](marker, shape)
    return marker


def path_message(poses: Iterable[Sequence[float]], frame: str, stamp: int) -> Path:
    """
    Return a Path through poses (x, y, yaw), all with one stamp.

    Parameters
    ----------
    poses : iterable of (3,) sequences, m and rad
    frame : str
    stamp : int, ns
    """
    message = Path()
    message.header.frame_id, message.header.stamp = frame, ns_to_stamp(stamp)
    message.poses = [path_pose(pose, frame) for pose in poses]
    return message


def path_pose(pose: Sequence[float], frame: str) -> PoseStamped:
    """Return one pose (x, y, yaw) of a Path."""
    stamped = PoseStamped()
    stamped.header.frame_id = frame
    fill_pose(stamped.pose, pose)
    return stamped


def _points(places: Any) -> list[Point]:
    return [Point(x=x, y=y, z=z) for x, y, z in np.asarray(places, float).tolist()]


def _fill_line(marker: Marker, shape: Line) -> None:
    marker.type, marker.scale.x = Marker.LINE_STRIP, float(shape.width)
    marker.points = _points(shape.points)


def _fill_arc(marker: Marker, shape: Arc) -> None:
    marker.type, marker.scale.x = Marker.LINE_STRIP, float(shape.width)
    marker.points = _points(arc_points(shape))


def _fill_arrow(marker: Marker, shape: Arrow) -> None:
    length = float(np.linalg.norm(np.asarray(shape.end) - np.asarray(shape.start)))
    marker.type = Marker.ARROW
    marker.scale.x, marker.scale.y = float(shape.width), HEAD_WIDTH * shape.width
    marker.scale.z = min(HEAD_LENGTH * shape.width, HEAD_PART * length)
    marker.points = _points([shape.start, shape.end])


def _fill_ball(marker: Marker, shape: Ball) -> None:
    marker.type = Marker.SPHERE
    marker.scale.x = marker.scale.y = marker.scale.z = 2.0 * shape.radius
    place = marker.pose.position
    place.x, place.y, place.z = (float(v) for v in shape.centre)


def _fill_label(marker: Marker, shape: Label) -> None:
    marker.type, marker.text = Marker.TEXT_VIEW_FACING, shape.text
    marker.scale.z = float(shape.height)
    place = marker.pose.position
    place.x, place.y, place.z = (float(v) for v in shape.position)


def _fill_mesh(marker: Marker, shape: Mesh) -> None:
    marker.type = Marker.TRIANGLE_LIST
    marker.scale.x = marker.scale.y = marker.scale.z = 1.0
    # from both sides
    both = np.concatenate([shape.triangles, np.asarray(shape.triangles)[:, ::-1]])
    marker.points = _points(np.asarray(shape.vertices)[both.reshape(-1)])


_FILL = {Line: _fill_line, Arc: _fill_arc, Arrow: _fill_arrow, Ball: _fill_ball,
         Label: _fill_label, Mesh: _fill_mesh}
