# SPDX-License-Identifier: Apache-2.0
"""
Bridge node between ``wheel_effort`` and ros2_control, in either direction.

``to_ros2_control`` forwards ``wheel_effort`` to a group effort controller, which keeps its last
command. The node therefore monitors the commands, brakes the wheels after a timeout, and sends
zeros when it ends. ``from_ros2_control`` forwards the joint commands of JointStateTopicSystem to
hardware of the suite. In both directions the torques pass a wheel gate.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from c3p_description.model import Array
from c3p_hardware.joint_commands import (
    FrozenCommand,
    GroupCommand,
    JointCommandError,
    TopicCommand,
)
from c3p_hardware.wheel_gate import GateSettings, WheelGate
from c3p_kinematics.sample_times import Repetition
from c3p_ros.chain_messages import JointStateMessage
from c3p_ros.cycle import LatencyHistogram
from c3p_ros.diagnostics import warned
from c3p_ros.messages import EffortCoding, JointCoding, MessageError
from c3p_ros.node import LATEST, SENSOR_DATA, WATCH_PERIOD, SuiteNode
from c3p_ros.parameters import ParameterError
from c3p_ros.publisher_watch import PublisherWatch
from c3p_ros.session import run
from c3p_ros.wire import JointStateWriter, check_finite

# time for the last zeros to arrive before the node ends, s; wheel rate of a standstill, rad/s
LINGER = 0.05
STANDSTILL = 0.05


class Ros2ControlBridgeNode(SuiteNode):
    """Adapter between two topics, a wheel gate, and the wheel rates for braking."""

    def __init__(self, **options: Any) -> None:
        """Create gate, publisher and subscriptions."""
        super().__init__('ros2_control_bridge',
                         Path(__file__).with_name('ros2_control_bridge_parameters.yaml'),
                         **options)
        values = self.parameters.value
        self._gate = WheelGate(self.robot, GateSettings(values.command_timeout,
                                                        values.stop_damping))
        self._joints, self._efforts = JointCoding(self.robot), EffortCoding(self.robot)
        self._wheel_rate, self._rates_at = np.zeros(self.robot.count), -np.inf
        self._published_at, self.forwarded, self.age = -np.inf, 0, LatencyHistogram()
        self._repetition = Repetition(self.robot.count)
        self._matched = False
        if values.direction == 'to_ros2_control':
            self._to_ros2_control()
        else:
            self._from_ros2_control()
        self.at_end(self._send_zeros)
        self.listen(JointState, 'joint_states', self._on_joint_states, SENSOR_DATA)
        self.watch(self._on_watch)
        PublisherWatch(self, 'wheel_effort', 'joint_states', act=self._gate.hold)

    def _to_ros2_control(self) -> None:
        values = self.parameters.value
        try:
            # rclpy cannot declare an empty list of strings
            self._group = GroupCommand(self.robot, [name for name in values.joints if name])
        except JointCommandError as error:
            raise ParameterError(f'ros2_control_bridge: {error}') from error
        self._source, self._take = 'wheel_effort', self._efforts_of
        self._forward = self._send_group
        self._publisher = self.create_publisher(Float64MultiArray, values.commands_topic, LATEST)
        self.listen(JointState, 'wheel_effort', self._on_command, LATEST)

    def _from_ros2_control(self) -> None:
        values = self.parameters.value
        self._topic, self._frozen = TopicCommand(self.robot), FrozenCommand(values.frozen_timeout)
        self._write = JointStateWriter(self._efforts.names, ['effort'], 'wheel_effort')
        self._source, self._take = values.joint_commands_topic, self._topic_efforts_of
        self._forward = self._send_efforts
        self._publisher = self.create_publisher(JointState, 'wheel_effort', LATEST)
        self.listen(JointState, values.joint_commands_topic, self._on_command, LATEST)

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics; the age is that of a command when it is used."""
        return {'direction': self.parameters.value.direction, 'forwarded': self.forwarded,
                **(self.age.metrics('age') if self.age.count else {}),
                'wheels': self._gate.reason or 'driven'}

    def _send_zeros(self) -> None:
        """Send zeros at the end: a forward controller keeps its last command."""
        if self.context.ok():
            self._publish(np.zeros(self.robot.efforts))
            # not wait_for_all_acked: a subscriber that ends at the same time never responds
            time.sleep(LINGER)

    def _efforts_of(self, message: JointStateMessage) -> Array | None:
        return self._efforts.read(message)

    def _topic_efforts_of(self, message: JointStateMessage) -> Array | None:
        """Return the torques; None without a controller, or without a command to it."""
        torque = self._topic.read(message.name, message.effort)
        if torque is None:
            self._stop('no controller writes the effort interfaces (they are NaN)')
        elif age := self._frozen.age(torque, self.watch_time()):
            self._stop(f'the torques have been the same for {age:.3f} s (frozen_timeout): '
                       'the controller is no longer commanded')
            return None
        else:
            self._report('commands', '')
        return torque

    def _stop(self, reason: str) -> None:
        self._gate.close(reason)
        self._report('commands', reason)

    def _send_group(self, torque: Array) -> bool:
        return self.send_typed(self._publisher, self._group_message, torque)

    def _group_message(self, torque: Array) -> Float64MultiArray:
        efforts = self._group.encode(torque)
        check_finite(self.parameters.value.commands_topic, 'data', efforts, self._group.joints)
        return Float64MultiArray(data=efforts)

    def _send_efforts(self, torque: Array) -> bool:
        # stamped now, as the hardware checks the age of this message
        return self.send(self._publisher, self._write, self.now_ns(),
                         effort=self._efforts.encode(torque))

    def _on_command(self, message: JointStateMessage) -> None:
        try:
            stamp = self.check_fresh(message.stamp, self._gate.settings.command_timeout)
            torque = self._take(message)
        except (MessageError, JointCommandError) as error:
            self.diagnostics.refuse(self._source, error)
            return
        now = self.watch_time()
        # a zero without a subscriber must not open the gate: a later one would begin with a torque
        if torque is not None and self._matched:
            self._gate.command(torque, now)
            self.forwarded += 1
            self.age.add((self.now_ns() - stamp) * 1e-9)
        # a closed gate brakes by the newest rates instead, in `_on_joint_states`
        if self._gate.open:
            self._publish(self._gate.torque_at(now, self._wheel_rate))

    def _on_joint_states(self, message: JointStateMessage) -> None:
        try:
            sample = self._joints.read(message)
        except MessageError as error:
            self.diagnostics.refuse('joint_states', error)
            return
        if self._repetition.found(*sample):  # silent hardware: old rates
            return
        self._wheel_rate, self._rates_at = sample[3], self.watch_time()
        # an open gate is closed by the watch alone, which detects pauses of this process
        if not self._gate.open:
            self._publish(self._gate.torque_at(self._rates_at, self._wheel_rate))

    def _on_watch(self) -> None:
        self._check_subscriber()
        now = self.watch_time()
        blind = now - self._rates_at > self._gate.settings.command_timeout
        if blind:  # braking by an old rate would drive the wheel
            self._wheel_rate = np.zeros(self.robot.count)
        torque = self._gate.torque_at(now, self._wheel_rate)
        if not self._gate.open and time.monotonic() - self._published_at > WATCH_PERIOD / 2:
            self._publish(torque)
        stop = 'no joint_states, so they coast' if blind else 'they brake'
        self._report('wheels', '' if self._gate.open else f'{self._gate.reason}: {stop}', 'driven')

    def _report(self, name: str, text: str, well: str = '') -> None:
        """Report a warning, empty without one; at standstill every start and end has some."""
        stands = bool((abs(self._wheel_rate) < STANDSTILL).all())
        self.diagnostics.condition(name, *warned(text, well), calm=stands)

    def _check_subscriber(self) -> None:
        self._matched = self._publisher.get_subscription_count() > 0
        reason = f'no subscriber on {self._publisher.topic_name}'
        if not self._matched:
            self._gate.close(reason)
        self._report('listener', '' if self._matched else
                     f'{reason}: start the controller or the hardware, and check its topic')

    def _publish(self, torque: Array) -> None:
        self._published_at = time.monotonic()
        if not self._forward(torque):
            self._gate.close('the torques are not finite')
            self._forward(np.zeros(self.robot.efforts))


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(Ros2ControlBridgeNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
