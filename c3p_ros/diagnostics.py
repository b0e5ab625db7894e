# SPDX-License-Identifier: Apache-2.0
"""Diagnostics of a node on /diagnostics (REP 107): conditions, dropped messages, metrics."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from c3p_ros.cdr import EarlyMessageError, OtherJointsError, PublishError
from c3p_ros.cycle import RepeatedStamp
from c3p_ros.fault_codes.code import FAULT_CODES, joined
from c3p_ros.fault_codes.table import condition_code, message_code

OK = DiagnosticStatus.OK
WARN = DiagnosticStatus.WARN
ERROR = DiagnosticStatus.ERROR
STALE = DiagnosticStatus.STALE

# first status after the start of a node, s: others wait for it
FIRST = 0.1

# for how long a rejected message stays a warning, s; the count stays
REFUSAL_SHOWN = 5.0
# letters of its reason that are shown: it may quote the message
LONGEST_REASON = 400

REFUSED = 'refused'
UNREAD = 'recorded unread'
NOT_PUBLISHED = 'not published'
# counted, neither logged nor shown as a warning: repeated stamps of simulated time, and messages
# of other devices
REPEATED = 'with a repeated stamp'
OF_OTHERS = 'of other joints'


def warned(text: str, well: str = '') -> tuple[bytes, str]:
    """Return level and message of a condition: a warning with `text`, or OK when it is empty."""
    return (WARN, text) if text else (OK, well)


class Diagnostics:
    """
    One DiagnosticStatus per node: soon, once a second, and at once when its level changes.

    Parameters
    ----------
    node : Node
    hardware_id : str
        Name of the robot.
    values : callable, optional
        Returns the metrics; called once a second.
    kind : str
        Name of the node without remapping, for the codes of its conditions.

    Attributes
    ----------
    more : callable
        Returns further statuses, of the node's devices.
    """

    def __init__(self, node: Node, hardware_id: str,
                 values: Callable[[], Mapping[str, Any]] = dict, kind: str = '') -> None:
        """Create publisher and timer."""
        self._node = node
        self._hardware_id = hardware_id
        self._values = values
        self._kind = kind
        self.more: Callable[[], Sequence[DiagnosticStatus]] = tuple
        # level, text and codes; empty codes are those of the text
        self._conditions: dict[str, tuple[bytes, str, str]] = {}
        # (topic, kind of drop): count, time of the last, reason
        self._dropped: dict[tuple[str, str], tuple[int, float, str]] = {}
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        # nodes of one process, which begin together, publish apart from each other
        part = zlib.crc32(node.get_fully_qualified_name().encode()) / 2**32
        self._waits = iter((0.5 + 0.5 * part, 1.0))
        self._timer = node.create_timer(FIRST, self._begin, clock=self._steady)

    def _begin(self) -> None:
        """Publish soon after the start, within a second after that, and then once a second."""
        wait = next(self._waits, None)
        if wait is None:
            # a process that has stood still calls a timer several times, also a destroyed one
            return
        self._node.destroy_timer(self._timer)
        self._timer = self._node.create_timer(wait, self._begin if wait < 1.0 else self.publish,
                                              clock=self._steady)
        self.publish()

    def condition(self, name: str, level: bytes, message: str, calm: bool = False,
                  codes: str = '') -> None:
        """
        Set the state of `name` to `level` with `message`; OK clears it.

        A change is logged and published at once; a `calm` one, as every start has, is logged as
        information. `codes` replace the code of the condition.
        """
        before = self._conditions.get(name, (OK, '', ''))
        if level == OK:
            self._conditions.pop(name, None)
        else:
            self._conditions[name] = (level, message, codes)
        if before[0] == level:
            return
        logger = self._node.get_logger()
        # rclpy ties each call site to one severity, hence three lines
        if level == ERROR:
            logger.error(f'{name}: {message}')
        elif level == OK or calm:
            logger.info(f'{name}: {message or "recovered"}')
        else:
            logger.warning(f'{name}: {message}')
        self.publish()

    def refuse(self, topic: str, reason: object) -> None:
        """
        Count a rejected message and show the reason as a warning.

        An OtherJointsError is counted without a warning. With ``use_sim_time`` a RepeatedStamp is,
        too: controllers stamp with the /clock that they have received, which may lag behind their
        samples.
        """
        if isinstance(reason, OtherJointsError):
            self._count(topic, OF_OTHERS)
        elif isinstance(reason, RepeatedStamp) and getattr(self._node, 'simulated_time', False):
            self._count(topic, REPEATED)
        else:
            self._drop(topic, REFUSED, reason)

    def _count(self, topic: str, how: str) -> None:
        self._dropped[topic, how] = (self.count(topic, how) + 1, -REFUSAL_SHOWN, '')

    def unread(self, topic: str, reason: object) -> None:
        """Count a message recorded without being read, and show the reason as a warning."""
        self._drop(topic, UNREAD, reason)

    def withhold(self, error: PublishError) -> None:
        """Count a withheld message and show the reason as an error; from any thread."""
        self._drop(error.topic, NOT_PUBLISHED, error.text)

    def _drop(self, topic: str, how: str, reason: object) -> None:
        count, last, _ = self._dropped.get((topic, how), (0, -REFUSAL_SHOWN, ''))
        now = time.monotonic()
        text = f'{reason}'[:LONGEST_REASON]
        self._dropped[topic, how] = (count + 1, now, text)
        if now - last >= REFUSAL_SHOWN:
            logger = self._node.get_logger()
            # rclpy ties each call site to one severity
            if how == NOT_PUBLISHED:
                logger.error(f'{topic} {how}: {text}')
            elif isinstance(reason, EarlyMessageError):
                logger.info(f'{topic} not used yet: {text}')
            else:
                logger.warning(f'{topic} {how}: {text}')
            self.publish()

    def refused(self, topic: str) -> int:
        """Return the number of rejected messages of `topic`."""
        return self.count(topic, REFUSED)

    def count(self, topic: str, how: str) -> int:
        """Return the number of messages of `topic` that were REFUSED, UNREAD, OF_OTHERS, …."""
        return self._dropped.get((topic, how), (0, 0.0, ''))[0]

    def status(self) -> DiagnosticStatus:
        """Return the present state as a message."""
        now = time.monotonic()
        reasons = [(level, f'{name}: {text}', codes or condition_code(self._kind, name, text))
                   for name, (level, text, codes) in self._conditions.items()]
        # a copy: a thread may drop a message meanwhile
        dropped = tuple(self._dropped.items())
        reasons += [(ERROR if how == NOT_PUBLISHED else WARN, f'{topic} {how}: {reason}',
                     message_code(how, reason))
                    for (topic, how), (_, last, reason) in dropped if now - last < REFUSAL_SHOWN]
        reasons.sort(key=lambda r: r[0], reverse=True)
        status = DiagnosticStatus(
            level=reasons[0][0] if reasons else OK,
            name=f'{self._node.get_fully_qualified_name().lstrip("/")}: state',
            message='; '.join(text for _, text, _ in reasons) or 'OK',
            hardware_id=self._hardware_id)
        values = {FAULT_CODES: joined(codes for _, _, codes in reasons), **self._values()}
        values.update({f'{topic} {how}': count for (topic, how), (count, _, _) in dropped})
        status.values = [KeyValue(key=str(k), value=str(v)) for k, v in values.items()]
        return status

    def publish(self) -> None:
        """Publish the present state."""
        message = DiagnosticArray(status=[self.status(), *self.more()])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)
