# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled heights: ``height(kind, parameters, table, x, y) -> (g, gx, gy, gxx, gxy, gyy)``.

Numbers of a ground:

kind     parameters                                   table
FLAT     height                                       unused
INCLINE  height at the origin, slope x, slope y       unused
PLATEAU  H, w, x0, cos D, sin D                       unused
COSINES  mean height                                  rows amplitude, kx, ky, phase
CUBIC    x and y of coefficient [0, 0], 1/spacing     coefficients, one row per x
         along x and y, 1 to repeat or 0 to hold
QUINTIC  as CUBIC                                     as CUBIC
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inlined, kernel
from c3p_kernels.elementary import circle

FLAT, INCLINE, PLATEAU, COSINES, CUBIC, QUINTIC = range(6)


@inlined
def plateau(parameters, x, y):
    """Return ``g = H/2 (1 + tanh q)``, ``q = (x cos D + y sin D − x0)/w``, and derivatives."""
    h = parameters[0]
    w = parameters[1]
    c, s = parameters[3], parameters[4]
    q = (x * c + y * s - parameters[2]) / w
    # by the exponential, which is faster and keeps the digits of the remainder far from the climb:
    # (1 + tanh q)/2 = 1/(1 + e) and 1 − tanh² q = 4 e/(1 + e)², with e of −2|q| for either sign
    e = math.exp(-2.0 * abs(q))
    rise = 1.0 / (1.0 + e)
    tanh = (1.0 - e) * rise
    first = 2.0 * h * e * rise * rise / w
    if q < 0.0:
        rise = e * rise
        tanh = -tanh
    second = -2.0 * tanh * first / w
    return (h * rise, first * c, first * s, second * c * c, second * c * s, second * s * s)


@inlined
def cosines(parameters, table, x, y):
    """Return ``g = mean + Σ A cos(kx x + ky y + phase)`` and its derivatives."""
    g = parameters[0]
    gx = 0.0
    gy = 0.0
    gxx = 0.0
    gxy = 0.0
    gyy = 0.0
    for i in range(table.shape[0]):
        amplitude = table[i, 0]
        kx = table[i, 1]
        ky = table[i, 2]
        c, s = circle(kx * x + ky * y + table[i, 3])
        s *= amplitude
        c *= amplitude
        g += c
        gx -= kx * s
        gy -= ky * s
        gxx -= kx * kx * c
        gxy -= kx * ky * c
        gyy -= ky * ky * c
    return g, gx, gy, gxx, gxy, gyy


@inlined
def cubic_basis(f, rate):
    """Return the 4 cubic B-splines of a cell, their first and their second derivatives."""
    e = 1.0 - f
    ff = f * f
    ee = e * e
    second = rate * rate
    return ((ee * e / 6.0, 2.0 / 3.0 - ff * (1.0 - 0.5 * f),
             2.0 / 3.0 - ee * (1.0 - 0.5 * e), ff * f / 6.0),
            (-0.5 * ee * rate, f * (1.5 * f - 2.0) * rate,
             -e * (1.5 * e - 2.0) * rate, 0.5 * ff * rate),
            (e * second, (3.0 * f - 2.0) * second, (3.0 * e - 2.0) * second, f * second))


@inlined
def quintic_side(f):
    """Return the quintic B-splines centred 2, 1 and 0 cells before a cell, and derivatives."""
    e = 1.0 - f
    ee = e * e
    ff = f * f
    eee = ee * e
    # the truncated powers (3−t)⁵ − 6(2−t)⁵ + 15(1−t)⁵ of t = 2+f, 1+f and f, multiplied out
    b1 = (26.0 + f * (-50.0 + f * (20.0 + f * (20.0 + f * (-20.0 + 5.0 * f))))) / 120.0
    d1 = (-50.0 + f * (40.0 + f * (60.0 + f * (-80.0 + 25.0 * f)))) / 120.0
    s1 = (40.0 + f * (120.0 + f * (-240.0 + 100.0 * f))) / 120.0
    b0 = (66.0 + ff * (-60.0 + ff * (30.0 - 10.0 * f))) / 120.0
    d0 = f * (-120.0 + ff * (120.0 - 50.0 * f)) / 120.0
    s0 = (-120.0 + ff * (360.0 - 200.0 * f)) / 120.0
    return (eee * ee / 120.0, b1, b0, -eee * e / 24.0, d1, d0, eee / 6.0, s1, s0)


@inlined
def quintic_basis(f, rate):
    """Return the 6 quintic B-splines of a cell, their first and their second derivatives."""
    a2, a1, a0, da2, da1, da0, sa2, sa1, sa0 = quintic_side(f)
    # the other half is the mirror image
    b2, b1, b0, db2, db1, db0, sb2, sb1, sb0 = quintic_side(1.0 - f)
    second = rate * rate
    return ((a2, a1, a0, b0, b1, b2),
            (da2 * rate, da1 * rate, da0 * rate, -db0 * rate, -db1 * rate, -db2 * rate),
            (sa2 * second, sa1 * second, sa0 * second,
             sb0 * second, sb1 * second, sb2 * second))


@inlined
def first(index, count, repeat):
    """Return the first coefficient of a cell, brought into [0, count) where the net repeats."""
    # a division costs as much as a row of the sum
    if repeat and not 0 <= index < count:
        return index % count
    return index


@inlined
def place(index, count, repeat):
    """Return the row of coefficient `index` ≥ `first`: repeated, or that of the edge."""
    if index >= count:
        return index - count if repeat else count - 1
    return max(index, 0)


@inlined
def cubic(parameters, table, x, y):
    """Return ``g = Σ c_ij B(x/h − i) B(y/h − j)`` with cubic B, and its derivatives."""
    u = (x - parameters[0]) * parameters[2]
    v = (y - parameters[1]) * parameters[3]
    if not (math.isfinite(u) and math.isfinite(v)):
        return math.nan, math.nan, math.nan, math.nan, math.nan, math.nan
    i = int(math.floor(u))
    j = int(math.floor(v))
    bx, dx, sx = cubic_basis(u - i, parameters[2])
    (b0, b1, b2, b3), (d0, d1, d2, d3), (s0, s1, s2, s3) = cubic_basis(v - j, parameters[3])
    repeat = parameters[4] != 0.0
    rows, columns = table.shape
    i = first(i - 1, rows, repeat)
    j = first(j - 1, columns, repeat)
    j0 = place(j, columns, repeat)
    j1 = place(j + 1, columns, repeat)
    j2 = place(j + 2, columns, repeat)
    j3 = place(j + 3, columns, repeat)
    g = 0.0
    gx = 0.0
    gy = 0.0
    gxx = 0.0
    gxy = 0.0
    gyy = 0.0
    for k in range(4):
        row = place(i + k, rows, repeat)
        c0 = table[row, j0]
        c1 = table[row, j1]
        c2 = table[row, j2]
        c3 = table[row, j3]
        p = (c0 * b0 + c1 * b1) + (c2 * b2 + c3 * b3)
        q = (c0 * d0 + c1 * d1) + (c2 * d2 + c3 * d3)
        g += bx[k] * p
        gx += dx[k] * p
        gxx += sx[k] * p
        gy += bx[k] * q
        gxy += dx[k] * q
        gyy += bx[k] * ((c0 * s0 + c1 * s1) + (c2 * s2 + c3 * s3))
    return g, gx, gy, gxx, gxy, gyy


@inlined
def quintic(parameters, table, x, y):
    """Return ``g = Σ c_ij B(x/h − i) B(y/h − j)`` with quintic B, and its derivatives."""
    u = (x - parameters[0]) * parameters[2]
    v = (y - parameters[1]) * parameters[3]
    if not (math.isfinite(u) and math.isfinite(v)):
        return math.nan, math.nan, math.nan, math.nan, math.nan, math.nan
    i = int(math.floor(u))
    j = int(math.floor(v))
    bx, dx, sx = quintic_basis(u - i, parameters[2])
    b, d, s = quintic_basis(v - j, parameters[3])
    b0, b1, b2, b3, b4, b5 = b
    d0, d1, d2, d3, d4, d5 = d
    s0, s1, s2, s3, s4, s5 = s
    repeat = parameters[4] != 0.0
    rows, columns = table.shape
    i = first(i - 2, rows, repeat)
    j = first(j - 2, columns, repeat)
    j0 = place(j, columns, repeat)
    j1 = place(j + 1, columns, repeat)
    j2 = place(j + 2, columns, repeat)
    j3 = place(j + 3, columns, repeat)
    j4 = place(j + 4, columns, repeat)
    j5 = place(j + 5, columns, repeat)
    g = 0.0
    gx = 0.0
    gy = 0.0
    gxx = 0.0
    gxy = 0.0
    gyy = 0.0
    for k in range(6):
        row = place(i + k, rows, repeat)
        c0 = table[row, j0]
        c1 = table[row, j1]
        c2 = table[row, j2]
        c3 = table[row, j3]
        c4 = table[row, j4]
        c5 = table[row, j5]
        p = (c0 * b0 + c1 * b1) + (c2 * b2 + c3 * b3) + (c4 * b4 + c5 * b5)
        q = (c0 * d0 + c1 * d1) + (c2 * d2 + c3 * d3) + (c4 * d4 + c5 * d5)
        g += bx[k] * p
        gx += dx[k] * p
        gxx += sx[k] * p
        gy += bx[k] * q
        gxy += dx[k] * q
        gyy += bx[k] * ((c0 * s0 + c1 * s1) + (c2 * s2 + c3 * s3) + (c4 * s4 + c5 * s5))
    return g, gx, gy, gxx, gxy, gyy


@kernel
def height(kind, parameters, table, x, y):
    """Return the height over (x, y) and its derivatives ``(g, gx, gy, gxx, gxy, gyy)``."""
    if kind == CUBIC:
        return cubic(parameters, table, x, y)
    if kind == COSINES:
        return cosines(parameters, table, x, y)
    if kind == QUINTIC:
        return quintic(parameters, table, x, y)
    if kind == PLATEAU:
        return plateau(parameters, x, y)
    if kind == INCLINE:
        sx, sy = parameters[1], parameters[2]
        return parameters[0] + sx * x + sy * y, sx, sy, 0.0, 0.0, 0.0
    return parameters[0], 0.0, 0.0, 0.0, 0.0, 0.0


@kernel
def height_each(kind, parameters, table, x, y, out):
    """Write `height` of each place into a column of `out` (6, k)."""
    for i in range(len(x)):
        (out[0, i], out[1, i], out[2, i], out[3, i], out[4, i],
         out[5, i]) = height(kind, parameters, table, x[i], y[i])
