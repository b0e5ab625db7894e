# SPDX-License-Identifier: Apache-2.0
"""Curves of runs as a CSV file: one row per instant, names with units, SI throughout."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from c3p_bags.runs.run_log import Motion, RunLog
from c3p_description.model import Array

# rows per second of a run unless given otherwise, Hz
RATE = 50.0

# significant digits: encoders resolve five of a turn
DIGITS = 7


def columns(log: RunLog, time: Array) -> dict[str, Array]:
    """
    Return the curves of a run at the instants `time` (k,), s since its first joint states.

    Joints are ``steering_1_rad``, ``steering_rate_1_radps``, ``wheel_angle_1_rad``,
    ``wheel_rate_1_radps`` and ``wheel_torque_1_nm`` for the first caster; ``odom_`` and ``true_``
    come before ``x_m``, ``y_m``, ``yaw_rad`` of the pose and ``vx_mps``, ``vy_mps``,
    ``yaw_rate_radps`` of the twist, ``command_`` before those of the commanded twist. Between
    samples they are linear; commands and torques hold their last value. What the run does not
    have has no column.
    """
    joints = log.joints
    found = {'time_s': time}
    for name, values in (('steering_{}_rad', np.unwrap(joints.steering, axis=0)),
                         ('steering_rate_{}_radps', joints.steering_rate),
                         ('wheel_angle_{}_rad', joints.wheel_angle),
                         ('wheel_rate_{}_radps', joints.wheel_rate)):
        for i in range(joints.steering.shape[1]):
            found[name.format(i + 1)] = np.interp(time, joints.time, values[:, i])
    held = _held(joints.time, joints.wheel_torque, time)
    found |= {f'wheel_torque_{i + 1}_nm': column for i, column in enumerate(held.T)}
    for prefix, motion in (('odom', log.odom), ('true', log.ground_truth)):
        found |= _motion(prefix, motion, time)
    if log.cmd_vel is not None and len(log.cmd_vel.time):
        values = _held(log.cmd_vel.time, log.cmd_vel.value, time)
        found |= dict(zip(('command_vx_mps', 'command_vy_mps', 'command_yaw_rate_radps'),
                          values.T, strict=True))
    return found


def write_curves(runs: Iterable[tuple[str, RunLog]], path: Path, rate: float = RATE) -> Path:
    """
    Write the curves of labelled `runs` to `path`, `rate` rows per second; return the path.

    With more than one run the first column ``run`` is the label. The columns are those of all
    runs; cells of missing curves are empty.
    """
    tables = [(label, columns(log, instants(log, rate))) for label, log in runs]
    names = list(dict.fromkeys(name for _, table in tables for name in table))
    several = len(tables) > 1
    with open(path, 'w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file)
        writer.writerow((['run'] if several else []) + names)
        for label, table in tables:
            cells: Sequence[Sequence[str]] = [
                [f'{value + 0.0:.{DIGITS}g}' for value in table[name]] if name in table
                else [''] * len(table['time_s']) for name in names]
            for row in zip(*cells, strict=True):
                writer.writerow(([label] if several else []) + list(row))
    return path


def instants(log: RunLog, rate: float) -> Array:
    """Return the times of the joint states, at most `rate` per second; the last is kept."""
    time = log.joints.time
    if len(time) < 2:
        return time
    step = max(1, round((len(time) - 1) / max(rate * (time[-1] - time[0]), 1.0)))
    return np.unique(np.append(time[::step], time[-1]))


def _motion(prefix: str, motion: Motion | None, time: Array) -> dict[str, Array]:
    if motion is None or not len(motion.time):
        return {}
    names = ('x_m', 'y_m', 'yaw_rad', 'vx_mps', 'vy_mps', 'yaw_rate_radps')
    values = np.hstack([motion.pose, motion.twist])
    return {f'{prefix}_{name}': np.interp(time, motion.time, column)
            for name, column in zip(names, values.T, strict=True)}


def _held(at: Array, values: Array, time: Array) -> Array:
    """Return at `time` the last of `values` (k, …) up to then; the first before it."""
    return values[np.maximum(np.searchsorted(at, time, side='right') - 1, 0)]
