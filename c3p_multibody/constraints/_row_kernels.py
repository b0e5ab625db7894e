# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled constraint rows: B, g, Ḃq̇ and the error. No checks.

All describe the motion of body b relative to body a. A row of ``TieArrays.ties`` (k, 6) holds
kind, inner numbers of a and b (−1: the world), mask, first row and number of rows. Bits 0 to 5 of
the mask select the translations and turns that are rows, bits 6 to 11 those of them that also hold
a place. A row of ``TieArrays.places`` (k, 32) holds in inner axes the point (3) and frame (9, by
rows) on a, point (12:15) and frame (15:24) on b, a length (24), the rates g (25:31) and the time
at which these began (31).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_kernels.compiled import inlined, kernel
from c3p_kernels.straight.emission import angle_over_sine as _angle_over_sine
from c3p_multibody.constraints._sweep_kernels import turned
from c3p_multibody.trees._frames import cross, swing

FRAMED, DISTANCE, WHEEL, BALL, BLADE = 0, 1, 2, 3, 4
TIE = 6
PLACE = 32
RELATIVE = 42
angle_over_sine = inlined(_angle_over_sine)


class TieArrays(NamedTuple):
    """
    Constraints as flat arrays.

    Attributes
    ----------
    ties : (k, 6) array of int64
    places : (k, 32) array
    """

    ties: np.ndarray
    places: np.ndarray


class RowTerms(NamedTuple):
    """
    Rows of the constraints at a state.

    Attributes
    ----------
    jacobian : (m, n) array
        B.
    rate, bias, error : (m,) arrays
        g, Ḃq̇ and the error.
    """

    jacobian: np.ndarray
    rate: np.ndarray
    bias: np.ndarray
    error: np.ndarray


@inlined
def relate(fa, fb, place, s):
    """
    Write the motion of b relative to a, in world axes, to the work vector `s`.

    Place (0:3) of b's point from a's, axes of the frame on a (3:12) and on b (12:21), velocity
    (21:24), acceleration (24:27), angular velocity (27:30) and acceleration (30:33) at q̈ = 0,
    and the point on b in the world (33:36).
    """
    for k in range(3):
        s[3 + 3 * k], s[4 + 3 * k], s[5 + 3 * k] = turned(fa, place[3 + k], place[6 + k],
                                                          place[9 + k])
        s[12 + 3 * k], s[13 + 3 * k], s[14 + 3 * k] = turned(fb, place[15 + k], place[18 + k],
                                                             place[21 + k])
    rx, ry, rz = turned(fb, place[12], place[13], place[14])
    px = fb[9] + rx
    py = fb[10] + ry
    pz = fb[11] + rz
    s[33] = px
    s[34] = py
    s[35] = pz
    ox, oy, oz = turned(fa, place[0], place[1], place[2])
    s[0], s[1], s[2] = px - fa[9] - ox, py - fa[10] - oy, pz - fa[11] - oz
    # velocity and, at q̈ = 0, acceleration of the point on b: v + ω×r, a + α×r + ω×(ω×r)
    wx = fb[15]
    wy = fb[16]
    wz = fb[17]
    tx, ty, tz = cross(wx, wy, wz, rx, ry, rz)
    vx = fb[12] + tx
    vy = fb[13] + ty
    vz = fb[14] + tz
    tx, ty, tz = cross(fb[21], fb[22], fb[23], rx, ry, rz)
    ux, uy, uz = swing(wx, wy, wz, rx, ry, rz)
    ax = fb[18] + tx + ux
    ay = fb[19] + ty + uy
    az = fb[20] + tz + uz
    # minus those of the coinciding point of a
    wx = fa[15]
    wy = fa[16]
    wz = fa[17]
    rx = px - fa[9]
    ry = py - fa[10]
    rz = pz - fa[11]
    tx, ty, tz = cross(wx, wy, wz, rx, ry, rz)
    vx = vx - fa[12] - tx
    vy = vy - fa[13] - ty
    vz = vz - fa[14] - tz
    tx, ty, tz = cross(fa[21], fa[22], fa[23], rx, ry, rz)
    ux, uy, uz = swing(wx, wy, wz, rx, ry, rz)
    ax = ax - fa[18] - tx - ux
    ay = ay - fa[19] - ty - uy
    az = az - fa[20] - tz - uz
    # as seen from the turning axes of a: Coriolis −2 ω_a × v, and −ω_a × ω_b of the turning
    tx, ty, tz = cross(wx, wy, wz, vx, vy, vz)
    s[21] = vx
    s[22] = vy
    s[23] = vz
    s[24] = ax - 2.0 * tx
    s[25] = ay - 2.0 * ty
    s[26] = az - 2.0 * tz
    s[27], s[28], s[29] = fb[15] - wx, fb[16] - wy, fb[17] - wz
    tx, ty, tz = cross(wx, wy, wz, fb[15], fb[16], fb[17])
    s[30], s[31], s[32] = fb[21] - fa[21] - tx, fb[22] - fa[22] - ty, fb[23] - fa[23] - tz


@inlined
def walk(links, frames, i, px, py, pz, sign, jac):
    """Add `sign` times the Jacobian of a point of body i and of its turning to ``jac[:, :6]``."""
    # down the chain to the world: each joint moves the point by e × (p − origin), or by e
    while i >= 0:
        f = frames[i]
        at = links[i, 2]
        ex = sign * f[2]
        ey = sign * f[5]
        ez = sign * f[8]
        if links[i, 1] == 0:
            tx, ty, tz = cross(ex, ey, ez, px - f[9], py - f[10], pz - f[11])
            jac[at, 0] += tx
            jac[at, 1] += ty
            jac[at, 2] += tz
            jac[at, 3] += ex
            jac[at, 4] += ey
            jac[at, 5] += ez
        else:
            jac[at, 0] += ex
            jac[at, 1] += ey
            jac[at, 2] += ez
        i = links[i, 0]


@inlined
def tilt(s):
    """Write the rotation vector from a's frame to b's, in axes of a's frame, to 36:39."""
    ax = s[3]
    ay = s[4]
    az = s[5]
    bx = s[6]
    by = s[7]
    bz = s[8]
    cx = s[9]
    cy = s[10]
    cz = s[11]
    ux = s[12]
    uy = s[13]
    uz = s[14]
    vx = s[15]
    vy = s[16]
    vz = s[17]
    wx = s[18]
    wy = s[19]
    wz = s[20]
    # half the axial vector of RᵀS: axis times sine of the angle
    x = 0.5 * (cx * vx + cy * vy + cz * vz - bx * wx - by * wy - bz * wz)
    y = 0.5 * (ax * wx + ay * wy + az * wz - cx * ux - cy * uy - cz * uz)
    z = 0.5 * (bx * ux + by * uy + bz * uz - ax * vx - ay * vy - az * vz)
    sine = math.sqrt(x * x + y * y + z * z)
    cosine = 0.5 * (ax * ux + ay * uy + az * uz + bx * vx + by * vy + bz * vz + cx * wx + cy * wy
                    + cz * wz - 1.0)
    grow = angle_over_sine(sine, cosine)
    s[36] = x * grow
    s[37] = y * grow
    s[38] = z * grow


@inlined
def to_contact(s, kind, radius):
    """
    Write the vector ρ from the centre of a rolling body to its contact point to 39:42.

    Place, velocity and acceleration in `s` become those of the contact point; its acceleration has
    ``α × ρ + ω × ρ̇`` because the contact point moves within the body. A wheel with the axis
    u touches a plane with the normal N at ``−r (N − (N·u) u)/|…|``, a ball at ``−r N``.
    """
    nx = s[9]
    ny = s[10]
    nz = s[11]
    wx = s[27]
    wy = s[28]
    wz = s[29]
    dx = 0.0
    dy = 0.0
    dz = 0.0
    if kind == WHEEL:
        ux = s[18]
        uy = s[19]
        uz = s[20]
        # the normal without its part along the axle, and the derivative of that; camber = N·u
        camber = nx * ux + ny * uy + nz * uz
        tx, ty, tz = cross(wx, wy, wz, ux, uy, uz)
        rate = nx * tx + ny * ty + nz * tz
        nx = nx - camber * ux
        ny = ny - camber * uy
        nz = nz - camber * uz
        dx = -rate * ux - camber * tx
        dy = -rate * uy - camber * ty
        dz = -rate * uz - camber * tz
        # normalised, with the derivative of the unit vector
        size = math.sqrt(nx * nx + ny * ny + nz * nz)
        nx = nx / size
        ny = ny / size
        nz = nz / size
        rate = nx * dx + ny * dy + nz * dz
        dx = (dx - rate * nx) / size
        dy = (dy - rate * ny) / size
        dz = (dz - rate * nz) / size
    # ρ and ρ̇; a ball's ρ does not change against the plane
    px = -radius * nx
    py = -radius * ny
    pz = -radius * nz
    dx = -radius * dx
    dy = -radius * dy
    dz = -radius * dz
    s[39] = px
    s[40] = py
    s[41] = pz
    s[0], s[1], s[2] = s[0] + px, s[1] + py, s[2] + pz
    tx, ty, tz = cross(wx, wy, wz, px, py, pz)
    s[21], s[22], s[23] = s[21] + tx, s[22] + ty, s[23] + tz
    tx, ty, tz = cross(s[30], s[31], s[32], px, py, pz)
    s[24], s[25], s[26] = s[24] + tx, s[25] + ty, s[26] + tz
    tx, ty, tz = cross(wx, wy, wz, dx, dy, dz)
    s[24], s[25], s[26] = s[24] + tx, s[25] + ty, s[26] + tz


@inlined
def frame_rows(tie, place, s, jac, time, rows_out):
    """Write the rows along and about the axes of the frame on a."""
    row = tie[4]
    for k in range(6):
        if tie[3] >> k & 1:
            # columns of `jac` that count, and the axis
            at = 3 * (k // 3)
            axis = 3 + 3 * (k - at)
            x = s[axis]
            y = s[axis + 1]
            z = s[axis + 2]
            for i in range(len(jac)):
                rows_out.jacobian[row, i] = (x * jac[i, at] + y * jac[i, at + 1]
                                             + z * jac[i, at + 2])
            if k < 3:
                rows_out.bias[row] = x * s[24] + y * s[25] + z * s[26]
                off = x * s[0] + y * s[1] + z * s[2]
            else:
                rows_out.bias[row] = x * s[30] + y * s[31] + z * s[32]
                off = s[33 + k]
            g = place[25 + row - tie[4]]
            rows_out.rate[row] = g
            holds = tie[3] >> (k + 6) & 1
            rows_out.error[row] = off - g * (time - place[31]) if holds else 0.0
            row += 1


@inlined
def single_row(tie, place, s, jac, time, rows_out):
    """Write the row of a distance (along its line) or of a blade (along an axis of b)."""
    row = tie[4]
    vx = s[21]
    vy = s[22]
    vz = s[23]
    if tie[0] == DISTANCE:
        size = math.sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2])
        x = s[0] / size
        y = s[1] / size
        z = s[2] / size
        away = x * vx + y * vy + z * vz
        more = (vx * vx + vy * vy + vz * vz - away * away) / size
        rows_out.error[row] = size - place[24] - place[25] * (time - place[31])
    else:
        x = s[12]
        y = s[13]
        z = s[14]
        tx, ty, tz = cross(s[27], s[28], s[29], x, y, z)
        more = tx * vx + ty * vy + tz * vz
        rows_out.error[row] = 0.0
    rows_out.bias[row] = x * s[24] + y * s[25] + z * s[26] + more
    rows_out.rate[row] = place[25]
    for i in range(len(jac)):
        rows_out.jacobian[row, i] = x * jac[i, 0] + y * jac[i, 1] + z * jac[i, 2]


@kernel
def evaluate(links, frames, ties, time, jac, s, rows_out):
    """
    Write the rows of all ties from the frames of `sweep`.

    `jac` (n, 6) and `s` (RELATIVE,) are work memory.
    """
    for t in range(len(ties.ties)):
        tie = ties.ties[t]
        place = ties.places[t]
        for k in range(len(links)):
            for axis in range(6):
                jac[k, axis] = 0.0
        relate(frames[tie[1]], frames[tie[2]], place, s)
        if tie[0] == WHEEL or tie[0] == BALL:
            to_contact(s, tie[0], place[24])
            s[33], s[34], s[35] = s[33] + s[39], s[34] + s[40], s[35] + s[41]
        walk(links, frames, tie[2], s[33], s[34], s[35], 1.0, jac)
        walk(links, frames, tie[1], s[33], s[34], s[35], -1.0, jac)
        if tie[0] == DISTANCE or tie[0] == BLADE:
            single_row(tie, place, s, jac, time, rows_out)
        else:
            if tie[3] >> 3:
                tilt(s)
            frame_rows(tie, place, s, jac, time, rows_out)


@kernel
def gaps(frames, guards, s, gap_out, speed_out):
    """Write height of the point on b above the plane of a (its frame's z), and its rate."""
    ties = guards.ties
    for t in range(len(ties)):
        relate(frames[ties[t, 1]], frames[ties[t, 2]], guards.places[t], s)
        gap_out[t] = s[0] * s[9] + s[1] * s[10] + s[2] * s[11]
        speed_out[t] = s[21] * s[9] + s[22] * s[10] + s[23] * s[11]
