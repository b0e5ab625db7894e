# SPDX-License-Identifier: Apache-2.0
"""Markers of the tricycle, or another vehicle: ground around it, contact paths, camber."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from visualization_msgs.msg import MarkerArray

from c3p_bags.runs.ride_log import TERRAIN
from c3p_description.model import Array
from c3p_description.pvc_model import PvcTricycle
from c3p_ros.node import LATCHED, RELIABLE
from c3p_rough_ground.closed_chain import Vehicle
from c3p_rough_ground.closed_chain.placement import place
from c3p_rough_ground.closed_chain.velocity import joint_frames
from c3p_rough_ground.terrain import Terrain, grid_mesh
from c3p_rough_ground.vehicles import closed_chain
from c3p_rough_ground.worlds.terrain_files import load_terrain
from c3p_viewers.scene.camber_scene import camber_scene
from c3p_viewers.scene.markers import MarkerScene
from c3p_viewers.scene.terrain_markers import WheelPaths, terrain_message
from c3p_viewers.sources.ride_reader import MOVING, Placed, RideReader


class TricycleMarkers:
    """
    Publishes ``rough_ground/terrain``, ``rough_ground/contact_paths`` and ``rough_ground/camber``.

    Attributes and methods are those of `CasterMarkers`. The camber needs joint states, ground and
    paths also odometry and a terrain.

    Parameters
    ----------
    node : SuiteNode
        Of a tricycle or a vehicle for rough ground, which has no camber here.
    values : SimpleNamespace
        Parameters of the marker node.
    """

    topics: Mapping[str, str] = MOVING

    def __init__(self, node: Any, values: SimpleNamespace) -> None:
        """Load the terrain and create the publishers."""
        self._robot, self._vehicle = node.robot, closed_chain(node.robot)
        self._values = values
        self._ground = load_terrain(values.terrain) if values.terrain else None
        self.reader = RideReader(values.timeout, node.diagnostics.refuse,
                                 [joint.name for joint in self._vehicle.joints])
        self._camber = MarkerScene(values.timeout)
        self._paths = WheelPaths(values.path_points, values.path_spacing)
        self._path_period = 1.0 / values.path_rate
        self._path_due = 0.0
        # middle of the ground that was published last
        self._middle: Array | None = None
        self._drawn: object = None
        self._count = 0
        self._terrain_pub = node.create_publisher(MarkerArray, TERRAIN, LATCHED)
        self._path_pub = node.create_publisher(MarkerArray, 'rough_ground/contact_paths', LATCHED)
        self._camber_pub = node.create_publisher(MarkerArray, 'rough_ground/camber', RELIABLE)
        self.publishers = self._terrain_pub, self._path_pub, self._camber_pub

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics."""
        return {'scenes drawn': self._count, 'points of the paths': len(self._paths)}

    def retune(self, values: SimpleNamespace) -> None:
        """Take parameters that may change at run time: none of them are the tricycle's."""
        self._values = values

    def welcome(self) -> None:
        """Send the camber anew, to a subscriber that has just matched; the others are latched."""
        self._camber.forget()
        self._drawn = None

    def draw(self) -> None:
        """Publish the camber if joint states have come, and ground and paths as they change."""
        now = time.monotonic()
        newest = self.reader.received('joint_states')
        joints = None if newest is None else self.reader.joints(now)
        if joints is None:
            return
        stamp, joint, _ = joints
        # only the tricycle has the camber of two known wheels
        tricycle = isinstance(self._robot, PvcTricycle)
        if tricycle and newest is not self._drawn and self._camber_pub.get_subscription_count():
            self._drawn, self._count = newest, self._count + 1
            self._camber_pub.publish(self._camber.message(
                camber_scene(self._robot, joint, self._values.base_frame), stamp))
        placed = self.reader.placed(now)
        if placed is not None and self._ground is not None:
            self._show_ground(self._ground, placed)
            self._show_paths(self._ground, placed, joint, now)

    def _show_ground(self, ground: Terrain, placed: Placed) -> None:
        """Publish the ground when the vehicle has left the middle half of it."""
        half = self._values.terrain_size / 2
        at = placed.pose[:2]
        if self._middle is not None and np.abs(at - self._middle).max() <= half / 2:
            return
        # on one grid at all times, so that the triangles do not move with the vehicle
        self._middle = np.round(at / half) * half
        x_range, y_range = ((c - half, c + half) for c in self._middle.tolist())
        mesh = grid_mesh(ground, x_range, y_range, self._values.terrain_resolution)
        self._terrain_pub.publish(terrain_message(mesh, placed.frame, placed.stamp))

    def _show_paths(self, ground: Terrain, placed: Placed, joint: Array, now: float) -> None:
        found = contacts(self._vehicle, ground, placed.pose, joint)
        if found is not None:
            self._paths.add(*found)
        if self._paths.changed and now >= self._path_due:
            self._path_due = now + self._path_period
            self._path_pub.publish(self._paths.message(placed.frame, placed.stamp))


def contacts(vehicle: Vehicle, terrain: Terrain, pose: Array, joint: Array
             ) -> tuple[Array, Array] | None:
    """
    Return contact points and wheel centres (n, 3) of a vehicle, m; None where it cannot stand.

    Parameters
    ----------
    vehicle : Vehicle
    terrain : Terrain
    pose : (7,) array
        Position [m] and quaternion x, y, z, w of the platform; height, roll and pitch follow from
        the terrain.
    joint : (m,) array, rad
    """
    # heading before the platform is tilted the shortest way: the twist about z of its rotation
    put = place(vehicle, terrain, pose[0], pose[1], 2.0 * math.atan2(pose[5], pose[6]), joint)
    if not put.success:
        return None
    state = put.state
    at = np.asarray(state.contact)[:, 2:4]
    centre = [state.position + state.rotation @ joint_frames(vehicle, i, state.joint)[-1][:3, 3]
              for i in range(len(at))]
    return np.column_stack([at, terrain.height(at[:, 0], at[:, 1]) + 0.0 * at[:, 0]]), np.array(
        centre)
