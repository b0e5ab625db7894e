# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled evidence of the side to which the robot turns; no checks. Public side: wiring_monitor.py.

With opposite casters of a square robot exchanged, or all zeros 180° off, a robot in a curve
contradicts itself by 2 d ω ẑ×(e_i − ē), a tenth of what a wrong wiring contradicts elsewhere. In
one window that is less than what radii and zeros may be off; but these are constant:

    u = p + ω ẑ×c − G φ + e,    φ ~ N(0, Φ) in all windows,    e ~ N(0, σ²) in each

with the motion of a contact by an error of its radius and of its zero in the columns of G. The
rigid motion is projected off, P = 1 − A (AᵀA)⁻¹ Aᵀ, and the likelihood of all windows without φ is

    −2 ln p = Σ uᵀP u / σ² + ln det(1 + Φ N) − bᵀ (Φ⁻¹ + N)⁻¹ b,
    N = Σ GᵀP G / σ²,   b = Σ GᵀP u / σ²

so that a hypothesis pays for large errors that it needs. As elsewhere, a fault of a caster may
explain a window instead.

This evidence stays apart from that of the other wirings, and accuses nothing: a drifting encoder
is an error that grows, which unknown constants of a wrong side follow for a while better than
those of the right one. So it leaves the pose in doubt at most, and takes no probability from a
caster at fault.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inner
from c3p_kernels.dense import cholesky, forward
from c3p_kinematics._wiring_fit_kernels import (
    BEGIN,
    EXCLUDED,
    FORGIVEN,
    misfit_without,
    place_contacts,
)


@inner
def open_sides(costs):
    """Return how many wirings that reverse the yaw are left by the evidence of all wirings."""
    sides = costs.sides
    left = 0
    for j in range(1, len(sides.wiring)):
        if costs.excluded[int(sides.wiring[j])] != 0.0:
            sides.excluded[j] = 1.0
        left += 1 if sides.excluded[j] == 0.0 else 0
    if left == 0:
        sides.other[0] = 0.0
    return left


@inner
def compare_sides(geometry, costs, precision):
    """Compare the description with the wirings that reverse the yaw by one more window."""
    sides = costs.sides
    odds = 0.0
    for j in range(len(sides.wiring)):
        if sides.excluded[j] == 0.0:
            place_contacts(geometry, costs, int(sides.wiring[j]))
            add_side(costs, j, precision)
            if j > 0:
                cost = max(sides.cost[j] + sides.added[j] - sides.added[0], -FORGIVEN)
                sides.cost[j] = cost
                sides.excluded[j] = 1.0 if cost > EXCLUDED else 0.0
                odds += math.exp(-0.5 * cost)
    sides.other[0] = odds / (1.0 + odds)


@inner
def add_side(costs, j, precision):
    """Add the window to the evidence of row `j`, whose contacts are placed."""
    sides = costs.sides
    m = len(sides.right[j])
    write_columns(costs, precision, j)
    square = sides.square[j] + precision * misfit_without(costs, -1)
    # Φ⁻¹ = 1, as the columns are by errors of one deviation
    for a in range(m):
        sides.tried[a, a] += 1.0
    cholesky(sides.tried, sides.factor, m)
    spent = square
    for a in range(m):
        sides.tried[a, a] -= 1.0
        sides.solved[a] = sides.pulled[a]
    forward(sides.factor, sides.solved, m)
    for a in range(m):
        spent += 2.0 * math.log(sides.factor[a, a]) - sides.solved[a] * sides.solved[a]
    plain = spent - sides.spent[j]
    fault = costs.fault[int(sides.wiring[j])] + (0.0 if sides.faulty[j] > 0.0 else BEGIN)
    sides.added[j] = min(plain, fault)
    sides.faulty[j] = 1.0 if fault < plain else 0.0
    # the window of a fault does not show radii and zeros
    if fault < plain:
        return
    sides.spent[j] = spent
    sides.square[j] = square
    for a in range(m):
        sides.right[j, a] = sides.pulled[a]
        for b in range(m):
            sides.information[j, a, b] = sides.tried[a, b]


@inner
def write_columns(costs, precision, j):
    """Write the normal equations of row `j` with the present window, tried but not kept."""
    sides = costs.sides
    n = len(costs.contact)
    cx = cy = ux = uy = 0.0
    for i in range(n):
        cx += costs.contact[i, 0] / n
        cy += costs.contact[i, 1] / n
        ux += costs.moved[i, 0] / n
        uy += costs.moved[i, 1] / n
    spread = turn = 0.0
    for i in range(n):
        x = costs.contact[i, 0] - cx
        y = costs.contact[i, 1] - cy
        spread += x * x + y * y
        turn += x * (costs.moved[i, 1] - uy) - y * (costs.moved[i, 0] - ux)
        # a longer radius rolls farther, another zero turns the motion
        sides.column[2 * i, 0] = costs.radius * costs.rolled[i, 0]
        sides.column[2 * i, 1] = costs.radius * costs.rolled[i, 1]
        sides.column[2 * i + 1, 0] = -costs.zero * costs.moved[i, 1]
        sides.column[2 * i + 1, 1] = costs.zero * costs.moved[i, 0]
        for a in range(2 * i, 2 * i + 2):
            sides.moment[a] = x * sides.column[a, 1] - y * sides.column[a, 0]
    # contacts that meet in one point show no yaw
    by_spread = 1.0 / spread if spread > 0.0 else 0.0
    for a in range(2 * n):
        i = a // 2
        gx = sides.column[a, 0]
        gy = sides.column[a, 1]
        free = (gx * (costs.moved[i, 0] - ux) + gy * (costs.moved[i, 1] - uy)
                - sides.moment[a] * turn * by_spread)
        sides.pulled[a] = sides.right[j, a] + precision * free
        for b in range(2 * n):
            product = gx * sides.column[b, 0] + gy * sides.column[b, 1]
            common = product / n + sides.moment[a] * sides.moment[b] * by_spread
            sides.tried[a, b] = sides.information[j, a, b] + precision * (
                (product if b // 2 == i else 0.0) - common)
