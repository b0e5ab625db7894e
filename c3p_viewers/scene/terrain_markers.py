# SPDX-License-Identifier: Apache-2.0
"""Ground and contact paths as markers for RViz."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import Point
from numpy.typing import NDArray
from rclpy.serialization import serialize_message
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from c3p_ros.cdr import byte_order
from c3p_ros.messages import ns_to_stamp
from c3p_rough_ground.terrain import Mesh
from c3p_viewers.scene.colours import caster_colour
from c3p_viewers.scene.trail import JUMP

Array = NDArray[np.float64]

# coordinates that no point has: they mark the place
PLACE = 1.2345678901234567e300
POINT = 3 * 8
COLOUR = 4 * 4


def filled(message: MarkerArray, points: Sequence[Array],
           colours: Sequence[Array | None] = ()) -> bytes:
    """
    Return the serialized message with points, and colours, in its markers.

    rclpy takes 10 µs for each point and its colour, 0.25 s for a ground of 8000 triangles. So it
    serializes each marker with one point, and the others are copied into that place at once.
    A marker's points begin at a multiple of 8 bytes, behind their count; a point has 24 bytes and
    a colour 16, so whatever follows keeps its place modulo 8.

    Parameters
    ----------
    message : MarkerArray
        Its markers have no points; they are changed.
    points : sequence of (k, 3) array, m
        For each marker one or more.
    colours : sequence of (k, 4) array, optional
        Red, green, blue, alpha of each point, or None.
    """
    colours = [*colours, *[None] * (len(points) - len(colours))]
    for k, marker in enumerate(message.markers):
        marker.points = [Point(x=PLACE, y=float(k), z=PLACE)]
        marker.colors = [] if colours[k] is None else [ColorRGBA()]
    data = serialize_message(message)
    order = byte_order(data)
    parts = []
    done = 0
    for k, (places, shades) in enumerate(zip(points, colours, strict=True)):
        begin = data.index(struct.pack(order + '3d', PLACE, k, PLACE), done)
        count = struct.pack(order + 'I', len(places))
        # up to the count of points, which stands before them
        parts += [data[done:begin - len(count)], count,
                  np.ascontiguousarray(places, order + 'f8').tobytes()]
        done = begin + POINT
        if shades is not None:
            parts += [count, np.ascontiguousarray(shades, order + 'f4').tobytes()]
            done += len(count) + COLOUR
    return b''.join([*parts, data[done:]])


# colours of the ground from its lowest to its highest point: red, green, blue
SHADES = np.array([[0.16, 0.30, 0.22], [0.36, 0.50, 0.27], [0.66, 0.60, 0.38], [0.93, 0.91, 0.86]])
# smaller differences of height are rounding, and all one colour, m
LEAST_RELIEF = 1e-3
# towards the sun, and the fraction of ambient light
SUN = np.array([-0.5, 0.3, 0.812])
AMBIENT = 0.45
# offset of the contact paths above their points, so that the flat triangles of the ground do not
# hide them, m
LIFT = 0.01


def shades(mesh: Mesh) -> Array:
    """
    Return the colour (k, 4) of each vertex: by height from SHADES, darker where it faces away.

    RViz lights no triangles that have colours of their own, so the slopes would not be seen.
    """
    height = mesh.vertices[:, 2]
    low = height.min()
    relief = np.ptp(height)
    level = (height - low) / relief if relief > LEAST_RELIEF else np.full(len(height), 0.4)
    steps = np.linspace(0.0, 1.0, len(SHADES))
    colour = np.column_stack([np.interp(level, steps, channel) for channel in SHADES.T])
    light = AMBIENT + (1.0 - AMBIENT) * np.clip(mesh.normals @ SUN, 0.0, 1.0)
    return np.column_stack([colour * light[:, None], np.ones(len(colour))])


def terrain_message(mesh: Mesh, frame: str, stamp: int) -> bytes:
    """
    Return a serialized MarkerArray: the ground as one TRIANGLE_LIST, coloured by height.

    Parameters
    ----------
    mesh : Mesh
    frame : str
        {G}.
    stamp : int, ns
    """
    marker = _marker('terrain', 0, Marker.TRIANGLE_LIST, frame, stamp, (1.0, 1.0, 1.0))
    marker.scale.x = marker.scale.y = marker.scale.z = 1.0
    corners = mesh.triangles.ravel()
    return filled(MarkerArray(markers=[marker]), [mesh.vertices[corners]], [shades(mesh)[corners]])


def _marker(space: str, number: int, kind: int, frame: str, stamp: int,
            colour: Sequence[float]) -> Marker:
    """Return a marker of this kind that stays until it is replaced."""
    marker = Marker(ns=space, id=number, type=kind, action=Marker.ADD)
    marker.header.frame_id, marker.header.stamp = frame, ns_to_stamp(stamp)
    marker.pose.orientation.w = 1.0
    marker.color = ColorRGBA(r=colour[0], g=colour[1], b=colour[2], a=1.0)
    return marker


class WheelPaths:
    """
    Recent paths of the contacts and of the wheel centres.

    A contact farther than `JUMP` from the last one begins new paths.

    Parameters
    ----------
    length : int
        Points kept of each path, two or more.
    spacing : float, m
        Between points of a path.

    Attributes
    ----------
    changed : bool
        Points have been added since the last message.
    """

    def __init__(self, length: int, spacing: float) -> None:
        """Start empty."""
        self._spacing = spacing
        # contact points above wheel centres, (2, n, 3) each
        self._places: deque[Array] = deque(maxlen=length)
        self.changed = False

    def __len__(self) -> int:
        """Return the number of points of each path."""
        return len(self._places)

    def add(self, contact: Array, center: Array) -> None:
        """Take contact points and wheel centres (n, 3) if a contact has moved far enough."""
        if self._places:
            moved = np.abs(contact - self._places[-1][0]).max()
            if moved < self._spacing:
                return
            if moved > JUMP:
                self._places.clear()
        self._places.append(np.array([contact, center]))
        self.changed = True

    def message(self, frame: str, stamp: int) -> bytes:
        """
        Return a serialized MarkerArray with one LINE_STRIP per path.

        Parameters
        ----------
        frame : str
        stamp : int, ns
        """
        self.changed = False
        # a line has two points, even the one that has only begun
        places = np.array([self._places[0], *self._places])
        markers = []
        points = []
        for which, (space, width, lift) in enumerate((('contact', 0.025, LIFT),
                                                      ('wheel_center', 0.008, 0.0))):
            for i in range(places.shape[2]):
                marker = _marker(space, i + 1, Marker.LINE_STRIP, frame, stamp,
                                 caster_colour(i)[:3])
                marker.scale.x = width
                marker.pose.position.z = lift
                markers.append(marker)
                points.append(places[:, which, i])
        return filled(MarkerArray(markers=markers), points)
