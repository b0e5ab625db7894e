# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled planar rigid motion: plain arrays in, plain arrays out, no checks (see se2.py).

Poses and steps are rows (x, y, yaw); the leading axis of `*_each` is the batch.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kinematics.compiled import kernel

TURN = 2.0 * math.pi

# below this angle [rad] the series is used; its first dropped term is 1e-2⁸/9! = 3e-22
SMALL_ANGLE = 1e-2


def wrap(angle):
    """Return `angle`, a number or an array, in (−π, π]."""
    rest = angle - TURN * np.rint(angle / TURN)
    # rounding may leave the half-open interval by one unit in the last place
    return rest + TURN * (rest <= -math.pi) - TURN * (rest > math.pi)


# the same formula for one angle inside a kernel
wrap_angle = kernel(wrap)


@kernel
def arc(angle):
    """Return (sin φ/φ, (1 − cos φ)/φ) without cancellation."""
    if abs(angle) < SMALL_ANGLE:
        q = angle * angle
        return (1.0 - q / 6.0 * (1.0 - q / 20.0 * (1.0 - q / 42.0)),
                0.5 * angle * (1.0 - q / 12.0 * (1.0 - q / 30.0 * (1.0 - q / 56.0))))
    half = math.sin(0.5 * angle)
    return math.sin(angle) / angle, 2.0 * half * half / angle


@kernel
def half_cotangent(angle):
    """Return (φ/2) cot(φ/2) for |φ| ≤ π."""
    if abs(angle) < SMALL_ANGLE:
        q = angle * angle
        return 1.0 - q / 12.0 * (1.0 + q / 60.0 * (1.0 + q / 42.0))
    return 0.5 * angle * math.cos(0.5 * angle) / math.sin(0.5 * angle)


@kernel
def exp_row(step, out):
    """Write exp of one step (3,) into `out`."""
    s, c = arc(step[2])
    x, y = s * step[0] - c * step[1], c * step[0] + s * step[1]
    out[0], out[1], out[2] = x, y, wrap_angle(step[2])


@kernel
def log_row(pose, out):
    """Write the logarithm of one pose (3,) into `out`."""
    yaw = wrap_angle(pose[2])
    g, h = half_cotangent(yaw), 0.5 * yaw
    x, y = g * pose[0] + h * pose[1], g * pose[1] - h * pose[0]
    out[0], out[1], out[2] = x, y, yaw


@kernel
def compose_row(a, b, out):
    """Write the product of two poses (3,) into `out`, which may be `a` or `b`."""
    c, s = math.cos(a[2]), math.sin(a[2])
    x, y = a[0] + c * b[0] - s * b[1], a[1] + s * b[0] + c * b[1]
    out[0], out[1], out[2] = x, y, wrap_angle(a[2] + b[2])


@kernel
def integrate_row(pose, step, out):
    """Write pose · exp(step) into `out`, which may be `pose`."""
    moved = np.empty(3)
    exp_row(step, moved)
    compose_row(pose, moved, out)


@kernel
def exp_each(step, out):
    """Apply `exp_row` to each row."""
    for b in range(len(out)):
        exp_row(step[b], out[b])


@kernel
def log_each(pose, out):
    """Apply `log_row` to each row."""
    for b in range(len(out)):
        log_row(pose[b], out[b])


@kernel
def compose_each(first, second, out):
    """Apply `compose_row` to each row."""
    for b in range(len(out)):
        compose_row(first[b], second[b], out[b])


@kernel
def integrate_each(pose, step, out):
    """Apply `integrate_row` to each row."""
    for b in range(len(out)):
        integrate_row(pose[b], step[b], out[b])
