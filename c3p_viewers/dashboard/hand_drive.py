# SPDX-License-Identifier: Apache-2.0
"""Driving by hand from a live page: a dead-man function over a network, without ROS."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from c3p_description.model import Array
from c3p_viewers.dashboard.refusal import Refusal

# a command of the page, which it repeats ten times a second, lasts for so long, s: three lost ones
HOLD = 0.3
# zeros after it, before silence leaves the robot to other sources, s
ZEROS = 0.5
# largest speed and yaw rate, m/s and rad/s; the page begins with less
FASTEST = 0.5
FASTEST_TURN = 1.0
# characters of the name of a press, and ended presses that are known: several of each page
LONGEST_NAME = 60
KNOWN_ENDED = 256


class HandDrive:
    """
    Command of the person that holds a key or the pad of a page.

    One *press* lasts from the touch to the release; the page repeats its command meanwhile. A
    press whose command is missing for `HOLD` ends, and does not begin again: after a gap of the
    connection, a stop, or a page without focus, nothing moves before the next touch. One page
    drives at a time.

    Attributes
    ----------
    press : str
        Name of the present press; empty without one.
    """

    def __init__(self) -> None:
        """Begin without a press."""
        self.press = ''
        self._ended: deque[str] = deque(maxlen=KNOWN_ENDED)
        self._twist = np.zeros(3)
        self._held_until = 0.0
        self._zeros_until = 0.0

    def move(self, body: Mapping[str, Any], now: float) -> bool:
        """
        Take a command: the name of its ``press`` and the twist ``vx``, ``vy``, ``omega``.

        `now` is a monotonic time, s. Returns True at the beginning of a press.

        Raises
        ------
        Refusal
            A malformed or too fast command, a press that has ended, another page that drives.
        """
        press = body.get('press')
        try:
            twist = np.array([float(body[key]) for key in ('vx', 'vy', 'omega')])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise Refusal('a move has press, vx, vy and omega') from error
        if not isinstance(press, str) or not 0 < len(press) <= LONGEST_NAME:
            raise Refusal('a move has the name of its press')
        speed = math.hypot(twist[0], twist[1])
        # also of values that are not finite
        if not (speed <= 1.001 * FASTEST and abs(twist[2]) <= 1.001 * FASTEST_TURN):
            raise Refusal(f'{speed:g} m/s, {twist[2]:g} rad/s: must be finite, and at most '
                          f'{FASTEST:g} m/s and {FASTEST_TURN:g} rad/s')
        self.twist(now)
        if press in self._ended:
            raise Refusal('driving by hand was interrupted; let go, and press again')
        if self.press and press != self.press:
            # it must not take over, without a touch, when the present one ends
            self._ended.append(press)
            raise Refusal('another page drives by hand; it must let go first')
        begins = not self.press
        self.press = press
        self._twist = twist
        self._held_until = now + HOLD
        return begins

    def end(self, now: float, press: str | None = None) -> bool:
        """
        End a press, or any with None; return whether one ended. It does not begin again.

        A `press` that has not begun is ended as well: its first command may be under way.
        """
        if press is not None and press != self.press:
            self._ended.append(press)
            return False
        if not self.press:
            return False
        self._ended.append(self.press)
        self.press = ''
        self._zeros_until = now + ZEROS
        return True

    def twist(self, now: float) -> Array | None:
        """Return the command (vx, vy, ω) at `now`, m/s and rad/s; None is silence."""
        if self.press and now >= self._held_until:
            self.end(now)
        if self.press:
            return self._twist
        return np.zeros(3) if now < self._zeros_until else None
