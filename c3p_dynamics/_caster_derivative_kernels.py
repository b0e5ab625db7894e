# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled forward dynamics with its derivatives, for controllers and fits that look ahead.

With R(θ_s, ν, τ, ν̇) = F − G − M ν̇ the motion is R = 0, so every derivative of ν̇ is
``M⁻¹ ∂R`` at fixed ν̇. A caster adds ``Rxᵀ P + Raᵀ Q − [0 0 1]ᵀ τ_pivot`` to R with

    P = (τ + τ_rolling)/r + μ_e (θ̇_s u − Rx ν̇) + κ u²
    Q = −(τ_pivot + τ_scrub)/d − μ_a (θ̇_s s + Ra ν̇) − κ s u

and ``dRx/dθ = −Ra``, ``dRa/dθ = Rx`` make ``ds/dθ = −u``, ``du/dθ = s``, ``dθ̇_s/dθ = −s/d``.
Packed arrays as in _caster_dynamics_kernels.py; nothing is allocated, outputs serve as memory.
"""

from __future__ import annotations

from c3p_dynamics._elementary import circle, level
from c3p_kinematics.compiled import inlined, kernel


@inlined
def _level(coulomb, smoothing, rate):
    """Return the share of the dry friction that acts."""
    return level(rate / smoothing) if coulomb > 0.0 else 0.0


@inlined
def _slope(viscous, coulomb, smoothing, level):
    """Return d(torque)/d(rate) of ``torque = −viscous rate − coulomb level``."""
    return -coulomb * (1.0 - level * level) / smoothing - viscous


@inlined
def _solved(q0, l1, l2, q1, l3, q2, f0, f1, f2):
    """Return M⁻¹ f by ``M = L D Lᵀ``: D⁻¹ = (q0, q1, q2), L below its ones (l1; l2, l3)."""
    y1 = f1 - l1 * f0
    z = q2 * (f2 - l2 * f0 - l3 * y1)
    y = q1 * y1 - l3 * z
    return q0 * f0 - l1 * y - l2 * z, y, z


@kernel
def forward_derivatives(geometry, inertia, platform, losses, steering, twist, torque, wrench,
                        accel, d_steering, d_twist, d_torque):
    """
    Write ν̇ into `accel` (3,) and its derivatives by θ_s (3, n), ν (3, 3) and τ (3, n).

    `wrench` (3,) pushes the platform at its origin, in its axes; ν̇ depends on it by M⁻¹.
    """
    n = len(geometry)
    vx, vy, w = twist[0], twist[1], twist[2]
    m, cx, cy = platform[0], platform[2], platform[3]
    m00, m01, m02, m11, m12 = m, 0.0, -m * cy, m, m * cx
    m22 = platform[1] + m * (cx * cx + cy * cy)
    f0 = wrench[0] + m * w * (vy + w * cx)
    f1 = wrench[1] - m * w * (vx - w * cy)
    f2 = wrench[2] - m * w * (cx * vx + cy * vy)
    for i in range(n):
        by_d, by_r = 1.0 / geometry[i, 2], 1.0 / geometry[i, 3]
        c, s = circle(steering[i])
        ez = s * geometry[i, 1] + c * geometry[i, 0]
        az = s * geometry[i, 0] - c * geometry[i, 1]
        along, across = c * vy - s * vx + ez * w, c * vx + s * vy + az * w
        contact = -across * by_d
        rate = contact - w
        me, ma, kappa = inertia[i, 0], inertia[i, 1], inertia[i, 2]
        wheel, smoothing = along * by_r, losses[i, 5]
        roll_level = _level(losses[i, 3], smoothing, wheel)
        pivot_level = _level(losses[i, 1], smoothing, rate)
        scrub_level = _level(losses[i, 4], smoothing, contact)
        # what was dear waits in the outputs for the second pass
        d_steering[0, i], d_steering[1, i] = c, s
        d_torque[0, i], d_torque[1, i], d_torque[2, i] = roll_level, pivot_level, scrub_level
        roll = -losses[i, 3] * roll_level - losses[i, 2] * wheel
        pivot = -losses[i, 1] * pivot_level - losses[i, 0] * rate
        scrub = -losses[i, 4] * scrub_level
        push = by_r * (torque[i] + roll) + me * rate * across + kappa * across * across
        side = -(pivot + scrub) * by_d - ma * rate * along - kappa * along * across
        f0 += c * side - s * push
        f1 += c * push + s * side
        f2 += ez * push + az * side - pivot
        m00 += me * s * s + ma * c * c
        m01 += (ma - me) * c * s
        m02 += ma * c * az - me * s * ez
        m11 += me * c * c + ma * s * s
        m12 += me * c * ez + ma * s * az
        m22 += me * ez * ez + ma * az * az
    q0 = 1.0 / m00
    l1, l2 = q0 * m01, q0 * m02
    q1, r2 = 1.0 / (m11 - l1 * m01), m12 - l2 * m01
    l3 = q1 * r2
    q2 = 1.0 / (m22 - l2 * m02 - l3 * r2)
    a0, a1, a2 = _solved(q0, l1, l2, q1, l3, q2, f0, f1, f2)
    accel[0], accel[1], accel[2] = a0, a1, a2
    # −∂G/∂ν of the platform alone
    b00, b01, b02 = 0.0, m * w, m * (vy + 2.0 * w * cx)
    b10, b11, b12 = -m * w, 0.0, m * (2.0 * w * cy - vx)
    b20, b21, b22 = -m * w * cx, -m * w * cy, -m * (cx * vx + cy * vy)
    for i in range(n):
        by_d, by_r = 1.0 / geometry[i, 2], 1.0 / geometry[i, 3]
        c, s = d_steering[0, i], d_steering[1, i]
        ez = s * geometry[i, 1] + c * geometry[i, 0]
        az = s * geometry[i, 0] - c * geometry[i, 1]
        along, across = c * vy - s * vx + ez * w, c * vx + s * vy + az * w
        contact = -across * by_d
        rate = contact - w
        along_accel = c * a1 - s * a0 + ez * a2
        across_accel = c * a0 + s * a1 + az * a2
        me, ma, kappa = inertia[i, 0], inertia[i, 1], inertia[i, 2]
        roll_level, pivot_level, scrub_level = d_torque[0, i], d_torque[1, i], d_torque[2, i]
        roll = -losses[i, 3] * roll_level - losses[i, 2] * along * by_r
        pivot = -losses[i, 1] * pivot_level - losses[i, 0] * rate
        scrub = -losses[i, 4] * scrub_level
        roll_slope = _slope(losses[i, 2], losses[i, 3], losses[i, 5], roll_level)
        pivot_slope = _slope(losses[i, 0], losses[i, 1], losses[i, 5], pivot_level)
        scrub_slope = _slope(0.0, losses[i, 4], losses[i, 5], scrub_level)
        push = (by_r * (torque[i] + roll) + me * (rate * across - along_accel)
                + kappa * across * across)
        side = (-(pivot + scrub) * by_d - ma * (rate * along + across_accel)
                - kappa * along * across)
        # partial derivatives of P and Q by s and u, θ̇_s = −u/d − ω included, then by ω alone
        push_s = roll_slope * by_r * by_r
        push_u = me * (rate + contact) + 2.0 * kappa * across
        push_w = -me * across
        side_s = -ma * rate - kappa * across
        side_u = (pivot_slope + scrub_slope) * by_d * by_d + (ma * by_d - kappa) * along
        side_w = pivot_slope * by_d + ma * along
        # Rx and Ra turn, s becomes −u and u becomes s, and so do the parts of the acceleration
        turn_p = side + along * push_u - across * push_s + me * across_accel
        turn_q = along * side_u - across * side_s - push - ma * along_accel
        d_steering[0, i], d_steering[1, i], d_steering[2, i] = _solved(
            q0, l1, l2, q1, l3, q2, c * turn_q - s * turn_p, c * turn_p + s * turn_q,
            ez * turn_p + az * turn_q + pivot_slope * along * by_d)
        d_torque[0, i], d_torque[1, i], d_torque[2, i] = _solved(
            q0, l1, l2, q1, l3, q2, -s * by_r, c * by_r, ez * by_r)
        # by ν: rows of P and Q, [Rx ∂s + Ra ∂u + z ∂ω], and the pivot on the platform
        p_x, q_x = c * push_u - s * push_s, c * side_u - s * side_s
        p_y, q_y = c * push_s + s * push_u, c * side_s + s * side_u
        p_w = ez * push_s + az * push_u + push_w
        q_w = ez * side_s + az * side_u + side_w
        b00 += c * q_x - s * p_x
        b01 += c * q_y - s * p_y
        b02 += c * q_w - s * p_w
        b10 += c * p_x + s * q_x
        b11 += c * p_y + s * q_y
        b12 += c * p_w + s * q_w
        b20 += ez * p_x + az * q_x + pivot_slope * c * by_d
        b21 += ez * p_y + az * q_y + pivot_slope * s * by_d
        b22 += ez * p_w + az * q_w + pivot_slope * (az * by_d + 1.0)
    d_twist[0, 0], d_twist[1, 0], d_twist[2, 0] = _solved(q0, l1, l2, q1, l3, q2, b00, b10, b20)
    d_twist[0, 1], d_twist[1, 1], d_twist[2, 1] = _solved(q0, l1, l2, q1, l3, q2, b01, b11, b21)
    d_twist[0, 2], d_twist[1, 2], d_twist[2, 2] = _solved(q0, l1, l2, q1, l3, q2, b02, b12, b22)
