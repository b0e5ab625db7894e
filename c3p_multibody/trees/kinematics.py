# SPDX-License-Identifier: Apache-2.0
"""
Kinematics of a tree: poses, velocities, Jacobians of points, energy and momentum.

Everything is in world axes. Six-vectors are linear first, angular second.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_multibody.trees import _motion_kernels as kernels
from c3p_multibody.trees.description import Tree
from c3p_multibody.trees.edge import batched, vector
from c3p_multibody.trees.parts import Array


class Poses(NamedTuple):
    """
    Poses of all bodies.

    Attributes
    ----------
    rotation : (…, n, 3, 3) array
        From the body's axes to the world's.
    translation : (…, n, 3) array, m
        The body's origin, which is on its joint, in world axes.
    """

    rotation: Array
    translation: Array


class Observed(NamedTuple):
    """
    Results of one pass outwards over B states, bodies in inner numbering.

    Attributes
    ----------
    frames : (B, n, 12) array
        Rotation from inner to world axes by rows, and origin [m].
    motion : (B, n, 12) array
        Of the origin, world axes: velocity, angular velocity, and accelerations in the same order
        while q̈ = 0 (without gravity).
    totals : (B, 8) array
        Kinetic and potential energy, momentum, angular momentum about the world's origin.
    """

    frames: Array
    motion: Array
    totals: Array


def observed(tree: Tree, q: Array, qd: Array | None = None) -> Observed:
    """Return poses, velocities and, at q̈ = 0, accelerations for contiguous q, q̇ (B, n)."""
    count, n = q.shape
    out = Observed(np.empty((count, n, kernels.FRAME)), np.empty((count, n, kernels.MOTION)),
                   np.empty((count, kernels.TOTALS)))
    kernels.observe(tuple(tree.arrays), q, np.zeros_like(q) if qd is None else qd,
                    np.empty((n, kernels.WIDTH)), *out)
    return out


def forward_kinematics(tree: Tree, q: ArrayLike) -> Poses:
    """
    Return the poses of all bodies for `q` (…, n), rad or m.

    ``R_k = R_L(k) R_joint Rot(axis, q_k)``, ``p_k = p_L(k) + R_L(k) t_joint``, with the slide of a
    prismatic joint added. TreeError names a wrong shape or a number that is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from c3p_multibody.trees import Body, Joint, Tree, forward_kinematics
    >>> tree = Tree.from_connection([-1, 0], [Joint('a'), Joint('b', translation=(1, 0, 0))],
    ...                             [Body('one', 1.0, (1, 0, 0)), Body('two', 1.0, (1, 0, 0))])
    >>> np.round(forward_kinematics(tree, [np.pi / 2, 0.3]).translation[1], 12)
    array([0., 1., 0.])
    """
    batch, (angles,) = batched(tree, q=q)
    frames = observed(tree, angles).frames[:, np.argsort(tree.order)]
    # from the user's axes to inner axes, then to the world's
    turn = tree.arrays.numbers[np.argsort(tree.order), 22:].reshape(-1, 3, 3)
    rotation = frames[:, :, :9].reshape(-1, tree.count, 3, 3) @ turn.swapaxes(1, 2)
    return Poses(rotation.reshape(*batch, tree.count, 3, 3),
                 frames[:, :, 9:].reshape(*batch, tree.count, 3))


def body_velocity(tree: Tree, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return the velocity of every body's origin and its angular velocity.

    (…, n, 6), m/s and rad/s, world axes, for `q` and `qd` (…, n): Kelly, eq. (1), for ω; ``v_k =
    v_L(k) + ω_L(k) × p``, and the slide of a prismatic joint. Errors as for `forward_kinematics`.
    """
    batch, (angles, rates) = batched(tree, q=q, qd=qd)
    motion = observed(tree, angles, rates).motion[:, np.argsort(tree.order), :6]
    return motion.reshape(*batch, tree.count, 6)


def point_jacobian(tree: Tree, q: ArrayLike, body: str | int, point: ArrayLike = (0.0, 0.0, 0.0)
                   ) -> Array:
    """
    Return J (…, 6, n) of a point that is fixed to a body: ``[v; ω] = J q̇``, world axes.

    Parameters
    ----------
    tree : Tree
    q : (…, n) array_like
    body : str or int
        Name of a body (also one on a fixed joint), or index of a joint; ``'world'`` gives zeros.
    point : (3,) array_like, m
        In the axes of that body.

    Raises
    ------
    TreeError
        No such body, a wrong shape, a number that is not finite.
    """
    batch, (angles,) = batched(tree, q=q)
    number, place = inner_point(tree, body, point)
    out = np.zeros((len(angles), 6, tree.count))
    if number >= 0:
        frames = observed(tree, angles).frames
        for frame, one in zip(frames, out, strict=True):
            kernels.jacobian(tree.arrays.links, frame, number, place, one)
    return out.reshape(*batch, 6, tree.count)


def point_bias_acceleration(tree: Tree, q: ArrayLike, qd: ArrayLike, body: str | int,
                            point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """
    Return ``J̇ q̇`` (…, 6), m/s² and rad/s², world axes: the acceleration of a point while q̈ = 0.

    The material point accelerates with ``J q̈ + J̇ q̇``; gravity is not in it. `qd` (…, n); all
    else and the errors as for `point_jacobian`.
    """
    batch, (angles, rates) = batched(tree, q=q, qd=qd)
    number, place = inner_point(tree, body, point)
    out = np.zeros((len(angles), 6))
    if number >= 0:
        frames, motion, _ = observed(tree, angles, rates)
        arm = frames[:, number, :9].reshape(-1, 3, 3) @ place
        turn = motion[:, number, 3:6]
        accel = motion[:, number, 6:]
        out[:, :3] = (accel[:, :3] + np.cross(accel[:, 3:], arm)
                      + np.cross(turn, np.cross(turn, arm)))
        out[:, 3:] = accel[:, 3:]
    return out.reshape(*batch, 6)


def inner_point(tree: Tree, body: str | int, point: ArrayLike) -> tuple[int, Array]:
    """
    Return body number and coordinates of a point for the kernels; errors as for `point_jacobian`.

    The number is the inner one of the carrying body, −1 for the world; the point (3,) is in its
    inner axes.
    """
    frame = tree.frame(body)
    place = frame.translation + frame.rotation @ vector('point', point, (3,))
    if frame.body < 0:
        return -1, place
    number = int(np.flatnonzero(tree.order == frame.body)[0])
    return number, tree.arrays.numbers[number, 22:].reshape(3, 3).T @ place


def kinetic_energy(tree: Tree, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return ``T = ½ q̇ᵀA q̇`` (…), J, from the velocities of the bodies.

    `q` and `qd` are (…, n). TreeError names a wrong shape or a number that is not finite.
    """
    return _totals(tree, q, qd)[..., 0]


def potential_energy(tree: Tree, q: ArrayLike) -> Array:
    """
    Return ``V = −Σ m g·p_c``, zero where all centres of mass are at the height of the origin.

    Bodies fixed to the world are not counted. Parameters and errors as for `kinetic_energy`.
    """
    return _totals(tree, q, np.zeros(tree.count))[..., 1]


def momentum(tree: Tree, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return linear and angular momentum of the whole tree about the world's origin.

    (…, 6), N·s and N·m·s, world axes. Its derivative is the sum of all external wrenches: gravity,
    `external` and what the world's joints carry. `q`, `qd` and errors as for `kinetic_energy`.
    """
    return _totals(tree, q, qd)[..., 2:]


def _totals(tree: Tree, q: ArrayLike, qd: ArrayLike) -> Array:
    batch, (angles, rates) = batched(tree, q=q, qd=qd)
    return observed(tree, angles, rates).totals.reshape(*batch, kernels.TOTALS)
