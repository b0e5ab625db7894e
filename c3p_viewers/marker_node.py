# SPDX-License-Identifier: Apache-2.0
"""
Node: markers for RViz and Foxglove that explain the motion of the robot.

Of a caster robot it publishes ``~/scene`` and ``~/path``, from ``joint_states``, ``odom``,
``sensed_kinematics/wheel_slip``, ``wheel_effort`` and ``reference_trajectory``; of the tricycle
``rough_ground/terrain``, ``rough_ground/contact_paths`` and ``rough_ground/camber``, from
``joint_states`` and ``odom``. Without a subscriber to any of them the node is idle: it subscribes
nothing and looks for subscribers twice a second.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.clock import Clock, ClockType

from c3p_bags.storage.topics import message_class
from c3p_description.pvc_model import PvcTricycle
from c3p_description.reading.loader import load
from c3p_description.reading.vehicle_files import is_vehicle, load_vehicle
from c3p_description.vehicle_model import RoughVehicle
from c3p_ros.node import SENSOR_DATA, SuiteNode
from c3p_ros.session import run
from c3p_viewers.scene.caster_markers import CasterMarkers
from c3p_viewers.scene.tricycle_markers import TricycleMarkers

# period of looking for subscribers, s
LOOK_PERIOD = 0.5


class MarkerNode(SuiteNode):
    """Adapter between topics and the markers of one kind of robot; idle without subscribers."""

    # a CasterRobot or a PvcTricycle
    robot: Any

    def __init__(self, **options: Any) -> None:
        """Create the publishers, and the timer that looks for subscribers."""
        self._listeners = 0

        super().__init__('marker', Path(__file__).with_name('marker_parameters.yaml'), **options)
        rough = isinstance(self.robot, (PvcTricycle, RoughVehicle))
        kind = TricycleMarkers if rough else CasterMarkers
        self.markers: CasterMarkers | TricycleMarkers = kind(self, self.parameters.value)
        self._subscribed: list[Any] = []
        self._timer: Any = None
        self.parameters.changed = self._retune
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(LOOK_PERIOD, self._look, clock=self._steady)

    def _load_robot(self) -> Any:
        values = self.parameters.value
        if not values.robot_description:
            if is_vehicle(values.robot):
                return load_vehicle(values.robot)
            robot = load(values.robot)
            if isinstance(robot, PvcTricycle):
                return robot
        return super()._load_robot()

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics."""
        # the first diagnostics precede the markers
        markers = getattr(self, 'markers', None)
        return {'listeners': self._listeners, **({} if markers is None else markers.metrics())}

    def _retune(self) -> None:
        self.markers.retune(self.parameters.value)

    def _look(self) -> None:
        """Start with the first subscriber, stop with the last."""
        before = self._listeners
        self._listeners = sum(p.get_subscription_count() for p in self.markers.publishers)
        if self._listeners > before:
            self.markers.welcome()
        if self._listeners and self._timer is None:
            self._begin()
        elif not self._listeners and self._timer is not None:
            self._end()

    def _begin(self) -> None:
        self._subscribed = [
            self.create_subscription(message_class(kind), topic, partial(self._take, topic),
                                     SENSOR_DATA, raw=True)
            for topic, kind in self.markers.topics.items()]
        self._timer = self.create_timer(1.0 / self.parameters.value.rate, self._draw,
                                        clock=self._steady)

    def _take(self, topic: str, data: bytes) -> None:
        self.markers.reader.put(topic, data, time.monotonic())

    def _draw(self) -> None:
        self.markers.draw()

    def _end(self) -> None:
        self.destroy_timer(self._timer)
        for subscription in self._subscribed:
            self.destroy_subscription(subscription)
        self._timer = None
        self._subscribed = []
        self.markers.reader.clear()


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(MarkerNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
