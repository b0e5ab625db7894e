# SPDX-License-Identifier: Apache-2.0
"""
Node: the real robot's motor cards and encoders on a CANopen bus, as joint states and efforts.

A managed node: configuring reads, writes and checks every device and begins the cycle; the joint
states are published from then on. Only an active node may be armed, by ``~/enable``, and only
while the controllers send zeros. Publishes ``joint_states`` and the state of every device;
subscribes ``wheel_effort``. The cycle runs in a thread of its own; callbacks here only hand it the
newest command.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from lifecycle_msgs.msg import State
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from c3p_hardware.joint_sensing import Joints
from c3p_hardware.settings import card_settings
from c3p_hardware.supervisor import ArmState, Refused
from c3p_hardware.transport.can_bus import BusAddress
from c3p_hardware.transport.card_link import CardLink
from c3p_hardware.transport.device_status import arm_condition, device_statuses
from c3p_ros.diagnostics import ERROR, OK, WARN
from c3p_ros.managed_node import ManagedSuiteNode
from c3p_ros.messages import EffortCoding, JointCoding, MessageError, check_age
from c3p_ros.node import LATEST, RECORDED, SuiteNode
from c3p_ros.publisher_watch import PublisherWatch
from c3p_ros.reach import open_reach
from c3p_ros.session import run
from c3p_ros.wire import JointStateRead
from c3p_ros.wire_writers import JointStateWriter

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE

# between two tries to configure by itself, s
RETRY = 1.0

JOINT_FIELDS = ('position', 'velocity', 'effort')


class HardwareInterfaceNode(ManagedSuiteNode):
    """Adapter between topics, services, the lifecycle and a `CardLink`."""

    def __init__(self, **options: Any) -> None:
        """Create publishers, subscriptions and services; touch no bus unless told to start."""
        super().__init__('hardware_interface', Path(__file__).with_name(
            'hardware_interface_parameters.yaml'), **options)
        self._link: CardLink | None = None
        self._joints, self._efforts = JointCoding(self.robot), EffortCoding(self.robot)
        self._write_joints = JointStateWriter(self._joints.names, JOINT_FIELDS, 'joint_states')
        # a plain publisher: joint states come from an inactive node, too
        self._joint_pub = SuiteNode.create_publisher(self, JointState, 'joint_states', RECORDED)
        self.listen(JointState, 'wheel_effort', self._on_effort, LATEST)
        for name, kind, callback in (
                ('enable', SetBool, self._on_enable), ('recover', Trigger, self._on_recover),
                ('quick_stop', Trigger, self._on_quick_stop),
                ('reset_statistics', Trigger, self._on_reset_statistics)):
            self.create_service(kind, f'~/{name}', callback)
        name = self.get_fully_qualified_name().lstrip('/')
        self.diagnostics.more = lambda: device_statuses(name, self.robot.name, self._link)
        self.watch(self._on_watch)
        PublisherWatch(self, 'wheel_effort', 'joint_states', act=self._on_publishers)
        self._wanted = self.parameters.value.autostart
        self._tried = -RETRY
        self._start_by_itself()

    def figures(self) -> Mapping[str, Any]:
        """Return the figures for the diagnostics: latency is from joint_states to wheel_effort."""
        return self._link.figures() if self._link else {'bus': 'closed'}

    def _start_by_itself(self) -> None:
        """Configure until it succeeds once: the cards may get power after the computer."""
        if (self._wanted == 'unconfigured' or self.life != State.PRIMARY_STATE_UNCONFIGURED
                or time.monotonic() - self._tried < RETRY):
            return
        if self.trigger_configure() == SUCCESS:
            if self._wanted == 'active':
                self.trigger_activate()
            self._wanted = 'unconfigured'
        self._tried = time.monotonic()

    # -- lifecycle -------------------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Open the bus, configure and check every device, begin the cycle."""
        values = self.parameters.value
        try:
            self._link = CardLink(
                BusAddress(values.bus.interface, values.bus.channel, values.bus.bitrate),
                self.robot, card_settings(self.robot, values), self._publish, self.now_ns)
            self._link.connect()
        except ValueError as error:
            self._close()
            self.diagnostics.condition('configure', ERROR, f'{error}')
            return FAILURE
        self.diagnostics.condition('configure', OK, 'all devices are configured')
        for identity in self._link.identities:
            self.get_logger().info(f'{identity.name}: {identity.kind}, serial number '
                                   f'{identity.serial}')
            if identity.lacks:
                self.get_logger().warning(f'{identity.name}: {identity.lacks}')
        if warning := open_reach(os.environ):
            self.get_logger().warning(warning)
        return SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Allow arming."""
        self._link.allow(True)
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Take the voltage from the motors; joint states go on."""
        self._link.allow(False)
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let the drives go and close the bus."""
        self._close()
        return SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let the drives go and close the bus."""
        self._close()
        return SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let the drives go and close the bus; the node may be configured again."""
        self._close()
        return SUCCESS

    def destroy_node(self) -> None:
        """Let the drives go, close the bus and destroy the node."""
        self._close()
        super().destroy_node()

    def _close(self) -> None:
        link, self._link = self._link, None
        if link is None:
            return
        try:
            link.close()
        except TimeoutError as error:
            self.diagnostics.condition('bus', ERROR, f'{error}')

    # -- the cycle -------------------------------------------------------------------------------

    def _publish(self, joints: Joints, stamp: int) -> None:
        values = dict(zip(JOINT_FIELDS, self._joints.encode(*joints), strict=True))
        self.send(self._joint_pub, self._write_joints, stamp, **values)

    def _on_effort(self, message: JointStateRead) -> None:
        try:
            torque = self._efforts.read(message)
            check_age(message.stamp, self.now_ns(), self.parameters.value.command_timeout)
        except MessageError as error:
            self.diagnostics.refuse('wheel_effort', error)
            return
        if self._link is not None:
            self._link.command(np.asarray(torque), message.stamp)

    def _on_publishers(self, surplus: str) -> None:
        if self._link is not None:
            self._link.hold(surplus)

    # -- services --------------------------------------------------------------------------------

    def _answer(self, response: Any, act: Callable[[CardLink], str]) -> Any:
        try:
            if self._link is None:
                raise Refused('the node is not configured: ros2 lifecycle set '
                              '/hardware_interface configure')
            response.success, response.message = True, act(self._link)
        except ValueError as error:
            response.success, response.message = False, f'{error}'
            self.get_logger().warning(f'refused: {error}')
        self.diagnostics.publish()
        return response

    def _on_enable(self, request: SetBool.Request, response: SetBool.Response
                   ) -> SetBool.Response:
        return self._answer(response, lambda link: link.arm() if request.data else link.disarm())

    def _on_recover(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._answer(response, lambda link: link.recover())

    def _on_quick_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._answer(response, lambda link: link.quick_stop())

    def _on_reset_statistics(self, _: Trigger.Request, response: Trigger.Response
                             ) -> Trigger.Response:
        return self._answer(response, lambda link: link.count_afresh())

    def _on_watch(self) -> None:
        self._start_by_itself()
        link, report = self._link, self.diagnostics.condition
        if link is None:
            return
        if link.failure is not None:
            raise link.failure
        report('motors', *arm_condition(link))
        held = link.held
        report('late', WARN if held else OK, f'{held}: no sample; all torques are zero'
               if held else 'all devices answer again')
        gate = link.gate_reason if link.state == ArmState.ARMED else ''
        report('wheels', WARN if gate else OK, f'{gate}: they brake' if gate else 'driven')


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(HardwareInterfaceNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
