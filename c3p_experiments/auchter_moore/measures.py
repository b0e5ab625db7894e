# SPDX-License-Identifier: Apache-2.0
"""Measures of a run over rough ground; pure functions of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from c3p_rough_ground.closed_chain import LockedSlip, Run, contact_jacobians, place, velocity
from c3p_rough_ground.closed_chain.vehicle import yaw_of

Array = NDArray[np.float64]

# records between two evaluations of condition and slip without camber
EVERY = 5
# smaller slips are rounding, m/s
NO_SLIP = 1e-9


class Conditioning(NamedTuple):
    """
    Conditioning of the velocities along a run, k records.

    Attributes
    ----------
    time : (k,) array, s
    condition : (k,) array
        Of J_GC.
    smallest_input : (k,) array
        Smallest singular value of the constraints on the inputs, C_θ.
    rank, free : (k,) int arrays
        Of J_GC; number of input rates that can be chosen.
    """

    time: Array
    condition: Array
    smallest_input: Array
    rank: NDArray[np.int64]
    free: NDArray[np.int64]


class LeastSlip(NamedTuple):
    """
    Slip of wheels without camber, with the platform twist of least slip, k records.

    Attributes
    ----------
    time : (k,) array, s
    equal, best : (k, n) arrays, m/s
        All drives at 1 rad/s; each at the rate that suits it best, 1 rad/s on the mean.
    """

    time: Array
    equal: Array
    best: Array


def conditioning(run: Run, every: int = EVERY) -> Conditioning:
    """Return the conditioning of the velocities of a `run`, at every `every`-th record."""
    found = [velocity(run.vehicle, run.terrain, run.state(k), run.desired[k], run.weights)
             for k in range(0, len(run), every)]
    return Conditioning(run.time[::every], *(np.array(column) for column in zip(*(
        (v.condition, v.input_singular_values[-1], v.rank, v.free) for v in found), strict=True)))


def least_slip(run: Run, every: int = EVERY) -> LeastSlip:
    """
    Return the least slip of the vehicle of a run with camber locked at zero, on any path.

    At x, y, heading and steering angle of the run: the twist of the platform is free but for the
    wheels staying on the ground, so ``min ‖S t + f α̇‖`` over the twists t that leave no velocity
    along the normals; S and f are the tangential rows of J_GC and J_R. `locked_slip` of the
    closed-chain vehicle keeps to the path of the run instead, and slips more.

    Parameters
    ----------
    run : Run
        Of a vehicle whose camber and spins are all that moves but for the steering.
    every : int
        Records between two places.
    """
    vehicle = run.vehicle
    n = run.vehicle.size[1]
    camber = [vehicle.index(name) for name in vehicle.camber]
    spins = np.array(vehicle.spins, int)
    rows = np.arange(0, len(run), every)
    normal = 6 * np.arange(n) + 2
    tangential = np.concatenate([6 * np.arange(n), 6 * np.arange(n) + 1])
    # departures from equal rates, none on the mean
    apart = np.linalg.svd(np.ones((1, n)))[2][1:].T
    slips = np.empty((2, len(rows), n))
    for at, k in enumerate(rows):
        joint = run.joint[k].copy()
        joint[camber] = 0.0
        x, y = run.position[k, :2]
        grasp, reach = contact_jacobians(vehicle, place(
            vehicle, run.terrain, x, y, yaw_of(run.rotation[k]), joint).require())
        twists = np.linalg.svd(grasp[normal, :6])[2][n:].T
        moving = grasp[tangential, :6] @ twists
        driven = reach[np.ix_(tangential, spins)]
        for slip, freedoms in zip(slips, (moving, np.hstack([moving, driven @ apart])),
                                  strict=True):
            wanted = driven.sum(axis=1)
            left = wanted - freedoms @ np.linalg.lstsq(freedoms, wanted, rcond=None)[0]
            slip[at] = np.hypot(left[:n], left[n:])
    return LeastSlip(run.time[rows], *slips)


def rms(value: Array) -> float:
    """Return the root of the mean square over all wheels and times of `value`."""
    return float(np.sqrt(np.mean(np.square(value))))


def ground_slope(run: Run) -> Array:
    """Return the angle of the ground under each wheel of a `run` (N, n), rad."""
    gx, gy = run.terrain.derivatives(run.contact[..., 2], run.contact[..., 3])[1:3]
    return np.arctan(np.hypot(gx, gy))


def share(part: float, whole: float) -> float | None:
    """Return ``1 − part/whole``, None where the `whole` is rounding."""
    return 1.0 - part / whole if whole > NO_SLIP else None


def run_figures(run: Run, state: Conditioning, slip: LockedSlip, least: LeastSlip
                ) -> dict[str, Any]:
    """
    Return the metrics of a `run` with its `state`, `slip` and `least` slip, for JSON, SI units.

    Returns
    -------
    dict
        ``closure_l2_max`` of (12); ``rolling_l2_max`` of (4); ``material_slip_max_mps`` by
        differences of the motion; ``camber_max_rad``, ``steering_max_rad``; ``input_change_max``:
        how far a joint rate is from the desired one; ``wheel_lean_max_m``: horizontal distance of
        a wheel centre from its contact; ``locked_slip_*``: without camber on the same path, with
        equal drive rates and with the best; ``least_slip_*``: on whatever path; and more.
    """
    vehicle = run.vehicle
    camber = [vehicle.index(name) for name in vehicle.camber]
    steered = [i for i in range(vehicle.size[0]) if i not in (*camber, *vehicle.spins)]
    way = np.linalg.norm(np.diff(run.position, axis=0), axis=1).sum()
    rates = run.joint_rates[:, vehicle.spins]
    lean = (run.wheel_center - run.contact_point)[..., :2]
    slips = {f'{name}_{drives}_rms_mps': rms(getattr(part, drives))
             for name, part in (('locked_slip', slip), ('least_slip', least))
             for drives in ('equal', 'best')}
    return {
        'time_s': float(run.time[-1]),
        'ended_early': run.ended_early, 'events': [event.text for event in run.events],
        'closure_l2_max': float(run.closure_l2.max()),
        'rolling_l2_max': float(run.rolling_l2.max()),
        'material_slip_max_mps': float(run.material_slip.max()),
        'camber_max_rad': float(np.abs(run.joint[:, camber]).max()),
        'camber_final_rad': run.joint[-1, camber].tolist(),
        'steering_max_rad': float(np.abs(run.joint[:, steered]).max()),
        'input_change_max': float(np.abs(run.joint_rates - run.desired).max()),
        'drive_rate_range': [float(rates.min()), float(rates.max())],
        'wheel_lean_max_m': float(np.linalg.norm(lean, axis=-1).max()),
        'final_position_m': run.position[-1].tolist(),
        'height_climbed_m': float(run.position[-1, 2] - run.position[0, 2]),
        'path_length_m': float(way),
        'tilt_max_rad': float(np.arccos(np.clip(run.rotation[:, 2, 2].min(), -1.0, 1.0))),
        'slope_max_rad': float(ground_slope(run).max()),
        'condition_max': float(state.condition.max()), 'rank_min': int(state.rank.min()),
        'free_inputs': int(state.free.min()),
        'locked_slip_equal_max_mps': float(slip.equal.max()), **slips,
        **{f'{name}_equal_drives_share': share(slips[f'{name}_best_rms_mps'],
                                               slips[f'{name}_equal_rms_mps'])
           for name in ('locked_slip', 'least_slip')}}
