# SPDX-License-Identifier: Apache-2.0
"""Study of the vehicle on its circle: path, inverse dynamics, direct dynamics and their errors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c3p_description.agv_model import Agv
from c3p_description.model import Array
from c3p_experiments.saha_angeles.simulation import (
    AgvRun,
    circle_torque,
    exact_torque,
    frozen_state_rate,
    simulate,
    smoothed_table_torque,
    table_torque,
)
from c3p_multibody.agv.bodies import GROUND, constraint_matrix, wheel_loads
from c3p_multibody.agv.circle import Circle, JointPath, joint_path
from c3p_multibody.agv.dynamics import friction_torque, kinetic_energy
from c3p_multibody.agv.kinematics import least_squares_rates, twist_to_rates
from c3p_multibody.orthogonal_complement import constraint_rank

# tolerances of the paper, further ones, and that of the reference run
PAPER_TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
TOLERANCES = (*PAPER_TOLERANCES, 1e-7, 1e-9)
FINEST = 1e-13
# rows of the torque tables over the drive; the second has a row per second, as in the paper
TABLE_ROWS = (30, 60, 120, 600)
# far below the errors of the tables
TABLE_TOLERANCE = 1e-8
SAMPLES = 601
CALLS = 61
MILLIMETRE = 1e-3


class TorqueTable(NamedTuple):
    """A drive with a torque table: spacing [s], run, largest error, and its prediction from τ̈."""

    spacing: float
    run: AgvRun
    error: float
    predicted: float


class AgvStudy(NamedTuple):
    """
    Results of a study.

    Attributes
    ----------
    agv : Agv
    circle : Circle
    time : (k,) array, s
    path : JointPath
        At `time`.
    torque : (k, 2) array, N·m
    finest : AgvRun
        Exact torque, tolerance `FINEST`.
    exact, tabulated : dict
        Tolerance → run, exact torque and the table with 60 rows.
    tables : tuple of TorqueTable
    frozen : AgvRun
        Without ψ as a state, from a straight caster.
    loads : (m, 3, 3) array, N
        Forces of the ground on the wheels.
    """

    agv: Agv
    circle: Circle
    time: Array
    path: JointPath
    torque: Array
    finest: AgvRun
    exact: dict[float, AgvRun]
    tabulated: dict[float, AgvRun]
    tables: tuple[TorqueTable, ...]
    frozen: AgvRun
    loads: Array


def largest(run: AgvRun) -> float:
    """Return the largest error of a run in any joint at any time, rad."""
    return float(np.abs(run.error).max())


def study(agv: Agv, circle: Circle) -> AgvStudy:
    """Return the study of an `agv` on a `circle`."""
    time = np.linspace(0.0, circle.duration, SAMPLES)
    calls = np.linspace(0.0, circle.duration, CALLS)
    path = joint_path(agv, circle, time)
    torque = circle_torque(agv, circle, time)
    exact = exact_torque(agv, circle)
    rows = circle.duration / TABLE_ROWS[1]
    every = range(0, SAMPLES, (SAMPLES - 1) // (CALLS - 1))
    straight = Circle(circle.radius, circle.duration, circle.angle, 0.0)
    return AgvStudy(
        agv, circle, time, path, torque, simulate(agv, circle, exact, calls, FINEST),
        {tolerance: simulate(agv, circle, exact, calls, tolerance) for tolerance in TOLERANCES},
        {tolerance: simulate(agv, circle, table_torque(agv, circle, rows), calls, tolerance)
         for tolerance in TOLERANCES},
        tuple(_table(agv, circle, count) for count in TABLE_ROWS),
        simulate(agv, straight, exact_torque(agv, straight), calls, TABLE_TOLERANCE,
                 frozen_state_rate),
        np.array([wheel_loads(agv, path.caster[k], path.rates[k], torque[k]).forces
                  for k in every]))


def _table(agv: Agv, circle: Circle, count: int) -> TorqueTable:
    """Return the drive with a table of `count` rows; no step crosses one of its corners."""
    spacing = circle.duration / count
    calls = np.linspace(0.0, circle.duration, max(CALLS, count + 1))
    run = simulate(agv, circle, table_torque(agv, circle, spacing), calls, TABLE_TOLERANCE)
    smooth = simulate(agv, circle, smoothed_table_torque(agv, circle, spacing), calls,
                      TABLE_TOLERANCE)
    return TorqueTable(spacing, run, largest(run), largest(smooth))


def metrics_of(done: AgvStudy) -> dict[str, Any]:
    """Return the metrics of a study for JSON, SI units."""
    agv = done.agv
    circle = done.circle
    path = done.path
    rates = np.abs(path.rates).max(axis=0)
    return {
        'theta_end_rad': path.angles[-1].tolist(),
        'rate_max_rad_s': rates.tolist(),
        'acceleration_max_rad_s2': np.abs(path.accelerations).max(axis=0).tolist(),
        'torque_max_nm': np.abs(done.torque).max(axis=0).tolist(),
        'caster_steady_rad': float(path.caster[-1]),
        'direct_dynamics_error_rad': largest(done.finest),
        'direct_dynamics_steps': done.finest.integrated.steps,
        'tolerances': [{'tolerance': tolerance, 'exact_torque_error_rad': largest(run),
                        'table_error_rad': largest(done.tabulated[tolerance]),
                        'steps': run.integrated.steps}
                       for tolerance, run in done.exact.items()],
        'exact_torque_error_at_1e-5_rad': largest(done.exact[1e-5]),
        'table_error_at_1e-5_rad': largest(done.tabulated[1e-5]),
        'tables': [{'spacing_s': table.spacing, 'error_rad': table.error,
                    'predicted_rad': table.predicted} for table in done.tables],
        'prediction_miss': max(abs(table.error / table.predicted - 1) for table in done.tables),
        'without_caster_state_error_rad': largest(done.frozen),
        'work_balance_j': _work_balance(done),
        **_ground(done), **_least_squares(agv, circle)}


def _work_balance(done: AgvStudy) -> float:
    """Return the largest |kinetic energy − work of motors and friction| on the path."""
    loss = friction_torque(done.agv, done.path.caster, done.path.rates)
    power = np.einsum('ki,ki->k', done.torque + loss, done.path.rates)
    # Simpson's rule at every second sample
    h = done.time[1] - done.time[0]
    work = np.concatenate([[0.0], np.cumsum(
        h / 3 * (power[:-2:2] + 4 * power[1:-1:2] + power[2::2]))])
    energy = kinetic_energy(done.agv, done.path.caster[::2], done.path.rates[::2])
    return float(np.abs(energy - work).max())


def _ground(done: AgvStudy) -> dict[str, Any]:
    """Return rank of the constraints, and loads and friction at the ground."""
    found = constraint_rank(constraint_matrix(done.agv, float(done.path.caster[0])))
    apart = np.zeros(found.redundant.shape[1])
    together = np.zeros(found.redundant.shape[1])
    apart[[GROUND, GROUND + 3]] = (1, -1)
    together[[GROUND, GROUND + 3]] = (1, 1)
    across, along, up = np.moveaxis(done.loads, -1, 0)
    # the lateral forces of wheels 1 and 2 are determined as a sum only
    pair = np.hypot(across[:, 0] + across[:, 1], np.abs(along[:, :2]).sum(axis=1))
    single = np.hypot(across[:, 2], along[:, 2])
    return {
        'constraint_rows': found.redundant.shape[1], 'constraint_rank': found.rank,
        'lateral_difference_undetermined': float(np.linalg.norm(found.redundant @ apart)),
        'lateral_sum_undetermined': float(np.linalg.norm(found.redundant @ together)),
        'wheel_load_min_n': up.min(axis=0).tolist(),
        'friction_needed': float(max((pair / up[:, :2].sum(axis=1)).max(),
                                     (single / up[:, 2]).max()))}


def _least_squares(agv: Agv, circle: Circle) -> dict[str, Any]:
    """Return the rates of eq. (6c) for a twist that slips, in metres and in millimetres."""
    yaw = float(circle.sweep(circle.duration / 2).rate)
    # C instead of the axle on the tangent
    twist = np.array([0.0, circle.radius * yaw, yaw])
    fitting = twist - [agv.axle_distance * yaw, 0.0, 0.0]
    return {
        'rates_consistent_rad_s': twist_to_rates(agv, fitting).tolist(),
        'rates_least_squares_m_rad_s': least_squares_rates(agv, twist).tolist(),
        'rates_least_squares_mm_rad_s': least_squares_rates(agv, twist, MILLIMETRE).tolist()}
