# SPDX-License-Identifier: Apache-2.0
"""
ROS interfaces of the velocity controller: commands, lock, and an adapter for each kind of chain.

A chain from commands to torques needs one step per cycle, or two with the inverse dynamics node in
between. `FollowerAdapter` and `PaperAdapter` execute a cycle with one of them, by the same
protocol.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np
from geometry_msgs.msg import AccelStamped, Twist, TwistStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import MultiDOFJointTrajectory

from c3p_controller.command_follower import CommandFollower, LawFailure
from c3p_controller.command_interlock import STARTING, CommandInterlock
from c3p_controller.paper.chain import PaperChain
from c3p_controller.torque_law import Preview, Sensed
from c3p_ros.cdr import JointStateRead, TrajectoryRead
from c3p_ros.diagnostics import ERROR, OK, Diagnostics, warned
from c3p_ros.messages import MessageError, planar_points, stamp_to_ns, twist_of
from c3p_ros.node import LATCHED, LATEST, RELIABLE
from c3p_ros.wire import AccelWriter

# reports of the watch after which an unchanged lock is published again: one a second
REPEAT = 50


def subscribe_command(node: Any, interlock: CommandInterlock, stamped: bool) -> None:
    """Subscribe ``cmd_vel``, Twist or TwistStamped, for the `interlock` of `node`."""
    def received(message: Any) -> None:
        try:
            twist = twist_of(message.twist if stamped else message, 'twist')
            stamp = node.check_fresh(stamp_to_ns(message.header.stamp),
                                     interlock.command_timeout) if stamped else 0
        except MessageError as error:
            node.diagnostics.refuse('cmd_vel', error)
            return
        interlock.command(twist, node.watch_time(), stamp)

    node.create_subscription(TwistStamped if stamped else Twist, 'cmd_vel', received, LATEST)


class LockReport:
    """Publisher of ``~/lock``, a String: reason for the lock, empty when unlocked."""

    def __init__(self, node: Node, diagnostics: Diagnostics) -> None:
        """Create the publisher."""
        self._publisher = node.create_publisher(String, '~/lock', LATCHED)
        self._diagnostics, self._reports = diagnostics, 0
        self._lock: str | None = None

    def publish(self, lock: str) -> None:
        """Publish a lock that has changed."""
        if lock != self._lock:
            self._lock = lock
            self._publisher.publish(String(data=lock))

    def diagnose(self, lock: str, remedy: str, known: bool) -> None:
        """Publish the lock and report its remedy, unless /diagnostics has the cause (`known`)."""
        self._reports += 1
        if self._reports % REPEAT == 0:
            # a subscriber must not keep the message of another publisher
            self._lock = None
        self.publish(lock)
        self._diagnostics.condition('lock', *warned('' if known else remedy, 'unlocked'),
                                    calm=lock == STARTING)


class ChainAdapter(Protocol):
    """Topics of a chain from commands to torques; `PARTS` are those that it needs."""

    PARTS: ClassVar[tuple[str, ...]]

    def __init__(self, node: Any, law: Any) -> None:
        """Create the publishers and subscriptions."""

    def cycle(self, sensed: Sensed, command: np.ndarray | None, stamp: int, dt: float | None,
              lost: bool) -> None:
        """
        Execute the cycle `stamp` of `sensed` and `command`; `dt` is None after a reset.

        `lost`: a part of the chain is missing.
        """


class FollowerAdapter:
    """Cycle in one step: torques from command and preview."""

    PARTS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, node: Any, law: CommandFollower) -> None:
        """Subscribe to the preview."""
        self._node, self._law = node, law
        node.listen(MultiDOFJointTrajectory, 'reference_trajectory', self._on_preview, LATEST)

    def _on_preview(self, message: TrajectoryRead) -> None:
        node = self._node
        try:
            stamp = node.cycle_stamp(message.stamp, node.interlock.command_timeout)
            self._law.take_preview(stamp, Preview(*planar_points(message, node.frame)))
        except ValueError as error:
            node.diagnostics.refuse('reference_trajectory', error)

    def cycle(self, sensed: Sensed, command: np.ndarray | None, stamp: int, dt: float | None,
              lost: bool) -> None:
        """Send the torques of the law, or brake; parameters as in `ChainAdapter.cycle`."""
        node = self._node
        if lost:
            return
        try:
            torque = (None if dt is None else
                      self._law.step(sensed, command, node.interlock.stamp, stamp, dt))
        except LawFailure as error:
            node.interlock.stop('the law failed', node.watch_time())
            self._law.reset(sensed)
            node.diagnostics.condition('law', ERROR, f'{error}; the wheels brake')
            node.brake(stamp)
        else:
            if torque is None:
                node.brake(stamp)
            else:
                node.drive(torque, stamp)
            node.diagnostics.condition('law', OK, 'well again')
        node.interlock.rearm(node.watch_time())


class PaperAdapter:
    """Cycle in two steps: ``reference_acceleration``, and torques from ``dynamics_effort``."""

    PARTS: ClassVar[tuple[str, ...]] = ('dynamics_effort',)

    def __init__(self, node: Any, law: PaperChain) -> None:
        """Create the publisher and the subscription."""
        self._node, self._law = node, law
        self._write = AccelWriter('base_link', 'reference_acceleration')
        self._accel = node.create_publisher(AccelStamped, 'reference_acceleration', RELIABLE)
        node.listen(JointState, 'dynamics_effort', self._on_dynamics, RELIABLE)

    def cycle(self, sensed: Sensed, command: np.ndarray | None, stamp: int, dt: float | None,
              lost: bool) -> None:
        """Publish the desired acceleration; parameters as in `ChainAdapter.cycle`."""
        node = self._node
        try:
            sent = node.send(self._accel, self._write, stamp,
                             self._law.accel(sensed, command, stamp, dt))
            reason = '' if sent else 'the desired acceleration is not finite'
            node.diagnostics.condition('law', OK, 'well again')
        except ArithmeticError as error:
            reason = 'the law failed'
            node.diagnostics.condition('law', ERROR, f'paper: {error}; the wheels brake')
        if reason:
            node.interlock.stop(reason, node.watch_time())
            self._law.reset(sensed)
            node.brake(stamp)

    def _on_dynamics(self, message: JointStateRead) -> None:
        node = self._node
        if not self._law.expects(message.stamp):
            return
        try:
            dynamics = node.efforts.read(message)
        except MessageError as error:
            node.diagnostics.refuse('dynamics_effort', error)
            return
        now = node.watch_time()
        node.alive.beat('dynamics_effort', now)
        torque = self._law.torque(message.stamp, dynamics)
        if not node.alive.lost(now):
            node.interlock.rearm(now)
            node.drive(torque, message.stamp)


def chain_adapter(law: PaperChain | CommandFollower) -> type[ChainAdapter]:
    """Return the adapter of the chain `law`."""
    return PaperAdapter if isinstance(law, PaperChain) else FollowerAdapter
