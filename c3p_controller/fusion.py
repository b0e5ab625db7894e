# SPDX-License-Identifier: Apache-2.0
"""
Fusion of inverse dynamics and inverse kinematics, paper I, eq. (13).

    τ = (1 − c)^λ1 τ_D + c^λ2 τ_K,   c = |cos Ψ|,   Ψ = δ − β

with δ the direction in which the platform moves and β the one in which it is asked to move. The
paper calls Ψ = 90° "pure un-actuation" and 0° and 180° alike "full ability of motion", which asks
for |cos Ψ|: with the cosine as printed, odd powers would reverse τ_K beyond 90° and fractional
ones be complex. Direction differences need no minus signs in the arctangents: they cancel.
"""

from __future__ import annotations

import math

from c3p_description.model import Array

# below this speed a direction means nothing, m/s
DIRECTION_SPEED = 0.02


def singularity_indicator(sensed: Array, reference: Array) -> float:
    """
    Return |Ψ| in [0, π], the angle between actual and asked direction of travel.

    Where the robot is asked to move and does not, the asked direction is not actuated: π/2. Where
    nothing is asked, or what is asked is only a turn, no direction is missing: 0.

    Parameters
    ----------
    sensed, reference : (3,) array
        Twists in the same frame, m/s and rad/s.

    Examples
    --------
    >>> import numpy as np
    >>> singularity_indicator(np.array([0.0, 0.3, 0.0]), np.array([0.3, 0.0, 0.0])) == np.pi / 2
    True
    """
    asked = math.hypot(reference[0], reference[1])
    actual = math.hypot(sensed[0], sensed[1])
    if asked < DIRECTION_SPEED:
        return 0.0
    if actual < DIRECTION_SPEED:
        return math.pi / 2
    cosine = (sensed[0] * reference[0] + sensed[1] * reference[1]) / (asked * actual)
    return math.acos(min(1.0, max(-1.0, cosine)))


def fuse(dynamics: Array, kinematics: Array, indicator: float, lambda_1: float,
         lambda_2: float) -> Array:
    """
    Return the fused wheel torques.

    Parameters
    ----------
    dynamics, kinematics : (n,) array, N·m
        τ_D of the inverse dynamics, τ_K of the wheel-axis loop.
    indicator : float, rad
        |Ψ|.
    lambda_1, lambda_2 : float, ≥ 0
        0, 0 is the paper's Table I: both weights are one and the fusion is a plain sum.

    Examples
    --------
    >>> import numpy as np
    >>> fuse(np.ones(3), 2 * np.ones(3), 1.0, 0.0, 0.0)
    array([3., 3., 3.])
    """
    c = abs(math.cos(indicator))
    return (1.0 - c) ** lambda_1 * dynamics + c ** lambda_2 * kinematics
