# SPDX-License-Identifier: Apache-2.0
"""
Keys from the bytes of a terminal, and commands from keys.

A terminal repeats a key that is held, after a delay, and does not report its release. So a key is
active for a time: the first press for TAP, each repetition for HOLD. Nothing moves without a key
that is held now: a burst of keys after a pause is old, and a key that was held while the robot was
locked must be released first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from c3p_bringup.teleop import TAP
from c3p_description.model import Array

# directions (vx, vy, ω), x forward and y to the left; layout of teleop_twist_keyboard
MOVES: dict[str, tuple[int, int, int]] = {
    'u': (1, 0, 1), 'i': (1, 0, 0), 'o': (1, 0, -1),
    'j': (0, 0, 1), 'l': (0, 0, -1),
    'm': (-1, 0, -1), ',': (-1, 0, 0), '.': (-1, 0, 1),
    # with shift: without turning
    'U': (1, 1, 0), 'I': (1, 0, 0), 'O': (1, -1, 0),
    'J': (0, 1, 0), 'L': (0, -1, 0),
    'M': (-1, 1, 0), '<': (-1, 0, 0), '>': (-1, -1, 0), ';': (-1, 0, 0), ':': (-1, -1, 0),
    'up': (1, 0, 0), 'down': (-1, 0, 0), 'left': (0, 1, 0), 'right': (0, -1, 0),
}

# factors of the speed and of the yaw rate
FASTER = 1.1
SLOWER = 1.0 / 1.1
SCALES: dict[str, tuple[float, float]] = {
    'q': (FASTER, FASTER), 'z': (SLOWER, SLOWER), '+': (FASTER, FASTER), '-': (SLOWER, SLOWER),
    'w': (FASTER, 1.0), 'x': (SLOWER, 1.0), 'd': (1.0, FASTER), 'c': (1.0, SLOWER),
}

LOCK = 'e'
RELEASE = 'r'
# Ctrl-C, Ctrl-D
QUIT = ('\x03', '\x04')
# every key that is not named above, the space above all, is a stop
UNKNOWN = 'unknown'

_ARROWS = {'A': 'up', 'B': 'down', 'C': 'right', 'D': 'left'}
# control sequences of ECMA-48, and the arrows of a keypad in application mode
_SEQUENCE = re.compile(r'\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~])')
_BEGUN = re.compile(r'\x1b(?:\[[0-?]*[ -/]*|O)?$')
# no key sends a longer sequence
_LONGEST = 16

# active time of a repetition; the period is 0.02 to 0.1 s
HOLD = 0.3
# duration of zero commands after a stop, then silence: other sources may drive, s
ZEROS = 0.5
# more keys at once, at standstill, are the backlog of a stalled line
BURST = 3
# least speed and yaw rate of the keys, as fractions of the limits
LEAST = 0.01


class KeyReader:
    """Decoder of keys from bytes that arrive in pieces of any size."""

    def __init__(self) -> None:
        """Start with an empty buffer."""
        self._rest = ''

    def read(self, data: bytes) -> list[str]:
        """Return the keys completed by `data`."""
        # one character for each byte: a letter of another alphabet is several unknown keys
        text = self._rest + data.decode('latin-1')
        keys = []
        self._rest = ''
        while text:
            if found := _SEQUENCE.match(text):
                keys.append(_ARROWS.get(found.group()[-1], UNKNOWN))
                text = text[found.end():]
            elif _BEGUN.match(text) and len(text) < _LONGEST:
                self._rest = text
                text = ''
            else:
                keys.append(_key(text[0]))
                text = text[1:]
        return keys

    def flush(self) -> list[str]:
        """Return the key of an incomplete sequence: Escape, unknown."""
        begun = self._rest
        self._rest = ''
        return [UNKNOWN] if begun else []


def _key(character: str) -> str:
    known = character in MOVES or character in SCALES or character in (LOCK, RELEASE, *QUIT)
    return character if known else UNKNOWN


def direction(key: str) -> tuple[float, float, float]:
    """
    Return (vx, vy, ω) of a key of MOVES; (vx, vy) of length 0 or 1.

    Examples
    --------
    >>> direction('left'), direction('u')
    ((0.0, 1.0, 0.0), (1.0, 0.0, 1.0))
    """
    x, y, turn = MOVES[key]
    length = math.hypot(x, y) or 1.0
    return x / length, y / length, float(turn)


class KeyDrive:
    """
    Twist command from keys and time.

    Parameters
    ----------
    speed, yaw_rate : float, m/s and rad/s
        Initial values.
    speed_limit, yaw_rate_limit : float, m/s and rad/s
        Limits of the robot.
    tap : float, s
        Active time of a first press.

    Attributes
    ----------
    speed, yaw_rate : float
        Values set by the keys.
    holds : bool
        True while this keyboard engages the e-stop.
    quits : bool
        True after a key that ends the program.
    stops : int
        Number of motions that have ended.
    """

    def __init__(self, speed: float, yaw_rate: float, speed_limit: float, yaw_rate_limit: float,
                 tap: float = TAP) -> None:
        """Start at standstill and silent."""
        self._requested = (speed, yaw_rate)
        self._tap = tap
        self.limit(speed_limit, yaw_rate_limit)
        self.holds = False
        self.quits = False
        self.stops = 0
        self._key, self._until, self._zeros_until = '', -math.inf, -math.inf
        # time of the last motion key; whether it must be released after a lock
        self._pressed = -math.inf
        self._waits = False
        self._locked = False

    def limit(self, speed_limit: float, yaw_rate_limit: float) -> None:
        """Set the limits of the robot, m/s and rad/s."""
        self._limits = (speed_limit, yaw_rate_limit)
        self._scale((1.0, 1.0))

    def keys(self, keys: Sequence[str], now: float) -> bool:
        """
        Process the keys of one reading at `now`, s.

        Returns
        -------
        bool
            True if they include LOCK or RELEASE.
        """
        moves = [key for key in keys if key in MOVES]
        old = len(moves) > BURST and not self.moving(now)
        switched = False
        for key in keys:
            if key in MOVES:
                if not old:
                    self._press(key, now)
                self._pressed = now
            elif key in SCALES:
                self._scale(SCALES[key])
            else:
                # all other keys stop, in addition to their function
                self.stop(now)
                self.quits |= key in QUIT
                if key in (LOCK, RELEASE):
                    self.holds = key == LOCK
                    switched = True
        return switched

    def lock(self, locked: bool, now: float) -> None:
        """Set the state of the e-stop, by any source, at `now`, s."""
        if locked:
            if not self._locked:
                self.stop(now)
            self._waits = True
        elif self._locked:
            # the multiplexer needs zero commands of this keyboard
            self.stop(now)
        self._locked = locked

    def stop(self, now: float) -> None:
        """Command zero, then silence."""
        self.stops += self.moving(now)
        self._key, self._until, self._zeros_until = '', -math.inf, now + ZEROS

    def moving(self, now: float) -> bool:
        """Return True if a key is active at `now`, s."""
        return bool(self._key) and now < self._until

    @property
    def end(self) -> float:
        """Time at which the active key expires, s; inf without an active key."""
        return self._until if self._key else math.inf

    def waits(self, now: float) -> bool:
        """Return True while keys must be released before they become active again."""
        if self._waits and not self._locked and now - self._pressed > self._tap:
            self._waits = False
        return self._waits

    def twist(self, now: float) -> Array | None:
        """Return the command (3,), m/s and rad/s, at `now`; None is silence."""
        if self._key and not self.moving(now):
            self.stops += 1
            self._key = ''
            self._zeros_until = now + ZEROS
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
        """Scale the requested speeds within the limits."""
        speed, yaw_rate = (min(max(value * factor, LEAST * limit), limit)
                           for value, factor, limit in zip(
                               self._requested, factors, self._limits, strict=True))
        self._requested = self.speed, self.yaw_rate = speed, yaw_rate
