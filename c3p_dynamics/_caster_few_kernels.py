# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled integration of one robot with its casters side by side, with the bits of `march`.

A step of _caster_motion_kernels.py waits for itself: each operation needs the one before. Here
three or four casters are lanes of one register (c3p_kernels/lanes.py), and as θ_s of the next
stage needs the rates of this one, but not its accelerations, its sine and cosine are calculated
beside the friction. Sums over casters keep their order.
"""

from __future__ import annotations

import numpy as np

from c3p_dynamics import _caster_equations as equations
from c3p_dynamics._caster_equations import (
    ACROSS,
    AXLE,
    COLUMNS,
    DRIVE,
    KAPPA,
    PER_OFFSET,
    PER_RADIUS,
    PIVOT_DRY,
    PIVOT_VISCOUS,
    ROLL_DRY,
    ROLL_VISCOUS,
    ROLLING,
    SCRUB_DRY,
    STEEPNESS,
    SURPLUS,
    TURN,
    X,
    Y,
    parts_of,
    platform_force,
    solved,
)
from c3p_kernels import elementary
from c3p_kernels.compiled import inlined, kernel
from c3p_kernels.lanes import FEW, as_few, lane
from c3p_kernels.specialise import specialise

circle = specialise(elementary.circle, dict(elementary.IN_LANES))
tanh = specialise(elementary.tanh, dict(elementary.IN_LANES))
_projected = specialise(equations.projected, {})
_turning_part = specialise(equations.turning_part, {})
_inertia_force = specialise(equations.caster_inertia_force, {})


@inlined
def added(total, parts, n):
    """Return a sum with those of the casters, one after the other."""
    total = ((total + lane(parts, 0)) + lane(parts, 1)) + lane(parts, 2)
    return total + lane(parts, 3) if n > 3 else total


@inlined
def taken(total, parts, n):
    """Return a number less those of the casters, one after the other."""
    total = ((total - lane(parts, 0)) - lane(parts, 1)) - lane(parts, 2)
    return total - lane(parts, 3) if n > 3 else total


@inlined
def in_turn(total, less, first, second, n):
    """Return ``total − less + first + second`` of caster after caster."""
    for k in range(3):
        total = ((total - lane(less, k)) + lane(first, k)) + lane(second, k)
    return ((total - lane(less, 3)) + lane(first, 3)) + lane(second, 3) if n > 3 else total


@inlined
def speeds(one, c, s, vx, vy, w):
    """Return along, across and θ̇_s of the casters, from cosine and sine of θ_s."""
    along, across = _projected(c, s, one[X], one[Y], vx, vy, w)
    contact = -one[PER_OFFSET] * across
    return along, across, contact, contact - w


@inlined
def accelerations(one, model, direction, moving, twist, wrench):
    """
    Return ν̇ and the power that friction takes, as `equations` and `solved` have them.

    `direction` is cosine and sine of θ_s, `moving` what `speeds` returns, `one` the constants of
    all casters.
    """
    parts = parts_of(model)
    body = parts.body
    n = len(parts.casters)
    c, s = direction
    w = twist[2]
    along, across, contact, rate = moving
    x, y = one[X], one[Y]
    q, d01, d02, d12, d22 = _turning_part(one[SURPLUS], c, s, x, y)
    m00 = added(body[3], q, n)
    m01 = added(0.0, d01, n)
    m02 = added(body[4], d02, n)
    m11 = taken(body[5], q, n)
    m12 = added(body[6], d12, n)
    m22 = added(body[7], d22, n)
    g0, g1, g2 = platform_force(body, 0.0, twist, (0.0, 0.0, 0.0))
    own, rest, side = _inertia_force(one[ROLLING], one[AXLE], one[KAPPA], along, across, rate,
                                     0.0, 0.0)
    turn = one[TURN]
    loss = 0.0
    p = one[DRIVE] - own - rest
    q = -side - one[PER_OFFSET] * turn
    pivot = 0.0 * turn
    if parts.levels.shape[1] > 0:
        steepness = one[STEEPNESS]
        wheel = one[PER_RADIUS] * along
        roll = (one[ROLL_VISCOUS] * wheel
                + one[ROLL_DRY] * tanh(steepness * one[PER_RADIUS] * along))
        pivot = one[PIVOT_VISCOUS] * rate + one[PIVOT_DRY] * tanh(steepness * rate)
        scrub = one[SCRUB_DRY] * tanh(steepness * contact)
        loss = added(0.0, roll * wheel + pivot * rate + scrub * (rate + w), n)
        p = p - one[PER_RADIUS] * roll
        q = q + one[PER_OFFSET] * (pivot + scrub)
    fx, fy = c * q - s * p, c * p + s * q
    a0, a1, a2 = solved((m00, m01, m02, m11, m12, m22), added(-g0, fx, n) + wrench[0],
                        added(-g1, fy, n) + wrench[1],
                        in_turn(-g2, turn, pivot, x * fy - y * fx, n) + wrench[2])
    return a0, a1, a2, loss


@kernel
def march_few(model, state, wx, wy, wz, dt, steps):
    """Advance `state` by steps of a loaded model of three or four casters, as `march`."""
    casters = parts_of(model).casters
    n = len(casters)
    wrench = wx, wy, wz
    columns = np.empty((COLUMNS, FEW))
    angles = np.empty((1, FEW))
    turned = np.empty((1, FEW))
    for k in range(FEW):
        # a lane that is left over repeats the last caster
        i = min(k, n - 1)
        for j in range(ACROSS):
            columns[j, k] = casters[i, j]
        angles[0, k], turned[0, k] = state[6 + i], state[6 + n + i]
    one = as_few(columns)
    angle = as_few(angles)
    wheels = as_few(turned)
    half = 0.5 * dt
    sixth = dt / 6.0
    start = angle[0]
    spun = wheels[0]
    px = state[0]
    py = state[1]
    phi = state[2]
    vx = state[3]
    vy = state[4]
    w = state[5]
    work = state[6 + 2 * n]
    lost = state[7 + 2 * n]
    c, s = circle(start)
    for _ in range(steps):
        moving = speeds(one, c, s, vx, vy, w)
        rates = 0.0 + moving[3]
        alongs = 0.0 + moving[0]
        cn, sn = circle(start + half * moving[3])
        a0, a1, a2, loss = accelerations(one, model, (c, s), moving, (vx, vy, w), wrench)
        h, g = elementary.circle(phi)
        dx, dy = h * vx - g * vy, g * vx + h * vy
        sx = vx
        sy = vy
        sw = w
        # two stages in the middle of the step
        b0 = a0
        b1 = a1
        b2 = a2
        turn = w
        for stage in range(2):
            c, s = cn, sn
            h, g = elementary.circle(phi + half * turn)
            ux = vx + half * b0
            uy = vy + half * b1
            turn = w + half * b2
            moving = speeds(one, c, s, ux, uy, turn)
            rates = rates + 2.0 * moving[3]
            alongs = alongs + 2.0 * moving[0]
            cn, sn = circle(start + (half if stage == 0 else dt) * moving[3])
            b0, b1, b2, more = accelerations(one, model, (c, s), moving, (ux, uy, turn), wrench)
            a0 = a0 + 2.0 * b0
            a1 = a1 + 2.0 * b1
            a2 = a2 + 2.0 * b2
            loss = loss + 2.0 * more
            sx = sx + 2.0 * ux
            sy = sy + 2.0 * uy
            sw = sw + 2.0 * turn
            dx, dy = dx + 2.0 * (h * ux - g * uy), dy + 2.0 * (g * ux + h * uy)
        # and one at its end
        c, s = cn, sn
        h, g = elementary.circle(phi + dt * turn)
        ux = vx + dt * b0
        uy = vy + dt * b1
        turn = w + dt * b2
        moving = speeds(one, c, s, ux, uy, turn)
        rates = rates + moving[3]
        alongs = alongs + moving[0]
        start = start + sixth * rates
        cn, sn = circle(start)
        b0, b1, b2, more = accelerations(one, model, (c, s), moving, (ux, uy, turn), wrench)
        c, s = cn, sn
        sx = sx + ux
        sy = sy + uy
        sw = sw + turn
        px += sixth * (dx + h * ux - g * uy)
        py += sixth * (dy + g * ux + h * uy)
        phi += sixth * sw
        vx += sixth * (a0 + b0)
        vy += sixth * (a1 + b1)
        w += sixth * (a2 + b2)
        spun = spun + sixth * one[PER_RADIUS] * alongs
        # power of the inputs: W·ν + Σ τ θ̇_x + τ_s θ̇_s
        work += sixth * added(wx * sx + wy * sy + wz * sw,
                              one[DRIVE] * alongs + one[TURN] * rates, n)
        lost += sixth * (loss + more)
    angle[0] = start
    wheels[0] = spun
    state[0] = px
    state[1] = py
    state[2] = phi
    state[3] = vx
    state[4] = vy
    state[5] = w
    for i in range(n):
        state[6 + i], state[6 + n + i] = angles[0, i], turned[0, i]
    state[6 + 2 * n] = work
    state[7 + 2 * n] = lost
