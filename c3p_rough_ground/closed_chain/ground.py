# SPDX-License-Identifier: Apache-2.0
"""Kernel arrays of a terrain, and a bound of its hollows."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from c3p_rough_ground.closed_chain.description import Array, GroundArrays
from c3p_rough_ground.terrain import Terrain
from c3p_rough_ground.terrain._kernels import COSINES, CUBIC, FLAT, INCLINE, PLATEAU, QUINTIC

# greatest value of |tanh''| / 2
STEEPEST_BEND = 2.0 / math.sqrt(27.0)

# number of terrains whose arrays are cached: copying and scanning a large map takes milliseconds
KEPT = 16


def _net_bend(coefficients: Array, rate_x: float, rate_y: float, repeat: bool) -> float:
    """
    Return a bound of the largest eigenvalue of ∇∇g of a B-spline net, 1/m.

    Second derivatives of a B-spline are mixtures of the second differences of its coefficients.
    """
    c = np.pad(coefficients, 1, mode='wrap' if repeat else 'edge')
    xx = np.diff(c, 2, axis=0).max(initial=0.0) * rate_x**2
    yy = np.diff(c, 2, axis=1).max(initial=0.0) * rate_y**2
    xy = np.abs(np.diff(np.diff(c, axis=0), axis=1)).max(initial=0.0) * rate_x * rate_y
    return max(xx, yy) + xy


def _hollow(ground: GroundArrays) -> float:
    numbers = ground.parameters
    if ground.kind in (FLAT, INCLINE):
        return math.inf
    if ground.kind == PLATEAU:
        bend = STEEPEST_BEND * numbers[0] / numbers[1] ** 2
    elif ground.kind == COSINES:
        bend = np.sum(np.abs(ground.table[:, 0]) * np.sum(ground.table[:, 1:3] ** 2, axis=1))
    elif ground.kind in (CUBIC, QUINTIC):
        bend = _net_bend(ground.table, numbers[2], numbers[3], bool(numbers[4]))
    else:
        return 0.0
    return 1.0 / float(bend) if bend > 0.0 else math.inf


def _arrays(terrain: Terrain) -> tuple[GroundArrays, float]:
    arrays = GroundArrays(int(terrain.kind), np.array(terrain.parameters, float, ndmin=1),
                          np.array(terrain.table, float, ndmin=2))
    return arrays, _hollow(arrays)


_kept_arrays = lru_cache(KEPT)(_arrays)


def _both(terrain: Terrain) -> tuple[GroundArrays, float]:
    try:
        return _kept_arrays(terrain)
    except TypeError:
        # not hashable
        return _arrays(terrain)


def ground_arrays(terrain: Terrain) -> GroundArrays:
    """Return the kernel arrays of a `terrain`: contiguous, float64, made once."""
    return _both(terrain)[0]


def hollow_radius(terrain: Terrain) -> float:
    """
    Return a lower bound of the radius of the hollows of a `terrain`, m; 0 if unknown.

    A ball of this radius rolls everywhere and touches one point at a time: the curvature of a
    graph in a hollow is at most the largest eigenvalue of ∇∇g, which is bounded here from the
    numbers of the formula.

    Examples
    --------
    >>> from c3p_rough_ground.terrain import Hills
    >>> ground = Hills.random(1)
    >>> 0.0 < hollow_radius(ground) <= ground.smallest_radius
    True
    """
    return _both(terrain)[1]
