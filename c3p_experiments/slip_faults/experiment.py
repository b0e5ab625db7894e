# SPDX-License-Identifier: Apache-2.0
"""Experiment: faults found, named, and alarms without one; operating curves over thresholds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs.run_log import Joints
from c3p_description.model import Array, CasterRobot
from c3p_experiments.loop.conditions import Bench
from c3p_experiments.loop.outcome import ExperimentRun, Outcome, Row
from c3p_experiments.parallel.workers import Workers, computing
from c3p_experiments.robots.random_robots import random_robot
from c3p_experiments.slip_faults.injected import (
    ENCODERS,
    SLIPPING,
    with_encoder_fault,
    with_slip,
)
from c3p_experiments.slip_faults.poses import STUCK_SPAN, drifted, stuck_drives
from c3p_experiments.slip_faults.quiet_driving import (
    LIMITS,
    SPAN,
    QuietDrive,
    all_driven,
    encoder_steps,
    quiet_drive,
    quiet_drives,
    wrong,
)
from c3p_experiments.slip_faults.scenes import HARMLESS, SLIPPERY, Scene, drive, ring
from c3p_experiments.slip_faults.scoring import (
    AFTER,
    LABEL_OF,
    FaultCase,
    Watched,
    score,
    true_slips,
    watch,
)
from c3p_kinematics.fault_report import KINDS
from c3p_simulation.plants.timing import SampleTiming

# random robots, and first seed of drives and descriptions: others serve the development
RANDOM = (104, 107)
FIRST = 7000

# first seeds of the drives without faults and of those with a stuck encoder, by the seed of the
# conditions
QUIET_FIRST = 1_000_000
QUIET_SEEDS = 1000
STUCK_FIRST = 500_000
STUCK_SEEDS = 100

# numbers of casters of robots like that of the bench
RINGS = (4, 6)

# durations of scenes, s
CLEAN = 30.0
FAULTY = 20.0

# hours of driving without faults; encoder faults per kind and robot; slips in any direction, and
# their speed, m/s
HOURS = 1.0
FAULTS = 8
SLIPS = 60
SLIP_SPEED = 0.1

# drives in which a steering encoder drifts, and drives in which a wheel encoder sticks
DRIFTS = 16
STUCK = 12

# time after which a fault must be found, s, and trace from which it counts [m]
SOON = 0.1
TRACE = 0.001

# runs, for the progress: scenes of five robots, drives without faults, and with a stuck encoder
RUNS = 5 * 5 + math.ceil(3600.0 * HOURS / SPAN) + STUCK

ROWS = (
    Row('found_p50_s', 'fault found after, median', 'ms', 1e3, digits=0, bar=SOON, stretch=0.05),
    Row('found_p95_s', 'fault found after, p95', 'ms', 1e3, digits=0, bar=SOON, stretch=0.05),
    Row('found_in_time_ratio', 'found within 100 ms', '%', 100.0, digits=1),
    Row('right_wheel_ratio', 'right wheel, of those named', '%', 100.0, digits=1, bar=0.99,
        at_least=True),
    Row('right_name_ratio', 'right wheel and name, of those named', '%', 100.0, digits=1,
        bar=0.99, at_least=True),
    Row('named_ratio', 'named with 95 % confidence', '%', 100.0, digits=1),
    Row('false_alarms_per_hour', 'false alarms in an hour', '1/h', bar=0.0),
    Row('slip_alarms', 'alarms on true slip meanwhile', digits=0),
    Row('slips_0_1_mps.wrong_before_ratio', 'slip of 0.1 m/s in any direction, wrong wheel before',
        '%', 100.0, digits=1),
    Row('slips_0_1_mps.wrong_ratio', 'the same, wrong wheel now', '%', 100.0, digits=1,
        bar=0.01),
    Row('slips_0_1_mps.named_ratio', 'the same, wheel named', '%', 100.0, digits=1),
    Row('drift_pose_error_m.before.largest', 'pose after a steering encoder drifted, largest, '
        'before', 'cm', 100.0),
    Row('drift_pose_error_m.after.largest', 'the same, without its caster', 'cm', 100.0,
        bar=0.02),
    Row('stuck_pose_error_m.before.largest', 'pose 24 s after a wheel encoder stuck, largest, '
        'before', 'cm', 100.0),
    Row('stuck_pose_error_m.after.median', 'the same, without its row, median', 'cm', 100.0,
        bar=0.005),
    Row('stuck_pose_error_m.after.largest', 'the same, largest', 'cm', 100.0, bar=0.02),
)


class FaultTrials(NamedTuple):
    """
    Trials of the experiment.

    Attributes
    ----------
    random : sequence of int
        Seeds of random robots.
    hours : float
        Duration of distinct driving without faults.
    faults, slips : int
        Encoder faults of each kind for each robot, and slips of `SLIP_SPEED` in any direction of
        the bench's robot.
    clean, faulty : float, s
        Durations of the drives.
    rings : sequence of int
        Numbers of casters.
    drifts, stuck : int
        Drifting steering encoders, and drives with a stuck wheel encoder, whose effect on odometry
        is measured.
    stuck_span : (2,) tuple, s
        Time before and after a wheel encoder has stuck.
    """

    random: Sequence[int] = RANDOM
    hours: float = HOURS
    faults: int = FAULTS
    slips: int = SLIPS
    clean: float = CLEAN
    faulty: float = FAULTY
    rings: Sequence[int] = RINGS
    drifts: int = DRIFTS
    stuck: int = STUCK
    stuck_span: tuple[float, float] = STUCK_SPAN


def slip_faults(bench: Bench, trials: FaultTrials | None = None,
                workers: Workers | None = None) -> Outcome:
    """
    Find and name faults in scenes of the plant and in recorded drives.

    Parameters
    ----------
    bench : Bench
        Its robot, rings of casters like its first, and random robots are driven.
    trials : FaultTrials, optional
    workers : Workers, optional
        Of the drives without faults; default: a process for each core.
    """
    trials = trials or FaultTrials()
    robots = [bench.robot, *(ring(bench.robot, n) for n in trials.rings),
              *(all_driven(random_robot(k)) for k in trials.random)]
    seed = FIRST + 100 * bench.conditions.seed
    steps = encoder_steps(bench.conditions)
    timing = bench.conditions.sensors.timing
    driven = [_scenes(bench, robot, seed + k, trials.clean, trials.faulty)
              for k, robot in enumerate(robots)]
    harmless = [s for scenes in driven for s in scenes if s.kind in HARMLESS]
    cases = [case for scenes in driven for s in scenes if s.kind in SLIPPERY
             for case in _of_scene(s, steps, timing, seed)]
    for k, scene in enumerate(s for s in harmless if s.kind == 'clean'):
        cases += _of_encoders(scene, steps, timing, [seed, k], trials.faults)
    quiet = _quiet(bench, robots, trials.hours, workers or Workers())
    oblique = _oblique(harmless[0], steps, timing, seed, trials.slips)
    drift_errors = drifted(harmless[0], steps, timing, seed, trials.drifts)
    stuck_errors = stuck_drives(bench, steps, STUCK_FIRST + STUCK_SEEDS * bench.conditions.seed,
                                trials.stuck, trials.stuck_span)
    driving = sum(drive.time for drive in quiet) / 3600.0
    metrics = {'reached': True, **_summary(cases), 'hours': driving,
               'false_alarms_per_hour': sum(d.false_alarms for d in quiet) / driving,
               'slip_alarms': sum(d.slip_alarms for d in quiet),
               'quiet_drives': sum(not drive.fallen for drive in quiet),
               'fallen_drives': sum(drive.fallen for drive in quiet),
               'robots': [r.name for r in robots], 'slips_0_1_mps': _slip_summary(oblique),
               'kinds': {kind: _summary([c for c in cases if c.kind == kind])
                         for kind in dict.fromkeys(c.kind for c in cases)},
               'drift_pose_error_m': drift_errors.summary(),
               'stuck_pose_error_m': stuck_errors.summary(),
               'roc': {'limits': LIMITS.tolist(),
                       'false_alarms_per_hour': _rates([d.alarms for d in quiet], driving),
                       'found_ratio': _found(cases, 'largest'),
                       'before': {
                           'false_alarms_per_hour': _rates([d.before for d in quiet], driving),
                           'found_ratio': _found(cases, 'before')}}}
    facts = {'cases': cases, 'drifted': drift_errors, 'stuck': stuck_errors,
             'largest': [drive.largest for drive in quiet]}
    return Outcome(metrics, (ExperimentRun('', harmless[0].log, facts),))


def _scenes(bench: Bench, robot: CasterRobot, seed: int, clean: float, faulty: float
            ) -> list[Scene]:
    """Return the drives of a robot; clean ones only on the analytic plant."""
    kinds = {'clean': clean} if bench.conditions.plant != 'mujoco' else {
        'clean': clean, 'carpet': 0.5 * clean, 'oil': faulty, 'blocked': faulty, 'curb': faulty}
    out = []
    for kind, duration in kinds.items():
        out.append(drive(robot, kind, seed, duration, bench.conditions.plant,
                         sensors=bench.conditions.sensors, rate=bench.conditions.rate))
        bench.done()
    return out


def _of_scene(scene: Scene, steps: tuple[float, float], timing: SampleTiming, seed: int
              ) -> list[FaultCase]:
    """Return what became of the slips of a scene."""
    dt = float(np.median(np.diff(scene.joints.time)))
    seen = watch(*wrong(scene, seed), steps, timing)
    count = len(seen.alarm)
    return [score(scene.kind, 0 if slip.across < 0.5 else 2, slip.wheel, seen, slip.begin,
                  min(count, slip.end + round(AFTER / dt)), dt)
            for slip in true_slips(scene.slip, dt)]


def _of_encoders(scene: Scene, steps: tuple[float, float], timing: SampleTiming,
                 seed: list[int], count: int) -> list[FaultCase]:
    """Return what became of encoder faults in a drive without slip."""
    robot, joints = wrong(scene, seed[0])
    dt = float(np.median(np.diff(joints.time)))
    before = round(1.0 / dt)
    length = round(4.0 / dt)
    out = []
    slipped = np.zeros(len(joints.time), bool)
    for slip in true_slips(scene.slip, dt):
        slipped[slip.begin:slip.end] = True
    for number, kind in enumerate(ENCODERS):
        for k in range(count):
            rng = np.random.default_rng([*seed, number, k])
            at = int(rng.integers(before, len(joints.time) - length))
            caster = int(rng.integers(robot.count))
            levers = (float(robot.wheel_radius[caster]), float(robot.caster_offset[caster]))
            part = slice(at - before, at + length)
            if slipped[part].any():
                continue
            cut = Joints(*(column[part] for column in joints))
            shown = with_encoder_fault(cut, kind, caster, before, steps, levers, rng)
            trace = np.maximum(
                levers[0] * np.abs(shown.wheel_angle - cut.wheel_angle)[:, caster],
                levers[1] * np.abs(shown.steering - cut.steering)[:, caster])
            visible = np.flatnonzero(trace > TRACE)
            # a stuck encoder of an axis that does not turn is right
            if not len(visible) or visible[0] > length // 2:
                continue
            seen = watch(robot, shown, steps, timing)
            out.append(score(kind, LABEL_OF[KINDS.index(kind)], caster, seen, int(visible[0]),
                             len(trace), dt))
    return out


def _quiet(bench: Bench, robots: Sequence[CasterRobot], hours: float, workers: Workers
           ) -> list[QuietDrive]:
    """Return distinct drives without faults."""
    drives = quiet_drives(robots, bench.conditions,
                          QUIET_FIRST + QUIET_SEEDS * bench.conditions.seed, hours)
    out = []
    with computing(workers) as compute:
        for done in compute(quiet_drive, drives):
            out.append(done)
            bench.done()
    return out


def _oblique(scene: Scene, steps: tuple[float, float], timing: SampleTiming, seed: int,
             count: int) -> list[FaultCase]:
    """Return what became of slips of `SLIP_SPEED` in any direction."""
    robot, joints = wrong(scene, seed)
    dt = float(np.median(np.diff(joints.time)))
    zero = joints.steering[0] - scene.joints.steering[0]
    out = []
    for k in range(count):
        rng = np.random.default_rng([seed, 77, k])
        at = int(rng.integers(200, len(joints.time) - 500))
        caster = int(rng.integers(robot.count))
        angle = rng.uniform(0, 2 * np.pi)
        slip = SLIP_SPEED * np.array([np.cos(angle), np.sin(angle)])
        shown = with_slip(scene, caster, at, slip, steps)
        shown = shown._replace(steering=shown.steering + zero)
        seen = watch(robot, shown, steps, timing, at - 200,
                     at + round((SLIPPING + AFTER) / dt))
        out.append(_by_wheel(seen, caster, dt))
    return out


def _by_wheel(seen: Watched, caster: int, dt: float) -> FaultCase:
    """Score by the wheel alone, from sample 200 on."""
    merged = np.zeros((*seen.probability.shape[:2], len(KINDS)))
    merged[..., 0] = seen.probability.sum(2)
    return score('slip', 0, caster, seen._replace(probability=merged), 200, len(seen.alarm), dt)


def _rates(alarms: Sequence[Array], hours: float) -> list[float]:
    """Return alarms per hour at each threshold, from those of each drive."""
    return (np.sum(alarms, 0) / hours).tolist()


def _found(cases: Sequence[FaultCase], field: str) -> list[float]:
    """Return the fraction of faults found in time at each threshold."""
    largest = np.array([getattr(case, field) for case in cases])
    return [float((largest > limit).mean()) if len(cases) else math.nan for limit in LIMITS]


def _summary(cases: Sequence[FaultCase]) -> dict[str, Any]:
    """Return counts and times of some faults."""
    if not cases:
        return {'faults': 0}
    found = np.array([c.found for c in cases])
    told = np.sort([c.named_after for c in cases])
    named = [c for c in cases if c.named >= 0]

    def quantile(values: Array, part: float) -> float | None:
        value = float(np.sort(values)[min(len(values) - 1, int(part * len(values)))])
        return value if math.isfinite(value) else None

    return {'faults': len(cases), 'found_p50_s': quantile(found, 0.5),
            'found_p95_s': quantile(found, 0.95),
            'found_in_time_ratio': float((found <= SOON).mean()),
            'missed': int(np.isinf(found).sum()), 'named_ratio': len(named) / len(cases),
            'named_p50_s': quantile(told, 0.5), 'named_p95_s': quantile(told, 0.95),
            'right_wheel_ratio': _mean([bool(c.wheel) for c in named]),
            'right_name_ratio': _mean([bool(c.name) for c in named])}


def _slip_summary(cases: Sequence[FaultCase]) -> dict[str, Any]:
    before = [c.wheel_before for c in cases if c.wheel_before is not None]
    named = [c for c in cases if c.named >= 0]
    return {'slips': len(cases), 'found_in_time_ratio': _mean([c.found <= SOON for c in cases]),
            'named_ratio': len(named) / max(len(cases), 1),
            'wrong_ratio': _mean([not c.wheel for c in named]),
            'named_before_ratio': len(before) / max(len(cases), 1),
            'wrong_before_ratio': _mean([not right for right in before])}


def _mean(values: Sequence[bool]) -> float | None:
    return float(np.mean(values)) if len(values) else None


__all__ = ['ROWS', 'RUNS', 'slip_faults']
