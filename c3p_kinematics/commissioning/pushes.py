# SPDX-License-Identifier: Apache-2.0
"""
Windows of pushes by hand, beside those of the motions.

A push has a known direction: the robot does not move across it, and does not turn, as exactly as a
hand does so. For two casters these are two equations more a window, where rolling has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array
from c3p_kinematics.commissioning.assignment import WiringPush
from c3p_kinematics.commissioning.rolling_fit import Known
from c3p_kinematics.commissioning.windows import Windows, windows_of

# deviation of the path across a push and of that of the pivots by a turn, per path: a hand
BY_HAND = 0.15

# cosine of the largest angle between a push and the stated direction
NEAR = 0.75


class PushedWindows(NamedTuple):
    """
    Windows of motions and of pushes, in this order.

    Attributes
    ----------
    windows : Windows
    known : Known or None
        None without pushes.
    push : (W,) ndarray of int
        Number of the push of each window, -1 for motions.
    """

    windows: Windows
    known: Known | None
    push: Array

    @property
    def equations(self) -> int:
        """Equations that are known beside those of rolling."""
        return 2 * int(np.sum(self.push >= 0))


def with_pushes(windows: Windows, pushes: Sequence[WiringPush], arm: Array, length: float,
                scale: tuple[float, float]) -> PushedWindows:
    """
    Return the windows of motions and pushes.

    Parameters
    ----------
    windows : Windows
        Of the motions.
    pushes : sequence of WiringPush
    arm : (2n,) ndarray, m
        Travel of a radian of each channel.
    length : float, m
        Of a window.
    scale : (float, float), m
        Noise of the residuals of a window, and distance of the pivots from the centre.
    """
    noise, lever = scale
    number = np.full(len(windows.begin), -1)
    if not pushes:
        return PushedWindows(windows, None, number)
    parts = [windows]
    rows = [np.zeros((len(windows.begin), 2, 3))]
    numbers = [number]
    weight = noise / (BY_HAND * length)
    for k, push in enumerate(pushes):
        part = windows_of(np.asarray(push.measured, float), arm, length)
        x, y = push.direction
        parts.append(part)
        rows.append(np.tile(weight * np.array([[-y, x, 0.0], [0.0, 0.0, lever]]),
                            (len(part.begin), 1, 1)))
        numbers.append(np.full(len(part.begin), k))
    whole = Windows(*(np.concatenate(field) for field in zip(*parts, strict=True)))
    return PushedWindows(whole, Known(np.concatenate(rows)), np.concatenate(numbers))


def moves_so(pushed: PushedWindows, motion: Array, pushes: Sequence[WiringPush]) -> Array:
    """Return which of H motions (H, W, 3) go in the directions of the pushes."""
    good = np.ones(len(motion), bool)
    for k, push in enumerate(pushes):
        moved = motion[:, pushed.push == k, :2].sum(axis=1)
        good &= moved @ push.direction > NEAR * np.hypot(moved[:, 0], moved[:, 1])
    return good
