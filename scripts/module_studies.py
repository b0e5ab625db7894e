# SPDX-License-Identifier: Apache-2.0
"""Studies of robots on modules: the triangle by odometry, and after a minute of learning."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from figure_study import Cell, Figures, Study, shown

from c3p_description import load
from c3p_experiments.el_shenawy.goals import triangle
from c3p_experiments.loop.conditions import Bench, Conditions
from c3p_experiments.self_calibration.draws import taught_triangle
from c3p_kinematics.module_settings import ModuleSettings
from c3p_kinematics.wheel_following import GAIN
from c3p_simulation.plants.lagging_axes import LaggingAxes, reversal_swings

# first seed of the wrong descriptions: others served the development
FIRST = 61_000

# robots of a seed of reversals, and reversals of each: 10 000 of 15 seeds
ROBOTS = 21
REVERSALS = 32

# difference of the wheels' time constants, gain of the feedback of their rates, words of the table
REVERSED = {'even': (0.0, 0.0, 'equal', 'no'), 'unequal': (0.2, 0.0, '± 20 %', 'no'),
            'fed_back': (0.2, GAIN, '± 20 %', 'yes')}

# sensors of a study: profile, and words of the table
SENSORS = {'encoders': 'encoders of 2000 and 4096 counts',
           'real': 'of [real robots](real_robots.md)'}


def swerve(profile: str, seed: int) -> Bench:
    """Return the bench of the swerve drive in contact."""
    return Bench(Conditions(plant='mujoco', controller='modules', seed=seed,
                            sensor_profile=profile), 'swerve')


def module_triangle(profile: str, seed: int) -> Figures:
    """Return the triangle of 11 m by the odometry of the robot."""
    found = triangle(swerve(profile, seed)).metrics
    return {'reached': float(found['reached']), **shown(
        found, final=('ground_truth_final_error_m', 100.0),
        path=('ground_truth_path_error_max_m', 100.0))}


MODULE_TRIANGLE = Study(
    {profile: partial(module_triangle, profile) for profile in SENSORS},
    ('sensors', 'reached', 'final error, true [cm]', 'p90', 'path error, true, largest [cm]',
     'p90', 'seeds'),
    [(words, Cell('module_triangle', profile, 'reached', 0, 'count'),
      *(Cell('module_triangle', profile, figure, 2, kind)
        for figure in ('final', 'path') for kind in ('middle', 'p90')),
      Cell('module_triangle', profile, 'final', 0, 'seeds'))
     for profile, words in SENSORS.items()])


def module_learning(profile: str, seed: int) -> Figures:
    """Return the triangle with a wrong description, before and after a minute of learning."""
    before, after = taught_triangle(swerve(profile, FIRST + seed), FIRST + seed)
    found = {'before': before.final, 'after': after.final, 'path': after.path}
    return {name: 100.0 * error if math.isfinite(error) else None
            for name, error in found.items()}


MODULE_LEARNING = Study(
    {profile: partial(module_learning, profile) for profile in SENSORS},
    ('sensors', 'final error before, true [cm]', 'p90', 'after a minute [cm]', 'p90',
     'path error after, true, largest [cm]', 'p90', 'seeds'),
    [(words, *(Cell('module_learning', profile, figure, 2, kind)
               for figure in ('before', 'after', 'path') for kind in ('middle', 'p90')),
      Cell('module_learning', profile, 'after', 0, 'seeds'))
     for profile, words in SENSORS.items()])


def reversals(unequal: float, gain: float, seed: int) -> Figures:
    """Return the yaw swings of robots whose commands are reversed at random times."""
    robot = load('swerve')
    limits = ModuleSettings.of(robot)
    found = np.degrees([reversal_swings(LaggingAxes(robot, drawn, unequal), limits, REVERSALS,
                                        gain, drawn)
                        for drawn in range(FIRST + ROBOTS * seed, FIRST + ROBOTS * (seed + 1))])
    return {'count': float(found.size), 'swing': float(found.max()),
            'usual': float(np.percentile(found, 99.0))}


REVERSAL_STUDY = Study(
    {case: partial(reversals, unequal, gain) for case, (unequal, gain, *_) in REVERSED.items()},
    ("wheels' time constants", 'rates fed back', 'reversals', 'largest swing of yaw [°]',
     'p99 [°]'),
    [(unequal, fed, Cell('reversals', case, 'count', 0, 'sum'),
      Cell('reversals', case, 'swing'), Cell('reversals', case, 'usual'))
     for case, (*_, unequal, fed) in REVERSED.items()])
