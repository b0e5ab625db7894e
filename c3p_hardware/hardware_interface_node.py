# SPDX-License-Identifier: Apache-2.0
"""
Hardware interface node: motor cards and encoders on a CANopen bus as joint states and efforts.

A managed node. Configuration checks every device and starts the cycle, which publishes joint
states from then on. Only an active node can be armed, by ``~/enable``, and only while the
controllers send zeros. Publishes ``joint_states`` and the state of every device; subscribes
``wheel_effort``. The cycle runs in its own thread; callbacks hand the newest command to it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from lifecycle_msgs.msg import State
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from c3p_hardware.axes import card_settings
from c3p_hardware.joint_sensing import SensedJoints
from c3p_hardware.supervisor import Refused
from c3p_hardware.transport.can_bus import BusAddress
from c3p_hardware.transport.card_link import CardLink
from c3p_hardware.transport.device_status import conditions, device_statuses
from c3p_ros.chain_messages import JointStateMessage
from c3p_ros.diagnostics import ERROR, OK
from c3p_ros.fault_codes.table import refusal_code
from c3p_ros.managed_node import ManagedSuiteNode
from c3p_ros.messages import EffortCoding, JointCoding, MessageError, check_age
from c3p_ros.node import LATEST, RECORDED, SuiteNode
from c3p_ros.publisher_watch import PublisherWatch
from c3p_ros.reach import open_reach
from c3p_ros.session import run
from c3p_ros.wire import JointStateWriter

SUCCESS = TransitionCallbackReturn.SUCCESS
FAILURE = TransitionCallbackReturn.FAILURE

# time between two attempts to configure automatically, s
RETRY = 1.0

JOINT_FIELDS = ('position', 'velocity', 'effort')


class HardwareInterfaceNode(ManagedSuiteNode):
    """Adapter between topics, services, the lifecycle and a `CardLink`."""

    def __init__(self, **options: Any) -> None:
        """Create publishers, subscriptions and services; `autostart` may open the bus."""
        super().__init__('hardware_interface', Path(__file__).with_name(
            'hardware_interface_parameters.yaml'), **options)
        values = self.parameters.value
        if values.autostart != 'unconfigured':
            card_settings(self.robot, values)  # a retry would not help
        self._link: CardLink | None = None
        self.at_end(self._close)
        self._joints, self._efforts = JointCoding(self.robot), EffortCoding(self.robot)
        self._write_joints = JointStateWriter(self._joints.names, JOINT_FIELDS, 'joint_states')
        # a plain publisher, as an inactive node also publishes joint states
        self._joint_pub = SuiteNode.create_publisher(self, JointState, 'joint_states', RECORDED)
        self.listen(JointState, 'wheel_effort', self._on_effort, LATEST, rank=0)
        for name, kind, act in (
                ('enable', SetBool, lambda link, request: (
                    link.arm() if request.data else link.disarm())),
                ('recover', Trigger, lambda link, _: link.recover()),
                ('quick_stop', Trigger, lambda link, _: link.quick_stop()),
                ('reset_statistics', Trigger, lambda link, _: link.reset_statistics())):
            self.create_service(kind, f'~/{name}', partial(self._serve, act))
        name = self.get_fully_qualified_name().lstrip('/')
        self.diagnostics.more = lambda: device_statuses(name, self.robot.name, self._link)
        self.watch(self._on_watch)
        PublisherWatch(self, 'wheel_effort', 'joint_states',
                       act=lambda surplus: self._link.hold(surplus) if self._link else None)
        self._target = values.autostart
        self._tried = -RETRY
        self._autostart()

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics: latency is from joint_states to wheel_effort."""
        return self._link.metrics() if self._link else {'bus': 'closed'}

    def _autostart(self) -> None:
        """Configure until it succeeds once, as the cards may get power after the computer."""
        if (self._target == 'unconfigured' or self.life != State.PRIMARY_STATE_UNCONFIGURED
                or time.monotonic() - self._tried < RETRY):
            return
        if self.trigger_configure() == SUCCESS:
            if self._target == 'active':
                self.trigger_activate()
            self._target = 'unconfigured'
        self._tried = time.monotonic()

    # -- lifecycle -------------------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Open the bus, configure and check every device, start the cycle."""
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
        assert self._link is not None
        self._link.allow(True)
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Disable the motors; joint states go on."""
        assert self._link is not None
        self._link.allow(False)
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Disable the drives and close the bus; the node may be configured again."""
        self._close()
        return SUCCESS

    on_shutdown = on_error = on_cleanup

    def _close(self) -> None:
        """Disable the drives and close the bus."""
        link = self._link
        self._link = None
        if link is None:
            return
        try:
            link.close()
        except TimeoutError as error:
            self.diagnostics.condition('bus', ERROR, f'{error}')

    # -- the cycle -------------------------------------------------------------------------------

    def _publish(self, joints: SensedJoints, stamp: int) -> None:
        self.send(self._joint_pub, self._write_joints, stamp, **dict(
            zip(JOINT_FIELDS, self._joints.encode(*joints), strict=True)))

    def _on_effort(self, message: JointStateMessage) -> None:
        try:
            torque = self._efforts.read(message)
            check_age(message.stamp, self.now_ns(), self.parameters.value.command_timeout)
        except MessageError as error:
            self.diagnostics.refuse('wheel_effort', error)
            return
        if self._link is not None:
            self._link.command(np.asarray(torque), message.stamp)

    # -- services --------------------------------------------------------------------------------

    def _serve(self, act: Callable[[CardLink, Any], str], request: Any, response: Any) -> Any:
        """Respond with the result of a request to the link, or with the reason of a rejection."""
        try:
            if self._link is None:
                raise Refused('the node is not configured: ros2 lifecycle set '
                              '/hardware_interface configure')
            response.success, response.message = True, act(self._link, request)
        except ValueError as error:
            response.success = False
            response.message = f'{error} [{refusal_code(f"{error}")}]'
            self.get_logger().warning(f'rejected: {error}')
        self.diagnostics.publish()
        return response

    def _on_watch(self) -> None:
        self._autostart()
        if (link := self._link) is None:
            return
        if link.failure is not None:
            raise link.failure
        for name, level, text, codes in conditions(link):
            self.diagnostics.condition(name, level, text, codes=codes)


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(HardwareInterfaceNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
