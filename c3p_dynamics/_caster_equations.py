# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled equations of motion of a caster robot: ``M ν̇ + G = F``, and the derivatives of ν̇.

A caster with its pivot at (x, y) acts on the platform by a force at the pivot: P along the rolling
direction e = (−s, c) and Q along the axle a = (c, s), with c, s the cosine and sine of θ_s. Its
speeds are those of the pivot, p = v + ω ẑ×(x, y):

    along = e·p,   across = a·p,   θ̇_s = −across/d − ω

`equations` is the one place where M and F − G are summed up. `forward`, `forward_derivatives`,
the integration (_caster_motion_kernels.py) and the batches (_caster_batch_kernels.py) call it; the
inverse dynamics (_caster_inverse_kernels.py) sum up the same terms for a given ν̇. The others work
on a `CasterModel`, which `packed_model` makes once per robot. A symmetric matrix is a tuple of its
upper triangle, 00 01 02 11 12 22.

With R(θ_s, ν, τ, ν̇) = F − G − M ν̇ the motion is R = 0, so every derivative of ν̇ is ``M⁻¹ ∂R`` at
fixed ν̇. A caster adds ``Rxᵀ P + Raᵀ Q − [0 0 1]ᵀ τ_pivot`` to R with

    P = (τ + τ_rolling)/r + μ_e (θ̇_s u − Rx ν̇) + κ u²
    Q = −(τ_pivot + τ_scrub)/d − μ_a (θ̇_s s + Ra ν̇) − κ s u

A steering motor adds its torque τ_s to τ_pivot: with that on the platform it is a force of −τ_s/d
along the axle at the contact point. Torques are a vector (n,) of the wheels, or (2n,) with those
of the steering axes behind.

and ``dRx/dθ = −Ra``, ``dRa/dθ = Rx`` make ``ds/dθ = −u``, ``du/dθ = s``, ``dθ̇_s/dθ = −s/d``. A
second pass over the casters adds them up from the columns that `equations` has left in the model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_description.model import CasterRobot
from c3p_kernels.compiled import borrowed, inlined, kernel
from c3p_kernels.elementary import circle, tanh

# constant columns of `casters`: pivot, 1/d, 1/r, μ_e, μ_a, κ, μ_e − μ_a, friction coefficients in
# the order of ``CasterRobot.losses``, and 1/smoothing …
(X, Y, PER_OFFSET, PER_RADIUS, ROLLING, AXLE, KAPPA, SURPLUS, PIVOT_VISCOUS, PIVOT_DRY,
 ROLL_VISCOUS, ROLL_DRY, SCRUB_DRY, STEEPNESS) = range(14)
# … what `equations` reads, θ_s, τ/r and τ_s, and what it leaves for derivatives and integration …
ANGLE, DRIVE, TURN, COS, SIN, ALONG, ACROSS, RATE = range(14, 22)
# … and the memory of a Runge-Kutta step
START, RATES, ALONGS = range(22, 25)
COLUMNS = 25

# dry friction is evaluated in lots of this size, full registers of the widest vector units
LOT = 8


class CasterModel(NamedTuple):
    """
    Numbers of a caster robot, and work memory: one model per thread.

    Attributes
    ----------
    geometry : (n, 7) array
        That of CasterRobot.
    body : (8,) array
        m, m cx, m cy of the platform; entries 00, 02, 11, 12 and 22 of M at θ_s = 0.
    casters : (n, 25) array
        A row per caster with the columns above; those after the constants are work memory.
    levels : (2, lots) array
        Dry friction of all casters, work memory: arguments above and tanh of them below. Without
        columns for a robot without friction.
    """

    geometry: np.ndarray
    body: np.ndarray
    casters: np.ndarray
    levels: np.ndarray


@inlined
def parts_of(model):
    """
    Return the parts of a model with their names.

    Python passes it to kernels as a plain tuple, which takes Numba 1 µs less than a named one.
    """
    return CasterModel(model[0], model[1], model[2], model[3])


@inlined
def platform_terms(platform):
    """Return m, m cx, m cy and the inertia about the origin, of ``CasterRobot.platform``."""
    m = platform[0]
    cx = platform[2]
    cy = platform[3]
    return m, m * cx, m * cy, platform[1] + m * (cx * cx + cy * cy)


@inlined
def platform_force(body, inertia, twist, accel):
    """
    Return the part of ``M ν̇ + G`` that belongs to the platform without casters.

    `body` begins with m, m cx and m cy; `twist` and `accel` are three numbers each. In turning
    axes the origin accelerates by ν̇ + ω×v, and the centre of mass by −ω² c more.
    """
    m = body[0]
    mx = body[1]
    my = body[2]
    vx, vy, w = twist
    ax, ay, aw = accel
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
    q = part * s
    t = -part * c
    a = x * t - y * q
    b = x * q + y * t
    return q, t, a, -b, -(y * a + x * b)


@inlined
def cofactors(matrix):
    """Return the adjugate of a symmetric matrix, and its determinant."""
    m00, m01, m02, m11, m12, m22 = matrix
    c00 = m11 * m22 - m12 * m12
    c01 = m12 * m02 - m01 * m22
    c02 = m01 * m12 - m11 * m02
    return ((c00, c01, c02, m00 * m22 - m02 * m02, m01 * m02 - m00 * m12, m00 * m11 - m01 * m01),
            m00 * c00 + m01 * c01 + m02 * c02)


@inlined
def times(matrix, x, y, z):
    """Return the product of a symmetric matrix and a vector."""
    m00, m01, m02, m11, m12, m22 = matrix
    return m00 * x + m01 * y + m02 * z, m01 * x + m11 * y + m12 * z, m02 * x + m12 * y + m22 * z


@kernel
def packed_model(geometry, inertia, platform, losses):
    """
    Return the parts of a CasterModel of a robot, at θ_s = τ = 0.

    The arguments are its properties of these names; `inertia` is `caster_inertia`.
    """
    n = len(geometry)
    body = np.empty(8)
    casters = np.zeros((n, COLUMNS))
    m, mx, my, about = platform_terms(platform)
    body[0] = m
    body[1] = mx
    body[2] = my
    m00 = m
    m02 = -my
    m11 = m
    m12 = mx
    m22 = about
    lossy = 0
    for i in range(n):
        x, y = geometry[i, 0], geometry[i, 1]
        along = inertia[i, 0]
        across = inertia[i, 1]
        casters[i, X] = x
        casters[i, Y] = y
        casters[i, PER_OFFSET], casters[i, PER_RADIUS] = 1.0 / geometry[i, 2], 1.0 / geometry[i, 3]
        casters[i, ROLLING], casters[i, AXLE], casters[i, KAPPA] = along, across, inertia[i, 2]
        casters[i, SURPLUS] = along - across
        for j in range(5):
            casters[i, PIVOT_VISCOUS + j] = losses[i, j]
            if losses[i, j] > 0.0:
                lossy = 1
        # only divided where friction may be: a robot without it may leave its smoothing at 0
        casters[i, STEEPNESS] = 1.0 / losses[i, 5] if losses[i, 5] > 0.0 else 0.0
        # value at θ_s = 0, where a wheel rolls along +Y: μ_a in X, μ_e in Y
        m00 += across
        m02 -= across * y
        m11 += along
        m12 += along * x
        m22 += across * y * y + along * x * x
    body[3] = m00
    body[4] = m02
    body[5] = m11
    body[6] = m12
    body[7] = m22
    # no friction, no lots: `equations` then leaves it out
    levels = np.zeros((2, lossy * LOT * ((3 * n + LOT - 1) // LOT)))
    return geometry, body, casters, levels


def numbers_of(robot: CasterRobot) -> tuple[np.ndarray, ...]:
    """Return the arguments of `packed_model` for a robot with its friction."""
    return robot.geometry, robot.caster_inertia, robot.platform, robot.losses


def caster_model(robot: CasterRobot) -> tuple[np.ndarray, ...]:
    """Return the parts of the CasterModel of a robot with its friction."""
    model: tuple[np.ndarray, ...] = packed_model(*numbers_of(robot))
    return model


@inlined
def friction_torques(casters, levels, i):
    """Return the resisting torques of rolling, pivot and scrub at caster i, and θ̇_x."""
    n = len(casters)
    rate = casters[i, RATE]
    wheel = casters[i, PER_RADIUS] * casters[i, ALONG]
    return (casters[i, ROLL_VISCOUS] * wheel + casters[i, ROLL_DRY] * levels[1, i],
            casters[i, PIVOT_VISCOUS] * rate + casters[i, PIVOT_DRY] * levels[1, n + i],
            casters[i, SCRUB_DRY] * levels[1, 2 * n + i], wheel)


@inlined
def equations(model, vx, vy, w):
    """
    Return M, F − G (3 numbers) and the power that friction takes.

    Reads the columns ANGLE to TURN, writes COS to RATE; a wrench is added to the force by the
    caller.
    """
    parts = parts_of(model)
    body = parts.body
    casters = parts.casters
    levels = parts.levels
    n = len(casters)
    lots = levels.shape[1]
    m00 = body[3]
    m01 = 0.0
    m02 = body[4]
    m11 = body[5]
    m12 = body[6]
    m22 = body[7]
    # first the speeds and M, and the arguments of dry friction
    for i in range(n):
        x, y = casters[i, X], casters[i, Y]
        c, s = circle(casters[i, ANGLE])
        along, across = projected(c, s, x, y, vx, vy, w)
        contact = -casters[i, PER_OFFSET] * across
        rate = contact - w
        casters[i, COS] = c
        casters[i, SIN] = s
        casters[i, ALONG] = along
        casters[i, ACROSS] = across
        casters[i, RATE] = rate
        if lots > 0:
            steepness = casters[i, STEEPNESS]
            levels[0, i] = steepness * casters[i, PER_RADIUS] * along
            levels[0, n + i] = steepness * rate
            levels[0, 2 * n + i] = steepness * contact
        q, d01, d02, d12, d22 = turning_part(casters[i, SURPLUS], c, s, x, y)
        m00 += q
        m01 += d01
        m11 -= q
        m02 += d02
        m12 += d12
        m22 += d22
    # all of them in a loop of their own, which the compiler turns into vector instructions
    for j in range(lots):
        levels[1, j] = tanh(levels[0, j])
    # then the forces: those of the platform's own motion, and P and Q of each caster
    g0, g1, g2 = platform_force(body, 0.0, (vx, vy, w), (0.0, 0.0, 0.0))
    f0 = -g0
    f1 = -g1
    f2 = -g2
    loss = 0.0
    for i in range(n):
        c, s, along, across = casters[i, COS], casters[i, SIN], casters[i, ALONG], casters[i,
                                                                                         ACROSS]
        rate = casters[i, RATE]
        own, rest, side = caster_inertia_force(casters[i, ROLLING], casters[i, AXLE],
                                               casters[i, KAPPA], along, across, rate, 0.0, 0.0)
        turn = casters[i, TURN]
        p = casters[i, DRIVE] - own - rest
        q = -side - casters[i, PER_OFFSET] * turn
        f2 -= turn
        if lots > 0:
            roll, pivot, scrub, wheel = friction_torques(casters, levels, i)
            loss += roll * wheel + pivot * rate + scrub * (rate + w)
            # pivot and scrub turn the caster about its contact, d behind the pivot; the pivot's
            # torque also acts on the platform directly
            p -= casters[i, PER_RADIUS] * roll
            q += casters[i, PER_OFFSET] * (pivot + scrub)
            f2 += pivot
        fx, fy = c * q - s * p, c * p + s * q
        f0 += fx
        f1 += fy
        f2 += casters[i, X] * fy - casters[i, Y] * fx
    return (m00, m01, m02, m11, m12, m22), f0, f1, f2, loss


@inlined
def load(model, steering, torque):
    """Put θ_s, τ/r and τ_s into the model; `torque` is (n,) or (2n,)."""
    casters = parts_of(model).casters
    n = len(casters)
    powered = len(torque) > n
    for i in range(n):
        casters[i, ANGLE], casters[i, DRIVE] = steering[i], casters[i, PER_RADIUS] * torque[i]
        casters[i, TURN] = torque[n + i] if powered else 0.0


@inlined
def solved(mass, f0, f1, f2):
    """Return M⁻¹ F by cofactors: one division; a platform with a mass needs no check of rank."""
    adjugate, determinant = cofactors(mass)
    by = 1.0 / determinant
    a0, a1, a2 = times(adjugate, f0, f1, f2)
    return by * a0, by * a1, by * a2


@inlined
def forward(model, steering, twist, torque, wrench, accel):
    """Write ν̇ = M⁻¹(F − G) into `accel` (3,); `wrench` (3,) acts at the origin, in its axes."""
    load(model, steering, torque)
    mass, f0, f1, f2, _ = equations(model, twist[0], twist[1], twist[2])
    accel[0], accel[1], accel[2] = solved(mass, f0 + wrench[0], f1 + wrench[1], f2 + wrench[2])


@kernel
def mass_times(model, steering, vector, product):
    """Write ``M(θ_s) v`` into `product` (3,)."""
    for i in range(len(steering)):
        parts_of(model).casters[i, ANGLE] = steering[i]
    mass, _, _, _, _ = equations(model, 0.0, 0.0, 0.0)
    product[0], product[1], product[2] = times(mass, vector[0], vector[1], vector[2])


@kernel
def terms(model, vx, vy, w, wx, wy, ww):
    """Return M and M⁻¹ and F − G at the columns ANGLE to TURN of `model`."""
    mass, f0, f1, f2, _ = equations(model, vx, vy, w)
    (c00, c01, c02, c11, c12, c22), determinant = cofactors(mass)
    return (mass,
            (c00 / determinant, c01 / determinant, c02 / determinant, c11 / determinant,
             c12 / determinant, c22 / determinant), (f0 + wx, f1 + wy, f2 + ww))


@inlined
def _slope(viscous, coulomb, steepness, level):
    """Return d(torque)/d(rate) of ``torque = −viscous rate − coulomb tanh(steepness rate)``."""
    return -coulomb * (1.0 - level * level) * steepness - viscous


@kernel
def forward_derivatives(model, steering, twist, torque, wrench, accel_out):
    """
    Write ν̇ (3,) and its derivatives by θ_s (3, n), ν (3, 3) and τ (3, n or 2n): four arrays.

    `wrench` (3,) pushes the platform at its origin, in its axes; ν̇ depends on it by M⁻¹.
    """
    accel, d_steering, d_twist, d_torque = borrowed(accel_out)
    parts = parts_of(model)
    body = parts.body
    casters = parts.casters
    levels = parts.levels
    n = len(casters)
    lots = levels.shape[1]
    powered = d_torque.shape[1] > len(casters)
    vx = twist[0]
    vy = twist[1]
    w = twist[2]
    load(model, steering, torque)
    mass, f0, f1, f2, _ = equations(model, vx, vy, w)
    (i00, i01, i02, i11, i12, i22), determinant = cofactors(mass)
    by = 1.0 / determinant
    inverse = by * i00, by * i01, by * i02, by * i11, by * i12, by * i22
    a0, a1, a2 = times(inverse, f0 + wrench[0], f1 + wrench[1], f2 + wrench[2])
    accel[0] = a0
    accel[1] = a1
    accel[2] = a2
    # b: ∂R/∂ν, which begins with −∂G/∂ν of the platform alone
    m = body[0]
    mx = body[1]
    my = body[2]
    b00 = 0.0
    b01 = m * w
    b02 = m * vy + 2.0 * w * mx
    b10 = -m * w
    b11 = 0.0
    b12 = 2.0 * w * my - m * vx
    b20 = -w * mx
    b21 = -w * my
    b22 = -(mx * vx + my * vy)
    for i in range(n):
        by_d = casters[i, PER_OFFSET]
        by_r = casters[i, PER_RADIUS]
        x = casters[i, X]
        y = casters[i, Y]
        c, s = casters[i, COS], casters[i, SIN]
        along = casters[i, ALONG]
        across = casters[i, ACROSS]
        rate = casters[i, RATE]
        # yaw parts of the rows Rx and Ra
        ez = s * y + c * x
        az = s * x - c * y
        along_accel, across_accel = projected(c, s, x, y, a0, a1, a2)
        me = casters[i, ROLLING]
        ma = casters[i, AXLE]
        kappa = casters[i, KAPPA]
        own, rest, reaction = caster_inertia_force(me, ma, kappa, along, across, rate, along_accel,
                                                   across_accel)
        push = casters[i, DRIVE] - own - rest
        side = -reaction - by_d * casters[i, TURN]
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
            inverse, c * turn_q - s * turn_p, c * turn_p + s * turn_q,
            ez * turn_p + az * turn_q + pivot_slope * along * by_d)
        # by τ: a force of 1/r along Rx
        d_torque[0, i], d_torque[1, i], d_torque[2, i] = times(
            inverse, -s * by_r, c * by_r, ez * by_r)
        # by τ_s: a force of −1/d along Ra, and −1 on the platform
        if powered:
            d_torque[0, n + i], d_torque[1, n + i], d_torque[2, n + i] = times(
                inverse, -c * by_d, -s * by_d, -az * by_d - 1.0)
        # by ν: rows of P and Q, [Rx ∂s + Ra ∂u + z ∂ω], and the pivot's torque on the platform
        p_x = c * push_u - s * push_s
        q_x = c * side_u - s * side_s
        p_y = c * push_s + s * push_u
        q_y = c * side_s + s * side_u
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
    d_twist[0, 0], d_twist[1, 0], d_twist[2, 0] = times(inverse, b00, b10, b20)
    d_twist[0, 1], d_twist[1, 1], d_twist[2, 1] = times(inverse, b01, b11, b21)
    d_twist[0, 2], d_twist[1, 2], d_twist[2, 2] = times(inverse, b02, b12, b22)
