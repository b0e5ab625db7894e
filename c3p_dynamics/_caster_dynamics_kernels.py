# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled caster dynamics: plain arrays in, plain arrays out, no checks (see caster_dynamics.py).

`geometry` (n, 4), `inertia` (n, 3), `platform` (4,) and `losses` (n, 6) are packed as the
properties of CasterRobot of these names (`inertia` is `caster_inertia`) say. `rolling` and `axle`
(n, 3) are the rows ``Rx`` and ``Ra`` at the steering angles in question; who calls provides the
work memory, so that a sweep or an integration allocates once.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kinematics._caster_kernels import rows, solve3
from c3p_kinematics.compiled import inlined, kernel


@kernel
def mass_and_bias(geometry, inertia, platform, rolling, axle, twist, mass, bias):
    """Write M (3, 3) and G (3,) of ``M ν̇ + G = F``."""
    vx, vy, w = twist[0], twist[1], twist[2]
    m, cx, cy = platform[0], platform[2], platform[3]
    mass[0, 0], mass[0, 1], mass[0, 2] = m, 0.0, -m * cy
    mass[1, 1], mass[1, 2] = m, m * cx
    mass[2, 2] = platform[1] + m * (cx * cx + cy * cy)
    # acceleration of the origin in turning axes is ν̇ + ω×v; the centre of mass adds −ω² c
    bias[0] = m * (-w * vy - w * w * cx)
    bias[1] = m * (w * vx - w * w * cy)
    bias[2] = m * w * (cx * vx + cy * vy)
    for i in range(len(geometry)):
        ex, ey, ez = rolling[i, 0], rolling[i, 1], rolling[i, 2]
        ax, ay, az = axle[i, 0], axle[i, 1], axle[i, 2]
        along = ex * vx + ey * vy + ez * w
        across = ax * vx + ay * vy + az * w
        rate = -across / geometry[i, 2] - w
        me, ma, kappa = inertia[i, 0], inertia[i, 1], inertia[i, 2]
        mass[0, 0] += me * ex * ex + ma * ax * ax
        mass[0, 1] += me * ex * ey + ma * ax * ay
        mass[0, 2] += me * ex * ez + ma * ax * az
        mass[1, 1] += me * ey * ey + ma * ay * ay
        mass[1, 2] += me * ey * ez + ma * ay * az
        mass[2, 2] += me * ez * ez + ma * az * az
        ge = -me * rate * across - kappa * across * across
        ga = ma * rate * along + kappa * along * across
        bias[0] += ex * ge + ax * ga
        bias[1] += ey * ge + ay * ga
        bias[2] += ez * ge + az * ga
    mass[1, 0], mass[2, 0], mass[2, 1] = mass[0, 1], mass[0, 2], mass[1, 2]


@kernel
def masses_and_biases(geometry, inertia, platform, steering, twist, mass, bias):
    """Write M (B, 3, 3) and G (B, 3) of a batch of `steering` (B, n) and `twist` (B, 3)."""
    n = len(geometry)
    rolling, axle = np.empty((n, 3)), np.empty((n, 3))
    for b in range(len(steering)):
        rows(geometry, steering[b], rolling, axle)
        mass_and_bias(geometry, inertia, platform, rolling, axle, twist[b], mass[b], bias[b])


@kernel
def dry(coulomb, rate, smoothing):
    """Return the smoothed dry friction against `rate`; tanh is dear, so not for nothing."""
    return -coulomb * math.tanh(rate / smoothing) if coulomb > 0.0 else 0.0


@kernel
def applied_force(geometry, losses, rolling, axle, twist, torque, wrench, force):
    """
    Write ``W + J_xᵀ(τ + τ_rolling) + J_sᵀ τ_pivot + J_cᵀ τ_scrub`` into `force` (3,).

    Returns the power of `torque` and `wrench` together and the power that friction takes, W.
    """
    vx, vy, w = twist[0], twist[1], twist[2]
    force[0], force[1], force[2] = wrench[0], wrench[1], wrench[2]
    power, loss = wrench[0] * vx + wrench[1] * vy + wrench[2] * w, 0.0
    for i in range(len(geometry)):
        d, r, smoothing = geometry[i, 2], geometry[i, 3], losses[i, 5]
        wheel_rate = (rolling[i, 0] * vx + rolling[i, 1] * vy + rolling[i, 2] * w) / r
        contact_rate = -(axle[i, 0] * vx + axle[i, 1] * vy + axle[i, 2] * w) / d
        steering_rate = contact_rate - w
        roll = dry(losses[i, 3], wheel_rate, smoothing) - losses[i, 2] * wheel_rate
        pivot = dry(losses[i, 1], steering_rate, smoothing) - losses[i, 0] * steering_rate
        scrub = dry(losses[i, 4], contact_rate, smoothing)
        power += torque[i] * wheel_rate
        loss -= roll * wheel_rate + pivot * steering_rate + scrub * contact_rate
        push, side = (torque[i] + roll) / r, -(pivot + scrub) / d
        force[0] += rolling[i, 0] * push + axle[i, 0] * side
        force[1] += rolling[i, 1] * push + axle[i, 1] * side
        force[2] += rolling[i, 2] * push + axle[i, 2] * side - pivot
    return power, loss


@inlined
def solve_mass(mass, force, accel):
    """
    Solve ``M ν̇ = F`` by LDLᵀ; a platform with a mass needs no check of pivots.

    Without the branches of `solve3` the integration runs about twice as fast.
    """
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
        rows(geometry, steering[b], rolling, axle)
        forward(geometry, inertia, platform, losses, rolling, axle, twist[b], torque[b], wrench[b],
                mass, bias, force, accel[b])


@kernel
def share_damped(wheel, steer, driven, force, weight, torque):
    """
    Share F over wheel motors and virtual steering motors of weight 1/w; keep the former.

    Returns False, and leaves `torque`, when all motors together do not span the three freedoms
    (one wheel driven of two, a weight close to rounding).
    """
    normal, z = np.zeros((3, 3)), np.empty(3)
    for i in range(len(torque)):
        for j in range(3):
            for k in range(3):
                normal[j, k] += weight * steer[i, j] * steer[i, k]
                if driven[i]:
                    normal[j, k] += wheel[i, j] * wheel[i, k]
    if not solve3(normal, force, z) > 0.0:
        return False
    for i in range(len(torque)):
        if driven[i]:
            torque[i] += wheel[i, 0] * z[0] + wheel[i, 1] * z[1] + wheel[i, 2] * z[2]
    return True


@kernel
def share_least_norm(wheel, steer, driven, force, weight, tolerance, torque):
    """Share as `share_damped`, by singular values; what the motors cannot give is dropped."""
    n = len(torque)
    # not by normal equations: they lose sight of the rank long before `tolerance`
    stack = np.zeros((2 * n, 3))
    for i in range(n):
        for j in range(3):
            stack[n + i, j] = math.sqrt(weight) * steer[i, j]
            if driven[i]:
                stack[i, j] = wheel[i, j]
    left, value, right = np.linalg.svd(stack, False)
    for k in range(3):
        if value[k] > tolerance * value[0]:
            part = (right[k, 0] * force[0] + right[k, 1] * force[1] + right[k, 2] * force[2])
            for i in range(n):
                if driven[i]:
                    torque[i] += left[i, k] * part / value[k]


@kernel
def inverse(geometry, inertia, platform, driven, steering, twist, accel, weight,
            tolerance, torque):
    """Write the wheel torques of caster_dynamics.inverse_dynamics into `torque` (n,)."""
    n = len(geometry)
    mass, force = np.empty((3, 3)), np.empty(3)
    rolling, axle = np.empty((n, 3)), np.empty((n, 3))
    rows(geometry, steering, rolling, axle)
    mass_and_bias(geometry, inertia, platform, rolling, axle, twist, mass, force)
    for j in range(3):
        for k in range(3):
            force[j] += mass[j, k] * accel[k]
    for i in range(n):
        d, r = geometry[i, 2], geometry[i, 3]
        across, along_accel = 0.0, 0.0
        for j in range(3):
            across += axle[i, j] * twist[j]
            along_accel += rolling[i, j] * accel[j]
        # from here on the rows are J_x and J_s
        for j in range(3):
            rolling[i, j] /= r
            axle[i, j] /= -d
        axle[i, 2] -= 1.0
        # what a motor spends on its own rolling mass is its own: τ = r² μ_e θ̈_x
        torque[i] = 0.0
        if driven[i]:
            torque[i] = r * inertia[i, 0] * (along_accel + (across / d + twist[2]) * across)
            for j in range(3):
                force[j] -= rolling[i, j] * torque[i]
    # below `tolerance` the normal equations of the damped share would meet rounding
    if weight > tolerance and share_damped(rolling, axle, driven, force, weight, torque):
        return
    share_least_norm(rolling, axle, driven, force, weight, tolerance, torque)


@kernel
def inverses(geometry, inertia, platform, driven, steering, twist, accel, weight,
             tolerance, torque):
    """Write the wheel torques of a batch: `steering`, `torque` (B, n), `twist`, `accel` (B, 3)."""
    for b in range(len(steering)):
        inverse(geometry, inertia, platform, driven, steering[b], twist[b], accel[b], weight,
                tolerance, torque[b])


@inlined
def derivative(geometry, inertia, platform, losses, state, torque, wrench, work, rate):
    """
    Write d/dt of ``[X, Y, φ, vx, vy, ω, θ_s…, θ_x…, work, dissipated]`` into `rate`.

    `work` is the memory of `forward`: (rolling, axle, mass, bias, force).
    """
    n = len(geometry)
    rolling, axle, mass, bias, force = work
    twist = state[3:6]
    vx, vy, w = state[3], state[4], state[5]
    c, s = math.cos(state[2]), math.sin(state[2])
    rate[0], rate[1], rate[2] = c * vx - s * vy, s * vx + c * vy, w
    rows(geometry, state[6:6 + n], rolling, axle)
    power, loss = forward(geometry, inertia, platform, losses, rolling, axle, twist, torque,
                          wrench, mass, bias, force, rate[3:6])
    for i in range(n):
        across = axle[i, 0] * vx + axle[i, 1] * vy + axle[i, 2] * w
        along = rolling[i, 0] * vx + rolling[i, 1] * vy + rolling[i, 2] * w
        rate[6 + i] = -across / geometry[i, 2] - w
        rate[6 + n + i] = along / geometry[i, 3]
    rate[6 + 2 * n], rate[7 + 2 * n] = power, loss


@kernel
def runge_kutta(geometry, inertia, platform, losses, state, torque, wrench, dt, steps):
    """Advance `state` in place by `steps` classical steps of `dt` at constant inputs."""
    n, size = len(geometry), len(state)
    work = (np.empty((n, 3)), np.empty((n, 3)), np.empty((3, 3)), np.empty(3), np.empty(3))
    k1, k2, k3, k4 = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    probe = np.empty(size)
    for _ in range(steps):
        derivative(geometry, inertia, platform, losses, state, torque, wrench, work, k1)
        for j in range(size):
            probe[j] = state[j] + 0.5 * dt * k1[j]
        derivative(geometry, inertia, platform, losses, probe, torque, wrench, work, k2)
        for j in range(size):
            probe[j] = state[j] + 0.5 * dt * k2[j]
        derivative(geometry, inertia, platform, losses, probe, torque, wrench, work, k3)
        for j in range(size):
            probe[j] = state[j] + dt * k3[j]
        derivative(geometry, inertia, platform, losses, probe, torque, wrench, work, k4)
        for j in range(size):
            state[j] += dt / 6.0 * (k1[j] + 2.0 * k2[j] + 2.0 * k3[j] + k4[j])
