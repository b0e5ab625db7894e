# SPDX-License-Identifier: Apache-2.0
"""
Node: wheel torques for the reference acceleration of the velocity controller.

Subscribes ``joint_states``, ``odom``, ``reference_acceleration``; publishes ``dynamics_effort``
with the stamp of the cycle (papers I (10)-(12), II (16)-(18); caster_dynamics.inverse_dynamics).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import AccelStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from c3p_dynamics.caster_dynamics import inverse_dynamics
from c3p_ros.chain_messages import AccelMessage, JointStateMessage, OdometryMessage
from c3p_ros.cycle import StampJoin
from c3p_ros.messages import (
    EffortCoding,
    JointCoding,
    MessageError,
    planar,
)
from c3p_ros.node import RELIABLE, SENSOR_DATA, SuiteNode
from c3p_ros.session import run
from c3p_ros.wire import JointStateWriter


class InverseDynamicsNode(SuiteNode):
    """Adapter between topics and `inverse_dynamics`; no memory of its own."""

    def __init__(self, **options: Any) -> None:
        """Create publisher and subscriptions, and compile the kernel before the first message."""
        super().__init__('inverse_dynamics', Path(__file__).with_name(
            'inverse_dynamics_parameters.yaml'), **options)
        self._joints = JointCoding(self.robot)
        self._efforts = EffortCoding(self.robot)
        self._join = StampJoin('joints', 'twist', 'accel')
        self._write = JointStateWriter(self._efforts.names, ['effort'], 'dynamics_effort')
        self._cycles = 0
        self._largest = 0.0
        if reason := self.robot.other_wheels:
            # part of the control chain of every robot, for the papers' law
            self.get_logger().info(f'idle, because {reason}: only the law paper, of casters with '
                                   'all encoders, uses this node')
            return
        inverse_dynamics(self.robot, np.zeros(self.robot.count), np.zeros(3), np.zeros(3))
        self._effort = self.create_publisher(JointState, 'dynamics_effort', RELIABLE)
        # after the velocity controller, which may publish the torque without this node
        self.listen(JointState, 'joint_states', self._on_joints, SENSOR_DATA, rank=2)
        self.listen(Odometry, 'odom', self._on_odom, RELIABLE, rank=2)
        self.listen(AccelStamped, 'reference_acceleration', self._on_accel, RELIABLE)

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics."""
        largest = self._largest
        self._largest = 0.0
        return {'cycles': self._cycles, 'largest torque [N·m]': f'{largest:.3f}'}

    def _on_joints(self, message: JointStateMessage) -> None:
        try:
            steering, _, _, _ = self._joints.read(message)
        except MessageError as error:
            self.diagnostics.refuse('joint_states', error)
            return
        self._put('joints', message, steering)

    def _on_odom(self, message: OdometryMessage) -> None:
        try:
            twist = planar(message.twist, 'twist')
        except MessageError as error:
            self.diagnostics.refuse('odom', error)
            return
        self._put('twist', message, twist)

    def _on_accel(self, message: AccelMessage) -> None:
        try:
            accel = planar(message.accel, 'accel')
            limit = self.parameters.value.acceleration_limit
            if abs(accel).max() > limit:
                raise MessageError(f'accel = {accel.tolist()}: at most {limit} '
                                   '(acceleration_limit)')
        except MessageError as error:
            self.diagnostics.refuse('reference_acceleration', error)
            return
        self._put('accel', message, accel)

    def _put(self, part: str, message: Any, value: Any) -> None:
        cycle = self._join.put(part, message.stamp, value)
        if cycle is None:
            return
        steering, twist, accel = cycle
        torque = inverse_dynamics(self.robot, steering, twist, accel,
                                  self.parameters.value.virtual_steering_weight)
        self._cycles += 1
        # without dynamics_effort the velocity controller brakes
        if self.send(self._effort, self._write, message.stamp,
                     effort=self._efforts.encode(torque)):
            self._largest = max(self._largest, float(abs(torque).max()))


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(InverseDynamicsNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
