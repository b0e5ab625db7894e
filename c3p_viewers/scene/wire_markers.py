# SPDX-License-Identifier: Apache-2.0
"""
Markers with many points, written straight to the wire.

rclpy takes 10 µs for each point and its colour, and the vehicle stands still meanwhile: 0.25 s for
a ground of 8000 triangles. So it serializes each marker with one point, and the others are copied
into that place at once.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import Point
from numpy.typing import NDArray
from rclpy.serialization import serialize_message
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import MarkerArray

from c3p_ros.cdr import byte_order

Array = NDArray[np.float64]

# coordinates that no point has: they mark the place
PLACE = 1.2345678901234567e300
POINT, COLOUR = 3 * 8, 4 * 4


def filled(message: MarkerArray, points: Sequence[Array],
           colours: Sequence[Array | None] = ()) -> bytes:
    """
    Return the serialized message with points, and colours, in its markers.

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
    order, parts, done = byte_order(data), [], 0
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
