# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled cost of the heading of a robot with one or two motors on a path."""

from __future__ import annotations

import math

from c3p_dynamics._caster_equations import ANGLE, DRIVE, PER_OFFSET, PER_RADIUS, X, Y, terms
from c3p_dynamics._caster_equations import times as product
from c3p_kernels.compiled import kernel


@kernel
def accelerations(model, pushing, bound, speed, course, turn, columns):
    """
    Write ν̇ of a motion with trailing casters into `columns` (3, 3).

    The first column is that without torque, the others are those that the first two motors add at
    their bounds, (v cos β, v sin β, `turn`) is the motion.
    """
    casters = model[2]
    vx, vy = speed * math.cos(course), speed * math.sin(course)
    # casters trail: a·p = −d ω
    for i in range(len(casters)):
        px, py = vx - turn * casters[i, Y], vy + turn * casters[i, X]
        swift = math.hypot(px, py) * casters[i, PER_OFFSET]
        part = -turn / swift if swift > 0.0 else 0.0
        casters[i, ANGLE] = math.atan2(py, px) - math.acos(min(max(part, -1.0), 1.0))
        casters[i, DRIVE] = 0.0
    _, inverse, force = terms(model, vx, vy, turn, 0.0, 0.0, 0.0)
    columns[:] = 0.0
    columns[0, 0], columns[1, 0], columns[2, 0] = product(inverse, force[0], force[1], force[2])
    for number in range(min(len(pushing), 2)):
        i = pushing[number]
        c, s = math.cos(casters[i, ANGLE]), math.sin(casters[i, ANGLE])
        pull = bound[i] * casters[i, PER_RADIUS]
        k = number + 1
        columns[0, k], columns[1, k], columns[2, k] = product(
            inverse, -pull * s, pull * c,
            pull * (c * casters[i, X] + s * casters[i, Y]))


@kernel
def heading_costs(model, pushing, bound, motion, scales, angles, columns, costs_out):
    """
    Write ``|ν̇|²/least² + effort |τ/τ_max|²`` of travel in the directions `angles`.

    `motion` is (v, turn), steady and with trailing casters, (v cos β, v sin β, turn); ν̇, with yaw
    in units of the size, is what the best torques of the wheels `pushing` leave within `bound`.
    `scales` are size, least and effort; `columns` (3, 3) is work memory.
    """
    speed, turn = motion
    size, least, effort = scales
    weight = effort * least * least
    for j in range(len(angles)):
        accelerations(model, pushing, bound, speed, angles[j], turn, columns)
        columns[2, 0] *= size
        columns[2, 1] *= size
        columns[2, 2] *= size
        # min |f + u a + w b|² + weight (u² + w²) by the normal equations
        aa = weight
        bb = weight
        ab = 0.0
        af = 0.0
        bf = 0.0
        for m in range(3):
            f = columns[m, 0]
            a = columns[m, 1]
            b = columns[m, 2]
            aa = aa + a * a
            bb = bb + b * b
            ab = ab + a * b
            af = af + a * f
            bf = bf + b * f
        determinant = aa * bb - ab * ab
        u = min(max((ab * bf - bb * af) / determinant, -1.0), 1.0)
        w = min(max((ab * af - aa * bf) / determinant, -1.0), 1.0)
        total = 0.0
        for m in range(3):
            total += (columns[m, 0] + u * columns[m, 1] + w * columns[m, 2])**2
        costs_out[j] = total / (least * least) + effort * (u * u + w * w)


@kernel
def yaw_on_path(model, pushing, bound, speed, course, turn, columns):
    """
    Return the yaw acceleration that remains when two motors hold path and speed.

    nan where their rolling lines are parallel.
    """
    accelerations(model, pushing, bound, speed, course, turn, columns)
    determinant = columns[0, 1] * columns[1, 2] - columns[0, 2] * columns[1, 1]
    if determinant == 0.0:
        return math.nan
    u = (columns[0, 2] * columns[1, 0] - columns[0, 0] * columns[1, 2]) / determinant
    w = (columns[0, 0] * columns[1, 1] - columns[0, 1] * columns[1, 0]) / determinant
    return columns[2, 0] + u * columns[2, 1] + w * columns[2, 2]
