# SPDX-License-Identifier: Apache-2.0
"""Curves of a run as CSV: one row for each joint states message, SI units."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from c3p_bags.report.run import AnalysedRun
from c3p_bags.runs import mapped
from c3p_bags.runs.run_log import between, held
from c3p_description.model import Array

AXES = (('x', 'm'), ('y', 'm'), ('yaw', 'rad'))
RATES = (('vx', 'm/s'), ('vy', 'm/s'), ('yaw_rate', 'rad/s'))


def curves(run: AnalysedRun) -> dict[str, Array]:
    """
    Return the curves of a run by name and unit, at the times of its joint states.

    Poses and twists are interpolated; commands and torques are the latest ones, NaN before the
    first. Columns of topics that are not in the bag are missing.
    """
    joints = run.log.joints
    log = run.log
    time = joints.time
    found = {'time [s]': joints.time}
    steering = mapped.unwrapped(joints.steering)
    for i in range(run.robot.count):
        found[f'steering_{i + 1} [rad]'] = steering[:, i]
        found[f'wheel_rate_{i + 1} [rad/s]'] = joints.wheel_rate[:, i]
    for prefix, motion in (('', log.odom), ('true_', run.truth)):
        if motion is None:
            continue
        for names, values in ((AXES, motion.pose), (RATES, motion.twist)):
            columns = _at(time, motion.time, values)
            for k, (name, unit) in enumerate(names):
                found[f'{prefix}{name} [{unit}]'] = columns[:, k]
    if log.cmd_vel is not None and len(log.cmd_vel.time):
        command = held(log.cmd_vel, time)
        for k, (name, unit) in enumerate(RATES):
            found[f'commanded_{name} [{unit}]'] = command[:, k]
    torque = held(log.torque, time) if len(log.torque.time) else np.zeros((0, 0))
    for k in range(torque.shape[1]):
        kind, i = ('steering_torque', k - run.robot.count) if k >= run.robot.count else (
            'torque', k)
        found[f'{kind}_{i + 1} [N m]'] = torque[:, k]
    if not run.robot.other_wheels:
        found['sigma_min [1]'] = run.sigma
    slip = _at(time, run.slip.time, run.slip.slip.reshape(len(run.slip.time), -1))
    for i in range(run.robot.count):
        for k, name in enumerate(('along', 'across')):
            found[f'slip_{name}_{i + 1} [m/s]'] = slip[:, 2 * i + k]
    found['evidence_of_slip [alarm]'] = _at(time, run.slip.time, mapped.computed(
        lambda part: part[:, None] / run.slip.threshold, run.slip.statistic))[:, 0]
    return found


def _at(time: Array, when: Array, values: Array) -> Array:
    return mapped.computed(lambda part: between(part, when, values), time)


def write_curves(run: AnalysedRun, path: Path) -> Path:
    """Write the `curves` of a run as CSV and return its path."""
    found = curves(run)
    with path.open('w', encoding='utf-8') as file:
        file.write(','.join(found) + '\n')
        for part in mapped.parts(len(run.log.joints.time)):
            np.savetxt(file, np.stack([column[part] for column in found.values()], axis=1),
                       fmt='%.9g', delimiter=',')
    return path
