# SPDX-License-Identifier: Apache-2.0
"""
Slip of a vehicle with locked camber on the path of one with free camber, and its causes.

The platform follows x, y and heading of a run with its camber joints locked at zero; height, roll,
pitch and settling joints follow from the ground. The touching point of wheel i then moves with
``s_i + f_i α̇_i``, f_i per unit of spin. Driving all wheels at the one rate that is best for all
leaves the slip `equal`; driving each at its own best rate leaves `best`, which no drive can
remove. Their difference is caused by equal drive rates.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_rough_ground.closed_chain.description import Array
from c3p_rough_ground.closed_chain.placement import place
from c3p_rough_ground.closed_chain.run import Run
from c3p_rough_ground.closed_chain.vehicle import State, Vehicle, yaw_of
from c3p_rough_ground.closed_chain.velocity import contact_jacobians

# rad; heading of the locked vehicle off the path's
HEADING = 1e-10
# corrections of the heading, of which the tilt takes a part of second order
MOST_TURNS = 8


class LockedSlip(NamedTuple):
    """
    Slip speed of each wheel without camber.

    Attributes
    ----------
    time : (N,) array, s
    equal : (N, n) array, m/s
        All drives at one rate, the best for all together.
    best : (N, n) array, m/s
        Each drive at its best rate: the slip caused by the missing camber.
    equal_velocity, best_velocity : (N, n, 2) arrays, m/s
        In contW: along the wheel, and across.
    rates : (N, n) array, rad/s
        The best rates.
    """

    time: Array
    equal: Array
    best: Array
    equal_velocity: Array
    best_velocity: Array
    rates: Array

    @property
    def equal_drive_fraction(self) -> float:
        """Fraction of the mean slip caused by equal drive rates, 1 − mean best / mean equal."""
        return float(1.0 - self.best.mean() / self.equal.mean())

    @property
    def equal_drive_energy_fraction(self) -> float:
        """The same of the mean squares, in which both parts add up exactly."""
        return float(1.0 - np.mean(self.best**2) / np.mean(self.equal**2))


def _locked_state(run: Run, k: int, joint: Array, yaw: float) -> State:
    """Return the state with x, y and heading of record k and the joints given."""
    x, y = run.position[k, :2]
    turn = yaw
    for _ in range(MOST_TURNS):
        state = place(run.vehicle, run.terrain, x, y, turn, joint).require()
        off = math.remainder(yaw - yaw_of(state.rotation), 2.0 * math.pi)
        if abs(off) < HEADING:
            break
        turn += off
    return state


def _platform_motion(vehicle: Vehicle, state: State, jacobians: tuple[Array, Array],
                     path: Array, moving: Array) -> tuple[Array, Array]:
    """
    Return the twist in {P} that follows the path on the ground, and all joint rates.

    Unknown: six numbers and the settling rates. Known: ẋ, ẏ, rate of heading, and no velocity of
    any touching point along its normal.
    """
    n = vehicle.size[1]
    grasp, reach = jacobians
    settling = np.array([vehicle.index(name) for name in vehicle.settling], int)
    normal = 6 * np.arange(n) + 2
    rotation = state.rotation
    x = state.rotation[:, 0]
    rows = np.zeros((3 + n, 6 + len(settling)))
    rows[:2, :3] = rotation[:2]
    # heading = atan2(x₂, x₁) of the platform's x axis, whose rate is ω × x
    level = np.array([-x[1], x[0], 0.0]) / (x[0] ** 2 + x[1] ** 2)
    rows[2, 3:6] = np.cross(x, level) @ rotation
    rows[3:, :6], rows[3:, 6:] = grasp[normal, :6], reach[np.ix_(normal, settling)]
    right = np.concatenate([path, -reach[normal] @ moving])
    found = np.linalg.lstsq(rows, right, rcond=None)[0]
    rates = moving.copy()
    rates[settling] += found[6:]
    return found[:6], rates


def locked_slip(run: Run, every: int = 10) -> LockedSlip:
    """
    Return the slip of the wheels on the path of a run with its camber joints locked at zero.

    Parameters
    ----------
    run : Run
        Of a vehicle with camber joints; its steering angles and rates are kept.
    every : int
        Evaluate each `every`-th record.

    Raises
    ------
    ContactError
        The vehicle without camber cannot be placed somewhere on the path.
    ValueError
        The vehicle has no camber joint.
    """
    vehicle = run.vehicle
    n = run.vehicle.size[1]
    camber = [vehicle.index(name) for name in vehicle.camber]
    spins = list(vehicle.spins)
    settling = [vehicle.index(name) for name in vehicle.settling]
    if not camber:
        raise ValueError(f'{vehicle.name} has no camber joint to lock: name them in `camber`')
    records = range(0, len(run), every)
    equal = np.empty((len(records), n, 2))
    best = np.empty((len(records), n, 2))
    drives = np.empty((len(records), n))
    for at, k in enumerate(records):
        joint = run.joint[k].copy()
        moving = run.joint_rates[k].copy()
        joint[camber] = 0.0
        moving[[*camber, *spins, *settling]] = 0.0
        x = run.rotation[k][:, 0]
        turning = np.cross(run.turning[k], x)
        heading = (x[0] * turning[1] - x[1] * turning[0]) / (x[0] ** 2 + x[1] ** 2)
        state = _locked_state(run, k, joint, yaw_of(run.rotation[k]))
        jacobians = contact_jacobians(vehicle, state)
        twist, rates = _platform_motion(vehicle, state, jacobians,
                                        np.array([*run.rates[k, :2], heading]), moving)
        both = (jacobians[0][:, :6] @ twist + jacobians[1] @ rates).reshape(n, 6)[:, :2]
        spin = np.stack([jacobians[1][6 * i:6 * i + 2, j] for i, j in enumerate(spins)])
        drives[at] = -np.sum(spin * both, axis=1) / np.sum(spin**2, axis=1)
        equal[at] = both - spin * np.sum(spin * both) / np.sum(spin**2)
        best[at] = both + spin * drives[at][:, None]
    return LockedSlip(run.time[::every], np.linalg.norm(equal, axis=2),
                      np.linalg.norm(best, axis=2), equal, best, drives)
