# SPDX-License-Identifier: Apache-2.0
"""
Where the bodies of a tree are and how they move: poses, velocities, Jacobians of points.

Everything is in world axes. Six-vectors are linear first, angular second.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_dynamics.trees import _motion_kernels as kernels
from c3p_dynamics.trees.description import Tree
from c3p_dynamics.trees.edge import batched, vector
from c3p_dynamics.trees.parts import Array


class Poses(NamedTuple):
    """
    Where every body is.

    Attributes
    ----------
    rotation : (…, n, 3, 3) array
        From the body's axes to the world's.
    translation : (…, n, 3) array, m
        The body's origin, which lies on its joint, in world axes.
    """

    rotation: Array
    translation: Array


def forward_kinematics(tree: Tree, q: ArrayLike) -> Poses:
    """
    Return the pose of every body.

    ``R_k = R_L(k) R_joint Rot(axis, q_k)``, ``p_k = p_L(k) + R_L(k) t_joint``, with the slide of a
    prismatic joint added.

    Parameters
    ----------
    tree : Tree
    q : (…, n) array_like, rad or m

    Returns
    -------
    Poses

    Raises
    ------
    TreeError
        `q` has a wrong shape or a number that is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from c3p_dynamics.trees import Body, Joint, Tree, forward_kinematics
    >>> tree = Tree.from_connection([-1, 0], [Joint('a'), Joint('b', translation=(1, 0, 0))],
    ...                             [Body('one', 1.0, (1, 0, 0)), Body('two', 1.0, (1, 0, 0))])
    >>> np.round(forward_kinematics(tree, [np.pi / 2, 0.3]).translation[1], 12)
    array([0., 1., 0.])
    """
    batch, (angles,) = batched(tree, q=q)
    rotation = np.empty((len(angles), tree.count, 3, 3))
    translation = np.empty((len(angles), tree.count, 3))
    kernels.poses(tree.arrays.links, tree.arrays.numbers, angles, rotation, translation)
    return Poses(rotation.reshape(*batch, tree.count, 3, 3),
                 translation.reshape(*batch, tree.count, 3))


def body_velocity(tree: Tree, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return the velocity of every body's origin and its angular velocity.

    Kelly, eq. (1), for ω; ``v_k = v_L(k) + ω_L(k) × p``, with the slide of a prismatic joint added.

    Parameters
    ----------
    tree : Tree
    q, qd : (…, n) array_like

    Returns
    -------
    (…, n, 6) array, m/s and rad/s
        World axes.

    Raises
    ------
    TreeError
        A wrong shape or a number that is not finite.
    """
    batch, (angles, rates) = batched(tree, q=q, qd=qd)
    out = np.empty((len(angles), tree.count, 6))
    kernels.velocities(tree.arrays.links, tree.arrays.numbers, angles, rates, out)
    return out.reshape(*batch, tree.count, 6)


def point_jacobian(tree: Tree, q: ArrayLike, body: str | int, point: ArrayLike = (0.0, 0.0, 0.0)
                   ) -> Array:
    """
    Return J of a point that is fixed to a body: ``[v; ω] = J q̇``.

    Parameters
    ----------
    tree : Tree
    q : (…, n) array_like
    body : str or int
        Name of a body (also one on a fixed joint), or index of a joint.
    point : (3,) array_like, m
        In the axes of that body.

    Returns
    -------
    (…, 6, n) array
        Rows: velocity of the point, angular velocity; world axes. Zero for ``'world'``.

    Raises
    ------
    TreeError
        No such body, a wrong shape, a number that is not finite.
    """
    batch, (angles,) = batched(tree, q=q)
    number, place = inner_point(tree, body, point)
    out = np.zeros((len(angles), 6, tree.count))
    if number >= 0:
        kernels.jacobians(tree.arrays.links, tree.arrays.numbers, angles, number, place, out)
    return out.reshape(*batch, 6, tree.count)


def point_bias_acceleration(tree: Tree, q: ArrayLike, qd: ArrayLike, body: str | int,
                            point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """
    Return ``J̇ q̇``: the acceleration of a point and of its body's turning while q̈ = 0.

    The point accelerates with ``J q̈ + J̇ q̇`` (the material point; gravity is not in it).

    Parameters
    ----------
    tree : Tree
    q, qd : (…, n) array_like
    body, point
        As for `point_jacobian`.

    Returns
    -------
    (…, 6) array, m/s² and rad/s²
        World axes.

    Raises
    ------
    TreeError
        As `point_jacobian`.
    """
    batch, (angles, rates) = batched(tree, q=q, qd=qd)
    number, place = inner_point(tree, body, point)
    out = np.zeros((len(angles), 6))
    if number >= 0:
        kernels.drifts(tree.arrays.links, tree.arrays.numbers, angles, rates, number, place, out)
    return out.reshape(*batch, 6)


def inner_point(tree: Tree, body: str | int, point: ArrayLike) -> tuple[int, Array]:
    """
    Return what the kernels take for a point of a named body.

    Parameters
    ----------
    tree : Tree
    body, point
        As for `point_jacobian`.

    Returns
    -------
    number : int
        Inner number of the body that carries it, −1 for the world.
    point : (3,) array
        In that body's axes as the user gave them.

    Raises
    ------
    TreeError
        No such body, or not a point.
    """
    frame = tree.frame(body)
    place = frame.translation + frame.rotation @ vector('point', point, (3,))
    return (int(np.argmax(tree.order == frame.body)) if frame.body >= 0 else -1), place
