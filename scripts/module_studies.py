# SPDX-License-Identifier: Apache-2.0
"""Studies of robots on modules: the triangle by odometry."""

from __future__ import annotations

from functools import partial

from figure_study import Cell, Figures, Study, shown

from c3p_experiments.el_shenawy.goals import triangle
from c3p_experiments.loop.conditions import Bench, Conditions

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
