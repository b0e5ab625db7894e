# SPDX-License-Identifier: Apache-2.0
"""
What the keys ask of the robot; a key that is not repeated any more is a stop.

A terminal tells that a key is held by repeating it, after a delay, and does not tell when it is
let go. So a key counts for a time: the first press for TAP, each repetition for HOLD. Nothing
moves without a key that is held now: what comes in a burst after a pause is old, and a key that
was held while the robot was locked has to be let go first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from c3p_bringup.teleop.keys import LOCK, MOVES, QUIT, RELEASE, SCALES, direction
from c3p_description.model import Array

# how long a first press counts: terminals begin to repeat after 0.25 to 0.66 s
TAP = 0.48
# how long a repetition counts; they come every 0.02 to 0.1 s
HOLD = 0.3
# zero commands after a stop, then silence: others may drive, s
ZEROS = 0.5
# more keys at once, while nothing moves, are those of a line that has hung
BURST = 3
# least speed and yaw rate that the keys set, of the limits
LEAST = 0.01


class KeyDrive:
    """
    Keys and time to a twist.

    Parameters
    ----------
    speed, yaw_rate : float, m/s and rad/s
        At the start.
    speed_limit, yaw_rate_limit : float, m/s and rad/s
        Of the robot; neither is exceeded.
    tap : float, s
        How long a first press counts.

    Attributes
    ----------
    speed, yaw_rate : float
        As the keys have set them.
    holds : bool
        Whether this keyboard holds the e-stop.
    quits : bool
        Whether a key has asked for the end.
    stops : int
        How often a motion has ended.
    """

    def __init__(self, speed: float, yaw_rate: float, speed_limit: float, yaw_rate_limit: float,
                 tap: float = TAP) -> None:
        """Start at rest and silent."""
        self._wanted, self._tap = (speed, yaw_rate), tap
        self.limit(speed_limit, yaw_rate_limit)
        self.holds, self.quits, self.stops = False, False, 0
        self._key, self._until, self._zeros_until = '', -math.inf, -math.inf
        # the last key of motion; whether it has to be let go, since the robot was locked
        self._pressed, self._waits, self._locked = -math.inf, False, False

    def limit(self, speed_limit: float, yaw_rate_limit: float) -> None:
        """Take the limits of the robot, m/s and rad/s."""
        self._limits = (speed_limit, yaw_rate_limit)
        self._scale((1.0, 1.0))

    def keys(self, keys: Sequence[str], now: float) -> bool:
        """
        Take the keys of one reading at `now`, s.

        Returns
        -------
        bool
            Whether they include LOCK or RELEASE.
        """
        moves = [key for key in keys if key in MOVES]
        old = len(moves) > BURST and not self.moving(now)
        asked = False
        for key in keys:
            if key in MOVES:
                if not old:
                    self._press(key, now)
                self._pressed = now
            elif key in SCALES:
                self._scale(SCALES[key])
            else:
                # all others stop, whatever else they do
                self.stop(now)
                self.quits |= key in QUIT
                if key in (LOCK, RELEASE):
                    self.holds, asked = key == LOCK, True
        return asked

    def lock(self, locked: bool, now: float) -> None:
        """Say whether the robot is locked, by anybody, at `now`, s."""
        if locked:
            if not self._locked:
                self.stop(now)
            self._waits = True
        elif self._locked:
            # whoever decides sees that this keyboard is at rest
            self.stop(now)
        self._locked = locked

    def stop(self, now: float) -> None:
        """Command zero, then be silent."""
        self.stops += self.moving(now)
        self._key, self._until, self._zeros_until = '', -math.inf, now + ZEROS

    def moving(self, now: float) -> bool:
        """Return whether a key counts at `now`, s."""
        return bool(self._key) and now < self._until

    @property
    def end(self) -> float:
        """Time at which the key that counts does so no more, s; inf without one."""
        return self._until if self._key else math.inf

    def waits(self, now: float) -> bool:
        """Return whether keys have to be let go before they count again."""
        if self._waits and not self._locked and now - self._pressed > self._tap:
            self._waits = False
        return self._waits

    def twist(self, now: float) -> Array | None:
        """Return the command (3,), m/s and rad/s, at `now`; None is silence."""
        if self._key and not self.moving(now):
            self.stops += 1
            self._key, self._zeros_until = '', now + ZEROS
        if self._locked or self.holds:
            return np.zeros(3)
        if self._key:
            x, y, turn = direction(self._key)
            return np.array([self.speed * x, self.speed * y, self.yaw_rate * turn])
        return np.zeros(3) if now < self._zeros_until else None

    def _press(self, key: str, now: float) -> None:
        repeats = key == self._key and self.moving(now)
        if self._locked or self.holds or self.waits(now):
            self._waits = True
            return
        self._key, self._until = key, now + (HOLD if repeats else self._tap)

    def _scale(self, factors: tuple[float, float]) -> None:
        """Multiply what is wanted; what the robot cannot do is not wanted."""
        wanted = (min(max(wish * factor, LEAST * limit), limit) for wish, factor, limit in zip(
            self._wanted, factors, self._limits, strict=True))
        self._wanted = self.speed, self.yaw_rate = tuple(wanted)
