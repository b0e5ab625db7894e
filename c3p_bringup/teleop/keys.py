# SPDX-License-Identifier: Apache-2.0
"""Keys from the bytes of a terminal, and the function of each key."""

from __future__ import annotations

import math
import re

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
FASTER, SLOWER = 1.1, 1.0 / 1.1
SCALES: dict[str, tuple[float, float]] = {
    'q': (FASTER, FASTER), 'z': (SLOWER, SLOWER), '+': (FASTER, FASTER), '-': (SLOWER, SLOWER),
    'w': (FASTER, 1.0), 'x': (SLOWER, 1.0), 'd': (1.0, FASTER), 'c': (1.0, SLOWER),
}

LOCK, RELEASE = 'e', 'r'
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


class KeyReader:
    """Decoder of keys from bytes that arrive in pieces of any size."""

    def __init__(self) -> None:
        """Start with an empty buffer."""
        self._rest = ''

    def read(self, data: bytes) -> list[str]:
        """Return the keys completed by `data`."""
        # one character for each byte: a letter of another alphabet is several unknown keys
        text, keys = self._rest + data.decode('latin-1'), []
        self._rest = ''
        while text:
            if found := _SEQUENCE.match(text):
                keys.append(_ARROWS.get(found.group()[-1], UNKNOWN))
                text = text[found.end():]
            elif _BEGUN.match(text) and len(text) < _LONGEST:
                self._rest, text = text, ''
            else:
                keys.append(_key(text[0]))
                text = text[1:]
        return keys

    def flush(self) -> list[str]:
        """Return the key of an incomplete sequence: Escape, unknown."""
        begun, self._rest = self._rest, ''
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
