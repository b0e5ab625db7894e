# SPDX-License-Identifier: Apache-2.0
"""
Slender beams (Euler and Bernoulli) and the shapes that a clamped one bends into.

A point x of the beam is at ``(x − ½ ηᵀ S(x) η, φ(x)·η, 0)`` in the beam's frame: bending in the
plane x y, and the shortening that keeps the length, ``S(x) = ∫₀ˣ φ' φ'ᵀ``. φ are the modes of the
beam with what it carries at its end: those of a free end, where force and moment are zero,
converge slowly to the motion under a load.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from scipy.optimize import brentq

from c3p_multibody.trees import Body, Joint
from c3p_multibody.trees.parts import Array

# points of Gauss's rule on a beam: exact to rounding for products of ten modes
POINTS = 40

# shapes beyond the modes of a loaded beam, for which its frequencies are exact to some 1e-6
MORE = 6

# of φ and φ' (g, k) at x (g,)
Shapes = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Beam:
    """
    An elastic beam, clamped to a body of a tree.

    Attributes
    ----------
    body : str or int
        That carries the beam; ``'world'`` for one that is clamped to the world.
    length : float, m
    density : float, kg/m
    stiffness : float, N·m²
        E I of bending in the plane x y of the body's frame; the beam is along x.
    start : (3,) array_like, m
        Of the beam, in the body's frame.
    modes : int
        Assumed modes: of the clamped beam, with what its `tip` carries where all joints are zero.
    damping : float
        Damping ratio of each mode.
    shortening : bool
        The tip comes nearer as the beam bends: centrifugal forces then stiffen it. Without, they
        soften it, which is wrong at rates near the first frequency.
    tip : tuple of str
        Names of the three joints of `tip_joints` that carry what is fixed to the free end; empty
        for nothing.
    """

    body: str | int
    length: float
    density: float
    stiffness: float
    start: ArrayLike = (0.0, 0.0, 0.0)
    modes: int = 3
    damping: float = 0.0
    shortening: bool = True
    tip: tuple[str, ...] = ()


class Modes(NamedTuple):
    """
    Modes of a clamped beam at points of Gauss's rule, and at its free end.

    Attributes
    ----------
    place, weight : (g,) arrays, m
        Points and weights of the rule.
    shape : (g, k) array
        φ, with ``∫ φ² dx`` = length.
    shortening : (g, k, k) array, 1/m
        S.
    stiffness : (k,) array, N/m
        ``∫ E I φ''² dx``; modes are orthogonal.
    frequency : (k,) array, rad/s
    tip : tuple
        φ (k,), φ' (k,) and S (k, k) at the free end.
    """

    place: Array
    weight: Array
    shape: Array
    shortening: Array
    stiffness: Array
    frequency: Array
    tip: tuple[Array, Array, Array]


def roots(count: int, end: float = -1.0) -> Array:
    """Return the first `count` solutions b > 0 of ``cos b cosh b = end``; end 1: clamped too."""
    first = 0 if end < 0.0 else 1
    return np.array([brentq(lambda b: np.cos(b) - end / np.cosh(b), (k + 0.1) * np.pi,
                            (k + 0.9) * np.pi, xtol=1e-15, rtol=1e-15)
                     for k in range(first, first + count)])


def _bending(b: Array, less: Array, s: Array) -> tuple[Array, Array]:
    """
    Return φ and dφ/ds at s = x / length (g,) of the shapes with b and ``less`` = 1 − σ (k,).

    ``φ = cosh bs − cos bs − σ (sinh bs − sin bs)``, (g, k). Written with exponentials, as the
    hyperbolic functions cancel in high modes.
    """
    arg = np.multiply.outer(s, b)
    sigma = 1.0 - less
    up = 0.5 * less * np.exp(arg)
    down = 0.5 * (2.0 - less) * np.exp(-arg)
    return (up + down - np.cos(arg) + sigma * np.sin(arg),
            b * (up - down + np.sin(arg) + sigma * np.cos(arg)))


def clamped_free(count: int, length: float, x: Array) -> tuple[Array, Array]:
    """
    Return φ and φ' of the first `count` modes of a clamped beam of a `length` at `x` (g,).

    (g, count) each; φ is without unit, and ``∫ φ² dx`` is the length.

    Examples
    --------
    >>> import numpy as np
    >>> from c3p_multibody.flexible import clamped_free
    >>> shape, slope = clamped_free(2, 1.0, np.array([0.0, 1.0]))
    >>> np.abs(shape).round(9).tolist()
    [[0.0, 0.0], [2.0, 2.0]]
    """
    b = roots(count)
    less = (np.sin(b) - np.cos(b) - np.exp(-b)) / (np.sinh(b) + np.sin(b))
    shape, slope = _bending(b, less, np.asarray(x, float) / length)
    return shape, slope / length


def _interface(count: int, s: Array) -> tuple[Array, Array]:
    """
    Return `count` shapes of Craig and Bampton and their slopes at s = x / length (g,).

    First the bending by a force at the end, ``3s² − s³``, and by a moment, ``s²``; then modes of a
    beam with both ends clamped: any motion of the end is exact, also with few shapes.

    References
    ----------
    Craig, R. and Bampton, M.: Coupling of substructures for dynamic analyses. AIAA Journal 6
    (1968), 1313-1319.
    """
    b = roots(count - 2, end=1.0)
    less = (np.cos(b) - np.sin(b) - np.exp(-b)) / (np.sinh(b) - np.sin(b))
    shape, slope = _bending(b, less, s)
    return (np.column_stack([3.0 * s**2 - s**3, s**2, shape]),
            np.column_stack([6.0 * s - 3.0 * s**2, 2.0 * s, slope]))


def _loaded(beam: Beam, load: Array) -> tuple[Shapes, Array, Array]:
    """
    Return φ and φ' as a function of x (g,), ``∫ E I φ''²`` and the frequencies of a loaded beam.

    `load` (2, 2) is the inertia at the end for deflection and slope [kg, kg m, kg m²]. Rayleigh
    and Ritz with the shapes of `_interface`: the first two bend as ``6 − 6s`` and 2, and do no
    work on those with clamped ends, whose own is b⁴.
    """
    size = beam.length
    count = beam.modes + MORE
    node, weight = np.polynomial.legendre.leggauss(POINTS)
    shape, _ = _interface(count, 0.5 * (node + 1.0))
    alone = shape.T @ (0.5 * weight[:, None] * shape)
    stiffness = np.diag([12.0, 4.0, *roots(count - 2, end=1.0)**4])
    stiffness[0, 1] = stiffness[1, 0] = 6.0
    stiffness *= beam.stiffness / size**3
    end = np.vstack(_interface(count, np.ones(1))) / [[1.0], [size]]
    squared, factors = eigh(stiffness, beam.density * size * alone + end.T @ load @ end,
                            subset_by_index=(0, beam.modes - 1))
    factors /= np.sqrt(np.diag(factors.T @ alone @ factors))

    def shapes(x: Array) -> tuple[Array, Array]:
        found, slope = _interface(count, x / size)
        return found @ factors, slope @ factors / size

    return shapes, np.diag(factors.T @ stiffness @ factors), np.sqrt(squared)


def _free(beam: Beam) -> tuple[Shapes, Array, Array]:
    """Return φ and φ' as a function of x (g,), ``∫ E I φ''²`` and the frequencies: a free end."""
    size = beam.length
    stiffness = beam.stiffness * roots(beam.modes)**4 / size**3
    return (lambda x: clamped_free(beam.modes, size, x), stiffness,
            np.sqrt(stiffness / (beam.density * size)))


def modes(beam: Beam, load: Array | None = None) -> Modes:
    """
    Return the modes of a `beam`.

    `load` (2, 2): inertia at its end for deflection and slope [kg, kg m, kg m²]; None: a free end.
    """
    shapes, stiffness, frequency = _free(beam) if load is None else _loaded(beam, load)
    node, weight = np.polynomial.legendre.leggauss(POINTS)
    node = 0.5 * (node + 1.0)
    weight = 0.5 * weight
    size = beam.length

    def shortened(x: float) -> Array:
        if not beam.shortening:
            return np.zeros((beam.modes, beam.modes))
        _, slope = shapes(x * node)
        return x * np.einsum('g,gj,gk->jk', weight, slope, slope)

    place = size * node
    shape, _ = shapes(place)
    end, slope = (one[0] for one in shapes(np.array([size])))
    return Modes(place, size * weight, shape, np.array([shortened(x) for x in place]), stiffness,
                 frequency, (end, slope, shortened(size)))


def tip_joints(name: str, beam_start: ArrayLike, length: float) -> tuple[list[Joint], list[Body]]:
    """
    Return the joints and massless bodies that carry what is fixed to the free end of a beam.

    Two sliding joints along x and y and a turning one about z, named `name` with _x, _y and _turn,
    on the body that carries the beam; the third body is the frame of the free end. Their
    coordinates are functions of the beam's modes, not coordinates of the flexible tree.
    `beam_start` (3,) is the start of the beam in the body's frame, `length` its length, m.
    """
    place = np.asarray(beam_start, float) + [length, 0.0, 0.0]
    joints = [Joint(f'{name}_x', 'prismatic', (1, 0, 0), translation=place),
              Joint(f'{name}_y', 'prismatic', (0, 1, 0)), Joint(f'{name}_turn', axis=(0, 0, 1))]
    return joints, [Body(f'{joint.name}_body') for joint in joints]
