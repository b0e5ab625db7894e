# SPDX-License-Identifier: Apache-2.0
"""Validation of vectors for the kernels: shapes, finite numbers, one batch."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from c3p_multibody.trees.description import Tree
from c3p_multibody.trees.parts import Array, TreeError


def batched(tree: Tree, **vectors: ArrayLike) -> tuple[tuple[int, ...], list[Array]]:
    """
    Bring named `vectors` (…, n), one number per joint, to one batch of contiguous (B, n).

    Returns the common leading dimensions and the list of copies. TreeError names vector, joint and
    row of a wrong last dimension, of leading dimensions that do not broadcast, or of a number that
    is not finite.
    """
    arrays = {name: np.asarray(value, float) for name, value in vectors.items()}
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) == 1 and (shape := shapes.pop())[-1:] == (tree.count,):
        # nothing to broadcast: one copy, as kernels are compiled for arrays that may be written to
        whole = np.array(list(arrays.values())).reshape(len(arrays), -1, tree.count)
        if np.isfinite(whole).all():
            return shape[:-1], list(whole)
    for name, array in arrays.items():
        if array.ndim == 0 or array.shape[-1] != tree.count:
            raise TreeError(f'{name} has shape {array.shape}: the last dimension must be '
                            f'{tree.count}, one number per joint')
    batch = _common({name: array.shape[:-1] for name, array in arrays.items()})
    rows = []
    for name, array in arrays.items():
        row = np.array(np.broadcast_to(array, (*batch, tree.count)), order='C')
        row = row.reshape(-1, tree.count)
        if not np.isfinite(row).all():
            b, k = np.argwhere(~np.isfinite(row))[0]
            place = ', '.join(map(str, np.unravel_index(b, batch))) if batch else ''
            raise TreeError(f'{name}{f"[{place}]" if place else ""} of joint {tree.names[k]} '
                            f'(row {k}) = {row[b, k]}: every number must be finite')
        rows.append(row)
    return batch, rows


def _common(shapes: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the leading dimensions to which all broadcast."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        given = ', '.join(f'{name} {shape}' for name, shape in shapes.items())
        raise TreeError(f'leading dimensions {given}: must broadcast') from None


def external_wrenches(tree: Tree, external: ArrayLike | None, batch: tuple[int, ...]) -> Array:
    """
    Return wrenches on the bodies, (…, n, 6) or None, as (B, n, 6), or (B, 0, 6) for none.

    A TreeError names the body of a number that is not finite, or the shape that does not broadcast
    to `batch`.
    """
    rows = math.prod(batch)
    if external is None:
        return np.zeros((rows, 0, 6))
    given = np.asarray(external, float)
    try:
        whole = np.array(np.broadcast_to(given, (*batch, tree.count, 6)), order='C')
    except ValueError:
        raise TreeError(f'external has shape {given.shape}: expected {(*batch, tree.count, 6)}, '
                        'force and moment on each body') from None
    whole = whole.reshape(-1, tree.count, 6)
    if not np.isfinite(whole).all():
        k = np.argwhere(~np.isfinite(whole))[0][1]
        raise TreeError(f'external on body {tree.bodies[k].name} (row {k}) = '
                        f'{whole[:, k][~np.isfinite(whole[:, k])][0]}: every number must be '
                        'finite')
    return whole


def vector(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return a finite array of this shape, a copy; a TreeError names it."""
    array = np.array(value, float, order='C')
    if array.shape != shape or not np.isfinite(array).all():
        raise TreeError(f'{name} = {value!r}: expected finite numbers of shape {shape}')
    return array


def without_inertia(tree: Tree, inner: int, row: int | None = None) -> TreeError:
    """Return the error for a factor without pivot at the body numbered `inner`, in state `row`."""
    k = int(tree.order[inner])
    where = '' if row is None else f' in state {row}'
    return TreeError(f'body {tree.bodies[k].name} (row {k}){where}: the inertia matrix is '
                     f'singular, nothing resists joint {tree.names[k]}; give the body, or those '
                     'above it, inertia in the direction of the joint')
