# SPDX-License-Identifier: Apache-2.0
"""
Least squares over the errors of short predictions, and the uncertainty of its result.

Unknowns are scaled to the order of 1. Standard deviations come from leaving out one segment at a
time (the delete-a-group jackknife, linearised), which is valid for errors that are correlated
within a segment, as those of rounded encoders and of an incomplete model are.
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

# steps of differences, relative to the scale: about the third root of a double's rounding, the
# optimum for central differences
DIFFERENCE = 1e-5

# least initial distance of an unknown from its lower bound, relative to the scale
LEAST_START = 0.1

# regularisation: deviation from the description, in scales, that costs as much as an error of one
# sample by its noise. It keeps the search from local minima along directions that the motion does
# not identify, and is negligible along all others
LEASH = 3.0

MOST_EVALUATIONS = 40

# normalised changes of the errors are dependent if a combination has less than this sum of squares
RANK_TOLERANCE = 1e-12

# squared component in a direction from which on an unknown takes part in it
TAKES_PART = 1e-6

# assumed noise before it is estimated, and its lower bound for exact simulations, m over ground
FIRST_NOISE = 1e-4
LEAST_NOISE = 1e-8


class ShootingFit:
    """
    Errors of all segments as functions of the unknowns `where`, scaled by `size` (p,).

    Attributes
    ----------
    x : (p,) array
        Unknowns over `size`.
    weight : (2n,) array, 1/m
        Inverse standard deviation of each joint's error.
    errors : (samples, 2n) array
        Weighted errors at `x`.
    """

    def __init__(self, robot: CasterRobot, shooting: Shooting, where: Sequence[Unknown],
                 size: Array, weight: Array | None = None) -> None:
        self.robot = robot
        self.shooting = shooting
        self.where, self.size = list(where), np.asarray(size)
        self.weight = (np.full(2 * robot.count, 1.0 / FIRST_NOISE) if weight is None else weight)
        low, _ = self._bounds()
        # friction begins above zero, or its smoothing would have no effect
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
        Minimise the sum of squares from the present unknowns.

        `tolerance` is the relative decrease at which the search ends, `leash` the regularisation
        (see `LEASH`), infinite for none.
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
        # a difference must not cross a bound
        return low / self.size + 2 * DIFFERENCE, high / self.size - 2 * DIFFERENCE

    def _residuals(self, x: Array) -> Array:
        self.errors, self._bases = self.shooting.settle(*self._model(x), self.weight)
        return self.errors.ravel()

    def _jacobian(self, x: Array) -> Array:
        """Return the slopes by one-sided differences: sufficient for the search."""
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
        """Weight both kinds of angles by their rms error (2,), m, in the median segment."""
        n = self.robot.count
        own = self.shooting.start.shape[1] / (2 * n)
        metres = self.errors / self.weight
        square = np.array([[np.sum(metres[rows, part]**2) / (n * max(rows.stop - rows.start - own,
                                                                    1.0))
                            for part in (slice(0, n), slice(n, None))]
                           for rows in self.shooting.rows])
        noise = np.maximum(np.sqrt(np.median(square, axis=0)), LEAST_NOISE)
        self.errors = self.errors / (np.repeat(noise, n) * self.weight)
        self.weight = 1.0 / np.repeat(noise, n)
        self._known_slopes = None
        return noise

    def segment_errors(self) -> Array:
        """Return the rms of each segment's weighted errors (S,), 1 being the noise."""
        freedoms = self.shooting.start.shape[1]
        return np.array([np.sqrt(np.sum(self.errors[rows]**2)
                                 / max(self.errors[rows].size - freedoms, 1))
                         for rows in self.shooting.rows])

    def of(self, shooting: Shooting, without: int = -1) -> ShootingFit:
        """Return a fit of other segments from the present unknowns, one of them left out."""
        kept = [i for i in range(len(self.where)) if i != without]
        fit = ShootingFit(self.robot, shooting, [self.where[i] for i in kept], self.size[kept],
                          self.weight)
        fit.x = self.x[kept]
        return fit

    def indistinct(self) -> Array:
        """Return which unknowns (p,) have no effect, or none that is distinct from others."""
        self.settle()
        slopes = self._slopes()
        norm = np.sqrt((slopes**2).sum(axis=0))
        empty = norm <= np.sqrt(RANK_TOLERANCE) * norm.max()
        unit = slopes / np.where(empty, 1.0, norm)
        value, vector = np.linalg.eigh(unit.T @ unit)
        # unknowns that take part in directions without any effect on the errors
        blind = vector[:, value < RANK_TOLERANCE]
        return empty | ((blind**2).sum(axis=1) > TAKES_PART)

    def spread(self) -> tuple[Array, Array]:
        """
        Return standard deviations (p,) of the unknowns, in their units, and correlations (p, p).

        A deviation is infinite if one segment only identifies the unknown.
        """
        p = len(self.x)
        width = self.errors.shape[1]
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
        Return the sensitivity of the errors to each unknown (p,), relative to the description.

        Greater than 1 if the search has ended at values at which an unknown has more effect than
        at its description. The comparison resets masses and lengths to the description; friction
        and delay stay, as the errors are nearly linear in them.
        """
        other = self.of(self.shooting.part(slice(None)))
        stay = np.array([u.parameter in (*FRICTION, 'delay') for u in self.where])
        other.x = np.where(stay, self.x, np.maximum(self._described, self._bounds()[0]))
        other.settle()
        with np.errstate(divide='ignore'):
            return (np.sqrt((self._slopes()**2).sum(axis=0))
                    / np.sqrt((other._slopes()**2).sum(axis=0)))

    def influence(self, fixed: Sequence[Unknown], part: float) -> Array:
        """Return the changes (k, p) of the unknowns if k `fixed` numbers grow by a `part`."""
        robot, delay = self.model

        def end(unknown: Unknown, factor: float) -> tuple[CasterRobot, float]:
            return with_values(robot, [unknown], [factor * described(robot, unknown)])[0], delay

        changed = self._unexplained([
            self._between(end(u, 1.0 + part / 2), end(u, 1.0 - part / 2)) for u in fixed])
        shift = np.linalg.lstsq(self._slopes(), -changed, rcond=None)[0]
        return (shift * self.size[:, None]).T


def _solve(matrix: Array, right: Array) -> Array:
    """Return the solution of a symmetric system, infinite for undetermined unknowns."""
    value, vector = np.linalg.eigh(matrix)
    known = value > RANK_TOLERANCE
    found = vector[:, known] @ ((vector[:, known].T @ right) / value[known])
    return np.where((vector[:, ~known]**2).sum(axis=1) > TAKES_PART, np.inf, found)
