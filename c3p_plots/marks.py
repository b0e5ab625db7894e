# SPDX-License-Identifier: Apache-2.0
"""Markers of the lines of casters: a few, where lines cross and can be mistaken for each other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from c3p_description.model import Array

# places of a panel that are compared, and its parts along x with at most one marker a line
PLACES = 480
PARTS = 10
# lines that are closer than this, fraction of the height of a panel, look like one
CLOSE = 0.02


def place_marks(sheet: Figure) -> None:
    """Place the markers of all lines of `palette.caster_marks` in a finished figure."""
    for axes in sheet.axes:
        lines = [line for line in axes.lines if _is_sparse(line)]
        shown = [line for line in lines
                 if np.isfinite(np.asarray(line.get_ydata(), float)).any()]
        for line in lines:
            # matplotlib fails to measure a line without points: unknown torques
            line.set_markevery(None)
        if shown:
            _mark(axes, shown)


def crossings(heights: Array) -> list[Array]:
    """
    Return the places (of k) where each of n lines has crossed another one.

    Parameters
    ----------
    heights : (n, k) array
        Of lines at common places, fractions of the height of the panel; nan beyond the ends of a
        line.

    Examples
    --------
    >>> rising = np.linspace(0.0, 1.0, 5)
    >>> [found.tolist() for found in crossings(np.array([rising, rising[::-1], rising + 2.0]))]
    [[3], [3], []]
    """
    found: list[list[int]] = [[] for _ in heights]
    for i, j in itertools.combinations(range(len(heights)), 2):
        apart = heights[i] - heights[j]
        with np.errstate(invalid='ignore'):
            clear = np.flatnonzero(np.abs(apart) > CLOSE)
        above = apart[clear] > 0.0
        changed = clear[1:][above[1:] != above[:-1]].tolist()
        found[i] += changed
        found[j] += changed
    return [np.unique(np.array(places, int)) for places in found]


def _is_sparse(line: Line2D) -> bool:
    """Return whether a line has the markers of `caster_marks`, at parts of its length."""
    every = line.get_markevery()
    return isinstance(every, tuple) and isinstance(every[0], float)


def _mark(axes: Axes, lines: Sequence[Line2D]) -> None:
    # this also brings the limits up to date
    left, right = axes.get_xlim()
    low, high = axes.transScale.transform([(left, y) for y in axes.get_ylim()])[:, 1]
    points = []
    for line in lines:
        x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
        known = np.isfinite(x) & np.isfinite(y)
        points.append((x[known], axes.transScale.transform(
            np.column_stack((np.full(known.sum(), left), y[known])))[:, 1]))
    at = np.linspace(left, right, PLACES)
    heights = np.array([np.interp(at, x, y, np.nan, np.nan) for x, y in points])
    found = crossings((heights - low) / (high - low))
    for k, (line, places) in enumerate(zip(lines, found, strict=True)):
        x = np.asarray(line.get_xdata(), float)
        usable = np.flatnonzero(np.isfinite(x) & np.isfinite(np.asarray(line.get_ydata(), float)))
        # beside each other within a part; a line that crosses none has one marker
        beside = (k + 1.0) / (len(lines) + 1.0)
        parts = np.unique(places * PARTS // PLACES)
        if parts.size:
            wanted = left + (right - left) * (parts + beside) / PARTS
        else:
            ends = np.clip(points[k][0][[0, -1]], left, right)
            wanted = np.array([ends[0] + beside * (ends[1] - ends[0])])
        nearest = usable[np.abs(x[usable] - wanted[:, None]).argmin(axis=1)]
        line.set_markevery(np.unique(nearest).tolist())
