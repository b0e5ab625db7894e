# SPDX-License-Identifier: Apache-2.0
"""The experiment on the analytic plant, with few draws."""

import numpy as np
import pytest

from c3p_experiments.catalogue import EXPERIMENTS
from c3p_experiments.loop.conditions import Bench, Conditions
from c3p_experiments.self_calibration import drives
from c3p_experiments.self_calibration.draws import replayed
from c3p_experiments.self_calibration.experiment import ROWS, self_calibration
from c3p_experiments.self_calibration.page import calibration_page
from c3p_kinematics.calibrating_odometry import CalibratingOdometry


@pytest.fixture(scope='module')
def bench():
    return Bench(Conditions(), 'c3p')


@pytest.fixture(scope='module')
def outcome(bench):
    # smaller than the experiment: 1 m in place of 4 m, 15 s in place of a minute
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drives, 'LINE', (1.0, 0.0, 0.0))
        patch.setattr(drives, 'TRIANGLE', ((0, 0, 0), (0.0, 1.0, 0.0), (0.8, 1.0, 0.0),
                                           (0.0, 0.0, 0.0)))
        patch.setattr(drives, 'MINUTE', 15.0)
        patch.setattr(drives, 'TURNS', 2)
        patch.setattr(drives, 'MARKED_TURNS', 1)
        yield self_calibration(bench, draws=4, lessons=1, closed=1)


def test_a_short_drive_removes_most_of_the_errors(outcome):
    metrics = outcome.metrics
    assert metrics['reached'] and metrics['draws'] == 4 and metrics['closed_loop']['draws'] == 1
    for key in ('triangle_error_p90_m', 'radius_error_max_ratio', 'steering_zero_error_max_rad'):
        assert metrics[key]['after'] < 0.5 * metrics[key]['before'], key
    # two turns, of which one ended on a mark: twice its 0.2° and the rounding at worst thrice
    assert metrics['ten_turns_yaw_error_p90_rad']['after'] < np.radians(1.2)
    closed = metrics['closed_loop']
    assert closed['radius_error_max_ratio']['after'] < 1e-3


def test_every_row_of_the_table_has_its_metric(outcome):
    assert all(row.value(outcome.metrics) is not None for row in ROWS)


def test_the_page_is_written(outcome, bench, tmp_path):
    files = calibration_page(outcome, bench, EXPERIMENTS['self_calibration'], tmp_path / 'page')
    assert {f.suffix for f in files} == {'.png', '.pdf'} and all(f.is_file() for f in files)


def test_a_replay_with_the_right_description_ends_where_the_drive_did(bench, outcome):
    log = outcome.runs[0].log
    drive = drives.CalibrationDrive(log, ((0, 0, 0), drives.LINE), ())
    odometry = CalibratingOdometry(bench.robot, bench.odometry().settings)
    odometry.calibration.frozen = True
    truth, _ = replayed(odometry, drive, np.zeros(3))
    # the odometry of the loop itself, mirrored
    np.testing.assert_allclose(truth.pose[-1, :2],
                               2 * log.ground_truth.pose[-1, :2] - log.odom.pose[-1, :2],
                               atol=1e-9)
