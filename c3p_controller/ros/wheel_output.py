# SPDX-License-Identifier: Apache-2.0
"""
Topic ``wheel_effort`` of the velocity controller: what a cycle decides becomes torques.

While a commanded stop has no effect the topic is silent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple, Protocol

import numpy as np
from sensor_msgs.msg import JointState

from c3p_controller.brake_sense import BrakeSense
from c3p_controller.command_interlock import CommandInterlock
from c3p_controller.commanded_stop import (
    LEAST_EFFECT,
    MARGIN,
    STOPPED_SPEED,
    CommandedStop,
)
from c3p_description.model import CasterRobot
from c3p_dynamics.traction import braking_deceleration
from c3p_kinematics.ordered_stop import Effect, OrderedStop
from c3p_ros.cycle import Lifelines
from c3p_ros.diagnostics import ERROR, OK, Diagnostics
from c3p_ros.messages import EffortCoding
from c3p_ros.node import LATEST
from c3p_ros.parameters import Parameters
from c3p_ros.wire import JointStateWriter, Writer


class Decision(NamedTuple):
    """
    Result of a cycle, for the drives, the interlock and the diagnostics.

    Attributes
    ----------
    torque : (robot.efforts,) array or None
        Torques to publish, N·m; None without torques of the law.
    brakes : bool
        Without torques: publish braking ones.
    stop : str
        Reason for which the interlock locks the robot; '' without one.
    report : (level, text) or None
        State of the law for the diagnostics.
    rearms : bool
        The chain has answered: the interlock may re-arm.
    """

    torque: np.ndarray | None = None
    brakes: bool = False
    stop: str = ''
    report: tuple[bytes, str] | None = None
    rearms: bool = False


# of a cycle whose torques come later, or from elsewhere
NOTHING = Decision()


class ChainNode(Protocol):
    """The parts of the velocity controller node that its interfaces use."""

    robot: CasterRobot
    parameters: Parameters
    interlock: CommandInterlock
    diagnostics: Diagnostics
    alive: Lifelines
    efforts: EffortCoding
    frame: str

    def watch_time(self) -> float:
        """Return the time of the watchdogs, s."""

    def check_fresh(self, stamp: int, max_age: float) -> int:
        """Return the stamp, ns, of a command; MessageError if it is too old or ahead."""

    def cycle_stamp(self, stamp: int, max_age: float) -> int:
        """Return the stamp, ns, of a control cycle; MessageError if it cannot be used."""

    def listen(self, kind: type, topic: str, callback: Callable[[Any], None], profile: Any
               ) -> None:
        """Subscribe to a message type of the chain; parameters as in `SuiteNode.listen`."""

    def send(self, publisher: Any, writer: Writer, *arguments: Any, **values: Any) -> bool:
        """Send a message; return whether it could be made; parameters as in `SuiteNode.send`."""

    def create_subscription(self, kind: type, topic: str, callback: Callable[[Any], None],
                            profile: Any) -> Any:
        """Subscribe to another message type; parameters as in `listen`."""

    def create_publisher(self, kind: type, topic: str, profile: Any) -> Any:
        """Return a new publisher."""


class StopReport:
    """
    Watch of commanded stops: ERROR, a lock, and silence of ``wheel_effort``.

    A controller whose stop has no effect must not go on with the same torques. If they accelerate
    the robot, the brake that follows its effect replaces them (brake_sense.py). If that fails, or
    the robot does not slow down, the topic is silent: the gate of the drives brakes, and the
    hardware interface watches that in turn.

    Attributes
    ----------
    deceleration : float, m/s²
        Of the stop that is commanded; 0 for a command that moves.
    brakes : bool
        The stop has accelerated the robot: the brake takes its place as long as it stops.
    silent : bool
        A stop has no effect.
    """

    def __init__(self, node: ChainNode) -> None:
        """Start without a stop."""
        self._node = node
        self._stop = CommandedStop(node.robot)
        self._brake = OrderedStop(LEAST_EFFECT * braking_deceleration(node.robot), MARGIN,
                                  STOPPED_SPEED)
        self.deceleration = 0.0
        self.brakes = False
        self.silent = False

    def watch(self, now: float, wheel_rate: np.ndarray, lost: bool) -> None:
        """Take the wheel rates (n,), rad/s, at `now`, s; a `lost` chain brakes."""
        brake = self._node.parameters.value.stop_acceleration
        deceleration = brake if lost else self.deceleration
        stops = deceleration > 0.0
        self._stop.step(now, wheel_rate, stops, deceleration)
        braked = self.brakes
        self.brakes = self._stop.accelerates or (braked and stops)
        if self.brakes:
            self._brake.begin(now, self._stop.speed)
            self.silent = self._brake.step(now, self._stop.speed) in (Effect.LATE, Effect.GROWS)
        else:
            if braked:
                self._brake.end()
            self.silent = bool(self._stop.text)
        if self._stop.text:
            self._node.interlock.stop('the stop has no effect', now)

    def diagnose(self) -> None:
        """Report the stop."""
        text = self._stop.text
        self._node.diagnostics.condition('stop', ERROR if text else OK, text or 'takes effect')


class WheelOutput:
    """
    Publishes torques, braking torques, and zeros while the interlock opens.

    Parameters
    ----------
    node : ChainNode
    publish_lock : callable
        Takes the lock before each torque: subscribers learn a lock with its first cycle.
    stop : StopReport
        Silences the topic while a stop has no effect.

    Attributes
    ----------
    wheel_rate : (n,) array, rad/s
        Of the last sample, which the node sets.
    """

    def __init__(self, node: ChainNode, publish_lock: Callable[[str], None], stop: StopReport
                 ) -> None:
        """Create the publisher."""
        self._node = node
        self._publish_lock = publish_lock
        self._stop = stop
        self._write = JointStateWriter(node.efforts.names, ['effort'], 'wheel_effort')
        self._publisher = node.create_publisher(JointState, 'wheel_effort', LATEST)
        self.wheel_rate = np.zeros(node.robot.count)
        self._sense = BrakeSense(node.robot)
        self._largest = 0.0

    def largest(self) -> float:
        """Return the largest torque since the last call, N·m."""
        largest = self._largest
        self._largest = 0.0
        return largest

    def doubt(self, backwards: Collection[str]) -> None:
        """Watch the sense of the brake of these joints, whose wheels may count backwards."""
        self._sense.doubt(np.isin(self._node.robot.wheel_joints, list(backwards)))

    def carry_out(self, decision: Decision, stamp: int, now: float) -> None:
        """
        Publish the torques of a cycle, or brake, and report, as decided.

        `stamp`, ns, is that of the cycle, and `now`, s, the time of the watchdogs.
        """
        node = self._node
        if decision.stop:
            node.interlock.stop(decision.stop, now)
        if decision.torque is not None:
            self.drive(decision.torque, stamp, now)
        elif decision.brakes:
            self.brake(stamp, now)
        if decision.report is not None:
            node.diagnostics.condition('law', *decision.report)
        if decision.rearms:
            node.interlock.rearm(now)

    def brake(self, stamp: int, now: float) -> None:
        """Publish braking torques; zero where the wheel rates are ambiguous; as `carry_out`."""
        node = self._node
        values = node.parameters.value
        trusted = not node.alive.lack
        self.drive(self._sense.torque(now, trusted * self.wheel_rate, values.stop_damping,
                                      values.standstill_speed), stamp, now, brakes=True)

    def drive(self, torque: np.ndarray, stamp: int, now: float, brakes: bool = False) -> None:
        """Publish torques, N·m; torques that are not finite stop the robot; as `carry_out`."""
        node = self._node
        if self._stop.brakes and not brakes:
            self.brake(stamp, now)
            return
        if node.interlock.opening(now):
            torque = np.zeros(node.robot.efforts)
        self._publish_lock(node.interlock.lock)
        if self._stop.silent:
            return
        if node.send(self._publisher, self._write, stamp, effort=node.efforts.encode(torque)):
            self._largest = max(self._largest, *map(abs, torque.tolist()))
        elif not brakes:
            node.interlock.stop('the torque is not finite', now)
            self.brake(stamp, now)
