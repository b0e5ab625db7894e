# SPDX-License-Identifier: Apache-2.0
"""Markers of a caster robot: its scene and the path driven."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from nav_msgs.msg import Path as PathMessage
from visualization_msgs.msg import MarkerArray

from c3p_ros.cdr_arrays import path_bytes
from c3p_ros.node import RELIABLE, SuiteNode
from c3p_viewers.scene.markers import MarkerScene
from c3p_viewers.scene.settings import SceneSettings
from c3p_viewers.scene.trail import Trail
from c3p_viewers.sources.moment import odometry_scene, scene_of
from c3p_viewers.sources.moment_reader import MARKER_TOPICS, MomentReader


class CasterMarkers:
    """
    Publishes ``~/scene`` and ``~/path``.

    Parameters
    ----------
    node : SuiteNode
        Of a caster robot.
    values : SimpleNamespace
        Parameters of the marker node.

    Attributes
    ----------
    reader : MomentReader
    publishers : tuple of Publisher
    topics : mapping
        Subscribed topics and their types.
    """

    topics: Mapping[str, str] = MARKER_TOPICS

    def __init__(self, node: SuiteNode, values: SimpleNamespace) -> None:
        """Create the publishers."""
        self._robot = node.robot
        self.reader = MomentReader(node.robot, MARKER_TOPICS, values.timeout,
                                   node.diagnostics.refuse)
        self._markers = MarkerScene(values.timeout)
        self._trail = Trail(values.path_points, values.path_spacing)
        self._path_period = 1.0 / values.path_rate
        self._path_due = 0.0
        self._path_new = False
        self._drawn: object = None
        self._count = 0
        self._scene = node.create_publisher(MarkerArray, '~/scene', RELIABLE)
        self._path = node.create_publisher(PathMessage, '~/path', RELIABLE)
        self.publishers = self._scene, self._path
        self.retune(values)

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics."""
        return {'scenes drawn': self._count, 'poses of the path': len(self._trail.poses)}

    def retune(self, values: SimpleNamespace) -> None:
        """Take scales that may change at run time."""
        self.settings = SceneSettings.of(values)

    def welcome(self) -> None:
        """Send everything anew, to a subscriber that has just matched."""
        self._markers.forget()
        self._drawn = None
        self._path_new = bool(self._trail.poses)

    def draw(self) -> None:
        """Publish the scene if joint states have come, and the path if it has grown."""
        now = time.monotonic()
        newest = self.reader.received('joint_states')
        if (newest is not None and newest is not self._drawn
                and self._scene.get_subscription_count()):
            self._drawn = newest
            self._draw_scene(now)
        placed = self.reader.odometry(now)
        if placed is None:
            return
        stamp, frame, pose = placed
        self._path_new |= self._trail.add(pose)
        if self._path_new and now >= self._path_due and self._path.get_subscription_count():
            self._path_new, self._path_due = False, now + self._path_period
            self._path.publish(path_bytes(self._trail.poses, frame, stamp))

    def _draw_scene(self, now: float) -> None:
        moment = self.reader.moment(now)
        if moment is not None:
            self._count += 1
            self._scene.publish(self._markers.message(
                (*scene_of(self._robot, moment, self.settings),
                 *odometry_scene(self._robot, moment, self.settings)), moment.stamp))
