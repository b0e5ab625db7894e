# SPDX-License-Identifier: Apache-2.0
"""Topic with the reason why the velocity controller follows no command: both of its ends."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from std_msgs.msg import String

from c3p_ros.diagnostics import OK, WARN, Diagnostics, warned
from c3p_ros.node import LATCHED

# reports of the watch after which an unchanged lock is published again: one a second
REPEAT = 50


class LockReport:
    """
    Publisher of ``~/lock``, a String: why no command is followed, empty when one would be.

    Parameters
    ----------
    node : Node
    diagnostics : Diagnostics
    """

    def __init__(self, node: Node, diagnostics: Diagnostics) -> None:
        """Create the publisher."""
        self._publisher = node.create_publisher(String, '~/lock', LATCHED)
        self._diagnostics, self._lock, self._reports = diagnostics, None, 0

    def publish(self, lock: str) -> None:
        """Publish a lock that has changed."""
        if lock != self._lock:
            self._lock = lock
            self._publisher.publish(String(data=lock))

    def diagnose(self, lock: str, remedy: str, known: bool) -> None:
        """Publish the lock and show its remedy, unless its cause is `known` on /diagnostics."""
        self._reports += 1
        if self._reports % REPEAT == 0:
            # a subscriber must not keep what another publisher has sent
            self._lock = None
        self.publish(lock)
        self._diagnostics.condition('lock', *warned('' if known else remedy, 'unlocked'))


class LockWatch:
    """
    Subscription of ``velocity_controller/lock``.

    Parameters
    ----------
    node : Node
    diagnostics : Diagnostics
    changed : callable
        Called with the lock before (None: there was none) when a lock has come; returns whether
        the node has something to drive to.

    Attributes
    ----------
    lock : str
        As published; empty before the first message, and without a publisher.
    """

    def __init__(self, node: Node, diagnostics: Diagnostics, changed: Callable[[str | None], bool]
                 ) -> None:
        """Create the subscription."""
        self.lock = ''
        self._before: str | None = None
        self._diagnostics, self._changed = diagnostics, changed
        node.create_subscription(String, 'velocity_controller/lock', self._on_lock, LATCHED)

    def _on_lock(self, message: String) -> None:
        self.lock, before, self._before = message.data, self._before, message.data
        shown = self._changed(before) and bool(self.lock)
        self._diagnostics.condition('lock', WARN if shown else OK, (
            f'the velocity controller is locked: {self.lock}; zero commands until it is not')
            if shown else 'commands are followed')
