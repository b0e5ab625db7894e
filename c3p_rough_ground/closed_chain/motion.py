# SPDX-License-Identifier: Apache-2.0
"""
Simulation of a vehicle on the ground: pose, joints and contacts with closed chains.

The rates of velocity.py are integrated by an explicit Runge-Kutta method; they are not stiff.
After each step the closure is solved again by Newton steps (`'projection'`), which costs about
one evaluation of the rates, does not drift, and keeps x, y, yaw and the joint angles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_rough_ground.closed_chain import _motion_kernels as kernels
from c3p_rough_ground.closed_chain._plan import (
    METHODS,
    JointInputs,
    RunPlan,
    RunRecords,
    Settings,
    records_for,
)
from c3p_rough_ground.closed_chain.chain_states import ChainMemory
from c3p_rough_ground.closed_chain.description import Array, GroundArrays
from c3p_rough_ground.closed_chain.ground import ground_arrays, hollow_radius
from c3p_rough_ground.closed_chain.placement import memory_of
from c3p_rough_ground.closed_chain.run import WHAT, Run, RunEvent
from c3p_rough_ground.closed_chain.vehicle import POSE, State, Vehicle
from c3p_rough_ground.closed_chain.velocity import checked_weights
from c3p_rough_ground.terrain import Terrain

Desired = ArrayLike | Callable[[float], ArrayLike]

STABILISATIONS = {'none': kernels.NONE, 'projection': kernels.PROJECTION,
                  'baumgarte': kernels.BAUMGARTE}
# largest travel of one step per feature length of the terrain: a longer one may skip a hill
LONGEST_TRAVEL = 0.25
# travel between two searches for a second contact per wheel radius
SCAN_TRAVEL = 0.25
# m, of one adaptive step
TOLERANCE = 1e-9


class StepError(ValueError):
    """A step that is too large for the ground; the text names step, length and remedy."""


def rate_table(vehicle: Vehicle, desired: Desired, count: int, step: float) -> Array:
    """Return `desired` of a `vehicle` for `count` periods of `step`: one row, or 2 `count` + 1."""
    m = vehicle.size[0]
    if callable(desired):
        desired = np.array([desired(0.5 * step * k) for k in range(2 * count + 1)], float)
    else:
        desired = np.array(np.atleast_2d(desired), float)
        if len(desired) == count + 1 and count > 0:
            table = np.empty((2 * count + 1, desired.shape[1]))
            table[::2], table[1::2] = desired, 0.5 * (desired[1:] + desired[:-1])
            desired = table
    if desired.shape not in ((1, m), (2 * count + 1, m)) or not np.all(np.isfinite(desired)):
        raise ValueError(f'desired of shape {desired.shape}: expected finite rates of the {m} '
                         f'joints {[joint.name for joint in vehicle.joints]}: one row, or one for '
                         f'each of the {count + 1} records, or a function of time')
    return desired


def fastest(vehicle: Vehicle, rates: ArrayLike) -> float:
    """
    Return the greatest speed of a wheel of `vehicle` at the desired `rates` (…, m), m/s.

    The desired spin times the outer radius; the contacts may increase it a little.
    """
    rates = np.atleast_2d(rates)
    return max(float(np.abs(rates[:, spin]).max()) * wheel.surface.outer_radius
               for spin, wheel in zip(vehicle.spins, vehicle.wheels, strict=True))


def _patch(terrain: Terrain) -> tuple[float, float, float, float]:
    """Return x from, x to, y from, y to of a ground that ends, else infinite ones."""
    extent = getattr(terrain, 'extent', None)
    if extent is None:
        return -math.inf, math.inf, -math.inf, math.inf
    (x0, x1), (y0, y1) = extent
    return float(x0), float(x1), float(y0), float(y1)


class Stepping(NamedTuple):
    """
    Method of integration.

    Attributes
    ----------
    step : float, s
        Period of the records, and step of the fixed method.
    method : {'rk4', 'adaptive'}
        Fixed steps of fourth order, or Cash and Karp's pair of fifth and fourth order with error
        control, its steps capped by the terrain's `feature_length`.
    stabilisation : {'projection', 'baumgarte', 'none'}
        Stabilisation of the closure. Baumgarte's adds `rate` times the Newton step of the closure
        to the rates; it serves for comparison.
    tolerance : float, m
        Error of one adaptive step; angles count by the radius or size that they move.
    rate : float, 1/s
        Of Baumgarte's stabilisation.
    """

    step: float = 0.02
    method: str = 'rk4'
    stabilisation: str = 'projection'
    tolerance: float = TOLERANCE
    rate: float = 20.0


DEFAULT = Stepping()


def plan(vehicle: Vehicle, terrain: Terrain, desired: Desired, duration: float,
         stepping: Stepping, weights: ArrayLike | None, camber_gain: float) -> RunPlan:
    """Check the parameters of a run, as in `simulate`, and return them as arrays."""
    step, method, stabilisation, tolerance, rate = stepping
    if method not in METHODS:
        raise ValueError(f'method = {method!r}: expected one of {sorted(METHODS)}')
    if stabilisation not in STABILISATIONS:
        raise ValueError(f'stabilisation = {stabilisation!r}: expected one of '
                         f'{sorted(STABILISATIONS)}')
    for name, value in (('step', step), ('tolerance', tolerance), ('rate', rate)):
        if not (math.isfinite(value) and value > 0.0):
            raise ValueError(f'{name} = {value}: must be finite and greater than zero')
    if not (math.isfinite(duration) and duration >= 0.0 and math.isfinite(camber_gain)):
        raise ValueError(f'duration = {duration}, camber_gain = {camber_gain}: expected finite '
                         'numbers, the duration not negative')
    count = round(duration / step)
    if abs(count * step - duration) > 1e-6 * step:
        raise ValueError(f'duration = {duration} s is not a whole number of steps of {step} s: '
                         f'take {count * step:.9g} s')
    table = rate_table(vehicle, desired, count, step)
    longest = step
    speed = fastest(vehicle, table)
    reach = LONGEST_TRAVEL * float(terrain.feature_length)
    if speed * step > reach:
        if method == 'rk4':
            raise StepError(
                f'step = {step} s: at {speed:.4g} m/s a wheel travels {speed * step:.4g} m in one '
                f'step, more than {LONGEST_TRAVEL:g} of the length {terrain.feature_length:.4g} m '
                f'over which the ground changes; take a step of at most {reach / speed:.3g} s, or '
                "method='adaptive'")
        longest = reach / speed
    gain = np.zeros(vehicle.size[0])
    gain[[vehicle.index(name) for name in vehicle.camber]] = camber_gain
    radius = min(wheel.surface.outer_radius for wheel in vehicle.wheels)
    travel = SCAN_TRAVEL * radius
    settings = Settings(float(step), float(longest),
                                float(tolerance) if method == 'adaptive' else 0.0,
                                float(STABILISATIONS[stabilisation]), float(rate), travel,
                                hollow_radius(terrain), *_patch(terrain))
    scale = 1.0 / np.sqrt(checked_weights(vehicle, weights))
    inputs = JointInputs(table, scale, gain, vehicle.limits, vehicle.lengths)
    return RunPlan(settings, inputs, METHODS[method], count)


def _event(vehicle: Vehicle, state: Array, when: float, code: int, which: int,
           number: float) -> RunEvent:
    """Return the event that ended a run, with its text."""
    m = vehicle.size[0]
    name = ''
    place = (float(state[0]), float(state[1]))
    if code in (kernels.SHARP, kernels.SECOND, kernels.OUTSIDE):
        name = vehicle.wheels[which].name
        x, y = state[POSE + m + 5 * which + 2:POSE + m + 5 * which + 4]
        place = float(x), float(y)
    elif code == kernels.LIMIT:
        name = vehicle.joints[which].name
    why = {
        kernels.NOT_FINITE: 'the state is not finite; take a smaller step',
        kernels.SHARP: f'Kw + K* has the eigenvalue {number:.3g} 1/m, the ground is as sharp as '
                       'the tyre; take a smaller or rounder tyre, or a smoother ground',
        kernels.RANK: f'the rank of the input constraints becomes {which}, the smallest pivot '
                      f'{number:.3g}; change steering, camber or heading to leave this pose',
        kernels.LIMIT: f'{number:.4g} is beyond the limits of the joint; weigh it more, give '
                       'camber_gain, or widen the limits',
        kernels.OUTSIDE: 'the wheel leaves the extent of the ground; give a larger map, or one '
                         'that repeats',
        kernels.OPEN: f'the chains cannot be closed, {number:.3g} m or rad are left; take a '
                      'smaller step, or look for ground that the joints cannot follow',
        kernels.SECOND: f'the wheel is {-number:.3g} m inside the ground at another place than '
                        'its contact; take a smaller wheel or a smoother ground',
        kernels.TOO_SMALL: f'an error of {number:.3g} m cannot be made smaller; take a larger '
                           'tolerance, or smoother inputs and ground',
    }[code]
    what = WHAT[code]
    part = f'{"joint" if code == kernels.LIMIT else "wheel"} {name} ' if name else ''
    return RunEvent(what, when, name, place, number,
                    f'{what} at t = {when:.6g} s, {part}at x = {place[0]:.4g}, '
                    f'y = {place[1]:.4g} m: {why}')


def drive(vehicle: Vehicle, ground: GroundArrays, checked: RunPlan, memory: ChainMemory,
          every: int, records: RunRecords) -> tuple[int, float, int, int, float]:
    """Run as `_motion_kernels.drive`, with memory that may have been used."""
    # zero time multiplied by a rate that is not a number is not zero
    memory.stage.fill(0.0)
    return kernels.drive(vehicle.packed, ground, checked, memory.block, memory.values, every,
                         records)


def simulate(vehicle: Vehicle, terrain: Terrain, state: State, desired: Desired, duration: float,
             stepping: Stepping = DEFAULT, weights: ArrayLike | None = None,
             camber_gain: float = 0.0) -> Run:
    """
    Simulate a vehicle on the ground.

    Parameters
    ----------
    vehicle : Vehicle
    terrain : Terrain
    state : State
        Closed: `place(...).require()`, or the end of another run.
    desired : (m,) or (N, m) array_like, or callable
        θ̇_d, rad/s or m/s: constant; one row for each of the N = duration/step + 1 records,
        joined by straight lines; or a function of the time since the start.
    duration : float, s
        A whole number of steps.
    stepping : Stepping
        Step, method and stabilisation of the integration.
    weights : (m,) array_like, optional
        Of the projection of the inputs, see `velocity`; a joint of infinite weight keeps its
        desired rate, and wheels slip where that is not possible.
    camber_gain : float, 1/s
        k of ``θ̇_d = desired − k θ`` for the joints in ``vehicle.camber``.

    Returns
    -------
    Run
        Ends early with an event where the ground is too sharp for a tyre, a wheel touches twice, a
        joint meets its limit, the constraints change rank, a finite ground ends, or the chains do
        not close.

    Raises
    ------
    StepError
        A fixed step travels more than a quarter of the terrain's `feature_length`.
    ValueError
        An invalid number, name or shape; the text names it.

    Examples
    --------
    >>> from c3p_description.pvc_model import PvcTricycle
    >>> from c3p_rough_ground.closed_chain.placement import place
    >>> from c3p_rough_ground.vehicles import pvc_tricycle
    >>> from c3p_rough_ground.terrain import Flat
    >>> tricycle = pvc_tricycle(PvcTricycle('example', 1.2, 0.6, 0.1, 0.25, 0.05))
    >>> start = place(tricycle, Flat(), 0, 0, 0).require()
    >>> run = simulate(tricycle, Flat(), start, [0, 1, 0, 1, 0, 1], 2.0)
    >>> run.position[-1].round(9).tolist()  # angle times radius
    [0.6, 0.0, 0.3]
    """
    checked = plan(vehicle, terrain, desired, duration, stepping, weights, camber_gain)
    memory = memory_of(vehicle, len(checked.tableau.b))
    memory.state[:] = vehicle.pack_state(state)
    records = records_for(checked.periods + 1, *vehicle.size)
    reached, when, code, which, number = drive(vehicle, ground_arrays(terrain), checked, memory,
                                               1, records)
    events = () if code == kernels.NOTHING else (
        _event(vehicle, memory.state, when, code, which, number),)
    states, rates, table, turning = (part[:reached + 1] for part in records)
    return Run(vehicle, terrain, stepping.step * np.arange(reached + 1), states, rates, table,
               turning, checked_weights(vehicle, weights), *stepping[1:3], stepping.step, events)
