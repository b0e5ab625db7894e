# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Terms of ``M ν̇ + G = F`` of one platform and of one caster, compiled into every kernel.

Forward dynamics, their derivatives, integration and inverse dynamics are sums of these terms, so
that each equation is written once. A caster i with its pivot at (x, y) acts on the platform by a
force at the pivot: P along the rolling direction e = (−s, c) and Q along the axle a = (c, s), with
c, s the cosine and sine of θ_s. Its speeds are those of the pivot, p = v + ω ẑ×(x, y):

    along = e·p,   across = a·p,   θ̇_s = −across/d − ω
"""

from __future__ import annotations

from c3p_kinematics.compiled import inlined


@inlined
def platform_terms(platform):
    """Return m, m cx, m cy and the inertia about the origin, of ``CasterRobot.platform``."""
    m, cx, cy = platform[0], platform[2], platform[3]
    return m, m * cx, m * cy, platform[1] + m * (cx * cx + cy * cy)


@inlined
def platform_force(m, mx, my, inertia, vx, vy, w, ax, ay, aw):
    """
    Return the part of ``M ν̇ + G`` that belongs to the platform without casters.

    In turning axes the origin accelerates by ν̇ + ω×v, and the centre of mass by −ω² c more.
    """
    qx, qy = ax - w * vy, ay + w * vx
    return (m * qx - my * aw - mx * w * w, m * qy + mx * aw - my * w * w,
            mx * qy - my * qx + inertia * aw)


@inlined
def projected(c, s, x, y, vx, vy, w):
    """Return ``e·q, a·q`` of the pivot's q = (vx, vy) + w ẑ×(x, y): velocity or acceleration."""
    px, py = vx - w * y, vy + w * x
    return c * py - s * px, c * px + s * py


@inlined
def caster_inertia_force(rolling, axle, kappa, along, across, rate, along_accel, across_accel):
    """
    Return the forces that ``M ν̇ + G`` takes at a pivot: rolling mass, the rest of P, and Q.

        μ_e (e·q − θ̇_s across),   −κ across²,   μ_a (a·q + θ̇_s along) + κ along across

    The first is kept apart because the inverse dynamics gives it to the wheel's own motor.
    """
    return (rolling * (along_accel - rate * across), -kappa * across * across,
            axle * (across_accel + rate * along) + kappa * along * across)


@inlined
def turning_part(surplus, c, s, x, y):
    """
    Return what a matrix ``Σ α RxᵀRx + β RaᵀRa`` has beyond its value at θ_s = 0.

    With ``eᵀe + aᵀa = 1`` and surplus = α − β it is ``[[q, t], [t, −q]]`` at the pivot. Returned
    are its entries 00 (11 is the negative), 01, 02, 12 and 22 about the platform's origin.
    """
    part = surplus * s
    q, t = part * s, -part * c
    a, b = x * t - y * q, x * q + y * t
    return q, t, a, -b, -(y * a + x * b)


@inlined
def cofactors(m00, m01, m02, m11, m12, m22):
    """Return the upper triangle of the adjugate of a symmetric matrix, and its determinant."""
    c00, c01, c02 = m11 * m22 - m12 * m12, m12 * m02 - m01 * m22, m01 * m12 - m11 * m02
    return (c00, c01, c02, m00 * m22 - m02 * m02, m01 * m02 - m00 * m12, m00 * m11 - m01 * m01,
            m00 * c00 + m01 * c01 + m02 * c02)


@inlined
def times(m00, m01, m02, m11, m12, m22, x, y, z):
    """Return the product of a symmetric matrix, as its upper triangle, and a vector."""
    return m00 * x + m01 * y + m02 * z, m01 * x + m11 * y + m12 * z, m02 * x + m12 * y + m22 * z
