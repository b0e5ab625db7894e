# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Walker and Orin's first three methods: three ways to the inertia matrix, one to the rest.

``A q̈ = τ − c`` with c of one pass of Newton and Euler, and Cholesky's factors of A. Method 1: each
column is the torque of a unit acceleration of one joint, by a pass over the whole chain at rest
without gravity. Method 2: only over the bodies that move, the rest by symmetry. Method 3: by
composite bodies (`trees._inertia_kernels.composite`). No checks.

A body's row of `work` holds what `trees._frames.place` writes (0:5), angular acceleration (5:8),
acceleration (8:11), force (11:14) and moment (14:17).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c3p_kernels.compiled import inlined, kernel
from c3p_kernels.dense import backward, cholesky, forward
from c3p_multibody.trees._force_kernels import newton_euler
from c3p_multibody.trees._frames import cross, down, inertia_of, place, symmetric_times, up
from c3p_multibody.trees._inertia_kernels import composite

WALKER_ORIN_WIDTH = 17


class WalkerOrinMemory(NamedTuple):
    """
    Memory of the three methods, for B states of a chain of n bodies.

    Attributes
    ----------
    one, none : number
        1 and 0 of the type that the kernel runs on, not known in advance.
    still : (B, n) array
        Zeros.
    external : (B, 0, 6) array
    work : (n, 17) array
    bodies : (n, 76) array
        Wide enough for either pass.
    a : (B, n, n) array
        Inertia matrices.
    l : (n, n) array
        Cholesky's factor.
    """

    one: Any
    none: Any
    still: np.ndarray
    external: np.ndarray
    work: np.ndarray
    bodies: np.ndarray
    a: np.ndarray
    l: np.ndarray


@inlined
def column(first, joint, links, numbers, one, none, work, a):
    """
    Write the column of a joint by a pass over the bodies from `first` on, at rest.

    `one` and `none` are the numbers 1 and 0: its acceleration, and those of the others.
    """
    n = len(links)
    lx = none
    ly = none
    lz = none
    ax = none
    ay = none
    az = none
    for i in range(first, n):
        w = work[i]
        row = numbers[i]
        if i > first:
            b = work[i - 1]
            tx, ty, tz = cross(b[5], b[6], b[7], w[2], w[3], w[4])
            ax, ay, az = down(row, w[0], w[1], b[8] + tx, b[9] + ty, b[10] + tz)
            lx, ly, lz = down(row, w[0], w[1], b[5], b[6], b[7])
        if i == joint:
            lz = lz + one
        w[5] = lx
        w[6] = ly
        w[7] = lz
        w[8] = ax
        w[9] = ay
        w[10] = az
        m = row[12]
        hx = row[13]
        hy = row[14]
        hz = row[15]
        tx, ty, tz = cross(lx, ly, lz, hx, hy, hz)
        w[11] = m * ax + tx
        w[12] = m * ay + ty
        w[13] = m * az + tz
        nx, ny, nz = symmetric_times(inertia_of(row), lx, ly,
                                     lz)
        tx, ty, tz = cross(hx, hy, hz, ax, ay, az)
        w[14] = nx + tx
        w[15] = ny + ty
        w[16] = nz + tz
    for back in range(n - first):
        i = n - 1 - back
        w = work[i]
        a[links[i, 2], links[joint, 2]] = w[16]
        if i > first:
            b = work[i - 1]
            fx, fy, fz = up(numbers[i], w[0], w[1], w[11], w[12], w[13])
            nx, ny, nz = up(numbers[i], w[0], w[1], w[14], w[15], w[16])
            tx, ty, tz = cross(w[2], w[3], w[4], fx, fy, fz)
            b[11], b[12], b[13] = b[11] + fx, b[12] + fy, b[13] + fz
            b[14], b[15], b[16] = b[14] + nx + tx, b[15] + ny + ty, b[16] + nz + tz


@kernel
def inertia(method, tree, q, memory):
    """Write the inertia matrices A (B, n, n) of q (B, n) by method 1, 2 or 3."""
    links = tree.links
    numbers = tree.numbers
    work = memory.work
    a = memory.a
    n = len(links)
    if method == 3:
        composite(links, numbers, q, memory.bodies, a)
        return
    for state in range(len(q)):
        for i in range(n):
            place(numbers[i], links[i, 1], q[state, links[i, 2]], work[i])
        for joint in range(n):
            column(0 if method == 1 else joint, joint, links, numbers, memory.one, memory.none,
                   work, a[state])
        if method == 2:
            for i in range(n):
                for j in range(i):
                    a[state, links[j, 2], links[i, 2]] = a[state, links[i, 2], links[j, 2]]


@kernel
def walker_orin(method, tree, q, qd, tau, memory, qdd_out):
    """Write q̈ (B, n) of q, q̇, τ (B, n) of a chain."""
    l = memory.l
    newton_euler(tree, q, qd, memory.still, memory.external, memory.bodies, memory.external,
                 qdd_out)
    inertia(method, tree, q, memory)
    n = len(tree.links)
    for state in range(len(q)):
        cholesky(memory.a[state], l, n)
        for i in range(n):
            qdd_out[state, i] = tau[state, i] - qdd_out[state, i]
        forward(l, qdd_out[state], n)
        backward(l, qdd_out[state], n)
