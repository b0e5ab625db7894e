# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled caster dynamics: plain arrays in, plain arrays out, no checks (see caster_dynamics.py).

`geometry` (n, 4), `inertia` (n, 3), `platform` (4,) and `losses` (n, 6) are packed as the
properties of CasterRobot of these names (`inertia` is `caster_inertia`) say. `rolling` and `axle`
(n, 3) are the rows ``Rx`` and ``Ra`` at the steering angles in question; who calls provides the
work memory, so that a sweep or an integration allocates once.

What is called in a loop is compiled into the caller (`inlined`).
"""

from __future__ import annotations

import numpy as np

from c3p_dynamics._caster_inverse_kernels import inverse, inverses
from c3p_dynamics._caster_motion_kernels import runge_kutta
from c3p_dynamics._elementary import circle, level
from c3p_dynamics._sharing_kernels import share_damped, share_least_norm, share_weighted
from c3p_kinematics.compiled import inlined, kernel

__all__ = ['applied_force', 'forward', 'forwards', 'inverse', 'inverses', 'mass_and_bias',
           'masses_and_biases', 'runge_kutta', 'share_damped', 'share_least_norm',
           'share_weighted']


@inlined
def _rows(geometry, steering, rolling, axle):
    """Write ``Rx`` and ``Ra`` (n, 3) as c3p_kinematics does, by the tables of _elementary.py."""
    for i in range(len(geometry)):
        c, s = circle(steering[i])
        x, y = geometry[i, 0], geometry[i, 1]
        rolling[i, 0], rolling[i, 1], rolling[i, 2] = -s, c, s * y + c * x
        axle[i, 0], axle[i, 1], axle[i, 2] = c, s, s * x - c * y


@inlined
def mass_and_bias(geometry, inertia, platform, rolling, axle, twist, mass, bias):
    """Write M (3, 3) and G (3,) of ``M ν̇ + G = F``."""
    vx, vy, w = twist[0], twist[1], twist[2]
    m, cx, cy = platform[0], platform[2], platform[3]
    m00, m01, m02, m11, m12 = m, 0.0, -m * cy, m, m * cx
    m22 = platform[1] + m * (cx * cx + cy * cy)
    # acceleration of the origin in turning axes is ν̇ + ω×v; the centre of mass adds −ω² c
    g0, g1 = m * (-w * vy - w * w * cx), m * (w * vx - w * w * cy)
    g2 = m * w * (cx * vx + cy * vy)
    for i in range(len(geometry)):
        ex, ey, ez = rolling[i, 0], rolling[i, 1], rolling[i, 2]
        ax, ay, az = axle[i, 0], axle[i, 1], axle[i, 2]
        along = ex * vx + ey * vy + ez * w
        across = ax * vx + ay * vy + az * w
        rate = -across / geometry[i, 2] - w
        me, ma, kappa = inertia[i, 0], inertia[i, 1], inertia[i, 2]
        m00 += me * ex * ex + ma * ax * ax
        m01 += me * ex * ey + ma * ax * ay
        m02 += me * ex * ez + ma * ax * az
        m11 += me * ey * ey + ma * ay * ay
        m12 += me * ey * ez + ma * ay * az
        m22 += me * ez * ez + ma * az * az
        ge = -me * rate * across - kappa * across * across
        ga = ma * rate * along + kappa * along * across
        g0 += ex * ge + ax * ga
        g1 += ey * ge + ay * ga
        g2 += ez * ge + az * ga
    mass[0, 0], mass[0, 1], mass[0, 2] = m00, m01, m02
    mass[1, 0], mass[1, 1], mass[1, 2] = m01, m11, m12
    mass[2, 0], mass[2, 1], mass[2, 2] = m02, m12, m22
    bias[0], bias[1], bias[2] = g0, g1, g2


@kernel
def masses_and_biases(geometry, inertia, platform, steering, twist, mass, bias):
    """Write M (B, 3, 3) and G (B, 3) of a batch of `steering` (B, n) and `twist` (B, 3)."""
    n = len(geometry)
    rolling, axle = np.empty((n, 3)), np.empty((n, 3))
    for b in range(len(steering)):
        _rows(geometry, steering[b], rolling, axle)
        mass_and_bias(geometry, inertia, platform, rolling, axle, twist[b], mass[b], bias[b])


@inlined
def _dry(coulomb, rate, smoothing):
    """Return the smoothed dry friction against `rate`."""
    return -coulomb * level(rate / smoothing) if coulomb > 0.0 else 0.0


@inlined
def applied_force(geometry, losses, rolling, axle, twist, torque, wrench, force):
    """
    Write ``W + J_xᵀ(τ + τ_rolling) + J_sᵀ τ_pivot + J_cᵀ τ_scrub`` into `force` (3,).

    Returns the power of `torque` and `wrench` together and the power that friction takes, W.
    """
    vx, vy, w = twist[0], twist[1], twist[2]
    f0, f1, f2 = wrench[0], wrench[1], wrench[2]
    power, loss = f0 * vx + f1 * vy + f2 * w, 0.0
    for i in range(len(geometry)):
        d, r, smoothing = geometry[i, 2], geometry[i, 3], losses[i, 5]
        wheel_rate = (rolling[i, 0] * vx + rolling[i, 1] * vy + rolling[i, 2] * w) / r
        contact_rate = -(axle[i, 0] * vx + axle[i, 1] * vy + axle[i, 2] * w) / d
        steering_rate = contact_rate - w
        roll = _dry(losses[i, 3], wheel_rate, smoothing) - losses[i, 2] * wheel_rate
        pivot = _dry(losses[i, 1], steering_rate, smoothing) - losses[i, 0] * steering_rate
        scrub = _dry(losses[i, 4], contact_rate, smoothing)
        power += torque[i] * wheel_rate
        loss -= roll * wheel_rate + pivot * steering_rate + scrub * contact_rate
        push, side = (torque[i] + roll) / r, -(pivot + scrub) / d
        f0 += rolling[i, 0] * push + axle[i, 0] * side
        f1 += rolling[i, 1] * push + axle[i, 1] * side
        f2 += rolling[i, 2] * push + axle[i, 2] * side - pivot
    force[0], force[1], force[2] = f0, f1, f2
    return power, loss


@inlined
def solve_mass(mass, force, accel):
    """Solve ``M ν̇ = F`` by LDLᵀ; a platform with a mass needs no check of pivots."""
    p0 = mass[0, 0]
    l1, l2 = mass[1, 0] / p0, mass[2, 0] / p0
    p1, r2 = mass[1, 1] - l1 * mass[1, 0], mass[2, 1] - l2 * mass[1, 0]
    l3 = r2 / p1
    y1 = force[1] - l1 * force[0]
    accel[2] = (force[2] - l2 * force[0] - l3 * y1) / (mass[2, 2] - l2 * mass[2, 0] - l3 * r2)
    accel[1] = y1 / p1 - l3 * accel[2]
    accel[0] = force[0] / p0 - l1 * accel[1] - l2 * accel[2]


@inlined
def forward(geometry, inertia, platform, losses, rolling, axle, twist, torque, wrench,
            mass, bias, force, accel):
    """Write ν̇ = M⁻¹(F − G) into `accel` (3,); return the powers of `applied_force`."""
    mass_and_bias(geometry, inertia, platform, rolling, axle, twist, mass, bias)
    power, loss = applied_force(geometry, losses, rolling, axle, twist, torque, wrench, force)
    for j in range(3):
        force[j] -= bias[j]
    solve_mass(mass, force, accel)
    return power, loss


@kernel
def forwards(geometry, inertia, platform, losses, steering, twist, torque, wrench,
             accel):
    """Write ν̇ of a batch: `steering`, `torque` (B, n), `twist`, `wrench`, `accel` (B, 3)."""
    n = len(geometry)
    rolling, axle = np.empty((n, 3)), np.empty((n, 3))
    mass, bias, force = np.empty((3, 3)), np.empty(3), np.empty(3)
    for b in range(len(steering)):
        _rows(geometry, steering[b], rolling, axle)
        forward(geometry, inertia, platform, losses, rolling, axle, twist[b], torque[b], wrench[b],
                mass, bias, force, accel[b])
