# SPDX-License-Identifier: Apache-2.0
"""
Estimates after the last windows, to which a calibration returns at the alarm of a fault.

A fault contradicts its first windows less than its alarm requires. They are the last ones before
the alarm, and have taught a part of it: without them the estimate is that of some windows ago.
"""

from __future__ import annotations

from typing import NamedTuple

from c3p_description.model import Array

# windows before the alarm of a fault that are withdrawn, some 1.5 m of a robot of 0.35 m:
# weaker faults take longer until their alarm, and teach less in it
WITHDRAWN = 6


class Recent(NamedTuple):
    """
    Estimate after a window.

    Attributes
    ----------
    unknown, covariance : (k,), (k, k) arrays
        In units of the prior.
    learned : int
        Windows used so far.
    """

    unknown: Array
    covariance: Array
    learned: int


class RecentEstimates:
    """
    Estimates after the last `WITHDRAWN` windows, and the one before them.

    Examples
    --------
    >>> import numpy as np
    >>> recent = RecentEstimates()
    >>> recent.begin(np.zeros(1), np.eye(1), 0)
    >>> for k in range(1, 9):
    ...     recent.add(np.full(1, 0.1 * k), np.eye(1), k)
    >>> before, count = recent.withdraw()
    >>> before.learned, count
    (2, 6)
    >>> recent.withdraw()[1]  # of the same alarm
    0
    """

    def __init__(self) -> None:
        """Start without an estimate; `begin` is due."""
        self._kept: list[Recent] = []

    def begin(self, unknown: Array, covariance: Array, learned: int) -> None:
        """Keep an estimate as the earliest to return to; `learned` windows have been used."""
        self._kept = [Recent(unknown.copy(), covariance.copy(), learned)]

    def add(self, unknown: Array, covariance: Array, learned: int) -> None:
        """Keep the estimate after a window."""
        self._kept = [*self._kept[-WITHDRAWN:], Recent(unknown.copy(), covariance.copy(), learned)]

    def withdraw(self) -> tuple[Recent, int]:
        """Return the earliest estimate, and how many windows have been added since; keep it."""
        count = len(self._kept) - 1
        self._kept = self._kept[:1]
        return self._kept[0], count
