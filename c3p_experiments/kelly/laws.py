# SPDX-License-Identifier: Apache-2.0
"""References and inverse kinematics of the arms in the experiments."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from c3p_description.model import Array

Reference = Callable[[float], tuple[Array, Array, Array]]


def quintic(time: float, begin: float, end: float) -> tuple[float, float, float]:
    """
    Return a smooth step from 0 to 1 and its two derivatives.

    ``10 s³ − 15 s⁴ + 6 s⁵``: zero velocity and acceleration at both ends.

    Parameters
    ----------
    time, begin, end : float, s

    Examples
    --------
    >>> quintic(1.0, 0.0, 2.0)
    (0.5, 0.9375, 0.0)
    """
    span = end - begin
    s = min(max((time - begin) / span, 0.0), 1.0)
    return (s**3 * (10 - 15 * s + 6 * s * s), 30 * s * s * (1 - s)**2 / span,
            60 * s * (1 - s) * (1 - 2 * s) / span**2)


def point_to_point(points: list[tuple[float, Array]]) -> Reference:
    """
    Return a reference through points with a smooth step between each two.

    Parameters
    ----------
    points : list of (time, array)
        Sorted by time.
    """
    def reference(time: float) -> tuple[Array, Array, Array]:
        k = max(i for i, (begin, _) in enumerate(points[:-1]) if i == 0 or begin <= time)
        (begin, first), (end, last) = points[k], points[k + 1]
        s, rate, accel = quintic(time, begin, end)
        change = np.asarray(last) - first
        return first + s * change, rate * change, accel * change

    return reference


def three_joint_angles(place: Array, lengths: tuple[float, float, float], side: float) -> Array:
    """
    Return the joint angles of a planar arm with three joints.

    Parameters
    ----------
    place : (3,) array
        x, y and direction of the tip of the last link, from the first joint.
    lengths : tuple of float, m
    side : float
        1 for an elbow to the left, −1 to the right.

    Raises
    ------
    ValueError
        Out of reach.
    """
    x, y = place[:2] - lengths[2] * np.array([np.cos(place[2]), np.sin(place[2])])
    first, second = lengths[:2]
    cosine = (x * x + y * y - first**2 - second**2) / (2 * first * second)
    if abs(cosine) > 1.0:
        raise ValueError(f'place = {place.tolist()}: the wrist is {np.hypot(x, y):.3f} m away, '
                         f'out of reach of {first} + {second} m')
    elbow = side * np.arccos(cosine)
    shoulder = np.arctan2(y, x) - np.arctan2(second * np.sin(elbow), first + second * cosine)
    return np.array([shoulder, elbow, place[2] - shoulder - elbow])
