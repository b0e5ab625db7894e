# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled contact geometry: scalars in, tuples of scalars out, no arrays and no checks.

Wheel: ``f(u, v) = r(v) e_r(u) + h(v) ŷ``, ``e_r = (cos u, 0, −sin u)``. Ground: the graph
``(x, y, g(x, y))``. Numbers of a wheel:

kind       parameters
TORUS      R of the centre circle (0: a sphere), ρ of the tube        v is the angle in the tube
ELLIPSOID  a at the equator, b along the axle                         v is the parametric latitude
CYLINDER   outer radius, half width of the flat, radius of the edges  v is an arc length
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inlined
from c3p_kernels.elementary import circle

TORUS, ELLIPSOID, CYLINDER = range(3)


@inlined
def profile(kind, parameters, v):
    """Return ``(r, h, dr, dh, ddr, ddh)``: the section of a wheel and its derivatives by v."""
    if kind == CYLINDER:
        radius = parameters[0]
        flat = parameters[1]
        edge = parameters[2]
        if abs(v) <= flat:
            return radius, v, 0.0, 1.0, 0.0, 0.0
        side = 1.0 if v > 0.0 else -1.0
        angle = (abs(v) - flat) / edge
        c, s = math.cos(angle), math.sin(angle)
        return (radius - edge * (1.0 - c), side * (flat + edge * s), -side * s, c,
                -c / edge, -side * s / edge)
    c, s = circle(v)
    if kind == TORUS:
        tube = parameters[1]
        return parameters[0] + tube * c, tube * s, -tube * s, tube * c, -tube * c, -tube * s
    a = parameters[0]
    b = parameters[1]
    return a * c, b * s, -a * s, b * c, -a * c, -b * s


@inlined
def wheel_forms(r, dr, dh, ddr, ddh):
    """
    Return ``(m0, m1, k0, k1, t0)``: ``M = diag(m0, m1)``, ``K = diag(k0, k1)``, ``T = [t0, 0]``.

    The normal is ``(h' e_r − r' ŷ)/m1``, outward.
    """
    m1 = math.sqrt(dr * dr + dh * dh)
    return r, m1, dh / (m1 * r), (dr * ddh - dh * ddr) / (m1 * m1 * m1), -dr / (m1 * r)


@inlined
def ground_forms(gx, gy, gxx, gxy, gyy):
    """
    Return ``(a, m01, m11, k00, k01, k11, t0, t1)`` of the ground, whose chart is not orthogonal.

    ``M = [[a, m01], [0, m11]]``, ``K = [[k00, k01], [k01, k11]] = −M⁻ᵀ ∇∇g M⁻¹/W``,
    ``T = [t0, t1] = gy/(a² W) [gxx, gxy] M⁻¹`` with ``a² = 1 + gx²`` and ``W² = 1 + gx² + gy²``.
    """
    aa = 1.0 + gx * gx
    a = math.sqrt(aa)
    w = math.sqrt(aa + gy * gy)
    m01 = gx * gy / a
    m11 = w / a
    # M⁻¹ = [[p, s], [0, q]]
    p = 1.0 / a
    q = a / w
    s = -m01 * p * q
    xx = -gxx / w
    xy = -gxy / w
    yy = -gyy / w
    twist = -gy / aa
    return (a, m01, m11, p * p * xx, p * (s * xx + q * xy),
            s * (s * xx + 2.0 * q * xy) + q * q * yy,
            twist * xx * p, twist * (xx * s + xy * q))


@inlined
def turned(c, s, k00, k01, k11):
    """Return the entries 00, 01, 11 of ``K* = Rψ K Rψ``, ``Rψ = [[c, −s], [−s, −c]]``."""
    x0 = c * k00 - s * k01
    x1 = c * k01 - s * k11
    y0 = -s * k00 - c * k01
    y1 = -s * k01 - c * k11
    return c * x0 - s * x1, -s * x0 - c * x1, -s * y0 - c * y1


@inlined
def rates(wheel, ground, psi, turn, slip):
    """
    Return ``(u̇, v̇, ẋ, ẏ, ψ̇, margin)``: Montana's equations.

    `wheel` and `ground` are the tuples of `wheel_forms` and `ground_forms`, `psi` the cosine and
    sine of ψ. `turn`, ω, and `slip`, (vx, vy), are those of the wheel relative to the ground at
    the contact point, in contW. `margin` is the smaller eigenvalue of Kw + K* in 1/m: unless it is
    positive the contact is not unique and the rates mean nothing.
    """
    c, s = psi
    wx, wy, wz = turn
    vx, vy = slip
    m0, m1, k0, k1, t0 = wheel
    a, m01, m11, g00, g01, g11, tx, ty = ground
    n00, n01, n11 = turned(c, s, g00, g01, g11)
    e00 = k0 + n00
    e11 = k1 + n11
    det = e00 * e11 - n01 * n01
    difference = e00 - e11
    margin = 0.5 * (e00 + e11 - math.sqrt(difference * difference + 4.0 * n01 * n01))
    # along the wheel, in contW: (Kw + K*)⁻¹ [(−ωy, ωx) − K* v]
    b0 = -wy - n00 * vx - n01 * vy
    b1 = wx - n01 * vx - n11 * vy
    w0 = (e11 * b0 - n01 * b1) / det
    w1 = (e00 * b1 - n01 * b0) / det
    # along the ground the point moves faster by the slip: (Kw + K*)⁻¹ [(−ωy, ωx) + Kw v]
    p0 = w0 + vx
    p1 = w1 + vy
    q0 = c * p0 - s * p1
    q1 = -s * p0 - c * p1
    dy = q1 / m11
    return (w0 / m0, w1 / m1, (q0 - m01 * dy) / a, dy, wz + t0 * w0 + tx * q0 + ty * q1, margin)
