# SPDX-License-Identifier: Apache-2.0
"""
Fit of zeros and gears of many wirings at once, on residuals of rolling.

The contact point of caster k, taken as a point of the platform, moves in a window by

    Δz + jΔφ (p_k + (b_k − j d_k) c_k E_k) = c_k (j r_k g_k X_k − (d_k + j b_k) S_k)

with c_k = e^{jζ_k}, the displacement Δz = Δx + jΔy and the turn Δφ of the platform in
``base_link``, the pivot p_k, the zero ζ_k of the steering encoder and the gear g_k of the wheel
encoder, with its sign (`c3p_kinematics.casters` in complex numbers, u + js = (v + jω p) e^{−jθ}).
A window has 2n equations for three unknowns of its own, which are eliminated; the zeros and gears
are common. Of a push by hand the direction is known as well: `Known` adds two equations, that
across it and that of the turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_description.model import Array

# gears beyond this factor are another wiring: bounds of the fit
LARGEST_GEAR = 1.4

# relative weight that keeps the equations of a posture without information solvable
DAMPING = 1e-9


class Modules(NamedTuple):
    """Geometry of the casters: pivot p (complex), d, b and r, each (n,), m."""

    pivot: Array
    offset: Array
    beside: Array
    radius: Array


class Signals(NamedTuple):
    """X, S and E of the channels of each caster (H, W, n), for H wirings."""

    rolled: Array
    turned: Array
    facing: Array


class Known(NamedTuple):
    """
    Known motion of W windows.

    Attributes
    ----------
    rows : (W, 2, 3) ndarray
        Equations rows · (Δx, Δy, Δφ) = 0, in units of the residuals of rolling; 0 where the motion
        is free.
    """

    rows: Array


class Fit(NamedTuple):
    """
    Fit of H wirings.

    Attributes
    ----------
    zero, gear : (H, n) ndarray
    squares : (H,) ndarray, m²
        Sum of squares of the residuals.
    motion : (H, W, 3) ndarray
        Δx, Δy and Δφ of each window.
    normal : (H, 2n, 2n) ndarray, m²
        Normal matrix of zeros and logarithms of the gears.
    """

    zero: Array
    gear: Array
    squares: Array
    motion: Array
    normal: Array


def _real(values: Array) -> Array:
    """Return complex (..., n) as real (..., 2n)."""
    return np.concatenate([values.real, values.imag], axis=-1)


def _motion_of(modules: Modules, signals: Signals, zero: Array, gear: Array,
               known: Known | None) -> tuple[Array, Array, Array, Array]:
    """
    Return the motion of each window (H, W, 3), the residuals (H, W, 2n), and both parts of them.

    The parts are the right-hand side (complex, H, W, n), and the columns (H, W, 2n, 3). With
    `known` motions there are 2n + 2 residuals and columns.
    """
    c = np.exp(1j * zero)[:, None, :]
    right = c * (1j * modules.radius * gear[:, None, :] * signals.rolled
                 - (modules.offset + 1j * modules.beside) * signals.turned)
    lever = 1j * (modules.pivot + (modules.beside - 1j * modules.offset) * c * signals.facing)
    columns = np.stack([_real(np.ones_like(lever)), _real(1j * np.ones_like(lever)),
                        _real(lever)], axis=-1)
    y = _real(right)
    if known is not None:
        columns = np.concatenate([columns, np.broadcast_to(
            known.rows, (len(zero), *known.rows.shape))], axis=2)
        y = np.concatenate([y, np.zeros((*y.shape[:2], 2))], axis=2)
    gram = np.einsum('hwki,hwkj->hwij', columns, columns)
    motion = np.linalg.solve(gram, np.einsum('hwki,hwk->hwi', columns, y)[..., None])[..., 0]
    residual = np.einsum('hwki,hwi->hwk', columns, motion) - y
    return motion, residual, right, columns


def fit(modules: Modules, signals: Signals, start: tuple[Array, Array], rounds: int,
        weight: float = 0.0, known: Known | None = None) -> Fit:
    """
    Return zeros and gears by Gauss-Newton steps with step control.

    The displacements are eliminated from the derivatives (Kaufman's variable projection).

    Parameters
    ----------
    modules : Modules
    signals : Signals
    start : tuple of (H, n) ndarray
        Zeros and gears.
    rounds : int
    weight : float, m²
        Of the squared logarithms of the gears: prior knowledge that they are about 1.
    known : Known, optional
        Of the motion of the windows.
    """
    zero, gear = start
    count = zero.shape[1]
    damping = np.full(len(zero), 1e-3)
    zero = zero.copy()
    gear = gear.copy()
    sign = np.sign(gear)
    motion, residual, right, columns = _motion_of(modules, signals, zero, gear, known)
    squares = _squares(residual, gear, weight)
    normal = np.zeros((len(zero), 2 * count, 2 * count))
    own = np.arange(count, 2 * count)
    for k in range(rounds + 1):
        normal, slope = _normal(modules, signals, zero, gear, (motion, residual, right, columns))
        normal[:, own, own] += weight
        slope[:, count:] += weight * np.log(np.abs(gear))
        if k == rounds:
            break
        scale = np.einsum('hii->hi', normal)
        matrix = normal.copy()
        index = np.arange(2 * count)
        matrix[:, index, index] += damping[:, None] * scale + DAMPING * scale.max(1)[:, None]
        step = -np.linalg.solve(matrix, slope[..., None])[..., 0]
        trial_zero = zero + np.clip(step[:, :count], -0.5, 0.5)
        logs = np.log(np.abs(gear)) + np.clip(step[:, count:], -0.2, 0.2)
        bound = np.log(LARGEST_GEAR)
        trial_gear = sign * np.exp(np.clip(logs, -bound, bound))
        trial = _motion_of(modules, signals, trial_zero, trial_gear, known)
        trial_squares = _squares(trial[1], trial_gear, weight)
        better = trial_squares <= squares
        damping = np.where(better, 0.2 * damping, 10.0 * damping)
        zero[better] = trial_zero[better]
        gear[better] = trial_gear[better]
        squares[better] = trial_squares[better]
        for kept, new in zip((motion, residual, right, columns), trial, strict=True):
            kept[better] = new[better]
    return Fit(zero, gear, squares, motion, normal)


def _squares(residual: Array, gear: Array, weight: float) -> Array:
    """Return the sums of squares (H,) with those of the prior."""
    return (np.einsum('hwk,hwk->h', residual, residual)
            + weight * (np.log(np.abs(gear)) ** 2).sum(1))


def _normal(modules: Modules, signals: Signals, zero: Array, gear: Array,
            state: tuple[Array, Array, Array, Array]) -> tuple[Array, Array]:
    """Return normal matrix (H, 2n, 2n) and slope (H, 2n) of zeros and logarithms of gears."""
    motion, residual, right, columns = state
    hypotheses, windows, count = right.shape
    c = np.exp(1j * zero)[:, None, :]
    turn = motion[..., 2:]
    by_zero = 1j * (1j * turn * (modules.beside - 1j * modules.offset) * c * signals.facing
                    - right)
    by_gear = -1j * c * modules.radius * gear[:, None, :] * signals.rolled
    jacobian = np.zeros((hypotheses, windows, columns.shape[2], 2 * count))
    index = np.arange(count)
    for first, values in ((0, by_zero), (count, by_gear)):
        jacobian[:, :, index, first + index] = values.real
        jacobian[:, :, count + index, first + index] = values.imag
    # without what the displacements of the window explain
    gram = np.einsum('hwki,hwkj->hwij', columns, columns)
    cross = np.einsum('hwki,hwkj->hwij', columns, jacobian)
    jacobian -= np.einsum('hwki,hwij->hwkj', columns, np.linalg.solve(gram, cross))
    normal = np.einsum('hwki,hwkj->hij', jacobian, jacobian, optimize=True)
    slope = np.einsum('hwki,hwk->hi', jacobian, residual)
    return normal, slope
