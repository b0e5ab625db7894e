# SPDX-License-Identifier: Apache-2.0
"""The headline on slip and encoders, against the kinds of its table."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from test_report_numbers import STEP, run_of
from test_report_parts import log, straight

from c3p_bags.report.numbers import run_numbers
from c3p_bags.report.slip_answer import EITHER, SLIP, WRONG_ENCODER, question_of, slip_answer
from c3p_bags.report.slip_events import SlipEvent
from c3p_bags.report.tables import slip_table
from c3p_kinematics.fault_report import KINDS

# kinds of which no tyre slips
WRONG = [not kind.endswith(' slip') for kind in KINDS]


def event(wheel=0, kind='', distance=0.1, confidence=1.0):
    return SlipEvent(wheel, 1.0, 1.5, 1.2, 0.3, 0.01, distance, confidence, None, kind)


@pytest.fixture(scope='module')
def run():
    time = STEP * np.arange(101)
    return run_of(log(time, odom=straight(time)))


def answer(run, *events):
    """Return the headline of a run with these events, and its table."""
    found = replace(run, events=events)
    return slip_answer(found, run_numbers(found)), slip_table(found)


@pytest.mark.parametrize(('kind', 'wrong'), list(zip(KINDS, WRONG, strict=True)))
def test_the_headline_names_the_kind_of_the_table(run, kind, wrong):
    found, table = answer(run, event(kind=kind))
    assert kind in table
    if wrong:
        assert found.question == WRONG_ENCODER and found.answer == f'Wheel 1 ({kind})'
        assert 'No tyre has slipped' in found.detail and 'of slip' not in found.detail
        assert ('recalibrate' in found.detail) == (kind == 'wheel ratio')
    else:
        assert found.question == SLIP and found.answer == 'Wheel 1'
        assert 'of slip' in found.detail and 'encoder' not in found.detail


@pytest.mark.parametrize(('first', 'second'), list(product(range(len(KINDS)), repeat=2)))
def test_two_kinds_that_are_not_distinguishable_are_both_in_the_headline(run, first, second):
    kind = f'{KINDS[first]} or {KINDS[second]}'
    found, table = answer(run, event(kind=kind))
    both = {WRONG[first], WRONG[second]}
    assert found.question == {(False,): SLIP, (True,): WRONG_ENCODER}.get(tuple(both), EITHER)
    assert kind in table and (found.question == SLIP or kind in found.answer)


def test_several_wheels_have_each_their_kind(run):
    found, _ = answer(run, event(2, 'rolling slip', 0.1), event(0, 'steering encoder drift', 0.3),
                      event(0, 'steering encoder jump', 0.2))
    assert found.question == EITHER
    assert found.answer == ('Wheel 1 (steering encoder drift; steering encoder jump), wheel 3 '
                            '(rolling slip)')
    assert 'contradicts the other wheels by 50.0 cm' in found.detail
    assert 'Also wheel 3 (rolling slip).' in found.detail


def test_more_than_one_wheel_at_once_may_be_a_wrong_wiring(run):
    found, _ = answer(run, event(-1))
    assert found.question == EITHER and found.answer == 'Several wheels'
    assert 'check the wiring' in found.detail


def test_a_wheel_without_a_kind_slipped(run):
    assert question_of([event(1)]) == SLIP and answer(run, event(1))[0].answer == 'Wheel 2'
