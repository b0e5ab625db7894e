# SPDX-License-Identifier: Apache-2.0
"""Shapes of the scene as markers for RViz and Foxglove."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point
from visualization_msgs.msg import Marker, MarkerArray

from c3p_ros.messages import ns_to_stamp
from c3p_viewers.scene.settings import layer
from c3p_viewers.scene.shapes import Arc, Arrow, Ball, Label, Line, Shape

# head of an arrow against its shaft: diameter and length, the latter at most part of the arrow
HEAD_WIDTH = 2.2
HEAD_LENGTH = 3.5
HEAD_PART = 0.6
# width of a blank against the height of the letters; without it RViz takes that of letters of 1 m
BLANK = 0.3


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
        # a marker is made once and changed: most of what it costs are the parts that never change
        self._kept: dict[tuple[type, str], Marker] = {}
        self._numbers: dict[str, int] = {}
        self._shown: set[str] | None = None

    def message(self, shapes: Sequence[Shape], stamp: int) -> MarkerArray:
        """
        Return the markers of a scene, and deletions of those of the scene before.

        Markers follow their frame between messages (``frame_locked``), and the first message
        deletes what an earlier publisher left behind. The message is good until the next one.

        Parameters
        ----------
        shapes : sequence of Shape
            With different names.
        stamp : int, ns
        """
        names = {shape.name for shape in shapes}
        markers = []
        if self._shown is None:
            markers.append(Marker(action=Marker.DELETEALL))
        else:
            markers += [Marker(ns=layer(name), id=self._numbers[name], action=Marker.DELETE)
                        for name in sorted(self._shown - names)]
        time = ns_to_stamp(stamp)
        for shape in shapes:
            marker = self._marker(shape)
            marker.header.stamp = time
            fill(marker, shape)
            markers.append(marker)
        self._shown = names
        return MarkerArray(markers=markers)

    def forget(self) -> None:
        """Begin anew: the next message deletes all others."""
        self._shown = None

    def _marker(self, shape: Shape) -> Marker:
        key = type(shape), shape.name
        if key not in self._kept:
            number = self._numbers.setdefault(shape.name, len(self._numbers))
            marker = Marker(ns=layer(shape.name), id=number, action=Marker.ADD, frame_locked=True,
                            lifetime=self._lifetime)
            marker.pose.orientation.w = 1.0
            self._kept[key] = marker
        return self._kept[key]


def fill(marker: Marker, shape: Shape) -> None:
    """Write a shape into a marker: frame, colour, type, place and size."""
    marker.header.frame_id = shape.frame
    colour = marker.color
    colour.r, colour.g, colour.b, colour.a = shape.colour
    scale = marker.scale
    match shape:
        case Line() | Arc():
            marker.type, scale.x = Marker.LINE_STRIP, float(shape.width)
            _fill_points(marker, shape.points)
        case Arrow():
            length = float(np.linalg.norm(np.asarray(shape.end) - np.asarray(shape.start)))
            marker.type = Marker.ARROW
            scale.x, scale.y = float(shape.width), HEAD_WIDTH * shape.width
            scale.z = min(HEAD_LENGTH * shape.width, HEAD_PART * length)
            _fill_points(marker, [shape.start, shape.end])
        case Ball():
            marker.type, scale.x = Marker.SPHERE, 2.0 * shape.radius
            scale.y = scale.z = scale.x
            _place(marker, shape.centre)
        case Label():
            marker.type, marker.text = Marker.TEXT_VIEW_FACING, shape.text
            scale.x, scale.z = BLANK * shape.height, float(shape.height)
            _place(marker, shape.position)


def _fill_points(marker: Marker, places: Any) -> None:
    values = np.asarray(places, float).tolist()
    if len(marker.points) != len(values):
        marker.points = [Point() for _ in values]
    for point, (x, y, z) in zip(marker.points, values, strict=True):
        point.x = x
        point.y = y
        point.z = z


def _place(marker: Marker, position: Any) -> None:
    place = marker.pose.position
    place.x, place.y, place.z = (float(v) for v in position)
