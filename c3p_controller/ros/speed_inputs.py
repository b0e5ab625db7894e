# SPDX-License-Identifier: Apache-2.0
"""
Subscriptions of requests to drive slowly, and the limits that follow.

``speed_limit`` is a nav2_msgs/SpeedLimit, as of Nav2's speed filter, where that package is
installed; ``reduced_speed`` a Bool, as of a safety scanner, where the mode has a speed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from std_msgs.msg import Bool

from c3p_controller.speed_reduction import ReducedSpeed, SpeedReduction
from c3p_ros.diagnostics import OK, WARN
from c3p_ros.node import ANY_RELIABILITY, RELIABLE, SuiteNode

try:
    from nav2_msgs.msg import SpeedLimit
except ImportError:  # nav2_msgs comes with Nav2, not from the package registries
    SpeedLimit = None


class SpeedInputs:
    """
    Requests of a node with the parameters ``speed_limit``, ``yaw_rate_limit`` and ``reduced``.

    Parameters
    ----------
    node : SuiteNode
    apply : callable
        Called when `speed`, `yaw_rate` or the parameters have changed.

    Attributes
    ----------
    speed, yaw_rate : float, m/s and rad/s
        Limits that apply.
    """

    def __init__(self, node: SuiteNode, apply: Callable[[], None]) -> None:
        """Subscribe."""
        values = node.parameters.value
        mode = values.reduced
        self._node = node
        self._apply = apply
        self._reduction = SpeedReduction(ReducedSpeed(mode.speed_limit, mode.yaw_rate_limit,
                                                      mode.timeout))
        self.speed, self.yaw_rate = self._limits()
        if SpeedLimit is not None:
            node.create_subscription(SpeedLimit, 'speed_limit', self._on_limit, RELIABLE)
        if mode.speed_limit > 0.0:
            node.create_subscription(Bool, 'reduced_speed', self._on_reduced, ANY_RELIABILITY)

    def _limits(self) -> tuple[float, float]:
        values = self._node.parameters.value
        return self._reduction.limits(values.speed_limit, values.yaw_rate_limit,
                                      self._node.watch_time())

    def _on_limit(self, message: Any) -> None:
        try:
            self._reduction.limit(message.percentage, message.speed_limit)
        except ValueError as error:
            self._node.diagnostics.refuse('speed_limit', error)
        self.look()

    def _on_reduced(self, message: Bool) -> None:
        self._reduction.reduce(message.data, self._node.watch_time())
        self.look()

    def limited(self) -> Any:
        """Return the parameters of the node with the limits that apply."""
        return replace(self._node.parameters.value, speed_limit=self.speed,
                       yaw_rate_limit=self.yaw_rate)

    def renew(self) -> None:
        """Apply changed parameters."""
        self.speed, self.yaw_rate = self._limits()
        self._apply()

    def look(self) -> None:
        """Apply what has changed, also by the age of the last message."""
        before = self.speed, self.yaw_rate
        self.speed, self.yaw_rate = self._limits()
        if (self.speed, self.yaw_rate) != before:
            self._apply()
        reason = self._reduction.reason(self._node.watch_time())
        self._node.diagnostics.condition(
            'reduced', WARN if reason else OK, f'{reason}: {self.speed:.2f} m/s at most'
            if reason else 'full speed', calm=True)
