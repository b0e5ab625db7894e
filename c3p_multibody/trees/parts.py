# SPDX-License-Identifier: Apache-2.0
"""Joints and bodies of a tree as given by the user, and their validation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, ArrayField

X = (1.0, 0.0, 0.0)
Y = (0.0, 1.0, 0.0)
Z = (0.0, 0.0, 1.0)
# joints with several freedoms as chains of simple ones: (suffix, kind, axis), world side first
CHAINS = {
    'floating': (('x', 'prismatic', X), ('y', 'prismatic', Y), ('z', 'prismatic', Z),
                 ('yaw', 'revolute', Z), ('pitch', 'revolute', Y), ('roll', 'revolute', X)),
    'spherical': (('yaw', 'revolute', Z), ('pitch', 'revolute', Y), ('roll', 'revolute', X)),
    'planar': (('x', 'prismatic', X), ('y', 'prismatic', Y), ('yaw', 'revolute', Z)),
}
KINDS = ('revolute', 'prismatic', 'fixed', *CHAINS)
# entries of RᵀR − 1 of a rotation given with fewer digits than a double has
ROTATION_TOLERANCE = 1e-9
# largest asymmetry and negative eigenvalue of an inertia, relative to its largest entry and to
# m·size²: rounding
INERTIA_TOLERANCE = 1e-9
# negative eigenvalue up to which an inertia is used with a warning, relative to m·size²: published
# models have such inertias, and the equations work with them
INERTIA_WARNED = 0.1


class TreeError(ValueError):
    """Invalid tree or state; the text names body, row, value and remedy."""


class TreeWarning(UserWarning):
    """A tree that is used although no such bodies exist; the text names body, row and value."""


def _numbers(owner: str, name: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return `value` as floats of `shape`; a matrix may be given as any nested sequence."""
    try:
        array = np.array(value, float)
    except (TypeError, ValueError):
        raise TreeError(f'{owner}: {name} = {value!r}: expected numbers of shape {shape}'
                        ) from None
    if array.shape != shape:
        raise TreeError(f'{owner}: {name} has shape {array.shape}: expected {shape}')
    if not np.all(np.isfinite(array)):
        raise TreeError(f'{owner}: {name} = {array.tolist()}: every number must be finite')
    return array


@dataclass(frozen=True, eq=False)
class Joint:
    """
    Joint between a body and its lower body.

    The joint frame is at rest in the lower body; at ``q = 0`` the body's own frame coincides with
    it. The body turns about (revolute) or slides along (prismatic) `axis`.

    Attributes
    ----------
    name : str
    kind : str
        ``'revolute'``, ``'prismatic'`` or ``'fixed'``, or a chain of them: ``'floating'`` (x, y,
        z, then yaw, pitch, roll: R = Rz Ry Rx), ``'spherical'`` (yaw, pitch, roll) or
        ``'planar'`` (x, y, yaw). The chains with three angles are singular at pitch = ±90°. Their
        freedoms are called ``name.x``, ``name.yaw``, …
    axis : (3,) array_like
        Direction in the joint frame, any length but zero; not used by chains and fixed joints.
    rotation : (3, 3) array_like
        From the joint frame to the lower body's frame.
    translation : (3,) array_like, m
        Origin of the joint frame in the lower body's frame.
    """

    name: str
    kind: str = 'revolute'
    axis: ArrayField = Z
    rotation: ArrayField = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    translation: ArrayField = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Body:
    """
    A rigid body.

    Attributes
    ----------
    name : str
    mass : float, kg
    com : (3,) array_like, m
        Centre of mass, in the body's frame.
    inertia : (3, 3) array_like, kg·m²
        About the centre of mass, in the axes of the body's frame.
    """

    name: str
    mass: float = 0.0
    com: ArrayField = (0.0, 0.0, 0.0)
    inertia: ArrayField = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def checked_joint(joint: Joint, row: int) -> Joint:
    """
    Return `joint` with arrays, its axis of length one.

    TreeError names the `row` of an unknown kind, a wrong shape, a zero axis or an improper
    rotation.
    """
    owner = f'joint {joint.name} (row {row})'
    if joint.kind not in KINDS:
        raise TreeError(f'{owner}: kind = {joint.kind!r}: must be one of {", ".join(KINDS)}')
    axis = _numbers(owner, 'axis', joint.axis, (3,))
    length = float(np.linalg.norm(axis))
    if joint.kind in ('revolute', 'prismatic'):
        if length == 0.0:
            raise TreeError(f'{owner}: axis = 0 0 0: give the direction of the joint')
        axis = axis / length
    rotation = _numbers(owner, 'rotation', joint.rotation, (3, 3))
    error = float(np.max(np.abs(rotation.T @ rotation - np.eye(3))))
    if error > ROTATION_TOLERANCE or np.linalg.det(rotation) < 0:
        raise TreeError(f'{owner}: improper rotation: RᵀR differs from 1 by {error:.1e}, '
                        f'determinant {np.linalg.det(rotation):.6f}; give a proper rotation')
    return Joint(joint.name, joint.kind, axis, rotation,
                 _numbers(owner, 'translation', joint.translation, (3,)))


def checked_body(body: Body, row: int) -> Body:
    """
    Return `body` with arrays.

    TreeError names the `row` of a negative mass, a wrong shape, or an inertia that is not
    symmetric. Whether it is positive semi-definite is for `check_inertia`, after links on fixed
    joints have become part of their carrier.
    """
    owner = f'body {body.name} (row {row})'
    mass = float(_numbers(owner, 'mass', body.mass, ()))
    if mass < 0:
        raise TreeError(f'{owner}: mass = {mass}: must not be negative')
    inertia = _numbers(owner, 'inertia', body.inertia, (3, 3))
    slack = INERTIA_TOLERANCE * float(np.max(np.abs(inertia)))
    if np.max(np.abs(inertia - inertia.T)) > slack:
        raise TreeError(f'{owner}: inertia = {inertia.tolist()}: must be symmetric')
    return Body(body.name, mass, _numbers(owner, 'com', body.com, (3,)),
                0.5 * (inertia + inertia.T))


def check_inertia(body: Body, size: float, row: int) -> None:
    """
    Check that a body has an inertia that some mass distribution has.

    Parameters
    ----------
    body : Body
        With all links on fixed joints.
    size : float, m
        Distance of its farthest point that is known. An eigenvalue may be negative by a rounding
        of m·size², and by a tenth of it with a TreeWarning.
    row : int
        For the text.

    Raises
    ------
    TreeError
        With eigenvalue, mass and size.
    """
    least = float(np.linalg.eigvalsh(body.inertia)[0])
    scale = body.mass * size**2
    if least >= -INERTIA_TOLERANCE * max(scale, float(np.max(np.abs(body.inertia)))):
        return
    text = (f'body {body.name} (row {row}): inertia has the eigenvalue {least:.6g} kg·m², with '
            f'{body.mass:g} kg and a size of {size:.3g} m: no body has a negative one')
    if least < -INERTIA_WARNED * scale:
        raise TreeError(f'{text}; must be positive semi-definite')
    warnings.warn(f'{text}; used as it is', TreeWarning, stacklevel=2)


def lumped(bodies: Sequence[Body]) -> Body:
    """
    Return bodies that move as one, all given in one frame, under the name of the first.

    ``m = Σ m_k``, ``m c = Σ m_k c_k``, ``I = Σ I_k + m_k (|s_k|² 1 − s_k s_kᵀ)``, s_k = c_k − c.
    """
    if len(bodies) == 1:
        return bodies[0]
    mass = sum(body.mass for body in bodies)
    com = (sum(body.mass * body.com for body in bodies) / mass if mass > 0 else bodies[0].com)
    inertia = np.zeros((3, 3))
    for body in bodies:
        s = body.com - com
        inertia += body.inertia + body.mass * ((s @ s) * np.eye(3) - np.outer(s, s))
    return Body(bodies[0].name, mass, com, inertia)
