# SPDX-License-Identifier: Apache-2.0
"""Floors with patches of different friction: oil, water, a metal plate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array


class FloorPatch(NamedTuple):
    """
    Rectangle of the floor with its own friction coefficient.

    Attributes
    ----------
    x, y : (low, high), m
        Extent along the floor's axes.
    friction : float
        µ between a tyre and the patch.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    friction: float


def checked_patch(patch: FloorPatch) -> FloorPatch:
    """Return `patch`; raises ValueError without area or with a friction that is not positive."""
    for name, (low, high) in (('x', patch.x), ('y', patch.y)):
        if not -math.inf < low < high < math.inf:
            raise ValueError(f'patch.{name} = ({low}, {high}): must be finite and increase')
    if not 0.0 < patch.friction < math.inf:
        raise ValueError(f'patch.friction = {patch.friction}: must be a finite number above zero')
    return patch


def friction_at(patches: Sequence[FloorPatch], points: Array, friction: Array) -> Array:
    """
    Return the friction coefficient (n,) at each of `points` (n, 2), m.

    Outside of patches it is `friction` (n,); of overlapping patches the last one counts.

    Examples
    --------
    >>> oil = FloorPatch((1.0, 2.0), (-0.1, 0.1), 0.05)
    >>> friction_at([oil], np.array([[1.5, 0.0], [0.5, 0.0]]), np.array([0.8, 0.8]))
    array([0.05, 0.8 ])
    """
    found = np.array(friction, float)
    for patch in patches:
        inside = ((points[:, 0] >= patch.x[0]) & (points[:, 0] <= patch.x[1])
                  & (points[:, 1] >= patch.y[0]) & (points[:, 1] <= patch.y[1]))
        found[inside] = patch.friction
    return found
