# SPDX-License-Identifier: Apache-2.0
"""Numbers, panels and openings of a report, on runs and bags of known truth."""

import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import synthetic
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from robots import C3P
from test_report_parts import log, straight

from c3p_bags.report import loop_panels, motion_panels, sheet, slip_panels, write
from c3p_bags.report.compare import COMPARED, differences
from c3p_bags.report.goals import goal_metrics, part
from c3p_bags.report.health import Span, spans
from c3p_bags.report.numbers import blocked_time, run_numbers
from c3p_bags.report.run import AnalysedRun, measure
from c3p_bags.report.slip_events import SlipReplay, blame, runs_of, slip_events
from c3p_bags.report.summary import answers
from c3p_bags.report.tables import complaint_table, sentences, slip_table, table
from c3p_bags.report.timing import timing
from c3p_bags.runs.metrics import truth_in_odom
from c3p_bags.runs.run_log import Goal, Health, Series, Slip

STEP = 0.01


def replayed(time, wheel=None, begin=0.0, end=0.0, speed=0.2):
    """Return the evidence of one wheel that slips at a constant speed for a while."""
    count = len(time)
    during = (time >= begin) & (time < end) if wheel is not None else np.zeros(count, bool)
    slip = np.zeros((count, 3, 2))
    without = np.where(during[:, None], 100.0, 0.1) * np.ones((count, 3))
    if wheel is not None:
        slip[during, wheel, 0], without[during, wheel] = speed, 0.1
    suspect = np.where(during, -1 if wheel is None else wheel, -1)
    return SlipReplay(time, np.where(during, 100.0, 0.1), 10.0, during, suspect, without, 10.0,
                      slip, STEP * np.abs(slip[..., 0]))


def run_of(recorded, slip=None, reported=None, states=()):
    """Return the analysis of a synthetic run."""
    slip = slip or replayed(recorded.joints.time)
    return AnalysedRun('run', recorded, C3P, recorded.odom, True, truth_in_odom(recorded), slip,
                       slip_events(slip, reported), timing(recorded), tuple(states),
                       measure(C3P, recorded), goal_metrics(recorded, C3P, 0.05, np.inf))


@given(speed=st.floats(0.05, 2.0), stop=st.floats(1.0, 9.0))
def test_distance_and_time_in_motion_are_those_of_the_drive(speed, stop):
    time = STEP * np.arange(1001)
    odom = straight(time)
    odom.pose[:, 0] = speed * np.minimum(time, stop)
    odom.twist[:, 0] = np.where(time < stop, speed, 0.0)
    numbers = run_numbers(run_of(log(time, odom=odom)))
    assert numbers['duration_s'] == pytest.approx(10.0)
    assert numbers['distance_m'] == pytest.approx(speed * stop, rel=1e-9)
    assert numbers['moving_s'] == pytest.approx(stop, abs=2 * STEP)
    assert numbers['max_speed_mps'] == pytest.approx(speed)
    # without a goal its metrics are unknown, not zero
    assert numbers['goal_pose'] is numbers['reached'] is numbers['final_error_m'] is None


@given(drift=st.floats(-0.05, 0.05))
def test_the_error_of_odometry_is_its_distance_from_the_truth(drift):
    time = STEP * np.arange(501)
    odom, truth = straight(time), straight(time)
    odom.pose[:, 1] = drift * time
    found = run_numbers(run_of(log(time, odom=odom, ground_truth=truth)))
    assert found['odometry']['error_final_m'] == pytest.approx(5.0 * abs(drift), abs=1e-12)
    assert found['odometry_error_final_m'] == pytest.approx(5.0 * abs(drift), abs=1e-12)
    assert found['odometry']['error_max_m'] >= found['odometry']['error_final_m'] - 1e-15


@given(lost=st.sets(st.integers(1, 498), max_size=20), period=st.floats(0.001, 0.1))
def test_every_lost_sample_is_counted(lost, period):
    time = np.delete(period * np.arange(500), sorted(lost))
    found = timing(log(time))
    assert found.lost == len(lost) and found.period == pytest.approx(period)
    longest = max((len(list(group)) for group in _consecutive(sorted(lost))), default=0)
    assert found.longest_gap == pytest.approx((longest + 1) * period)


def _consecutive(numbers):
    """Yield the runs of consecutive numbers."""
    group = []
    for number in numbers:
        if group and number != group[-1] + 1:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


@given(wheel=st.integers(0, 2), begin=st.floats(0.5, 2.0), lasts=st.floats(0.2, 1.0),
       speed=st.floats(0.05, 3.0))
def test_a_slip_is_found_with_its_wheel_time_and_distance(wheel, begin, lasts, speed):
    time = STEP * np.arange(501)
    slip = replayed(time, wheel, begin, begin + lasts, speed)
    (event,) = slip_events(slip)
    assert event.wheel == wheel and event.confidence > 0.99 and event.reported is None
    assert event.begin == pytest.approx(begin, abs=STEP + 1e-9)
    assert event.end == pytest.approx(begin + lasts, abs=STEP + 1e-9)
    assert event.along == pytest.approx(speed) and event.across == 0.0
    assert event.distance == pytest.approx(speed * lasts, abs=2.1 * STEP * speed)
    numbers = run_numbers(run_of(log(time, odom=straight(time)), slip))['slip']
    assert [w['events'] for w in numbers['by_wheel']] == [*(int(k == wheel) for k in range(3)), 0]
    assert numbers['by_wheel'][wheel]['largest_mps'] == pytest.approx(speed)
    assert numbers['largest_evidence'] == pytest.approx(10.0)


@pytest.mark.parametrize(('named', 'expected'), [(1, True), (0, False)])
def test_a_slip_is_compared_with_the_report_of_the_robot(named, expected):
    time = STEP * np.arange(301)
    suspect = np.zeros((301, 3), bool)
    suspect[100:150, named] = True
    reported = Slip(time, np.zeros((301, 3, 2)), suspect, np.ones((301, 3)))
    (event,) = slip_events(replayed(time, 1, 1.0, 1.5), reported)
    assert event.reported is expected


def test_wheels_that_explain_a_slip_equally_well_are_equally_likely():
    time = STEP * np.arange(101)
    slip = replayed(time, 0, 0.0, 2.0)
    slip.without[:, 1] = slip.without[:, 0]
    _, probability = blame(slip, slice(0, 101))
    assert probability == pytest.approx(0.5)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=50))
def test_runs_of_equal_values_cover_the_array(values):
    value = np.array(values)
    found = runs_of(value)
    assert found[0][0] == 0 and found[-1][1] == len(value)
    for (begin, end), (after, _) in zip(found, [*found[1:], (len(value), None)], strict=True):
        assert len(set(value[begin:end].tolist())) == 1 and end == after
    assert all(value[a - 1] != value[a] for a, _ in found[1:])


statuses = st.builds(Health, st.floats(0.0, 50.0), st.sampled_from(['a', 'b']),
                     st.integers(0, 3), st.sampled_from(['OK', 'late']), st.just({}))


@given(st.lists(statuses, min_size=1, max_size=30))
def test_the_states_of_a_node_are_a_partition_of_its_time(found):
    found = sorted(found, key=lambda h: h.time)
    for name in {h.name for h in found}:
        mine = [s for s in spans(found, 60.0) if s.name == name]
        assert mine[0].begin == min(h.time for h in found if h.name == name)
        assert mine[-1].end == 60.0
        assert all(a.end == b.begin for a, b in zip(mine[:-1], mine[1:], strict=True))
        # silence is shown after three seconds
        assert all(s.end - s.begin <= 3.0 + 1e-9 or s.level == 3
                   or sum(h.time >= s.begin - 1e-9 and h.time <= s.end for h in found
                          if h.name == name) > 1 for s in mine)


@given(st.lists(st.floats(0.0, 9.0), min_size=1, max_size=4, unique=True))
def test_the_parts_between_goals_have_every_sample_once(times):
    time = STEP * np.arange(1001)
    whole = log(time, odom=straight(time))
    edges = [0.0, *sorted(times), np.inf]
    parts = [part(whole, a, b) for a, b in zip(edges[:-1], edges[1:], strict=True) if a < b]
    joined = np.concatenate([p.odom.time for p in parts if p.odom is not None])
    np.testing.assert_array_equal(joined, time)


def test_only_commands_into_the_lost_direction_count_as_blocked():
    time = STEP * np.arange(201)
    # all rolling lines along Y: X cannot be pushed
    recorded = log(time, odom=straight(time))
    for command, fraction in (((0.5, 0.0, 0.0), 1.0), ((0.0, 0.5, 0.0), 0.0),
                              ((0.01, 0.0, 0.0), 0.0)):
        run = run_of(replace(recorded, cmd_vel=Series(time, np.tile(command, (201, 1)))))
        assert run.sigma.max() < motion_panels.NEAR
        assert blocked_time(run) == pytest.approx(fraction * 2.0, abs=0.02)
    assert blocked_time(run_of(recorded)) is None


numbers = st.none() | st.floats(-1e6, 1e6)


@given(a=st.dictionaries(st.sampled_from(['duration_s', 'distance_m', 'time_s', 'max_speed_mps']),
                         numbers), b=st.just({'duration_s': 3.0, 'distance_m': None}))
def test_a_comparison_is_antisymmetric(a, b):
    rest = {'goals': [], 'odometry': {}, 'complaints': [], 'singularity': {}, 'timing': {},
            'slip': {'events': [], 'by_wheel': []}}
    there, back = differences({**rest, **a}, {**rest, **b}), differences({**rest, **b},
                                                                        {**rest, **a})
    assert list(there) == [c.name for c in COMPARED]
    for name, found in there.items():
        assert found['a'] == back[name]['b'] and found['b'] == back[name]['a']
        gap = found['difference']
        assert back[name]['difference'] == (None if gap is None else pytest.approx(-gap))
        assert (gap is None) == (found['a'] is None or found['b'] is None)


def drawn(draw, run):
    """Return the axes after a panel was drawn."""
    from c3p_plots.style import figure

    axes = figure(6.0, 2.0).add_subplot()
    draw(axes, run)
    return axes


def test_panels_show_the_data_of_the_run():
    time = STEP * np.arange(3001)
    odom = straight(time, 0.4)
    odom.twist[1234, 0] = 2.5
    effort = np.zeros((3001, 3))
    effort[77, 1] = -0.9
    run = run_of(log(time, odom=odom, wheel_effort=Series(time, effort),
                     goals=(Goal(1.0, (3.0, 0.0, 0.0), 'odom'),)), replayed(time, 2, 5.0, 6.0))
    lines = {line.get_label(): line.get_ydata() for line in
             drawn(partial(motion_panels.draw_velocity, which=0), run).get_lines()}
    # a single cycle of thirty seconds is visible
    assert lines['sensed'].max() == 2.5
    torques = drawn(motion_panels.draw_torque, run).get_lines()
    assert min(line.get_ydata().min() for line in torques[:3]) == -0.9
    errors = drawn(motion_panels.draw_errors, run)
    assert errors.get_yscale() == 'log'
    assert any('goal' in line.get_label() for line in errors.get_lines())
    (_, speed) = (drawn(panel, run) for panel in (slip_panels.draw_timeline,
                                                  slip_panels.draw_speed))
    # mm/s
    assert max(line.get_ydata().max() for line in speed.get_lines()) == pytest.approx(200.0)
    gone = drawn(loop_panels.draw_latency, run)
    assert [text.get_text() for text in gone.texts] == ['no latency']


def test_states_are_drawn_by_their_level():
    time = STEP * np.arange(101)
    states = [Span('a: state', 0, 'OK', 0.0, 0.5),
              Span('a: state', 2, 'gone', 0.5, 1.0, 'C3P-VC-0020')]
    run = run_of(log(time, odom=straight(time)), states=states)
    axes = drawn(loop_panels.draw_states, run)
    assert [label.get_text() for label in axes.get_yticklabels()] == ['a']
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {'OK', 'ERROR'}
    assert 'gone' in complaint_table(run) and slip_table(run) == ''
    found = {a.question: a for a in answers(run, run_numbers(run))}
    assert found['What did the nodes report?'].verdict == 'bad'
    assert found['Which wheel slipped?'].verdict == 'good'
    assert found['Did it arrive?'].answer == 'No goal'


def test_the_warning_that_lasted_longest_is_the_headline():
    time = STEP * np.arange(101)
    states = [Span('loop: state', 1, 'gap of 0.58 s', 6.0, 6.1),
              Span('loop: state', 0, 'OK', 6.1, 7.0),
              *(Span('slip: state', 1, f'wheel 2 slips at {k} m/s', 7.0 + k, 7.4 + k)
                for k in range(3)),
              Span('slip: state', 0, 'OK', 10.0, 12.0)]
    run = run_of(log(time, odom=straight(time)), states=states)
    found = {a.question: a for a in answers(run, run_numbers(run))}['What did the nodes report?']
    assert found.answer == '4 warnings' and found.verdict == 'note'
    assert found.detail == ('The longest, 1.20 s in all from 7.00 s on, slip: wheel 2 slips at '
                            '0 m/s.')


def test_rows_of_sentences_have_the_heads_of_their_other_cells_and_are_cut():
    text = sentences(('level', 'message'), [('WARN', f'slip {k}') for k in range(100)])
    assert text.count('<td data-head="level">WARN</td><td class="words">slip') == 40
    assert '60 more: see figures.json' in text


@pytest.mark.parametrize('codes', ['', 'C3P-SK-0001'])
def test_the_table_of_states_has_a_column_of_codes_where_there_are_any(codes):
    time = np.arange(0.0, 12.0, 0.005)
    run = run_of(log(time, odom=straight(time)), states=[
        Span('slip: state', 1, 'wheel 2 slips', 7.0, 7.4, codes)])
    text = complaint_table(run)
    assert ('>codes<' in text) == bool(codes) and codes in text


def test_long_tables_are_cut_and_the_rest_is_counted():
    text = table(('n',), [(f'{k}',) for k in range(100)])
    assert text.count('<tr>') == 41 and '60 more: see figures.json' in text


@settings(max_examples=25)
@given(st.integers(0, 40), st.integers(1, 3))
def test_columns_of_a_table_are_text_or_numbers(rows, left):
    assume(rows)
    text = table(('a', 'b', 'c', 'd'), [('1', '2', '3', '4')] * rows, left)
    assert text.count('<td class="n">') == (4 - left) * rows


def test_a_bag_is_opened_once_on_its_way_to_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(write, 'SECTIONS', [s for s in write.SECTIONS if s.anchor == 'loop'])
    monkeypatch.setattr(sheet, 'DPI', 20)
    run = synthetic.drive(C3P, goal=(0.1, 0.0, 0.0), rate=20.0)
    synthetic.write_bag(tmp_path / 'bag', C3P, run, only=['joint_states', 'odom'])
    opens = {'.mcap': 0, '.yaml': 0}

    def count(event, arguments):
        name = str(arguments[0]) if event == 'open' and active else ''
        if name.startswith(str(tmp_path / 'bag')) and name[-5:] in opens:
            opens[name[-5:]] += 1

    active = True
    sys.addaudithook(count)
    write.report([tmp_path / 'bag'], tmp_path / 'out', robot='c3p')
    # an audit hook cannot be removed
    active = False
    # MCAP: the first bytes, the end, the check, and one pass over all messages
    assert opens == {'.mcap': 4, '.yaml': 1}
