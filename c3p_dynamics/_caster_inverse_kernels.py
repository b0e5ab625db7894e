# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled inverse dynamics on one declared state: `share_packed`, and batches of it.

Calling compiled code from Python costs some 50 ns for each array that is handed over, more than
the arithmetic. So the robot, the weight, the work memory, the demand and the torques are one
array, the block of an `InverseState`.
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
from c3p_dynamics.caster_states import InverseState
from c3p_kernels.compiled import inlined, kernel
from c3p_kernels.elementary import circle
from c3p_kernels.small import RANK_TOLERANCE

# determinant of A over the product of its diagonal, from which on cofactors are as good as pivots:
# they lose this factor of a double's digits, and need one division instead of four in a row
WELL_SPANNED = 1e-3


cut_inverse = InverseState.cut
# numbers of a block, of which some grow with the casters
FIXED = InverseState.size.of(0)
EACH = InverseState.size.of(1) - FIXED


@inlined
def count_of(block):
    """Return the number of casters that a block is for."""
    return (len(block) - FIXED) // EACH


@kernel
def packed_inverse(numbers, driven, motors, spanned, weight, tolerance):
    """
    Return the block of a robot, at rest with all steering angles 0.

    `numbers` are those of `numbers_of`, `motors` (n,) the weights of steering motors, 0 without;
    `spanned`: no virtual ones.
    """
    geometry, inertia, platform, _ = numbers
    n = len(geometry)
    block = np.zeros(FIXED + EACH * n)
    s = cut_inverse(block, n)
    s.platform[0], s.platform[1], s.platform[2], s.platform[3] = platform_terms(platform)
    s.weight[0] = 1.0 if spanned else weight
    s.tolerance[0] = tolerance
    virtual = 0.0 if spanned else weight
    passive = 0
    yaw = 0.0
    for i in range(n):
        if motors[i] > 0.0:
            yaw += motors[i]
        else:
            passive += 1
    s.normal[4] = passive * virtual + yaw
    for i in range(n):
        x = geometry[i, 0]
        y = geometry[i, 1]
        d = geometry[i, 2]
        gain = 1.0 / geometry[i, 3] if driven[i] else 0.0
        own = motors[i] if motors[i] > 0.0 else virtual
        wheel = gain * gain
        steer = own / (d * d)
        s.x[i] = x
        s.y[i] = y
        s.per_offset[i] = 1.0 / d
        s.radius[i] = geometry[i, 3]
        s.rolling[i] = inertia[i, 0]
        s.axle[i] = inertia[i, 1]
        s.kappa[i] = inertia[i, 2]
        s.gain[i] = gain
        s.turning[i] = wheel - steer
        s.pull[i] = own / d
        s.share[i] = own
        s.motor[i] = 1.0 if motors[i] > 0.0 else 0.0
        # [[w/d², 0], [0, 1/r²]] at the pivot
        s.normal[0] += steer
        s.normal[1] -= steer * y
        s.normal[2] += wheel
        s.normal[3] += wheel * x
        s.normal[4] += steer * y * y + wheel * x * x
    return block


@kernel
def _share_dropped(s, f0, f1, f2):
    """Add the least-norm allocation of a force to the torques; unreachable parts are dropped."""
    n = len(s.x)
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
        x = s.x[i]
        y = s.y[i]
        per_offset = s.per_offset[i]
        gain = s.gain[i]
        cosine = s.cosine[i]
        sine = s.sine[i]
        known += cosine
        driven[i] = gain > 0.0
        steered[i] = s.motor[i] > 0.0
        weight[i] = s.share[i]
        wheel[i, 0] = -sine * gain
        wheel[i, 1] = cosine * gain
        wheel[i, 2] = (cosine * x + sine * y) * gain
        steer[i, 0] = -cosine * per_offset
        steer[i, 1] = -sine * per_offset
        steer[i, 2] = -(sine * x - cosine * y) * per_offset - 1.0
    # a state that is not finite ends here, too; LAPACK would raise, which a loop must not meet
    if math.isfinite(known):
        share_least_norm(wheel, steer, MotorSet(driven, steered, weight), force, s.tolerance[0],
                         s.torque)
    else:
        s.torque[:] = np.nan


@inlined
def _add_share(s, n, z0, z1, z2):
    """Add ``J_x z`` to the torques of the driven wheels, and ``w J_s z`` to steering torques."""
    for i in range(n):
        along, across = projected(s.cosine[i], s.sine[i], s.x[i], s.y[i], z0, z1, z2)
        s.torque[i] += s.gain[i] * along
        if s.motor[i] > 0.0:
            s.torque[n + i] -= s.share[i] * (s.per_offset[i] * across + z2)


@inlined
def share_inline(s):
    """Write the torques of caster_dynamics.inverse_dynamics at the demand of a state."""
    n = len(s.x)
    vx = s.demand[n]
    vy = s.demand[n + 1]
    w = s.demand[n + 2]
    ax = s.demand[n + 3]
    ay = s.demand[n + 4]
    aw = s.demand[n + 5]
    # f: M ν̇ + G, of the platform and then of each caster; a: the normal matrix of the distribution
    f0, f1, f2 = platform_force(s.platform, s.platform[3], (vx, vy, w), (ax, ay, aw))
    a00 = s.normal[0]
    a01 = 0.0
    a02 = s.normal[1]
    a11 = s.normal[2]
    a12 = s.normal[3]
    a22 = s.normal[4]
    for i in range(n):
        x = s.x[i]
        y = s.y[i]
        cosine, sine = circle(s.demand[i])
        s.cosine[i] = cosine
        s.sine[i] = sine
        along, across = projected(cosine, sine, x, y, vx, vy, w)
        rate = -s.per_offset[i] * across - w
        along_accel, across_accel = projected(cosine, sine, x, y, ax, ay, aw)
        own, push, side = caster_inertia_force(s.rolling[i], s.axle[i], s.kappa[i], along, across,
                                               rate, along_accel, across_accel)
        s.torque[n + i] = 0.0
        # each motor drives its own rolling mass: τ = r² μ_e θ̈_x; a wheel without one is pushed
        if s.gain[i] > 0.0:
            s.torque[i] = s.radius[i] * own
        else:
            s.torque[i] = 0.0
            push += own
        fx, fy = cosine * side - sine * push, cosine * push + sine * side
        f0 += fx
        f1 += fy
        f2 += x * fy - y * fx
        # what of A turns with the caster, and w_s/d of its axle's row times the platform's yaw
        q, d01, d02, d12, d22 = turning_part(s.turning[i], cosine, sine, x, y)
        across_x, across_y = s.pull[i] * cosine, s.pull[i] * sine
        a00 += q
        a01 += d01
        a11 -= q
        a02 += d02 + across_x
        a12 += d12 + across_y
        a22 += d22 + 2.0 * (x * across_y - y * across_x)
    # below `tolerance` the normal equations are singular up to rounding
    if s.weight[0] > s.tolerance[0]:
        adjugate, volume = cofactors((a00, a01, a02, a11, a12, a22))
        if volume > WELL_SPANNED * a00 * a11 * a22:
            by = 1.0 / volume
            z0, z1, z2 = times(adjugate, f0, f1, f2)
            _add_share(s, n, by * z0, by * z1, by * z2)
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
            _add_share(s, n, f0 / a00 - l1 * z1 - l2 * z2, z1, z2)
            return
    _share_dropped(s, f0, f1, f2)


@kernel
def share_packed(block):
    """Write the torques at the demand of a block into it."""
    share_inline(cut_inverse(block, count_of(block)))


@kernel
def share_at(block, demand):
    """Take a `demand` (n + 6,) into the block, then do as `share_packed`."""
    n = count_of(block)
    s = cut_inverse(block, n)
    for i in range(n + 6):
        s.demand[i] = demand[i]
    share_inline(s)


@kernel
def inverses(block, steering, twist, accel, torque_out):
    """
    Write the torques of a batch: `steering` (B, n), `twist`, `accel` (B, 3).

    `torque_out` is (B, n) of the wheels, or (B, 2n) with those of the steering axes.
    """
    n = count_of(block)
    s = cut_inverse(block, n)
    for b in range(len(steering)):
        for i in range(n):
            s.demand[i] = steering[b, i]
        for j in range(3):
            s.demand[n + j] = twist[b, j]
            s.demand[n + 3 + j] = accel[b, j]
        share_inline(s)
        for i in range(torque_out.shape[1]):
            torque_out[b, i] = s.torque[i]
