# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled inertia matrix by composite bodies and its sparse factor LᵀL. No checks.

A body's row of `work` holds c, s and the origin in the lower body (0:5), then mass, first moment
and inertia about the origin (5:15) of it and all above it, in inner axes.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inlined, kernel
from c3p_multibody.trees._frames import cross, place, symmetric_up, up

COMPOSITE_WIDTH = 15
# a pivot below this fraction of its diagonal is rounding: no inertia resists the joint
PIVOT_TOLERANCE = 1e-14


@inlined
def put_down(links, numbers, work, i):
    """Add the composite body i to that of its lower body; Steiner's rule for the distance."""
    row = numbers[i]
    w = work[i]
    b = work[links[i, 0]]
    c = w[0]
    s = w[1]
    m = w[5]
    px = w[2]
    py = w[3]
    pz = w[4]
    hx, hy, hz = up(row, c, s, w[6], w[7], w[8])
    xx, yy, zz, xy, xz, yz = symmetric_up(
        row, c, s, (w[9], w[10], w[11], w[12], w[13], w[14]))
    # half of m p + 2 h takes part in each product: I += (p·k + k·p) 1 − (p kᵀ + k pᵀ)
    kx = hx + 0.5 * m * px
    ky = hy + 0.5 * m * py
    kz = hz + 0.5 * m * pz
    ax = px * kx
    ay = py * ky
    az = pz * kz
    b[5] = b[5] + m
    b[6], b[7], b[8] = b[6] + hx + m * px, b[7] + hy + m * py, b[8] + hz + m * pz
    b[9] = b[9] + xx + 2.0 * (ay + az)
    b[10] = b[10] + yy + 2.0 * (ax + az)
    b[11] = b[11] + zz + 2.0 * (ax + ay)
    b[12] = b[12] + xy - (px * ky + kx * py)
    b[13] = b[13] + xz - (px * kz + kx * pz)
    b[14] = b[14] + yz - (py * kz + ky * pz)


@inlined
def fill(i, links, numbers, work, a):
    """Write what the composite body i contributes to A: its own column, towards the world."""
    w = work[i]
    at = links[i, 2]
    # the wrench that gives it a unit acceleration of its joint
    if links[i, 1] == 0:
        fx = -w[7]
        fy = w[6]
        fz = 0.0
        nx = w[13]
        ny = w[14]
        nz = w[11]
        a[at, at] = nz
    else:
        fx = 0.0
        fy = 0.0
        fz = w[5]
        nx = w[7]
        ny = -w[6]
        nz = 0.0
        a[at, at] = fz
    # shifted down the chain, its component along each joint below is an entry of A
    while links[i, 0] >= 0:
        w = work[i]
        fx, fy, fz = up(numbers[i], w[0], w[1], fx, fy, fz)
        nx, ny, nz = up(numbers[i], w[0], w[1], nx, ny, nz)
        tx, ty, tz = cross(w[2], w[3], w[4], fx, fy, fz)
        nx = nx + tx
        ny = ny + ty
        nz = nz + tz
        i = links[i, 0]
        value = nz if links[i, 1] == 0 else fz
        a[at, links[i, 2]] = value
        a[links[i, 2], at] = value


@kernel
def composite(links, numbers, q, work, a):
    """Write the inertia matrices A (B, n, n) of q (B, n), in the user's numbering."""
    n = len(links)
    for b in range(len(q)):
        a[b] = 0.0
        for i in range(n):
            place(numbers[i], links[i, 1], q[b, links[i, 2]], work[i])
            for k in range(10):
                work[i, 5 + k] = numbers[i, 12 + k]
        for back in range(n):
            i = n - 1 - back
            if links[i, 0] >= 0:
                put_down(links, numbers, work, i)
            fill(i, links, numbers, work, a[b])


@inlined
def chain_start(links, k):
    """
    Return the first column of body k's carriers if they are numbered one after the other, or −1.

    An arm counted from its base is; its columns can then be run through without looking up.
    """
    at = links[k, 2]
    i = links[k, 0]
    while i >= 0:
        at -= 1
        if links[i, 2] != at:
            return -1
        i = links[i, 0]
    return at


@kernel
def factorize(links, a, l):
    """
    Write L (B, n, n) of ``A = LᵀL``; return the state and the body without inertia, or −1, −1.

    From the leaves inwards, L has no entry where A has none: row k is filled only in the columns
    of the bodies below k (Featherstone's branch-induced sparsity).
    """
    n = len(links)
    for b in range(len(a)):
        # copy the entries of bodies that carry each other, zeros elsewhere
        for i in range(n):
            row = links[i, 2]
            for j in range(n):
                l[b, row, j] = a[b, row, j] if j == row else 0.0
            j = links[i, 0]
            while j >= 0:
                l[b, row, links[j, 2]] = a[b, row, links[j, 2]]
                j = links[j, 0]
        # eliminate from the leaves: scale row k by its pivot, subtract its outer product below
        for back in range(n):
            k = n - 1 - back
            row = links[k, 2]
            pivot = l[b, row, row]
            if not pivot > PIVOT_TOLERANCE * a[b, row, row]:
                return b, k
            pivot = math.sqrt(pivot)
            l[b, row, row] = pivot
            over = 1.0 / pivot
            i = links[k, 0]
            while i >= 0:
                l[b, row, links[i, 2]] *= over
                i = links[i, 0]
            first = chain_start(links, k)
            if first >= 0:
                # indices from zero: the compiler excludes negative ones and vectorises
                below = l[b, row, first:row]
                for at in range(len(below)):
                    target = l[b, first + at, first:row]
                    share = below[at]
                    for j in range(at + 1):
                        target[j] -= share * below[j]
            else:
                i = links[k, 0]
                while i >= 0:
                    at = links[i, 2]
                    j = i
                    while j >= 0:
                        l[b, at, links[j, 2]] -= l[b, row, at] * l[b, row, links[j, 2]]
                        j = links[j, 0]
                    i = links[i, 0]
    return -1, -1


@kernel
def solve_factored(links, l, x):
    """Replace each of x (B, m, n) by the solution of ``LᵀL x' = x`` with L (B, n, n)."""
    n = len(links)
    for b in range(len(l)):
        for column in range(x.shape[1]):
            y = x[b, column]
            # Lᵀ z = y from the leaves, then L x = z from the world
            for back in range(n):
                k = n - 1 - back
                row = links[k, 2]
                j = links[k, 0]
                value = y[row] / l[b, row, row]
                y[row] = value
                while j >= 0:
                    y[links[j, 2]] -= l[b, row, links[j, 2]] * value
                    j = links[j, 0]
            for k in range(n):
                row = links[k, 2]
                j = links[k, 0]
                value = y[row]
                while j >= 0:
                    value -= l[b, row, links[j, 2]] * y[links[j, 2]]
                    j = links[j, 0]
                y[row] = value / l[b, row, row]
