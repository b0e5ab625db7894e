# SPDX-License-Identifier: Apache-2.0
"""
Planar rigid motion: angles, the exact exponential and logarithm of SE(2), twists and adjoints.

A pose (x, y, yaw) places ``base_link`` on the floor: ``p_floor = R(yaw) p_body + (x, y)``. A step
(or twist × time) ξ = (dx, dy, dyaw) is in body axes. With φ = dyaw,

    exp ξ = (V (dx, dy), φ)     V = [[sin φ/φ, −(1 − cos φ)/φ], [(1 − cos φ)/φ, sin φ/φ]]

Yaw of every result is in (−π, π]. Leading dimensions broadcast.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_kernels import elementary
from c3p_kinematics import _planar_kernels as kernels


def wrap(angle: ArrayLike) -> Array:
    """
    Return `angle` in (−π, π].

    An `angle` (…) [rad] within the interval is returned unchanged, to the last bit; nan and ±inf
    give nan.

    Examples
    --------
    >>> import numpy as np
    >>> wrap([-np.pi, 0.5, 3 * np.pi]).round(3).tolist()
    [3.142, 0.5, 3.142]
    """
    with np.errstate(invalid='ignore'):
        return elementary.wrap(np.asarray(angle, float))


def _triples(**named: ArrayLike) -> list[Array]:
    arrays = []
    for name, value in named.items():
        array = np.asarray(value, float)
        if array.ndim == 0 or array.shape[-1] != 3:
            raise ValueError(f'{name} has shape {array.shape}: the last dimension must be 3, '
                             '(x, y, yaw)')
        arrays.append(array)
    return list(np.broadcast_arrays(*arrays))


def _apply(loop: Callable, *arrays: Array) -> Array:
    out = np.empty(arrays[0].shape)
    loop(*(np.ascontiguousarray(a).reshape(-1, 3) for a in arrays), out.reshape(-1, 3))
    return out


def exp(step: ArrayLike) -> Array:
    """
    Return the pose reached from the origin by a constant twist: exp ξ.

    `step` (…, 3) is ξ = twist × time in body axes, m and rad; |dyaw| may exceed π. ValueError
    unless the last dimension is 3.

    Examples
    --------
    >>> import numpy as np
    >>> exp([np.pi / 2, 0, np.pi / 2]).round(12).tolist()  # a quarter of a circle of radius 1
    [1.0, 1.0, 1.570796326795]
    """
    return _apply(kernels.exp_each, *_triples(step=step))


def log(pose: ArrayLike) -> Array:
    """
    Return the shortest-turn step ξ with exp ξ = `pose`: V⁻¹ of the position, yaw in (−π, π].

    V⁻¹ = [[g, φ/2], [−φ/2, g]] with g = (φ/2) cot(φ/2). Shapes, units and errors as `exp`.

    Examples
    --------
    >>> log(exp([0.3, -0.2, 1.5])).round(12).tolist()
    [0.3, -0.2, 1.5]
    """
    return _apply(kernels.log_each, *_triples(pose=pose))


def compose(first: ArrayLike, second: ArrayLike) -> Array:
    """
    Return the product of two poses (…, 3): `second`, given in the frame of `first`, on the floor.

    ValueError unless the last dimensions are 3.

    Examples
    --------
    >>> import numpy as np
    >>> compose([1, 2, np.pi / 2], [1, 0, 0]).round(12).tolist()
    [1.0, 3.0, 1.570796326795]
    """
    return _apply(kernels.compose_each, *_triples(first=first, second=second))


def inverse(pose: ArrayLike) -> Array:
    """
    Return the pose of the floor frame seen from ``base_link``: (−Rᵀ(x, y), −yaw).

    Examples
    --------
    >>> bool(abs(compose([1, 2, 0.5], inverse([1, 2, 0.5]))).max() < 1e-15)
    True
    """
    (pose,) = _triples(pose=pose)
    back = to_body(pose[..., 2], -pose)
    back[..., 2] = wrap(back[..., 2])
    return back


def integrate(pose: ArrayLike, step: ArrayLike) -> Array:
    """
    Return the pose after moving with a constant body twist: pose · exp(twist × time).

    Exact for a constant twist and any angle: no Euler error on arcs. `pose` (…, 3) is on the
    floor, `step` (…, 3) in ``base_link``, m and rad; ValueError unless the last dimensions are 3.

    Examples
    --------
    >>> integrate([0, 0, 0], [0.1, 0, 0]).tolist()
    [0.1, 0.0, 0.0]
    """
    return _apply(kernels.integrate_each, *_triples(pose=pose, step=step))


def to_floor(yaw: ArrayLike, twist: ArrayLike) -> Array:
    """
    Return `twist` (…, 3) of the body's origin turned from body axes to floor axes.

    ``(vx, vy) → R(yaw)(vx, vy)``; the yaw rate stays. The reference point stays too: to move it,
    use `adjoint`.

    Examples
    --------
    >>> import numpy as np
    >>> to_floor(np.pi / 2, [0.3, 0, 1]).round(12).tolist()
    [0.0, 0.3, 1.0]
    """
    (twist,) = _triples(twist=twist)
    c, s = np.cos(yaw), np.sin(yaw)
    return np.stack(np.broadcast_arrays(c * twist[..., 0] - s * twist[..., 1],
                                        s * twist[..., 0] + c * twist[..., 1],
                                        twist[..., 2]), axis=-1)


def to_body(yaw: ArrayLike, twist: ArrayLike) -> Array:
    """Return `twist` (…, 3) turned from floor axes to body axes: the inverse of `to_floor`."""
    return to_floor(-np.asarray(yaw, float), twist)


def adjoint(pose: ArrayLike) -> Array:
    """
    Return Ad (…, 3, 3): a twist (or a small pose error) of the body, seen at the floor's origin.

    ``Ad = [[R, (y, −x)], [0, 1]]``, so that ``exp(Ad ξ) = X exp(ξ) X⁻¹``, and a covariance Q in
    body axes is ``Ad Q Adᵀ`` there.

    Examples
    --------
    >>> adjoint([1.0, 2.0, 0.0]).tolist()
    [[1.0, -0.0, 2.0], [0.0, 1.0, -1.0], [0.0, 0.0, 1.0]]
    """
    (pose,) = _triples(pose=pose)
    c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    out = np.zeros((*pose.shape[:-1], 3, 3))
    out[..., 0, 0], out[..., 0, 1], out[..., 0, 2] = c, -s, pose[..., 1]
    out[..., 1, 0], out[..., 1, 1], out[..., 1, 2] = s, c, -pose[..., 0]
    out[..., 2, 2] = 1.0
    return out
