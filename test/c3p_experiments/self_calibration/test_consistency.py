# SPDX-License-Identifier: Apache-2.0
"""The experiment of the covariance on the analytic plant, with few short drives."""

import numpy as np
import pytest

from c3p_experiments.catalogue import EXPERIMENTS
from c3p_experiments.loop.conditions import Bench, Conditions
from c3p_experiments.self_calibration import drives
from c3p_experiments.self_calibration.consistency import (
    ROWS,
    Consistency,
    band,
    consistency,
    oil,
    statistics,
)
from c3p_experiments.self_calibration.consistency_page import consistency_page
from c3p_experiments.self_calibration.draws import ERRORS
from c3p_kinematics.calibration.parameters import calibrated, parameters_of
from c3p_kinematics.odometry import Odometry
from c3p_simulation.plants.parameter_errors import perturbed

# a drive in which a wheel spins on oil at the start
OILY_START = 3159


@pytest.fixture(scope='module')
def bench():
    return Bench(Conditions(wheel_counts=2000, steering_counts=4096), 'c3p')


@pytest.fixture(scope='module')
def outcome(bench):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drives, 'MINUTE', 6.0)
        yield consistency(bench, runs=4)


def test_the_errors_are_of_the_size_of_the_covariance(outcome):
    for kind in ('described', 'learned'):
        # four drives have 12 freedoms at a time: wide limits
        assert 0.2 < outcome.metrics[kind]['pose']['mean'] < 3.0, kind


def test_every_row_of_the_table_has_its_metric(outcome):
    assert all(row.value(outcome.metrics) is not None for row in ROWS)


def test_the_page_is_written(outcome, bench, tmp_path):
    files = consistency_page(outcome, bench, EXPERIMENTS['consistency'], tmp_path / 'page')
    assert {f.suffix for f in files} == {'.png', '.pdf'} and all(f.is_file() for f in files)


def test_a_start_on_oil_from_parallel_casters_does_not_move_the_pose():
    """
    Slip of parallel casters has two explanations, and the slip monitor takes the wrong one.

    The fault monitor, which remembers the begin of the slip, contradicts it.
    """
    pytest.importorskip('mujoco')
    bench = Bench(Conditions(plant='mujoco'), 'c3p')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drives, 'MINUTE', 1.0)
        drive = drives.minute(bench, OILY_START, plant=bench.plant(patches=oil(OILY_START)))
    off = perturbed(bench.robot, OILY_START, ERRORS)
    zero = bench.robot.steering_zero - off.steering_zero
    odometry = Odometry(calibrated(bench.robot, parameters_of(off)), bench.odometry().settings)
    odometry.reset(drive.log.ground_truth.pose[0])
    joints, slipped = drive.log.joints, False
    for time, steering, steering_rate, wheel, rate, _ in zip(*joints, strict=True):
        estimate = odometry.step(time, steering - zero, wheel, rate, steering_rate)
        slipped |= estimate.slip.slipping
    miss = estimate.pose - drive.log.ground_truth.pose[-1]
    # 6 cm and 9 degrees with the wrong wheel; of a wrong description over 0.3 m some millimetres
    assert slipped and np.hypot(*miss[:2]) < 0.02 and abs(miss[2]) < 0.03


def test_the_band_contains_the_means_of_right_covariances():
    rng = np.random.default_rng(4)
    squares = rng.chisquare(3, (200, 2, 2, 2000)) / 3
    found = statistics(Consistency(np.arange(2000.0), np.zeros(200, bool), squares))
    # of a normal distribution, from which χ² with 600 freedoms differs by its skewness
    wide = 1.96 * np.sqrt(2 / 600)
    assert band(200) == pytest.approx((1 - wide, 1 + wide), abs=4e-3)
    # 2000 times: the ratio has a standard deviation of 0.5 %
    for kind in ('described', 'learned'):
        assert found[kind]['twist']['inside_ratio'] == pytest.approx(0.95, abs=0.02)
