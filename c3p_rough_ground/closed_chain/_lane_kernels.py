# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled motion of LANES vehicles at once: fixed steps with projection, each with its own inputs.

The kernels of one vehicle, compiled for lanes (c3p_kernels/lanes.py); what branches on numbers
there is written out here without branches. Each lane has the bits of `_motion_kernels.drive`. A
lane in which that would do anything but step on, an event or a scan, is given up: the caller
drives it alone, from its start.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import borrowed, inlined, kernel
from c3p_kernels.lanes import (
    LANES,
    anywhere,
    as_lanes,
    lane,
    looked_up,
    where,
    whole,
    with_lane,
)
from c3p_kernels.orthonormal import RANK_TOLERANCE, TWICE, longest_row
from c3p_kernels.specialise import specialise
from c3p_rough_ground.closed_chain import _geometry_kernels as shapes
from c3p_rough_ground.closed_chain import _motion_kernels as motion
from c3p_rough_ground.closed_chain import _rate_kernels as rolling
from c3p_rough_ground.closed_chain._geometry_kernels import POSE, Work
from c3p_rough_ground.closed_chain._motion_kernels import LEAST_MARGIN, MOST_CORRECTIONS
from c3p_rough_ground.closed_chain._rate_kernels import LINE_TOLERANCE
from c3p_rough_ground.rolling_contact import _kernels as contacts
from c3p_rough_ground.terrain import _kernels as grounds
from c3p_rough_ground.terrain._kernels import (
    CIRCLE,
    COSINES,
    LARGEST_ANGLE,
    PART_1,
    PART_2,
    PARTS,
    PER_PART,
    ROUND,
)


@inlined
def sine_cosine(angle):
    """Return sine and cosine as `terrain._kernels`, nan where the library takes over there."""
    part = (angle * PER_PART + ROUND) - ROUND
    r = (angle - part * PART_1) - part * PART_2
    r = where(abs(angle) < LARGEST_ANGLE, r, math.nan)
    q = r * r
    s = r + r * q * (-1.0 / 6 + q * (1.0 / 120 - q * (1.0 / 5040)))
    versine = q * (0.5 + q * (-1.0 / 24 + q * (1.0 / 720)))
    near = whole(part)
    sine = looked_up(CIRCLE, near, PARTS - 1, 0)
    cosine = looked_up(CIRCLE, near, PARTS - 1, 1)
    return sine + (cosine * s - sine * versine), cosine - (sine * s + cosine * versine)


@inlined
def worse(worst, size):
    """Return the larger of two mismatches; one that is not finite is the largest."""
    return where(size <= worst, worst, size)


@inlined
def sharper(note, margin, i):
    """Note the margin of a wheel if it is the smallest, or not finite."""
    note[0] = where(margin >= note[0], note[0], margin)


@inlined
def rank_of(rank, square, sides):
    """Return the rank, −1 for contacts on one line."""
    return where(square > LINE_TOLERANCE * sides, rank, -1.0)


@inlined
def triangle(contact):
    """Return the three wheels."""
    return 0, 1, 2


@inlined
def further(contact, rows, first, second, third, e, f, n, square, i, at, j, w):
    """Do nothing: there are three wheels."""


@inlined
def torus(kind, parameters, v):
    """Return the section of a torus as `rolling_contact._kernels.profile`."""
    s, c = sine_cosine(v)
    tube = parameters[1]
    return parameters[0] + tube * c, tube * s, -tube * s, tube * c, -tube * c, -tube * s


def height_of(count, known):
    """Return the height of the ground for `count` lanes, with the kernels `known` for lanes."""
    cosines = specialise(grounds.cosines, known)
    scalar = grounds.height

    @inlined
    def height(kind, parameters, table, x, y):
        """Return height and derivatives: waves in lanes, any other ground lane by lane."""
        if kind == COSINES:
            return cosines(parameters, table, x, y)
        g = x
        gx = x
        gy = x
        gxx = x
        gxy = x
        gyy = x
        for k in range(count):
            a, b, c, d, e, f = scalar(kind, parameters, table, lane(x, k), lane(y, k))
            g = with_lane(g, k, a)
            gx = with_lane(gx, k, b)
            gy = with_lane(gy, k, c)
            gxx = with_lane(gxx, k, d)
            gxy = with_lane(gxy, k, e)
            gyy = with_lane(gyy, k, f)
        return g, gx, gy, gxx, gxy, gyy

    return height


_KNOWN = {grounds.sine_cosine: sine_cosine, shapes.worse: worse, rolling.sharper: sharper,
          rolling.rank_of: rank_of, rolling.triangle: triangle, rolling.further: further,
          contacts.profile: torus}
_KNOWN[grounds.height] = height_of(LANES, _KNOWN)


@inlined
def orthonormalise(rows, width):
    """Make the rows orthonormal as `_rate_kernels.orthonormalise`."""
    count = rows.shape[0]
    longest = longest_row(rows, width)
    rank = 0.0
    smallest = math.inf
    for i in range(count):
        square = 0.0
        for k in range(i):
            project_out(rows, i, k, width, 1.0)
        for j in range(width):
            square += rows[i, j] * rows[i, j]
        left = math.sqrt(square)
        again = ~(left > TWICE * longest) & ~(left <= RANK_TOLERANCE * longest)
        if i > 0 and anywhere(again):
            part = where(again, 1.0, 0.0)
            square = 0.0
            for k in range(i):
                project_out(rows, i, k, width, part)
            for j in range(width):
                square += rows[i, j] * rows[i, j]
            left = math.sqrt(square)
        good = left > RANK_TOLERANCE * longest
        rank = rank + where(good, 1.0, 0.0)
        smallest = where(good, min(smallest, left), smallest)
        scale = where(good, 1.0 / left, 0.0)
        for j in range(width + 1):
            rows[i, j] *= scale
    return rank, smallest / longest


@inlined
def project_out(rows, i, k, width, part):
    """Take `part` (0 or 1) of the direction of row k from row i."""
    dot = 0.0
    for j in range(width):
        dot += rows[i, j] * rows[k, j]
    dot *= part
    for j in range(width + 1):
        rows[i, j] -= dot * rows[k, j]


_KNOWN[rolling.orthonormalise] = orthonormalise


@inlined
def follow(contact, i, state, rise, roll, pitch, delta, at):
    """Write the change of a contact's coordinates; the margin of too sharp a ground is noted."""
    ax, ay, az, slip_x, slip_y = rolling.slipping(contact, i, state, rise, roll, pitch)
    return rolling.contact_rates(contact, i, ax, ay, az, slip_x, slip_y, delta, at)


_KNOWN[rolling.follow] = follow
_geometry = specialise(shapes.geometry, _KNOWN)
_correction = specialise(rolling.correction, _KNOWN)
_velocities = specialise(rolling.velocities, _KNOWN)


@kernel
def geometry(vehicle, ground, state, work):
    """`_geometry_kernels.geometry` for lanes."""
    return _geometry(vehicle, ground, state, work)


@kernel
def project(vehicle, ground, state, work, delta):
    """Close the chains; return what is left open, nan where a step met too sharp a ground."""
    left = geometry(vehicle, ground, state, work)
    valid = left >= 0.0
    active = valid
    for _ in range(MOST_CORRECTIONS):
        _correction(vehicle, state, work, delta)
        valid = valid & (work.note[0] > 0.0)
        for j in range(len(state)):
            delta[j] += state[j]
        motion.unit_quaternion(delta)
        for j in range(len(state)):
            state[j] = where(active, delta[j], state[j])
        left = geometry(vehicle, ground, state, work)
        active = active & valid & ~(left <= motion.tolerance_at(state))
        if not anywhere(active):
            break
    return where(valid, left, math.nan)


@inlined
def alone(vehicle, state, hollow):
    """Return where no wheel can touch the ground twice, as `_motion_kernels.alone`; all tori."""
    m = vehicle.tree.shape[0]
    lonely = state[0] == state[0]
    for i in range(vehicle.wheel.shape[0]):
        _, c = sine_cosine(state[POSE + m + 5 * i + 1])
        lonely = lonely & ((hollow - vehicle.profile[i, 1]) * c > vehicle.profile[i, 0])
    return lonely


@inlined
def allowed(settings, limits, wheels, state):
    """Return where all joints are within their limits and all wheels on the ground's patch."""
    m = limits.shape[0]
    good = state[0] == state[0]
    for j in range(m):
        angle = state[POSE + j]
        good = good & (limits[j, 0] <= angle) & (angle <= limits[j, 1])
    for i in range(wheels):
        x, y = state[POSE + m + 5 * i + 2], state[POSE + m + 5 * i + 3]
        good = good & (settings.from_x <= x) & (x <= settings.to_x)
        good = good & (settings.from_y <= y) & (y <= settings.to_y)
    return good


@inlined
def rate_at(vehicle, inputs, table, work, desired, k, s, state, out):
    """Write the rate of a state whose geometry is in the workspace; return the rank."""
    motion.requested(table, k, s, inputs.gain, state, desired)
    return _velocities(vehicle, state, desired, inputs.scale, work, out)


@kernel
def drive(vehicle, ground, plan, memory, tables, every, records, succeeded):
    """
    Run ``plan.periods`` periods from ``memory.state``; every `every`-th state goes to `records`.

    All arrays of `memory` have a last axis of LANES; `tables` (…, m, LANES) are the desired rates,
    in the place of those in `plan`. Writes 1 to `succeeded` (1, LANES) for lanes that reached the
    end, whose state is then in ``memory.state``, and 0 for the others.
    """
    vehicle = borrowed(vehicle)
    ground = borrowed(ground)
    plan = borrowed(plan)
    settings = plan.settings
    inputs = plan.inputs
    tableau = plan.tableau
    stage = as_lanes(memory.stage)
    state = as_lanes(memory.state)
    trial = as_lanes(memory.trial)
    rate = as_lanes(memory.rate)
    delta = as_lanes(memory.delta)
    desired = as_lanes(memory.desired)
    work = Work(as_lanes(memory.work.frame), as_lanes(memory.work.contact),
                as_lanes(memory.work.column), as_lanes(memory.work.rows),
                as_lanes(memory.work.normal), as_lanes(memory.work.note))
    table = as_lanes(tables)
    kept = as_lanes(records)
    end = as_lanes(succeeded)
    size = len(state)
    wheels = vehicle.wheel.shape[0]
    last = len(tableau.c)
    travelled = 0.0 * state[0]
    first_rank = 0.0 * state[0]
    good = state[0] == state[0]
    # the first state is checked without a step
    for reached in range(plan.periods + 1):
        k = max(reached - 1, 0)
        h = settings.period if reached else 0.0
        if reached:
            for i in range(1, last):
                motion.combine(tableau.a[i], i, stage, h, state, trial)
                geometry(vehicle, ground, trial, work)
                rate_at(vehicle, inputs, table, work, desired, k,
                        tableau.c[i] * h / settings.period, trial, stage[i])
        motion.combine(tableau.b, last, stage, h, state, trial)
        motion.unit_quaternion(trial)
        left = project(vehicle, ground, trial, work, delta)
        rank = rate_at(vehicle, inputs, table, work, desired, k, h / settings.period, trial, rate)
        if reached == 0:
            first_rank = rank
        path = travelled + h * motion.speed_of(rate, work.note, inputs.lengths)
        looked = path >= (settings.travel if reached else 0.0)
        travelled = where(looked, 0.0, path)
        good = (good & (left <= motion.tolerance_at(trial)) & (work.note[0] > LEAST_MARGIN)
                & (rank == first_rank) & (rank >= 0.0)
                & allowed(settings, inputs.limits, wheels, trial)
                & ~(looked & ~alone(vehicle, trial, settings.hollow)))
        end[0] = where(good, 1.0, 0.0)
        if not anywhere(good):
            return
        for j in range(size):
            state[j], stage[0, j] = trial[j], rate[j]
        if reached % every == 0:
            for j in range(size):
                kept[reached // every, j] = state[j]
