# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled integration of the reduced equations of motion: classical Runge-Kutta."""

from __future__ import annotations

from c3p_dynamics._caster_equations import (
    ALONG,
    ALONGS,
    ANGLE,
    DRIVE,
    PER_RADIUS,
    RATE,
    RATES,
    START,
    TURN,
    equations,
    load,
    parts_of,
    solved,
)
from c3p_kernels.compiled import COMPILED, inlined, kernel
from c3p_kernels.elementary import circle

if COMPILED:
    from c3p_dynamics._caster_few_kernels import march_few

# counts of casters that fit side by side in one register, with 0.6 of the time and the same bits
_FEW = (3, 4)


@inlined
def _stage(model, vx, vy, w, wx, wy, wz):
    """Return ν̇ and the power that friction takes."""
    mass, f0, f1, f2, loss = equations(model, vx, vy, w)
    a0, a1, a2 = solved(mass, f0 + wx, f1 + wy, f2 + wz)
    return a0, a1, a2, loss


@inlined
def _advance(casters, dt, weight):
    """Add the stage's rates to the step's; turn the casters by `dt` from where it began."""
    for i in range(len(casters)):
        casters[i, RATES] += weight * casters[i, RATE]
        casters[i, ALONGS] += weight * casters[i, ALONG]
        casters[i, ANGLE] = casters[i, START] + dt * casters[i, RATE]


@kernel
def runge_kutta(model, state, torque, wrench, dt, steps):
    """
    Advance `state` in place by `steps` classical steps of `dt` at constant inputs.

    ``[X, Y, φ, vx, vy, ω, θ_s…, θ_x…, work, dissipated]``; `wrench` (3,) acts at the origin of
    the platform, in its axes. Fourth order; work and dissipated energy are integrated alike.
    """
    n = len(parts_of(model).casters)
    load(model, state[6:6 + n], torque)
    if COMPILED and _FEW[0] <= n <= _FEW[1]:
        march_few(model, state, wrench[0], wrench[1], wrench[2], dt, steps)
    else:
        march(model, state, wrench[0], wrench[1], wrench[2], dt, steps)


@kernel
def advance(model, states, torques, wrenches, dt, steps, keep_out):
    """
    Advance robots one after the other by `steps` steps of `dt` under each of their torques.

    `states` (B, 8 + 2n) are overwritten; `torques` (B, N, m) and `wrenches` (B, 3) as in
    `runge_kutta`; what is reached under each row of torques goes to `keep_out` (B, N or 0,
    8 + 2n).
    """
    for b in range(len(states)):
        for row in range(torques.shape[1]):
            runge_kutta(model, states[b], torques[b, row], wrenches[b], dt, steps)
            if keep_out.shape[1] > 0:
                for j in range(states.shape[1]):
                    keep_out[b, row, j] = states[b, j]


@inlined
def march(model, state, wx, wy, wz, dt, steps):
    """Advance `state` by steps of a loaded model under a wrench."""
    casters = parts_of(model).casters
    n = len(casters)
    half = 0.5 * dt
    sixth = dt / 6.0
    for _ in range(steps):
        phi = state[2]
        vx = state[3]
        vy = state[4]
        w = state[5]
        for i in range(n):
            casters[i, START], casters[i, ANGLE] = state[6 + i], state[6 + i]
            casters[i, RATES] = 0.0
            casters[i, ALONGS] = 0.0
        # a: sum of ν̇, s: of ν, d: of the velocity on the floor, with the weights 1, 2, 2, 1
        c, s = circle(phi)
        a0, a1, a2, lost = _stage(model, vx, vy, w, wx, wy, wz)
        dx, dy = c * vx - s * vy, s * vx + c * vy
        sx = vx
        sy = vy
        sw = w
        _advance(casters, half, 1.0)
        # two stages in the middle of the step
        b0 = a0
        b1 = a1
        b2 = a2
        turn = w
        for stage in range(2):
            c, s = circle(phi + half * turn)
            ux = vx + half * b0
            uy = vy + half * b1
            turn = w + half * b2
            b0, b1, b2, more = _stage(model, ux, uy, turn, wx, wy, wz)
            a0 = a0 + 2.0 * b0
            a1 = a1 + 2.0 * b1
            a2 = a2 + 2.0 * b2
            lost = lost + 2.0 * more
            sx = sx + 2.0 * ux
            sy = sy + 2.0 * uy
            sw = sw + 2.0 * turn
            dx, dy = dx + 2.0 * (c * ux - s * uy), dy + 2.0 * (s * ux + c * uy)
            _advance(casters, half if stage == 0 else dt, 2.0)
        # and one at its end
        c, s = circle(phi + dt * turn)
        ux = vx + dt * b0
        uy = vy + dt * b1
        turn = w + dt * b2
        b0, b1, b2, more = _stage(model, ux, uy, turn, wx, wy, wz)
        _advance(casters, dt, 1.0)
        sx = sx + ux
        sy = sy + uy
        sw = sw + turn
        state[0] += sixth * (dx + c * ux - s * uy)
        state[1] += sixth * (dy + s * ux + c * uy)
        state[2] += sixth * sw
        state[3] += sixth * (a0 + b0)
        state[4] += sixth * (a1 + b1)
        state[5] += sixth * (a2 + b2)
        # power of the inputs: W·ν + Σ τ θ̇_x + τ_s θ̇_s
        gain = wx * sx + wy * sy + wz * sw
        for i in range(n):
            state[6 + i] += sixth * casters[i, RATES]
            state[6 + n + i] += sixth * casters[i, PER_RADIUS] * casters[i, ALONGS]
            gain += casters[i, DRIVE] * casters[i, ALONGS] + casters[i, TURN] * casters[i, RATES]
        state[6 + 2 * n] += sixth * gain
        state[7 + 2 * n] += sixth * (lost + more)
