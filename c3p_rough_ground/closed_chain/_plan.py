# SPDX-License-Identifier: Apache-2.0
"""Data of a run for the compiled motion: method, settings, inputs, records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_rough_ground.closed_chain._geometry_kernels import POSE


class Tableau(NamedTuple):
    """An explicit Runge-Kutta method: stages a, weights b, times c, weights of the error e."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    e: np.ndarray


# classical fourth order, and Cash and Karp's pair of fifth and fourth order
METHODS = {
    'rk4': Tableau(
        np.array([[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0],
                  [0.0, 0.0, 1.0, 0.0]]),
        np.array([1.0, 2.0, 2.0, 1.0]) / 6.0, np.array([0.0, 0.5, 0.5, 1.0]), np.zeros(4)),
    'adaptive': Tableau(
        np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0],
                  [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0], [3 / 10, -9 / 10, 6 / 5, 0.0, 0.0, 0.0],
                  [-11 / 54, 5 / 2, -70 / 27, 35 / 27, 0.0, 0.0],
                  [1631 / 55296, 175 / 512, 575 / 13824, 44275 / 110592, 253 / 4096, 0.0]]),
        np.array([37 / 378, 0.0, 250 / 621, 125 / 594, 0.0, 512 / 1771]),
        np.array([0.0, 1 / 5, 3 / 10, 3 / 5, 1.0, 7 / 8]),
        np.array([37 / 378 - 2825 / 27648, 0.0, 250 / 621 - 18575 / 48384,
                  125 / 594 - 13525 / 55296, -277 / 14336, 512 / 1771 - 1 / 4])),
}


class Settings(NamedTuple):
    """
    Settings of a run; all numbers are floats.

    Period of the records, largest step, tolerance of adaptive steps in m (0: fixed steps), kind of
    stabilisation, rate of Baumgarte's (1/s), travel between two scans in m (infinite: no scans),
    radius of the sharpest hollow, and the patch from x, to x, from y, to y.
    """

    period: float
    step: float
    tolerance: float
    stabilisation: float
    rate: float
    travel: float
    hollow: float
    from_x: float
    to_x: float
    from_y: float
    to_y: float


class JointInputs(NamedTuple):
    """Joint inputs: table of desired rates, 1/√weight, feedback, limits, error lengths."""

    table: np.ndarray
    scale: np.ndarray
    gain: np.ndarray
    limits: np.ndarray
    lengths: np.ndarray


class RunPlan(NamedTuple):
    """A checked run besides vehicle and ground: settings, inputs, method, number of periods."""

    settings: Settings
    inputs: JointInputs
    tableau: Tableau
    periods: int


class RunRecords(NamedTuple):
    """Records of a run: state, rate, desired rates, angular velocity of the platform in {G}."""

    states: np.ndarray
    rates: np.ndarray
    desired: np.ndarray
    turning: np.ndarray


def records_for(count: int, m: int, n: int) -> RunRecords:
    """Return the arrays for `count` records of a vehicle with m joints and n wheels."""
    size = POSE + m + 5 * n
    return RunRecords(np.empty((count, size)), np.empty((count, size)), np.empty((count, m)),
                      np.empty((count, 3)))
