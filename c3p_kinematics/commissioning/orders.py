# SPDX-License-Identifier: Apache-2.0
"""
Search over orders and signs of the encoders, one caster after the other.

A candidate (i, j, σ) puts steering channel i with sign σ and wheel channel j on a caster. Without
the small term d Δφ, and with gears of 1, the equations of rolling are linear in complex factors
c_k of the casters,

    Δz + jΔφ p_k = c_k V_k,   V_k = j r s X_ij − (d + jb) S_i,

with the sign s of the wheel channel. The displacement is projected out, and the smallest
eigenvalue of a matrix of 2m × 2m numbers states how well m casters move as one body. Its blocks
are sums over the windows that all candidates share. A wiring of fewer casters is never worse than
one that contains it, so that the best ones grow, caster by caster (a beam).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array
from c3p_kinematics.commissioning.rolling_fit import Modules
from c3p_kinematics.commissioning.windows import Windows


class Orders(NamedTuple):
    """
    H wirings of n casters.

    Attributes
    ----------
    steering_of, wheel_of : (H, n) ndarray of int
        Steering and wheel channel of each caster, each numbered from 0.
    steering_sign, wheel_sign : (H, n) ndarray
    zero : (H, n) ndarray, rad
        First estimate.
    lack : (H,) ndarray
        Smallest eigenvalue, by the mean of all.
    """

    steering_of: Array
    wheel_of: Array
    steering_sign: Array
    wheel_sign: Array
    zero: Array
    lack: Array


class _Candidates(NamedTuple):
    """Candidates of a caster: channels and signs (C,), and V (n, C, W) at each caster."""

    steering: Array
    wheel: Array
    steering_sign: Array
    wheel_sign: Array
    signal: Array


def _candidates(modules: Modules, windows: Windows) -> _Candidates:
    count = len(modules.pivot)
    rows = []
    signals = []
    for i, j, sigma, s in product(range(count), range(count), (1.0, -1.0), (1.0, -1.0)):
        # without offset a reversed wheel is a zero that is 180° off
        if s < 0 and not np.any(modules.offset) and not np.any(modules.beside):
            continue
        w = windows.signed(sigma)
        rows.append((i, j, sigma, s))
        signals.append([1j * modules.radius[k] * s * w.rolled[:, i, j]
                        - (modules.offset[k] + 1j * modules.beside[k]) * w.turned[:, i]
                        for k in range(count)])
    columns = np.array(rows)
    return _Candidates(columns[:, 0].astype(int), columns[:, 1].astype(int), columns[:, 2],
                       columns[:, 3], np.moveaxis(np.array(signals), 1, 0))


def _matrices(modules: Modules, candidates: _Candidates, casters: int, chosen: Array) -> Array:
    """Return the matrices (H, 2m, 2m) of choices (H, m) of candidates for the first casters."""
    pivot = modules.pivot[:casters]
    # complex numbers as pairs: e = V − (Δz + jΔφ p), without what one body explains
    body = np.zeros((2 * casters, 3))
    body[:casters, 0] = 1.0
    body[casters:, 1] = 1.0
    body[:casters, 2] = -pivot.imag
    body[casters:, 2] = pivot.real
    basis, _ = np.linalg.qr(body)
    projector = np.eye(2 * casters) - basis @ basis.T
    signal = np.stack([candidates.signal[k][chosen[:, k]] for k in range(casters)], axis=1)
    power = np.einsum('hkw,hkw->hk', signal, signal.conj()).real
    signal = signal / np.sqrt(power.mean(1) / 1.0 + 1e-30)[:, None, None]
    # real and imaginary part of c_k V_k by those of c_k: [[Re, −Im], [Im, Re]]
    gram = np.einsum('hkw,hlw->hkl', signal.conj(), signal)
    plain = np.einsum('hkw,hlw->hkl', signal, signal)
    # sums over windows of products of real and imaginary parts
    rr = 0.5 * (gram.real + plain.real)
    ii = 0.5 * (gram.real - plain.real)
    ri = 0.5 * (gram.imag + plain.imag)
    ir = 0.5 * (plain.imag - gram.imag)
    m = casters
    p = {(a, b): projector[a * m:(a + 1) * m, b * m:(b + 1) * m] for a in (0, 1) for b in (0, 1)}
    out = np.empty((len(chosen), 2 * m, 2 * m))
    # rows of the factors' real parts act as (Re, Im), of imaginary parts as (−Im, Re)
    out[:, :m, :m] = p[0, 0] * rr + p[0, 1] * ri + p[1, 0] * ir + p[1, 1] * ii
    out[:, :m, m:] = -p[0, 0] * ri + p[0, 1] * rr - p[1, 0] * ii + p[1, 1] * ir
    out[:, m:, :m] = np.swapaxes(out[:, :m, m:], 1, 2)
    out[:, m:, m:] = p[0, 0] * ii - p[0, 1] * ir - p[1, 0] * ri + p[1, 1] * rr
    return out


def _grown(candidates: _Candidates, chosen: Array) -> Iterator[Array]:
    """Yield choices with one caster more, whose channels are not taken."""
    for c in range(len(candidates.steering)):
        free = ((candidates.steering[chosen] != candidates.steering[c]).all(1)
                & (candidates.wheel[chosen] != candidates.wheel[c]).all(1))
        taken = chosen[free]
        yield np.column_stack([taken, np.full(len(taken), c)])


def search_orders(modules: Modules, windows: Windows, kept: int) -> Orders:
    """
    Return the `kept` best wirings, the best first.

    Parameters
    ----------
    modules : Modules
    windows : Windows
    kept : int
        Wirings that are kept at each number of casters.
    """
    count = len(modules.pivot)
    candidates = _candidates(modules, windows)
    chosen = np.arange(len(candidates.steering))[:, None]
    lack = np.zeros(len(chosen))
    vectors = np.zeros((len(chosen), 2))
    for casters in range(2, count + 1):
        chosen = np.concatenate(list(_grown(candidates, chosen)))
        matrices = _matrices(modules, candidates, casters, chosen)
        values, every = np.linalg.eigh(matrices)
        order = np.argsort(values[:, 0], kind='stable')[:kept]
        chosen = chosen[order]
        lack = values[order, 0]
        vectors = every[order, :, 0]
    factor = vectors[:, :count] + 1j * vectors[:, count:]
    return Orders(candidates.steering[chosen], candidates.wheel[chosen],
                  candidates.steering_sign[chosen], candidates.wheel_sign[chosen],
                  np.angle(factor), lack)
