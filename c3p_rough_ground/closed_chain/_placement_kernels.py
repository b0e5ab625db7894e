# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled search for a pose in which every wheel touches the ground, x, y, yaw and θ given.

First guess: the platform parallel to the plane through the ground under the wheel centres, each
wheel touching with the point whose normal opposes the ground's. Newton steps of the closure
follow. A wheel that is then inside the ground elsewhere touches there instead.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import borrowed, inlined, inner, kernel
from c3p_kernels.dense import orthonormalise
from c3p_rough_ground.closed_chain._geometry_kernels import (
    GX,
    GY,
    GZ,
    OFF,
    POSE,
    TWIST,
    WX,
    C,
    chains,
    dot,
    geometry,
    ground_side,
    platform_frame,
    wheel_side,
)
from c3p_rough_ground.closed_chain._motion_kernels import (
    LEAST_MARGIN,
    NOT_FINITE,
    NOTHING,
    OPEN,
    SECOND,
    SHARP,
    tolerance_at,
    unit_quaternion,
)
from c3p_rough_ground.closed_chain._rate_kernels import correction
from c3p_rough_ground.closed_chain._scan_kernels import scan
from c3p_rough_ground.closed_chain.chain_states import cut_memory
from c3p_rough_ground.rolling_contact._kernels import CYLINDER, ELLIPSOID, profile
from c3p_rough_ground.terrain._kernels import height

# iterations: platform onto the plane under its wheels, wheel point against the normal
LAYINGS = 3
LOOKS = 3
# limits of one Newton step: motion of a contact point per wheel radius, rotation of the platform
FAR = 0.5
TILT = 0.3
# changes of a contact to another place of the same wheel before it counts as a second contact
MOST_MOVES = 12


@inlined
def tread_at(kind, parameters, angle):
    """Return the v at which the normal makes `angle` with the radius, towards the axle's side."""
    if kind == CYLINDER:
        side = parameters[1] + parameters[2] * abs(angle)
        return side if angle > 0.0 else -side if angle < 0.0 else 0.0
    if kind == ELLIPSOID:
        return math.atan2(parameters[1] * math.sin(angle), parameters[0] * math.cos(angle))
    return angle


@inner
def meet(vehicle, ground, state, work, i, angle, v):
    """Make wheel i touch with its point at (u + α, v): write η from the position of that point."""
    m = vehicle.tree.shape[0]
    contact = work.contact
    spin = state[POSE + vehicle.chain[vehicle.wheel[i, 1] - 1, 1]]
    wheel_side(vehicle, i, work.frame, 0.0, angle, v, contact)
    ground_side(ground, contact[i, C], contact[i, C + 1], contact, i)
    along = dot(contact, GX, WX, i)
    across = dot(contact, GY, WX, i)
    at = POSE + m + 5 * i
    # the turn of u nearest to zero
    turns = (angle - spin) / (2.0 * math.pi)
    state[at] = 2.0 * math.pi * (turns - math.floor(turns + 0.5))
    state[at + 1], state[at + 2], state[at + 3] = v, contact[i, C], contact[i, C + 1]
    state[at + 4] = math.atan2(-across, along)


@inlined
def look(vehicle, ground, state, work, i):
    """Make wheel i touch with the point whose normal opposes that of the ground."""
    body = work.frame[vehicle.chain[vehicle.wheel[i, 1] - 1, 0] + 1]
    kind = vehicle.wheel[i, 2]
    lengths = vehicle.profile[i]
    ground_side(ground, body[9], body[10], work.contact, i)
    for _ in range(LOOKS):
        row = work.contact[i]
        nx = row[GZ]
        ny = row[GZ + 1]
        nz = row[GZ + 2]
        a = nx * body[0] + ny * body[1] + nz * body[2]
        b = nx * body[6] + ny * body[7] + nz * body[8]
        axle = nx * body[3] + ny * body[4] + nz * body[5]
        angle = math.atan2(-axle, math.sqrt(a * a + b * b))
        meet(vehicle, ground, state, work, i, math.atan2(b, -a), tread_at(kind, lengths, angle))


@inlined
def lay(vehicle, ground, state, work):
    """Move height, roll and pitch so that the wheel centres are a radius off the ground."""
    settling = work.normal.shape[1] - 4
    for i in range(vehicle.wheel.shape[0]):
        body = work.frame[vehicle.chain[vehicle.wheel[i, 1] - 1, 0] + 1]
        line = work.normal[i]
        g, gx, gy, _, _, _ = height(ground.kind, ground.parameters, ground.table, body[9],
                                    body[10])
        radius = profile(vehicle.wheel[i, 2], vehicle.profile[i], 0.0)[0]
        for k in range(settling):
            line[3 + k] = 0.0
        # dz and the two slopes of the platform: z of a centre changes by dz + pitch, roll × lever
        line[0], line[1], line[2] = 1.0, body[10] - state[1], state[0] - body[9]
        line[3 + settling] = g + radius * math.sqrt(1.0 + gx * gx + gy * gy) - body[11]
    # wheels beyond three cannot all be laid on a plane: the first three that differ decide
    orthonormalise(work.normal, 3 + settling)
    rise = 0.0
    roll = 0.0
    pitch = 0.0
    for i in range(vehicle.wheel.shape[0]):
        line = work.normal[i]
        rise += line[0] * line[3 + settling]
        roll += line[1] * line[3 + settling]
        pitch += line[2] * line[3 + settling]
    state[2] += rise
    # the equations are those of small angles; larger ones come in several passes
    k = 0.5 * min(1.0, 1.0 / max(1e-300, math.sqrt(roll * roll + pitch * pitch)))
    w = state[3]
    x = state[4]
    y = state[5]
    z = state[6]
    roll = k * roll
    pitch = k * pitch
    state[3] -= roll * x + pitch * y
    state[4] += roll * w + pitch * z
    state[5] += pitch * w - roll * z
    state[6] += roll * y - pitch * x
    unit_quaternion(state)


@inlined
def damping(vehicle, delta):
    """Return the fraction of a Newton step that keeps within the limits of one step."""
    m = vehicle.tree.shape[0]
    most = 1.0
    tilt = 2.0 * math.sqrt(delta[3] ** 2 + delta[4] ** 2 + delta[5] ** 2 + delta[6] ** 2)
    if tilt > TILT:
        most = TILT / tilt
    for i in range(vehicle.wheel.shape[0]):
        at = POSE + m + 5 * i
        radius = profile(vehicle.wheel[i, 2], vehicle.profile[i], 0.0)[0]
        moved = math.sqrt(delta[at + 2] ** 2 + delta[at + 3] ** 2)
        if moved * most > FAR * radius:
            most = FAR * radius / moved
    return most


@inlined
def worst_wheel(work):
    """Return the wheel whose two sides are the furthest apart."""
    worst = 0
    largest = -1.0
    for i in range(work.contact.shape[0]):
        size = 0.0
        for k in range(3):
            size += work.contact[i, OFF + k] ** 2 + work.contact[i, TWIST + k] ** 2
        if not size <= largest:
            worst = i
            largest = size
    return worst


@kernel
def settle(vehicle, ground, state, block, sizes, most):
    """
    Solve for the pose from a guess of it; the state's η is not used.

    `block` and `sizes` are those of a ChainMemory.

    Returns Newton steps, open closure, code and wheel of the failure, and a number: the margin or
    the depth.
    """
    vehicle = borrowed(vehicle)
    ground = borrowed(ground)
    state = borrowed(state)
    memory = cut_memory(block, sizes)
    work = memory.work
    # first guess: platform parallel to the ground, wheels touching against the normal
    for k in range(LAYINGS + 1):
        platform_frame(state, work.frame)
        chains(vehicle, state, work.frame)
        if k < LAYINGS:
            lay(vehicle, ground, state, work)
    for i in range(vehicle.wheel.shape[0]):
        look(vehicle, ground, state, work, i)
    # damped Newton steps; a closed pose with a wheel inside the ground moves that contact there
    moves = 0
    left = math.inf
    for steps in range(most):
        left = geometry(vehicle, ground, state, work)
        if not math.isfinite(left):
            return steps, left, NOT_FINITE, worst_wheel(work), left
        if left <= tolerance_at(state):
            inside = scan(vehicle, ground, work.frame, memory.grid, memory.found)
            if inside < 0:
                correction(vehicle, state, work, memory.delta)
                margin = work.note[0]
                wheel = int(work.note[1])
                code = NOTHING if margin > LEAST_MARGIN else SHARP
                return steps, left, code, wheel, margin
            moves += 1
            if moves > MOST_MOVES:
                return steps, left, SECOND, inside, memory.found[inside, 0]
            meet(vehicle, ground, state, work, inside, memory.found[inside, 1],
                 memory.found[inside, 2])
            left = geometry(vehicle, ground, state, work)
        correction(vehicle, state, work, memory.delta)
        part = damping(vehicle, memory.delta)
        for j in range(len(state)):
            state[j] += part * memory.delta[j]
        unit_quaternion(state)
    return most, left, OPEN, worst_wheel(work), left
