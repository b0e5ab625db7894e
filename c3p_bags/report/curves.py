# SPDX-License-Identifier: Apache-2.0
"""Curves of a run as CSV: one row for each joint states message, SI units."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from c3p_bags.report.run import Run
from c3p_bags.runs.metrics import held
from c3p_description.model import Array

AXES = (('x', 'm'), ('y', 'm'), ('yaw', 'rad'))
RATES = (('vx', 'm/s'), ('vy', 'm/s'), ('yaw_rate', 'rad/s'))


def curves(run: Run) -> dict[str, Array]:
    """
    Return the curves of a run by name and unit, at the times of its joint states.

    Poses and twists are interpolated; commands and torques are the latest ones, NaN before the
    first. Columns of topics that are not in the bag are missing.
    """
    joints, log = run.log.joints, run.log
    time, found = joints.time, {'time [s]': joints.time}
    steering = np.unwrap(joints.steering, axis=0)
    for i in range(run.robot.count):
        found[f'steering_{i + 1} [rad]'] = steering[:, i]
        found[f'wheel_rate_{i + 1} [rad/s]'] = joints.wheel_rate[:, i]
    for prefix, motion in (('', log.odom), ('true_', run.truth)):
        if motion is None:
            continue
        for k, (name, unit) in enumerate(AXES):
            found[f'{prefix}{name} [{unit}]'] = np.interp(time, motion.time, motion.pose[:, k])
        for k, (name, unit) in enumerate(RATES):
            found[f'{prefix}{name} [{unit}]'] = np.interp(time, motion.time, motion.twist[:, k])
    if log.cmd_vel is not None and len(log.cmd_vel.time):
        command = held(log.cmd_vel, time)
        for k, (name, unit) in enumerate(RATES):
            found[f'commanded_{name} [{unit}]'] = command[:, k]
    when, torque = log.torque
    latest = np.searchsorted(when, time, side='right') - 1
    for k in range(torque.shape[1] if len(when) else 0):
        kind, i = ('steering_torque', k - run.robot.count) if k >= run.robot.count else (
            'torque', k)
        found[f'{kind}_{i + 1} [N m]'] = np.where(latest >= 0, torque[latest, k], np.nan)
    found['sigma_min [1]'] = run.sigma
    for i in range(run.robot.count):
        for k, name in enumerate(('along', 'across')):
            found[f'slip_{name}_{i + 1} [m/s]'] = np.interp(time, run.slip.time,
                                                            run.slip.slip[:, i, k])
    found['evidence_of_slip [alarm]'] = np.interp(time, run.slip.time,
                                                  run.slip.statistic / run.slip.threshold)
    return found


def write_curves(run: Run, path: Path) -> Path:
    """Write the `curves` of a run as CSV and return its path."""
    found = curves(run)
    table = np.stack(list(found.values()), axis=1)
    np.savetxt(path, table, fmt='%.9g', delimiter=',', header=','.join(found), comments='',
               encoding='utf-8')
    return path
