# SPDX-License-Identifier: Apache-2.0
"""
Compiled caster dynamics: plain arrays in, plain arrays out, no checks (see caster_dynamics.py).

`geometry` (n, 4), `inertia` (n, 3), `platform` (4,) and `losses` (n, 6) are packed as the
properties of CasterRobot of these names (`inertia` is `caster_inertia`) say.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kinematics._caster_kernels import solve3
from c3p_kinematics.compiled import kernel


@kernel
def mass_and_bias(geometry, inertia, platform, steering, twist, mass, bias):  # noqa: ANN001, ANN201
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
    for i in range(len(steering)):
        c, s = math.cos(steering[i]), math.sin(steering[i])
        x, y, d = geometry[i, 0], geometry[i, 1], geometry[i, 2]
        ex, ey, ez = -s, c, s * y + c * x
        ax, ay, az = c, s, s * x - c * y
        along = ex * vx + ey * vy + ez * w
        across = ax * vx + ay * vy + az * w
        rate = -across / d - w
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
def wheel_losses(geometry, losses, i, along, across, yaw_rate):  # noqa: ANN001, ANN201
    """Return the torques of rolling, pivot and scrub friction on caster `i`, N·m."""
    smoothing = losses[i, 5]
    wheel_rate, contact_rate = along / geometry[i, 3], -across / geometry[i, 2]
    steering_rate = contact_rate - yaw_rate
    rolling = -losses[i, 2] * wheel_rate - losses[i, 3] * math.tanh(wheel_rate / smoothing)
    pivot = -losses[i, 0] * steering_rate - losses[i, 1] * math.tanh(steering_rate / smoothing)
    scrub = -losses[i, 4] * math.tanh(contact_rate / smoothing)
    return rolling, pivot, scrub


@kernel
def applied_force(geometry, losses, steering, twist, torque, force):  # noqa: ANN001, ANN201
    """Write ``J_xᵀ(τ + τ_rolling) + J_sᵀ τ_pivot + J_cᵀ τ_scrub`` into `force` (3,)."""
    force[:] = 0.0
    for i in range(len(steering)):
        c, s = math.cos(steering[i]), math.sin(steering[i])
        x, y, d, r = geometry[i, 0], geometry[i, 1], geometry[i, 2], geometry[i, 3]
        ez, az = s * y + c * x, s * x - c * y
        along = -s * twist[0] + c * twist[1] + ez * twist[2]
        across = c * twist[0] + s * twist[1] + az * twist[2]
        rolling, pivot, scrub = wheel_losses(geometry, losses, i, along, across, twist[2])
        push, side = (torque[i] + rolling) / r, -(pivot + scrub) / d
        force[0] += -s * push + c * side
        force[1] += c * push + s * side
        force[2] += ez * push + az * side - pivot


@kernel
def forward(geometry, inertia, platform, losses, steering, twist, torque, accel):  # noqa: ANN001, ANN201
    """Write ν̇ = M⁻¹(F − G) into `accel` (3,)."""
    mass, bias, force = np.empty((3, 3)), np.empty(3), np.empty(3)
    mass_and_bias(geometry, inertia, platform, steering, twist, mass, bias)
    applied_force(geometry, losses, steering, twist, torque, force)
    for j in range(3):
        force[j] -= bias[j]
    solve3(mass, force, accel)


@kernel
def share_damped(wheel, steer, driven, force, weight, torque):  # noqa: ANN001, ANN201
    """Share F over wheel motors and virtual steering motors of weight 1/w; keep the wheels' part."""
    normal, z = np.zeros((3, 3)), np.empty(3)
    for i in range(len(torque)):
        for j in range(3):
            for k in range(3):
                normal[j, k] += weight * steer[i, j] * steer[i, k]
                if driven[i]:
                    normal[j, k] += wheel[i, j] * wheel[i, k]
    solve3(normal, force, z)
    for i in range(len(torque)):
        if driven[i]:
            torque[i] += wheel[i, 0] * z[0] + wheel[i, 1] * z[1] + wheel[i, 2] * z[2]


@kernel
def share_least_norm(wheel, driven, force, tolerance, torque):  # noqa: ANN001, ANN201
    """Share F over the wheel motors by the pseudo-inverse; what they cannot give is dropped."""
    normal = np.zeros((3, 3))
    for i in range(len(torque)):
        if driven[i]:
            for j in range(3):
                for k in range(3):
                    normal[j, k] += wheel[i, j] * wheel[i, k]
    value, vector = np.linalg.eigh(normal)
    for k in range(3):
        if value[k] > tolerance * tolerance * value[2]:
            part = 0.0
            for j in range(3):
                part += vector[j, k] * force[j]
            for i in range(len(torque)):
                if driven[i]:
                    for j in range(3):
                        torque[i] += wheel[i, j] * vector[j, k] * part / value[k]


@kernel
def inverse(geometry, inertia, platform, driven, steering, twist, accel, weight,  # noqa: ANN001, ANN201
            tolerance, torque):
    """Write the wheel torques of caster_dynamics.inverse_dynamics into `torque` (n,)."""
    n = len(steering)
    mass, force = np.empty((3, 3)), np.empty(3)
    mass_and_bias(geometry, inertia, platform, steering, twist, mass, force)
    for j in range(3):
        for k in range(3):
            force[j] += mass[j, k] * accel[k]
    wheel, steer = np.empty((n, 3)), np.empty((n, 3))
    for i in range(n):
        c, s = math.cos(steering[i]), math.sin(steering[i])
        x, y, d, r = geometry[i, 0], geometry[i, 1], geometry[i, 2], geometry[i, 3]
        ex, ey, ez = -s, c, s * y + c * x
        wheel[i, 0], wheel[i, 1], wheel[i, 2] = ex / r, ey / r, ez / r
        steer[i, 0], steer[i, 1], steer[i, 2] = -c / d, -s / d, (c * y - s * x) / d - 1.0
        across = c * twist[0] + s * twist[1] + (s * x - c * y) * twist[2]
        # what a motor spends on its own rolling mass is its own: τ = r² μ_e θ̈_x
        torque[i] = 0.0
        if driven[i]:
            along_accel = (ex * accel[0] + ey * accel[1] + ez * accel[2]
                           + (across / d + twist[2]) * across)
            torque[i] = r * inertia[i, 0] * along_accel
            for j in range(3):
                force[j] -= wheel[i, j] * torque[i]
    if weight > 0.0:
        share_damped(wheel, steer, driven, force, weight, torque)
    else:
        share_least_norm(wheel, driven, force, tolerance, torque)


@kernel
def derivative(geometry, inertia, platform, losses, state, torque, rate):  # noqa: ANN001, ANN201
    """Write d/dt of ``[X, Y, φ, vx, vy, ω, θ_s…, θ_x…]`` into `rate`."""
    n = len(torque)
    twist, steering = state[3:6], state[6:6 + n]
    c, s = math.cos(state[2]), math.sin(state[2])
    rate[0] = c * twist[0] - s * twist[1]
    rate[1] = s * twist[0] + c * twist[1]
    rate[2] = twist[2]
    forward(geometry, inertia, platform, losses, steering, twist, torque, rate[3:6])
    for i in range(n):
        c, s = math.cos(steering[i]), math.sin(steering[i])
        px, py = twist[0] - twist[2] * geometry[i, 1], twist[1] + twist[2] * geometry[i, 0]
        rate[6 + i] = -(c * px + s * py) / geometry[i, 2] - twist[2]
        rate[6 + n + i] = (c * py - s * px) / geometry[i, 3]


@kernel
def runge_kutta(geometry, inertia, platform, losses, state, torque, dt, steps):  # noqa: ANN001, ANN201
    """Advance `state` in place by `steps` classical fourth-order steps of `dt` at constant torque."""
    size = len(state)
    k1, k2, k3, k4 = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    probe = np.empty(size)
    for _ in range(steps):
        derivative(geometry, inertia, platform, losses, state, torque, k1)
        for j in range(size):
            probe[j] = state[j] + 0.5 * dt * k1[j]
        derivative(geometry, inertia, platform, losses, probe, torque, k2)
        for j in range(size):
            probe[j] = state[j] + 0.5 * dt * k2[j]
        derivative(geometry, inertia, platform, losses, probe, torque, k3)
        for j in range(size):
            probe[j] = state[j] + dt * k3[j]
        derivative(geometry, inertia, platform, losses, probe, torque, k4)
        for j in range(size):
            state[j] += dt / 6.0 * (k1[j] + 2.0 * k2[j] + 2.0 * k3[j] + k4[j])
