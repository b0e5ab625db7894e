# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled velocities of a vehicle that rolls without slip, in the reduced form.

The material point of each wheel that touches the ground has velocity zero,

    v_P + ω × (c_i − p) + w_i = 0        w_i = Σ_j J_ij θ̇_j

with J_ij = a_j × (c_i − o_j), or a_j of a sliding joint. Three contacts a triangle apart give v_P
and ω; the remaining equations require that the w_i move the contacts as one rigid body:
with e = c_b − c_a, f = c_c − c_a, N = e × f, D = w_b − w_a, E = w_c − w_a

    e·D = 0    f·E = 0    f·D + e·E = 0    ω = (−(D·f) N + (D·N) f − (E·N) e)/N²

and D_i + ω × (c_i − c_a) = 0 for each further wheel: 3n − 6 equations C θ̇ = 0. The rates nearest
to the desired ones, in the norm of the weights, are θ̇_d − S Qᵀ b with orthonormal rows
[Q | b] of [C S | C θ̇_d] and S = diag(1/√weight).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from c3p_kernels.compiled import borrowed, inlined, inner, kernel
from c3p_kernels.dense import orthonormalise
from c3p_rough_ground.closed_chain._geometry_kernels import (
    GROUND,
    OFF,
    OWN,
    POSE,
    PSI,
    TWIST,
    WHEEL,
    WX,
    WY,
    WZ,
    C,
    contacts,
)
from c3p_rough_ground.closed_chain.chain_states import cut_work
from c3p_rough_ground.closed_chain.description import SLIDING
from c3p_rough_ground.rolling_contact import _kernels as contact_kernels

# (sine of the angle between two sides)² below which three contacts count as on one line
LINE_TOLERANCE = 1e-12


@inlined
def columns(vehicle, work):
    """Write the velocity of each contact point by a unit rate of each joint of its chain."""
    tree = vehicle.tree
    frame = work.frame
    contact = work.contact
    column = work.column
    for i in range(work.contact.shape[0]):
        for link in range(vehicle.wheel[i, 0], vehicle.wheel[i, 1]):
            j = vehicle.chain[link, 0]
            b = j + 1
            at = 3 * tree[j, 2]
            ax = frame[b, at]
            ay = frame[b, at + 1]
            az = frame[b, at + 2]
            if tree[j, 3] == SLIDING:
                column[link, 0] = ax
                column[link, 1] = ay
                column[link, 2] = az
            else:
                x = contact[i, C] - frame[b, 9]
                y = contact[i, C + 1] - frame[b, 10]
                z = contact[i, C + 2] - frame[b, 11]
                column[link, 0] = ay * z - az * y
                column[link, 1] = az * x - ax * z
                column[link, 2] = ax * y - ay * x


class Corners(NamedTuple):
    """
    Three contacts that span a large triangle.

    Attributes
    ----------
    first, second, third : int
        Their wheels.
    e, f : tuple of three floats
        From the first to the second and to the third contact, m.
    normal : tuple of three floats
        N = e × f, m².
    square : float
        N², m⁴.
    """

    first: int
    second: int
    third: int
    e: tuple[float, float, float]
    f: tuple[float, float, float]
    normal: tuple[float, float, float]
    square: float


@inlined
def between(contact, i, k, at):
    """Return the vector at column `at` of contact k less that of contact i."""
    return (contact[k, at] - contact[i, at], contact[k, at + 1] - contact[i, at + 1],
            contact[k, at + 2] - contact[i, at + 2])


@inlined
def triangle(contact):
    """Return three wheels whose contacts span a large triangle."""
    n = contact.shape[0]
    if n == 3:
        return 0, 1, 2
    far = 1
    longest = -1.0
    for i in range(1, n):
        x = contact[i, C] - contact[0, C]
        y = contact[i, C + 1] - contact[0, C + 1]
        z = contact[i, C + 2] - contact[0, C + 2]
        if x * x + y * y + z * z > longest:
            far = i
            longest = x * x + y * y + z * z
    ex = contact[far, C] - contact[0, C]
    ey = contact[far, C + 1] - contact[0, C + 1]
    ez = contact[far, C + 2] - contact[0, C + 2]
    wide = -1
    largest = -1.0
    for i in range(1, n):
        x = contact[i, C] - contact[0, C]
        y = contact[i, C + 1] - contact[0, C + 1]
        z = contact[i, C + 2] - contact[0, C + 2]
        nx = ey * z - ez * y
        ny = ez * x - ex * z
        nz = ex * y - ey * x
        if i != far and nx * nx + ny * ny + nz * nz > largest:
            wide = i
            largest = nx * nx + ny * ny + nz * nz
    return 0, far, wide


@inlined
def corners_of(contact):
    """Return the triangle of the present contacts."""
    first, second, third = triangle(contact)
    e = between(contact, first, second, C)
    f = between(contact, first, third, C)
    n = (e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0])
    return Corners(first, second, third, e, f, n, n[0] * n[0] + n[1] * n[1] + n[2] * n[2])


@inlined
def turning(corners, d, g):
    """Return ω of a rigid body whose points e, f away from a fixed one move with −d and −g."""
    e = corners.e
    f = corners.f
    n = corners.normal
    square = corners.square
    df = (d[0] * f[0] + d[1] * f[1] + d[2] * f[2]) / square
    dn = (d[0] * n[0] + d[1] * n[1] + d[2] * n[2]) / square
    gn = (g[0] * n[0] + g[1] * n[1] + g[2] * n[2]) / square
    return (dn * f[0] - df * n[0] - gn * e[0], dn * f[1] - df * n[1] - gn * e[1],
            dn * f[2] - df * n[2] - gn * e[2])


@inlined
def constrain(vehicle, desired, scale, work, corners):
    """Write the 3n − 6 rows [C S | C θ̇_d]."""
    rows = work.rows
    column = work.column
    e = corners.e
    f = corners.f
    m = vehicle.tree.shape[0]
    wheels = work.contact.shape[0]
    for i in range(rows.shape[0]):
        for j in range(m + 1):
            rows[i, j] = 0.0
    for i in range(wheels):
        at = (0 if i == corners.first else 1 if i == corners.second else 2 if i == corners.third
              else -1)
        for link in range(vehicle.wheel[i, 0], vehicle.wheel[i, 1]):
            j = vehicle.chain[link, 1]
            x = column[link, 0]
            y = column[link, 1]
            z = column[link, 2]
            along_e = x * e[0] + y * e[1] + z * e[2]
            along_f = x * f[0] + y * f[1] + z * f[2]
            if at == 0:
                rows[0, j] -= along_e
                rows[1, j] -= along_f
                rows[2, j] -= along_e + along_f
            elif at == 1:
                rows[0, j] += along_e
                rows[2, j] += along_f
            elif at == 2:
                rows[1, j] += along_f
                rows[2, j] += along_e
            if wheels > 3:
                further(work, corners, i, at, j, (x, y, z))
    for i in range(rows.shape[0]):
        for j in range(m):
            rows[i, m] += rows[i, j] * desired[j]
        for j in range(m):
            rows[i, j] *= scale[j]


@inner
def further(work, corners, i, at, j, w):
    """
    Add the effect of one joint of wheel i on the rows of the wheels beyond the triangle.

    `w` is the velocity of the contact by a unit rate of joint j; `at` is the corner at wheel i,
    0 to 2, or −1.
    """
    contact = work.contact
    rows = work.rows
    first = corners.first
    none = (0.0, 0.0, 0.0)
    less = (-w[0], -w[1], -w[2])
    turn = none
    if at == 0:
        turn = turning(corners, less, less)
    elif at == 1:
        turn = turning(corners, w, none)
    elif at == 2:
        turn = turning(corners, none, w)
    place = 3
    for k in range(contact.shape[0]):
        if k == first or k == corners.second or k == corners.third:
            continue
        x, y, z = between(contact, first, k, C)
        own = 1.0 if k == i else -1.0 if at == 0 else 0.0
        rows[place, j] += own * w[0] + turn[1] * z - turn[2] * y
        rows[place + 1, j] += own * w[1] + turn[2] * x - turn[0] * z
        rows[place + 2, j] += own * w[2] + turn[0] * y - turn[1] * x
        place += 3


@inlined
def wheel_motion(vehicle, rate, work):
    """Write OWN of each contact: the motion of its wheel by the joint rates of a state."""
    contact = work.contact
    column = work.column
    frame = work.frame
    for i in range(work.contact.shape[0]):
        for k in range(6):
            contact[i, OWN + k] = 0.0
        for link in range(vehicle.wheel[i, 0], vehicle.wheel[i, 1]):
            j = vehicle.chain[link, 0]
            q = rate[POSE + vehicle.chain[link, 1]]
            for k in range(3):
                contact[i, OWN + k] += q * column[link, k]
            if vehicle.tree[j, 3] != SLIDING:
                at = 3 * vehicle.tree[j, 2]
                for k in range(3):
                    contact[i, OWN + 3 + k] += q * frame[j + 1, at + k]


@inlined
def contact_rates(contact, i, turn, slip, out, at):
    """Write η̇ for ω of a wheel in {G} and its slip in contW; return the margin, 1/m."""
    wx, wy, wz = turn
    wheel = (contact[i, WHEEL], contact[i, WHEEL + 1], contact[i, WHEEL + 2],
             contact[i, WHEEL + 3], contact[i, WHEEL + 4])
    ground = (contact[i, GROUND], contact[i, GROUND + 1], contact[i, GROUND + 2],
              contact[i, GROUND + 3], contact[i, GROUND + 4], contact[i, GROUND + 5],
              contact[i, GROUND + 6], contact[i, GROUND + 7])
    out[at], out[at + 1], out[at + 2], out[at + 3], out[at + 4], margin = contact_kernels.rates(
        wheel, ground, (contact[i, PSI], contact[i, PSI + 1]),
        (wx * contact[i, WX] + wy * contact[i, WX + 1] + wz * contact[i, WX + 2],
         wx * contact[i, WY] + wy * contact[i, WY + 1] + wz * contact[i, WY + 2],
         wx * contact[i, WZ] + wy * contact[i, WZ + 1] + wz * contact[i, WZ + 2]), slip)
    return margin


@inlined
def turn_rate(state, wx, wy, wz, out):
    """Write the rate of the quaternion, ½ (0, ω) q with ω in {G}."""
    w = state[3]
    x = state[4]
    y = state[5]
    z = state[6]
    out[3] = 0.5 * (-wx * x - wy * y - wz * z)
    out[4] = 0.5 * (wx * w + wy * z - wz * y)
    out[5] = 0.5 * (wy * w + wz * x - wx * z)
    out[6] = 0.5 * (wz * w + wx * y - wy * x)


@inlined
def sharper(note, margin, i):
    """Note the margin of wheel i if it is the smallest, or not finite."""
    if not margin >= note[0]:
        note[0] = margin
        note[1] = i


@inlined
def roll_all(contact, wx, wy, wz, note, out, at):
    """Write η̇ of all contacts for ω of the platform in {G}, and note the smallest margin."""
    for i in range(contact.shape[0]):
        turn = (wx + contact[i, OWN + 3], wy + contact[i, OWN + 4], wz + contact[i, OWN + 5])
        margin = contact_rates(contact, i, turn, (0.0, 0.0), out, at + 5 * i)
        sharper(note, margin, i)


@inner
def velocities(vehicle, state, desired, scale, work, out):
    """Write the rate of the state from the geometry in `work`; return the rank of C, −1: none."""
    contact = work.contact
    note = work.note
    rows = work.rows
    m = vehicle.tree.shape[0]
    columns(vehicle, work)
    corners = corners_of(contact)
    first = corners.first
    e = corners.e
    f = corners.f
    sides = ((e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
             * (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]))
    constrain(vehicle, desired, scale, work, corners)
    rank, note[5] = orthonormalise(rows, m)
    for j in range(m):
        rate = 0.0
        for i in range(rows.shape[0]):
            rate += rows[i, j] * rows[i, m]
        out[POSE + j] = desired[j] - scale[j] * rate
    wheel_motion(vehicle, out, work)
    wx, wy, wz = turning(corners, between(contact, first, corners.second, OWN),
                         between(contact, first, corners.third, OWN))
    note[2] = wx
    note[3] = wy
    note[4] = wz
    x = contact[first, C] - state[0]
    y = contact[first, C + 1] - state[1]
    z = contact[first, C + 2] - state[2]
    out[0] = -contact[first, OWN] - (wy * z - wz * y)
    out[1] = -contact[first, OWN + 1] - (wz * x - wx * z)
    out[2] = -contact[first, OWN + 2] - (wx * y - wy * x)
    turn_rate(state, wx, wy, wz, out)
    note[0] = math.inf
    roll_all(contact, wx, wy, wz, note, out, POSE + m)
    return rank if corners.square > LINE_TOLERANCE * sides else -1


@kernel
def rates(vehicle, ground, state, desired, scale, block, sizes, out):
    """
    Write the rate of the state; return the rank of the input constraints, −1: no motion.

    `block` and `sizes` are those of a ChainWork.
    """
    vehicle = borrowed(vehicle)
    ground = borrowed(ground)
    state = borrowed(state)
    work = cut_work(block, sizes)
    desired = borrowed(desired)
    scale = borrowed(scale)
    out = borrowed(out)
    contacts(vehicle, ground, state, work)
    return velocities(vehicle, state, desired, scale, work, out)


@inner
def correction(vehicle, state, work, delta):
    """
    Write the Newton step of the closure from the mismatches in `work`; return its rank.

    Height, roll, pitch and the settling joints close, with the least change, the mismatch of the
    contacts along the normals. The contact coordinates follow by the contact equations with slip,
    in which a mismatch acts as a displacement of the wheel. x, y, yaw and the other joints stay.
    """
    contact = work.contact
    column = work.column
    line = work.normal
    tree = vehicle.tree
    note = work.note
    columns(vehicle, work)
    last = line.shape[1] - 1
    for i in range(work.contact.shape[0]):
        nx = contact[i, WZ]
        ny = contact[i, WZ + 1]
        nz = contact[i, WZ + 2]
        x = contact[i, C] - state[0]
        y = contact[i, C + 1] - state[1]
        z = contact[i, C + 2] - state[2]
        line[i, 0] = nz
        line[i, 1] = y * nz - z * ny
        line[i, 2] = z * nx - x * nz
        for k in range(3, last):
            line[i, k] = 0.0
        for link in range(vehicle.wheel[i, 0], vehicle.wheel[i, 1]):
            k = tree[vehicle.chain[link, 0], 5]
            if k >= 0:
                line[i, 3 + k] = (nx * column[link, 0] + ny * column[link, 1]
                                  + nz * column[link, 2])
        line[i, last] = -contact[i, OFF + 2]
    rank, _ = orthonormalise(line, last)
    for k in range(len(delta)):
        delta[k] = 0.0
    rise = 0.0
    roll = 0.0
    pitch = 0.0
    for i in range(line.shape[0]):
        rise += line[i, 0] * line[i, last]
        roll += line[i, 1] * line[i, last]
        pitch += line[i, 2] * line[i, last]
    for j in range(tree.shape[0]):
        if tree[j, 5] >= 0:
            for i in range(line.shape[0]):
                delta[POSE + tree[j, 0]] += line[i, 3 + tree[j, 5]] * line[i, last]
    delta[2] = rise
    turn_rate(state, roll, pitch, 0.0, delta)
    wheel_motion(vehicle, delta, work)
    note[0] = math.inf
    follow_all(contact, state, rise, roll, pitch, note, delta, POSE + tree.shape[0])
    return rank


@inlined
def follow_all(contact, state, rise, roll, pitch, note, delta, at):
    """Write the changes of all contacts in a Newton step, and note the smallest margin."""
    for i in range(contact.shape[0]):
        margin = follow(contact, i, state, rise, roll, pitch, delta, at + 5 * i)
        sharper(note, margin, i)


@inlined
def slipping(contact, i, state, rise, roll, pitch):
    """Return ω of a wheel in {G}, and its slip in contW, that a Newton step amounts to."""
    x = contact[i, C] - state[0]
    y = contact[i, C + 1] - state[1]
    z = contact[i, C + 2] - state[2]
    vx, vy = contact[i, OWN] + pitch * z, contact[i, OWN + 1] - roll * z
    vz = contact[i, OWN + 2] + rise + roll * y - pitch * x
    ax = contact[i, OWN + 3] + roll
    ay = contact[i, OWN + 4] + pitch
    az = contact[i, OWN + 5]
    slip_x, slip_y = contact[i, OFF], contact[i, OFF + 1]
    for k in range(3):
        # the twist is in contW
        turn = contact[i, TWIST + k]
        ax += turn * contact[i, WX + 3 * k]
        ay += turn * contact[i, WX + 3 * k + 1]
        az += turn * contact[i, WX + 3 * k + 2]
    slip_x += vx * contact[i, WX] + vy * contact[i, WX + 1] + vz * contact[i, WX + 2]
    slip_y += vx * contact[i, WY] + vy * contact[i, WY + 1] + vz * contact[i, WY + 2]
    return (ax, ay, az), (slip_x, slip_y)


@inlined
def follow(contact, i, state, rise, roll, pitch, delta, at):
    """Write the change of a contact's coordinates in a Newton step; return the margin."""
    turn, slip = slipping(contact, i, state, rise, roll, pitch)
    margin = contact_rates(contact, i, turn, slip, delta, at)
    if not margin > 0.0:
        # far from a solution the ground may be sharper than the tyre: take it as flat
        contact[i, GROUND + 3] = 0.0
        contact[i, GROUND + 4] = 0.0
        contact[i, GROUND + 5] = 0.0
        contact_rates(contact, i, turn, slip, delta, at)
    return margin
