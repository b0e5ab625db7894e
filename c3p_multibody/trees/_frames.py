# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Vectors and inertias between a body and its lower body, compiled into each caller.

`row` is a row of the tree's numbers (see description.py); ``R = R0 Rz`` with (c, s) the cosine and
sine of a revolute joint's angle, (1, 0) of a prismatic one. Symmetric matrices are (xx, yy, zz,
xy, xz, yz).
"""

from __future__ import annotations

from c3p_kernels.compiled import inlined
from c3p_kernels.elementary import circle


@inlined
def place(row, kind, q, w):
    """Write c, s and the body's origin in its lower body (3) to the first five places of `w`."""
    if kind == 0:
        w[0], w[1] = circle(q)
        w[2], w[3], w[4] = row[9], row[10], row[11]
    else:
        w[0] = 1.0
        w[1] = 0.0
        w[2], w[3], w[4] = row[9] + row[2] * q, row[10] + row[5] * q, row[11] + row[8] * q


@inlined
def fixed_up(row, x, y, z):
    """Return R0 v."""
    return (row[0] * x + row[1] * y + row[2] * z, row[3] * x + row[4] * y + row[5] * z,
            row[6] * x + row[7] * y + row[8] * z)


@inlined
def up(row, c, s, x, y, z):
    """Return R v: a vector in the axes of the body, in those of the lower body."""
    return fixed_up(row, c * x - s * y, s * x + c * y, z)


@inlined
def down(row, c, s, x, y, z):
    """Return Rᵀ v: a vector in the axes of the lower body, in those of the body."""
    a = row[0] * x + row[3] * y + row[6] * z
    b = row[1] * x + row[4] * y + row[7] * z
    return c * a + s * b, c * b - s * a, row[2] * x + row[5] * y + row[8] * z


@inlined
def cross(ax, ay, az, bx, by, bz):
    """Return a × b."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@inlined
def swing(wx, wy, wz, px, py, pz):
    """Return ω × (ω × p) = ω (ω·p) − p ω²."""
    along = wx * px + wy * py + wz * pz
    square = wx * wx + wy * wy + wz * wz
    return wx * along - px * square, wy * along - py * square, wz * along - pz * square


@inlined
def inertia_of(row):
    """Return the inertia of a body about its origin."""
    return row[16], row[17], row[18], row[19], row[20], row[21]


@inlined
def symmetric_times(inertia, x, y, z):
    """Return I v."""
    xx, yy, zz, xy, xz, yz = inertia
    return xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z


@inlined
def symmetric_up(row, c, s, inertia):
    """Return R I Rᵀ of a symmetric I."""
    xx, yy, zz, xy, xz, yz = inertia
    # in the plane: I_xx + I_yy does not change
    u = s * (xx - yy) + (c + c) * xy
    t = s * u
    xx = xx - t
    yy = yy + t
    xy = c * u - xy
    xz, yz = c * xz - s * yz, s * xz + c * yz
    ax, ay, az = fixed_up(row, xx, xy, xz)
    bx, by, bz = fixed_up(row, xy, yy, yz)
    cx, cy, cz = fixed_up(row, xz, yz, zz)
    return (row[0] * ax + row[1] * bx + row[2] * cx, row[3] * ay + row[4] * by + row[5] * cy,
            row[6] * az + row[7] * bz + row[8] * cz, row[0] * ay + row[1] * by + row[2] * cy,
            row[0] * az + row[1] * bz + row[2] * cz, row[3] * az + row[4] * bz + row[5] * cz)
