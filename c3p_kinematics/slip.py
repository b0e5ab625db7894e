# SPDX-License-Identifier: Apache-2.0
"""
Which wheel slips: the 2n − 3 equations that n casters have too many.

A caster measures the velocity of the platform point over its contact, ``r θ̇_x`` along and
``−d θ̇_s`` across the wheel. A rigid platform keeps the distances of these points, the edges of a
truss: an edge that stretches is slip at one of its ends. For three casters the edge that stays
zero lies opposite the slipping wheel; for any number the same is found by fitting all casters but
one.

Noise model: both components of every contact velocity carry independent Gaussian errors with the
standard deviation ``hypot(noise_std, speed_fraction × contact speed)`` [m/s]; the second part
stands for errors of geometry. Slip is reported where χ² of the residuals is less likely than
`FALSE_ALARM` without slip. Smallest slip found (three casters): about 8 standard deviations.

Limits: with two casters slip is detected but never isolated. A slip perpendicular to an edge does
not stretch it and leaves two suspects, each with a confidence near 0.5. If no single wheel
explains the residuals the suspect is −1. A common error of all wheels is invisible.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri

from c3p_description.model import Array, CasterRobot
from c3p_kinematics import _slip_kernels as kernels

# probability of one false alarm per independent test without slip
FALSE_ALARM = 1e-6

# share of the alarm threshold below which an alarm ends (half of its slip speed)
CLEAR_FRACTION = 0.25


class SlipReport(NamedTuple):
    """
    What the redundancy says about slip.

    Attributes
    ----------
    residual : (n,) array, m/s
        Speed of each contact point against the fitted twist; the fit trusts a caster with
        1 − `likelihood` once slip is found, so that the suspect's entry is its slip speed.
    edge_rate : (n(n−1)/2,) array, m/s
        Stretch of the edges between contact points, in the order of `edges`.
    suspect : int
        Index (from 0) of the wheel that most likely slips; −1 for none, or if no single wheel
        explains the residuals.
    confidence : float
        Probability in [0, 1] that it is this wheel, given slip. Act on 0.9 or more; 0.5 means that
        two wheels explain it equally well.
    slipping : bool
    likelihood : (n,) array
        The same probability for every wheel; what is missing to 1 is "more than one".
    statistic, threshold : float
        χ² of the residuals, and the value above which it counts as slip.
    """

    residual: Array
    edge_rate: Array
    suspect: int
    confidence: float
    slipping: bool
    likelihood: Array
    statistic: float
    threshold: float


def edges(count: int) -> Array:
    """Return the pairs of casters (n(n−1)/2, 2) in the order of `SlipReport.edge_rate`."""
    return np.column_stack(np.triu_indices(count, 1))


@lru_cache
def thresholds(count: int) -> tuple[float, float]:
    """Return the χ² limits for all `count` casters (2n − 3) and for all but one (2n − 5)."""
    left = 2 * count - 5
    return (float(chdtri(2 * count - 3, FALSE_ALARM)),
            float(chdtri(left, FALSE_ALARM)) if left > 0 else 0.0)


def edge_rates(robot: CasterRobot, steering: ArrayLike, wheel_rate: ArrayLike,
               steering_rate: ArrayLike) -> Array:
    """
    Return how fast the measured distances between contact points change.

    Parameters
    ----------
    robot : CasterRobot
    steering : (n,) array_like, rad
    wheel_rate, steering_rate : (n,) array_like, rad/s

    Returns
    -------
    (n(n−1)/2,) array, m/s
        ``(v_i − v_j)·(p_i − p_j)/|p_i − p_j|``; zero without slip.

    Raises
    ------
    ValueError
        A vector without one finite value per caster.
    """
    n = robot.count
    steering, wheel, steer = _finite_vectors(n, steering=steering, wheel_rate=wheel_rate,
                                             steering_rate=steering_rate)
    contact, out = np.empty((n, 2)), np.empty(n * (n - 1) // 2)
    kernels.measured(robot.geometry, wheel, steer, contact)
    kernels.stretch(robot.geometry, steering, contact, out)
    return out


def vectors(count: int, **named: ArrayLike) -> list[Array]:
    """Return the vectors as contiguous floats; ValueError unless each has `count` entries."""
    out = []
    for name, value in named.items():
        array = np.ascontiguousarray(value, dtype=float)
        if array.shape != (count,):
            raise ValueError(f'{name} has shape {array.shape}: expected ({count},), one value '
                             'per caster')
        out.append(array)
    return out


def _finite_vectors(count: int, **named: ArrayLike) -> list[Array]:
    out = vectors(count, **named)
    for name, array in zip(named, out, strict=True):
        # no alarm would be raised for what is no number
        if not np.all(np.isfinite(array)):
            raise ValueError(f'{name} = {array.tolist()}: every number must be finite; leave such '
                             'a sample out')
    return out


def report_of(robot: CasterRobot, steering: Array, contact: Array, variance: Array,
              residual: Array, edge_rate: Array, without: Array, statistic: float,
              slipping: bool) -> SlipReport:
    """Return the report on tested contact velocities; `residual` is overwritten if they slip."""
    n = robot.count
    likelihood = np.full(n, 1.0 / n)
    suspect, confidence = -1, 0.0
    if slipping:
        several = thresholds(n)[1]
        if n > 2:
            kernels.posterior(without, several, likelihood)
            best = int(np.argmax(likelihood))
            if without[best] < several:
                suspect, confidence = best, float(likelihood[best])
        # lower the weight of a caster as far as it is suspected
        weight = np.maximum(1.0 - likelihood, kernels.LEAST_TRUST) / variance
        kernels.fit(robot.geometry, steering, contact, weight, np.empty(3), residual,
                    np.empty((3, 3)))
    speed = np.sqrt(residual[:, 0]**2 + residual[:, 1]**2)
    return SlipReport(speed, edge_rate, suspect, confidence, slipping, likelihood, statistic,
                      thresholds(n)[0])


def detect_slip(robot: CasterRobot, steering: ArrayLike, wheel_rate: ArrayLike,
                steering_rate: ArrayLike, noise_std: ArrayLike = 0.005,
                speed_fraction: float = 0.01) -> SlipReport:
    """
    Test one sample for slip and name the wheel; no memory.

    χ² of all residuals against 2n − 3 degrees decides *whether*; χ² with caster k left out (2n − 5
    degrees) decides *which*, through the probabilities ∝ exp(−χ²_k/2).

    Parameters
    ----------
    robot : CasterRobot
    steering : (n,) array_like, rad
    wheel_rate, steering_rate : (n,) array_like, rad/s
    noise_std : float or (n,) array_like, m/s
        Standard deviation of a contact velocity's component at standstill, > 0.
    speed_fraction : float
        Part of it that grows with the contact's speed, ≥ 0.

    Returns
    -------
    SlipReport

    Raises
    ------
    ValueError
        A vector without one finite value per caster; a noise_std that is not positive, or
        neither a number nor one per caster; a negative speed_fraction.

    Examples
    --------
    >>> from c3p_kinematics.casters import inverse
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> wheel, steer, _ = inverse(robot, [0.4, 0.2, -2.0], [0.3, -0.1, 0.5])
    >>> detect_slip(robot, [0.4, 0.2, -2.0], wheel, steer).slipping
    False
    >>> wheel[1] += 0.2 / 0.04  # wheel 2 spins 0.2 m/s too fast
    >>> report = detect_slip(robot, [0.4, 0.2, -2.0], wheel, steer)
    >>> report.slipping, report.suspect, round(float(report.residual[1]), 2)
    (True, 1, 0.2)
    """
    n = robot.count
    steering, wheel, steer = _finite_vectors(n, steering=steering, wheel_rate=wheel_rate,
                                             steering_rate=steering_rate)
    noise = np.asarray(noise_std, float)
    if noise.shape not in ((), (n,)) or not np.all((noise > 0.0) & (noise < np.inf)):
        raise ValueError(f'noise_std = {noise_std}: must be greater than zero, m/s, one for all '
                         f'casters or one for each of {n}')
    if not 0.0 <= speed_fraction < np.inf:
        raise ValueError(f'speed_fraction = {speed_fraction}: must be finite and not negative')
    contact, residual = np.empty((n, 2)), np.empty((n, 2))
    edge_rate, without = np.empty(n * (n - 1) // 2), np.empty(n)
    kernels.measured(robot.geometry, wheel, steer, contact)
    variance = noise**2 + speed_fraction**2 * np.sum(contact**2, axis=1)
    kernels.stretch(robot.geometry, steering, contact, edge_rate)
    statistic = kernels.leave_one_out(robot.geometry, steering, contact, variance, residual,
                                      without)
    return report_of(robot, steering, contact, variance, residual, edge_rate, without, statistic,
                     bool(statistic > thresholds(n)[0]))
