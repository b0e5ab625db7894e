# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202, ANN205 (the compiler infers the types)
"""
Compiled geometry of a vehicle on the ground: chains, contact frames, mismatch of the two sides.

The state is one vector: p (3), quaternion (w, x, y, z), θ (m), η = (u, v, x, y, ψ) of each wheel.
A wheel's surface is one of revolution, so its point at (u, v) stands where one at u + α of a
wheel that does not turn would stand: no frame is ever turned by the spin α. One row of `contact`:

C   contact point by the chain         WX, WY, WZ  contW by the chain, z out of the wheel
G   contact point by the ground        GX, GY, GZ  contG, z out of the ground
WHEEL, GROUND  metric, curvature, torsion as `rolling_contact._kernels` has them
PSI            cos ψ, sin ψ
OFF, TWIST     C − G and the rotation of contW by the chain from contW by the ground, in contW
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_kinematics.closed_chain_vehicle.description import SLIDING, SPINNING
from c3p_kinematics.compiled import inlined, kernel
from c3p_kinematics.rolling_contact._kernels import ground_forms, profile, wheel_forms
from c3p_kinematics.terrain._kernels import height, sine_cosine

POSE = 7
C, WX, WY, WZ, G, GX, GY, GZ, WHEEL, GROUND, PSI, OFF, TWIST, WIDTH = (
    0, 3, 6, 9, 12, 15, 18, 21, 24, 29, 37, 39, 42, 45)


class Work(NamedTuple):
    """
    Memory of the kernels: frame of each body, contacts, Jacobian columns, equations, remarks.

    `note`: margin (smallest eigenvalue of Kw + K*, 1/m), its wheel, angular velocity of the
    platform in {G} (3), smallest to largest pivot of the input constraints.
    """

    frame: np.ndarray
    contact: np.ndarray
    column: np.ndarray
    rows: np.ndarray
    normal: np.ndarray
    note: np.ndarray
    delta: np.ndarray
    wheel_velocity: np.ndarray


def workspace(m, n, links, settling):
    """Return the memory for m joints, n wheels, `links` links of chains and settling joints."""
    return Work(np.zeros((m + 1, 12)), np.zeros((n, WIDTH)), np.zeros((links, 3)),
                np.zeros((3 * n - 6, m + 1)), np.zeros((n, settling + 4)), np.zeros(8),
                np.zeros(POSE + m + 5 * n), np.zeros((n, 6)))


@inlined
def platform_frame(state, frame):
    """Write axes and origin of {P}; the quaternion may have any length."""
    w, x, y, z = state[3], state[4], state[5], state[6]
    k = 2.0 / (w * w + x * x + y * y + z * z)
    row = frame[0]
    row[0], row[1], row[2] = 1.0 - k * (y * y + z * z), k * (x * y + w * z), k * (x * z - w * y)
    row[3], row[4], row[5] = k * (x * y - w * z), 1.0 - k * (x * x + z * z), k * (y * z + w * x)
    row[6], row[7], row[8] = k * (x * z + w * y), k * (y * z - w * x), 1.0 - k * (x * x + y * y)
    row[9], row[10], row[11] = state[0], state[1], state[2]


@inlined
def chains(vehicle, state, frame):
    """Write axes x, y, z and origin of every body in {G}; wheels are not turned by their spin."""
    tree, turn, origin = vehicle.tree, vehicle.turn, vehicle.origin
    for i in range(tree.shape[0]):
        before, row = frame[tree[i, 1]], frame[i + 1]
        x, y, z = origin[i, 0], origin[i, 1], origin[i, 2]
        for k in range(3):
            row[9 + k] = before[9 + k] + before[k] * x + before[3 + k] * y + before[6 + k] * z
        if tree[i, 4]:
            for k in range(3):
                for j in range(3):
                    row[3 * j + k] = (before[k] * turn[i, j] + before[3 + k] * turn[i, 3 + j]
                                      + before[6 + k] * turn[i, 6 + j])
        else:
            for k in range(9):
                row[k] = before[k]
        axis, motion, q = tree[i, 2], tree[i, 3], state[POSE + tree[i, 0]]
        if motion == SPINNING:
            continue
        if motion == SLIDING:
            for k in range(3):
                row[9 + k] += q * row[3 * axis + k]
            continue
        # about one axis the other two turn in their plane
        s, c = sine_cosine(q)
        first, second = 3 * ((axis + 1) % 3), 3 * ((axis + 2) % 3)
        for k in range(3):
            a, b = row[first + k], row[second + k]
            row[first + k], row[second + k] = c * a + s * b, c * b - s * a


@inlined
def wheel_side(vehicle, i, frame, spin, u, v, row):
    """Write C, contW and WHEEL of wheel i by its chain."""
    body = frame[vehicle.chain[vehicle.start[i + 1] - 1, 0] + 1]
    r, h, dr, dh, ddr, ddh = profile(vehicle.surface[i], vehicle.profile[i], v)
    m0, m1, k0, k1, t0 = wheel_forms(r, dr, dh, ddr, ddh)
    s, c = sine_cosine(spin + u)
    along, across = dr / m1, dh / m1
    for k in range(3):
        # e_r and its derivative by the angle, the axle
        radial, forward, axle = (c * body[k] - s * body[6 + k], -s * body[k] - c * body[6 + k],
                                 body[3 + k])
        row[C + k] = body[9 + k] + r * radial + h * axle
        row[WX + k] = forward
        row[WY + k] = along * radial + across * axle
        row[WZ + k] = across * radial - along * axle
    row[WHEEL], row[WHEEL + 1], row[WHEEL + 2] = m0, m1, k0
    row[WHEEL + 3], row[WHEEL + 4] = k1, t0


@inlined
def ground_side(ground, x, y, row):
    """Write G, contG and GROUND of one contact."""
    g, gx, gy, gxx, gxy, gyy = height(ground.kind, ground.parameters, ground.table, x, y)
    forms = ground_forms(gx, gy, gxx, gxy, gyy)
    a, w = forms[0], math.sqrt(1.0 + gx * gx + gy * gy)
    row[G], row[G + 1], row[G + 2] = x, y, g
    row[GX], row[GX + 1], row[GX + 2] = 1.0 / a, 0.0, gx / a
    row[GZ], row[GZ + 1], row[GZ + 2] = -gx / w, -gy / w, 1.0 / w
    # z × x
    row[GY], row[GY + 1], row[GY + 2] = -gx * gy / (a * w), a / w, gy / (a * w)
    (row[GROUND], row[GROUND + 1], row[GROUND + 2], row[GROUND + 3], row[GROUND + 4],
     row[GROUND + 5], row[GROUND + 6], row[GROUND + 7]) = forms


@inlined
def geometry(vehicle, ground, state, work):
    """Write all frames and both sides of all contacts."""
    platform_frame(state, work.frame)
    chains(vehicle, state, work.frame)
    m = vehicle.tree.shape[0]
    for i in range(len(vehicle.surface)):
        at, row = POSE + m + 5 * i, work.contact[i]
        spin = state[POSE + vehicle.chain[vehicle.start[i + 1] - 1, 1]]
        wheel_side(vehicle, i, work.frame, spin, state[at], state[at + 1], row)
        ground_side(ground, state[at + 2], state[at + 3], row)
        row[PSI + 1], row[PSI] = sine_cosine(state[at + 4])


@inlined
def mismatch(row):
    """Write OFF and TWIST of one contact and return the larger length, m and rad as they are."""
    c, s = row[PSI], row[PSI + 1]
    tx, ty, tz = 0.0, 0.0, 0.0
    for k in range(3):
        # contW by the ground; half of Σ e × w over the three axes turns one into the other
        n, p = (k + 1) % 3, (k + 2) % 3
        for which in range(3):
            if which == 0:
                en, ep = c * row[GX + n] - s * row[GY + n], c * row[GX + p] - s * row[GY + p]
            elif which == 1:
                en, ep = -s * row[GX + n] - c * row[GY + n], -s * row[GX + p] - c * row[GY + p]
            else:
                en, ep = -row[GZ + n], -row[GZ + p]
            turn = 0.5 * (en * row[WX + 3 * which + p] - ep * row[WX + 3 * which + n])
            tx += turn * row[WX + k]
            ty += turn * row[WY + k]
            tz += turn * row[WZ + k]
    row[TWIST], row[TWIST + 1], row[TWIST + 2] = tx, ty, tz
    x, y, z = row[C] - row[G], row[C + 1] - row[G + 1], row[C + 2] - row[G + 2]
    for j in range(3):
        at = WX + 3 * j
        row[OFF + j] = x * row[at] + y * row[at + 1] + z * row[at + 2]
    return math.sqrt(max(x * x + y * y + z * z, tx * tx + ty * ty + tz * tz))


@kernel
def closure(vehicle, ground, state, work):
    """Write `geometry` and all mismatches; return the largest."""
    geometry(vehicle, ground, state, work)
    worst = 0.0
    for i in range(len(vehicle.surface)):
        size = mismatch(work.contact[i])
        # a number that is not finite is the worst there is
        if not size <= worst:
            worst = size
    return worst
