# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled motion of one vehicle on three tori, its wheels side by side in lanes.

The kernels of _motion_kernels.py with other functions in the place of those that go from wheel to
wheel: here chains, contacts and their rates are calculated for all wheels at once
(c3p_kernels/lanes.py), the fourth lane repeating the third wheel. Sums over wheels keep their
order: the numbers have the same bits, except that an angle beyond `LARGEST_ANGLE` gives nan, after
which the caller drives anew without lanes.

`contact` (1, rows, FEW) has the columns of _geometry_kernels.py as rows, then SECTION (R and ρ),
OUT (η̇) and the frames: of the platform and of each link of the chains, which are equally long,
FRAME, AXIS (its axis in {G}), FIXED (to the body before) and WHICH (0, 1, 2: x, y, z).
"""

from __future__ import annotations

import numpy as np

from c3p_kernels.compiled import inlined, kernel
from c3p_kernels.lanes import FEW, anywhere, as_few, lane, side_by_side, where
from c3p_kernels.specialise import specialise
from c3p_rough_ground.closed_chain import _geometry_kernels as shapes
from c3p_rough_ground.closed_chain import _motion_kernels as motion
from c3p_rough_ground.closed_chain import _rate_kernels as rolling
from c3p_rough_ground.closed_chain._geometry_kernels import (
    GROUND,
    OWN,
    POSE,
    PSI,
    WIDTH,
    C,
    platform_frame,
)
from c3p_rough_ground.closed_chain._lane_kernels import (
    further,
    height_of,
    sine_cosine,
    torus,
    triangle,
)
from c3p_rough_ground.closed_chain.description import SPINNING, TURNING
from c3p_rough_ground.rolling_contact import _kernels as contacts
from c3p_rough_ground.rolling_contact._kernels import TORUS
from c3p_rough_ground.terrain import _kernels as grounds

# wheels
THREE = 3
SECTION = WIDTH
OUT = WIDTH + 2
PLATFORM = WIDTH + 7
FRAME = 0
AXIS = 12
FIXED = 15
WHICH = 27
LINK = 28


def fits(vehicle):
    """Return whether a packed vehicle is one for these kernels."""
    tree = vehicle.tree
    chain = vehicle.chain
    wheel = vehicle.wheel
    lengths = wheel[:, 1] - wheel[:, 0]
    if len(wheel) != THREE or np.any(wheel[:, 2] != TORUS) or np.any(lengths != lengths[0]):
        return False
    for first, last, _ in wheel:
        links = chain[first:last, 0]
        before = [0, *(links[:-1] + 1)]
        if tree[links, 1].tolist() != before or tree[links[-1], 3] != SPINNING:
            return False
        if np.any(tree[links[:-1], 3] != TURNING):
            return False
    return True


def memory_for(vehicle, memory):
    """Return the memory of these kernels for a packed vehicle in the place of that of `drive`."""
    links = vehicle.wheel[0, 1] - vehicle.wheel[0, 0]
    contact = whole_registers(1, PLATFORM + LINK * (links + 1))
    for k in range(FEW):
        i = min(k, THREE - 1)
        contact[0, SECTION:SECTION + 2, k] = vehicle.profile[i, :2]
        for p in range(links):
            j = vehicle.chain[vehicle.wheel[i, 0] + p, 0]
            at = PLATFORM + LINK * (p + 1)
            contact[0, at + FIXED:at + WHICH, k] = vehicle.fixed[j]
            contact[0, at + WHICH, k] = vehicle.tree[j, 2]
    work = memory.work._replace(contact=contact, column=whole_registers(links, 3))
    return memory._replace(work=work)


def whole_registers(*shape: int):
    """Return zeros for lanes, none of which crosses a line of the cache."""
    memory = np.zeros(FEW * int(np.prod(shape)) + FEW - 1)
    first = -memory.ctypes.data // memory.itemsize % FEW
    return memory[first:first + FEW * int(np.prod(shape))].reshape(*shape, FEW)


_KNOWN = {grounds.sine_cosine: sine_cosine, contacts.profile: torus}
# the lane that is left over has no height of its own
_KNOWN[grounds.height] = height_of(THREE, _KNOWN)
_wheel_point = specialise(shapes.wheel_point, _KNOWN)
_ground_side = specialise(shapes.ground_side, _KNOWN)
_mismatch = specialise(shapes.mismatch, _KNOWN)
_contact_rates = specialise(rolling.contact_rates, _KNOWN)
_slipping = specialise(rolling.slipping, _KNOWN)


@inlined
def of_contacts(vector, at):
    """Return every fifth number from `at`: the same coordinate of each contact."""
    return side_by_side(vector[at], vector[at + 5], vector[at + 10], vector[at + 10])


@inlined
def of_links(vehicle, vector, p):
    """Return the numbers of the joints at place p of each chain."""
    chain = vehicle.chain
    wheel = vehicle.wheel
    last = vector[POSE + chain[wheel[2, 0] + p, 1]]
    return side_by_side(vector[POSE + chain[wheel[0, 0] + p, 1]],
                        vector[POSE + chain[wheel[1, 0] + p, 1]], last, last)


@inlined
def tilted(vehicle, p):
    """Return whether any body at place p of the chains is fixed with a rotation."""
    tree = vehicle.tree
    chain = vehicle.chain
    wheel = vehicle.wheel
    return (tree[chain[wheel[0, 0] + p, 0], 4] != 0 or tree[chain[wheel[1, 0] + p, 0], 4] != 0
            or tree[chain[wheel[2, 0] + p, 0], 4] != 0)


@inlined
def chains(vehicle, state, platform, rows):
    """Write the frames of all links, as `_geometry_kernels.chains`, and their axes."""
    links = vehicle.wheel[0, 1] - vehicle.wheel[0, 0]
    for k in range(12):
        rows[0, PLATFORM + k] = platform[0, k]
    for p in range(links):
        b = PLATFORM + LINK * p
        r = PLATFORM + LINK * (p + 1)
        f = r + FIXED
        for k in range(3):
            rows[0, r + 9 + k] = (rows[0, b + 9 + k] + rows[0, b + k] * rows[0, f + 9]
                                  + rows[0, b + 3 + k] * rows[0, f + 10]
                                  + rows[0, b + 6 + k] * rows[0, f + 11])
        which = rows[0, r + WHICH]
        about_x, about_y = which == 0.0, which == 1.0
        turned = tilted(vehicle, p)
        moved = p + 1 < links
        s, c = sine_cosine(of_links(vehicle, state, p)) if moved else (which, which)
        for k in range(3):
            x = rows[0, b + k]
            y = rows[0, b + 3 + k]
            z = rows[0, b + 6 + k]
            if turned:
                x, y, z = (x * rows[0, f] + y * rows[0, f + 1] + z * rows[0, f + 2],
                           x * rows[0, f + 3] + y * rows[0, f + 4] + z * rows[0, f + 5],
                           x * rows[0, f + 6] + y * rows[0, f + 7] + z * rows[0, f + 8])
            rows[0, r + AXIS + k] = where(about_x, x, where(about_y, y, z))
            if moved:
                # about one axis the other two turn in their plane
                one = where(about_x, y, where(about_y, z, x))
                other = where(about_x, z, where(about_y, x, y))
                one, other = c * one + s * other, c * other - s * one
                x = where(about_x, x, where(about_y, other, one))
                y = where(about_x, one, where(about_y, y, other))
                z = where(about_x, other, where(about_y, one, z))
            rows[0, r + k] = x
            rows[0, r + 3 + k] = y
            rows[0, r + 6 + k] = z


@kernel
def geometry(vehicle, ground, state, work):
    """Write frames, contacts and mismatches; return the largest as `_geometry_kernels`."""
    rows = as_few(work.contact)
    frame = work.frame
    platform_frame(state, frame)
    chains(vehicle, state, frame, rows)
    links = vehicle.wheel[0, 1] - vehicle.wheel[0, 0]
    at = POSE + vehicle.tree.shape[0]
    spin = of_links(vehicle, state, links - 1)
    _wheel_point(TORUS, (rows[0, SECTION], rows[0, SECTION + 1]), rows, 0, PLATFORM + LINK * links,
                 spin + of_contacts(state, at), of_contacts(state, at + 1), rows, 0)
    _ground_side(ground, of_contacts(state, at + 2), of_contacts(state, at + 3), rows, 0)
    rows[0, PSI + 1], rows[0, PSI] = sine_cosine(of_contacts(state, at + 4))
    size = _mismatch(rows, 0)
    worst = 0.0
    for i in range(THREE):
        worst = shapes.worse(worst, lane(size, i))
    return worst


@inlined
def columns(vehicle, work):
    """Write the velocity of each contact point by a unit rate of each joint of its chain."""
    rows = as_few(work.contact)
    column = as_few(work.column)
    for p in range(column.shape[0]):
        r = PLATFORM + LINK * (p + 1)
        ax = rows[0, r + AXIS]
        ay = rows[0, r + AXIS + 1]
        az = rows[0, r + AXIS + 2]
        x = rows[0, C] - rows[0, r + 9]
        y = rows[0, C + 1] - rows[0, r + 10]
        z = rows[0, C + 2] - rows[0, r + 11]
        column[p, 0] = ay * z - az * y
        column[p, 1] = az * x - ax * z
        column[p, 2] = ax * y - ay * x


@inlined
def number(contact, i, at):
    """Return row `at` of contact i."""
    return contact[0, at, i]


@inlined
def part(vehicle, work, i, link, k):
    """Return component k of the velocity of contact i by a unit rate of a link of its chain."""
    return work.column[link - vehicle.wheel[i, 0], k, i]


@inlined
def wheel_motion(vehicle, rate, work):
    """Write OWN of each contact: the motion of its wheel by the joint rates of a state."""
    rows = as_few(work.contact)
    column = as_few(work.column)
    for k in range(6):
        rows[0, OWN + k] = 0.0
    for p in range(column.shape[0]):
        q = of_links(vehicle, rate, p)
        axis = PLATFORM + LINK * (p + 1) + AXIS
        for k in range(3):
            rows[0, OWN + k] += q * column[p, k]
            rows[0, OWN + 3 + k] += q * rows[0, axis + k]


@inlined
def spread(rows, margin, note, out, at):
    """Write η̇ of the contacts to a vector, and note the smallest margin."""
    for k in range(5):
        value = rows[0, OUT + k]
        out[at + k], out[at + 5 + k] = lane(value, 0), lane(value, 1)
        out[at + 10 + k] = lane(value, 2)
    for i in range(THREE):
        rolling.sharper(note, lane(margin, i), i)


@inlined
def roll_all(contact, wx, wy, wz, note, out, at):
    """Write η̇ of all contacts for ω of the platform in {G}, and note the smallest margin."""
    rows = as_few(contact)
    margin = _contact_rates(rows, 0, wx + rows[0, OWN + 3], wy + rows[0, OWN + 4],
                            wz + rows[0, OWN + 5], 0.0, 0.0, rows[0], OUT)
    spread(rows, margin, note, out, at)


@inlined
def follow_all(contact, state, rise, roll, pitch, note, delta, at):
    """Write the changes of all contacts in a Newton step, and note the smallest margin."""
    rows = as_few(contact)
    ax, ay, az, slip_x, slip_y = _slipping(rows, 0, state, rise, roll, pitch)
    margin = _contact_rates(rows, 0, ax, ay, az, slip_x, slip_y, rows[0], OUT)
    sharp = ~(margin > 0.0)
    if anywhere(sharp):
        # far from a solution the ground may be sharper than the tyre: take it as flat
        for k in range(3, 6):
            rows[0, GROUND + k] = where(sharp, 0.0, rows[0, GROUND + k])
        _contact_rates(rows, 0, ax, ay, az, slip_x, slip_y, rows[0], OUT)
    spread(rows, margin, note, delta, at)


@inlined
def bodies(vehicle, state, work):
    """Write the frames of all bodies for `scan`."""
    shapes.chains(vehicle, state, work.frame)


# compiled as part of `drive`, not twice
_drive = specialise(motion.drive, {
    shapes.geometry: geometry, rolling.columns: columns, rolling.number: number,
    rolling.part: part, rolling.triangle: triangle, rolling.further: further,
    rolling.wheel_motion: wheel_motion, rolling.roll_all: roll_all,
    rolling.follow_all: follow_all, motion.bodies: bodies}, shared=True, inline='always')


@kernel
def drive(vehicle, ground, plan, memory, every, records):
    """Run as `_motion_kernels.drive`, with the `memory` of `memory_for`."""
    return _drive(vehicle, ground, plan, memory, every, records)
