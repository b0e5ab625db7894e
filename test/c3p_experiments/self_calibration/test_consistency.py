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
    statistics,
)
from c3p_experiments.self_calibration.consistency_page import consistency_page


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
