# SPDX-License-Identifier: Apache-2.0
"""
Node: gives ``cmd_vel`` to one of several sources, by the rules of twist_mux.py.

Reads the parameter file of the package twist_mux, ``topics.NAME`` and ``locks.NAME`` with
``topic``, ``timeout`` and ``priority``; config/twist_mux.yaml where none are given. Messages pass
as they are, so that the stamp of a command is that of its source.

Each lock is subscribed volatile, which every publisher matches. Once a publisher of its topic
offers transient local it is subscribed so, too: only that receives what was latched before this
node was started. Not earlier: `ros2 topic pub` warns of a subscription that it cannot serve.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.clock import Clock, ClockType
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from c3p_controller.command_guard import ZERO_COMMAND
from c3p_controller.command_lock import Lock
from c3p_controller.twist_mux import Input, TwistMux
from c3p_ros.diagnostics import OK, WARN
from c3p_ros.drive_commands import OPENING, Listeners
from c3p_ros.finite import check_message
from c3p_ros.messages import MessageError, ns_to_stamp, planar
from c3p_ros.mux_inputs import LOCKS, TOPICS, locks_of, shipped, sources_of
from c3p_ros.node import LATCHED, LATEST, RELIABLE, SuiteNode
from c3p_ros.parameters import ParameterError, overrides_of
from c3p_ros.session import run

# what publishers of a lock have latched; more than one publisher may have
KEPT = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# between two looks for such publishers, s
LOOK = 0.2


class TwistMuxNode(SuiteNode):
    """Adapter between topics and TwistMux."""

    OWN_GROUPS = (TOPICS, LOCKS)

    def __init__(self, **options: Any) -> None:
        """Create the mux, a subscription for each of its inputs, publishers and the watch."""
        super().__init__('twist_mux', Path(__file__).with_name(
            'twist_mux_parameters.yaml'), **options)
        values = self.parameters.value
        sources, locks = self._inputs()
        try:
            self._mux = TwistMux(sources, locks, self.watch_time(), resume=values.resume,
                                 start_silence=values.start_silence)
        except ValueError as error:
            raise ParameterError(f'twist_mux: {error}') from error
        # from when on commands are passed on
        self._open_at = math.inf
        self._passed = dict.fromkeys((source.name for source in sources), 0)
        self._shown: tuple[Any, ...] = ()
        self._kind = TwistStamped if values.use_stamped else Twist
        self._command = self.create_publisher(self._kind, 'cmd_vel', LATEST)
        self._listeners = Listeners(self._command, self.watch_time())
        self._locked = self.create_publisher(Bool, '~/locked', LATCHED)
        self._driving = self.create_publisher(String, '~/driving', LATCHED)
        for source in sources:
            self.create_subscription(
                self._kind, source.topic,
                lambda message, source=source: self._on_command(source, message), LATEST)
        for lock in locks:
            # not the newest alone: a button that was pressed for a moment counts
            self._listen(lock, RELIABLE)
        self.create_service(Trigger, '~/release', self._on_release)
        self._release_name = self.resolve_service_name('~/release')
        self._unkept = list(locks)
        self.watch(self._on_watch)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(LOOK, self._look_for_kept, clock=steady)
        self.create_timer(1.0, self._look_past)
        self._on_watch()

    def _inputs(self) -> tuple[list[Input], list[Lock]]:
        """Declare and return the sources and the locks."""
        given: dict[str, dict[str, Any]] = {TOPICS: {}, LOCKS: {}}
        for name, parameter in overrides_of(self).items():
            group, _, rest = name.partition('.')
            if group in given and parameter.value is not None:
                given[group][rest] = parameter.value
        if not any(given.values()):
            given = shipped()
        fixed = ParameterDescriptor(read_only=True)
        for group, entries in given.items():
            for key, value in entries.items():
                self.declare_parameter(f'{group}.{key}', value, fixed)
        return sources_of(given[TOPICS]), locks_of(given[LOCKS])

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics."""
        now = self.watch_time()
        return {'driving': self._mux.driving(now) or 'nobody',
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
        self._tell()

    def _listen(self, lock: Lock, profile: QoSProfile) -> None:
        """Subscribe to a lock."""
        kept = profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
        self.create_subscription(
            Bool, lock.topic, lambda message: self._on_lock(lock, message, kept), profile)

    def _look_for_kept(self) -> None:
        """Subscribe to what publishers of the locks have latched, where one has."""
        for lock in list(self._unkept):
            if any(end.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for end in
                   self.get_publishers_info_by_topic(self.resolve_topic_name(lock.topic))):
                self._unkept.remove(lock)
                self._listen(lock, KEPT)

    def _on_lock(self, lock: Lock, message: Bool, kept: bool) -> None:
        self._mux.lock(lock.name, message.data, self.watch_time(), kept=kept)
        self._on_watch()

    def _on_release(self, _: Trigger.Request, answer: Trigger.Response) -> Trigger.Response:
        """Open the locks that have not been heard since the start."""
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
        self._tell()

    def _open(self, now: float) -> bool:
        """Return whether commands are passed on: somebody listens, and has been told to stand."""
        # it may have missed the zero with which a source has begun, and would wait for another
        if self._listeners.found(now):
            self._open_at = now + OPENING
        return now >= self._open_at

    def _look_past(self) -> None:
        """Tell who else commands the robot: no lock stops that."""
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

    def _tell(self) -> None:
        """Publish who drives and what is locked when it has changed."""
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
        self._condition('start', unknown, 'not heard since the start and closed; key r of c3p '
                        f'teleop releases, or: ros2 service call {self._release_name} '
                        'std_srvs/srv/Trigger')
        self._condition('lock', [name for name in locks if name not in unknown],
                        'closed; nothing that it masks moves the robot')
        self._condition('waits', () if locks else waiting,
                        'was kept out; has to show zero, or fall silent, before it is followed')

    def _condition(self, name: str, who: Iterable[str], text: str) -> None:
        names = ', '.join(who)
        self.diagnostics.condition(name, WARN if names else OK, f'{names}: {text}' if names else
                                   'well again')


def main() -> int:
    """Run the node until Ctrl-C."""
    return run(TwistMuxNode)


if __name__ == '__main__':
    raise SystemExit(main())
