# SPDX-License-Identifier: Apache-2.0
"""
An ordered stop and its expected effect: the speed falls to rest, and does not grow.

A stop that is ordered and not watched is a hope. From the order on the speed must stay below

    v(t) ≤ max(v₀ − a (t − t₀ − margin), v_rest)

with the deceleration a that the stop has at least. The order is carried out at the first
standstill: what pushes the robot afterwards, or a slope, does not make it fail.
"""

from __future__ import annotations

import math
from enum import Enum

# speed that the measurement or a caster that turns round may add, m/s
TOLERANCE = 0.03

# the speed has grown when it exceeds GROWTH times that of the order, and this sum, m/s
GROWTH = 1.25
GROWN_BY = 0.15

# time for which the speed must be too large, or at rest, s: one late sample is neither
HOLDS = 0.05


class Effect(Enum):
    """Effect of an ordered stop."""

    # no stop is ordered
    NONE = 'none'
    # the speed falls as expected
    FALLS = 'falls'
    # the order is carried out
    RESTS = 'rests'
    # the speed is above the expected one
    LATE = 'late'
    # the speed is larger than at the order
    GROWS = 'grows'


class OrderedStop:
    """
    Compares the speed after an order to stop with the expected one.

    Parameters
    ----------
    deceleration : float, m/s²
        Least deceleration of this stop; greater than zero.
    margin : float, s
        Time until it begins.
    rest : float, m/s
        Speed at standstill.

    Attributes
    ----------
    effect : Effect
        Of the last step.
    begun : float, s
        Time of the order, and inf without one.
    speed : float, m/s
        Speed at the order.

    Raises
    ------
    ValueError
        A parameter that is not a positive number.

    Examples
    --------
    >>> stop = OrderedStop(deceleration=1.0, margin=0.2, rest=0.01)
    >>> stop.begin(0.0, 0.5)
    >>> [stop.step(0.1 * k, 0.5 - 0.1 * k).value for k in (1, 4)]  # 1 m/s²
    ['falls', 'falls']
    >>> [stop.step(0.1 * k, 0.4).value for k in (5, 6)]  # and then no more
    ['falls', 'late']
    """

    def __init__(self, deceleration: float, margin: float, rest: float) -> None:
        """Start without an order."""
        for name, value in (('deceleration', deceleration), ('margin', margin), ('rest', rest)):
            if not 0.0 < value < math.inf:
                raise ValueError(f'{name} = {value}: must be a positive number')
        self._deceleration = deceleration
        self._margin = margin
        self._rest = rest
        self.end()

    @property
    def ordered(self) -> bool:
        """A stop is ordered, whether it is carried out or not."""
        return self.begun < math.inf

    def begin(self, now: float, speed: float) -> None:
        """Order a stop at `now`, s, at `speed`, m/s; no effect while one is ordered."""
        if not self.ordered:
            self.begun, self.speed, self.effect = now, speed, Effect.FALLS
            self._fast_since = self._slow_since = math.inf

    def end(self) -> None:
        """End the order: motion is allowed again."""
        self.begun, self.speed, self.effect = math.inf, 0.0, Effect.NONE
        self._fast_since = self._slow_since = math.inf

    def expected(self, now: float) -> float:
        """Return the largest speed at `now`, s, that is expected, m/s; inf without an order."""
        if not self.ordered:
            return math.inf
        braked = self._deceleration * max(0.0, now - self.begun - self._margin)
        return max(self.speed - braked, self._rest) + TOLERANCE

    def step(self, now: float, speed: float) -> Effect:
        """
        Return the effect of the order at `now`, s, with the `speed` then, m/s.

        A failure stays until the standstill, after which nothing fails any more.
        """
        if self.effect in (Effect.NONE, Effect.RESTS):
            return self.effect
        grown = speed > GROWTH * self.speed + GROWN_BY
        late = now - self.begun > self._margin and speed > self.expected(now)
        self._slow_since = min(self._slow_since, now) if speed <= self._rest else math.inf
        self._fast_since = min(self._fast_since, now) if grown or late else math.inf
        if now - self._fast_since > HOLDS:
            self.effect = Effect.GROWS if grown or self.effect is Effect.GROWS else Effect.LATE
        elif now - self._slow_since > HOLDS:
            self.effect = Effect.RESTS
        return self.effect
