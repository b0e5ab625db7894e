# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled frame of a plan: its reference, its torque at a time, bounds, and the next guess."""

from __future__ import annotations

import math

from c3p_controller.predictive._kernels import calm, dither_at, on_piece, piece_of
from c3p_controller.predictive.reference import sample
from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import wrap_angle


@kernel
def steady(geometry, state, rows, full, now, times, size, frequency, dither, weights):
    """Apply `calm` with the dither of `dither_at`, to the reference `rows` at `times` from now."""
    dither_at(now, times, size, frequency, dither)
    calm(geometry, state, rows, full, dither, weights)


@kernel
def sample_steady(time, pose, velocity, passed, geometry, state, rows, full, now, times, size,
                  frequency, dither, weights):
    """Write the rows of a preview (`reference.sample`) from `passed` on, and apply `steady`."""
    sample(time, pose, velocity, times, passed, state[2], rows)
    steady(geometry, state, rows, full, now, times, size, frequency, dither, weights)


@kernel
def deviation(states, step, passed, state, error):
    """Write that of `state` from the plan `passed` s after its begin; return the step's number."""
    last = len(states) - 1
    k = min(int(passed / step), last - 1)
    part = passed / step - k
    for j in range(len(state)):
        near = states[k, j]
        error[j] = state[j] - (near + part * (states[k + 1, j] - near))
    error[2] = wrap_angle(error[2])
    return k


@kernel
def follow(states, plan, gains, step, passed, state, error, torque):
    """
    Write the torques of `plan` `passed` s after its begin, with its feedback, into `torque`.

    ``τ = τ_k + K_k e`` with e the `deviation` of `state`, which is left in `error`.
    """
    k = deviation(states, step, passed, state, error)
    for i in range(len(torque)):
        total = 0.0
        for j in range(len(error)):
            total += gains[k, i, j] * error[j]
        torque[i] = plan[k, i] + total


@kernel
def bound(torque, last, change, pace, limit):
    """
    Bound the change of `torque` from `last`, by `change` times `pace`, and then its size.

    In place; the limits are `limit`. Returns False for torques that are not finite.
    """
    finite = True
    for i in range(len(torque)):
        finite = finite and math.isfinite(torque[i])
        most = change * pace[i]
        torque[i] = min(max(torque[i], last[i] - most), last[i] + most)
        torque[i] = min(max(torque[i], -limit[i]), limit[i])
    return finite


@kernel
def shifted(times, plan, passed, result):
    """Write `plan` (k, m) of `times` (k,) as it is `passed` s later into `result`."""
    for k in range(len(times)):
        then = times[k] + passed
        piece = piece_of(then, times)
        for j in range(plan.shape[1]):
            result[k, j] = on_piece(piece, then, times, plan, j)
