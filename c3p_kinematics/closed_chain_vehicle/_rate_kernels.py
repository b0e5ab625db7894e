# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled velocities of a vehicle that rolls without slip, in the reduced form.

The material point of each wheel that touches the ground stands still,

    v_P + ω × (c_i − p) + w_i = 0        w_i = Σ_j J_ij θ̇_j

with J_ij = a_j × (c_i − o_j), or a_j of a sliding joint. Three contacts a triangle apart give v_P
and ω; what they leave says that the w_i move the contacts as one rigid body:
with e = c_b − c_a, f = c_c − c_a, N = e × f, D = w_b − w_a, E = w_c − w_a

    e·D = 0    f·E = 0    f·D + e·E = 0    ω = (−(D·f) N + (D·N) f − (E·N) e)/N²

and D_i + ω × (c_i − c_a) = 0 for each further wheel: 3n − 6 equations C θ̇ = 0. The rates nearest
to the desired ones, in the norm of the weights, are θ̇_d − S Qᵀ b with orthonormal rows
[Q | b] of [C S | C θ̇_d] and S = diag(1/√weight).
"""

from __future__ import annotations

import math

from c3p_kinematics.closed_chain_vehicle._geometry_kernels import (
    GROUND,
    OFF,
    POSE,
    PSI,
    TWIST,
    WHEEL,
    WX,
    WY,
    WZ,
    C,
    geometry,
)
from c3p_kinematics.closed_chain_vehicle.description import SLIDING
from c3p_kinematics.compiled import inlined, kernel
from c3p_kinematics.rolling_contact import _kernels as contact_kernels

# share of the longest row below which a row counts as made of the others: what rounding leaves of
# rows that cancel is 1e-15, and a constraint this weak would answer 1e-8 rad with full speed
RANK_TOLERANCE = 1e-8
# (sine of the angle between two sides)² below which three contacts count as on one line
LINE_TOLERANCE = 1e-12
# a row that loses more than this share of its length is made orthogonal once more
TWICE = 0.5


@inlined
def remove(rows, i, before, width):
    """Take from row i what it has of the orthonormal rows before it; return its length then."""
    for k in range(before):
        dot = 0.0
        for j in range(width):
            dot += rows[i, j] * rows[k, j]
        for j in range(width + 1):
            rows[i, j] -= dot * rows[k, j]
    square = 0.0
    for j in range(width):
        square += rows[i, j] * rows[i, j]
    return math.sqrt(square)


@inlined
def orthonormalise(rows, width):
    """
    Make the rows [A | b] orthonormal in A, in place; return their number and smallest pivot.

    Rows that depend on earlier ones become zero. The least x with A x = b is then Aᵀ b. The pivot
    is relative to the longest row.
    """
    count, rank, longest, smallest = rows.shape[0], 0, 0.0, math.inf
    for i in range(count):
        longest = max(longest, remove(rows, i, 0, width))
    for i in range(count):
        length = remove(rows, i, 0, width)
        left = remove(rows, i, i, width)
        if left < TWICE * length and left > RANK_TOLERANCE * longest:
            left = remove(rows, i, i, width)
        if left > RANK_TOLERANCE * longest:
            rank += 1
            smallest = min(smallest, left)
            for j in range(width + 1):
                rows[i, j] /= left
        else:
            for j in range(width + 1):
                rows[i, j] = 0.0
    return rank, smallest / longest if rank else 0.0


@inlined
def columns(vehicle, work):
    """Write the velocity of each contact point that each joint of its chain gives it."""
    tree = vehicle.tree
    for i in range(len(vehicle.surface)):
        row = work.contact[i]
        for link in range(vehicle.start[i], vehicle.start[i + 1]):
            j = vehicle.chain[link, 0]
            body, at, column = work.frame[j + 1], 3 * tree[j, 2], work.column[link]
            ax, ay, az = body[at], body[at + 1], body[at + 2]
            if tree[j, 3] == SLIDING:
                column[0], column[1], column[2] = ax, ay, az
            else:
                x, y, z = row[C] - body[9], row[C + 1] - body[10], row[C + 2] - body[11]
                column[0] = ay * z - az * y
                column[1] = az * x - ax * z
                column[2] = ax * y - ay * x


@inlined
def triangle(contact):
    """Return three wheels whose contacts span a large triangle."""
    n = contact.shape[0]
    if n == 3:
        return 0, 1, 2
    far, longest = 1, -1.0
    for i in range(1, n):
        x, y, z = (contact[i, C] - contact[0, C], contact[i, C + 1] - contact[0, C + 1],
                   contact[i, C + 2] - contact[0, C + 2])
        if x * x + y * y + z * z > longest:
            far, longest = i, x * x + y * y + z * z
    ex, ey, ez = (contact[far, C] - contact[0, C], contact[far, C + 1] - contact[0, C + 1],
                  contact[far, C + 2] - contact[0, C + 2])
    wide, largest = -1, -1.0
    for i in range(1, n):
        x, y, z = (contact[i, C] - contact[0, C], contact[i, C + 1] - contact[0, C + 1],
                   contact[i, C + 2] - contact[0, C + 2])
        nx, ny, nz = ey * z - ez * y, ez * x - ex * z, ex * y - ey * x
        if i != far and nx * nx + ny * ny + nz * nz > largest:
            wide, largest = i, nx * nx + ny * ny + nz * nz
    return 0, far, wide


@inlined
def turning(e, f, n, square, d, g):
    """Return ω of a rigid body whose points e, f away from a fixed one move with −d and −g."""
    df = (d[0] * f[0] + d[1] * f[1] + d[2] * f[2]) / square
    dn = (d[0] * n[0] + d[1] * n[1] + d[2] * n[2]) / square
    gn = (g[0] * n[0] + g[1] * n[1] + g[2] * n[2]) / square
    return (dn * f[0] - df * n[0] - gn * e[0], dn * f[1] - df * n[1] - gn * e[1],
            dn * f[2] - df * n[2] - gn * e[2])


@inlined
def constrain(vehicle, desired, scale, work, corners, e, f, n, square):
    """Write the 3n − 6 rows [C S | C θ̇_d]."""
    rows, contact = work.rows, work.contact
    m, wheels = vehicle.tree.shape[0], contact.shape[0]
    for i in range(rows.shape[0]):
        for j in range(m + 1):
            rows[i, j] = 0.0
    for i in range(wheels):
        at = -1
        for k in range(3):
            if corners[k] == i:
                at = k
        for link in range(vehicle.start[i], vehicle.start[i + 1]):
            j, column = vehicle.chain[link, 1], work.column[link]
            x, y, z = column[0], column[1], column[2]
            along_e, along_f = x * e[0] + y * e[1] + z * e[2], x * f[0] + y * f[1] + z * f[2]
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
                further(contact, rows, corners, e, f, n, square, i, at, j, column)
    for i in range(rows.shape[0]):
        for j in range(m):
            rows[i, m] += rows[i, j] * desired[j]
        for j in range(m):
            rows[i, j] *= scale[j]


@inlined
def further(contact, rows, corners, e, f, n, square, i, at, j, column):
    """Add what one joint of wheel i does to the rows of the wheels beyond the triangle."""
    w = (column[0], column[1], column[2])
    none = (0.0, 0.0, 0.0)
    less = (-w[0], -w[1], -w[2])
    turn = none
    if at == 0:
        turn = turning(e, f, n, square, less, less)
    elif at == 1:
        turn = turning(e, f, n, square, w, none)
    elif at == 2:
        turn = turning(e, f, n, square, none, w)
    place, first = 3, contact[corners[0]]
    for k in range(contact.shape[0]):
        if k == corners[0] or k == corners[1] or k == corners[2]:
            continue
        other = contact[k]
        x, y, z = other[C] - first[C], other[C + 1] - first[C + 1], other[C + 2] - first[C + 2]
        own = 1.0 if k == i else -1.0 if at == 0 else 0.0
        rows[place, j] += own * w[0] + turn[1] * z - turn[2] * y
        rows[place + 1, j] += own * w[1] + turn[2] * x - turn[0] * z
        rows[place + 2, j] += own * w[2] + turn[0] * y - turn[1] * x
        place += 3


@inlined
def wheel_motion(vehicle, rate, offset, work):
    """Write what the joint rates give each wheel in the platform: w_i, and angular velocity."""
    for i in range(len(vehicle.surface)):
        row = work.wheel_velocity[i]
        for k in range(6):
            row[k] = 0.0
        for link in range(vehicle.start[i], vehicle.start[i + 1]):
            j = vehicle.chain[link, 0]
            q = rate[offset + vehicle.chain[link, 1]]
            for k in range(3):
                row[k] += q * work.column[link, k]
            if vehicle.tree[j, 3] != SLIDING:
                at = 3 * vehicle.tree[j, 2]
                for k in range(3):
                    row[3 + k] += q * work.frame[j + 1, at + k]


@inlined
def contact_rates(row, wx, wy, wz, vx, vy, out, at):
    """Write η̇ for ω of a wheel in {G} and its slip in contW; return the margin, 1/m."""
    wheel = (row[WHEEL], row[WHEEL + 1], row[WHEEL + 2], row[WHEEL + 3], row[WHEEL + 4])
    ground = (row[GROUND], row[GROUND + 1], row[GROUND + 2], row[GROUND + 3], row[GROUND + 4],
              row[GROUND + 5], row[GROUND + 6], row[GROUND + 7])
    out[at], out[at + 1], out[at + 2], out[at + 3], out[at + 4], margin = contact_kernels.rates(
        wheel, ground, row[PSI], row[PSI + 1],
        wx * row[WX] + wy * row[WX + 1] + wz * row[WX + 2],
        wx * row[WY] + wy * row[WY + 1] + wz * row[WY + 2],
        wx * row[WZ] + wy * row[WZ + 1] + wz * row[WZ + 2], vx, vy)
    return margin


@inlined
def turn_rate(state, wx, wy, wz, out):
    """Write the rate of the quaternion, ½ (0, ω) q with ω in {G}."""
    w, x, y, z = state[3], state[4], state[5], state[6]
    out[3] = 0.5 * (-wx * x - wy * y - wz * z)
    out[4] = 0.5 * (wx * w + wy * z - wz * y)
    out[5] = 0.5 * (wy * w + wz * x - wx * z)
    out[6] = 0.5 * (wz * w + wx * y - wy * x)


@inlined
def velocities(vehicle, state, desired, scale, work, out):
    """Write the rate of the state from the geometry in `work`; return the rank of C, −1: none."""
    contact = work.contact
    columns(vehicle, work)
    m = vehicle.tree.shape[0]
    ca, cb, cc = triangle(contact)
    a, b, c = contact[ca], contact[cb], contact[cc]
    e = (b[C] - a[C], b[C + 1] - a[C + 1], b[C + 2] - a[C + 2])
    f = (c[C] - a[C], c[C + 1] - a[C + 1], c[C + 2] - a[C + 2])
    n = (e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0])
    square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2]
    sides = ((e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
             * (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]))
    constrain(vehicle, desired, scale, work, (ca, cb, cc), e, f, n, square)
    rank, work.note[5] = orthonormalise(work.rows, m)
    for j in range(m):
        rate = 0.0
        for i in range(work.rows.shape[0]):
            rate += work.rows[i, j] * work.rows[i, m]
        out[POSE + j] = desired[j] - scale[j] * rate
    wheel_motion(vehicle, out, POSE, work)
    w, wb, wc = work.wheel_velocity[ca], work.wheel_velocity[cb], work.wheel_velocity[cc]
    wx, wy, wz = turning(e, f, n, square, (wb[0] - w[0], wb[1] - w[1], wb[2] - w[2]),
                         (wc[0] - w[0], wc[1] - w[1], wc[2] - w[2]))
    work.note[2], work.note[3], work.note[4] = wx, wy, wz
    x, y, z = a[C] - state[0], a[C + 1] - state[1], a[C + 2] - state[2]
    out[0] = -w[0] - (wy * z - wz * y)
    out[1] = -w[1] - (wz * x - wx * z)
    out[2] = -w[2] - (wx * y - wy * x)
    turn_rate(state, wx, wy, wz, out)
    work.note[0] = math.inf
    for i in range(contact.shape[0]):
        wheel = work.wheel_velocity[i]
        margin = contact_rates(contact[i], wx + wheel[3], wy + wheel[4], wz + wheel[5],
                               0.0, 0.0, out, POSE + m + 5 * i)
        if not margin >= work.note[0]:
            work.note[0], work.note[1] = margin, i
    return rank if square > LINE_TOLERANCE * sides else -1


@kernel
def rates(vehicle, ground, state, desired, scale, work, out):
    """Write the rate of the state; return the rank of the input constraints, −1: no motion."""
    geometry(vehicle, ground, state, work)
    return velocities(vehicle, state, desired, scale, work, out)


@inlined
def correction(vehicle, state, work, delta):
    """
    Write the Newton step of the closure from the mismatches in `work`; return its rank.

    Height, roll, pitch and the settling joints take up, with the least change, what the two sides
    of the contacts are apart along the normals; the contact coordinates follow by the contact
    equations with slip, in which a mismatch acts as a displacement of the wheel. x, y, yaw and the
    other joints stay.
    """
    columns(vehicle, work)
    m, settling = vehicle.tree.shape[0], vehicle.settling
    unknowns = 3 + len(settling)
    for i in range(len(vehicle.surface)):
        row, line = work.contact[i], work.normal[i]
        nx, ny, nz = row[WZ], row[WZ + 1], row[WZ + 2]
        x, y, z = row[C] - state[0], row[C + 1] - state[1], row[C + 2] - state[2]
        line[0], line[1], line[2] = nz, y * nz - z * ny, z * nx - x * nz
        for k in range(len(settling)):
            line[3 + k] = 0.0
            for link in range(vehicle.start[i], vehicle.start[i + 1]):
                if vehicle.chain[link, 0] == settling[k]:
                    column = work.column[link]
                    line[3 + k] = nx * column[0] + ny * column[1] + nz * column[2]
        line[unknowns] = -row[OFF + 2]
    rank, _ = orthonormalise(work.normal, unknowns)
    for k in range(len(delta)):
        delta[k] = 0.0
    rise, roll, pitch = 0.0, 0.0, 0.0
    for i in range(len(vehicle.surface)):
        line = work.normal[i]
        rise += line[0] * line[unknowns]
        roll += line[1] * line[unknowns]
        pitch += line[2] * line[unknowns]
        for k in range(len(settling)):
            delta[POSE + vehicle.tree[settling[k], 0]] += line[3 + k] * line[unknowns]
    delta[2] = rise
    turn_rate(state, roll, pitch, 0.0, delta)
    wheel_motion(vehicle, delta, POSE, work)
    for i in range(len(vehicle.surface)):
        row, wheel = work.contact[i], work.wheel_velocity[i]
        x, y, z = row[C] - state[0], row[C + 1] - state[1], row[C + 2] - state[2]
        vx, vy = wheel[0] + pitch * z, wheel[1] - roll * z
        vz = wheel[2] + rise + roll * y - pitch * x
        ax, ay, az = wheel[3] + roll, wheel[4] + pitch, wheel[5]
        for k in range(3):
            # the twist is in contW
            ax += row[TWIST + k] * row[WX + 3 * k]
            ay += row[TWIST + k] * row[WX + 3 * k + 1]
            az += row[TWIST + k] * row[WX + 3 * k + 2]
        slip_x = row[OFF] + vx * row[WX] + vy * row[WX + 1] + vz * row[WX + 2]
        slip_y = row[OFF + 1] + vx * row[WY] + vy * row[WY + 1] + vz * row[WY + 2]
        at = POSE + m + 5 * i
        if not contact_rates(row, ax, ay, az, slip_x, slip_y, delta, at) > 0.0:
            # far from a solution the ground may be sharper than the tyre: flat, it leads on
            row[GROUND + 3], row[GROUND + 4], row[GROUND + 5] = 0.0, 0.0, 0.0
            contact_rates(row, ax, ay, az, slip_x, slip_y, delta, at)
    return rank
