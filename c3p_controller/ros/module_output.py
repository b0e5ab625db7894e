# SPDX-License-Identifier: Apache-2.0
"""Topics of the module controller: commands for forward controllers, and its two twists."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import TwistStamped
from rclpy.publisher import Publisher
from std_msgs.msg import Float64MultiArray

from c3p_controller.module_joints import ModuleJoints
from c3p_description.model import Array
from c3p_kinematics.casters import sensed_forward
from c3p_kinematics.module_commands import ModuleCommand
from c3p_ros.cdr import PublishError
from c3p_ros.finite import check_message
from c3p_ros.node import LATEST, RELIABLE, SuiteNode
from c3p_ros.twist_wire import TwistWriter

# interface of the steering joints
VELOCITY = 'velocity'


class ModuleOutput:
    """
    Publishers of the commands of steering joints and wheels, and of twists.

    Parameters
    ----------
    node : SuiteNode
        With the parameters ``steering_interface`` and ``base_frame``.
    joints : ModuleJoints
    """

    def __init__(self, node: SuiteNode, joints: ModuleJoints) -> None:
        """Create the publishers; without steering motors none for their joints."""
        values = node.parameters.value
        self._node = node
        self._joints = joints
        self._by_rate = values.steering_interface == VELOCITY
        topic = f'~/steering_{values.steering_interface}'
        self._steering = node.create_publisher(Float64MultiArray, topic,
                                               LATEST) if joints.steering else None
        self._wheels = node.create_publisher(Float64MultiArray, '~/wheel_velocity', LATEST)
        self._write_out = TwistWriter(True, values.base_frame, 'cmd_vel_out')
        self._write_twist = TwistWriter(True, values.base_frame, 'twist')
        self._out = node.create_publisher(TwistStamped, '~/cmd_vel_out', RELIABLE)
        self._twist = node.create_publisher(TwistStamped, '~/twist', RELIABLE)

    def send(self, command: ModuleCommand, stamp: int) -> bool:
        """Publish the command of the cycle `stamp`, ns; false, and nothing, if not finite."""
        joints = self._joints.commands(command)
        steering = joints.steering_velocity if self._by_rate else joints.steering_position
        try:
            # both before one is sent
            turns = _array(steering, 'steering')
            rolls = _array(joints.wheel_velocity, 'wheel_velocity')
        except PublishError as error:
            self._node.diagnostics.withhold(error)
            return False
        if self._steering is not None:
            self._node.publish(self._steering, turns)
        self._node.publish(self._wheels, rolls)
        self._node.send(self._out, self._write_out, stamp, command.twist)
        return True

    def send_measured(self, stamp: int, sample: tuple[Array, Array, Array, Array]) -> None:
        """
        Publish the twist that the joints have, where their rates are known.

        `sample` is as of `SensedJointCoding.read`.
        """
        robot = self._node.robot
        steering, steering_rate, _, wheel_rate = sample
        if np.isfinite(np.concatenate([steering_rate, wheel_rate])[robot.sensed]).all():
            found = sensed_forward(robot, steering, wheel_rate, steering_rate).twist
            self._node.send(self._twist, self._write_twist, stamp, found)

    def halt(self) -> None:
        """Stop all wheels at once; steering joints keep their angles."""
        self._node.publish(self._wheels, _zeros(self._joints.wheels))
        if self._steering is not None and self._by_rate:
            self._node.publish(self._steering, _zeros(self._joints.steering))

    def unheard(self) -> str:
        """Return the command topics without a subscriber; '' if each has one."""
        both: list[Publisher | None] = [self._steering, self._wheels]
        return ', '.join(publisher.topic_name for publisher in both
                         if publisher is not None and not publisher.get_subscription_count())


def _array(values: Array, topic: str) -> Any:
    """Return a message with `values`; PublishError if one is not finite."""
    return check_message(topic, Float64MultiArray(data=values.tolist()))


def _zeros(names: tuple[str, ...]) -> Float64MultiArray:
    return Float64MultiArray(data=[0.0] * len(names))
