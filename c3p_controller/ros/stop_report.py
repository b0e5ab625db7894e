# SPDX-License-Identifier: Apache-2.0
"""Watch of the stops of the velocity controller, in the diagnostics and in its torques."""

from __future__ import annotations

from typing import Any

import numpy as np

from c3p_controller.commanded_stop import CommandedStop
from c3p_ros.diagnostics import ERROR, OK


class StopReport:
    """
    Watch of commanded stops: ERROR, a lock, and silence of ``wheel_effort``.

    A controller whose stop has no effect must not go on with the same torques. In its silence the
    gate of the drives brakes, and the hardware interface watches that in turn.

    Attributes
    ----------
    deceleration : float, m/s²
        Of the stop that is commanded; 0 for a command that moves.
    """

    def __init__(self, node: Any) -> None:
        """Start without a stop."""
        self._node, self._stop, self.deceleration = node, CommandedStop(node.robot), 0.0

    @property
    def silent(self) -> bool:
        """True while a stop has no effect."""
        return bool(self._stop.text)

    def watch(self, now: float, wheel_rate: np.ndarray, lost: bool) -> None:
        """Take the wheel rates (n,), rad/s, at `now`, s; a `lost` chain brakes."""
        brake = self._node.parameters.value.stop_acceleration
        deceleration = brake if lost else self.deceleration
        self._stop.step(now, wheel_rate, deceleration > 0.0, deceleration)
        if self._stop.text:
            self._node.interlock.stop('the stop has no effect', now)

    def diagnose(self) -> None:
        """Report the stop."""
        text = self._stop.text
        self._node.diagnostics.condition('stop', ERROR if text else OK, text or 'takes effect')
