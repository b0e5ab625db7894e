# SPDX-License-Identifier: Apache-2.0
"""
Slender beams (Euler and Bernoulli) and the modes of a clamped one.

A point x of the beam is at ``(x − ½ ηᵀ S(x) η, φ(x)·η, 0)`` in the beam's frame: bending in the
plane x y, and the shortening that keeps the length, ``S(x) = ∫₀ˣ φ' φ'ᵀ``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from c3p_multibody.trees import Body, Joint
from c3p_multibody.trees.parts import Array

# points of Gauss's rule on a beam: exact to rounding for products of ten modes
POINTS = 40


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
        Assumed modes, those of the beam alone.
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


def roots(count: int) -> Array:
    """Return the first `count` solutions b of ``cos b cosh b = −1``."""
    return np.array([brentq(lambda b: np.cos(b) + 1.0 / np.cosh(b), (k + 0.1) * np.pi,
                            (k + 0.9) * np.pi, xtol=1e-15, rtol=1e-15) for k in range(count)])


def clamped_free(count: int, length: float, x: Array) -> tuple[Array, Array]:
    """
    Return φ and φ' of the first `count` modes of a clamped beam of a `length` at `x` (g,).

    ``φ = cosh βx − cos βx − σ (sinh βx − sin βx)``, (g, count). Written with exponentials, as the
    hyperbolic functions cancel in high modes.

    Examples
    --------
    >>> import numpy as np
    >>> from c3p_multibody.flexible import clamped_free
    >>> shape, slope = clamped_free(2, 1.0, np.array([0.0, 1.0]))
    >>> np.abs(shape).round(9).tolist()
    [[0.0, 0.0], [2.0, 2.0]]
    """
    b = roots(count)
    arg = np.multiply.outer(np.asarray(x, float), b / length)
    below = np.sinh(b) + np.sin(b)
    # 1 − σ and 1 + σ
    less = (np.sin(b) - np.cos(b) - np.exp(-b)) / below
    more = 2.0 - less
    sigma = 1.0 - less
    up = 0.5 * less * np.exp(arg)
    down = 0.5 * more * np.exp(-arg)
    return (up + down - np.cos(arg) + sigma * np.sin(arg),
            b / length * (up - down + np.sin(arg) + sigma * np.cos(arg)))


def modes(beam: Beam) -> Modes:
    """Return the modes of a `beam`."""
    node, weight = np.polynomial.legendre.leggauss(POINTS)
    node = 0.5 * (node + 1.0)
    weight = 0.5 * weight
    place = beam.length * node
    size = beam.length

    def shortened(x: float) -> Array:
        if not beam.shortening:
            return np.zeros((beam.modes, beam.modes))
        slope = clamped_free(beam.modes, size, x * node)[1]
        return x * np.einsum('g,gj,gk->jk', weight, slope, slope)

    shape, _ = clamped_free(beam.modes, size, place)
    end, slope = (one[0] for one in clamped_free(beam.modes, size, np.array([size])))
    stiffness = beam.stiffness * roots(beam.modes)**4 / size**3
    return Modes(place, size * weight, shape, np.array([shortened(x) for x in place]), stiffness,
                 np.sqrt(stiffness / (beam.density * size)), (end, slope, shortened(size)))


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
