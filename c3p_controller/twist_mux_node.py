# SPDX-License-Identifier: Apache-2.0
"""
Node: multiplexes sources of velocity commands to ``cmd_vel``, by the rules of twist_mux.py.

Reads the parameter file of the package twist_mux, ``topics.NAME`` and ``locks.NAME`` with
``topic``, ``timeout`` and ``priority``; config/twist_mux.yaml by default. Messages are forwarded
unchanged, with the stamp of their source.

The subscription of each lock is volatile, which matches every publisher. Once a publisher of its
topic offers transient local, a second one is transient local, for messages latched before the
start of this node. Not earlier: `ros2 topic pub` warns of an incompatible subscription.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.clock import Clock, ClockType
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from c3p_controller.command_interlock import ZERO_COMMAND
from c3p_controller.command_lock import Lock
from c3p_controller.ros.drive_commands import OPENING, Listeners
from c3p_controller.ros.mux_inputs import LOCKS, TOPICS, declared_inputs
from c3p_controller.twist_mux import Input, TwistMux
from c3p_ros.diagnostics import OK, WARN
from c3p_ros.finite import check_message
from c3p_ros.messages import MessageError, ns_to_stamp, planar
from c3p_ros.node import LATCHED, LATEST, RELIABLE, SuiteNode
from c3p_ros.parameters import ParameterError
from c3p_ros.session import run

# latched messages of the publishers of a lock
KEPT = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# period of the search for such publishers, s
LOOK = 0.2


class TwistMuxNode(SuiteNode):
    """Adapter between topics and TwistMux."""

    OWN_GROUPS = (TOPICS, LOCKS)

    def __init__(self, **options: Any) -> None:
        """Create the mux, a subscription for each of its inputs, publishers and the watch."""
        super().__init__('twist_mux', Path(__file__).with_name(
            'twist_mux_parameters.yaml'), **options)
        values = self.parameters.value
        sources, locks = declared_inputs(self)
        try:
            self._mux = TwistMux(sources, locks, self.watch_time(), resume=values.resume,
                                 start_silence=values.start_silence)
        except ValueError as error:
            raise ParameterError(f'twist_mux: {error}') from error
        # time from which commands are forwarded
        self._open_at = math.inf
        self._passed = dict.fromkeys((source.name for source in sources), 0)
        self._shown: tuple[Any, ...] = ()
        self._kind = TwistStamped if values.use_stamped else Twist
        self._command = self.create_publisher(self._kind, 'cmd_vel', LATEST)
        self._listeners = Listeners(self._command, self.watch_time())
        self._locked = self.create_publisher(Bool, '~/locked', LATCHED)
        self._driving = self.create_publisher(String, '~/driving', LATCHED)
        for source in sources:
            self.create_subscription(self._kind, source.topic,
                                     partial(self._on_command, source), LATEST)
        for lock in locks:
            # every message counts: a button may be pressed for a moment
            self._listen(lock, RELIABLE)
        self.create_service(Trigger, '~/release', self._on_release)
        self._release_name = self.resolve_service_name('~/release')
        self._unkept = list(locks)
        self.watch(self._on_watch)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(LOOK, self._look_for_kept, clock=steady)
        self.create_timer(1.0, self._look_past)
        self._on_watch()

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics."""
        now = self.watch_time()
        return {'driving': self._mux.driving(now) or 'none',
                'lock priority': self._mux.lock_priority(now),
                **{f'{name} passed': count for name, count in self._passed.items()}}

    def _on_command(self, source: Input, message: Any) -> None:
        twist = message.twist if self._kind is TwistStamped else message
        parts = (twist.linear.x, twist.linear.y, twist.linear.z,
                 twist.angular.x, twist.angular.y, twist.angular.z)
        try:
            planar(parts, 'twist')
        except MessageError as error:
            self.diagnostics.refuse(source.topic, error)
            return
        neutral = all(abs(part) <= ZERO_COMMAND for part in parts)
        now = self.watch_time()
        if self._mux.command(source.name, neutral, now) and self._open(now):
            self._passed[source.name] += 1
            if not self.send(self._command, check_message, 'cmd_vel', message):
                self._command.publish(self._zero())
        self._report()

    def _listen(self, lock: Lock, profile: QoSProfile) -> None:
        """Subscribe to a lock."""
        kept = profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
        self.create_subscription(
            Bool, lock.topic, lambda message: self._on_lock(lock, message, kept), profile)

    def _look_for_kept(self) -> None:
        """Subscribe to the latched messages of the locks, where a publisher latches."""
        for lock in list(self._unkept):
            if any(end.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for end in
                   self.get_publishers_info_by_topic(self.resolve_topic_name(lock.topic))):
                self._unkept.remove(lock)
                self._listen(lock, KEPT)

    def _on_lock(self, lock: Lock, message: Bool, kept: bool) -> None:
        self._mux.lock(lock.name, message.data, self.watch_time(), kept=kept)
        self._on_watch()

    def _on_release(self, _: Trigger.Request, answer: Trigger.Response) -> Trigger.Response:
        """Open the locks whose state is unknown since the start."""
        opened = ', '.join(self._mux.release(self.watch_time()))
        closed = ', '.join(self._mux.locks(self.watch_time()))
        self._on_watch()
        answer.success = not closed
        answer.message = (f'{closed}: pressed; publish false on its topic' if closed else
                          f'{opened}: released' if opened else 'nothing to release')
        self.get_logger().info(f'release: {answer.message}')
        return answer

    def _on_watch(self) -> None:
        now = self.watch_time()
        self._mux.look(now)
        if self._mux.halting(now) or not self._open(now):
            self._command.publish(self._zero())
        self._report()

    def _open(self, now: float) -> bool:
        """Return whether commands are forwarded: a matched subscriber has received zeros."""
        # it may have missed the first zero of the source, and would not re-arm without another
        if self._listeners.found(now):
            self._open_at = now + OPENING
        return now >= self._open_at

    def _look_past(self) -> None:
        """Report other publishers of ``cmd_vel``: locks do not stop them."""
        own = (self.get_name(), self.get_namespace())
        others = sorted({end.node_name for end in self.get_publishers_info_by_topic(
            self._command.topic_name) if (end.node_name, end.node_namespace) != own})
        self._condition('past', others, f'publishes {self._command.topic_name} past all '
                        'priorities and locks; remap it to a source')

    def _zero(self) -> Any:
        message = self._kind()
        if self._kind is TwistStamped:
            message.header.stamp = ns_to_stamp(self.now_ns())
            message.header.frame_id = 'base_link'
        return message

    def _report(self) -> None:
        """Publish the driving source and the locks when they have changed."""
        now, before = self.watch_time(), self._shown
        locks, waiting = self._mux.locks(now), self._mux.waiting(now)
        unknown = self._mux.unknown()
        self._shown = (self._mux.locked(now), self._mux.driving(now), locks, waiting, unknown)
        if self._shown == before:
            return
        if self._shown[:1] != before[:1]:
            self._locked.publish(Bool(data=self._shown[0]))
        if self._shown[1:2] != before[1:2]:
            self._driving.publish(String(data=self._shown[1]))
        self._condition('start', unknown, 'unknown since the start and closed; key r of c3p '
                        f'teleop releases, or: ros2 service call {self._release_name} '
                        'std_srvs/srv/Trigger')
        self._condition('lock', [name for name in locks if name not in unknown],
                        'closed; the sources that it masks are stopped')
        self._condition('waits', () if locks else waiting,
                        'was masked; resumes after a zero command, or silence')

    def _condition(self, name: str, sources: Iterable[str], text: str) -> None:
        names = ', '.join(sources)
        self.diagnostics.condition(name, WARN if names else OK, f'{names}: {text}' if names else
                                   'well again')


def main() -> int:
    """Run the node until Ctrl-C."""
    return run(TwistMuxNode)


if __name__ == '__main__':
    raise SystemExit(main())
