# SPDX-License-Identifier: Apache-2.0
"""
Stall watch of the predictive controller: motion is commanded, and the robot makes no progress.

Near concurrent rolling lines, or with casters that are heavy to turn, the plan may end in a local
minimum: with every small change of the torques the cost rises, and the robot rests although it can
move. The manoeuvre that leaves takes longer than the horizon. After a stall the horizon is
stretched, and first guesses with long pushes compete (`guesses.bold_guesses`); when the robot
moves the horizon is restored.
"""

from __future__ import annotations

from c3p_controller.predictive._stall_kernels import watch_alone
from c3p_controller.predictive.states import StallMemory
from c3p_description.model import Array


class StallWatch:
    """
    Watch of the progress towards the end of the horizon; the memory is its mean.

    Attributes
    ----------
    memory : StallMemory

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
        self.memory = StallMemory.new(0)
        self.reset()

    def use(self, block: Array) -> None:
        """Keep the memory in the `block` of a StallMemory from now on."""
        block[:] = self.memory.block
        self.memory = StallMemory.of(block, 0)

    @property
    def stretch(self) -> float:
        """Factor of the horizon, 1 without a stall."""
        return float(self.memory.stretch[0])

    @property
    def attempts(self) -> int:
        """Stalls since the last progress."""
        return int(self.memory.attempts[0])

    def reset(self) -> None:
        """Forget the stall."""
        self.memory.progress[0] = 1.0
        self.memory.attempts[0] = 0
        self.memory.stretch[0] = 1.0

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
        return bool(watch_alone(self.memory.block, state, rows, horizon, disturbance, dt))
