# SPDX-License-Identifier: Apache-2.0
"""Right-handed axes with one given direction, unique for each direction."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def with_third(direction: ArrayLike) -> np.ndarray:
    """
    Return axes (3, 3), by columns, of which the third one has this direction.

    Z gives the coordinate axes, X and Y permutations of them. ValueError unless `direction` is
    three finite numbers, not all zero.

    Examples
    --------
    >>> with_third((0, 0, 2)).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    z = np.asarray(direction, float)
    size = np.linalg.norm(z) if z.shape == (3,) else np.nan
    if not (np.isfinite(size) and size > 0.0):
        raise ValueError(f'{direction!r}: expected a direction of three numbers, not all zero')
    z = z / size
    # the axis after the largest part of z is never along z
    x = np.eye(3)[(int(np.argmax(np.abs(z))) + 1) % 3]
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def with_first(direction: ArrayLike) -> np.ndarray:
    """Return axes (3, 3), by columns, the first one along `direction`; see `with_third`."""
    return with_third(direction)[:, [2, 0, 1]]
