# SPDX-License-Identifier: Apache-2.0
"""
Least squares over the errors of short predictions, and how far its result can be trusted.

Unknowns are scaled, so that 1 is much of each. Deviations come from leaving out one segment at a
time (the delete-a-group jackknife, linearised): errors within a segment may be as correlated as
they like. Those of rounded encoders are, and so is what the model does not know.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import least_squares

from c3p_description.model import Array, CasterRobot
from c3p_dynamics.identification.parameters import (
    FRICTION,
    Unknown,
    bounds,
    described,
    with_values,
)
from c3p_dynamics.identification.shooting import Shooting

# steps of differences, parts of the scale: about the third root of a double's rounding, the best
# for central ones
DIFFERENCE = 1e-5

# least distance from a lower bound at which an unknown begins, parts of the scale
LEAST_START = 0.1

# how far the search may stray from the description in directions that the motion does not show: it
# would find wrong places there where the equations bend. In all others the pull is nothing
LEASH = 3.0

MOST_EVALUATIONS = 40

# changes of the errors of unit length that are dependent to this part of their sum of squares are
# the same but for rounding
RANK_TOLERANCE = 1e-12

# share of a direction from which on an unknown belongs to it
TAKES_PART = 1e-6

# what an encoder resolves before that is known, and what none does, m over ground: exact
# simulations must not divide by zero
FIRST_NOISE, LEAST_NOISE = 1e-4, 1e-8


class ShootingFit:
    """
    The errors of all segments as functions of scaled unknowns.

    Parameters
    ----------
    robot : CasterRobot
    shooting : Shooting
    where : sequence of Unknown
    size : (p,) array
        What counts as much of each; see `parameters.scale`.
    weight : (2n,) array, 1/m, optional
        Inverse deviation of each joint's error.

    Attributes
    ----------
    x : (p,) array
        Unknowns over `size`.
    errors : (samples, 2n) array
        Weighted errors at `x`.
    """

    def __init__(self, robot: CasterRobot, shooting: Shooting, where: Sequence[Unknown],
                 size: Array, weight: Array | None = None) -> None:
        self.robot, self.shooting = robot, shooting
        self.where, self.size = list(where), np.asarray(size)
        self.weight = (np.full(2 * robot.count, 1.0 / FIRST_NOISE) if weight is None else weight)
        low, _ = self._bounds()
        # friction begins with something, or its smoothing would have no effect
        self._described = np.array([described(robot, u) for u in where]) / self.size
        self.x = np.maximum(self._described,
                            np.where(np.isfinite(low), low + LEAST_START, -np.inf))
        self._known_slopes: tuple[Array, Array] | None = None

    @property
    def values(self) -> Array:
        """The unknowns in their units."""
        return self.x * self.size

    @property
    def model(self) -> tuple[CasterRobot, float]:
        """The robot and the delay (s) with the unknowns in them."""
        return self._model(self.x)

    def _model(self, x: Array) -> tuple[CasterRobot, float]:
        return with_values(self.robot, self.where, x * self.size)

    def settle(self) -> None:
        """Compute the errors at `x`."""
        self._residuals(self.x)

    def solve(self, tolerance: float = 1e-8, leash: float = LEASH) -> None:
        """
        Find the unknowns with the least sum of squares, from where they are.

        Parameters
        ----------
        tolerance : float
            Part by which the sum still falls when the search ends.
        leash : float
            Deviation from the description, in sizes, that counts as much as one sample that is
            wrong by the noise; infinite is none.
        """
        low, high = self._bounds()
        pull = np.eye(len(self.x)) / leash

        def residuals(x: Array) -> Array:
            return np.concatenate([self._residuals(x), pull @ (x - self._described)])

        def jacobian(x: Array) -> Array:
            return np.vstack([self._jacobian(x), pull])

        self.x = least_squares(residuals, np.clip(self.x, low, high), jacobian,
                               bounds=(low, high), method='dogbox', xtol=1e-7, ftol=tolerance,
                               gtol=None, max_nfev=MOST_EVALUATIONS).x
        self.settle()

    def _bounds(self) -> tuple[Array, Array]:
        settings = self.shooting.settings
        low, high = bounds(self.where, self.robot, settings.most_delay, settings.least_smoothing)
        # a difference must not step over a bound
        return low / self.size + 2 * DIFFERENCE, high / self.size - 2 * DIFFERENCE

    def _residuals(self, x: Array) -> Array:
        self.errors, self._bases = self.shooting.settle(*self._model(x), self.weight)
        return self.errors.ravel()

    def _jacobian(self, x: Array) -> Array:
        """Return the slopes by differences to one side: good enough to search with."""
        here = self.errors / self.weight
        return self._unexplained([self.shooting.errors(*self._model(x + s)) - here
                                  for s in DIFFERENCE * np.eye(len(x))]) / DIFFERENCE

    def _slopes(self) -> Array:
        """Return the slopes at `x`, (samples · 2n, p), by central differences."""
        if self._known_slopes is None or self._known_slopes[0] is not self.x:
            ends = [(self._model(self.x + s), self._model(self.x - s))
                    for s in DIFFERENCE * np.eye(len(self.x))]
            slopes = self._unexplained([self._between(*e) for e in ends]) / (2 * DIFFERENCE)
            self._known_slopes = self.x, slopes
        return self._known_slopes[1]

    def _between(self, above: tuple[CasterRobot, float], below: tuple[CasterRobot, float]
                 ) -> Array:
        return self.shooting.errors(*above) - self.shooting.errors(*below)

    def _unexplained(self, changed: Sequence[Array]) -> Array:
        return self.shooting.unexplained(self.weight[:, None] * np.stack(changed, axis=-1),
                                         self._bases)

    def weigh(self) -> Array:
        """
        Weigh steering and wheel angles by the noise that their errors show.

        Returns
        -------
        (2,) array, m
            Rms error of each kind, over ground, in the median segment.
        """
        n = self.robot.count
        own = self.shooting.start.shape[1] / (2 * n)
        metres = self.errors / self.weight
        square = np.array([[np.sum(metres[rows, part]**2) / (n * max(rows.stop - rows.start - own,
                                                                    1.0))
                            for part in (slice(0, n), slice(n, None))]
                           for rows in self.shooting.rows])
        noise = np.maximum(np.sqrt(np.median(square, axis=0)), LEAST_NOISE)
        self.errors = self.errors / (np.repeat(noise, n) * self.weight)
        self.weight, self._known_slopes = 1.0 / np.repeat(noise, n), None
        return noise

    def segment_errors(self) -> Array:
        """Return the rms of each segment's weighted errors (S,), 1 being the noise."""
        freedoms = self.shooting.start.shape[1]
        return np.array([np.sqrt(np.sum(self.errors[rows]**2)
                                 / max(self.errors[rows].size - freedoms, 1))
                         for rows in self.shooting.rows])

    def of(self, shooting: Shooting) -> ShootingFit:
        """Return a fit of other segments, from the same place."""
        fit = ShootingFit(self.robot, shooting, self.where, self.size, self.weight)
        fit.x = self.x
        return fit

    def without(self, index: int) -> ShootingFit:
        """Return a fit, from the same place, that leaves the unknown at `index` as described."""
        rest = [i for i in range(len(self.where)) if i != index]
        fit = ShootingFit(self.robot, self.shooting, [self.where[i] for i in rest],
                          self.size[rest], self.weight)
        fit.x = self.x[rest]
        return fit

    def indistinct(self) -> Array:
        """
        Return which unknowns (p,) the motion does not show at all, or not apart from others.

        Found from the singular directions of the errors' slopes at `x`.
        """
        self.settle()
        slopes = self._slopes()
        norm = np.sqrt((slopes**2).sum(axis=0))
        empty = norm <= np.sqrt(RANK_TOLERANCE) * norm.max()
        unit = slopes / np.where(empty, 1.0, norm)
        value, vector = np.linalg.eigh(unit.T @ unit)
        # who takes part in the directions that change no error
        blind = vector[:, value < RANK_TOLERANCE]
        return empty | ((blind**2).sum(axis=1) > TAKES_PART)

    def spread(self) -> tuple[Array, Array]:
        """
        Return by how much the unknowns may be wrong, in their units.

        Returns
        -------
        deviation : (p,) array
            Infinite where one segment is all that tells an unknown.
        correlation : (p, p) array
        """
        p, width = len(self.x), self.errors.shape[1]
        jacobian = self._slopes()
        norm = np.sqrt((jacobian**2).sum(axis=0))
        jacobian = jacobian / norm
        whole = jacobian.T @ jacobian
        without = np.empty((len(self.shooting.rows), p))
        for s, rows in enumerate(self.shooting.rows):
            part = jacobian[rows.start * width:rows.stop * width]
            without[s] = _solve(whole - part.T @ part, part.T @ self.errors[rows].ravel())
        count = len(without)
        with np.errstate(invalid='ignore'):
            covariance = (count - 1) / count * without.T @ without
            deviation = np.sqrt(np.diag(covariance))
            correlation = covariance / np.outer(deviation, deviation)
        return deviation / norm * self.size, np.where(np.isfinite(correlation), correlation, 0.0)

    def blunter(self) -> Array:
        """
        Return how much less the errors change with each unknown (p,) near the description.

        Greater than 1 where the search has come to a place at which the motion seems to show an
        unknown better than it does at the description. Masses, lengths and the like are as
        described; friction and delay stay, as the errors are nearly linear in them.
        """
        other = self.of(self.shooting.part(slice(None)))
        stay = np.array([u.parameter in (*FRICTION, 'delay') for u in self.where])
        other.x = np.where(stay, self.x, np.maximum(self._described, self._bounds()[0]))
        other.settle()
        with np.errstate(divide='ignore'):
            return (np.sqrt((self._slopes()**2).sum(axis=0))
                    / np.sqrt((other._slopes()**2).sum(axis=0)))

    def influence(self, fixed: Sequence[Unknown], part: float) -> Array:
        """
        Return how the unknowns change with numbers that were not estimated.

        Parameters
        ----------
        fixed : sequence of Unknown
        part : float
            By which each is made larger, such as 0.01.

        Returns
        -------
        (len(fixed), p) array
            In the unknowns' units.
        """
        robot, delay = self.model

        def end(unknown: Unknown, factor: float) -> tuple[CasterRobot, float]:
            return with_values(robot, [unknown], [factor * described(robot, unknown)])[0], delay

        changed = self._unexplained([
            self._between(end(u, 1.0 + part / 2), end(u, 1.0 - part / 2)) for u in fixed])
        shift = np.linalg.lstsq(self._slopes(), -changed, rcond=None)[0]
        return (shift * self.size[:, None]).T


def _solve(matrix: Array, right: Array) -> Array:
    """Return the solution of a symmetric system, infinite in the unknowns it does not tell."""
    value, vector = np.linalg.eigh(matrix)
    told = value > RANK_TOLERANCE
    found = vector[:, told] @ ((vector[:, told].T @ right) / value[told])
    return np.where((vector[:, ~told]**2).sum(axis=1) > TAKES_PART, np.inf, found)
