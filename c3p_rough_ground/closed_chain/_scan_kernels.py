# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled search for places where a wheel is inside the ground.

A wheel that touches at one point with Kw + K* positive definite is outside the ground around it;
somewhere else it may be inside. The gap at a point of the wheel is its height over the ground
along the vertical, shortened by the slope. A grid over the lower side of the tread finds its
valleys, a shrinking cross the bottom of each.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inlined, kernel
from c3p_kernels.elementary import circle
from c3p_rough_ground.rolling_contact._kernels import CYLINDER, profile
from c3p_rough_ground.terrain._kernels import height

# grid points round the wheel and across the tread, and how often the cross is halved: a cell is
# 5 cm of a 0.3 m wheel, its 1/64 leaves less than 1e-5 m of the depth of a valley unseen
ROUND = 36
ACROSS = 7
HALVINGS = 6
# permitted depth of a wheel in the ground per outer radius: above the error of the last cross, far
# below the deflection of a tyre
DEPTH = 2e-4
# valleys whose grid point is further from the ground than this fraction of the radius are skipped:
# the bottom is at most half a cell from it
NEAR = 0.1


@inlined
def tread_end(kind, parameters):
    """Return the v at which the tread ends, where the normal is along the axle."""
    if kind == CYLINDER:
        return parameters[1] + 0.5 * math.pi * parameters[2]
    return 0.5 * math.pi


@inlined
def cell_of(end):
    """Return the size of a cell of the grid: angle round the wheel, and v across the tread."""
    return 2.0 * math.pi / ROUND, 2.0 * end / (ACROSS + 1)


@inlined
def gap(vehicle, ground, i, body, angle, v):
    """Return the distance of a point of wheel i from the ground, m; inf if it faces upwards."""
    r, h, dr, dh, _, _ = profile(vehicle.wheel[i, 2], vehicle.profile[i], v)
    c, s = circle(angle)
    # z of the outward normal, of any length
    down = dr * body[5] - dh * (c * body[2] - s * body[8])
    if down <= 0.0:
        return math.inf
    x = body[9] + r * (c * body[0] - s * body[6]) + h * body[3]
    y = body[10] + r * (c * body[1] - s * body[7]) + h * body[4]
    z = body[11] + r * (c * body[2] - s * body[8]) + h * body[5]
    g, gx, gy, _, _, _ = height(ground.kind, ground.parameters, ground.table, x, y)
    return (z - g) / math.sqrt(1.0 + gx * gx + gy * gy)


@inlined
def valley(vehicle, ground, i, body, angle, v, low):
    """Return gap, angle and v at the bottom of the valley that a grid point is in."""
    end = tread_end(vehicle.wheel[i, 2], vehicle.profile[i])
    cell, row = cell_of(end)
    for _ in range(HALVINGS):
        cell *= 0.5
        row *= 0.5
        for _ in range(4):
            best = low
            da = 0.0
            dv = 0.0
            for k in range(4):
                a = cell if k == 0 else -cell if k == 1 else 0.0
                b = row if k == 2 else -row if k == 3 else 0.0
                if abs(v + b) < end:
                    there = gap(vehicle, ground, i, body, angle + a, v + b)
                    if there < best:
                        best = there
                        da = a
                        dv = b
            if best == low:
                break
            low = best
            angle = angle + da
            v = v + dv
    return low, angle, v


@inlined
def deepest(vehicle, ground, i, body, grid):
    """Return the least gap of wheel i in m and where: angle u + α and v."""
    end = tread_end(vehicle.wheel[i, 2], vehicle.profile[i])
    cell, row = cell_of(end)
    radius = profile(vehicle.wheel[i, 2], vehicle.profile[i], 0.0)[0]
    for k in range(ROUND):
        for j in range(ACROSS):
            grid[k, j] = gap(vehicle, ground, i, body, k * cell, (j + 1) * row - end)
    low = math.inf
    angle = 0.0
    at = 0.0
    for k in range(ROUND):
        before = (k - 1) % ROUND
        after = (k + 1) % ROUND
        for j in range(ACROSS):
            here = grid[k, j]
            if (here > NEAR * radius or here > grid[before, j] or here > grid[after, j]
                    or (j > 0 and here > grid[k, j - 1])
                    or (j < ACROSS - 1 and here > grid[k, j + 1])):
                continue
            there, a, v = valley(vehicle, ground, i, body, k * cell, (j + 1) * row - end, here)
            if there < low:
                low = there
                angle = a
                at = v
    return low, angle, at


@kernel
def scan(vehicle, ground, frame, grid, found):
    """
    Write gap, angle and v of the deepest point of each wheel; return a wheel inside the ground.

    −1 without such a wheel. `found` is (n, 3); `frame` is that of `geometry`.
    """
    inside = -1
    worst = 0.0
    for i in range(vehicle.wheel.shape[0]):
        body = frame[vehicle.chain[vehicle.wheel[i, 1] - 1, 0] + 1]
        found[i, 0], found[i, 1], found[i, 2] = deepest(vehicle, ground, i, body, grid)
        radius = profile(vehicle.wheel[i, 2], vehicle.profile[i], 0.0)[0]
        if found[i, 0] < -DEPTH * radius and found[i, 0] < worst:
            inside = i
            worst = found[i, 0]
    return inside
