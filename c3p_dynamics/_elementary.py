# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Sine, cosine and hyperbolic tangent from tables, to the rounding of a double.

In the inner loops the mathematics library takes most of the time (some 10 ns for a sine and a
cosine, 20 to 30 ns for a tanh); these take 1 to 5 ns, are compiled into the loop, and need nothing
of the computer but multiplication, addition and one division: the nearest table entry, a short
series for the rest, and the addition theorem. test_elementary.py holds them to a few units of the
last place.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kinematics.compiled import inlined

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

# tanh in steps of 1/32; beyond 19.0625 it is one to the last bit
_STEPS, _SATURATED = 32.0, 19.0625
_LEVELS = np.array([math.tanh(k / _STEPS) for k in range(int(_STEPS * _SATURATED) + 2)])


@inlined
def circle(angle):
    """
    Return ``cos(angle), sin(angle)``, each within 3e-16.

    Beyond 1e5 rad as exact as the last bit of `angle` itself; an angle that is no number gives
    none (plain Python: ValueError).
    """
    k = int(_SECTORS_PER_RADIAN * angle)
    h = (angle - k * _SECTOR) - k * _SECTOR_REST
    q = h * h
    sine = h - h * q * (1.0 / 6.0 - q * (1.0 / 120.0))
    rise = q * 0.5 - q * q * (1.0 / 24.0 - q * (1.0 / 720.0))
    c, s = _CIRCLE[k & (_SECTORS - 1), 0], _CIRCLE[k & (_SECTORS - 1), 1]
    return c - (c * rise + s * sine), s + (c * sine - s * rise)


@inlined
def level(x):
    """Return ``tanh(x)`` within four units of the last place; exactly 0 at 0, odd, never > 1."""
    size = min(abs(x), _SATURATED)
    k = int(_STEPS * size + 0.5)
    h = size - k * (1.0 / _STEPS)
    q = h * h
    part = h * ((1.0 - q * (1.0 / 3.0)) + (q * q) * (2.0 / 15.0 - q * (17.0 / 315.0)))
    whole = _LEVELS[k]
    return math.copysign((whole + part) / (1.0 + whole * part), x)
