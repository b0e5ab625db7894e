# SPDX-License-Identifier: Apache-2.0
"""Catalogue of all experiments, with printed values and acceptance bars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from c3p_experiments.auchter_moore import camber_power, planar_models
from c3p_experiments.auchter_moore import experiments as rough
from c3p_experiments.commissioning import experiment as wirings
from c3p_experiments.el_shenawy import (
    feed_forward,
    goals,
    pages,
    postures,
    structure,
    velocities,
)
from c3p_experiments.kelly import experiments as constrained
from c3p_experiments.kinds import LoopExperiment, ModelExperiment
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.loop.outcome import Experiment, Row, RunsDone
from c3p_experiments.real_sensors import experiment as sensors
from c3p_experiments.real_sensors.page import real_sensors_page
from c3p_experiments.saha_angeles import experiment as agv
from c3p_experiments.self_calibration import consistency
from c3p_experiments.self_calibration import experiment as calibration
from c3p_experiments.self_calibration.consistency_page import consistency_page
from c3p_experiments.self_calibration.page import calibration_page
from c3p_experiments.slip_faults import experiment as faults
from c3p_experiments.slip_faults.page import faults_page
from c3p_experiments.stopping import experiment as stops

CM: dict[str, Any] = {'unit': 'cm', 'scale': 100.0}
SECONDS: dict[str, Any] = {'unit': 's'}

FIRST = Row('first_aligned_s', 'casters aligned for the first time', **SECONDS)
PATH = Row('ground_truth_path_error_max_m', 'path error, largest', **CM)
PATH_RMS = Row('ground_truth_path_error_rms_m', 'path error, rms', **CM)
ALIGNED = Row('align_time_s', 'casters aligned after', **SECONDS)
FINAL = Row('final_error_m', 'final error by odometry', **CM)
TRUE_FINAL = Row('ground_truth_final_error_m', 'final error, true', **CM)
SETTLED = Row('settled_time_s', 'within 0.5 cm by odometry after', **SECONDS)

# smoothness
SMOOTH = (
    Row('torque_variation_nm_per_s', 'variation of the torques, all wheels', 'N·m/s'),
    Row('torque_rate_max_nm_per_s', 'torque rate, largest', 'N·m/s', digits=1),
    Row('jerk_rms_mps3', 'jerk, rms', 'm/s³'),
    Row('jerk_max_mps3', 'jerk, largest', 'm/s³', digits=1))
YAW_RIPPLE = Row('yaw_rate_ripple_rms_radps', 'yaw rate ripple, rms', 'rad/s', digits=4)
RIPPLE = (YAW_RIPPLE, Row('velocity_ripple_rms_mps', 'velocity ripple, rms', 'cm/s', 100.0))

# step time: only the predictive controller has a bar
EFFORT = (
    Row('solve_cpu_ms.p99', 'step of the law, p99, processor', 'ms', bars={'mpc': 2.0},
        stretch=0.5),
    Row('solve_ms.p99', 'step of the law, p99, elapsed, other programs running', 'ms'),
    Row('rms_wheel_torque_nm', 'wheel torques, rms', 'N·m'),
    Row('max_torque_step_nm', 'largest change of a torque in a cycle', 'N·m'), *SMOOTH)

DRIVE = (ALIGNED, PATH, PATH_RMS, FINAL, TRUE_FINAL, SETTLED,
         Row('overshoot_m', 'past the goal, largest', **CM))


EXPERIMENTS: dict[str, Experiment] = {e.name: e for e in (
    LoopExperiment(
        'line', '4 m along X from exactly singular steering, 0°', 'paper I, Fig. 9', goals.line,
        pages.goal_page, (
            ALIGNED._replace(printed='about 2', bar=1.2, stretch=0.85),
            PATH._replace(printed='± 4', bar=0.020, stretch=0.010),
            PATH_RMS._replace(bar=0.005, stretch=0.002),
            FINAL._replace(printed='zone of 5', bar=0.005, stretch=0.001),
            TRUE_FINAL._replace(bar=0.010, stretch=0.002),
            SETTLED._replace(printed='zone at 20', bar=10.0, stretch=9.0),
            FIRST, YAW_RIPPLE._replace(bars={'mpc': 0.010}, stretch=0.005), RIPPLE[1], *EFFORT)),
    LoopExperiment(
        'triangle', 'Triangle of 11 m', 'paper I, Fig. 10', goals.triangle, pages.goal_page, (
            TRUE_FINAL._replace(name='closing error, true', printed='20', bar=0.020,
                                stretch=0.010),
            PATH._replace(bar=0.030), PATH_RMS,
            ALIGNED._replace(name='casters aligned after, slowest leg', printed='about 1.5'),
            Row('time_s', 'back in the goal zone after', **SECONDS),
            Row('legs.0.ground_truth_final_error_m', 'end of leg 1, true', printed='2', **CM),
            Row('legs.1.ground_truth_final_error_m', 'end of leg 2, true', printed='5', **CM),
            *RIPPLE, *EFFORT)),
    LoopExperiment(
        'figure_eight', 'Figure eight along body +Y, 0.3 m/s and ±0.2 rad/s', 'paper I, Fig. 11',
        velocities.figure_eight, pages.goal_page, (
            Row('ground_truth_ring_error_max_m', 'ring error, largest, true', bar=0.020,
                stretch=0.005, **CM),
            Row('ring_error_max_m', 'ring error, largest, by odometry', **CM),
            Row('ground_truth_ring_error_rms_m', 'ring error, rms, true', **CM),
            TRUE_FINAL._replace(name='closing error, true'),
            Row('crossing_align_time_s', 'casters aligned after the jump of curvature',
                **SECONDS),
            YAW_RIPPLE._replace(bars={'mpc': 0.010}, stretch=0.005), RIPPLE[1], *EFFORT[:-4],
            SMOOTH[0]._replace(bars={'mpc': 5.0}, stretch=3.0), SMOOTH[1],
            SMOOTH[2]._replace(bars={'mpc': 1.0}), SMOOTH[3])),
    LoopExperiment(
        'ramp_y', 'Ramp of the velocity along Y, two starts', 'paper II, Fig. 6',
        velocities.ramp_y, pages.ramp_y_page, (
            ALIGNED._replace(name='casters of case 2 aligned after'),
            PATH._replace(name='path error of case 2, largest'),
            Row('velocity_error_rms_mps', 'velocity error of case 2, rms', 'cm/s', 100.0),
            Row('cases.0.ground_truth_path_error_max_m', 'path error of case 1, largest', **CM),
            Row('cases.0.velocity_error_rms_mps', 'velocity error of case 1, rms', 'cm/s',
                100.0), *RIPPLE, *EFFORT), runs=2, robot='c3p_25kg'),
    LoopExperiment(
        'ramp_x', 'Ramp of the velocity along X from exactly singular steering, 0°',
        'paper II, Fig. 7', velocities.ramp_x, pages.ramp_x_page, (
            ALIGNED._replace(printed='about 7'), PATH, PATH_RMS,
            Row('velocity_error_rms_mps', 'velocity error, rms', 'cm/s', 100.0),
            *RIPPLE, *EFFORT), robot='c3p_25kg'),
    LoopExperiment(
        'flip', 'Casters flip by 180°: all at 135°, 0.5 m/s along X and Y', 'paper II, Fig. 9',
        velocities.flip, pages.flip_page, (
            ALIGNED._replace(name='casters flipped after', printed='2 to 4', bar=0.6,
                             stretch=0.35),
            PATH._replace(bar=0.010, stretch=0.003), PATH_RMS,
            Row('velocity_error_rms_mps', 'velocity error, rms', 'cm/s', 100.0),
            *RIPPLE, *EFFORT), robot='c3p_25kg'),
    LoopExperiment('spin', 'Half a turn in place from parallel casters', 'ours', goals.spin,
               pages.goal_page, (
                   ALIGNED, PATH._replace(name='distance from the place, largest'),
                   Row('final_yaw_error_rad', 'final yaw error by odometry', 'rad', digits=3),
                   TRUE_FINAL, Row('time_s', 'in the goal zone after', **SECONDS), *EFFORT)),
    LoopExperiment('sideways', '2 m along Y, casters as after a drive along X', 'ours',
               goals.sideways, pages.goal_page, (*DRIVE, *RIPPLE, *EFFORT)),
    LoopExperiment('goal_behind', '2 m back, casters as after a drive forward', 'ours',
               goals.goal_behind, pages.goal_page, (*DRIVE, *RIPPLE, *EFFORT)),
    LoopExperiment('steerings', '36 random start steerings, goals all around', 'ours',
               goals.steerings, pages.steerings_page, (
                   Row('drives_missed', 'goals missed, of 36', digits=0, bar=0.0),
                   Row('align_time_p90_s', 'casters aligned after, p90', bar=1.8, stretch=1.2,
                       **SECONDS),
                   ALIGNED._replace(name='casters aligned after, latest'),
                   PATH._replace(name='path error, largest of all'),
                   TRUE_FINAL._replace(name='final error, true, largest of all'), *RIPPLE,
                   *EFFORT), runs=goals.DRIVES),
    LoopExperiment('pushes', '4 m with pushes', 'ours', goals.pushes, pages.goal_page,
               (*DRIVE, *RIPPLE, *EFFORT)),
    LoopExperiment('slope', '4 m across a slope of 4°, from exactly singular steering', 'ours',
               goals.slope, pages.goal_page, (*DRIVE, *RIPPLE, *EFFORT), plants=('mujoco',)),
    LoopExperiment('oil_patch', '4 m at 0.5 m/s, one wheel accelerates on oil of µ 0.05', 'ours',
               goals.oil_patch, pages.goal_page, (
                   *DRIVE[:4], TRUE_FINAL._replace(bar=0.020), *DRIVE[5:],
                   Row('named_time_s', 'wheel on the oil named after', **SECONDS),
                   Row('others_named', 'other wheels named', digits=0), *RIPPLE, *EFFORT),
               plants=('mujoco',)),
    LoopExperiment(
        'self_calibration', 'Odometry that calibrates itself: 50 wrong descriptions', 'ours',
        calibration.self_calibration, calibration_page, calibration.ROWS, runs=calibration.RUNS,
        compared=False),
    LoopExperiment(
        'consistency', 'Covariance of the odometry: errors against expectation', 'ours',
        consistency.consistency, consistency_page, consistency.ROWS, runs=consistency.RUNS,
        compared=False),
    LoopExperiment(
        'slip_faults', 'Slip and wrong encoders distinguished', 'ours', faults.slip_faults,
        faults_page, faults.ROWS, runs=faults.RUNS, plants=('mujoco',), compared=False),
    LoopExperiment(
        'real_sensors', 'Sensors of real robots: each property alone, and all', 'ours',
        sensors.real_sensors, real_sensors_page, sensors.ROWS, runs=sensors.RUNS,
        compared=False),
    ModelExperiment(postures.NAME, postures.TITLE, postures.SOURCE, postures.postures, ('robot',),
                    rows=postures.ROWS),
    ModelExperiment(structure.NAME, structure.TITLE, structure.SOURCE, structure.structure,
                    rows=structure.ROWS),
    ModelExperiment(feed_forward.NAME, feed_forward.TITLE, feed_forward.SOURCE,
                    feed_forward.feed_forward, ('robot',), rows=feed_forward.ROWS),
    ModelExperiment(wirings.NAME, wirings.TITLE, wirings.SOURCE, wirings.commissioning,
                    ('robot', 'seed', 'trials', 'workers'), runs=wirings.RUNS,
                    rows=wirings.ROWS),
    ModelExperiment(stops.NAME, stops.TITLE, stops.SOURCE, stops.stopping,
                    ('robot', 'seed', 'trials', 'workers'), runs=stops.RUNS, rows=stops.ROWS),
    ModelExperiment('hill', rough.HILL.title, rough.HILL.source, rough.hill,
                    ('robot', 'duration', 'film'), runs=len(rough.HILL.cases) + 1),
    ModelExperiment('random_terrain', rough.RANDOM.title, rough.RANDOM.source,
                    rough.random_terrain, ('robot', 'seed', 'duration', 'film'),
                    runs=len(rough.RANDOM.cases) + 1),
    ModelExperiment(camber_power.NAME, camber_power.TITLE, camber_power.SOURCE,
                    camber_power.camber_power, ('robot', 'seed', 'duration'),
                    runs=len(camber_power.plan(range(camber_power.SEEDS))),
                    rows=camber_power.ROWS),
    ModelExperiment(planar_models.NAME, planar_models.TITLE, planar_models.SOURCE,
                    planar_models.planar_models_study, ('robot', 'duration'),
                    runs=len(planar_models.plan()), rows=planar_models.ROWS),
    ModelExperiment('agv', agv.AGV.title, agv.AGV.source, agv.agv, ('robot',)),
    *(ModelExperiment(s.name, s.title, s.source, s.run, rows=s.rows)
      for s in constrained.STUDIES),
)}


def experiment_for(name: str, plant: str) -> LoopExperiment:
    """
    Return the experiment in the control loop called `name`.

    Raises
    ------
    ValueError
        Unknown name, or a plant that the experiment does not support.
    """
    found = EXPERIMENTS.get(name)
    if not isinstance(found, LoopExperiment):
        known = [e.name for e in EXPERIMENTS.values() if isinstance(e, LoopExperiment)]
        raise ValueError(f'experiment {name}: must be one of {", ".join(known)}')
    found.check(Conditions(plant=plant))
    return found


def run_experiment(name: str, conditions: Conditions, out: str | Path,
                   progress: RunsDone = lambda done: None) -> dict[str, Any]:
    """
    Run the experiment `name` of `EXPERIMENTS` under `conditions`; write its files into `out`.

    These are page, table and curves. `progress` takes the number of runs done, with the fraction
    of the present one. Returns the metrics for JSON with ``conditions``, ``table`` and ``files``.

    Raises
    ------
    ValueError
        Unknown name, or conditions that the experiment does not support.
    """
    if name not in EXPERIMENTS:
        raise ValueError(f'experiment {name}: must be one of {", ".join(EXPERIMENTS)}')
    EXPERIMENTS[name].check(conditions)
    return EXPERIMENTS[name].carry_out(conditions, Path(out), progress)
