# SPDX-License-Identifier: Apache-2.0
"""
What ros2_control does to messages, for tests on real topics without ros2_control.

Written after the behaviour of the sources: forward_command_controller and joint_state_broadcaster
(ros2_controllers 4.42 and 5.17), JointStateTopicSystem (joint_state_topic_hardware_interface
1.1.0), and the order of a control cycle: read, update, write.
"""

import math

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from c3p_ros.messages import JointCoding
from c3p_simulation.plants.plant import AnalyticPlant

PERIOD = 0.005


class ForwardController:
    """Writes the last array that it got into its command interfaces, for ever."""

    def __init__(self, node, name, joints, commands):
        self.joints, self.commands, self.data, self.fault = joints, commands, None, ''
        node.create_subscription(Float64MultiArray, f'{name}/commands', self._on_commands, 10)

    def _on_commands(self, message):
        if all(map(math.isfinite, message.data)):
            self.data = list(message.data)

    def update(self):
        if self.data is None or self.fault:
            return
        if len(self.data) != len(self.joints):
            # the controller manager deactivates a controller whose update fails
            self.fault = f'command size {len(self.data)}, {len(self.joints)} interfaces'
            return
        self.commands.update(zip(self.joints, self.data, strict=True))


class StateBroadcaster:
    """Names joints in an order of its own, others' too; what has no interface is NaN."""

    def __init__(self, node, states, extra=('lift_joint',)):
        self.node, self.states, self.names = node, states, [*extra, *sorted(states, reverse=True)]
        self.publisher = node.create_publisher(JointState, 'joint_states', 10)

    def update(self):
        message = JointState(name=self.names)
        message.header.stamp = self.node.get_clock().now().to_msg()
        message.header.frame_id = 'base_link'
        for field in ('position', 'velocity', 'effort'):
            setattr(message, field, [self.states.get(name, {}).get(field, math.nan)
                                     for name in self.names])
        self.publisher.publish(message)


class OwnedRobot:
    """Hardware inside ros2_control, as in Gazebo: steering has no effort state."""

    def __init__(self, robot):
        self.robot, self.plant, self.coding = robot, AnalyticPlant(robot), JointCoding(robot)
        self.commands = dict.fromkeys(robot.wheel_joints, math.nan)
        self.states = {name: {} for name in self.coding.names}
        self.plant.reset()

    def read(self):
        sample = self.plant.sense()
        position, velocity, _ = self.coding.encode(*sample[1:])
        for name, angle, rate in zip(self.coding.names, position, velocity, strict=True):
            self.states[name].update(position=angle, velocity=rate)
        for name, command in self.commands.items():
            self.states[name]['effort'] = command

    def write(self):
        torque = np.nan_to_num([self.commands[name] for name in self.robot.wheel_joints])
        self.plant.step(torque * self.robot.wheel_sign, PERIOD)

    def speed(self):
        """Return the true speed that no point of the robot exceeds, m/s."""
        twist = self.plant.truth().twist
        return np.hypot(*twist[:2]) + 0.35 * abs(twist[2])


class TopicSystem:
    """One block of JointStateTopicSystem; `joints` is {name: owns an effort interface}."""

    def __init__(self, node, joints, commands_topic, states_topic, threshold=-1.0):
        self.node, self.joints, self.threshold = node, joints, threshold
        self.commands = {name: math.nan for name, owns in joints.items() if owns}
        self.states = {name: dict.fromkeys(('position', 'velocity', 'effort'), math.nan)
                       for name in joints}
        self.latest, self.active, self.written = JointState(), True, 0
        self.publisher = node.create_publisher(JointState, commands_topic, QoSProfile(depth=1))
        node.create_subscription(JointState, states_topic, self._on_states,
                                 qos_profile_sensor_data)

    def _on_states(self, message):
        self.latest = message

    def read(self):
        for i, name in enumerate(self.latest.name):
            for field in ('position', 'velocity', 'effort'):
                values = getattr(self.latest, field)
                # the plugin throws where a field is shorter than the names
                if name in self.states and values and math.isfinite(values[i]):
                    self.states[name][field] = values[i]

    def write(self):
        if not self.active:  # write() is called in the state ACTIVE alone
            return
        difference = sum(abs(self.states[name]['effort'] - command)
                         for name, command in self.commands.items())
        if difference <= self.threshold:
            return
        message = JointState(name=list(self.joints), effort=list(self.commands.values()))
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.publisher.publish(message)
        self.written += 1


class Manager:
    """The control loop: reads the hardware, updates the controllers, writes the hardware."""

    def __init__(self, node, hardware, controllers):
        self.hardware, self.controllers = hardware, controllers
        node.create_timer(PERIOD, self.cycle, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def cycle(self):
        for one in self.hardware:
            one.read()
        for one in self.controllers:
            one.update()
        for one in self.hardware:
            one.write()
