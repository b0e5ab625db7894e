# SPDX-License-Identifier: Apache-2.0
"""
Slip of a single wheel, in a calibration.

A wheel that slips by another fraction in each window leaves residuals in the direction of its own
radius. One that slips to one side by the same fraction everywhere is a smaller wheel, and leaves
none: it differs from the description alone, whose wheels are alike. Either is outside the interval
of its radius, and is named.
"""

from __future__ import annotations

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.calibration.parameters import in_units

# fraction of the squared residuals that slip of one wheel explains, from which on it slips, and up
# to which others explain them as well: by chance it is 1 of 2n − 3
SLIPS = 0.8
OTHERS = 0.7

# smallest slip that is named: tyres creep by less
SMALLEST = 0.005

# windows that are needed for that
LEAST_WINDOWS = 20

# deviations of the prior by which the change of a radius differs from the median of the changes
# that is more than a tyre
DIFFERS = 4.0


def wheel_slip(value: Array, slopes: Array) -> Array:
    """
    Return how far slip of each wheel alone explains the residuals (n, 2).

    In each window w the wheel i may turn further than it rolls by another fraction: with the
    residuals v and their derivatives g by it, that is g·v/g·g, and explains (g·v)²/g·g of v·v.

    Parameters
    ----------
    value : (w, m) array
        Whitened residuals of all windows.
    slopes : (w, m, n) array
        Derivatives by the radii.

    Returns
    -------
    (n, 2) array
        Fraction of the squared residuals, and rms of the slip in units of the slopes.

    Examples
    --------
    >>> slopes = np.ones((50, 3, 1)) * np.eye(3)
    >>> wheel_slip(np.array([[0.0, 2.0, 0.0], [0.0, -2.0, 0.0]] * 25), slopes).tolist()
    [[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]
    """
    along = np.einsum('wj,wji->wi', value, slopes)
    size = np.einsum('wji,wji->wi', slopes, slopes)
    explained = np.divide(along**2, size, out=np.zeros_like(along), where=size > 0.0).sum(axis=0)
    total = float(np.sum(value**2))
    size = size.sum(axis=0)
    if len(value) < LEAST_WINDOWS or total == 0.0:
        return np.zeros((len(size), 2))
    slip = np.sqrt(np.divide(explained, size, out=np.zeros_like(size), where=size > 0.0))
    return np.column_stack([explained / total, slip])


def slipping_wheel(slip: Array) -> int | None:
    """
    Return the wheel whose slip explains the residuals, None without one.

    `slip` (n, 2) is that of `wheel_slip`.

    Examples
    --------
    >>> slipping_wheel(np.array([[0.95, 0.02], [0.4, 0.01], [0.3, 0.01]]))
    0
    >>> slipping_wheel(np.array([[0.4, 0.02], [0.4, 0.01], [0.3, 0.01]])) is None
    True
    """
    first, second = np.argsort(slip[:, 0])[::-1][:2]
    alone = slip[first, 0] > SLIPS and slip[second, 0] < OTHERS and slip[first, 1] > SMALLEST
    return int(first) if alone else None


def odd_wheels(change: Array, deviation: Array) -> Array:
    """
    Return by how many deviations of the prior each radius differs from the others (n,).

    Less than `DIFFERS` is 0.

    Parameters
    ----------
    change, deviation : (n,) array, m
        Estimates less description of the radii, and deviations of the prior.

    Examples
    --------
    >>> odd_wheels(np.array([0.1, -2.0, 0.0]), np.full(3, 0.2)).tolist()
    [0.0, -10.0, 0.0]
    """
    unit = in_units(change, deviation)
    apart = unit - np.median(unit)
    return np.where(np.abs(apart) > DIFFERS, apart, 0.0) + 0.0


def slip_notes(robot: CasterRobot, slip: Array, change: Array, deviation: Array) -> list[str]:
    """
    Return the wheels that do not roll as described, one sentence each.

    Parameters
    ----------
    robot : CasterRobot
        Described.
    slip, change, deviation : arrays
        As above.
    """
    text = []
    wheel = slipping_wheel(slip)
    if wheel is not None:
        explained, size = 100.0 * slip[wheel]
        text.append(f'WARNING: {robot.wheel_joints[wheel]} slips by {size:.1f} % of its path '
                    f'(rms), which explains {explained:.0f} % of the squared residuals: the '
                    'interval of its radius does not contain slip to one side; check its load, '
                    'tyre and torque, and drive again')
    # radii that no encoder measures stay as described; the others are not compared with them
    measured = robot.wheel_encoder
    apart = np.zeros(robot.count)
    if measured.any():
        apart[measured] = odd_wheels(change[measured], deviation[measured])
    found = [i for i in np.flatnonzero(apart) if i != wheel]
    if len(found) == 2 and np.sum(measured) == 2:
        one, two = (robot.wheel_joints[i] for i in found)
        by = 100.0 * abs(np.subtract(*(change / robot.wheel_radius)[found]))
        text.append(f'WARNING: the radii of {one} and {two} differ by {by:.1f} % more than '
                    f'described, {abs(np.subtract(*apart[found])):.0f} standard deviations of the '
                    'prior: another tyre, or a wheel that slips to one side all the time, and '
                    'without a third one it is not known which; measure both circumferences')
        return text
    for i in found:
        off = f'{100.0 * change[i] / robot.wheel_radius[i]:+.1f}'.replace('-', '−')
        text.append(f'WARNING: {robot.wheel_joints[i]} has a radius {off} % off, '
                    f'{abs(apart[i]):.0f} standard deviations of the prior from the others: '
                    'another tyre, or a wheel that slips to one side all the time; measure '
                    'its circumference')
    return text
