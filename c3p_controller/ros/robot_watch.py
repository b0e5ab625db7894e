# SPDX-License-Identifier: Apache-2.0
"""Watches of the position controller: lock of the velocity controller, gaps of the odometry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rclpy.node import Node
from std_msgs.msg import String

from c3p_controller.goals.goal_life import NO_ODOMETRY, RESTARTED, TIME_WENT_BACK
from c3p_controller.goals.rearm import astray
from c3p_ros.cdr import MessageError
from c3p_ros.cycle import Lifeline
from c3p_ros.diagnostics import OK, WARN, Diagnostics
from c3p_ros.node import LATCHED


class LockWatch:
    """
    Subscription of ``velocity_controller/lock``.

    `changed` is called on each lock, with the one before (None at first), and returns whether a
    goal is active. `lock` is empty before the first message, and without a publisher.
    """

    def __init__(self, node: Node, diagnostics: Diagnostics, changed: Callable[[str | None], bool]
                 ) -> None:
        """Create the subscription."""
        self.lock = ''
        self._before: str | None = None
        self._diagnostics = diagnostics
        self._changed = changed
        node.create_subscription(String, 'velocity_controller/lock', self._on_lock, LATCHED)

    def _on_lock(self, message: String) -> None:
        self.lock, before, self._before = message.data, self._before, message.data
        shown = self._changed(before) and bool(self.lock)
        self._diagnostics.condition('lock', WARN if shown else OK, (
            f'the velocity controller is locked: {self.lock}; zero commands until it is not')
            if shown else 'commands are followed')


class OdometryGap(Lifeline):
    """Odometry with gaps, over which a goal may be kept; `waits` is true in a gap."""

    # a new publisher of either is a restarted or another robot; the graph may list the first one
    # of joint_states after a goal: the node does not subscribe to it
    TOPICS = ('odom', 'joint_states')

    def __init__(self, node: Node, timeout: float) -> None:
        """Start without a gap."""
        super().__init__(timeout)
        self._node = node
        self.waits = False
        self._known: dict[str, set[bytes]] = {}

    def require(self, now: float) -> None:
        """Raise MessageError for a goal when the odometry is lost at `now`, s."""
        if self.lost(now):
            raise MessageError(f'no odometry for {self.age(now):.2f} s; send it again when it '
                               'comes')

    def mark(self) -> None:
        """Keep the present publishers: the goal belongs to them."""
        self._known = {topic: self._publishers(topic) for topic in self.TOPICS}

    def discover(self) -> None:
        """Keep the publishers of a topic that had none known so far: discovery takes its time."""
        for topic, known in self._known.items():
            if not known:
                self._known[topic] = self._publishers(topic)

    def new(self) -> str:
        """Return a report of the publishers that replace those of `mark`; empty without any."""
        new = [topic for topic, known in self._known.items()
               if known and self._publishers(topic) - known]
        return f'{", ".join(new)} from a new publisher' if new else ''

    def ends(self, before: np.ndarray | None, pose: np.ndarray, gap: float,
             pace: tuple[float, float], back: bool) -> tuple[str, str]:
        """
        End the gap; return the reason for which the goal ends, empty if it is kept, and a text.

        `before` and `pose` (3,) are the last pose before the `gap`, s, and the first after it;
        `pace` is the largest speed and yaw rate of the drive; `back` is true if the stamps went
        back.
        """
        self.waits = False
        cause = 'time went back' if back else f'{gap:.2f} s without odometry'
        if new := self.new():
            return RESTARTED, f'{cause}; {new}'
        if before is not None and (why := astray(before, pose, gap, *pace)):
            return TIME_WENT_BACK if back else NO_ODOMETRY, f'{cause}; {why}'
        return '', f'goes on after {cause}'

    def _publishers(self, topic: str) -> set[bytes]:
        return {bytes(info.endpoint_gid)
                for info in self._node.get_publishers_info_by_topic(topic)}
