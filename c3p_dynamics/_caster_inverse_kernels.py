# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled inverse dynamics on one packed array: `share_packed`, and batches of it.

Calling compiled code from Python costs some 50 ns for each array that is handed over, more than
the arithmetic. So the robot, the weight, the work memory, the state and the torques are one array
of floats, made by `packed_inverse`:

    [m, m cx, m cy, inertia about the origin, w_s, tolerance, constant part of A · 5]
    [x, y, 1/d, r, μ_e, μ_a, κ, driven/r, driven/r² − w/d², w/d, cos θ, sin θ, w, motor] · n
    [θ_s · n, vx, vy, ω, v̇x, v̇y, ω̇]                                              state
    [τ · n, τ_s · n]                                                              result

w is the weight of the steering motor of a caster, or w_s of a virtual one (motor = 0), whose
torque is dropped. Where the motors reach every acceleration at any steering angles there are no
virtual ones, and the first w_s is 1. With eᵀe + aᵀa = 1, what a caster adds to
A = J_xᵀJ_x + w J_sᵀJ_s is constant but for its ninth column times eᵀe, and for what the turning
of the platform adds to its steering rate.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_dynamics._caster_equations import (
    caster_inertia_force,
    cofactors,
    platform_force,
    platform_terms,
    projected,
    times,
    turning_part,
)
from c3p_dynamics._sharing_kernels import MotorSet, share_least_norm
from c3p_kernels.compiled import inlined, kernel
from c3p_kernels.elementary import circle
from c3p_kernels.small import RANK_TOLERANCE

HEAD = 11
ROW = 14

# determinant of A over the product of its diagonal, from which on cofactors are as good as pivots:
# they lose this factor of a double's digits, and need one division instead of four in a row
WELL_SPANNED = 1e-3


@inlined
def count_of(pack):
    """Return the number of casters that a packed array is for."""
    return (len(pack) - HEAD - 6) // (ROW + 3)


@kernel
def packed_inverse(geometry, inertia, platform, driven, motors, spanned, weight, tolerance):
    """
    Return the packed array of a robot, at rest with all steering angles 0.

    `motors` (n,) are the weights of steering motors, 0 without; `spanned`: no virtual ones.
    """
    n = len(geometry)
    pack = np.zeros(HEAD + 6 + (ROW + 3) * n)
    pack[0], pack[1], pack[2], pack[3] = platform_terms(platform)
    pack[4] = 1.0 if spanned else weight
    pack[5] = tolerance
    virtual = 0.0 if spanned else weight
    passive = 0
    yaw = 0.0
    for i in range(n):
        if motors[i] > 0.0:
            yaw += motors[i]
        else:
            passive += 1
    pack[10] = passive * virtual + yaw
    for i in range(n):
        at = HEAD + ROW * i
        x = geometry[i, 0]
        y = geometry[i, 1]
        d = geometry[i, 2]
        gain = 1.0 / geometry[i, 3] if driven[i] else 0.0
        own = motors[i] if motors[i] > 0.0 else virtual
        wheel = gain * gain
        steer = own / (d * d)
        pack[at], pack[at + 1], pack[at + 2], pack[at + 3] = x, y, 1.0 / d, geometry[i, 3]
        pack[at + 4], pack[at + 5], pack[at + 6] = inertia[i, 0], inertia[i, 1], inertia[i, 2]
        pack[at + 7] = gain
        pack[at + 8] = wheel - steer
        pack[at + 9] = own / d
        pack[at + 12], pack[at + 13] = own, 1.0 if motors[i] > 0.0 else 0.0
        # [[w/d², 0], [0, 1/r²]] at the pivot
        pack[6] += steer
        pack[7] -= steer * y
        pack[8] += wheel
        pack[9] += wheel * x
        pack[10] += steer * y * y + wheel * x * x
    return pack


@kernel
def _share_dropped(pack, f0, f1, f2):
    """Add the least-norm allocation of a force to the torques; unreachable parts are dropped."""
    n = count_of(pack)
    wheel = np.empty((n, 3))
    steer = np.empty((n, 3))
    weight = np.empty(n)
    driven = np.empty(n, np.bool_)
    steered = np.empty(n, np.bool_)
    force = np.empty(3)
    force[0] = f0
    force[1] = f1
    force[2] = f2
    known = f0 + f1 + f2
    for i in range(n):
        at = HEAD + ROW * i
        known += pack[at + 10]
        x = pack[at]
        y = pack[at + 1]
        per_offset = pack[at + 2]
        gain = pack[at + 7]
        c, s = pack[at + 10], pack[at + 11]
        driven[i], steered[i], weight[i] = gain > 0.0, pack[at + 13] > 0.0, pack[at + 12]
        wheel[i, 0] = -s * gain
        wheel[i, 1] = c * gain
        wheel[i, 2] = (c * x + s * y) * gain
        steer[i, 0] = -c * per_offset
        steer[i, 1] = -s * per_offset
        steer[i, 2] = -(s * x - c * y) * per_offset - 1.0
    # a state that is not finite ends here, too; LAPACK would raise, which a loop must not meet
    if math.isfinite(known):
        share_least_norm(wheel, steer, MotorSet(driven, steered, weight), force, pack[5],
                         pack[len(pack) - 2 * n:])
    else:
        pack[len(pack) - 2 * n:] = np.nan


@inlined
def _add_share(pack, n, z0, z1, z2):
    """Add ``J_x z`` to the torques of the driven wheels, and ``w J_s z`` to steering torques."""
    for i in range(n):
        at = HEAD + ROW * i
        along, across = projected(pack[at + 10], pack[at + 11], pack[at], pack[at + 1], z0, z1, z2)
        pack[len(pack) - 2 * n + i] += pack[at + 7] * along
        if pack[at + 13] > 0.0:
            pack[len(pack) - n + i] -= pack[at + 12] * (pack[at + 2] * across + z2)


@inlined
def share_inline(pack):
    """Write the torques of caster_dynamics.inverse_dynamics at the state in `pack` into it."""
    n = count_of(pack)
    out = len(pack) - 2 * n
    at = HEAD + (ROW + 1) * n
    vx = pack[at]
    vy = pack[at + 1]
    w = pack[at + 2]
    ax = pack[at + 3]
    ay = pack[at + 4]
    aw = pack[at + 5]
    # f: M ν̇ + G, of the platform and then of each caster; a: the normal matrix of the share
    f0, f1, f2 = platform_force(pack, pack[3], (vx, vy, w), (ax, ay, aw))
    a00 = pack[6]
    a01 = 0.0
    a02 = pack[7]
    a11 = pack[8]
    a12 = pack[9]
    a22 = pack[10]
    for i in range(n):
        at = HEAD + ROW * i
        x, y = pack[at], pack[at + 1]
        c, s = circle(pack[HEAD + ROW * n + i])
        pack[at + 10] = c
        pack[at + 11] = s
        along, across = projected(c, s, x, y, vx, vy, w)
        rate = -pack[at + 2] * across - w
        along_accel, across_accel = projected(c, s, x, y, ax, ay, aw)
        own, push, side = caster_inertia_force(pack[at + 4], pack[at + 5], pack[at + 6], along,
                                               across, rate, along_accel, across_accel)
        pack[out + n + i] = 0.0
        # each motor drives its own rolling mass: τ = r² μ_e θ̈_x; a wheel without one is pushed
        if pack[at + 7] > 0.0:
            pack[out + i] = pack[at + 3] * own
        else:
            pack[out + i] = 0.0
            push += own
        fx, fy = c * side - s * push, c * push + s * side
        f0 += fx
        f1 += fy
        f2 += x * fy - y * fx
        # what of A turns with the caster, and w_s/d of its axle's row times the platform's yaw
        q, d01, d02, d12, d22 = turning_part(pack[at + 8], c, s, x, y)
        across_x, across_y = pack[at + 9] * c, pack[at + 9] * s
        a00 += q
        a01 += d01
        a11 -= q
        a02 += d02 + across_x
        a12 += d12 + across_y
        a22 += d22 + 2.0 * (x * across_y - y * across_x)
    # below `tolerance` the normal equations are singular up to rounding
    if pack[4] > pack[5]:
        adjugate, volume = cofactors((a00, a01, a02, a11, a12, a22))
        if volume > WELL_SPANNED * a00 * a11 * a22:
            by = 1.0 / volume
            z0, z1, z2 = times(adjugate, f0, f1, f2)
            _add_share(pack, n, by * z0, by * z1, by * z2)
            return
        l1 = a01 / a00
        l2 = a02 / a00
        p1 = a11 - l1 * a01
        r2 = a12 - l2 * a01
        l3 = r2 / p1
        p2 = a22 - l2 * a02 - l3 * r2
        # also false for nan
        if a00 > 0.0 and p1 > RANK_TOLERANCE * a11 and p2 > RANK_TOLERANCE * a22:
            y1 = f1 - l1 * f0
            z2 = (f2 - l2 * f0 - l3 * y1) / p2
            z1 = y1 / p1 - l3 * z2
            _add_share(pack, n, f0 / a00 - l1 * z1 - l2 * z2, z1, z2)
            return
    _share_dropped(pack, f0, f1, f2)


@kernel
def share_packed(pack):
    """Compiled `share_inline`: the torques at the state in `pack` become its last 2n numbers."""
    share_inline(pack)


@kernel
def share_at(pack, state):
    """Take `state` (n + 6,) into `pack`, then do as `share_packed`."""
    n = count_of(pack)
    for i in range(n + 6):
        pack[HEAD + ROW * n + i] = state[i]
    share_inline(pack)


@kernel
def inverses(pack, steering, twist, accel, torque_out):
    """
    Write the torques of a batch: `steering` (B, n), `twist`, `accel` (B, 3).

    `torque_out` is (B, n) of the wheels, or (B, 2n) with those of the steering axes.
    """
    n = count_of(pack)
    at = HEAD + ROW * n
    out = len(pack) - 2 * n
    for b in range(len(steering)):
        for i in range(n):
            pack[at + i] = steering[b, i]
        for j in range(3):
            pack[at + n + j], pack[at + n + 3 + j] = twist[b, j], accel[b, j]
        share_inline(pack)
        for i in range(torque_out.shape[1]):
            torque_out[b, i] = pack[out + i]
