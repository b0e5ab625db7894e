# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled measures of a run: residuals of closure and rolling, touching material points."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_kernels.compiled import borrowed, inlined, kernel
from c3p_rough_ground.closed_chain._geometry_kernels import (
    GROUND,
    GX,
    GY,
    GZ,
    OWN,
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
from c3p_rough_ground.closed_chain._rate_kernels import columns, wheel_motion
from c3p_rough_ground.closed_chain.chain_states import cut_work
from c3p_rough_ground.rolling_contact._kernels import rates


@inlined
def ground_axes(contact, i, k):
    """Return component k of x, y, z of contW by the ground."""
    c, s = contact[i, PSI], contact[i, PSI + 1]
    x, y = contact[i, GX + k], contact[i, GY + k]
    return c * x - s * y, -s * x - c * y, -contact[i, GZ + k]


@inlined
def platform_by(contact, which, frame, state, pose):
    """
    Write T_GP (3, 4) by one wheel: ground, contact, and the chain backwards.

    With E the contact frame by the ground and A by the chain, R = E Aᵀ R_GP and
    p = c_G + E Aᵀ (p − c_C).
    """
    x = state[0] - contact[which, C]
    y = state[1] - contact[which, C + 1]
    z = state[2] - contact[which, C + 2]
    for i in range(3):
        ex, ey, ez = ground_axes(contact, which, i)
        tx = ex * contact[which, WX] + ey * contact[which, WY] + ez * contact[which, WZ]
        ty = (ex * contact[which, WX + 1] + ey * contact[which, WY + 1]
              + ez * contact[which, WZ + 1])
        tz = (ex * contact[which, WX + 2] + ey * contact[which, WY + 2]
              + ez * contact[which, WZ + 2])
        for j in range(3):
            pose[which, i, j] = (tx * frame[0, 3 * j] + ty * frame[0, 3 * j + 1]
                                 + tz * frame[0, 3 * j + 2])
        pose[which, i, 3] = contact[which, G + i] + tx * x + ty * y + tz * z


@inlined
def rolling_error(contact, i, state, rate, turn, at):
    """Return the square of the residual of (4) and of vx = vy = vz = 0 at one contact."""
    x = contact[i, C] - state[0]
    y = contact[i, C + 1] - state[1]
    z = contact[i, C + 2] - state[2]
    vx = rate[0] + contact[i, OWN] + turn[1] * z - turn[2] * y
    vy = rate[1] + contact[i, OWN + 1] + turn[2] * x - turn[0] * z
    vz = rate[2] + contact[i, OWN + 2] + turn[0] * y - turn[1] * x
    wx = 0.0
    wy = 0.0
    wz = 0.0
    for k in range(3):
        ex, ey, ez = ground_axes(contact, i, k)
        spin = turn[k] + contact[i, OWN + 3 + k]
        wx += ex * spin
        wy += ey * spin
        wz += ez * spin
    wheel = (contact[i, WHEEL], contact[i, WHEEL + 1], contact[i, WHEEL + 2],
             contact[i, WHEEL + 3], contact[i, WHEEL + 4])
    ground = (contact[i, GROUND], contact[i, GROUND + 1], contact[i, GROUND + 2],
              contact[i, GROUND + 3], contact[i, GROUND + 4], contact[i, GROUND + 5],
              contact[i, GROUND + 6], contact[i, GROUND + 7])
    u, v, gx, gy, psi, _ = rates(wheel, ground, (contact[i, PSI], contact[i, PSI + 1]),
                                 (wx, wy, wz), (0.0, 0.0))
    return (vx * vx + vy * vy + vz * vz + (rate[at] - u) ** 2 + (rate[at + 1] - v) ** 2
            + (rate[at + 2] - gx) ** 2 + (rate[at + 3] - gy) ** 2 + (rate[at + 4] - psi) ** 2)


class Measures(NamedTuple):
    """
    Measures of N recorded states of n wheels.

    Attributes
    ----------
    closure : (N,) array
        L2 of the differences of the poses by each wheel.
    rolling : (N,) array
        L2 of the contact equations and of the velocities of the touching points.
    center, point : (N, n, 3) arrays, m
        Wheel centres and contact points in {G}.
    """

    closure: np.ndarray
    rolling: np.ndarray
    center: np.ndarray
    point: np.ndarray


def measures_of(count, wheels):
    """Return the arrays for `count` states of a vehicle with n wheels."""
    return Measures(np.empty(count), np.empty(count), np.empty((count, wheels, 3)),
                    np.empty((count, wheels, 3)))


@kernel
def residuals(vehicle, ground, records, block, sizes, poses, out):
    """
    Write the measures of recorded states.

    `block` and `sizes` are those of a ChainWork, `poses` (n, 3, 4) is work memory.
    """
    vehicle = borrowed(vehicle)
    ground = borrowed(ground)
    records = borrowed(records)
    work = cut_work(block, sizes)
    poses = borrowed(poses)
    out = borrowed(out)
    states = records.states
    rate = records.rates
    turns = records.turning
    m = vehicle.tree.shape[0]
    for b in range(states.shape[0]):
        state = states[b]
        geometry(vehicle, ground, state, work)
        columns(vehicle, work)
        wheel_motion(vehicle, rate[b], work)
        square = 0.0
        slip = 0.0
        for i in range(vehicle.wheel.shape[0]):
            platform_by(work.contact, i, work.frame, state, poses)
            for j in range(3):
                for k in range(4):
                    square += (poses[i, j, k] - poses[0, j, k]) ** 2
                body = vehicle.chain[vehicle.wheel[i, 1] - 1, 0] + 1
                out.center[b, i, j] = work.frame[body, 9 + j]
                out.point[b, i, j] = work.contact[i, G + j]
            slip += rolling_error(work.contact, i, state, rate[b], turns[b], POSE + m + 5 * i)
        out.closure[b] = math.sqrt(square)
        out.rolling[b] = math.sqrt(slip)


@kernel
def touching(vehicle, state, u_v, block, sizes, sign, out):
    """
    Add to `out` (n, 3) where the material points of the wheels at `u_v` (n, 2) are.

    `block` and `sizes` are those of a ChainWork.
    """
    work = cut_work(block, sizes)
    platform_frame(state, work.frame)
    chains(vehicle, state, work.frame)
    for i in range(out.shape[0]):
        spin = state[POSE + vehicle.chain[vehicle.wheel[i, 1] - 1, 1]]
        wheel_side(vehicle, i, work.frame, spin, u_v[i, 0], u_v[i, 1], work.contact)
        for k in range(3):
            out[i, k] += sign * work.contact[i, C + k]
