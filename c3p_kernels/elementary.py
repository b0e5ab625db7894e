# SPDX-License-Identifier: Apache-2.0
"""
Angles and elementary functions in kernels.

`circle` gives sine and cosine from a table, to the rounding of a double. In the inner loops of the
dynamics the mathematics library takes most of the time (some 10 ns for a sine and a cosine); the
table takes 1 to 5 ns, is compiled into the loop, and needs nothing of the computer but
multiplication and addition: the nearest entry, a short series for the rest, and the addition
theorem. `tanh` is made alike.

Both are for one number, and `specialise` makes them of numbers side by side with `IN_LANES`: the
same text, lane by lane the same bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from c3p_kernels.compiled import COMPILED, inlined, kernel

if COMPILED:
    from c3p_kernels.lanes import looked_up, where, whole

TURN = 2.0 * math.pi

# below this angle [rad] the series is used; its first dropped term is 1e-2⁸/9! = 3e-22
SMALL_ANGLE = 1e-2

# parts of a turn; the series of sine and cosine below ends where 2π/512 no longer shows
_SECTORS = 512
_SECTORS_PER_RADIAN = _SECTORS / (2.0 * math.pi)
# 2π/512 as a number of 30 bits, whose multiples are exact up to some 1e5 rad, and what is missing
_SECTOR = math.ldexp(math.floor(math.ldexp(2.0 * math.pi / _SECTORS, 36)), -36)
_TWO_PI_MINUS_ITS_DOUBLE = 2.4492935982947064e-16
_SECTOR_REST = (2.0 * math.pi / _SECTORS - _SECTOR) + _TWO_PI_MINUS_ITS_DOUBLE / _SECTORS
# by octants: the smaller the angle, the less its own rounding shows
_OCTANT = [(math.cos(2.0 * math.pi * k / _SECTORS), math.sin(2.0 * math.pi * k / _SECTORS))
           for k in range(_SECTORS // 8 + 1)]
_QUARTER = _OCTANT[:-1] + [(s, c) for c, s in _OCTANT[:0:-1]]
_HALF = _QUARTER + [(-s, c) for c, s in _QUARTER]
_CIRCLE = np.array(_HALF + [(-c, -s) for c, s in _HALF])

# tanh in steps of 1/32, in the place of 20 to 30 ns in the mathematics library; beyond 19.0625 it
# is one to the last bit
_STEPS = 32.0
_SATURATED = 19.0625
_LEVELS = np.array([[math.tanh(k / _STEPS)] for k in range(int(_STEPS * _SATURATED) + 2)])
# places in that table are not masked
_ALL = -1


@inlined
def truncated(x: float) -> int:
    """Return the whole number next to x towards zero."""
    return int(x)


@inlined
def entry(table: np.ndarray, row: int, mask: int, column: int) -> float:
    """Return ``table[row & mask, column]``."""
    return table[row & mask, column]


@inlined
def lesser(a: float, b: float) -> float:
    """Return the smaller of a and b; of lanes, b where a is not a number."""
    return min(a, b)


# functions of numbers and those of lanes in their place, for `specialise`
IN_LANES: dict[Any, Any] = {}
if COMPILED:
    @inlined
    def _lesser_of_lanes(a: Any, b: Any) -> Any:
        return where(a < b, a, b)  # type: ignore[call-arg]

    IN_LANES.update({truncated: whole, entry: looked_up, lesser: _lesser_of_lanes})


def wrap(angle: Any) -> Any:
    """Return `angle`, a number or an array, in (−π, π]."""
    rest = angle - TURN * np.rint(angle / TURN)
    # rounding may leave the half-open interval by one unit in the last place
    return rest + TURN * (rest <= -math.pi) - TURN * (rest > math.pi)


# the same formula for one angle inside a kernel
wrap_angle = kernel(wrap)


@inlined
def circle(angle: float) -> tuple[float, float]:
    """
    Return ``cos(angle), sin(angle)``, each within 3e-16.

    Beyond 1e5 rad as exact as the last bit of `angle` itself; an angle that is not a number gives
    nan (plain Python: ValueError).
    """
    k = truncated(_SECTORS_PER_RADIAN * angle)
    h = (angle - k * _SECTOR) - k * _SECTOR_REST
    q = h * h
    sine = h - h * q * (1.0 / 6.0 - q * (1.0 / 120.0))
    rise = q * 0.5 - q * q * (1.0 / 24.0 - q * (1.0 / 720.0))
    c = entry(_CIRCLE, k, _SECTORS - 1, 0)
    s = entry(_CIRCLE, k, _SECTORS - 1, 1)
    return c - (c * rise + s * sine), s + (c * sine - s * rise)


@inlined
def tanh(x: float) -> float:
    """Return ``tanh(x)`` within four units of the last place; exactly 0 at 0, odd, never > 1."""
    size = lesser(abs(x), _SATURATED)
    k = truncated(_STEPS * size + 0.5)
    h = size - k * (1.0 / _STEPS)
    q = h * h
    part = h * ((1.0 - q * (1.0 / 3.0)) + (q * q) * (2.0 / 15.0 - q * (17.0 / 315.0)))
    near = entry(_LEVELS, k, _ALL, 0)
    return math.copysign((near + part) / (1.0 + near * part), x)


@kernel
def arc(angle: float) -> tuple[float, float]:
    """Return (sin φ/φ, (1 − cos φ)/φ) without cancellation."""
    if abs(angle) < SMALL_ANGLE:
        q = angle * angle
        return (1.0 - q / 6.0 * (1.0 - q / 20.0 * (1.0 - q / 42.0)),
                0.5 * angle * (1.0 - q / 12.0 * (1.0 - q / 30.0 * (1.0 - q / 56.0))))
    half = math.sin(0.5 * angle)
    return math.sin(angle) / angle, 2.0 * half * half / angle


@kernel
def half_cotangent(angle: float) -> float:
    """Return (φ/2) cot(φ/2) for |φ| ≤ π."""
    if abs(angle) < SMALL_ANGLE:
        q = angle * angle
        return 1.0 - q / 12.0 * (1.0 + q / 60.0 * (1.0 + q / 42.0))
    return 0.5 * angle * math.cos(0.5 * angle) / math.sin(0.5 * angle)
