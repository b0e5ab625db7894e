# SPDX-License-Identifier: Apache-2.0
"""Timing, diagnostics and goals of runs that are made of formulas."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import C3P

from c3p_bags.report.compare import difference_sentences, difference_table, differences
from c3p_bags.report.goals import goal_metrics, in_odom, part
from c3p_bags.report.health import complaints, spans
from c3p_bags.report.path import instants
from c3p_bags.report.sheet import envelope, leave_out_spikes, line, peaks, samples_of
from c3p_bags.report.slip_panels import confidence
from c3p_bags.report.timing import timing
from c3p_bags.runs.run_log import Goal, Health, Joints, Motion, RunLog, Series
from c3p_plots import style
from c3p_plots.style import figure

PERIOD = 0.005


def log(time, **more):
    still = np.zeros((len(time), 3))
    return RunLog(Path('run'), 0, Joints(time, *[still] * 5), **more)


def straight(time, speed=1.0, frame='odom'):
    pose = np.column_stack([speed * time, 0 * time, 0 * time])
    twist = np.column_stack([0 * time + speed, 0 * time, 0 * time])
    square = np.zeros((len(time), 3, 3))
    return Motion(time, pose, twist, square, square, frame, 'base_link')


def answered(time, latency, without=()):
    """Return a run whose samples are answered after `latency` [s], some never."""
    kept = np.setdiff1d(np.arange(len(time)), without)
    return log(time, wheel_effort=Series(time[kept], np.zeros((len(kept), 3))), recorded={
        'joint_states': time + 7.0, 'wheel_effort': time[kept] + 7.0 + latency[kept]})


def test_a_loop_that_keeps_time():
    time = PERIOD * np.arange(1000)
    found = timing(answered(time, np.full(1000, 0.0009)))
    assert found.period == pytest.approx(PERIOD) and found.lost == found.late == 0
    assert found.cycles == found.answered == 1000
    np.testing.assert_allclose(found.latency, 0.0009, atol=1e-12)


def test_lost_samples_late_commands_and_silence_are_counted():
    time = np.delete(PERIOD * np.arange(1000), [300, 301, 302, 700])
    latency = np.where(np.arange(len(time)) % 100 == 0, 0.006, 0.001)
    found = timing(answered(time, latency, without=[50, 51]))
    assert found.lost == 4
    assert found.longest_gap == pytest.approx(4 * PERIOD)
    assert found.longest_gap_time == pytest.approx(299 * PERIOD)
    assert (found.cycles, found.answered, found.late) == (996, 994, 10)


def test_a_recorder_in_simulated_time_cannot_tell_latency():
    found = timing(answered(PERIOD * np.arange(100), np.zeros(100)))
    assert found.answered == 100 and not len(found.latency)
    # a command that is recorded after the next step of the clock has the time of that step
    found = timing(answered(PERIOD * np.arange(300), np.repeat([0.0, PERIOD, 2 * PERIOD], 100)))
    assert found.answered == 300 and found.late == 0 and not len(found.latency)


def test_without_commands_only_samples_are_judged():
    found = timing(log(PERIOD * np.arange(10)))
    assert found.cycles == found.answered == 0 and found.lost == 0
    assert timing(log(np.zeros(1))).period == 0.0


def test_states_are_stretches_and_silence_is_stale():
    told = [Health(t, 'a: state', 0, 'OK', {}) for t in (0.0, 1.0, 2.0)]
    told += [Health(2.5, 'a: state', 1, 'slips', {}), Health(3.0, 'a: state', 0, 'OK', {})]
    told += [Health(1.0, 'b: state', 2, 'gone', {})]
    found = spans(told, 10.0)
    assert [(s.name, s.level, s.begin, s.end) for s in found] == [
        ('a: state', 0, 0.0, 2.5), ('a: state', 1, 2.5, 3.0), ('a: state', 0, 3.0, 6.0),
        ('a: state', 3, 6.0, 10.0), ('b: state', 2, 1.0, 4.0), ('b: state', 3, 4.0, 10.0)]
    assert [(s.begin, s.level) for s in complaints(found)] == [(1.0, 2), (2.5, 1), (4.0, 3),
                                                               (6.0, 3)]


def test_each_goal_has_its_own_figures():
    time = 0.01 * np.arange(1001)
    # one metre a second to 4 m, waits there until 6 s, then on to 6 m
    x = np.clip(time, 0.0, 4.0) + np.clip(time - 6.0, 0.0, 2.0)
    odom = straight(time)
    odom.pose[:, 0] = x
    run = log(time, odom=odom, goals=(Goal(0.0, (4.0, 0.0, 0.0), 'odom'),
                                      Goal(6.0, (2.0, 0.0, 0.0), 'base_link')))
    first, second = goal_metrics(run, C3P, 0.05, np.inf)
    assert first['reached'] and first['time_s'] == pytest.approx(3.95, abs=0.011)
    # two metres ahead of where the robot was
    assert second['goal_pose'] == pytest.approx([6.0, 0.0, 0.0]) and second['frame'] == 'odom'
    assert second['reached'] and second['time_s'] == pytest.approx(1.95, abs=0.011)
    assert first['end_s'] == second['begin_s'] == 6.0
    missed, _ = goal_metrics(replace(run, goals=(Goal(0.0, (5.0, 0.0, 0.0), 'odom'),
                                                 run.goals[1])), C3P, 0.05, np.inf)
    assert missed['reached'] is False and missed['final_error_m'] == pytest.approx(1.0)


def test_a_part_of_a_run_keeps_its_times():
    time = 0.01 * np.arange(1000)
    cut = part(log(time, odom=straight(time), ground_truth=straight(time[:10])), 2.0, 3.0)
    assert cut.odom.time[0] == pytest.approx(2.0) and cut.odom.time[-1] < 3.0
    assert cut.ground_truth is None and cut.odom.frame == 'odom'
    goal = Goal(1.0, (1.0, 2.0, 3.0), 'map')
    assert in_odom(goal, cut.odom) is goal


def test_a_goal_that_comes_after_the_last_pose_has_no_way():
    time = 0.01 * np.arange(100)
    assert len(instants(straight(time), 5.0, 0.7)) == 0
    # and a way of ten thousand widths has no more robots than can be told apart
    assert len(instants(straight(100.0 * time), 0.0, 0.01)) == 25


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=400), st.integers(1, 40))
def test_what_is_drawn_has_the_extremes(values, bins):
    value = np.array(values)
    time, shown = envelope(np.arange(len(value), dtype=float), value, bins)
    assert shown.max() == value.max() and shown.min() == value.min()
    assert len(shown) <= max(2 * bins, 1) or len(value) <= 2 * bins
    assert np.all(np.diff(time) >= 0) and np.array_equal(value[time.astype(int)], shown)
    assert peaks(np.arange(len(value)), value, bins)[1].max() == value.max()


def velocity(time, value):
    """Return axes with a line of a report."""
    axes = figure(6.0, 2.0).add_subplot()
    line(axes, time, value)
    leave_out_spikes(axes)
    return axes


def test_a_spike_does_not_flatten_the_panel_and_is_marked_with_value_and_time():
    time = 0.005 * np.arange(12000)
    value = 0.3 * np.sin(time)
    value[[4000, 7000]] = 25.0, -4.0
    axes = velocity(time, value)
    assert axes.get_ylim() == pytest.approx((-0.66, 0.66), abs=0.01)
    assert [text.get_text() for text in axes.texts] == ['▼ -4 at 35.00 s', '▲ 25 at 20.00 s']
    # the samples keep it
    assert samples_of(axes.get_lines()[0])[1].max() == 25.0


@pytest.mark.parametrize('moving', [2.0, 60.0])
def test_a_short_motion_in_ten_minutes_is_no_spike(moving):
    rng = np.random.default_rng(1)
    time = 0.02 * np.arange(30000)
    value = np.where(abs(time - 300.0) < 0.5 * moving, 0.4, 0.0)
    value += rng.normal(0.0, 0.002, len(time))
    axes = velocity(time, value)
    assert axes.get_ylim()[1] > 0.4 and not axes.texts


def test_noise_and_a_line_at_zero_have_no_spikes():
    time = 0.02 * np.arange(5000)
    for value in (np.zeros(5000), np.full(5000, np.nan),
                  np.random.default_rng(2).normal(0.0, 1.0, 5000)):
        assert not velocity(time, value).texts


def test_nobody_is_certain():
    assert confidence(1.0) == '> 99.9 %' and confidence(0.951) == '95.1 %'


def test_differences_are_of_what_both_have():
    one = {'duration_s': 2.0, 'distance_m': 1.0, 'goals': [], 'odometry': {}, 'complaints': [],
           'slip': {'events': [], 'by_wheel': []}, 'singularity': {}, 'timing': {}}
    other = {**one, 'duration_s': 5.0, 'time_s': 3.0}
    found = differences(one, other)
    assert found['duration'] == {'a': 2.0, 'b': 5.0, 'difference': 3.0}
    assert found['last goal: time'] == {'a': None, 'b': 3.0, 'difference': None}


def test_differences_are_written_without_exponents_and_long_errors_in_metres():
    one = {'robot': 'a', 'reached': None, 'duration_s': 2.0, 'distance_m': 1.0, 'goals': [],
           'odometry': {}, 'complaints': [], 'slip': {'events': [], 'by_wheel': []},
           'singularity': {}, 'timing': {}, 'final_error_m': 7.9e-4}
    other = {**one, 'final_error_m': 24.7532, 'duration_s': 2.0 + 3e-6}
    words = difference_sentences([one, other])
    assert 'Last goal: final error: 24.8 m in B, 0.79 mm in A.' in words
    text = difference_table([one, other])
    assert '24753' in text and '+&lt; 0.0001' in text and 'e+' not in text and 'e-' not in text


def test_lines_that_differ_in_colour_alone_get_dashes():
    axes = style.figure(3.0, 2.0).add_subplot()
    first, = axes.plot([0, 1], [0, 1], color='#0072b2', label='by odometry')
    second, = axes.plot([0, 1], [1, 2], color='#e69f00', label='true')
    follower, = axes.plot([0, 1], [2, 3], color='#e69f00')
    broad, = axes.plot([0, 1], [3, 4], color='#009e73', linewidth=3.0, label='truth')
    marked, = axes.plot([0, 1], [4, 5], color='#cc79a7', marker='o', label='wheel')
    style.legend(axes)
    assert [line.get_linestyle() for line in (first, second, follower, broad, marked)] == [
        '-', '--', '--', '-', '-']


def recorded(lost=(), lost_odometry=(), commands=True):
    """Return a run that answered every cycle, without some recorded messages."""
    time = PERIOD * np.arange(1000)
    run = answered(time, np.full(1000, 0.0009)) if commands else log(time)
    kept, poses = np.delete(np.arange(1000), lost), np.delete(np.arange(1000), lost_odometry)
    still = np.zeros((len(kept), 3))
    return replace(run, joints=Joints(time[kept], *[still] * 5), odom=straight(time[poses]),
                   recorded={k: v[kept] if k == 'joint_states' else v
                             for k, v in run.recorded.items()})


@given(st.sets(st.integers(1, 998), max_size=30), st.sets(st.integers(1, 998), max_size=30))
def test_messages_that_the_recorder_lost_are_not_missing_in_the_loop(lost, lost_odometry):
    found = timing(recorded(sorted(lost), sorted(lost_odometry)))
    # the wheel commands have the stamps of all cycles
    assert found.lost == 0 and found.longest_gap == pytest.approx(PERIOD)
    assert found.unrecorded.lost == len(lost - lost_odometry)
    assert found.unanswered.lost == len(lost_odometry - lost)
    assert found.late == 0 and found.answered == found.cycles


def test_cycles_of_which_nothing_was_recorded_are_missing():
    found = timing(recorded([300, 301, 700], [301, 700], commands=False))
    assert found.lost == 2 and found.unrecorded.lost == 1
    assert found.longest_gap == pytest.approx(2 * PERIOD)
    assert found.longest_gap_time == pytest.approx(300 * PERIOD)
