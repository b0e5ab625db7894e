# SPDX-License-Identifier: Apache-2.0
"""
What ros2_control does to messages, for tests on real topics without ros2_control.

Written after the behaviour of the sources: forward_command_controller and joint_state_broadcaster
(ros2_controllers 4.42, 5.17 and 6.9), JointStateTopicSystem (joint_state_topic_hardware_interface
1.1.0), and the order of a control cycle: read, update, write.
"""

import math
import xml.etree.ElementTree as ElementTree

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from c3p_ros.messages import JointCoding
from c3p_simulation.plants.plant import AnalyticPlant

PERIOD = 0.005


class ForwardController:
    """
    ForwardCommandController: writes the last array that it got into its command interfaces.

    It goes on while nobody sends another one. Deactivated, it forgets the array and leaves the
    interfaces as they are (on_deactivate of the three versions); it still listens.
    """

    def __init__(self, node, name, joints, commands):
        self.joints, self.commands, self.data, self.fault = joints, commands, None, ''
        self.active = True
        node.create_subscription(Float64MultiArray, f'{name}/commands', self._on_commands, 10)

    def _on_commands(self, message):
        if all(map(math.isfinite, message.data)):
            self.data = list(message.data)

    def deactivate(self):
        self.active, self.data = False, None

    def activate(self):
        self.active, self.data = True, None

    def update(self):
        if self.data is None or self.fault or not self.active:
            return
        if len(self.data) != len(self.joints):
            # the controller manager deactivates a controller whose update fails
            self.fault = f'command size {len(self.data)}, {len(self.joints)} interfaces'
            return
        self.commands.update(zip(self.joints, self.data, strict=True))


class GroupEffortController(ForwardController):
    """JointGroupEffortController, up to Kilted: zeroes the interfaces when it is deactivated."""

    def deactivate(self):
        super().deactivate()
        self.commands.update(dict.fromkeys(self.joints, 0.0))


class StateBroadcaster:
    """
    Sends every joint with a state interface, in alphabetical order; `extra` joints follow, with 0.

    A field without an interface, or without a state yet, is NaN.
    """

    def __init__(self, node, states, extra=('lift_joint',)):
        self.node, self.states, self.names = node, states, [*sorted(states), *extra]
        self.extra = dict.fromkeys(('position', 'velocity', 'effort'), 0.0)
        self.publisher = node.create_publisher(JointState, 'joint_states', 10)

    def update(self):
        message = JointState(name=self.names)
        message.header.stamp = self.node.get_clock().now().to_msg()
        message.header.frame_id = 'base_link'
        for field in ('position', 'velocity', 'effort'):
            setattr(message, field, [self.states.get(name, self.extra).get(field, math.nan)
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


class InterfaceError(RuntimeError):
    """A component was given a value for an interface that its block does not declare."""


class TopicSystem:
    """
    One block of JointStateTopicSystem; `joints` is {name: owns an effort command interface}.

    `declared` are the state interfaces of the block by joint; every joint has all three otherwise.
    They are NaN until a message has a finite value for them.
    """

    def __init__(self, node, joints, commands_topic, states_topic, threshold=-1.0, declared=None):
        self.node, self.joints, self.threshold = node, joints, threshold
        self.commands = {name: math.nan for name, owns in joints.items() if owns}
        fields = declared or dict.fromkeys(joints, ('position', 'velocity', 'effort'))
        self.states = {name: dict.fromkeys(fields[name], math.nan) for name in joints}
        self.latest, self.active, self.written = JointState(), True, 0
        self.publisher = node.create_publisher(JointState, commands_topic, QoSProfile(depth=1))
        node.create_subscription(JointState, states_topic, self._on_states,
                                 qos_profile_sensor_data)

    def _on_states(self, message):
        self.latest = message

    def read(self):
        """Take the newest message, again in each cycle; raise as the component does."""
        for i, name in enumerate(self.latest.name):
            if name not in self.states:
                continue
            for field in ('position', 'velocity', 'effort'):
                values = getattr(self.latest, field)
                # an empty field is left out, one that is shorter than the names raises IndexError
                if not values or not math.isfinite(values[i]):
                    continue
                if field not in self.states[name]:
                    raise InterfaceError(f"state interface not found: '{name}/{field}'")
                self.states[name][field] = values[i]

    def write(self):
        if not self.active:  # write() is called in the state ACTIVE alone
            return
        for name in self.commands:
            if 'effort' not in self.states[name]:
                raise InterfaceError(f"state interface not found: '{name}/effort'")
        # NaN, of a command or a state, is not below the threshold either
        difference = sum(abs(self.states[name]['effort'] - command)
                         for name, command in self.commands.items())
        if difference <= self.threshold:
            return
        message = JointState(name=list(self.joints), effort=list(self.commands.values()))
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.publisher.publish(message)
        self.written += 1


def topic_systems(node, urdf):
    """Return a TopicSystem for each block of a description, as the manager creates them."""
    systems = []
    for block in ElementTree.fromstring(urdf).findall('ros2_control'):
        given = {p.get('name'): p.text for p in block.findall('hardware/param')}
        names = {kind: {joint.get('name'): [i.get('name') for i in joint.findall(kind)]
                        for joint in block.findall('joint')}
                 for kind in ('command_interface', 'state_interface')}
        owners = {name: 'effort' in found for name, found in names['command_interface'].items()}
        systems.append(TopicSystem(
            node, owners, given['joint_commands_topic'], given['joint_states_topic'],
            float(given['trigger_joint_command_threshold']), names['state_interface']))
    return systems


class Manager:
    """
    The control loop: reads the hardware, updates the controllers, writes the hardware.

    A component whose read or write fails is deactivated with every controller that uses it: the
    broadcaster uses all. Nothing is activated again; `failed` has the reasons.
    """

    def __init__(self, node, hardware, controllers):
        self.hardware, self.controllers, self.failed = list(hardware), list(controllers), []
        node.create_timer(PERIOD, self.cycle, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def cycle(self):
        self._each('read')
        for one in self.controllers:
            one.update()
        self._each('write')

    def _each(self, what):
        for one in list(self.hardware):
            try:
                getattr(one, what)()
            except (InterfaceError, IndexError) as error:
                self.failed.append(str(error))
                self.hardware.remove(one)
                self.controllers = [c for c in self.controllers
                                    if not isinstance(c, StateBroadcaster)
                                    and getattr(c, 'commands', None)
                                    is not getattr(one, 'commands', ())]
