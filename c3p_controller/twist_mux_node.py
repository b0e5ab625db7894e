# SPDX-License-Identifier: Apache-2.0
"""
Node: multiplexes sources of velocity commands to ``cmd_vel``, by the rules of twist_mux.py.

Reads the parameter file of the package twist_mux, ``topics.NAME`` and ``locks.NAME`` with
``topic``, ``timeout`` and ``priority``; config/twist_mux.yaml by default. Messages are forwarded
unchanged, with the stamp of their source. ``enables.NAME`` are enabling devices of sources
(ros/enable_inputs.py).

Every publisher of a lock is received, reliable or not (ros/lock_inputs.py). As long as a lock has
one of another message type it is closed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.clock import Clock, ClockType
from std_srvs.srv import Trigger

from c3p_controller.command_interlock import ZERO_COMMAND
from c3p_controller.ros.drive_commands import OPENING, Listeners
from c3p_controller.ros.enable_inputs import EnableInput
from c3p_controller.ros.lock_inputs import LockInput
from c3p_controller.ros.mux_inputs import ENABLES, LOCKS, TOPICS, declared_inputs
from c3p_controller.ros.mux_report import MuxReport
from c3p_controller.twist_mux import Input, TwistMux
from c3p_ros.diagnostics import ERROR, WARN
from c3p_ros.finite import check_message
from c3p_ros.messages import MessageError, ns_to_stamp, planar
from c3p_ros.node import LATEST, SuiteNode
from c3p_ros.parameters import ParameterError
from c3p_ros.session import run

# period of the search for publishers of a lock that latch, s
LOOK = 0.2


class TwistMuxNode(SuiteNode):
    """Adapter between topics and TwistMux."""

    OWN_GROUPS = (TOPICS, LOCKS, ENABLES)
    # a publisher that is not received closes its lock within this time, s
    input_period = 0.1

    def __init__(self, **options: Any) -> None:
        """Create the mux, a subscription for each of its inputs, publishers and the watch."""
        super().__init__('twist_mux', Path(__file__).with_name(
            'twist_mux_parameters.yaml'), **options)
        values = self.parameters.value
        sources, locks, enables = declared_inputs(self)
        try:
            self._mux = TwistMux(sources, [*locks, *(device.lock() for device in enables)],
                                 self.watch_time(), resume=values.resume,
                                 start_silence=values.start_silence)
        except ValueError as error:
            raise ParameterError(f'twist_mux: {error}') from error
        # time from which commands are forwarded
        self._open_at = math.inf
        self._passed = dict.fromkeys((source.name for source in sources), 0)
        self._kind = TwistStamped if values.use_stamped else Twist
        self._command = self.create_publisher(self._kind, 'cmd_vel', LATEST)
        self._listeners = Listeners(self._command, self.watch_time())
        self._show = MuxReport(self, self._mux)
        for source in sources:
            self.create_subscription(self._kind, source.topic,
                                     partial(self._on_command, source), LATEST)
        self._locks = [LockInput(self, lock, self._on_lock) for lock in locks]
        for device in enables:
            EnableInput(self, device, self._on_lock)
        self.create_service(Trigger, '~/release', self._on_release)
        self.watch(self._on_watch)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(LOOK, self._look_for_kept, clock=steady)
        self.create_timer(1.0, lambda: self._show.look_past(self._command))
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
            if not self.send_typed(self._command, check_message, 'cmd_vel', message):
                self._command.publish(self._zero())
        self._show.publish(self.watch_time())

    def _look_for_kept(self) -> None:
        for lock in self._locks:
            lock.look_for_kept()

    def _on_lock(self, name: str, pressed: bool, **how: bool) -> None:
        self._mux.lock(name, pressed, self.watch_time(), **how)
        self._on_watch()

    def compare_inputs(self) -> None:
        """Close the locks that have a publisher which is not received."""
        super().compare_inputs()
        for lock in self._locks:
            self._mux.set_unheard(lock.name, lock.topic in self.inputs.unheard, self.watch_time())
        self._on_watch()

    def input_level(self, topic: str) -> bytes:
        """Return ERROR for a lock: a press would not stop the robot."""
        return ERROR if any(topic == lock.topic for lock in self._locks) else WARN

    def report_input(self, topic: str, node: str, text: str) -> None:
        """Report a publisher that is not received, and that its lock is closed."""
        closed = '; the lock is closed' if self.input_level(topic) == ERROR else ''
        super().report_input(topic, node, text and text + closed)

    def _on_release(self, _: Trigger.Request, answer: Trigger.Response) -> Trigger.Response:
        """Open the locks whose state is unknown."""
        self.compare_inputs()
        opened = ', '.join(self._mux.release(self.watch_time()))
        now = self.watch_time()
        unheard = self._mux.unheard()
        pressed = ', '.join(name for name in self._mux.locks(now) if name not in unheard)
        self._on_watch()
        reasons = [f'{lock.topic} from {node} not received: {reason}' for lock in self._locks
                   for node, reason in self.inputs.unheard.get(lock.topic, {}).items()]
        if pressed:
            reasons.append(f'{pressed}: pressed; publish false on its topic')
        answer.success = not reasons
        answer.message = ('; '.join(reasons) if reasons else
                          f'{opened}: released' if opened else 'nothing to release')
        self.get_logger().info(f'release: {answer.message}')
        return answer

    def _on_watch(self) -> None:
        now = self.watch_time()
        self._mux.look(now)
        if self._mux.halting(now) or not self._open(now):
            self._command.publish(self._zero())
        self._show.publish(now)

    def _open(self, now: float) -> bool:
        """Return whether commands are forwarded: a matched subscriber has received zeros."""
        # it may have missed the first zero of the source, and would not re-arm without another
        self._listeners.look(now)
        if self._listeners.new:
            self._open_at = now + OPENING
        return now >= self._open_at

    def _zero(self) -> Any:
        message = self._kind()
        if self._kind is TwistStamped:
            message.header.stamp = ns_to_stamp(self.now_ns())
            message.header.frame_id = 'base_link'
        return message


def main() -> int:
    """Run the node until Ctrl-C."""
    return run(TwistMuxNode)


if __name__ == '__main__':
    raise SystemExit(main())
