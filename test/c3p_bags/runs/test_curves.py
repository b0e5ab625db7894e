# SPDX-License-Identifier: Apache-2.0
"""Curves of runs as CSV, read back by the standard library."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from c3p_bags.runs.curves import columns, instants, write_curves
from c3p_bags.runs.run_log import Joints, Motion, RunLog, Series

TIME = np.arange(0.0, 2.001, 0.005)
ODD = TIME[::7]


def a_run():
    """Return a run of two casters at 200 Hz, with odometry at another rate."""
    wave = np.column_stack([np.sin(TIME), 4.0 * TIME])
    joints = Joints(TIME, (wave + np.pi) % (2 * np.pi) - np.pi, wave, wave, wave, wave)
    pose = np.column_stack([ODD, 2 * ODD, 0 * ODD])
    odom = Motion(ODD, pose, pose, np.zeros((len(ODD), 3, 3)), np.zeros((len(ODD), 3, 3)), 'odom',
                  'base_link')
    return RunLog(Path('run'), 0, joints, odom=odom,
                  cmd_vel=Series(np.array([0.5, 1.0]), np.array([[1.0, 0, 0], [2.0, 0, 0]])))


def read(path):
    with open(path, encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file))


def test_what_is_read_back_is_the_run(tmp_path):
    rows = read(write_curves([('one', a_run())], tmp_path / 'run.csv'))
    time = np.array([float(row['time_s']) for row in rows])
    np.testing.assert_allclose(np.diff(time), 0.02, atol=1e-6)
    # unwrapped, as an angle in a plot
    np.testing.assert_allclose([float(row['steering_2_rad']) for row in rows], 4.0 * time,
                               atol=1e-5)
    np.testing.assert_allclose([float(row['odom_y_m']) for row in rows], 2.0 * time, atol=0.06)
    commands = np.array([float(row['command_vx_mps']) for row in rows])
    assert set(commands[time < 0.99]) == {1.0} and set(commands[time > 1.01]) == {2.0}
    assert not any(name.startswith('true_') for name in rows[0])


def test_several_runs_have_a_label_and_empty_cells_for_what_one_lacks(tmp_path):
    short = replace(a_run(), odom=None)
    rows = read(write_curves([('first', a_run()), ('second', short)], tmp_path / 'two.csv', 10.0))
    assert [row['run'] for row in rows] == ['first'] * 21 + ['second'] * 21
    assert rows[0]['odom_x_m'] and not rows[-1]['odom_x_m']


@pytest.mark.parametrize('rate', [3.0, 50.0, 1e6])
def test_the_last_sample_is_always_written(rate):
    at = instants(a_run(), rate)
    assert at[-1] == TIME[-1] and len(at) <= len(TIME)
    assert all(len(column) == len(at) for column in columns(a_run(), at).values())
