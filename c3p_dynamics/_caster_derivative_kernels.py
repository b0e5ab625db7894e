# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled forward dynamics with its derivatives, for predictive controllers and allocation.

With R(θ_s, ν, τ, ν̇) = F − G − M ν̇ the motion is R = 0, so every derivative of ν̇ is
``M⁻¹ ∂R`` at fixed ν̇. A caster adds ``Rxᵀ P + Raᵀ Q − [0 0 1]ᵀ τ_pivot`` to R with

    P = (τ + τ_rolling)/r + μ_e (θ̇_s u − Rx ν̇) + κ u²
    Q = −(τ_pivot + τ_scrub)/d − μ_a (θ̇_s s + Ra ν̇) − κ s u

and ``dRx/dθ = −Ra``, ``dRa/dθ = Rx`` make ``ds/dθ = −u``, ``du/dθ = s``, ``dθ̇_s/dθ = −s/d``.
The acceleration is that of `equations` (_caster_equations.py); a second pass over the
casters adds the derivatives from the columns that it has left in the model.
"""

from __future__ import annotations

from c3p_dynamics._caster_equations import (
    ACROSS,
    ALONG,
    AXLE,
    COS,
    DRIVE,
    KAPPA,
    PER_OFFSET,
    PER_RADIUS,
    PIVOT_DRY,
    PIVOT_VISCOUS,
    RATE,
    ROLL_DRY,
    ROLL_VISCOUS,
    ROLLING,
    SCRUB_DRY,
    SIN,
    STEEPNESS,
    X,
    Y,
    caster_inertia_force,
    cofactors,
    equations,
    friction_torques,
    load,
    projected,
    times,
)
from c3p_kinematics.compiled import inlined, kernel


@inlined
def _slope(viscous, coulomb, steepness, level):
    """Return d(torque)/d(rate) of ``torque = −viscous rate − coulomb tanh(steepness rate)``."""
    return -coulomb * (1.0 - level * level) * steepness - viscous


@kernel
def forward_derivatives(model, steering, twist, torque, wrench, accel, d_steering, d_twist,
                        d_torque):
    """
    Write ν̇ into `accel` (3,) and its derivatives by θ_s (3, n), ν (3, 3) and τ (3, n).

    `wrench` (3,) pushes the platform at its origin, in its axes; ν̇ depends on it by M⁻¹.
    """
    _, body, casters, levels = model
    n, lots = len(casters), levels.shape[1]
    vx, vy, w = twist[0], twist[1], twist[2]
    load(model, steering, torque)
    m00, m01, m02, m11, m12, m22, f0, f1, f2, _ = equations(model, vx, vy, w)
    i00, i01, i02, i11, i12, i22, determinant = cofactors(m00, m01, m02, m11, m12, m22)
    by = 1.0 / determinant
    i00, i01, i02, i11, i12, i22 = by * i00, by * i01, by * i02, by * i11, by * i12, by * i22
    a0, a1, a2 = times(i00, i01, i02, i11, i12, i22, f0 + wrench[0], f1 + wrench[1],
                       f2 + wrench[2])
    accel[0], accel[1], accel[2] = a0, a1, a2
    # b: ∂R/∂ν, which begins with −∂G/∂ν of the platform alone
    m, mx, my = body[0], body[1], body[2]
    b00, b01, b02 = 0.0, m * w, m * vy + 2.0 * w * mx
    b10, b11, b12 = -m * w, 0.0, 2.0 * w * my - m * vx
    b20, b21, b22 = -w * mx, -w * my, -(mx * vx + my * vy)
    for i in range(n):
        by_d, by_r, x, y = (casters[i, PER_OFFSET], casters[i, PER_RADIUS], casters[i, X],
                            casters[i, Y])
        c, s = casters[i, COS], casters[i, SIN]
        along, across, rate = casters[i, ALONG], casters[i, ACROSS], casters[i, RATE]
        # yaw parts of the rows Rx and Ra
        ez, az = s * y + c * x, s * x - c * y
        along_accel, across_accel = projected(c, s, x, y, a0, a1, a2)
        me, ma, kappa = casters[i, ROLLING], casters[i, AXLE], casters[i, KAPPA]
        own, rest, reaction = caster_inertia_force(me, ma, kappa, along, across, rate, along_accel,
                                                   across_accel)
        push, side = casters[i, DRIVE] - own - rest, -reaction
        roll_slope = pivot_slope = scrub_slope = 0.0
        if lots > 0:
            roll, pivot, scrub, _ = friction_torques(casters, levels, i)
            push -= by_r * roll
            side += by_d * (pivot + scrub)
            steepness = casters[i, STEEPNESS]
            roll_slope = _slope(casters[i, ROLL_VISCOUS], casters[i, ROLL_DRY], steepness,
                                levels[1, i])
            pivot_slope = _slope(casters[i, PIVOT_VISCOUS], casters[i, PIVOT_DRY], steepness,
                                 levels[1, n + i])
            scrub_slope = _slope(0.0, casters[i, SCRUB_DRY], steepness, levels[1, 2 * n + i])
        # partial derivatives of P and Q by s and u, θ̇_s = −u/d − ω included, then by ω alone
        push_s = roll_slope * by_r * by_r
        push_u = me * (rate - by_d * across) + 2.0 * kappa * across
        push_w = -me * across
        side_s = -ma * rate - kappa * across
        side_u = (pivot_slope + scrub_slope) * by_d * by_d + (ma * by_d - kappa) * along
        side_w = pivot_slope * by_d + ma * along
        # by θ_s: Rx and Ra turn, s becomes −u and u becomes s, and so do the accelerations
        turn_p = side + along * push_u - across * push_s + me * across_accel
        turn_q = along * side_u - across * side_s - push - ma * along_accel
        d_steering[0, i], d_steering[1, i], d_steering[2, i] = times(
            i00, i01, i02, i11, i12, i22, c * turn_q - s * turn_p, c * turn_p + s * turn_q,
            ez * turn_p + az * turn_q + pivot_slope * along * by_d)
        # by τ: a force of 1/r along Rx
        d_torque[0, i], d_torque[1, i], d_torque[2, i] = times(
            i00, i01, i02, i11, i12, i22, -s * by_r, c * by_r, ez * by_r)
        # by ν: rows of P and Q, [Rx ∂s + Ra ∂u + z ∂ω], and the pivot's torque on the platform
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
    # columns of M⁻¹ ∂R/∂ν
    d_twist[0, 0], d_twist[1, 0], d_twist[2, 0] = times(i00, i01, i02, i11, i12, i22, b00, b10,
                                                        b20)
    d_twist[0, 1], d_twist[1, 1], d_twist[2, 1] = times(i00, i01, i02, i11, i12, i22, b01, b11,
                                                        b21)
    d_twist[0, 2], d_twist[1, 2], d_twist[2, 2] = times(i00, i01, i02, i11, i12, i22, b02, b12,
                                                        b22)
