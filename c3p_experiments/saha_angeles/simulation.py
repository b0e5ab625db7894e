# SPDX-License-Identifier: Apache-2.0
"""
Direct dynamics of the vehicle on a circle under precomputed torques.

The torques of the inverse dynamics are fed to the equations of motion without feedback, and the
resulting joint angles are compared with the path. Saha & Angeles, sections 3.3 and 4, Fig. 5.
The caster's angle is integrated with the rest; without it (`frozen_state_rate`, eq. (30) as
printed) I and C belong to another configuration than the one reached.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.agv_model import Agv
from c3p_description.model import Array
from c3p_experiments.saha_angeles.verner import Integrated, integrate
from c3p_multibody.agv import _kernels as kernels
from c3p_multibody.agv.circle import Circle, caster_constants, caster_start, joint_path
from c3p_multibody.agv.dynamics import state_rate

# step of the second difference that stands for τ̈: truncation and rounding are both below 1e-6
_DIFFERENCE = 1e-2

Torque = Callable[[float], Array]


class AgvRun(NamedTuple):
    """
    A simulated drive.

    Attributes
    ----------
    time : (k,) array, s
    angles : (k, 2) array, rad
        θ₁ and θ₂.
    caster : (k,) array, rad
        ψ.
    error : (k, 2) array, rad
        Angles simulated minus those of the path.
    integrated : Integrated
    """

    time: Array
    angles: Array
    caster: Array
    error: Array
    integrated: Integrated


def circle_torque(agv: Agv, circle: Circle, time: ArrayLike) -> Array:
    """
    Return the motor torques (…, 2) that keep the vehicle on the circle, N·m.

    Exact at any `time` (…), s: path, caster and inverse dynamics are all in closed form.
    """
    when = np.asarray(time, float)
    out = np.empty((when.size, 2))
    kernels.circle_torques(agv.numbers, agv.viscous, _drive(agv, circle),
                           np.ascontiguousarray(when.ravel()), out)
    return out.reshape(*when.shape, 2)


def _drive(agv: Agv, circle: Circle) -> Array:
    """Return the parameters of `circle_torques`: R, T, B and the caster's constants."""
    return np.array([circle.radius, circle.duration, circle.angle,
                     *caster_constants(agv, circle.radius, caster_start(agv, circle))])


def exact_torque(agv: Agv, circle: Circle) -> Torque:
    """Return `circle_torque` of an `agv` on a `circle` as a function of time."""
    drive = _drive(agv, circle)
    when = np.empty(1)
    out = np.empty((1, 2))

    def torque(time: float) -> Array:
        when[0] = time
        kernels.circle_torques(agv.numbers, agv.viscous, drive, when, out)
        return out[0].copy()

    return torque


def table_torque(agv: Agv, circle: Circle, spacing: float) -> Torque:
    """
    Return the torque (2,) over time, read from a table with linear interpolation between its rows.

    `spacing` is the time between two rows, s; the last row is at the end of the drive. ValueError
    unless it is positive and at most the duration of the drive.
    """
    if not 0 < spacing <= circle.duration:
        raise ValueError(f'spacing = {spacing}: must be greater than zero and at most '
                         f'{circle.duration} s, the duration of the drive')
    rows = np.linspace(0.0, circle.duration, round(circle.duration / spacing) + 1)
    values = circle_torque(agv, circle, rows)
    between = np.diff(rows).mean()

    def torque(time: float) -> Array:
        place = min(max(time / between, 0.0), len(rows) - 1.0)
        row = min(int(place), len(rows) - 2)
        return values[row] + (place - row) * (values[row + 1] - values[row])

    return torque


def smoothed_table_torque(agv: Agv, circle: Circle, spacing: float) -> Torque:
    """
    Return ``τ + Δ²/12 τ̈``, the average torque of a table of `spacing` Δ, s, over time.

    That is the mean distance of a chord from its arc: this torque has the error of the table
    without its corners.
    """
    h = _DIFFERENCE
    drive = _drive(agv, circle)
    when = np.empty(4)
    out = np.empty((4, 2))
    # the torque itself, and Δ²/12 of its second difference
    weights = np.array([1.0, *np.array([1.0, -2.0, 1.0]) * spacing**2 / (12 * h**2)])

    def torque(time: float) -> Array:
        # at the ends the nearest place where both sides exist
        middle = min(max(time, h), circle.duration - h)
        when[:] = time, middle - h, middle, middle + h
        kernels.circle_torques(agv.numbers, agv.viscous, drive, when, out)
        return weights @ out

    return torque


def start_state(agv: Agv, circle: Circle) -> Array:
    """Return the state (5,) of the `agv` at rest at the start of the `circle`."""
    return np.array([0.0, 0.0, 0.0, 0.0, float(joint_path(agv, circle, 0.0).caster)])


def frozen_state_rate(agv: Agv, state: ArrayLike, torque: ArrayLike) -> Array:
    """
    Return d/dt of the state with the caster's angle held: eq. (30) as printed, without ψ.

    I and C are evaluated at the ψ of `state`, which stays what it was at the start. Otherwise as
    `state_rate` of an `agv` with a `torque`.
    """
    out = state_rate(agv, state, torque)
    out[4] = 0.0
    return out


def simulate(agv: Agv, circle: Circle, torque: Torque, times: ArrayLike, tolerance: float,
             rate: Callable[[Agv, Array, Array], Array] = state_rate) -> AgvRun:
    """
    Integrate the direct dynamics of an `agv` from rest under a `torque` (2,), N·m, over time.

    The `circle` is the path that the error is measured against, and has the caster's angle at the
    start; `times` (k,), s, count from 0 on, and the integrator steps onto each; `tolerance` as for
    `verner.integrate`; `rate` is `state_rate`, or `frozen_state_rate` for the equation as printed.
    """
    found = integrate(lambda time, state: rate(agv, state, torque(time)), times,
                      start_state(agv, circle), tolerance)
    when = np.asarray(times, float)
    angles = found.states[:, :2]
    return AgvRun(when, angles, found.states[:, 4], angles - joint_path(agv, circle, when).angles,
                  found)
