# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled measures of a run: how well the chains close, the wheels roll, their material stands still.

Material slip takes nothing from the Jacobians: the motion is integrated a little way ahead and
back, and the chain alone says where the touching point of the wheel goes.
"""

from __future__ import annotations

import math

from c3p_kinematics.closed_chain_vehicle._geometry_kernels import (
    GROUND,
    GX,
    GY,
    GZ,
    POSE,
    PSI,
    WHEEL,
    WX,
    WY,
    WZ,
    C,
    G,
    chains,
    geometry,
    platform_frame,
    wheel_side,
)
from c3p_kinematics.closed_chain_vehicle._motion_kernels import unit_quaternion
from c3p_kinematics.closed_chain_vehicle._rate_kernels import columns, rates, wheel_motion
from c3p_kinematics.compiled import inlined, kernel
from c3p_kinematics.rolling_contact._kernels import rolling_rates


@inlined
def ground_axes(row, k):
    """Return component k of x, y, z of contW by the ground."""
    c, s = row[PSI], row[PSI + 1]
    return (c * row[GX + k] - s * row[GY + k], -s * row[GX + k] - c * row[GY + k], -row[GZ + k])


@inlined
def platform_by(row, frame, state, pose):
    """
    Write T_GP (3, 4) by one wheel: ground, contact, and the chain backwards.

    With E the contact frame by the ground and A by the chain, R = E Aᵀ R_GP and
    p = c_G + E Aᵀ (p − c_C).
    """
    for i in range(3):
        ex, ey, ez = ground_axes(row, i)
        turn = (ex * row[WX] + ey * row[WY] + ez * row[WZ],
                ex * row[WX + 1] + ey * row[WY + 1] + ez * row[WZ + 1],
                ex * row[WX + 2] + ey * row[WY + 2] + ez * row[WZ + 2])
        for j in range(3):
            pose[i, j] = (turn[0] * frame[0, 3 * j] + turn[1] * frame[0, 3 * j + 1]
                          + turn[2] * frame[0, 3 * j + 2])
        pose[i, 3] = (row[G + i] + turn[0] * (state[0] - row[C])
                      + turn[1] * (state[1] - row[C + 1]) + turn[2] * (state[2] - row[C + 2]))


@inlined
def rolling_error(row, wheel, state, rate, turn, at):
    """Return the square of the residual of (4) and of vx = vy = vz = 0 at one contact."""
    x, y, z = row[C] - state[0], row[C + 1] - state[1], row[C + 2] - state[2]
    vx = rate[0] + wheel[0] + turn[1] * z - turn[2] * y
    vy = rate[1] + wheel[1] + turn[2] * x - turn[0] * z
    vz = rate[2] + wheel[2] + turn[0] * y - turn[1] * x
    wx, wy, wz = 0.0, 0.0, 0.0
    for k in range(3):
        ex, ey, ez = ground_axes(row, k)
        spin = turn[k] + wheel[3 + k]
        wx += ex * spin
        wy += ey * spin
        wz += ez * spin
    forms = (row[WHEEL], row[WHEEL + 1], row[WHEEL + 2], row[WHEEL + 3], row[WHEEL + 4])
    ground = (row[GROUND], row[GROUND + 1], row[GROUND + 2], row[GROUND + 3], row[GROUND + 4],
              row[GROUND + 5], row[GROUND + 6], row[GROUND + 7])
    u, v, gx, gy, psi, _ = rolling_rates(forms, ground, row[PSI], row[PSI + 1], wx, wy, wz)
    return (vx * vx + vy * vy + vz * vz + (rate[at] - u) ** 2 + (rate[at + 1] - v) ** 2
            + (rate[at + 2] - gx) ** 2 + (rate[at + 3] - gy) ** 2 + (rate[at + 4] - psi) ** 2)


@kernel
def residuals(vehicle, ground, states, rate, turns, memory, poses, closure, rolling, centers,
              points):
    """Write closure L2, rolling L2, wheel centres and contact points of recorded states."""
    work = memory.work
    m = vehicle.tree.shape[0]
    for b in range(states.shape[0]):
        state = states[b]
        geometry(vehicle, ground, state, work)
        columns(vehicle, work)
        wheel_motion(vehicle, rate[b], POSE, work)
        square, slip = 0.0, 0.0
        for i in range(len(vehicle.surface)):
            row = work.contact[i]
            platform_by(row, work.frame, state, poses[i])
            for j in range(3):
                for k in range(4):
                    square += (poses[i, j, k] - poses[0, j, k]) ** 2
                body = work.frame[vehicle.chain[vehicle.start[i + 1] - 1, 0] + 1]
                centers[b, i, j], points[b, i, j] = body[9 + j], row[G + j]
            slip += rolling_error(row, work.wheel_velocity[i], state, rate[b], turns[b],
                                  POSE + m + 5 * i)
        closure[b], rolling[b] = math.sqrt(square), math.sqrt(slip)


@kernel
def touching(vehicle, state, contact, memory, sign, out):
    """Add to `out` (n, 3) where the material points of the wheels at `contact` (n, 2) are."""
    work = memory.work
    platform_frame(state, work.frame)
    chains(vehicle, state, work.frame)
    for i in range(len(vehicle.surface)):
        row = work.contact[i]
        spin = state[POSE + vehicle.chain[vehicle.start[i + 1] - 1, 1]]
        wheel_side(vehicle, i, work.frame, spin, contact[i, 0], contact[i, 1], row)
        for k in range(3):
            out[i, k] += sign * row[C + k]


@kernel
def ahead(vehicle, ground, h, desired, scale, memory):
    """Take one classical Runge-Kutta step of length h from ``memory.trial``, in place."""
    state, trial, stage = memory.trial, memory.saved, memory.stage
    for i in range(4):
        trial[:] = state
        if i > 0:
            share = h if i == 3 else 0.5 * h
            for j in range(len(state)):
                trial[j] += share * stage[i - 1, j]
        rates(vehicle, ground, trial, desired, scale, memory.work, stage[i])
    for j in range(len(state)):
        state[j] += h / 6.0 * (stage[0, j] + 2.0 * (stage[1, j] + stage[2, j]) + stage[3, j])
    unit_quaternion(state)


@kernel
def material_slip(vehicle, ground, states, inputs, scale, h, memory, contact, moved, slip):
    """Write the velocity (b, n, 3) of the touching points by five-point differences over ± 2h."""
    m = vehicle.tree.shape[0]
    for b in range(states.shape[0]):
        for i in range(contact.shape[0]):
            contact[i, 0], contact[i, 1] = (states[b, POSE + m + 5 * i],
                                            states[b, POSE + m + 5 * i + 1])
        moved[:] = 0.0
        for side in range(2):
            sign = 1.0 - 2.0 * side
            memory.trial[:] = states[b]
            ahead(vehicle, ground, sign * h, inputs[b], scale, memory)
            touching(vehicle, memory.trial, contact, memory, sign * 8.0, moved)
            ahead(vehicle, ground, sign * h, inputs[b], scale, memory)
            touching(vehicle, memory.trial, contact, memory, -sign, moved)
        for i in range(contact.shape[0]):
            for k in range(3):
                slip[b, i, k] = moved[i, k] / (12.0 * h)
