# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled motion of a caster robot in discrete time, with its derivatives, for looking ahead.

State ``x = [X, Y, φ, vx, vy, ω, θ_1 … θ_n]``: pose on the floor, twist in ``base_link``, steering;
input τ (n,), steps `dt` (N,) by the midpoint rule. `model` is that of ``packed_model`` in
_caster_equations.py. Nothing is allocated: the caller provides the work memory.
"""

from __future__ import annotations

import math

from c3p_dynamics._caster_derivative_kernels import forward_derivatives
from c3p_dynamics._caster_equations import ALONG, COS, RATE, SIN, forward
from c3p_kinematics.compiled import kernel


@kernel
def state_rate(model, x, torque, wrench, rate):
    """Write dx/dt into `rate`."""
    casters = model[2]
    n = len(casters)
    vx, vy, w = x[3], x[4], x[5]
    c, s = math.cos(x[2]), math.sin(x[2])
    rate[0], rate[1], rate[2] = c * vx - s * vy, s * vx + c * vy, w
    forward(model, x[6:6 + n], x[3:6], torque, wrench, rate[3:6])
    for i in range(n):
        rate[6 + i] = casters[i, RATE]


@kernel
def advance(model, x, torque, wrench, dt, rate, after):
    """Write the state one midpoint step of `dt` later into `after`."""
    size = len(x)
    state_rate(model, x, torque, wrench, rate)
    for j in range(size):
        after[j] = x[j] + 0.5 * dt * rate[j]
    state_rate(model, after, torque, wrench, rate)
    for j in range(size):
        after[j] = x[j] + dt * rate[j]


@kernel
def slopes(model, x, torque, wrench, accel, d_steering, d_twist, rate, fx, fu):
    """Write dx/dt into `rate` and its derivatives by x into `fx` and by τ into `fu` (rows 3-5)."""
    geometry, _, casters, _ = model
    n = len(geometry)
    forward_derivatives(model, x[6:6 + n], x[3:6], torque, wrench, accel, d_steering, d_twist, fu)
    vx, vy, w = x[3], x[4], x[5]
    c, s = math.cos(x[2]), math.sin(x[2])
    rate[0], rate[1], rate[2] = c * vx - s * vy, s * vx + c * vy, w
    fx[0, 2], fx[0, 3], fx[0, 4] = -rate[1], c, -s
    fx[1, 2], fx[1, 3], fx[1, 4] = rate[0], s, c
    fx[2, 5] = 1.0
    for j in range(3):
        rate[3 + j] = accel[j]
        for k in range(3):
            fx[3 + j, 3 + k] = d_twist[j, k]
        for i in range(n):
            fx[3 + j, 6 + i] = d_steering[j, i]
    for i in range(n):
        d, c, s = geometry[i, 2], casters[i, COS], casters[i, SIN]
        az = s * geometry[i, 0] - c * geometry[i, 1]
        rate[6 + i] = casters[i, RATE]
        fx[6 + i, 3], fx[6 + i, 4], fx[6 + i, 5] = -c / d, -s / d, -az / d - 1.0
        fx[6 + i, 6 + i] = -casters[i, ALONG] / d


@kernel
def linearise(model, x, torque, wrench, dt, work, a, b):
    """Write the derivatives of `advance` at (x, τ) by x into `a` and by τ into `b`."""
    accel, d_steering, d_twist, rate, probe, f1, g1, f2, g2 = work
    n, size = len(torque), len(x)
    slopes(model, x, torque, wrench, accel, d_steering, d_twist, rate, f1, g1)
    for j in range(size):
        probe[j] = x[j] + 0.5 * dt * rate[j]
    slopes(model, probe, torque, wrench, accel, d_steering, d_twist, rate, f2, g2)
    # A = I + dt F2 (I + dt/2 F1), B = dt (G2 + dt/2 F2 G1); nothing depends on X and Y
    h = 0.5 * dt
    for j in range(size):
        a[j, 0], a[j, 1] = 0.0, 0.0
        for k in range(2, size):
            total = f2[j, k]
            for i in range(2, size):
                total += h * f2[j, i] * f1[i, k]
            a[j, k] = dt * total
        for k in range(n):
            total = 0.0
            for i in range(3):
                total += f2[j, 3 + i] * g1[i, k]
            b[j, k] = dt * h * total
        a[j, j] += 1.0
    for j in range(3):
        for k in range(n):
            b[3 + j, k] += dt * g2[j, k]


@kernel
def roll_out(model, start, torques, wrench, dt, rate, states):
    """Write the states that `torques` give from `start`."""
    states[0] = start
    for k in range(len(torques)):
        advance(model, states[k], torques[k], wrench, dt[k], rate, states[k + 1])
