# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled dynamics of the two-wheeled vehicle with a caster: no checks (see dynamics.py).

`numbers` is ``Agv.numbers``: ``[l, r, a, c, d, μ_vv, μ_ww, m_p a, μ_e, μ_a, κ]``. With the speed v
of the middle of the axle along j and the yaw rate w, the caster's pivot moves with
``s = cos ψ v + c sin ψ w`` along its wheel and ``u = sin ψ v − c cos ψ w`` across it.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kernels.compiled import kernel


@kernel
def mass_and_bias(numbers, caster, first, second, mass, bias):
    """Write I (2, 2) and the velocity forces (2,) of one state, in rates of the driven wheels."""
    l = numbers[0]
    r = numbers[1]
    lever = numbers[3]
    d = numbers[4]
    along = numbers[8]
    across = numbers[9]
    trail = numbers[10]
    c, s = math.cos(caster), math.sin(caster)
    v = -0.5 * r * (first + second)
    w = r / l * (first - second)
    # rows of the pivot's velocity along e₃'s rolling direction and along its axle
    f0 = c
    f1 = lever * s
    e0 = s
    e1 = -lever * c
    forward = f0 * v + f1 * w
    sideways = e0 * v + e1 * w
    turning = -sideways / d - w
    # inertia in (v, w)
    m00 = numbers[5] + along * f0 * f0 + across * e0 * e0
    m01 = along * f0 * f1 + across * e0 * e1
    m11 = numbers[6] + along * f1 * f1 + across * e1 * e1
    # d f/dψ = −e, d e/dψ = f; a fork's mass off the pivot adds κ
    push = -along * turning * sideways - trail * sideways * sideways
    pull = across * turning * forward + trail * forward * sideways
    g0 = f0 * push + e0 * pull - numbers[7] * w * w
    g1 = f1 * push + e1 * pull + numbers[7] * w * v
    # in rates of the wheels: v = −r/2 (1, 1), w = r/l (1, −1)
    p = -0.5 * r
    q = r / l
    mass[0, 0] = p * p * m00 + 2.0 * p * q * m01 + q * q * m11
    mass[0, 1] = p * p * m00 - q * q * m11
    mass[1, 0] = mass[0, 1]
    mass[1, 1] = p * p * m00 - 2.0 * p * q * m01 + q * q * m11
    bias[0] = p * g0 + q * g1
    bias[1] = p * g0 - q * g1
    return turning


@kernel
def masses_and_biases(numbers, caster, rates, mass, bias):
    """As `mass_and_bias`; leading axis is the batch."""
    for b in range(len(caster)):
        mass_and_bias(numbers, caster[b], rates[b, 0], rates[b, 1], mass[b], bias[b])


@kernel
def friction(numbers, viscous, caster, first, second, out):
    """Write the generalized viscous torques δ (2,) of the four joints, one state."""
    l = numbers[0]
    r = numbers[1]
    lever = numbers[3]
    d = numbers[4]
    c, s = math.cos(caster), math.sin(caster)
    p = -0.5 * r
    q = r / l
    # rates of wheel 3 and of the pivot of unit rates of wheels 1 and 2
    even = -p * c / r
    odd = -q * lever * s / r
    turn = -p * s / d
    yaw = q * (lever * c / d - 1.0)
    third = (even + odd) * first + (even - odd) * second
    pivot = (turn + yaw) * first + (turn - yaw) * second
    out[0] = -(viscous[0] * first + viscous[2] * (even + odd) * third
               + viscous[3] * (turn + yaw) * pivot)
    out[1] = -(viscous[1] * second + viscous[2] * (even - odd) * third
               + viscous[3] * (turn - yaw) * pivot)


@kernel
def frictions(numbers, viscous, caster, rates, out):
    """As `friction`; leading axis is the batch."""
    for b in range(len(caster)):
        friction(numbers, viscous, caster[b], rates[b, 0], rates[b, 1], out[b])


@kernel
def state_rate(numbers, viscous, state, torque, mass, bias, loss, out):
    """Write d/dt of (θ₁, θ₂, θ̇₁, θ̇₂, ψ); `mass` (2, 2), `bias`, `loss` (2,) are scratch."""
    first = state[2]
    second = state[3]
    turning = mass_and_bias(numbers, state[4], first, second, mass, bias)
    friction(numbers, viscous, state[4], first, second, loss)
    f0 = torque[0] + loss[0] - bias[0]
    f1 = torque[1] + loss[1] - bias[1]
    determinant = mass[0, 0] * mass[1, 1] - mass[0, 1] * mass[0, 1]
    out[0] = first
    out[1] = second
    out[2] = (mass[1, 1] * f0 - mass[0, 1] * f1) / determinant
    out[3] = (mass[0, 0] * f1 - mass[0, 1] * f0) / determinant
    out[4] = turning


@kernel
def circle_torques(numbers, viscous, drive, time, out):
    """
    Write the motor torques on a circle at each time (B,).

    `drive` is ``[R, T, B]`` and the six constants of ``circle.caster_constants``.
    """
    radius = drive[0]
    duration = drive[1]
    angle = drive[2]
    # rates of the wheels per rate of the sweep
    left = (-radius + 0.5 * numbers[0]) / numbers[1]
    right = (-radius - 0.5 * numbers[0]) / numbers[1]
    mass = np.empty((2, 2))
    bias = np.empty(2)
    loss = np.empty(2)
    for b in range(len(time)):
        s = min(max(time[b] / duration, 0.0), 1.0)
        rest = s * (1.0 - s)
        swept = angle * s * s * s * (10.0 - s * (15.0 - 6.0 * s))
        rate = angle * 30.0 * rest * rest / duration
        rise = angle * 60.0 * rest * (1.0 - 2.0 * s) / (duration * duration)
        decay = math.exp(-drive[3] * swept)
        caster = 2.0 * math.atan2(drive[4] + drive[5] * decay, drive[6] + drive[7] * decay)
        caster += drive[8]
        mass_and_bias(numbers, caster, left * rate, right * rate, mass, bias)
        friction(numbers, viscous, caster, left * rate, right * rate, loss)
        for i in range(2):
            out[b, i] = rise * (mass[i, 0] * left + mass[i, 1] * right) + bias[i] - loss[i]
