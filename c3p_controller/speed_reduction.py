# SPDX-License-Identifier: Apache-2.0
"""
Reduced limits of speed and yaw rate on request: Nav2's speed limit, and a reduced-speed mode.

Both limits are scaled by one factor, so that the curvature of a path stays the same; a request
never raises a limit. The reduced-speed mode is fail-safe, as safety scanners need it: it applies
until a publisher states otherwise, and again when its messages end. Nav2's limit stays until the
next message, as in Nav2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

# of nav2_msgs/SpeedLimit: no limit
NO_SPEED_LIMIT = 0.0

# lowest speed limit, m/s: bound of the parameter `speed_limit`; a stop is not a speed limit
LOWEST_SPEED = 0.01


class ReducedSpeed(NamedTuple):
    """
    Reduced-speed mode.

    Attributes
    ----------
    speed : float, m/s
        Speed limit of the mode; 0 without one.
    yaw_rate : float, rad/s
    timeout : float, s
        Age of the last message from which the mode applies.
    """

    speed: float = 0.0
    yaw_rate: float = 0.5
    timeout: float = 0.5


class SpeedReduction:
    """
    Requests to drive slowly; memory are the last request of each kind and its time.

    Parameters
    ----------
    mode : ReducedSpeed

    Examples
    --------
    >>> reduction = SpeedReduction(ReducedSpeed(0.3, 0.5))
    >>> reduction.limits(0.8, 2.0, 0.0)
    (0.3, 0.5)
    >>> reduction.reduce(False, 1.0)
    >>> reduction.limit(True, 50.0)
    >>> reduction.limits(0.8, 2.0, 1.0)
    (0.4, 1.0)
    """

    def __init__(self, mode: ReducedSpeed) -> None:
        """Start with the reduced speed, and without a limit of Nav2."""
        self.mode = mode
        self._percentage = True
        self._limit = NO_SPEED_LIMIT
        self._reduced = True
        self._received = -math.inf

    def limit(self, percentage: bool, value: float) -> None:
        """
        Take a speed limit: percent of the largest speed, or m/s; 0 removes the limit.

        Raises
        ------
        ValueError
            A limit that is negative or not a number; the one before stays.
        """
        if not 0.0 <= value < math.inf:
            raise ValueError(f'speed_limit = {value}: must be 0 (no limit) or a positive number')
        self._percentage = percentage
        self._limit = value

    def reduce(self, reduced: bool, now: float) -> None:
        """Take a message of the reduced-speed mode at `now`, s."""
        self._reduced = reduced
        self._received = now

    def reason(self, now: float) -> str:
        """Return why the reduced-speed mode applies; '' while it does not."""
        if self.mode.speed == 0.0:
            return ''
        age = now - self._received
        if not 0.0 <= age <= self.mode.timeout:
            return ('no message of reduced_speed' if age == math.inf
                    else f'no message of reduced_speed for {age:.1f} s')
        return 'requested' if self._reduced else ''

    def limits(self, speed: float, yaw_rate: float, now: float) -> tuple[float, float]:
        """Return the limits that apply of `speed`, m/s, and `yaw_rate`, rad/s."""
        factor = 1.0
        if self._limit != NO_SPEED_LIMIT:
            factor = min(1.0, self._limit / (100.0 if self._percentage else speed))
            factor = max(factor, LOWEST_SPEED / speed)
        found = factor * speed, factor * yaw_rate
        if self.reason(now):
            return min(found[0], self.mode.speed), min(found[1], self.mode.yaw_rate)
        return found
