# SPDX-License-Identifier: Apache-2.0
"""
Paths of a platform whose yaw is independent of its direction of travel.

A path is a curve in (X, Y, φ) with a parameter σ in metres from 0 to `length`; where the platform
only turns, a radian is `TURN_LENGTH` metres of σ. A path from a pose to itself has length zero
and a zero tangent, and σ = 0 is closest to every pose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from c3p_description.model import Array
from c3p_kernels.elementary import wrap_angle

# length of a radian of turning in a distance between poses, m
TURN_LENGTH = 0.2

# search range around the last closest place, m
SEARCH = 0.3


class Path(Protocol):
    """A curve in (X, Y, φ)."""

    @property
    def length(self) -> float:
        """Largest σ, m."""

    def at(self, sigma: Array) -> tuple[Array, Array]:
        """
        Return poses (k, 3) and their derivatives by σ (k, 3), the tangents, at `sigma` (k,), m.

        σ is clamped to the length. The planar part of a tangent has length 1 along arcs; along a
        line the larger of its length and ``TURN_LENGTH |dφ/dσ|`` is 1. All are zero on a path of
        length zero.
        """


@dataclass(frozen=True)
class StraightLine:
    """
    Straight line from one pose (X, Y, φ) to another, the yaw changing evenly with the distance.

    The shorter turn is taken. Equal poses make a path of length zero.

    Attributes
    ----------
    start, goal, step : (3,) arrays
        As given, and the way between them: m and rad.
    length : float, m
        Larger of the distance and the length of the turn.

    Examples
    --------
    >>> here = StraightLine(np.ones(3), np.ones(3))
    >>> here.length, here.at(np.zeros(1))[1].tolist()
    (0.0, [[0.0, 0.0, 0.0]])
    """

    start: Array
    goal: Array
    step: Array = field(init=False)
    length: float = field(init=False)
    _rate: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Compute what is the same at every place."""
        start = np.array(self.start, float)
        goal = np.array(self.goal, float)
        step = goal - start
        step[2] = wrap_angle(step[2])
        length = max(math.hypot(step[0], step[1]), TURN_LENGTH * abs(float(step[2])))
        for name, value in (('start', start), ('goal', goal), ('step', step), ('length', length),
                            ('_rate', step / length if length > 0.0 else np.zeros(3))):
            object.__setattr__(self, name, value)

    def at(self, sigma: Array) -> tuple[Array, Array]:
        """Return poses and derivatives; see `Path`."""
        sigma = np.minimum(np.maximum(np.asarray(sigma, float), 0.0), self.length)
        rates = np.empty((len(sigma), 3))
        rates[:] = self._rate
        return self.start + sigma[:, None] * self._rate, rates

    def tracking_errors(self, pose: Array) -> tuple[float, float]:
        """
        Return the tracking errors of `pose` (3,), m and rad, with the signs of Nav2.

        The position error is the distance from the closest place of the line, positive on the left
        of its direction; on a line that only turns it is positive. The heading error is the yaw at
        that place minus the present yaw, wrapped: positive where the robot is turned too far to
        the right.

        Examples
        --------
        >>> ahead = StraightLine(np.zeros(3), np.array([2.0, 0.0, 1.0]))
        >>> ahead.tracking_errors(np.array([1.0, 0.1, 0.2]))
        (0.1, 0.3)
        """
        gap = np.asarray(pose, float) - self.start
        step = self.step
        gap[2] = wrap_angle(gap[2])
        planar = float(step[:2] @ step[:2])
        # where the line only turns its places differ in yaw alone
        part, whole = (float(gap[:2] @ step[:2]), planar) if planar > 0.0 else (
            gap[2] * step[2], step[2] * step[2])
        share = min(max(part / whole, 0.0), 1.0) if whole > 0.0 else 0.0
        rest = gap - share * step
        side = step[0] * gap[1] - step[1] * gap[0]
        return (math.copysign(math.hypot(rest[0], rest[1]), side if planar > 0.0 else 1.0),
                float(wrap_angle(-rest[2])))


@dataclass(frozen=True)
class Arcs:
    """
    Circular arcs with continuous tangents; the platform keeps its yaw relative to them.

    Attributes
    ----------
    start : (3,) array
        X, Y, φ at the begin.
    travel : float, rad
        Direction of travel in ``base_link``; π/2 is along +Y, as in the papers' figure eight.
    pieces : tuple of (length, curvature)
        m and 1/m, at least one; positive curvature turns left. A length may be 0.

    Raises
    ------
    ValueError
        No pieces, a length that is negative, or a number that is not finite.

    Examples
    --------
    >>> ring = Arcs(np.zeros(3), 0.0, ((2.0 * np.pi, 1.0),))
    >>> (ring.at(np.array([np.pi]))[0][0].round(9) + 0.0).tolist()
    [0.0, 2.0, 3.141592654]
    """

    start: Array
    travel: float
    pieces: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        """Reject invalid pieces."""
        if not self.pieces or not all(0.0 <= length < math.inf and math.isfinite(curvature)
                                      for length, curvature in self.pieces):
            raise ValueError(f'pieces = {self.pieces}: must be one or more (length, curvature), '
                             'finite, no length negative')

    @property
    def length(self) -> float:
        """Length of all arcs, m."""
        return sum(length for length, _ in self.pieces)

    def at(self, sigma: Array) -> tuple[Array, Array]:
        """Return poses and derivatives; see `Path`."""
        total = self.length
        sigma = np.clip(np.asarray(sigma, float), 0.0, total)
        pose = np.empty((len(sigma), 3))
        rate = np.empty((len(sigma), 3))
        x = float(self.start[0])
        y = float(self.start[1])
        heading = self.start[2] + self.travel
        begin = 0.0
        for number, (length, curvature) in enumerate(self.pieces):
            last = number == len(self.pieces) - 1
            here = (sigma >= begin) & ((sigma < begin + length) | last)
            s = np.clip(sigma[here] - begin, 0.0, length)
            pose[here], rate[here] = _arc(x, y, heading, self.travel, s, curvature)
            end, _ = _arc(x, y, heading, self.travel, np.array([length]), curvature)
            x = end[0, 0]
            y = end[0, 1]
            heading = end[0, 2] + self.travel
            begin += length
        return pose, rate if total > 0.0 else np.zeros_like(rate)


def _arc(x: float, y: float, heading: float, travel: float, s: Array, curvature: float
         ) -> tuple[Array, Array]:
    """Return poses and tangents at the lengths `s` along an arc."""
    angle = heading + curvature * s
    half = 0.5 * curvature * s
    # the chord, s sin(half)/half long, points half the turn aside: good for any curvature
    chord = s * np.sinc(half / math.pi)
    px, py = x + chord * np.cos(heading + half), y + chord * np.sin(heading + half)
    pose = np.column_stack([px, py, angle - travel])
    rate = np.column_stack([np.cos(angle), np.sin(angle), np.full(len(s), curvature)])
    return pose, rate


def figure_eight(start: Array, radius: float, travel: float = math.pi / 2) -> Arcs:
    """
    Return a ring to the left and one to the right from `start`; paper I, Fig. 11.

    Raises
    ------
    ValueError
        A `radius` that is not greater than zero and finite.
    """
    if not 0.0 < radius < math.inf:
        raise ValueError(f'radius = {radius}: must be greater than zero and finite')
    ring = 2.0 * math.pi * radius
    return Arcs(np.array(start, float), travel, ((ring, 1.0 / radius), (ring, -1.0 / radius)))


def closest(path: Path, pose: Array, near: float) -> float:
    """
    Return the σ of the place on `path` closest to `pose` (3,), searched around `near`, m.

    Distance counts ``|Δp|² + (TURN_LENGTH Δφ)²``; a few Newton steps, each no longer than SEARCH.
    On a path of length zero it is 0.

    Examples
    --------
    >>> closest(StraightLine(np.zeros(3), np.zeros(3)), np.array([0.3, 0.0, 0.1]), 0.0)
    0.0
    """
    length = path.length
    sigma = min(max(near, 0.0), length)
    weight = np.array([1.0, 1.0, TURN_LENGTH**2])
    for _ in range(4):
        here, rate = path.at(np.array([sigma]))
        gap = pose - here[0]
        gap[2] = wrap_angle(gap[2])
        slope = weight * rate[0]
        steepness = float(slope @ rate[0])
        if steepness == 0.0:
            # path of length zero
            return sigma
        step = float(slope @ gap) / steepness
        after = min(max(sigma + min(max(step, -SEARCH), SEARCH), 0.0), length)
        if abs(after - sigma) < 1e-6:
            return after
        sigma = after
    return sigma
