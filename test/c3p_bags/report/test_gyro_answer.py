# SPDX-License-Identifier: Apache-2.0
"""The answer of a report on the gyro of the odometry."""

from dataclasses import replace

import numpy as np
import pytest
from test_report_numbers import STEP, run_of
from test_report_parts import log, straight

from c3p_bags.report.gyro_answer import gyro_answer
from c3p_bags.report.numbers import run_numbers
from c3p_bags.report.summary import answers
from c3p_bags.runs.run_log import Health
from c3p_kinematics.gyro_report import GyroReport

GOOD = GyroReport(True, 0.01, 1e-4, 1.004, 0.002, 0.01, np.nan, 0.0, False, 0.0, 0.01, 90, 1)
WRONG = GOOD._replace(trusted=False, ratio=57.3)


@pytest.fixture(scope='module')
def run():
    time = STEP * np.arange(101)
    return run_of(log(time, odom=straight(time)))


def with_reports(run, *reports):
    """Return the run with diagnostics of a node that had these reports."""
    health = tuple(Health(0.1 * k, 'sensed_kinematics', 0, '', report.metrics())
                   for k, report in enumerate(reports))
    return replace(run, log=replace(run.log, diagnostics=health))


def test_a_run_without_a_gyro_has_no_answer(run):
    assert gyro_answer(run) == []


def test_a_gyro_that_was_used_is_shown_with_bias_and_scale(run):
    found = with_reports(run, GOOD)
    answer, = gyro_answer(found)
    assert (answer.answer, answer.verdict) == ('Yes', 'good')
    assert '0.573 ± 0.011' in answer.detail and '1.0040 ± 0.0039' in answer.detail
    assert '90 of 91' in answer.detail
    assert answer in answers(found, run_numbers(found))


def test_a_gyro_that_was_left_out_is_shown_with_the_cause(run):
    answer, = gyro_answer(with_reports(run, GOOD, WRONG))
    assert (answer.answer, answer.verdict) == ('No', 'note')
    assert "57.3 times the joints' yaw rate: degrees per second?" in answer.detail
    later, = gyro_answer(with_reports(run, WRONG, GOOD))
    assert later.answer == 'Not always'
