# SPDX-License-Identifier: Apache-2.0
"""A robot on modules under forward controllers, as ros2_control drives it: joints by topics."""

import numpy as np
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from c3p_controller.module_joints import ModuleJoints
from c3p_ros.orderly_node import OrderlyNode
from c3p_simulation.plants.lagging_axes import DT, LaggingAxes

NAME = 'module_controller'


class ModuleRobot(OrderlyNode):
    """
    Joints that keep their last commands, as those of forward controllers do.

    Steering joints follow positions, or integrate velocities; `stuck` ones stay. `rates` tells
    whether joint_states have velocities.
    """

    def __init__(self, robot, seed=1, interface='position', rates=True, **options):
        super().__init__('module_robot', **options)
        self.robot = robot
        self.rates = rates
        self.silent = False
        self.broken = None
        self.joints = ModuleJoints(robot)
        self.axes = LaggingAxes(robot, seed)
        self.axes.steering = robot.steering_zero + np.where(robot.fixed, 0.0, 0.3)
        self.stuck = np.zeros(robot.count, bool)
        self.steering = self.axes.steering.copy()
        self.wheel_rate = np.zeros(robot.count)
        self._velocity = np.zeros(robot.count)
        self.heard = {'steering': [], 'wheels': []}
        self.create_subscription(Float64MultiArray, f'{NAME}/steering_{interface}',
                                 self._on_position if interface == 'position' else
                                 self._on_velocity, 1)
        self.create_subscription(Float64MultiArray, f'{NAME}/wheel_velocity', self._on_wheels, 1)
        self._publisher = self.create_publisher(JointState, 'joint_states',
                                                qos_profile_sensor_data)
        self.create_timer(DT, self._on_timer)

    def _by_joint(self, data):
        """Return the values of steering joints for all casters; nan where there is none."""
        places = {name: k for k, name in enumerate(self.joints.steering)}
        return np.array([data[places[name]] if name in places and not self.robot.fixed[i] else
                         np.nan for i, name in enumerate(self.robot.steering_joints)])

    def _on_position(self, message):
        self.heard['steering'].append(list(message.data))
        angle = (self.robot.steering_sign * self._by_joint(message.data)
                 + self.robot.steering_zero)
        self.steering = np.where(np.isfinite(angle), angle, self.steering)

    def _on_velocity(self, message):
        self.heard['steering'].append(list(message.data))
        self._velocity = np.nan_to_num(self.robot.steering_sign * self._by_joint(message.data))

    def _on_wheels(self, message):
        self.heard['wheels'].append(list(message.data))
        driven = np.flatnonzero(self.robot.driven)
        self.wheel_rate[driven] = self.robot.wheel_sign[driven] * np.array(message.data)

    def _on_timer(self):
        before = self.axes.steering
        self.steering = self.steering + DT * self._velocity
        self.axes.step(self.steering, self.wheel_rate)
        self.axes.steering = np.where(self.stuck, before, self.axes.steering)
        if not self.silent:
            self._publisher.publish(self.message())

    def message(self):
        """Return the joint states: those with an encoder, in an order of their own."""
        robot, axes = self.robot, self.axes
        names = [*robot.steering_joints, *robot.wheel_joints]
        position = np.concatenate([robot.steering_sign * (axes.steering - robot.steering_zero),
                                   robot.wheel_sign * axes.wheel_angle])
        velocity = np.concatenate([robot.steering_sign * axes.steering_rate,
                                   robot.wheel_sign * axes.wheel_rate])
        sensed = {names[i]: i for i in robot.sensed}
        places = [sensed[name] for name in sorted(sensed, reverse=True)]
        message = JointState()
        message.header.stamp = self.get_clock().now().to_msg()
        message.name = [names[i] for i in places]
        message.position = position[places].tolist()
        if self.rates:
            message.velocity = velocity[places].tolist()
        if self.broken is not None:
            self.broken(message)
        return message
