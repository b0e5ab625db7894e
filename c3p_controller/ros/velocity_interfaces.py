# SPDX-License-Identifier: Apache-2.0
"""
ROS interfaces of the velocity controller: commands, lock, and an adapter for each kind of chain.

A chain from commands to torques needs one step per cycle, or two with the inverse dynamics node in
between. `FollowerAdapter` and `PaperAdapter` execute a cycle with one of them and return a
`Decision`, which `WheelOutput` carries out.
"""

from __future__ import annotations

from collections.abc import Callable
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
from c3p_controller.ros.wheel_output import NOTHING, ChainNode, Decision
from c3p_controller.torque_law import Preview, Sensed
from c3p_ros.chain_messages import JointStateMessage, TrajectoryMessage
from c3p_ros.diagnostics import ERROR, OK, Diagnostics, warned
from c3p_ros.messages import MessageError, stamp_to_ns, twist_of
from c3p_ros.node import LATCHED, LATEST, RELIABLE
from c3p_ros.trajectory_points import planar_points
from c3p_ros.wire import AccelWriter

# reports of the watch after which an unchanged lock is published again: one a second
REPEAT = 50

# report of a cycle in which the law worked
WELL = OK, 'well again'

CarryOut = Callable[[Decision, int, float], None]


class CommandedNode(Protocol):
    """The parts of a node that `subscribe_command` uses."""

    interlock: CommandInterlock
    diagnostics: Diagnostics

    def watch_time(self) -> float:
        """Return the time of the watchdogs, s."""

    def check_fresh(self, stamp: int, max_age: float) -> int:
        """Return the stamp, ns, of a command; MessageError if it is too old or ahead."""

    def create_subscription(self, kind: type, topic: str, callback: Callable[[Any], None],
                            profile: Any) -> Any:
        """Subscribe `callback` to `topic` of the type `kind`, with a QoS `profile`."""


def subscribe_command(node: CommandedNode, stamped: bool) -> None:
    """Subscribe ``cmd_vel``, Twist or TwistStamped, for the interlock of `node`."""
    interlock = node.interlock

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
        self._diagnostics = diagnostics
        self._reports = 0
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

    def connect(self, node: ChainNode, carry_out: CarryOut) -> None:
        """
        Create the publishers and subscriptions.

        `carry_out` takes decisions that a message brings after `cycle`, their stamps, ns, and the
        time of the watchdogs, s.
        """

    def cycle(self, sensed: Sensed, command: tuple[np.ndarray | None, int], stamp: int,
              dt: float | None, lost: bool) -> Decision:
        """
        Execute the cycle `stamp` of `sensed`; return what it decides.

        Parameters
        ----------
        sensed : Sensed
        command : ((3,) array or None, int)
            Twist, None to stop, and its stamp, ns.
        stamp : int, ns
        dt : float or None, s
            Since the last cycle; None after a reset.
        lost : bool
            A part of the chain is missing.
        """


class FollowerAdapter:
    """Cycle in one step: torques from command and preview."""

    PARTS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, chain: CommandFollower) -> None:
        """Take the chain."""
        self._chain = chain

    def connect(self, node: ChainNode, carry_out: CarryOut) -> None:
        """Subscribe to the preview."""
        def received(message: TrajectoryMessage) -> None:
            try:
                stamp = node.cycle_stamp(message.stamp, node.interlock.command_timeout)
                self._chain.take_preview(stamp, Preview(*planar_points(message, node.frame)))
            except ValueError as error:
                node.diagnostics.refuse('reference_trajectory', error)

        node.listen(MultiDOFJointTrajectory, 'reference_trajectory', received, LATEST)

    def cycle(self, sensed: Sensed, command: tuple[np.ndarray | None, int], stamp: int,
              dt: float | None, lost: bool) -> Decision:
        """Return the torques of the law, or braking; parameters as in `ChainAdapter.cycle`."""
        if lost:
            return NOTHING
        if dt is None:
            return Decision(brakes=True, report=WELL, rearms=True)
        try:
            torque = self._chain.step(sensed, *command, stamp, dt)
        except LawFailure as error:
            self._chain.reset(sensed)
            return Decision(brakes=True, stop='the law failed', rearms=True,
                            report=(ERROR, f'{error}; the wheels brake'))
        return Decision(torque, report=WELL, rearms=True)


class PaperAdapter:
    """Cycle in two steps: ``reference_acceleration``, and torques from ``dynamics_effort``."""

    PARTS: ClassVar[tuple[str, ...]] = ('dynamics_effort',)

    def __init__(self, chain: PaperChain) -> None:
        """Take the chain."""
        self._chain = chain
        self._write = AccelWriter('base_link', 'reference_acceleration')

    def connect(self, node: ChainNode, carry_out: CarryOut) -> None:
        """Create the publisher and the subscription."""
        self._node = node
        self._carry_out = carry_out
        self._accel = node.create_publisher(AccelStamped, 'reference_acceleration', RELIABLE)
        node.listen(JointState, 'dynamics_effort', self._on_dynamics, RELIABLE)

    def cycle(self, sensed: Sensed, command: tuple[np.ndarray | None, int], stamp: int,
              dt: float | None, lost: bool) -> Decision:
        """Publish the desired acceleration; parameters as in `ChainAdapter.cycle`."""
        try:
            accel = self._chain.accel(sensed, command[0], stamp, dt)
        except ArithmeticError as error:
            self._chain.reset(sensed)
            return Decision(brakes=True, stop='the law failed',
                            report=(ERROR, f'paper: {error}; the wheels brake'))
        if self._node.send(self._accel, self._write, stamp, accel):
            return Decision(report=WELL)
        self._chain.reset(sensed)
        return Decision(brakes=True, stop='the desired acceleration is not finite', report=WELL)

    def _on_dynamics(self, message: JointStateMessage) -> None:
        node = self._node
        if not self._chain.expects(message.stamp):
            return
        try:
            dynamics = node.efforts.read(message)
        except MessageError as error:
            node.diagnostics.refuse('dynamics_effort', error)
            return
        now = node.watch_time()
        node.alive.beat('dynamics_effort', now)
        torque = self._chain.torque(message.stamp, dynamics)
        if not node.alive.lost(now):
            node.interlock.rearm(now)
            self._carry_out(Decision(torque), message.stamp, now)


def chain_adapter(chain: PaperChain | CommandFollower) -> ChainAdapter:
    """Return the adapter of a chain."""
    return PaperAdapter(chain) if isinstance(chain, PaperChain) else FollowerAdapter(chain)
