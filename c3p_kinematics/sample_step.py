# SPDX-License-Identifier: Apache-2.0
"""
Time steps of samples whose stamps are not the times of the samples.

A controller manager inside a simulator stamps with the /clock that it has received, which deviates
by milliseconds from the time of the sample: a speed from two angles would be wrong by half of it.
If angles and rates of the same instant are known, the increments Δq and the mean rates q̇ contain
the step. With σ_t the deviation of the stamps and σ_q that of Δq, the most likely step is

    Δt = (Δq·q̇ + λ Δt_stamp)/(q̇·q̇ + λ),   λ = (σ_q/σ_t)²

At rest it is that of the stamps, which does not matter there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from c3p_description.model import Array

# standard deviation of the increments of ideal encoders from those of the mean rates, rad
INCREMENT = 1e-4
# a received clock of a busy computer lags by less; a larger deviation is that of encoders that
# were set, s
LONGEST_LAG = 0.1


class SampleStep:
    """
    Steps of joint samples by their angles and rates.

    Parameters
    ----------
    jitter : float, s
        σ_t; 0: the steps are those of the stamps.

    Examples
    --------
    >>> pace, rates = SampleStep(0.003), (np.array([5.0]), np.array([4.0]))
    >>> pace.step(None, (np.array([0.0]), np.array([0.0])), rates)
    >>> round(pace.step(0.002, (np.array([0.025]), np.array([0.02])), rates), 4)
    0.005
    """

    def __init__(self, jitter: float) -> None:
        """Start without a sample."""
        self._jitter, self._weight = jitter, (INCREMENT / jitter)**2 if jitter else 0.0
        self._last: tuple[Array, Array] | None = None

    def step(self, stamped: float | None, angles: Sequence[Array],
             rates: Sequence[Array]) -> float | None:
        """
        Return the step to a sample, s; None for the first of a time line.

        Parameters
        ----------
        stamped : float or None, s
            Step of the stamps; None: a new time line.
        angles, rates : sequence of array, rad and rad/s
            Of the steering joints and wheels.
        """
        before, self._last = self._last, None
        if not self._jitter:
            return stamped
        angle, rate = np.concatenate(angles), np.concatenate(rates)
        self._last = angle, rate
        if stamped is None or before is None:
            return stamped
        mean = 0.5 * (before[1] + rate)
        step = (float((angle - before[0]) @ mean) + self._weight * stamped) / (
            float(mean @ mean) + self._weight)
        return step if abs(step - stamped) < LONGEST_LAG and step > 0.0 else stamped
