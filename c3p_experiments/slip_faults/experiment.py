# SPDX-License-Identifier: Apache-2.0
"""Experiment: faults found, named, and alarms without one; operating curves over thresholds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs.run_log import Joints
from c3p_description.model import Array, CasterRobot
from c3p_experiments.loop.conditions import Bench
from c3p_experiments.loop.outcome import Outcome, Row, Run
from c3p_experiments.robots.random_robots import random_robot
from c3p_experiments.slip_faults.injected import (
    ENCODERS,
    SLIPPING,
    with_encoder_fault,
    with_slip,
)
from c3p_experiments.slip_faults.scenes import HARMLESS, SLIPPERY, Scene, drive, ring
from c3p_experiments.slip_faults.scoring import (
    AFTER,
    LABEL_OF,
    Case,
    Watched,
    false_alarms,
    score,
    true_slips,
    watch,
)
from c3p_kinematics.calibration.parameters import calibrated, parameters_of
from c3p_kinematics.faults import KINDS, FaultSettings
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_simulation.plants.parameter_errors import ParameterErrors, perturbed

# errors of the descriptions: uniform, with deviations of r 0.3 %, d 2 %, hip 1.7 mm, zero 0.3°
ERRORS = ParameterErrors(mass=0.0, com=0.0, wheel_radius=0.0052, caster_offset=0.035,
                         hip_position=0.003, steering_zero=math.radians(0.52))

# random robots, and first seed of drives and descriptions: others serve the development
RANDOM, FIRST = (104, 107), 7000

# numbers of casters of robots like that of the bench
RINGS = (4, 6)

# durations of scenes, s
CLEAN, FAULTY = 30.0, 20.0

# hours of driving without faults; encoder faults per kind and robot; slips in any direction, and
# their speed, m/s
HOURS, FAULTS, SLIPS, SLIP_SPEED = 1.0, 8, 60, 0.1

# part of the drives without faults for the curve of the slip monitor
BEFORE_PART = 0.15

# drifts of which the pose is measured, and the time before and after their begin, s
DRIFTS, DRIFT_SPAN = 16, (1.0, 6.0)

# thresholds of the curves, per the alarm limit
LIMITS = np.geomspace(0.02, 100.0, 60)

# time after which a fault must be found, s, and trace from which it counts [m]
SOON, TRACE = 0.1, 0.001

# runs, for the progress: scenes of five robots
RUNS = 5 * 5

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
    Row('slips_0_1_mps.wrong_before_ratio', 'slip of 0.1 m/s in any direction, wrong wheel before',
        '%', 100.0, digits=1),
    Row('slips_0_1_mps.wrong_ratio', 'the same, wrong wheel now', '%', 100.0, digits=1,
        bar=0.01),
    Row('slips_0_1_mps.named_ratio', 'the same, wheel named', '%', 100.0, digits=1),
    Row('drift_pose_error_m.before.largest', 'pose after a steering encoder drifted, largest, '
        'before', 'cm', 100.0),
    Row('drift_pose_error_m.after.largest', 'the same, without its caster', 'cm', 100.0,
        bar=0.02),
)


class Drifted(NamedTuple):
    """Errors of pose (m, k), m, over time (k,) [s], without and with the fault monitor."""

    time: Array
    before: Array
    after: Array


def slip_faults(bench: Bench, random: Sequence[int] = RANDOM, hours: float = HOURS,
                faults: int = FAULTS, slips: int = SLIPS, clean: float = CLEAN,
                faulty: float = FAULTY, rings: Sequence[int] = RINGS,
                drifts: int = DRIFTS) -> Outcome:
    """
    Find and name faults in scenes of the plant and in recorded drives.

    Parameters
    ----------
    bench : Bench
        Its robot, rings of casters like its first, and random robots are driven.
    random : sequence of int
        Seeds of random robots.
    hours : float
        Duration of driving without faults, by as many wrong descriptions as it takes.
    faults, slips : int
        Encoder faults of each kind for each robot, and slips of `SLIP_SPEED` in any direction of
        the bench's robot.
    clean, faulty : float, s
        Durations of the drives.
    rings : sequence of int
        Numbers of casters.
    drifts : int
        Drifting steering encoders whose effect on odometry is measured.
    """
    robots = [bench.robot, *(ring(bench.robot, n) for n in rings),
              *(_all_driven(random_robot(k)) for k in random)]
    seed = FIRST + 100 * bench.conditions.seed
    steps = _steps(bench)
    driven = [_scenes(bench, robot, seed + k, clean, faulty) for k, robot in enumerate(robots)]
    harmless = [s for scenes in driven for s in scenes if s.kind in HARMLESS]
    cases = [case for scenes in driven for s in scenes if s.kind in SLIPPERY
             for case in _of_scene(s, steps, seed)]
    for k, scene in enumerate(s for s in harmless if s.kind == 'clean'):
        cases += _of_encoders(scene, steps, [seed, k], faults)
    alarms, old_alarms, real, time = _quiet(harmless, steps, seed, hours)
    oblique = _oblique(harmless[0], steps, seed, slips)
    drifted = _drifted(harmless[0], steps, seed, drifts)
    metrics = {'reached': True, **_summary(cases), 'hours': time / 3600.0,
               'false_alarms_per_hour': real / (time / 3600.0),
               'robots': [r.name for r in robots], 'slips_0_1_mps': _slip_summary(oblique),
               'kinds': {kind: _summary([c for c in cases if c.kind == kind])
                         for kind in dict.fromkeys(c.kind for c in cases)},
               'drift_pose_error_m': {
                   name: {'median': float(np.median(last)), 'largest': float(last.max())}
                   for name, last in (('before', drifted.before[:, -1]),
                                      ('after', drifted.after[:, -1]))},
               'roc': {'limits': LIMITS.tolist(), 'false_alarms_per_hour': alarms.tolist(),
                       'found_ratio': _found(cases, 'largest'),
                       'before': {'false_alarms_per_hour': old_alarms.tolist(),
                                  'found_ratio': _found(cases, 'before')}}}
    facts = {'cases': cases, 'drifted': drifted}
    return Outcome(metrics, (Run('', harmless[0].log, facts),))


def _all_driven(robot: CasterRobot) -> CasterRobot:
    return replace(robot, driven=np.ones(robot.count, bool))


def _steps(bench: Bench) -> tuple[float, float]:
    c = bench.conditions
    return (2.0 * np.pi / max(c.wheel_counts, 1), 2.0 * np.pi / max(c.steering_counts, 1))


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


def wrong(scene: Scene, seed: int) -> tuple[CasterRobot, Joints]:
    """Return a wrong description of the robot of a scene, and the joints by its zeros."""
    off = perturbed(scene.robot, seed, ERRORS)
    zero = off.steering_zero - scene.robot.steering_zero
    return (calibrated(scene.robot, parameters_of(off)),
            scene.joints._replace(steering=scene.joints.steering + zero))


def _of_scene(scene: Scene, steps: tuple[float, float], seed: int) -> list[Case]:
    """Return what became of the slips of a scene."""
    dt = float(np.median(np.diff(scene.joints.time)))
    seen = watch(*wrong(scene, seed), steps)
    count = len(seen.alarm)
    return [score(scene.kind, 0 if slip.across < 0.5 else 2, slip.wheel, seen, slip.begin,
                  min(count, slip.end + round(AFTER / dt)), dt)
            for slip in true_slips(scene.slip, dt)]


def _of_encoders(scene: Scene, steps: tuple[float, float], seed: list[int], count: int
                 ) -> list[Case]:
    """Return what became of encoder faults in a drive without slip."""
    robot, joints = wrong(scene, seed[0])
    dt = float(np.median(np.diff(joints.time)))
    before, length, out = round(1.0 / dt), round(4.0 / dt), []
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
            seen = watch(robot, shown, steps)
            out.append(score(kind, LABEL_OF[KINDS.index(kind)], caster, seen, int(visible[0]),
                             len(trace), dt))
    return out


def _quiet(scenes: Sequence[Scene], steps: tuple[float, float], seed: int, hours: float
           ) -> tuple[Array, Array, int, float]:
    """
    Return what happens without faults.

    Alarms per hour by threshold, the same of the slip monitor, alarms at the limit, and the time
    [s]. The slip monitor, which costs more, takes part in the first drives.
    """
    alarms, old, real, time = np.zeros(len(LIMITS)), np.zeros(len(LIMITS)), 0, 0.0
    draw, old_time = 0, 0.0
    dt = float(np.median(np.diff(scenes[0].joints.time)))
    # light robots may slip without oil
    rolling = [scene for scene in scenes if not true_slips(scene.slip, dt)]
    while time < 3600.0 * hours:
        scene = rolling[draw % len(rolling)]
        draw += 1
        compared = old_time < BEFORE_PART * 3600.0 * hours
        seen = watch(*wrong(scene, seed + draw), steps, slip=compared)
        alarms += false_alarms(seen.statistic, dt, LIMITS)
        if compared:
            old += false_alarms(seen.before, dt, LIMITS, 5)
            old_time += float(scene.joints.time[-1])
        real += int(np.count_nonzero(np.diff(seen.alarm.astype(int)) > 0))
        time += float(scene.joints.time[-1])
    return 3600.0 * alarms / time, 3600.0 * old / old_time, real, time


def _oblique(scene: Scene, steps: tuple[float, float], seed: int, count: int) -> list[Case]:
    """Return what became of slips of `SLIP_SPEED` in any direction."""
    robot, joints = wrong(scene, seed)
    dt = float(np.median(np.diff(joints.time)))
    zero, out = joints.steering[0] - scene.joints.steering[0], []
    for k in range(count):
        rng = np.random.default_rng([seed, 77, k])
        at, caster = int(rng.integers(200, len(joints.time) - 500)), int(rng.integers(robot.count))
        angle = rng.uniform(0, 2 * np.pi)
        slip = SLIP_SPEED * np.array([np.cos(angle), np.sin(angle)])
        shown = with_slip(scene, caster, at, slip, steps)
        shown = shown._replace(steering=shown.steering + zero)
        seen = watch(robot, shown, steps, at - 200, at + round((SLIPPING + AFTER) / dt))
        out.append(_by_wheel(seen, caster, dt))
    return out


def _by_wheel(seen: Watched, caster: int, dt: float) -> Case:
    """Score by the wheel alone, from sample 200 on."""
    merged = np.zeros((*seen.probability.shape[:2], len(KINDS)))
    merged[..., 0] = seen.probability.sum(2)
    return score('slip', 0, caster, seen._replace(probability=merged), 200, len(seen.alarm), dt)


def _drifted(scene: Scene, steps: tuple[float, float], seed: int, count: int) -> Drifted:
    """Return the errors of odometry when a steering encoder drifts by 2 rad/s for 2 s."""
    joints, truth = scene.joints, scene.log.ground_truth
    dt = float(np.median(np.diff(joints.time)))
    before, length = round(DRIFT_SPAN[0] / dt), round(DRIFT_SPAN[1] / dt)
    errors = np.zeros((2, count, before + length))
    ramp = dt * np.clip(np.arange(before + length) - before, 0, round(2.0 / dt))
    for k in range(count):
        rng = np.random.default_rng([seed, 55, k])
        first = int(rng.integers(0, len(joints.time) - before - length))
        part = slice(first, first + before + length)
        steering, sense = joints.steering[part].copy(), rng.choice([-2.0, 2.0])
        steering[:, rng.integers(scene.robot.count)] += steps[1] * np.round(
            sense * ramp / steps[1])
        for row, faults in enumerate((FaultSettings(persistence=1e9), FaultSettings())):
            odometry = Odometry(scene.robot, OdometrySettings(
                wheel_resolution=steps[0], steering_resolution=steps[1], faults=faults))
            odometry.reset(truth.pose[first])
            for j, sample in enumerate(zip(
                    joints.time[part], steering, joints.wheel_angle[part],
                    joints.wheel_rate[part], joints.steering_rate[part], strict=True)):
                pose = odometry.step(*sample).pose
                errors[row, k, j] = np.hypot(*(pose[:2] - truth.pose[first + j, :2]))
    return Drifted(dt * (np.arange(before + length) - before), *errors)


def _found(cases: Sequence[Case], field: str) -> list[float]:
    """Return the fraction of faults found in time at each threshold."""
    largest = np.array([getattr(case, field) for case in cases])
    return [float((largest > limit).mean()) if len(cases) else math.nan for limit in LIMITS]


def _summary(cases: Sequence[Case]) -> dict[str, Any]:
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


def _slip_summary(cases: Sequence[Case]) -> dict[str, Any]:
    before = [c.wheel_before for c in cases if c.wheel_before is not None]
    named = [c for c in cases if c.named >= 0]
    return {'slips': len(cases), 'found_in_time_ratio': _mean([c.found <= SOON for c in cases]),
            'named_ratio': len(named) / max(len(cases), 1),
            'wrong_ratio': _mean([not c.wheel for c in named]),
            'named_before_ratio': len(before) / max(len(cases), 1),
            'wrong_before_ratio': _mean([not right for right in before])}


def _mean(values: Sequence[bool]) -> float | None:
    return float(np.mean(values)) if len(values) else None


__all__ = ['ROWS', 'RUNS', 'Drifted', 'slip_faults', 'wrong']
