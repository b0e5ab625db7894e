# SPDX-License-Identifier: Apache-2.0
"""
Verner's Runge-Kutta pair of orders 5 and 6, known from the routine DVERK.

Eight stages; the solution of order 6 is continued, its difference from that of order 5 controls
the step. Like DVERK it steps exactly onto each requested time, so that their distance bounds the
step. J. H. Verner, SIAM J. Numer. Anal. 15 (1978).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array

NODES = np.array([0, 1/6, 4/15, 2/3, 5/6, 1, 1/15, 1])
STAGES = np.array([
    [0, 0, 0, 0, 0, 0, 0],
    [1/6, 0, 0, 0, 0, 0, 0],
    [4/75, 16/75, 0, 0, 0, 0, 0],
    [5/6, -8/3, 5/2, 0, 0, 0, 0],
    [-165/64, 55/6, -425/64, 85/96, 0, 0, 0],
    [12/5, -8, 4015/612, -11/36, 88/255, 0, 0],
    [-8263/15000, 124/75, -643/680, -81/250, 2484/10625, 0, 0],
    [3501/1720, -300/43, 297275/52632, -319/2322, 24068/84065, 0, 3850/26703]])
SIXTH = np.array([3/40, 0, 875/2244, 23/72, 264/1955, 0, 125/11592, 43/616])
FIFTH = np.array([13/160, 0, 2375/5984, 5/16, 12/85, 3/44, 0, 0])
ERROR = SIXTH - FIFTH

# a step aims at this fraction of the tolerance, and changes by no more than these factors
_SAFETY = 0.9
_SHORTEST = 0.2
_LONGEST = 2.0
# a step below this fraction of the time is rounding
_ROUNDING = 1e-14


class Integrated(NamedTuple):
    """
    A solution.

    Attributes
    ----------
    states : (k, n) array
        At the requested times, the first of which is the start.
    steps, rejected, evaluations : int
        Accepted steps, rejected steps, and calls of the right-hand side.
    """

    states: Array
    steps: int
    rejected: int
    evaluations: int


def step(right: Callable[[float, Array], Array], time: float, state: Array, size: float,
         slope: Array) -> tuple[Array, Array]:
    """
    Return the state (n,) after one step of a `size`, and the estimate of its error (n,).

    `right` is ``right(time, state)``, the derivative (n,); `state` and `slope` (n,) are those at
    `time`.
    """
    k = np.empty((8, len(state)))
    k[0] = slope
    for i in range(1, 8):
        k[i] = right(time + NODES[i] * size, state + size * (STAGES[i, :i] @ k[:i]))
    return state + size * (SIXTH @ k), size * (ERROR @ k)


def integrate(right: Callable[[float, Array], Array], times: ArrayLike, start: ArrayLike,
              tolerance: float) -> Integrated:
    """
    Integrate a first-order system from the first of `times` through the others.

    Parameters
    ----------
    right : callable
        ``right(time, state)``, the derivative (n,).
    times : (k,) array_like
        Increasing; the steps end on each of them.
    start : (n,) array_like
        State at the first time.
    tolerance : float
        Largest error of a step in any state, relative to that state but to no less than 1.

    Raises
    ------
    ValueError
        Times that do not increase, a tolerance that is not positive, or a step that would become
        shorter than rounding.

    Examples
    --------
    >>> import numpy as np
    >>> found = integrate(lambda t, y: -y, [0.0, 1.0], [1.0], 1e-10)
    >>> bool(abs(found.states[-1, 0] - np.exp(-1)) < 1e-9)
    True
    """
    when = np.asarray(times, float)
    if when.ndim != 1 or len(when) < 1 or np.any(np.diff(when) <= 0):
        raise ValueError(f'times = {when.tolist()}: must increase')
    if not 0 < tolerance < np.inf:
        raise ValueError(f'tolerance = {tolerance}: must be positive and finite')
    state = np.array(start, float)
    states = [state]
    time = when[0]
    slope = right(time, state)
    size = float('inf')
    steps = 0
    rejected = 0
    for end in when[1:]:
        while time < end:
            own = min(size, end - time)
            found, error = step(right, time, state, own, slope)
            ratio = float(np.max(np.abs(error) / np.maximum(np.abs(state), 1.0))) / tolerance
            # estimates grow with the sixth power of the step; nan is rejected as too large
            factor = (_LONGEST if ratio == 0.0 else
                      min(_LONGEST, max(_SHORTEST, _SAFETY * ratio ** (-1 / 6))))
            if ratio <= 1.0:
                # a step shortened to end on a time does not shorten those after it
                time = time + own if own < end - time else end
                state = found
                size = own * factor if own == size else max(size, own * factor)
                slope = right(time, state)
                steps = steps + 1
            else:
                rejected += 1
                size = own * (factor if np.isfinite(ratio) else _SHORTEST)
                if size < _ROUNDING * max(abs(time), abs(end)):
                    raise ValueError(f'tolerance = {tolerance}: the step at {time} would be '
                                     'shorter than rounding; is the system finite there?')
        states.append(state)
    return Integrated(np.array(states), steps, rejected, 1 + 7 * (steps + rejected) + steps)
