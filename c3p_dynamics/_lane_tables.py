# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Sine, cosine and tanh of lanes from the tables of the scalar kernels, with their bits."""

from __future__ import annotations

import math

from c3p_dynamics import _caster_equations as equations
from c3p_kernels import elementary
from c3p_kernels.compiled import inlined
from c3p_kernels.lanes import looked_up, where, whole

_SECTORS, _PER_RADIAN = elementary._SECTORS, elementary._SECTORS_PER_RADIAN
_SECTOR, _SECTOR_REST, _CIRCLE = elementary._SECTOR, elementary._SECTOR_REST, elementary._CIRCLE
_STEPS, _SATURATED = equations._STEPS, equations._SATURATED
_LEVELS = equations._LEVELS.reshape(-1, 1)


@inlined
def circle(angle):
    """Return cosine and sine as `circle` of numbers."""
    k = whole(_PER_RADIAN * angle)
    h = (angle - k * _SECTOR) - k * _SECTOR_REST
    q = h * h
    sine = h - h * q * (1.0 / 6.0 - q * (1.0 / 120.0))
    rise = q * 0.5 - q * q * (1.0 / 24.0 - q * (1.0 / 720.0))
    c, s = looked_up(_CIRCLE, k, _SECTORS - 1, 0), looked_up(_CIRCLE, k, _SECTORS - 1, 1)
    return c - (c * rise + s * sine), s + (c * sine - s * rise)


@inlined
def level(x):
    """Return the hyperbolic tangent as `_caster_equations.level`."""
    # false for nan, which must not become a place in the table
    size = where(abs(x) < _SATURATED, abs(x), _SATURATED)
    k = whole(_STEPS * size + 0.5)
    h = size - k * (1.0 / _STEPS)
    q = h * h
    part = h * ((1.0 - q * (1.0 / 3.0)) + (q * q) * (2.0 / 15.0 - q * (17.0 / 315.0)))
    there = looked_up(_LEVELS, k, -1, 0)
    return math.copysign((there + part) / (1.0 + there * part), x)
