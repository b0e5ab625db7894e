# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types of kernels)
"""
Stall watch of the predictive controller: motion is commanded, and the robot makes no progress.

Near concurrent rolling lines, or with casters that are heavy to turn, the plan may end in a local
minimum: with every small change of the torques the cost rises, and the robot rests although it can
move. The manoeuvre that leaves takes longer than the horizon. After a stall the horizon is
stretched, and first guesses with long pushes compete (`guesses.bold_guesses`); when the robot
moves the horizon is restored.
"""

from __future__ import annotations

import math

from c3p_description.model import Array
from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import wrap_angle

# size with which yaw counts as a displacement, m/rad: that of the C3P
LEVER = 0.343

# a required speed below this is holding a place, m/s: 2.4 cm or 0.07 rad in a horizon of 0.8 s
REQUIRED = 0.03

# progress is a mean with this time constant, s, of the fraction of the required speed; below LEAST
# the robot is stalled, 1.2 s after it has stopped. Slowest manoeuvre of the C3P: 0.8 s
MEMORY = 0.5
LEAST = 0.1

# above this progress, again for the time constant, the horizon is restored
MOVES = 0.5

# factor by which a stall lengthens the horizon, and how often in succession
STRETCH = 2.0
LEVELS = 2

# attempts without progress in between: what does not move then is held
ATTEMPTS = 8

# fraction of the limits of the disturbing force above which something blocks the robot
HELD = 0.5


@kernel
def _fraction(state, rows, horizon):
    # speed towards the end of the horizon as a fraction of the required one, 0 to 1
    x, y = rows[-1, 0] - state[0], rows[-1, 1] - state[1]
    turn = LEVER * wrap_angle(rows[-1, 2] - state[2])
    required = math.sqrt(x * x + y * y + turn * turn) / horizon
    if not required > REQUIRED:
        return 1.0
    c, s = math.cos(state[2]), math.sin(state[2])
    along = (x * (c * state[3] - s * state[4]) + y * (s * state[3] + c * state[4])
             + turn * LEVER * state[5]) / (required * horizon)
    return min(max(along / required, 0.0), 1.0)


class StallWatch:
    """
    Watch of the progress towards the end of the horizon; the memory is its mean.

    Attributes
    ----------
    stretch : float
        Factor of the horizon, 1 without a stall.
    attempts : int
        Stalls since the last progress.

    Examples
    --------
    >>> import numpy as np
    >>> watch, rows = StallWatch(), np.zeros((3, 7))
    >>> rows[-1, 0] = 0.2
    >>> sum(watch.step(np.zeros(9), rows, 0.8, 0.0, 0.01) for _ in range(130)), watch.stretch
    (1, 2.0)
    """

    def __init__(self) -> None:
        """Start with progress."""
        self.reset()

    def reset(self) -> None:
        """Forget the stall."""
        self.stretch = 1.0
        self.attempts = 0
        self._progress = 1.0

    def step(self, state: Array, rows: Array, horizon: float, disturbance: float, dt: float
             ) -> bool:
        """
        Process a cycle, `dt` s after the last one; return whether the robot has just stalled.

        Parameters
        ----------
        state : (6 + n,) array
            As in _kernels.py.
        rows : (k, 7) array
            Reference from now to the end of the horizon.
        horizon : float, s
        disturbance : float
            Force, as a fraction of its limits.
        dt : float, s
        """
        fraction = _fraction(state, rows, horizon)
        self._progress += min(dt / MEMORY, 1.0) * (fraction - self._progress)
        if self._progress > MOVES and self.attempts:
            self.reset()
        if self._progress >= LEAST or disturbance > HELD or self.attempts >= ATTEMPTS:
            return False
        self.attempts += 1
        self.stretch = STRETCH ** min(self.attempts, LEVELS)
        # the same patience for each attempt
        self._progress = MOVES
        return True
