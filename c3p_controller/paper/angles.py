# SPDX-License-Identifier: Apache-2.0
"""
Arctangents of paper I, in all readings.

The paper prints ``arctan(−Ẏ, Ẋ)`` with two arguments for δ and β, and ``arctan(−Y/X)`` with one
for ϑ and δ_g. The minus sign makes angles grow clockwise, against Fig. 3 and against Φ.
"""

from __future__ import annotations

import math


def direction_angle(x: float, y: float, arctangent: str = 'two_argument',
                    sense: str = 'counter_clockwise') -> float:
    """
    Return the angle of the direction (x, y), rad.

    The `arctangent` of two arguments is in [−π, π]; at (0, 0) a multiple of π, as in every
    mathematics library. That of one argument is ``arctan(y/x)`` in floating point, in [−π/2, π/2]:
    opposite directions are the same, ``y/0`` is ±π/2 by the sign of the zero, and 0/0 is NaN. The
    clockwise `sense` is the paper's −y.

    Examples
    --------
    >>> direction_angle(0.0, 2.0) == direction_angle(0.0, 2.0, sense='clockwise') + math.pi
    True
    >>> direction_angle(-1.0, 1.0, 'one_argument') == direction_angle(1.0, -1.0)
    True
    >>> direction_angle(0.0, 0.0, 'one_argument')
    nan
    """
    side = -y if sense == 'clockwise' else y
    if arctangent == 'two_argument':
        return math.atan2(side, x)
    if x == 0.0:
        # Python raises where IEEE division returns inf or NaN
        if side == 0.0:
            return math.nan
        return math.copysign(math.pi / 2, side) * math.copysign(1.0, x)
    return math.atan(side / x)
