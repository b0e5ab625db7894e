# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled integration of the reduced equations of motion: `runge_kutta` and what it is made of.

The same equations as ``forward`` of _caster_dynamics_kernels.py, arranged for speed. Beside the
pivot velocity p = v + ω ẑ×m a caster acts with P along its wheel and Q along its axle, which is a
force at the pivot; and as eᵀe + aᵀa is the unit matrix, its inertia there is constant but for
(μ_e − μ_a) eᵀe. What does not change during a call is packed once. Friction levels of all casters
are taken in one loop of their own, which the compiler turns into vector instructions.
"""

from __future__ import annotations

import numpy as np

from c3p_dynamics._elementary import circle, level
from c3p_kinematics.compiled import inlined, kernel

# columns of the work memory, a row per caster: what stays during a call …
(_X, _Y, _PER_OFFSET, _PER_RADIUS, _ROLLING, _AXLE, _KAPPA, _SURPLUS, _DRIVE, _PIVOT_VISCOUS,
 _PIVOT_DRY, _ROLL_VISCOUS, _ROLL_DRY, _SCRUB_DRY, _STEEPNESS) = range(15)
# … what one step begins with, and what its four stages hand on and add up
_START, _ANGLE, _RATE, _RATES, _ALONGS, _COS, _SIN, _ALONG, _ACROSS = range(15, 24)
_COLUMNS = 24

# friction levels are taken in lots of this size, full registers of the widest vector units
_LOT = 8


@inlined
def _pack(geometry, inertia, platform, losses, torque, work):
    """Fill the constant columns of `work`; return the constant part of M, and 1 with friction."""
    m, cx, cy = platform[0], platform[2], platform[3]
    m00, m02, m11, m12 = m, -m * cy, m, m * cx
    m22 = platform[1] + m * (cx * cx + cy * cy)
    lossy = 0
    for i in range(len(geometry)):
        x, y = geometry[i, 0], geometry[i, 1]
        along, across = inertia[i, 0], inertia[i, 1]
        work[i, _X], work[i, _Y] = x, y
        work[i, _PER_OFFSET], work[i, _PER_RADIUS] = 1.0 / geometry[i, 2], 1.0 / geometry[i, 3]
        work[i, _ROLLING], work[i, _AXLE], work[i, _KAPPA] = along, across, inertia[i, 2]
        work[i, _SURPLUS], work[i, _DRIVE] = along - across, torque[i] / geometry[i, 3]
        for j in range(5):
            work[i, _PIVOT_VISCOUS + j] = losses[i, j]
            if losses[i, j] > 0.0:
                lossy = 1
        work[i, _STEEPNESS] = 1.0 / losses[i, 5]
        # μ_a everywhere, and the surplus along e, of which cos² = 1 − sin² leaves a constant
        m00 += across
        m02 -= across * y
        m11 += along
        m12 += along * x
        m22 += across * y * y + along * x * x
    return m00, m02, m11, m12, m22, lossy


@inlined
def _accelerations(work, levels, body, vx, vy, w, weight):
    """
    Return ν̇ and the power that friction takes, with the casters at `_ANGLE` of `work`.

    Writes the casters' steering rates and adds `weight` times what is integrated to its sums.
    """
    n, lots = len(work), levels.shape[1]
    m, mx, my, m00, m02, m11, m12, m22, wx, wy, wz = body
    m01, loss = 0.0, 0.0
    for i in range(n):
        x, y = work[i, _X], work[i, _Y]
        c, s = circle(work[i, _ANGLE])
        px, py = vx - w * y, vy + w * x
        along, across = c * py - s * px, c * px + s * py
        contact = -work[i, _PER_OFFSET] * across
        rate = contact - w
        work[i, _COS], work[i, _SIN], work[i, _ALONG], work[i, _ACROSS] = c, s, along, across
        work[i, _RATE] = rate
        work[i, _RATES] += weight * rate
        work[i, _ALONGS] += weight * along
        if lots > 0:
            steepness = work[i, _STEEPNESS]
            levels[0, i] = steepness * work[i, _PER_RADIUS] * along
            levels[0, n + i], levels[0, 2 * n + i] = steepness * rate, steepness * contact
        # the part of the inertia at the pivot that turns: [[q, t], [t, −q]]
        part = work[i, _SURPLUS] * s
        q, t = part * s, -part * c
        a, b = x * t - y * q, x * q + y * t
        m00 += q
        m01 += t
        m11 -= q
        m02 += a
        m12 -= b
        m22 -= y * a + x * b
    for j in range(lots):
        levels[1, j] = level(levels[0, j])
    # the platform's own centripetal forces, and the push from outside
    f0, f1 = wx + w * (m * vy + mx * w), wy - w * (m * vx - my * w)
    f2 = wz - w * (mx * vx + my * vy)
    for i in range(n):
        c, s, along, across = work[i, _COS], work[i, _SIN], work[i, _ALONG], work[i, _ACROSS]
        rate, kappa = work[i, _RATE], work[i, _KAPPA]
        push = work[i, _DRIVE] + across * (work[i, _ROLLING] * rate + kappa * across)
        side = -along * (work[i, _AXLE] * rate + kappa * across)
        if lots > 0:
            wheel = work[i, _PER_RADIUS] * along
            roll = work[i, _ROLL_VISCOUS] * wheel + work[i, _ROLL_DRY] * levels[1, i]
            pivot = work[i, _PIVOT_VISCOUS] * rate + work[i, _PIVOT_DRY] * levels[1, n + i]
            scrub = work[i, _SCRUB_DRY] * levels[1, 2 * n + i]
            loss += roll * wheel + pivot * rate + scrub * (rate + w)
            push -= work[i, _PER_RADIUS] * roll
            side += work[i, _PER_OFFSET] * (pivot + scrub)
            f2 += pivot
        fx, fy = c * side - s * push, c * push + s * side
        f0 += fx
        f1 += fy
        f2 += work[i, _X] * fy - work[i, _Y] * fx
    # by cofactors: one division, off the path from the forces to the acceleration
    c00, c01, c02 = m11 * m22 - m12 * m12, m12 * m02 - m01 * m22, m01 * m12 - m11 * m02
    c11, c12, c22 = m00 * m22 - m02 * m02, m01 * m02 - m00 * m12, m00 * m11 - m01 * m01
    by = 1.0 / (m00 * c00 + m01 * c01 + m02 * c02)
    return (by * (c00 * f0 + c01 * f1 + c02 * f2), by * (c01 * f0 + c11 * f1 + c12 * f2),
            by * (c02 * f0 + c12 * f1 + c22 * f2), loss)


@inlined
def _advance(work, dt):
    """Put the casters where their last rates bring them in `dt` from the start of the step."""
    for i in range(len(work)):
        work[i, _ANGLE] = work[i, _START] + dt * work[i, _RATE]


@kernel
def runge_kutta(geometry, inertia, platform, losses, state, torque, wrench, dt, steps):
    """
    Advance `state` in place by `steps` classical steps of `dt` at constant inputs.

    ``[X, Y, φ, vx, vy, ω, θ_s…, θ_x…, work, dissipated]``; `wrench` (3,) acts at the origin of
    the platform, in its axes. Fourth order; work and dissipated energy are integrated alike.
    """
    n = len(geometry)
    work = np.zeros((n, _COLUMNS))
    m00, m02, m11, m12, m22, lossy = _pack(geometry, inertia, platform, losses, torque, work)
    levels = np.zeros((2, lossy * _LOT * ((3 * n + _LOT - 1) // _LOT)))
    m, cx, cy = platform[0], platform[2], platform[3]
    body = (m, m * cx, m * cy, m00, m02, m11, m12, m22, wrench[0], wrench[1], wrench[2])
    half, sixth = 0.5 * dt, dt / 6.0
    for _ in range(steps):
        phi, vx, vy, w = state[2], state[3], state[4], state[5]
        for i in range(n):
            work[i, _START], work[i, _ANGLE] = state[6 + i], state[6 + i]
            work[i, _RATES], work[i, _ALONGS] = 0.0, 0.0
        c, s = circle(phi)
        a0, a1, a2, lost = _accelerations(work, levels, body, vx, vy, w, 1.0)
        dx, dy = c * vx - s * vy, s * vx + c * vy
        sx, sy, sw = vx, vy, w
        # two stages in the middle of the step
        b0, b1, b2, turn = a0, a1, a2, w
        for _ in range(2):
            c, s = circle(phi + half * turn)
            ux, uy, turn = vx + half * b0, vy + half * b1, w + half * b2
            _advance(work, half)
            b0, b1, b2, more = _accelerations(work, levels, body, ux, uy, turn, 2.0)
            a0, a1, a2, lost = a0 + 2.0 * b0, a1 + 2.0 * b1, a2 + 2.0 * b2, lost + 2.0 * more
            sx, sy, sw = sx + 2.0 * ux, sy + 2.0 * uy, sw + 2.0 * turn
            dx, dy = dx + 2.0 * (c * ux - s * uy), dy + 2.0 * (s * ux + c * uy)
        # and one at its end
        c, s = circle(phi + dt * turn)
        ux, uy, turn = vx + dt * b0, vy + dt * b1, w + dt * b2
        _advance(work, dt)
        b0, b1, b2, more = _accelerations(work, levels, body, ux, uy, turn, 1.0)
        sx, sy, sw = sx + ux, sy + uy, sw + turn
        state[0] += sixth * (dx + c * ux - s * uy)
        state[1] += sixth * (dy + s * ux + c * uy)
        state[2] += sixth * sw
        state[3] += sixth * (a0 + b0)
        state[4] += sixth * (a1 + b1)
        state[5] += sixth * (a2 + b2)
        gain = wrench[0] * sx + wrench[1] * sy + wrench[2] * sw
        for i in range(n):
            state[6 + i] += sixth * work[i, _RATES]
            state[6 + n + i] += sixth * work[i, _PER_RADIUS] * work[i, _ALONGS]
            gain += work[i, _DRIVE] * work[i, _ALONGS]
        state[6 + 2 * n] += sixth * gain
        state[7 + 2 * n] += sixth * (lost + more)
