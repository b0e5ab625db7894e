# SPDX-License-Identifier: Apache-2.0
"""Studies of robots: fewer motors than freedoms, strong motors, oil, published descriptions."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from figure_study import PLANTS, Cell, Figures, Study, eight, shown

from c3p_description.model import CasterRobot, Friction
from c3p_description.reading.loader import load, load_casters
from c3p_experiments.el_shenawy.goals import (
    DWELL,
    OIL,
    OIL_FRICTION,
    OIL_WIDTH,
    TRAILING,
    goal_metrics,
    line,
)
from c3p_experiments.el_shenawy.measures import across, largest_and_rms
from c3p_experiments.loop.closed_loop import Held
from c3p_experiments.loop.command_sources import GoalSource
from c3p_experiments.loop.conditions import Bench, Conditions
from c3p_experiments.robots.bench import RobotBench
from c3p_simulation.plants.floor import FloorPatch

# ---- fewer motors than freedoms
LOSSES = Friction(pivot_viscous=0.002, pivot_coulomb=0.01, rolling_viscous=0.001,
                  rolling_coulomb=0.05, scrub_coulomb=0.05)
MULE = CasterRobot(
    'mule', [(0.36, 0.24), (0.36, -0.24), (-0.33, 0.20), (-0.33, -0.20)],
    [0.05, 0.05, 0.07, 0.07], 0.06, 34.0, 3.4, (0.01, 0.0), 0.5, [0.025, 0.025, 0.035, 0.035],
    1e-3, 1.0, 1.8e-3, 1e-3, friction=LOSSES, torque_limit=2.5)
DUO = CasterRobot('duo', [(0, 0.25), (0, -0.25)], 0.05, 0.06, 17.0, 0.8, (0.0, 0.0), 0.5, 0.025,
                  1e-3, 1.0, 1.8e-3, 1e-3, friction=LOSSES, torque_limit=2.5)
DRIVEN = {'all four': (1, 1, 1, 1), 'front pair': (1, 1, 0, 0), 'rear pair': (0, 0, 1, 1),
          'left pair': (1, 0, 1, 0), 'right pair': (0, 1, 0, 1),
          'diagonal pair, front left': (1, 0, 0, 1), 'diagonal pair, front right': (0, 1, 1, 0)}


def mule(driven: str) -> CasterRobot:
    """Return the robot of four casters with these wheels driven."""
    return replace(MULE, driven=[bool(wheel) for wheel in DRIVEN[driven]])


def pair_eight(driven: str, seed: int) -> Figures:
    """Return the figure eight of four casters with these wheels driven, in contact."""
    return eight(RobotBench(mule(driven), Conditions(plant='mujoco', seed=seed)))[1]


PAIRS = Study(
    {driven: partial(pair_eight, driven) for driven in DRIVEN},
    ('driven', 'torque variation [N·m/s]', 'ring error, true [cm]', 'time [s]', 'seeds'),
    [(driven, *(Cell('pairs', driven, figure, digits, kind) for figure, digits, kind in (
        ('variation', 1, 'middle'), ('ring', 2, 'middle'), ('time', 0, 'middle'),
        ('ring', 2, 'seeds')))) for driven in DRIVEN], seeds=7)


def short_drive(robot: CasterRobot, plant: str, axis: int, seed: int) -> Figures:
    """Return a drive of 2 m from steering angles that are random, with even seeds all equal."""
    random = np.random.default_rng([seed, axis])
    steering = random.uniform(-np.pi, np.pi, robot.count if seed % 2 else 1)
    bench = RobotBench(robot, Conditions(plant=plant, seed=seed))
    goal, controller = 2.0 * np.eye(3)[axis], bench.controller()
    log = bench.run(controller, GoalSource(controller.position(), [goal]), duration=40.0,
                    steering=np.resize(steering, robot.count), stop=Held(DWELL))
    found = goal_metrics(bench, log, goal)
    return {'reached': float(found['reached']), 'refused': float(bool(log.fault)),
            'path': 100.0 * largest_and_rms(across(log.ground_truth, goal[:2]))[0]
            if found['reached'] else None}


SHORT = {('duo', 'analytic'): DUO, ('front pair', 'mujoco'): mule('front pair')}
SHORT_DRIVES = Study(
    {f'{name} {plant} {"XY"[axis]}': partial(short_drive, robot, plant, axis)
     for (name, plant), robot in SHORT.items() for axis in (0, 1)},
    ('robot', 'plant', 'goal', 'reached', 'refused', 'path error [cm]'),
    [(name, {'mujoco': 'contact'}.get(plant, plant), f'along {axis}',
      *(Cell('short_drives', f'{name} {plant} {axis}', figure, 1, kind) for figure, kind in (
          ('reached', 'count'), ('refused', 'count'), ('path', 'middle'))))
     for name, plant in SHORT for axis in 'XY'], seeds=18)

# ---- strong motors and oil
LIMITS = (1.2, 3.0, 6.0, 20.0, 100.0, math.inf)
GROUNDS: tuple[dict[str, Any], ...] = (
    {'plant': 'analytic'}, {'plant': 'mujoco', 'friction': 0.35},
    {'plant': 'mujoco', 'friction': 0.8})


def strong(controller: str, seed: int) -> Figures:
    """Return `line` with each torque limit on each ground, one for each seed."""
    ground, limit = divmod(seed, len(LIMITS))
    robot = replace(load_casters('c3p'), torque_limit=LIMITS[limit])
    bench = RobotBench(robot, Conditions(controller=controller, seed=seed, **GROUNDS[ground]))
    found = line(bench).metrics
    return {'reached': float(found['reached']), **shown(
        found, path=('ground_truth_path_error_max_m', 100.0),
        final=('ground_truth_final_error_m', 100.0))}


STRONG = Study(
    {name: partial(strong, name) for name in ('mpc', 'paper')},
    ('controller', 'plant', 'reached', 'path error [cm]', 'true final error [cm]'),
    [(f'`{name}`', 'analytic; µ 0.35; µ 0.8',
      *(Cell('strong', name, figure, 2, kind) for figure, kind in (
          ('reached', 'count'), ('path', 'middle'), ('final', 'middle'))))
     for name in ('mpc', 'paper')], seeds=len(GROUNDS) * len(LIMITS))

# steering at the start, and where the oil ends, m
OILS = {'0.5 m, the wheel accelerates on it (`c3p experiment oil_patch`)': (TRAILING, OIL[1]),
        '0.5 m below a singular start': (0.0, OIL[1]), 'all 4 m, singular start': (0.0, 5.0)}


def oily(name: str, seed: int) -> Figures:
    """Return 4 m with oil below the last wheel; whether the first wheel named is that one."""
    steering, end = OILS[name]
    bench = Bench(Conditions(plant='mujoco', seed=seed), 'c3p')
    wheel = bench.robot.count - 1
    y = float(bench.robot.hip_position[wheel, 1])
    oil = FloorPatch((OIL[0], end), (y - 0.5 * OIL_WIDTH, y + 0.5 * OIL_WIDTH), OIL_FRICTION)
    controller, goal = bench.controller(), (4.0, 0.0, 0.0)
    log = bench.run(controller, GoalSource(controller.position(), [goal]), duration=40.0,
                    plant=bench.plant(patches=(oil,)), steering=steering, stop=Held(DWELL))
    named = log.slip.suspect[log.slip.suspect.any(axis=1)]
    return {**shown(goal_metrics(bench, log, goal), final=('ground_truth_final_error_m', 100.0)),
            'first': float(len(named) > 0 and named[0, wheel] and named[0].sum() == 1)}


OILY = Study(
    {name: partial(oily, name) for name in OILS},
    ('oil', '`mpc`: true final error [cm]', 'first wheel named is the one on oil'),
    [(name, Cell('oil', name, 'final'), Cell('oil', name, 'first', kind='count'))
     for name in OILS])

# ---- torque of a straight cruise: part of the path in which it counts, m
CRUISE, CRUISE_LENGTH = (1.5, 3.0), 4.0


def cruise(controller: str, seed: int) -> Figures:
    """Return the middle of 4 m in a random direction, from random steering angles."""
    random = np.random.default_rng(seed)
    travel = random.uniform(-np.pi, np.pi)
    along = np.array([np.cos(travel), np.sin(travel)])
    bench = Bench(Conditions(plant='mujoco', controller=controller, seed=seed), 'c3p')
    law, goal = bench.controller(), np.append(CRUISE_LENGTH * along, 0.0)
    log = bench.run(law, GoalSource(law.position(), [goal]), duration=40.0, stop=Held(DWELL),
                    steering=random.uniform(-np.pi, np.pi, bench.robot.count))
    place = log.ground_truth.pose[:, :2] @ along
    during = log.ground_truth.time[(place > CRUISE[0]) & (place < CRUISE[1])]
    then = (log.wheel_effort.time >= during[0]) & (log.wheel_effort.time <= during[-1])
    torque = log.wheel_effort.value[then]
    moving = (log.ground_truth.time >= during[0]) & (log.ground_truth.time <= during[-1])
    pose = log.ground_truth.pose[moving]
    return {'torque': float(np.sqrt(np.mean(torque**2))),
            'saturated': 100.0 * float(np.mean(
                (np.abs(torque) >= 0.999 * bench.robot.torque_limit).any(axis=1))),
            'yaw': float(np.degrees(np.ptp(pose[:, 2]))),
            'path': 100.0 * float(np.abs(pose[:, :2] @ [-along[1], along[0]]).max())}


CRUISING = Study(
    {name: partial(cruise, name) for name in ('mpc', 'paper')},
    ('law', 'rms torque [N·m]', 'cycles with a saturated wheel [%]', 'yaw swing [°]',
     'path error [cm]', 'drives'),
    [(f'`{name}`', *(Cell('cruise', name, figure, digits) for figure, digits in (
        ('torque', 3), ('saturated', 1), ('yaw', 1), ('path', 2))),
      Cell('cruise', name, 'yaw', kind='seeds')) for name in ('mpc', 'paper')])

# ---- published descriptions, which are not part of the repository: a directory of URDF files
DESCRIPTIONS = os.environ.get('C3P_DESCRIPTIONS', '')
PUBLISHED_ROBOTS: dict[str, tuple[str, dict[str, Any]]] = {
    'active caster base': ('active_caster.urdf', {}),
    'active caster base, steering passively': ('active_caster.urdf', {'steered': False}),
    'KELO Robile, 2 drives and 2 casters': ('robile_2_wheel.urdf', {})}


def published_line(name: str, plant: str, seed: int) -> Figures:
    """Return `line` of a published robot."""
    file, options = PUBLISHED_ROBOTS[name]
    robot = load(Path(DESCRIPTIONS) / file, options)
    assert isinstance(robot, CasterRobot)
    bench = RobotBench(robot, Conditions(plant=plant, seed=seed), Path(DESCRIPTIONS) / file)
    controller, goal = bench.controller(), (4.0, 0.0, 0.0)
    log = bench.run(controller, GoalSource(controller.position(), [goal]), duration=40.0,
                    stop=Held(DWELL))
    found = goal_metrics(bench, log, goal)
    return {'reached': float(found['reached']), **shown(
        found, time=('align_time_s', 1.0), path=('ground_truth_path_error_max_m', 100.0),
        final=('ground_truth_final_error_m', 100.0))}


PUBLISHED = Study(
    {f'{name}, {plant}': partial(published_line, name, plant) for plant in PLANTS
     for name in PUBLISHED_ROBOTS},
    ('robot', 'plant', 'reached', 'aligned after [s]', 'path error [cm]',
     'final error, true [cm]'),
    [(name, f'`{plant}`', *(Cell('published', f'{name}, {plant}', figure, 2, kind)
                            for figure, kind in (('reached', 'count'), ('time', 'middle'),
                                                 ('path', 'middle'), ('final', 'middle'))))
     for name in PUBLISHED_ROBOTS for plant in PLANTS], needs=DESCRIPTIONS)
