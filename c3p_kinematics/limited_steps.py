# SPDX-License-Identifier: Apache-2.0
"""
Steps of values that move to a target, time-optimal within limits of their rate and its change.

Several values are one vector: they move along the straight line to the target and arrive together.
Limits are norms, so that each limits a combination of the components: the time which a difference
takes at the largest rate, and the time which a change of the rate takes at its limit. A norm
without a limit returns 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array

# of a number of steps
ROUNDING = 1e-9

Norm = Callable[[Array], float]


class StepLimits(NamedTuple):
    """
    Limits of one step.

    Attributes
    ----------
    rate : callable
        Of a difference (n,): time that it takes at the largest rate, s.
    change : callable
        Of a difference of rates (n,): time that it takes at the largest change of the rate, s.
    """

    rate: Norm
    change: Norm


def next_rate(error: ArrayLike, rate: ArrayLike, dt: float, limits: StepLimits,
              part: float = 1.0) -> Array:
    """
    Return the rate (n,) of the next `dt` [s] at which values reach their target soonest.

    The rate along the error is the largest one from which k steps, slower each by the limit c of
    the change, still end at the target: ``k v − c k (k − 1)/2 = |error|/dt`` with the least k for
    which ``|error| ≤ c dt k (k + 1)/2``. `part` of it is approached within the same limit, and the
    components across the error end. A target that stands is not passed.

    Parameters
    ----------
    error, rate : (n,) array_like
        Target minus present value, and the present rate.
    dt : float, s
    limits : StepLimits
    part : float, 0 to 1
        Of the rate; 0 stops.

    Examples
    --------
    >>> limits = StepLimits(lambda d: float(np.abs(d).max()) / 2.0, lambda d: 0.0)
    >>> next_rate([1.0, 0.5], [0.0, 0.0], 0.01, limits).tolist()  # at most 2, and in step
    [2.0, 1.0]
    """
    away = np.asarray(error, float)
    present = np.asarray(rate, float)
    # rates as fractions of the error, 1/s; the last steps as fractions of what one step changes
    slowness = limits.change(away) / dt**2
    steps = max(1, math.ceil(0.5 * (math.sqrt(1.0 + 8.0 * slowness) - 1.0) - ROUNDING))
    fastest = 1.0 / (steps * dt)
    if steps > 1:
        fastest += 0.5 * (steps - 1) / (slowness * dt)
    if (duration := limits.rate(away)) > 0.0:
        fastest = min(fastest, 1.0 / duration)
    change = part * fastest * away - present
    duration = limits.change(change)
    return present + (change if duration <= dt else change * (dt / duration))


def straightened_twist(twist: ArrayLike, duration: float) -> Array:
    """
    Return the constant twist (3,) that ends where `twist` ends along a straight line.

    A robot that turns with ω and holds its velocity in ``base_link`` drives an arc, and after the
    time T it is turned by ωT/2 from a path that is straight over the floor, ``(vx T, vy T)``. The
    twist whose arc ends there, with the rotation ωT, is the logarithm of that pose over T:

        v' = (ωT/2) cot(ωT/2) v − (ωT/2) ẑ×v

    Parameters
    ----------
    twist : (3,) array_like, m/s and rad/s
    duration : float, s
        T; half a turn at most.

    Examples
    --------
    >>> straightened_twist([1.0, 0.0, 0.2], 0.1).round(5).tolist()
    [0.99997, -0.01, 0.2]
    """
    vx, vy, yaw_rate = np.asarray(twist, float)
    half = 0.5 * min(max(yaw_rate * duration, -math.pi), math.pi)
    # x cot x; 1 − x²/3 where its rounding is larger
    along = half / math.tan(half) if abs(half) > 1e-4 else 1.0 - half * half / 3.0
    return np.array([along * vx + half * vy, along * vy - half * vx, yaw_rate])
