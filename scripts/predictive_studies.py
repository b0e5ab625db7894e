# SPDX-License-Identifier: Apache-2.0
"""Studies of the predictive controller: curves, swing, first seconds, delays, solving ahead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
from figure_study import PLANTS, Cell, Figures, Study, Tuned, eight, shown

from c3p_bags.runs.smoothness import run_smoothness
from c3p_controller.goals.path import Arcs
from c3p_controller.predictive.controller import PredictiveController
from c3p_description.model import CasterRobot, Friction
from c3p_description.reading.loader import load_casters
from c3p_experiments.el_shenawy.goals import DWELL, goal_metrics, line, pushes, triangle
from c3p_experiments.el_shenawy.measures import across, largest_and_rms
from c3p_experiments.el_shenawy.velocities import FLIP_STEERING, FLIP_VELOCITY, velocity_metrics
from c3p_experiments.loop.closed_loop import Held
from c3p_experiments.loop.command_sources import FloorVelocitySource, GoalSource, PathSource
from c3p_experiments.loop.conditions import Conditions


# ---- the figure eight, and circles
def weighted_eight(plant: str, weight: float, seed: int) -> Figures:
    """Return the figure eight of the C3P with a weight of the ripple."""
    return eight(Tuned('c3p', Conditions(plant=plant, seed=seed), ripple_weight=weight))[1]


# the weight 100 on the contact plant is the experiment of that name
EIGHT_WEIGHTS = {'mujoco': (0, 16), 'analytic': (0, 100)}
EIGHT_CELLS = (('ripple', 4, 'yaw rate ripple, rms'),
               ('variation', 1, 'variation of the torques, all wheels'),
               ('jerk', 2, 'jerk, rms'), ('ring', 2, 'ring error, largest, true'))
EIGHT_DEFAULT = [
    ('`mujoco`, w_r = 100 (default)', *(Cell('mpc', 'figure_eight', name, digits)
                                        for _, digits, name in EIGHT_CELLS),
     Cell('mpc', 'figure_eight', 'jerk, rms', kind='seeds'))]
EIGHT_ROWS = {plant: [
    (f'`{plant}`, w_r = {weight}' + ' (default)' * (weight == 100),
     *(Cell('eight', f'{plant} {weight}', figure, digits) for figure, digits, _ in EIGHT_CELLS),
     Cell('eight', f'{plant} {weight}', 'ring', kind='seeds')) for weight in weights]
    for plant, weights in EIGHT_WEIGHTS.items()}
EIGHT = Study(
    {f'{plant} {weight}': partial(weighted_eight, plant, float(weight))
     for plant, weights in EIGHT_WEIGHTS.items() for weight in weights},
    ('figure eight', 'ripple [rad/s]', 'torque variation [N·m/s]', 'jerk rms [m/s³]',
     'ring error, true [cm]', 'seeds'),
    [*EIGHT_ROWS['mujoco'], *EIGHT_DEFAULT, *EIGHT_ROWS['analytic']])

# duration of a drive on a circle, and what is left out at its start, s
CIRCLE_TIME, CIRCLE_START = 12.0, 4.0
CIRCLES = ((0.3, 0.2), (0.5, 0.2), (0.5, 0.1), (0.3, 0.05))


def circle(plant: str, weight: float, speed: float, rate: float, seed: int) -> Figures:
    """Return standard deviation of the yaw rate and torque variation on a circle."""
    bench = Tuned('c3p', Conditions(plant=plant, seed=seed), ripple_weight=weight)
    controller = bench.controller(speed)
    path = Arcs(np.zeros(3), 0.5 * np.pi, ((2.0 * speed * CIRCLE_TIME, rate / speed),))
    log = bench.run(controller, PathSource(controller.position(), path), duration=CIRCLE_TIME)
    late = log.ground_truth.time >= CIRCLE_START
    return {'yaw rate': float(log.ground_truth.twist[late, 2].std()),
            'variation': run_smoothness(log, CIRCLE_START)['torque_variation_nm_per_s']}


CIRCLE_ROWS = [(plant, weight) for plant, weights in (('analytic', (16, 100)),
                                                      ('mujoco', (100, 250)))
               for weight in weights]
CIRCLE = Study(
    {f'{plant} {weight} {speed:g} {rate:g}': partial(circle, plant, weight, speed, rate)
     for plant, weight in CIRCLE_ROWS for speed, rate in CIRCLES},
    ('w_r', 'figure', *(f'{speed:g} m/s, {rate:g} rad/s' for speed, rate in CIRCLES), 'seeds'),
    [(first if figure == 'yaw rate' else '', text,
      *(Cell('circles', f'{plant} {weight} {speed:g} {rate:g}', figure, digits)
        for speed, rate in CIRCLES),
      Cell('circles', f'{plant} {weight} {CIRCLES[-1][0]:g} {CIRCLES[-1][1]:g}', figure,
           kind='seeds'))
     for plant, weight in CIRCLE_ROWS
     for first in [f'{weight}, `{plant}`' + (' (default)' if weight == 100 else '')]
     for figure, text, digits in (('yaw rate', 'yaw rate [rad/s]', 4),
                                  ('variation', 'torques [N·m/s]', 1))])

# ---- why it swings: one change each, of the law without weights of ripple and of torque rates
FIRST_SECONDS = 22.0
IDEAL = {'wheel_counts': 0, 'steering_counts': 0, 'latency': 0.0}
STILL = {'wrench_limit': 0.0, 'moment_limit': 0.0}
SWINGING = {'ripple_weight': 0.0, 'torque_rate_weight': 0.0, 'across_weight': 70e3,
            'yaw_rate_weight': 16.0, 'bandwidth': 36.0, 'iterations': 2}


def ablated(conditions: Mapping[str, Any], settings: Mapping[str, Any], seed: int, *,
            friction: bool = True) -> Figures:
    """Return the ripple of the first seconds of the figure eight without w_r and w_u."""
    robot = load_casters('c3p')
    if not friction:
        robot = replace(robot, friction=Friction())
    bench = Tuned(robot, Conditions(seed=seed, **conditions), **{**SWINGING, **settings})
    log, _ = eight(bench, FIRST_SECONDS)
    late = run_smoothness(log, CIRCLE_START)
    return {'ripple': run_smoothness(log)['yaw_rate_ripple_rms_radps'],
            'variation': late['torque_variation_nm_per_s']}


ABLATIONS: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    'w_r = 0': ({}, {}),
    'ideal encoders': ({'wheel_counts': 0, 'steering_counts': 0}, {}),
    'no input delay': ({'latency': 0.0}, {}),
    'no disturbance estimate, ideal encoders, no delay': (IDEAL, STILL),
    'ideal encoders, no delay': (IDEAL, {}),
    '… and horizon 1.6 s': (IDEAL, {'horizon': 1.6, 'steps': 64}),
    '… and steps of 12.5 ms': (IDEAL, {'steps': 64}),
    '… and friction smoothing 0.05 rad/s in place of 0.04': (IDEAL, {'friction_smoothing': 0.05}),
    '… and no weight of the alignment': (IDEAL, {'alignment_weight': 0.0}),
    '… and ten times the torque weight': (IDEAL, {'torque_weight': 1.5}),
    '… and 8 iterations in place of 2': (IDEAL, {'iterations': 8}),
    '… and 30 iterations, to convergence': (IDEAL, {'iterations': 30}),
    '30 iterations, real encoders and delay': ({}, {'iterations': 30}),
    'ideal encoders, no delay, friction smoothing 0.5 rad/s': (IDEAL,
                                                               {'friction_smoothing': 0.5}),
    'no friction in plant and model': ({}, {}),
    'a tenth of the torque weight': ({}, {'torque_weight': 0.015}),
    'twice the yaw rate weight': ({}, {'yaw_rate_weight': 32.0})}
ABLATION = Study(
    {name: partial(ablated, *changes, friction=not name.startswith('no friction'))
     for name, changes in ABLATIONS.items()},
    ('change', 'yaw rate ripple [rad/s]', 'torque variation [N·m/s]', 'seeds'),
    [(name, Cell('ablation', name, 'ripple', 3), Cell('ablation', name, 'variation', 1),
      Cell('ablation', name, 'ripple', kind='seeds')) for name in ABLATIONS],
    single=[name for name, (conditions, _) in ABLATIONS.items()
            if conditions.get('wheel_counts') == 0])

# ---- the first seconds of the benchmarks of least time
START_TIME = 3.0
NEAR = {'analytic': {'plant': 'analytic', **IDEAL}, 'mujoco': {'plant': 'mujoco'}}


def align_start(plant: str, seed: int) -> Figures:
    """Return alignment and path error of the first seconds of `line`."""
    bench = Tuned('c3p', Conditions(seed=seed, **NEAR[plant]))
    controller, goal = bench.controller(), (4.0, 0.0, 0.0)
    log = bench.run(controller, GoalSource(controller.position(), [goal]), duration=START_TIME)
    found = goal_metrics(bench, log, goal)
    return {'time': found['align_time_s'],
            'path': 1000.0 * largest_and_rms(across(log.ground_truth, (1.0, 0.0)))[0]}


def flip_start(plant: str, seed: int) -> Figures:
    """Return alignment and path error of the first seconds of `flip`."""
    bench = Tuned('c3p_25kg', Conditions(seed=seed, **NEAR[plant]))
    log = bench.run(bench.controller(), FloorVelocitySource(lambda t: FLIP_VELOCITY),
                    duration=START_TIME, steering=FLIP_STEERING)
    found = velocity_metrics(log, lambda t: FLIP_VELOCITY, FLIP_VELOCITY[:2])
    return shown(found, time=('align_time_s', 1.0), path=('ground_truth_path_error_max_m', 1e3))


STARTS = Study(
    {f'{name} {plant}': partial(run, plant) for plant in PLANTS
     for name, run in (('align', align_start), ('flip', flip_start))},
    ('', 'align [s]', 'path [mm]', 'flip [s]', 'path [mm]', 'seeds'),
    [('limit', '0.69', '3', '0.47', '3', '')]
    + [(text, *(Cell('first_seconds', f'{name} {plant}', figure, digits)
                for name in ('align', 'flip') for figure, digits in (('time', 2), ('path', 1))),
        Cell('first_seconds', f'align {plant}', 'path', kind='seeds'))
       for plant, text in (('analytic', '`mpc`, analytic, no latency, ideal encoders'),
                           ('mujoco', '`mpc`, contact plant, 10 ms, 2000/4096 counts'))],
    single=('align analytic', 'flip analytic'))

# ---- input delay that is not known
DELAYS, LONGEST_DELAY = 15, 0.1
PER_CASTER = {field.name for field in fields(CasterRobot)
              if np.ndim(getattr(load_casters('c3p'), field.name))
              and field.name not in ('platform_com', 'hip_position')}


def four_casters() -> CasterRobot:
    """Return the C3P with a fourth caster."""
    robot = load_casters('c3p')
    angle = np.radians([45.0, 135.0, 225.0, 315.0])
    first = {name: getattr(robot, name)[0] for name in PER_CASTER if 'joints' not in name}
    return replace(
        robot, name='c3p_four', steering_joints=(), wheel_joints=(), **first,
        hip_position=np.hypot(*robot.hip_position[0]) * np.stack(
            [np.cos(angle), np.sin(angle)], axis=1))


def delayed(robot: str, plant: str, known: bool, seed: int) -> Figures:
    """Return `line` with an input delay that grows with the seed, from 0 to 0.1 s."""
    delay = LONGEST_DELAY * seed / (DELAYS - 1)
    bench = Tuned(four_casters() if robot == 'four casters' else robot, Conditions(
        plant=plant, seed=seed, latency=delay, known_latency=delay if known else 0.010))
    controller, goal = bench.controller(), (4.0, 0.0, 0.0)
    log = bench.run(controller, GoalSource(controller.position(), [goal]), duration=40.0,
                    stop=Held(DWELL))
    found = goal_metrics(bench, log, goal)
    assert isinstance(controller.law.law, PredictiveController)
    return {**shown(found, path=('ground_truth_path_error_max_m', 1e3),
                    final=('ground_truth_final_error_m', 1e3)),
            'reached': float(found['reached']),
            'estimate': 1e3 * abs(controller.law.law.latency - delay)}


DELAYED = {'c3p': 'C3P', 'c3p_25kg': '`c3p_25kg`', 'four casters': 'C3P with four casters'}
DELAY_CASES = [(robot, plant, known) for robot in DELAYED for plant in PLANTS
               for known in (False, True) if robot == 'c3p' or not known]
DELAY = Study(
    {f'{robot} {plant}{" known" * known}': partial(delayed, robot, plant, known)
     for robot, plant, known in DELAY_CASES},
    ('robot, plant', 'reached', 'path error [mm]', 'final error [mm]',
     'error of the estimate [ms]'),
    [(f'{DELAYED[robot]}, `{plant}`{", delay known" * known}',
      *('' if known and figure == 'estimate' else
        Cell('delays', f'{robot} {plant}{" known" * known}', figure, 1, kind)
        for figure, kind in (('reached', 'count'), ('path', 'middle'), ('final', 'middle'),
                             ('estimate', 'middle'))))
     for robot, plant, known in DELAY_CASES], seeds=DELAYS)

# ---- solutions ahead, on the contact plant
SOLVED = {'line': line, 'pushes': pushes, 'triangle': triangle}
WHEN = {False: 'in the cycle (default)', True: 'ahead'}


def solved(name: str, ahead: bool, seed: int) -> Figures:
    """Return metrics of an experiment whose plans are solved in the cycle, or ahead of it."""
    outcome = SOLVED[name](Tuned('c3p', Conditions(plant='mujoco', seed=seed), solve_ahead=ahead))
    return shown(outcome.metrics, time=('time_s', 1.0),
                 path=('ground_truth_path_error_max_m', 100.0),
                 final=('ground_truth_final_error_m', 100.0),
                 variation=('torque_variation_nm_per_s', 1.0))


AHEAD = Study(
    {f'{name} {ahead}': partial(solved, name, ahead) for name in SOLVED for ahead in WHEN},
    ('experiment', 'solved', 'time [s]', 'path error, true [cm]', 'final error, true [cm]',
     'torque variation [N·m/s]', 'seeds'),
    [('' if ahead else f'`{name}`', WHEN[ahead],
      *(Cell('ahead', f'{name} {ahead}', figure, digits) for figure, digits in (
          ('time', 1), ('path', 2), ('final', 2), ('variation', 1))),
      Cell('ahead', f'{name} {ahead}', 'time', kind='seeds'))
     for name in SOLVED for ahead in WHEN])
