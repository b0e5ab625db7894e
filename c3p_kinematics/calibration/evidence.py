# SPDX-License-Identifier: Apache-2.0
"""
Recent windows of motion, and whether another estimate explains them better.

A filter that gates windows by its own estimate has no exit from a wrong one. The last windows are
therefore kept, and each is compared with estimates that start elsewhere: if the probability of
the windows since some moment is larger by `CHANGED`, conditions have changed at that moment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri

from c3p_description.model import Array
from c3p_kinematics.calibration import _evidence_kernels as kernels

# windows that are kept; some 15 m of a robot of 0.35 m
WINDOWS = 64

# gain of evidence, nats, by which another estimate takes over: changes are as rare as one in
# 10^5 windows, and noise is not as white as the model states
CHANGED = 16.0

# windows from which the noise is measured, and that of another estimate
LEAST = 16
FEW = 6

# information gain, nats, below which the innovation of a window is mostly noise
KNOWN = 0.75

# part of the windows from whose largest innovation the noise is measured: a quarter may have slip
QUARTILE = 0.75

# limits of the noise factor: windows are not taken as better than the encoders state; above the
# second no lengths explain the motion (explained.py)
LARGEST_NOISE = 10.0


class Start(NamedTuple):
    """
    Estimate before windows that it may explain.

    Attributes
    ----------
    name : str
    unknown, covariance : (k,), (k, k) arrays
        In units of the prior.
    """

    name: str
    unknown: Array
    covariance: Array


class BetterEstimate(NamedTuple):
    """
    Estimate that explains the last `windows` better than the present one.

    Attributes
    ----------
    name : str
        Of its start.
    unknown, covariance : (k,), (k, k) arrays
        After these windows.
    windows : int
    gain : float, nats
        Logarithm of the ratio of probabilities.
    """

    name: str
    unknown: Array
    covariance: Array
    windows: int
    gain: float


class WindowHistory:
    """
    The last windows of motion, as equations that are linear in the unknowns.

    Parameters
    ----------
    rows : int
        Equations of a window.
    unknowns : int
    limit : float
        Normalised innovation squared beyond which a window contradicts an estimate.
    most : float
        Largest size of an unknown.
    measured : int, optional
        Equations that measurements redundantly give, the degrees of freedom; all by default.

    Attributes
    ----------
    noise : float
        Residuals in units of their stated noise, from 1 to `LARGEST_NOISE`, by the upper quartile
        of the innovations.
    """

    def __init__(self, rows: int, unknowns: int, limit: float, most: float,
                 measured: int | None = None) -> None:
        self._constant = np.zeros((WINDOWS, rows))
        self._rows = np.zeros((WINDOWS, rows, unknowns))
        self._squares = np.zeros(WINDOWS)
        self._gains = np.zeros(WINDOWS)
        self._contradicted = np.zeros(WINDOWS, bool)
        self._limit = limit
        self._most = most
        self._quartile = float(chdtri(measured or rows, 1.0 - QUARTILE))
        self.clear()

    def clear(self) -> None:
        """Forget all windows, and the noise."""
        self._count = self._next = 0
        self.noise = 1.0

    def __len__(self) -> int:
        """Return the number of windows that are kept."""
        return self._count

    def add(self, value: Array, rows: Array, unknown: Array, square: float, gain: float) -> None:
        """
        Add a window, judged by the present estimate.

        Parameters
        ----------
        value, rows : (m,), (m, k) arrays
            Residuals at `unknown`, of unit variance at the stated noise, and derivatives.
        unknown : (k,) array
        square : float
            Normalised innovation squared, for the present `noise`.
        gain : float, nats
            Information gain.
        """
        at = self._next
        self._constant[at] = value - rows @ unknown
        self._rows[at] = rows
        self._squares[at] = square * self.noise**2
        self._gains[at] = gain
        self._contradicted[at] = not square <= self._limit
        self._next = (at + 1) % WINDOWS
        self._count = min(self._count + 1, WINDOWS)

    def drop(self, count: int) -> None:
        """Forget the newest windows, `count` of them."""
        count = min(count, self._count)
        self._next = (self._next - count) % WINDOWS
        self._count -= count

    def contradicted(self) -> int:
        """Return how many of the windows that are kept contradicted the estimate."""
        return int(np.count_nonzero(self._contradicted[self._order()]))

    def measure_noise(self) -> float:
        """Update `noise` by the windows that are kept, and return it."""
        order = self._order()
        # innovations of an uncertain estimate show its errors, not the noise
        known = self._squares[order[self._gains[order] < KNOWN]]
        if len(known) >= LEAST:
            self.noise = self._noise_of(known)
        return self.noise

    def warm_up(self) -> None:
        """Compile the kernels."""
        k = self._rows.shape[2]
        self._explained(Start('', np.zeros(k), np.eye(k)), np.zeros(1, int), 1.0)

    def better_estimate(self, starts: Sequence[Start]) -> BetterEstimate | None:
        """Return the estimate from one of the `starts` that explains the last windows better."""
        order = self._order()
        # another estimate can gain no more than what the windows cost the present one
        cost = 0.5 * np.minimum(self._squares[order] / self.noise**2, self._limit)
        if cost.sum() + self._gains[order].sum() < CHANGED:
            return None
        found = [(start, *self._explained(start, order, self.noise)) for start in starts]
        start, best, squares = max(found, key=lambda one: one[1].gain)
        if best.gain < CHANGED:
            return None
        # on a floor that is worse than stated, lengths that fit its noise are no better
        noise = self._noise_of(squares[:best.windows])
        if noise > self.noise:
            best, squares = self._explained(start, order, noise)
        return None if best.gain < CHANGED else self._taken(best, squares, order)

    def _noise_of(self, squares: Array) -> float:
        """Return the noise factor of innovations (c,) squared, 1 where they are too few."""
        if len(squares) < FEW:
            return 1.0
        ratio = float(np.quantile(squares, QUARTILE)) / self._quartile
        return min(max(1.0, math.sqrt(ratio)), LARGEST_NOISE)

    def _explained(self, start: Start, order: Array, noise: float) -> tuple[BetterEstimate, Array]:
        windows = self._constant, self._rows, self._squares, self._gains
        unknown = np.empty_like(start.unknown)
        covariance = np.empty_like(start.covariance)
        squares = np.empty(len(order))
        gain, count = kernels.trace_back(
            windows, order, (start.unknown, start.covariance),
            np.array([noise, self._limit, self._most]), (unknown, covariance), squares)
        return BetterEstimate(start.name, unknown, covariance, count, gain), squares * noise**2

    def _taken(self, best: BetterEstimate, squares: Array, order: Array) -> BetterEstimate:
        """Judge the windows by their explanation from here on, and forget those before."""
        kept = order[:best.windows]
        self._squares[kept] = squares[:best.windows]
        self._gains[kept] = 0.0
        self._contradicted[kept] = ~(squares[:best.windows] <= self._limit * self.noise**2)
        self._count = best.windows
        return best

    def _order(self) -> Array:
        """Return the indices of the windows, from the newest on."""
        return (self._next - 1 - np.arange(self._count)) % WINDOWS
