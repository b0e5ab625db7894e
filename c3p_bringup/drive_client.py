# SPDX-License-Identifier: Apache-2.0
"""Client of a drive: sends the goal, monitors progress and diagnostics."""

from __future__ import annotations

import math
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from rclpy.task import Future
from std_msgs.msg import Bool, Float64, String
from std_srvs.srv import SetBool, Trigger

from c3p_bringup.drive_story import DriveStory
from c3p_controller.goals.goal_life import GOAL_TOLERANCE, YAW_TOLERANCE
from c3p_controller.ros.goal_interface import RESULTS
from c3p_description.model import Array
from c3p_ros.diagnostics import ERROR
from c3p_ros.input_watch import WatchedNode
from c3p_ros.messages import fill_pose
from c3p_ros.node import LATCHED, LATEST, RELIABLE


class DriveClient(WatchedNode):
    """
    Publishes one goal and stores the feedback of the robot.

    Attributes
    ----------
    distance : float or None
        Last distance to the goal, m.
    reached_since : float or None
        Robot time since which the goal zone is held, s.
    accepted : bool
        The position controller has accepted the goal.
    health : dict
        Last DiagnosticStatus of each node, by name.
    errors : list of str
        Every distinct error reported by a node.
    story : DriveStory
        Faults, locks and end of the goal.
    zone : (float, float), m and rad
        As `goal_zone`, at the end of the drive.
    """

    def __init__(self, hardware: bool = False, **options: Any) -> None:
        """Create publisher and subscriptions; `hardware`: with motor cards."""
        super().__init__('drive_client', **options)
        self.distance: float | None = None
        self.reached_since: float | None = None
        self.accepted = False
        self.health: dict[str, Any] = {}
        self.errors: list[str] = []
        self.story, self.zone = DriveStory(), (math.nan, math.nan)
        owner = 'hardware_interface' if hardware else 'simulation'
        self._requests = {name: (kind, self.create_client(kind, f'{node}/{name}'))
                          for node, name, kind in (('simulation', 'resume', Trigger),
                                                   ('hardware_interface', 'recover', Trigger),
                                                   ('hardware_interface', 'enable', SetBool),
                                                   ('position_controller', 'cancel', Trigger),
                                                   (owner, 'reset_statistics', Trigger))}
        self._goal = self.create_publisher(PoseStamped, 'goal_pose', LATEST)
        self.create_subscription(Float64, 'position_controller/distance_to_goal',
                                 self._on_distance, RELIABLE)
        self.create_subscription(Bool, 'position_controller/goal_reached', self._on_reached,
                                 LATCHED)
        self.create_subscription(DiagnosticStatus, 'position_controller/result', self._on_result,
                                 RESULTS)
        self.create_subscription(String, 'velocity_controller/lock', self._on_lock, LATCHED)
        self.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 50)

    def _on_lock(self, message: String) -> None:
        self.story.lock(self.robot_time, message.data)

    @property
    def robot_time(self) -> float:
        """Seconds of the robot's clock: /clock in simulated time, the system's otherwise."""
        return self.get_clock().now().nanoseconds * 1e-9

    def missing(self, nodes: list[str], recorded: bool) -> list[str]:
        """
        Return the parts that are not ready, as text; empty when the goal may be sent.

        Ready: every node has published its diagnostics, the velocity controller is unlocked, and
        the recorder has messages of the whole chain.
        """
        lacking = [name for name in nodes if name not in self.health]
        lock = self._value('velocity_controller', 'locked')
        if lock != 'no':
            lacking.append(f'velocity controller ({lock or "no cycle yet"})')
        if recorded:
            topics = [self.resolve_topic_name(t) for t in ('joint_states', 'odom', 'wheel_effort')]
            lacking += [f'recording of {t}' for t in topics
                        if self._value('recorder', t) in (None, '0')]
        if self.count_subscribers('goal_pose') < 1 + recorded:
            lacking.append('goal_pose')
        return lacking

    def held(self) -> bool:
        """Return True while the simulation holds."""
        return self._value('simulation', 'held') == 'True'

    def request(self, service: str) -> Future:
        """
        Call a `service`.

        One of resume (simulation), recover, enable (motors), cancel (goal) and reset_statistics.

        The statistics are those of the node that owns the cycle.
        """
        kind, client = self._requests[service]
        return client.call_async(SetBool.Request(data=True) if kind is SetBool else kind.Request())

    def goal_zone(self) -> tuple[float, float]:
        """Return the goal tolerances of the position controller, m and rad."""
        return (float(self._value('position_controller', GOAL_TOLERANCE) or math.nan),
                float(self._value('position_controller', YAW_TOLERANCE) or math.nan))

    def send(self, goal: Array) -> None:
        """Publish the goal (x, y, yaw) in the odometry frame."""
        message = PoseStamped()
        message.header.stamp = self.get_clock().now().to_msg()
        message.header.frame_id = 'odom'
        fill_pose(message.pose, goal)
        self.reached_since = None
        self.accepted = False
        self.errors = []
        self.story.goal(self.robot_time)
        self._goal.publish(message)

    def _value(self, node: str, key: str) -> str | None:
        status = self.health.get(node)
        return None if status is None else next(
            (v.value for v in status.values if v.key == key), None)

    def _on_distance(self, message: Float64) -> None:
        self.distance = message.data

    def _on_reached(self, message: Bool) -> None:
        self.accepted = True
        if not message.data:
            self.reached_since = None
        elif self.reached_since is None:
            self.reached_since = self.robot_time

    def _on_result(self, message: DiagnosticStatus) -> None:
        reason = next((v.value for v in message.values if v.key == 'reason'), '')
        self.story.end(self.robot_time, reason, message.message)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        space = self.get_namespace().strip('/')
        for status in message.status:
            name = status.name.split(':')[0]
            if space and not name.startswith(f'{space}/'):
                continue
            node = name.removeprefix(f'{space}/')
            failed = status.level == ERROR
            self.health[node] = status
            self.story.error(self.robot_time, node, status.message if failed else '')
            text = f'{name}: {status.message}'
            if failed and text not in self.errors:
                self.errors.append(text)
