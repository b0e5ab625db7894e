# SPDX-License-Identifier: Apache-2.0
"""Flight recorder of a node with a SnapshotWriter: service, fault watch and pump."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from std_srvs.srv import Trigger

from c3p_bags.recorder.readers import read_message
from c3p_bags.recorder.snapshots import FaultWatch, SnapshotWriter

DIAGNOSTICS = 'diagnostic_msgs/msg/DiagnosticArray'

# period at which a snapshot is continued, s
PUMP_PERIOD = 0.01


class FlightRecorder:
    """
    Triggers snapshots on ``~/snapshot`` and on errors, and writes them in parts.

    `now` returns the time of the recording [ns], `disk` a context that handles disk errors.
    """

    def __init__(self, node: Node, writer: SnapshotWriter, now: Callable[[], int],
                 disk: Callable[[], AbstractContextManager[None]]) -> None:
        """Create the service."""
        self._node = node
        self._writer = writer
        self._now = now
        self._disk = disk
        self._watch = FaultWatch(node.get_fully_qualified_name().lstrip('/'))
        node.create_service(Trigger, '~/snapshot', self._on_service)
        # runs only during a snapshot, also while simulated time does not advance
        self._pump = node.create_timer(PUMP_PERIOD, self._on_pump,
                                       clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._pump.cancel()

    def diagnostics(self, _: int, data: bytes) -> None:
        """
        Trigger a snapshot for each new error in a serialised DiagnosticArray.

        Raises MessageError; see `read_message`.
        """
        message = read_message(self._writer.types, data, DIAGNOSTICS)
        for reason in self._watch.look((s.name, s.level, s.message) for s in message.status):
            self.take(reason)

    def take(self, reason: str) -> Path | None:
        """Begin or prolong a snapshot; return its bag, None at the limit of snapshots."""
        path = None
        with self._disk():
            path = self._writer.trigger(reason, self._now())
            self._pump.reset()
            self._node.get_logger().warning(
                f'snapshot {path or "not written: limit reached"}: {reason}')
        return path

    def _on_service(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        path = self.take('~/snapshot')
        response.success = path is not None
        response.message = str(path or 'not written: see /diagnostics and snapshot.most')
        return response

    def _on_pump(self) -> None:
        with self._disk():
            self._writer.expire(self._now())
            if self._writer.pump():
                return
            self._node.get_logger().info(f'{self._writer.snapshots[-1]} is complete')
        self._pump.cancel()
