# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled equations of motion of a robot on any mix of wheels: ``M q̈ = F + Σ Aᵀ λ``.

The speeds q̇ are the twist ν and the steering rates that no motion determines: one for each pivot
whose wheels are below it (d = 0). A wheel moves with three speeds, which are rows times q̇:

    s = S q̇   of its pivot along,   u = U q̇   across,   t = T q̇ = ω + θ̇_s   of its turning

T is −U/d for a caster, [0 0 1] for a fixed wheel, and [0 0 1 … 1 …] below a pivot. A point that is
c behind and β beside the pivot moves with s + β t along and u + c t across; since the wheel turns
with t, its accelerations have the parts t (u + c t) and −t (s + β t) more. So every body of the
robot is an inertia in a row ``S + k T``, ``U + k T`` or T, and `add` puts it into M and F; nothing
else is in the equations, and no kind of wheel has terms of its own.

`equations` is the one place where M and F are summed up. Rolling along is solved in them, with
``r θ̇_x = (S + b T) q̇``; that wheels without offset and fixed wheels do not slide across is not:

    A q̇ = (U + d T) q̇ = 0

`tyres` adds the law of the tyre for it, and wheel_dynamics.py its ideal limit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_dynamics._caster_equations import platform_force
from c3p_kernels.compiled import inlined, kernel
from c3p_kernels.dense import backward, cholesky
from c3p_kernels.dense import forward as downward
from c3p_kernels.elementary import circle, tanh

# columns of `wheels`: pivot, d, b, r; mass and trailing distance of the fork, inertia of fork and
# wheel in yaw, mass of the wheel, its spin inertia over r²; friction as CasterRobot.losses
(X, Y, OFFSET, LATERAL, RADIUS, FORK_MASS, FORK_COM, YAW, WHEEL_MASS, SPIN, PIVOT_VISCOUS,
 PIVOT_DRY, ROLL_VISCOUS, ROLL_DRY, SCRUB_DRY, SMOOTHING) = range(16)
# stiffness across and limit of the tyre
STIFFNESS, LIMIT = range(16, 18)
COLUMNS = 18

# rows of a wheel: S, U and T
ALONG, ACROSS, TURN = range(3)

# what turns a wheel, instead of the place of its own speed: the motion, or the platform
TRAILS = -1
FIXED = -2


class WheelModel(NamedTuple):
    """
    Numbers of a robot on any wheels.

    Attributes
    ----------
    body : (4,) array
        Mass of the platform, m cx, m cy, inertia about the origin.
    wheels : (n, 18) array
        A row per wheel with the columns above.
    turning : (n,) int array
        Place of the steering rate among the speeds q̇; TRAILS or FIXED where there is none.
    lead : float, s
        Time constant with which side slip ends, of the law of the tyres.
    """

    body: np.ndarray
    wheels: np.ndarray
    turning: np.ndarray
    lead: float


class WheelTerms(NamedTuple):
    """
    Terms of the equations of motion, for N speeds and n wheels.

    Attributes
    ----------
    mass : (N, N) array
        M, on and below its diagonal.
    force : (N,) array
        F: motors and friction less the centripetal forces.
    rows : (n, 3, N) array
        S, U and T of each wheel.
    speeds, drifts : (n, 3) array
        s, u, t; and what their derivatives have beyond the rows times q̈.
    """

    mass: np.ndarray
    force: np.ndarray
    rows: np.ndarray
    speeds: np.ndarray
    drifts: np.ndarray


@inlined
def add(mass, force, rows, part, k, axis, inertia, accel):
    """
    Add an inertia whose speed is the row ``rows[part] + k T``, and accelerates by `accel` more.

    `rows` (3, N) are those of one wheel, and `axis` the place of its own speed if positive. On and
    below the diagonal of M.
    """
    for i in range(4 if axis > 0 else 3):
        row = i if i < 3 else axis
        own = inertia * (rows[part, row] + k * rows[TURN, row])
        force[row] -= own * accel
        for j in range(i + 1):
            column = j if j < 3 else axis
            mass[row, column] += own * (rows[part, column] + k * rows[TURN, column])


@inlined
def pull(force, rows, part, k, axis, strength):
    """Add a force of `strength` along the row ``rows[part] + k T``."""
    for i in range(3):
        force[i] += strength * (rows[part, i] + k * rows[TURN, i])
    if axis > 0:
        force[axis] += strength * (rows[part, axis] + k * rows[TURN, axis])


@kernel
def _move(model, terms, steering, speeds):
    """Write the rows, speeds and drifts of all wheels."""
    wheels = model[1]
    turning = model[2]
    rows = terms[2]
    moved = terms[3]
    drifts = terms[4]
    rows[:] = 0.0
    for i in range(len(wheels)):
        x, y = wheels[i, X], wheels[i, Y]
        c, s = circle(steering[i])
        rows[i, ALONG, 0] = -s
        rows[i, ALONG, 1] = c
        rows[i, ALONG, 2] = s * y + c * x
        rows[i, ACROSS, 0] = c
        rows[i, ACROSS, 1] = s
        rows[i, ACROSS, 2] = s * x - c * y
        axis = turning[i]
        if axis == TRAILS:
            for j in range(3):
                rows[i, TURN, j] = -rows[i, ACROSS, j] / wheels[i, OFFSET]
        else:
            rows[i, TURN, 2] = 1.0
            if axis != FIXED:
                rows[i, TURN, axis] = 1.0
        for part in range(3):
            moved[i, part] = (rows[i, part, 0] * speeds[0] + rows[i, part, 1] * speeds[1]
                              + rows[i, part, 2] * speeds[2])
        if axis > 0:
            moved[i, TURN] += speeds[axis]
        # rows turn with the fork: dS/dθ = −U, dU/dθ = S
        rate = moved[i, 2] - speeds[2]
        drifts[i, 0] = -rate * moved[i, 1]
        drifts[i, 1] = rate * moved[i, 0]
        drifts[i, 2] = -drifts[i, 1] / wheels[i, OFFSET] if axis == TRAILS else 0.0


@kernel
def _place_platform(body, terms, speeds):
    """Write M and F of the platform without wheels."""
    mass = terms[0]
    force = terms[1]
    mass[:] = 0.0
    force[:] = 0.0
    mass[0, 0] = body[0]
    mass[1, 1] = body[0]
    mass[2, 2] = body[3]
    mass[2, 0] = -body[2]
    mass[2, 1] = body[1]
    g0, g1, g2 = platform_force(body, 0.0, (speeds[0], speeds[1], speeds[2]), (0.0, 0.0, 0.0))
    force[0] = -g0
    force[1] = -g1
    force[2] = -g2


@inlined
def friction(wheel, s, t, steering_rate):
    """Return the resisting torques of rolling, pivot and scrub of a row of `wheels`, and θ̇_x."""
    rate = (s + wheel[LATERAL] * t) / wheel[RADIUS]
    by = 1.0 / wheel[SMOOTHING]
    return (wheel[ROLL_VISCOUS] * rate + wheel[ROLL_DRY] * tanh(by * rate),
            wheel[PIVOT_VISCOUS] * steering_rate + wheel[PIVOT_DRY] * tanh(by * steering_rate),
            wheel[SCRUB_DRY] * tanh(by * t), rate)


@kernel
def equations(model, steering, speeds, torque, terms):
    """
    Write M and F of the motors `torque` (n,) or (2n,) with friction; return the power it takes.

    `model` and `terms` are the parts of a WheelModel and of WheelTerms.
    """
    wheels = model[1]
    turning = model[2]
    mass = terms[0]
    force = terms[1]
    moved = terms[3]
    drifts = terms[4]
    n = len(wheels)
    powered = len(torque) > n
    loss = 0.0
    _place_platform(model[0], terms, speeds)
    _move(model, terms, steering, speeds)
    for i in range(n):
        wheel = wheels[i]
        rows = terms[2][i]
        axis = turning[i]
        s, u, t = moved[i, ALONG], moved[i, ACROSS], moved[i, TURN]
        s_drift, u_drift, t_drift = drifts[i, ALONG], drifts[i, ACROSS], drifts[i, TURN]
        d, b, com = wheel[OFFSET], wheel[LATERAL], wheel[FORK_COM]
        # fork along and across, wheel along with its spin and across, and yaw of both
        fork = wheel[FORK_MASS]
        add(mass, force, rows, ALONG, 0.0, axis, fork, s_drift + t * (u + com * t))
        add(mass, force, rows, ACROSS, com, axis, fork, u_drift + com * t_drift - t * s)
        disc = wheel[WHEEL_MASS]
        rolling = s_drift + b * t_drift
        turned = disc / (disc + wheel[SPIN]) if disc > 0.0 else 0.0
        add(mass, force, rows, ALONG, b, axis, disc + wheel[SPIN],
            rolling + turned * t * (u + d * t))
        add(mass, force, rows, ACROSS, d, axis, disc, u_drift + d * t_drift - t * (s + b * t))
        add(mass, force, rows, TURN, 0.0, axis, wheel[YAW], t_drift)
        # motor and friction of the wheel push along it; those of the pivot act on θ̇_s = t − ω,
        # between fork and platform, and scrub on the turning over ground
        rate = t - speeds[2]
        roll, pivot, scrub, spin = friction(wheel, s, t, rate)
        loss += roll * spin + scrub * t
        pull(force, rows, ALONG, b, axis, (torque[i] - roll) / wheel[RADIUS])
        pull(force, rows, TURN, 0.0, axis, -scrub)
        if axis != FIXED:
            loss += pivot * rate
            steer = (torque[n + i] if powered else 0.0) - pivot
            pull(force, rows, TURN, 0.0, axis, steer)
            force[2] -= steer
    return loss


@kernel
def tyres(model, terms):
    """
    Add the tyres of wheels that do not trail; return the power that they take, and what they hold.

        F = −κ (σ + T dσ/dt),   κ = C/√(1 + (C σ/L)²),   σ = A q̇

    which is an inertia κ T in the row A that accelerates by σ/T more. What they hold,
    ``T (√(L² + (C σ)²) − L) L/C``, is the work of the second part.
    """
    wheels = model[1]
    lead = model[3]
    lost = 0.0
    held = 0.0
    for i in range(len(wheels)):
        stiffness = wheels[i, STIFFNESS]
        if model[2][i] == TRAILS:
            continue
        d = wheels[i, OFFSET]
        slip = terms[3][i, ACROSS] + d * terms[3][i, TURN]
        # in units of the limit
        ratio = stiffness * slip / wheels[i, LIMIT]
        root = np.sqrt(1.0 + ratio * ratio)
        secant = stiffness / root
        drift = terms[4][i, ACROSS] + d * terms[4][i, TURN]
        add(terms[0], terms[1], terms[2][i], ACROSS, d, model[2][i], secant * lead,
            drift + slip / lead)
        lost += secant * slip * slip
        # (√(1 + x²) − 1)/x² = 1/(1 + √(1 + x²)), which has no difference of equal numbers
        held += lead * stiffness * slip * slip / (1.0 + root)
    return lost, held


@kernel
def accelerate(terms, accel_out):
    """
    Write ``M⁻¹ F`` to `accel_out` (N,), and nan where a speed has no inertia; overwrites M.

    The factor takes the place of M, row by row.
    """
    mass = terms[0]
    n = len(accel_out)
    if cholesky(mass, mass, n) >= 0:
        accel_out[:] = np.nan
        return
    for i in range(n):
        accel_out[i] = terms[1][i]
    downward(mass, accel_out, n)
    backward(mass, accel_out, n)


@kernel
def equations_of_all(model, steering, speeds, torque, terms):
    """Write the WheelTerms of a batch, the first axis of all others than `model`, and all of M."""
    mass, force, rows, moved, drifts = terms
    for b in range(len(steering)):
        equations(model, steering[b], speeds[b], torque[b],
                  (mass[b], force[b], rows[b], moved[b], drifts[b]))
        for i in range(mass.shape[1]):
            for j in range(i):
                mass[b, j, i] = mass[b, i, j]
