# SPDX-License-Identifier: Apache-2.0
"""
Node: draws for RViz why the robot moves as it does, while somebody looks.

Publishes ``~/scene``, markers of the scene (c3p_viewers/scene), and ``~/path``, where the robot
has been. Only while one of them has a subscriber does it subscribe ``joint_states``, ``odom``,
``sensed_kinematics/wheel_slip``, ``wheel_effort`` and ``reference_trajectory``, and draw with at
most ``rate``; else it looks twice a second whether somebody has come.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nav_msgs.msg import Path as PathMessage
from rclpy.clock import Clock, ClockType
from visualization_msgs.msg import MarkerArray

from c3p_ros.cdr_arrays import path_bytes
from c3p_ros.node import RELIABLE, SENSOR_DATA, SuiteNode
from c3p_ros.session import run
from c3p_viewers.scene.live import TOPICS, LiveScene
from c3p_viewers.scene.markers import MarkerScene
from c3p_viewers.scene.settings import SceneSettings
from c3p_viewers.scene.trail import Trail

# how often the node looks whether somebody listens, s
LOOK_PERIOD = 0.5


class MarkerNode(SuiteNode):
    """Adapter between topics, LiveScene and markers; idle while nobody listens."""

    def __init__(self, **options: Any) -> None:
        """Create the publishers, and the timer that looks for listeners."""
        super().__init__('marker', Path(__file__).with_name('marker_parameters.yaml'), **options)
        values = self.parameters.value
        self._live = LiveScene(self.robot, values.timeout, self.diagnostics.refuse)
        self._markers = MarkerScene(values.timeout)
        self._trail = Trail(values.path_points, values.path_spacing)
        self._path_due, self._path_new = 0.0, False
        self._listeners, self._count = 0, 0
        self._subscribed: list[Any] = []
        self._timer: Any = None
        self.parameters.changed = self._retune
        self._retune()
        self._scene = self.create_publisher(MarkerArray, '~/scene', RELIABLE)
        self._path = self.create_publisher(PathMessage, '~/path', RELIABLE)
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(LOOK_PERIOD, self._look, clock=self._steady)

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics."""
        return {'listeners': self._listeners, 'scenes drawn': self._count,
                'poses of the path': len(self._trail.poses)}

    def _retune(self) -> None:
        values = self.parameters.value
        self._live.settings = SceneSettings(
            frame=values.base_frame, ground=values.ground, twist_time=values.twist_time,
            slip_time=values.slip_time, least_slip=values.least_slip)

    def _look(self) -> None:
        """Begin when the first listener has come, end when the last has gone."""
        before = self._listeners
        self._listeners = (self._scene.get_subscription_count()
                           + self._path.get_subscription_count())
        if self._listeners > before:
            # who has just come knows nothing of what was
            self._markers.forget()
            self._path_new = bool(self._trail.poses)
        if self._listeners and self._timer is None:
            self._begin()
        elif not self._listeners and self._timer is not None:
            self._end()

    def _begin(self) -> None:
        self._subscribed = [
            self.create_subscription(kind, topic, partial(self._live.put, topic), SENSOR_DATA,
                                     raw=True) for topic, kind in TOPICS.items()]
        self._timer = self.create_timer(1.0 / self.parameters.value.rate, self._draw,
                                        clock=self._steady)

    def _end(self) -> None:
        self.destroy_timer(self._timer)
        for subscription in self._subscribed:
            self.destroy_subscription(subscription)
        self._timer, self._subscribed = None, []
        self._live.clear()

    def _draw(self) -> None:
        """Publish what is new."""
        if self._scene.get_subscription_count() and (drawn := self._live.scene()) is not None:
            self._count += 1
            self._scene.publish(self._markers.message(*drawn))
        odometry = self._live.odometry()
        if odometry is None:
            return
        read, pose = odometry
        self._path_new |= self._trail.add(pose)
        now = time.monotonic()
        if self._path_new and now >= self._path_due and self._path.get_subscription_count():
            self._path_new, self._path_due = False, now + 1.0 / self.parameters.value.path_rate
            self._path.publish(path_bytes(self._trail.poses, read.frame_id, read.stamp))


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(MarkerNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
