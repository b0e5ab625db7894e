# SPDX-License-Identifier: Apache-2.0
"""
Drive power with and without passive variable camber: the question that Auchter & Moore leave open.

The tricycle with masses and tyres drives for 20 s over many grounds: with camber on springs, with
its camber locked, and with a variable length axle; each wheel at its own rate, or all three motors
with one torque as behind a differential gear.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import trapezoid

from c3p_description.reading.loader import load_tricycle
from c3p_experiments.auchter_moore.camber_power_page import camber_power_page
from c3p_experiments.auchter_moore.mujoco_check import SimulatorAgreement, agreement
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.loop.outcome import Row
from c3p_experiments.page_curves import by_kind
from c3p_rough_ground.dynamics import DynamicRun, Tyre, drive, heavy_tricycle
from c3p_rough_ground.dynamics.presets import AXLE, CAMBER, LOCKED
from c3p_rough_ground.terrain import Hills, SplineGround, Terrain
from c3p_rough_ground.worlds.terrain_files import load_terrain

NAME = 'camber_power'
TITLE = 'Drive power of the tricycle with camber, without, and with a variable axle'
SOURCE = 'Auchter & Moore, "future work"'
DURATION = 20.0
RATE = 1.0
SEEDS = 15
EQUAL = 'equal rates'
SHARED = 'one torque'
SOFT = 'soft'
HARD = 'hard'
# a tyre five times as stiff, whose slip at the same force is a twentieth
TYRES = {SOFT: Tyre(), HARD: Tyre(stiffness=200e3, shear_stiffness=200e3, shear_damping=400.0,
                                  relaxation=0.3)}
# bars: of the energy balance, of the agreement with MuJoCo, of the pace
BALANCE_BAR = 1e-6
MUJOCO_BAR = 0.02
PACE_BAR = 20.0

Progress = Callable[[float], None]


class CamberTrial(NamedTuple):
    """One run: ground, seed, form of the rear axle, control of the drives, tyre."""

    ground: str
    seed: int
    form: str
    control: str
    tyre: str = SOFT


class Measured(NamedTuple):
    """
    Measures of a run; powers are means over it.

    Attributes
    ----------
    drive_power : float, W
        Of all motors together while they drive.
    net_power : float, W
        With the power that flows back.
    circulating_power : float, W
        That some wheels take while others brake.
    slip_power, rolling_power, damping_power, joint_power : float, W
        Dissipated by slip, rolling resistance, normal to the ground, in the joints.
    slip_rms : float, m/s
    passive_max : float, rad or m
        Largest deflection of a passive joint.
    distance : float, m
    balance_error : float
    pace : float
        Robot time per processor time.
    ended : str
    """

    drive_power: float
    net_power: float
    circulating_power: float
    slip_power: float
    rolling_power: float
    damping_power: float
    joint_power: float
    slip_rms: float
    passive_max: float
    distance: float
    balance_error: float
    pace: float
    ended: str


def ground_of(name: str, seed: int) -> Terrain:
    """Return a ground of the study: ``climb``, ``random`` (the paper's), ``hills``."""
    if name == 'climb':
        return load_terrain('plateau_20deg')
    return SplineGround.random(seed) if name == 'random' else Hills.random(seed)


def plan(seeds: Sequence[int]) -> list[CamberTrial]:
    """Return the runs: every form and control on every ground, and hard tyres on the paper's."""
    trials = [CamberTrial(ground, seed, form, control)
              for ground, some in (('climb', (0,)), ('random', seeds), ('hills', seeds))
              for seed in some for form in (LOCKED, CAMBER, AXLE) for control in (EQUAL, SHARED)]
    return trials + [CamberTrial('random', seed, form, EQUAL, HARD)
                     for seed in seeds for form in (LOCKED, CAMBER, AXLE)]


def carry_out(trial: CamberTrial, robot: str | Path = 'pvc_tricycle', duration: float = DURATION
              ) -> tuple[DynamicRun, Measured]:
    """Drive a `trial` with a `robot`, a tricycle, for a `duration`; return run and measures."""
    heavy = heavy_tricycle(load_tricycle(robot), trial.form, trial.control == SHARED,
                           TYRES[trial.tyre])
    spins = heavy.vehicle.spins
    desired = [RATE * (k in spins) for k in range(heavy.vehicle.size[0])]
    begin = time.process_time()
    run = drive(heavy, ground_of(trial.ground, trial.seed), desired, duration)
    return run, measure(run, duration / max(1e-9, time.process_time() - begin))


def measure(run: DynamicRun, pace: float) -> Measured:
    """Return the measures of a `run`; `pace` is passed on."""
    power = run.motor_power
    span = float(run.time[-1]) or 1.0
    total = power.sum(axis=1)
    lost = (run.dissipated[-1] - run.dissipated[0]) / span

    def mean(values: np.ndarray) -> float:
        return float(trapezoid(values, run.time) / span)

    spins = run.heavy.vehicle.spins
    passive = [k for k in range(run.joint.shape[1]) if k not in spins and k != 0]
    return Measured(
        mean(np.maximum(total, 0.0)), float((run.work[-1] - run.work[0]).sum() / span),
        mean(np.maximum(power, 0.0).sum(axis=1) - np.maximum(total, 0.0)), float(lost[1]),
        float(lost[2]), float(lost[0]), float(lost[3]),
        float(np.sqrt(np.mean(run.slip**2))),
        float(np.abs(run.joint[:, passive]).max()) if passive else 0.0,
        float(np.linalg.norm(np.diff(run.position, axis=0), axis=1).sum()), run.balance_error,
        pace, run.ended)


def camber_power(out: Path, options: Conditions, progress: Progress = lambda done: None,
                 seeds: int = SEEDS) -> dict[str, Any]:
    """
    Drive all trials and compare them; write page and curves.

    Parameters
    ----------
    out : Path
        Directory.
    options : Conditions
        `seed` is the first of the `seeds`.
    progress : callable
        Takes the number of runs done.
    seeds : int
        Number of seeds of each random ground.

    Returns
    -------
    dict
        For JSON.
    """
    robot = options.robot or 'pvc_tricycle'
    duration = options.duration or DURATION
    chosen = range(options.seed, options.seed + seeds)
    found: dict[CamberTrial, Measured] = {}
    shown: dict[str, DynamicRun] = {}
    for trial in plan(chosen):
        run, found[trial] = carry_out(trial, robot, duration)
        if trial[:2] == ('random', options.seed) and trial[3:] == (EQUAL, SOFT):
            shown[trial.form] = run
        progress(float(len(found)))
    checked = agreement(robot, options.seed, duration)
    base = out / NAME
    metrics = compare(found, checked) | {'conditions': {
        'robot': str(robot), 'duration_s': duration, 'drive_rate': RATE,
        'seeds': f'{chosen[0]} to {chosen[-1]}'}}
    files = camber_power_page(TITLE, SOURCE, metrics, found, shown, checked, base)
    return metrics | {'files': {
        **by_kind(files), 'runs': str(_write(found, base.with_suffix('.csv')))}}


def _write(found: dict[CamberTrial, Measured], path: Path) -> Path:
    """Write one row per run."""
    with path.open('w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file)
        # the pace is that of the computer, and no result
        names = [name for name in Measured._fields if name != 'pace']
        writer.writerow([*CamberTrial._fields, *names])
        for trial, measured in found.items():
            writer.writerow([*trial, *(getattr(measured, name) for name in names)])
    return path


def median_worst(values: Iterable[float]) -> dict[str, float]:
    """Return median, least and largest of `values`."""
    values = list(values)
    return {'median': float(np.median(values)), 'least': min(values), 'largest': max(values)}


def compare(found: dict[CamberTrial, Measured], checked: SimulatorAgreement | None) -> dict[str,
                                                                                            Any]:
    """
    Return the comparison of all runs for JSON.

    For each ground, tyre and control, and each form: median, least and largest of the power, the
    slip loss and, against the locked vehicle on the same ground, the power that it takes more.
    Grounds where any form ended early are left out of all; ``left_out`` counts them. `checked`
    is the agreement with MuJoCo.
    """
    ended = {(trial.ground, trial.seed) for trial, m in found.items() if m.ended}
    kept = {t: m for t, m in found.items() if (t.ground, t.seed) not in ended}
    groups: dict[str, Any] = {}
    for trial, m in kept.items():
        key = f'{trial.ground}, {trial.control}' + (', hard' if trial.tyre == HARD else '')
        locked = kept[trial._replace(form=LOCKED)]
        part = groups.setdefault(key, {}).setdefault(trial.form, {
            'drive_power_w': [], 'more_power': [], 'more_power_w': [], 'slip_power_w': [],
            'slip_rms_mps': [], 'circulating_power_w': []})
        part['drive_power_w'].append(m.drive_power)
        part['more_power'].append(m.drive_power / locked.drive_power - 1.0)
        part['more_power_w'].append(m.drive_power - locked.drive_power)
        part['slip_power_w'].append(m.slip_power)
        part['slip_rms_mps'].append(m.slip_rms)
        part['circulating_power_w'].append(m.circulating_power)
    summary = {key: {form: {name: median_worst(values) for name, values in part.items()}
                     for form, part in forms.items()} for key, forms in groups.items()}
    balance = max(m.balance_error for m in found.values())
    pace = float(np.median([m.pace for m in found.values()]))
    out = {'runs': len(found), 'left_out': len(ended), 'balance_error_max': balance,
           'pace_median': pace, 'groups': summary}
    if checked is not None:
        out['mujoco'] = checked.metrics()
    error = 0.0 if checked is None else checked.power_error
    return out | {'reached': bool(balance <= BALANCE_BAR and error <= MUJOCO_BAR)}


def _group_rows() -> list[Row]:
    rows = []
    for ground, what in ((f'random, {EQUAL}', 'random, equal rates'),
                         (f'random, {SHARED}', 'random, one torque'),
                         (f'random, {EQUAL}, hard', 'random, hard tyres'),
                         (f'hills, {EQUAL}', 'hills, equal rates'),
                         (f'climb, {EQUAL}', 'climb, equal rates')):
        rows.append(Row(f'groups.{ground}.locked.drive_power_w.median',
                        f'{what}: drive power, camber locked, median', 'W', digits=3))
        for form, name in ((CAMBER, 'camber'), (AXLE, 'variable axle')):
            for key, which in (('median', 'median'), ('largest', 'largest')):
                rows.append(Row(f'groups.{ground}.{form}.more_power.{key}',
                                f'{what}: more with {name}, {which}', '%', 100.0))
        rows += [Row(f'groups.{ground}.{form}.slip_power_w.median',
                     f'{what}: slip loss, {name}, median', 'mW', 1e3, digits=1)
                 for form, name in ((LOCKED, 'locked'), (CAMBER, 'camber'),
                                    (AXLE, 'variable axle'))]
    return rows


ROWS = (
    Row('balance_error_max', 'energy balance, largest error', digits=1, scientific=True,
        bar=BALANCE_BAR),
    Row('mujoco.power_error', 'drive power against MuJoCo, largest difference', '%', 100.0,
        bar=MUJOCO_BAR),
    Row('mujoco.work_error', 'net work against MuJoCo, largest difference', '%', 100.0),
    Row('pace_median', 'faster than real time, median, processor', 'times', digits=0,
        bar=PACE_BAR, at_least=True),
    Row('left_out', 'grounds left out, a run ended early', digits=0), *_group_rows())
