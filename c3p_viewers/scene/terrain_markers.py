# SPDX-License-Identifier: Apache-2.0
"""Ground and contact paths as markers for RViz."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from c3p_kinematics.terrain import Mesh
from c3p_ros.messages import ns_to_stamp
from c3p_viewers.scene.colours import caster_colour
from c3p_viewers.scene.trail import JUMP
from c3p_viewers.scene.wire_markers import filled

Array = NDArray[np.float64]

# colours of the ground from its lowest to its highest point: red, green, blue
SHADES = np.array([[0.16, 0.30, 0.22], [0.36, 0.50, 0.27], [0.66, 0.60, 0.38], [0.93, 0.91, 0.86]])
# smaller differences of height are rounding, and all one colour, m
LEAST_RELIEF = 1e-3
# towards the sun, and the fraction of ambient light
SUN, AMBIENT = np.array([-0.5, 0.3, 0.812]), 0.45
# offset of the contact paths above their points, so that the flat triangles of the ground do not
# hide them, m
LIFT = 0.01


def shades(mesh: Mesh) -> Array:
    """
    Return the colour (k, 4) of each vertex: by height from SHADES, darker where it faces away.

    RViz lights no triangles that have colours of their own, so the slopes would not be seen.
    """
    height = mesh.vertices[:, 2]
    low, relief = height.min(), np.ptp(height)
    level = (height - low) / relief if relief > LEAST_RELIEF else np.full(len(height), 0.4)
    steps = np.linspace(0.0, 1.0, len(SHADES))
    colour = np.column_stack([np.interp(level, steps, channel) for channel in SHADES.T])
    light = AMBIENT + (1.0 - AMBIENT) * np.clip(mesh.normals @ SUN, 0.0, 1.0)
    return np.column_stack([colour * light[:, None], np.ones(len(colour))])


def terrain_message(mesh: Mesh, frame: str, stamp: int) -> bytes:
    """
    Return a serialized MarkerArray: the ground as one TRIANGLE_LIST, coloured by height.

    `frame`: {G}; `stamp` [ns].
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


class Paths:
    """
    Recent paths of the contacts and of the wheel centres.

    A contact farther than `JUMP` from the last one begins new paths.

    `length`: points kept of each path, two or more; `spacing` [m]: between points of a path.

    Attributes: `changed`: points have been added since the last message.
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

        `stamp` [ns].
        """
        self.changed = False
        # a line has two points, even the one that has only begun
        places = np.array([self._places[0], *self._places])
        markers, points = [], []
        for which, (space, width, lift) in enumerate((('contact', 0.025, LIFT),
                                                      ('wheel_center', 0.008, 0.0))):
            for i in range(places.shape[2]):
                marker = _marker(space, i + 1, Marker.LINE_STRIP, frame, stamp,
                                 caster_colour(i)[:3])
                marker.scale.x, marker.pose.position.z = width, lift
                markers.append(marker)
                points.append(places[:, which, i])
        return filled(MarkerArray(markers=markers), points)
