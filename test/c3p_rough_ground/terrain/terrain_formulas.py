# SPDX-License-Identifier: Apache-2.0
"""Heights and derivatives of terrains by formulas of their own: the oracle of the kernels."""

import math

import numpy as np
from scipy.special import expit

from c3p_rough_ground.terrain import Flat, Hills, Incline, Plateau

ORDERS = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))


def bspline(degree, order, t):
    """
    Return a derivative of the uniform B-spline that is centred at 0.

    ``B_k(t) = 1/k! Σ_j (−1)^j C(k+1, j) (t + (k+1)/2 − j)₊^k`` and
    ``B_k' = B_{k−1}(t + ½) − B_{k−1}(t − ½)``.
    """
    t = np.asarray(t, float)
    if order:
        return bspline(degree - 1, order - 1, t + 0.5) - bspline(degree - 1, order - 1, t - 0.5)
    # from the nearer end, where the powers are small
    into = 0.5 * (degree + 1) - np.abs(t)
    return sum((-1) ** j * math.comb(degree + 1, j) * np.maximum(into - j, 0.0) ** degree
               for j in range(degree + 1)) / math.factorial(degree)


def plateau(terrain, x, y):
    """tanh by the logistic function σ: (1 + tanh q)/2 = σ(2q)."""
    c, s = math.cos(terrain.direction), math.sin(terrain.direction)
    q = (c * x + s * y - terrain.start) / terrain.width
    up, down = expit(2.0 * q), expit(-2.0 * q)
    first = terrain.rise * up * down * 2.0 / terrain.width
    second = first * (down - up) * 2.0 / terrain.width
    return (terrain.rise * up, first * c, first * s, second * c * c, second * c * s,
            second * s * s)


def hills(terrain, x, y):
    """Sum of waves."""
    kx, ky = terrain.wave_vector.T
    angle = np.multiply.outer(x, kx) + np.multiply.outer(y, ky) + terrain.phase
    even, odd, a = np.cos(angle), -np.sin(angle), terrain.amplitude
    return (terrain.mean + even @ a, odd @ (a * kx), odd @ (a * ky), even @ (-a * kx * kx),
            even @ (-a * kx * ky), even @ (-a * ky * ky))


def net(terrain, x, y):
    """Tensor product of B-splines over the table, repeated or held at its edges."""
    x0, y0, rate_x, rate_y, repeat = terrain.parameters
    columns = []
    for place, start, rate, count in ((x, x0, rate_x, terrain.table.shape[0]),
                                      (y, y0, rate_y, terrain.table.shape[1])):
        t = (place - start) * rate
        index = int(np.floor(t)) - terrain.degree // 2 + np.arange(terrain.degree + 1)
        columns.append((index % count if repeat else np.clip(index, 0, count - 1),
                        [bspline(terrain.degree, order, t - index) for order in range(3)]))
    (rows, in_x), (cols, in_y) = columns
    block = terrain.table[np.ix_(rows, cols)]
    return tuple(in_x[i] @ block @ in_y[j] * rate_x**i * rate_y**j for i, j in ORDERS)


def formula(terrain, x, y):
    """Return g, gx, gy, gxx, gxy, gyy of a terrain at one place."""
    if isinstance(terrain, Flat):
        return terrain.level, 0.0, 0.0, 0.0, 0.0, 0.0
    if isinstance(terrain, Incline):
        sx, sy = (terrain.slope * f(terrain.direction) for f in (math.cos, math.sin))
        return sx * x + sy * y, sx, sy, 0.0, 0.0, 0.0
    if isinstance(terrain, Plateau):
        return plateau(terrain, x, y)
    return hills(terrain, x, y) if isinstance(terrain, Hills) else net(terrain, x, y)
