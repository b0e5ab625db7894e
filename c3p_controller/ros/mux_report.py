# SPDX-License-Identifier: Apache-2.0
"""Reports of the mux: driving source and lock on topics, reasons in the diagnostics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rclpy.publisher import Publisher
from std_msgs.msg import Bool, String

from c3p_controller.twist_mux import TwistMux
from c3p_ros.diagnostics import OK, WARN
from c3p_ros.node import LATCHED, SuiteNode


class MuxReport:
    """
    Publisher of ``~/locked`` and ``~/driving``, and the conditions of the mux.

    Parameters
    ----------
    node : SuiteNode
    mux : TwistMux
    """

    def __init__(self, node: SuiteNode, mux: TwistMux) -> None:
        """Create the publishers."""
        self._node = node
        self._mux = mux
        self._shown: tuple[Any, ...] = ()
        self._locked = node.create_publisher(Bool, '~/locked', LATCHED)
        self._driving = node.create_publisher(String, '~/driving', LATCHED)
        self._release = node.resolve_service_name('~/release')

    def publish(self, now: float) -> None:
        """Publish the driving source and the locks when they have changed."""
        before = self._shown
        mux = self._mux
        locks = mux.locks(now)
        waiting = mux.waiting(now)
        unknown = mux.unknown()
        disabled = mux.disabled(now)
        self._shown = (mux.locked(now), mux.driving(now), locks, waiting, unknown, disabled)
        if self._shown == before:
            return
        if self._shown[:1] != before[:1]:
            self._locked.publish(Bool(data=self._shown[0]))
        if self._shown[1:2] != before[1:2]:
            self._driving.publish(String(data=self._shown[1]))
        self._condition('start', unknown, 'unknown since the start or an unheard publisher, and '
                        f'closed; key r of c3p teleop releases, or: ros2 service call '
                        f'{self._release} std_srvs/srv/Trigger')
        self._condition('lock', [name for name in locks if name not in unknown],
                        'closed; the sources that it masks are stopped')
        self._condition('enable', disabled, 'sends commands, but its enabling device is not held')
        self._condition('waits', () if locks else waiting,
                        'was masked; resumes after a zero command, or silence')

    def look_past(self, command: Publisher) -> None:
        """Report other publishers of the topic of `command`: locks do not stop them."""
        node = self._node
        own = (node.get_name(), node.get_namespace())
        others = sorted({end.node_name for end in node.get_publishers_info_by_topic(
            command.topic_name) if (end.node_name, end.node_namespace) != own})
        self._condition('past', others, f'publishes {command.topic_name} past all '
                        'priorities and locks; remap it to a source')

    def _condition(self, name: str, sources: Iterable[str], text: str) -> None:
        names = ', '.join(sources)
        self._node.diagnostics.condition(name, WARN if names else OK,
                                         f'{names}: {text}' if names else 'well again')
