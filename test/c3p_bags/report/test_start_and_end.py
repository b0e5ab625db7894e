# SPDX-License-Identifier: Apache-2.0
"""Warnings of the start, goal zones of bags, and reasons for missed goals."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Text
from robots import C3P
from test_report_parts import log, straight

from c3p_bags.report.drive_page import drive_figure
from c3p_bags.report.goals import goal_metrics
from c3p_bags.report.health import spans, while_starting
from c3p_bags.report.run import goal_zone
from c3p_bags.runs.metrics import drive_metrics, missed_because
from c3p_bags.runs.run_log import Goal, Health, Series

LOCK = 'lock: starting; the robot moves after a zero command or silence'


def told(*statuses):
    """Return statuses of one node: (time, level) each."""
    return [Health(time, 'a: state', level, 'OK' if level == 0 else LOCK, {})
            for time, level in statuses]


@pytest.mark.parametrize(('statuses', 'moves', 'expected'), [
    # locked until silence, a moment after the first status
    (((-0.01, 0), (0.0, 1), (0.5, 0), (1.5, 0)), 2.0, [0.0]),
    # the same while the robot moves already: a bag that begins during a drive
    (((-0.01, 0), (0.0, 1), (0.5, 0), (1.5, 0)), 0.2, []),
    # an error is none of the start
    (((0.0, 2), (0.5, 0)), 2.0, []),
    # locked for long, for ever, or later
    (((0.0, 1), (2.0, 1), (4.0, 1), (5.5, 0)), 9.0, []),
    (((0.0, 1), (1.0, 1), (2.0, 1)), np.inf, []),
    (((0.0, 0), (1.5, 1), (2.0, 0)), 9.0, []),
])
def test_only_short_warnings_before_the_first_motion_are_of_the_start(statuses, moves, expected):
    states = spans(told(*statuses), 6.0)
    assert sorted(s.begin for s in while_starting(states, moves)) == expected


@pytest.mark.parametrize(('pace', 'stale'), [(1.0, True), (0.4, True), (4.3, False)])
def test_silence_in_a_simulation_faster_than_real_time_is_not_stale(pace, stale):
    # a status a second of real time
    states = spans(told((0.0, 0), (4.3, 0), (8.6, 0)), 9.0, pace)
    assert any(s.level == 3 for s in states) is stale
    assert sum(s.end - s.begin for s in states) == pytest.approx(9.0)


def zone_of(**values):
    return (Health(0.0, 'position_controller: state', 0, 'OK', values),)


def test_the_goal_zone_is_the_given_one_else_that_of_the_controller():
    empty = log(np.arange(3.0))
    assert goal_zone(empty) == (0.05, np.inf)
    known = replace(empty, diagnostics=zone_of(**{
        'goal tolerance [m]': '0.02', 'yaw tolerance [rad]': '0.15'}))
    assert goal_zone(known) == (0.02, 0.15)
    assert goal_zone(known, 0.3) == (0.3, 0.15)
    for text in ('nan', '-1', 'much', ''):
        odd = replace(empty, diagnostics=zone_of(**{'goal tolerance [m]': text}))
        assert goal_zone(odd) == (0.05, np.inf)


def missed_run():
    time = 0.01 * np.arange(1001)
    return log(time, odom=straight(time, 0.1), cmd_vel=Series(time, np.zeros((1001, 3))),
               goals=(Goal(1.0, (5.0, 0.0, 0.0), 'odom'),),
               results=(Health(0.5, 'goal', 0, 'reached: well', {'reason': 'reached'}),
                        Health(8.0, 'goal', 2, 'no progress: no progress for 5 s',
                               {'reason': 'no progress'})))


def test_a_missed_goal_has_its_reason_and_time():
    run = missed_run()
    why = 'no progress for 5 s, 7.0 s after the goal'
    assert missed_because(run) == why
    metrics = drive_metrics(run, C3P, (5.0, 0.0, 0.0), 0.05)
    assert metrics['missed'] == why and not metrics['reached']
    assert goal_metrics(run, C3P, 0.05, np.inf)[0]['missed'] == why
    # a reached goal has none, whatever ended later
    assert 'missed' not in drive_metrics(run, C3P, (1.0, 0.0, 0.0), 0.05)
    assert missed_because(replace(run, results=())) is None


def test_the_picture_of_a_missed_drive_says_why_and_marks_when(tmp_path):
    pages = []
    run = missed_run()
    drive_figure(run, C3P, drive_metrics(run, C3P, (5.0, 0.0, 0.0), 0.05), tmp_path / 'drive',
                 lambda page, path: pages.append(page) or [Path(path)] * 2)
    texts = [text.get_text() for text in pages[0].findobj(Text)]
    assert 'no progress for 5 s, 7.0 s after the goal' in texts
    assert 'given up 7.0 s' in texts
