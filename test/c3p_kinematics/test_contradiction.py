# SPDX-License-Identifier: Apache-2.0
"""A contradiction of several casters is reported when it lasts, not for a moment."""

import numpy as np
import pytest

from c3p_kinematics.contradiction import INTERRUPTED, REPORTED, Contradiction
from c3p_kinematics.fault_report import FaultReport


def report(alarm, *rows):
    return FaultReport(alarm, np.array(rows), 100.0, 20.0, np.zeros(len(rows)))


def test_several_is_an_alarm_that_no_single_caster_explains():
    none, one = [0.0] * 8, [0.9] + [0.0] * 7
    assert report(True, none, none, none).several
    assert not report(True, one, none, none).several
    assert not report(False, none, none, none).several
    # two casters never isolate a fault
    assert not report(True, none, none).several


def step(contradiction, begin, end, several, period=0.005):
    for k in range(round((end - begin) / period) + 1):
        contradiction.step(begin + k * period, several)


def test_it_is_reported_when_it_lasts():
    contradiction = Contradiction()
    step(contradiction, 0.0, REPORTED - 0.01, True)
    assert contradiction.text() == ''
    step(contradiction, REPORTED, REPORTED + 0.01, True)
    assert contradiction.text().startswith('more than one wheel slips')


@pytest.mark.parametrize('pause, reported', [
    (0.8 * INTERRUPTED, True), (1.2 * INTERRUPTED, False)])
def test_a_short_interruption_does_not_count(pause, reported):
    contradiction, half = Contradiction(), 0.6 * REPORTED
    step(contradiction, 0.0, half, True)
    step(contradiction, half + 0.005, half + pause - 0.005, False)
    step(contradiction, half + pause, 2.0 * half + pause, True)
    assert bool(contradiction.text()) is reported


def test_it_ends_with_the_contradiction_and_with_time_that_goes_back():
    contradiction = Contradiction()
    step(contradiction, 0.0, 3.0, True)
    step(contradiction, 3.005, 3.0 + 1.1 * INTERRUPTED, False)
    assert contradiction.lasts == 0.0
    step(contradiction, 5.0, 8.0, True)
    contradiction.step(1.0, True)
    assert contradiction.text() == ''
