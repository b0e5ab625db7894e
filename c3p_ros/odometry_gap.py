# SPDX-License-Identifier: Apache-2.0
"""Odometry that pauses, and whether it is the same robot's when it comes back."""

from __future__ import annotations

import numpy as np
from rclpy.node import Node

from c3p_controller.goal_life import NO_ODOMETRY, RESTARTED, TIME_WENT_BACK
from c3p_controller.rearm import astray


class OdometryGap:
    """
    A pause of ``odom``, over which a goal may be kept.

    Parameters
    ----------
    node : Node

    Attributes
    ----------
    waits : bool
        It is waited for.
    """

    # a new publisher of either is another robot, or one that has begun anew
    TOPICS = ('odom', 'joint_states')

    def __init__(self, node: Node) -> None:
        """Wait for nothing."""
        self._node, self.waits = node, False
        self._known: dict[str, set[bytes]] = {}

    def mark(self) -> None:
        """Remember the publishers of now, to which the goal belongs."""
        self._known = {topic: self._publishers(topic) for topic in self.TOPICS}

    def new(self) -> str:
        """Return which topics have a publisher that was not there at `mark`, in words."""
        new = [topic for topic, known in self._known.items() if self._publishers(topic) - known]
        return f'{", ".join(new)} from a new publisher' if new else ''

    def ends(self, before: np.ndarray | None, pose: np.ndarray, gap: float,
             pace: tuple[float, float], back: bool) -> tuple[str, str]:
        """
        End the pause; return why the goal ends with it, empty when it does not, and a text.

        Parameters
        ----------
        before, pose : (3,) array, m and rad
            Last pose before the pause, and the first after it.
        gap : float, s
        pace : (float, float), m/s and rad/s
            Of the drive.
        back : bool
            The stamps went back.
        """
        self.waits = False
        what = 'time went back' if back else f'{gap:.2f} s without odometry'
        if new := self.new():
            return RESTARTED, f'{what}; {new}'
        if before is not None and (why := astray(before, pose, gap, *pace)):
            return TIME_WENT_BACK if back else NO_ODOMETRY, f'{what}; {why}'
        return '', f'goes on after {what}'

    def _publishers(self, topic: str) -> set[bytes]:
        return {bytes(info.endpoint_gid)
                for info in self._node.get_publishers_info_by_topic(topic)}
