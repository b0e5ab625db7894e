# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled integration of a robot on any wheels: classical Runge-Kutta, with the law of its tyres.

The state is ``[X, Y, φ, q̇…, θ_s…, θ_x…, work, dissipated]`` with N speeds q̇ and n wheels.
"""

from __future__ import annotations

import numpy as np

from c3p_dynamics._wheel_equations import FIXED, LATERAL, RADIUS, accelerate, equations, tyres
from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import circle


@kernel
def derivative(model, terms, state, torque, wrench, rate_out):
    """Write the derivative of `state` under torques and a `wrench` (3,) at the origin."""
    wheels = model[1]
    n = len(wheels)
    size = len(terms[1])
    speeds = state[3:3 + size]
    at = 3 + size
    lost = equations(model, state[at:at + n], speeds, torque, terms)
    slipped, _ = tyres(model, terms)
    for j in range(3):
        terms[1][j] += wrench[j]
    accelerate(terms, rate_out[3:3 + size])
    c, s = circle(state[2])
    rate_out[0] = c * speeds[0] - s * speeds[1]
    rate_out[1] = s * speeds[0] + c * speeds[1]
    rate_out[2] = speeds[2]
    # power of the inputs: W·ν + Σ τ θ̇_x + τ_s θ̇_s
    gain = wrench[0] * speeds[0] + wrench[1] * speeds[1] + wrench[2] * speeds[2]
    for i in range(n):
        turning = terms[3][i, 2]
        spin = (terms[3][i, 0] + wheels[i, LATERAL] * turning) / wheels[i, RADIUS]
        steer = 0.0 if model[2][i] == FIXED else turning - speeds[2]
        rate_out[at + i] = steer
        rate_out[at + n + i] = spin
        gain += torque[i] * spin
        if len(torque) > n:
            gain += torque[n + i] * steer
    rate_out[at + 2 * n] = gain
    rate_out[at + 2 * n + 1] = lost + slipped


@kernel
def march_wheels(model, terms, state, torque, wrench, dt, steps):
    """
    Advance `state` in place by `steps` classical steps of `dt` at constant inputs.

    Fourth order; work and dissipated energy are integrated alike. `terms` is work memory.
    """
    size = len(state)
    rate = np.empty(size)
    total = np.empty(size)
    stage = np.empty(size)
    for _ in range(steps):
        derivative(model, terms, state, torque, wrench, total)
        for part in range(3):
            length = dt if part == 2 else 0.5 * dt
            weight = 1.0 if part == 2 else 2.0
            before = total if part == 0 else rate
            for j in range(size):
                stage[j] = state[j] + length * before[j]
            derivative(model, terms, stage, torque, wrench, rate)
            for j in range(size):
                total[j] += weight * rate[j]
        for j in range(size):
            state[j] += dt / 6.0 * total[j]


@kernel
def energy_of(model, terms, steering, speeds, torque):
    """Return the kinetic energy, and with it what the law of the tyres holds."""
    equations(model, steering, speeds, torque, terms)
    kinetic = 0.0
    for i in range(len(speeds)):
        # M is given below its diagonal
        for j in range(i):
            kinetic += speeds[i] * terms[0][i, j] * speeds[j]
        kinetic += 0.5 * terms[0][i, i] * speeds[i]**2
    _, held = tyres(model, terms)
    return kinetic, held
