# SPDX-License-Identifier: Apache-2.0
"""A clock that is set while a bag is recorded changes no number of the run, and is said."""

import struct
import warnings

import numpy as np
import pytest
import synthetic
from found_bags import Row, write_mcap, write_metadata
from synthetic import read_raw, topics_of

from c3p_bags.report.numbers import run_numbers
from c3p_bags.report.run import read
from c3p_bags.report.summary import answers
from c3p_bags.runs.clock_steps import find_steps
from c3p_bags.runs.log_reader import read_run
from c3p_bags.runs.recompute_bag import recompute_bag
from c3p_bags.runs.smoothness import smoothness
from c3p_bags.storage.bag import Bag
from c3p_description.reading.loader import load

C3P = load('c3p')
TOPICS = ['joint_states', 'odom', 'ground_truth/odom', 'cmd_vel', 'goal_pose', 'diagnostics',
          'sensed_kinematics/wheel_slip', 'wheel_effort']
DAY = 86_400.0
# time of the run, s, and by how much the clock is set, s
SET = {'forward by years': [(2.5, 4e8)], 'forward by days': [(2.5, 10 * DAY)],
       'forward by an hour': [(2.5, 3600.0)], 'forward by seconds': [(2.5, 3.0)],
       'forward by 0.4 s': [(2.5, 0.4)], 'back by 20 ms': [(2.5, -0.02)],
       'back by seconds': [(2.5, -3.0)], 'back by an hour': [(2.5, -3600.0)],
       'back by decades': [(2.5, -1.6e9)],
       'back and forward': [(1.5, -7200.0), (3.0, 7200.0)],
       'twice': [(1.5, 30.0), (3.0, 3000.0)], 'to and fro within 0.2 s': [(2.5, 1e6), (2.7, -1e6)]}


@pytest.fixture(scope='module')
def rows(tmp_path_factory):
    """Return the messages of a drive."""
    place = tmp_path_factory.mktemp('drive') / 'bag'
    run = synthetic.drive(C3P, goal=(0.9, 0.0, 0.0), rate=100.0)
    synthetic.write_bag(place, C3P, run, only=TOPICS)
    kinds = {topic: kind for topic, (kind, _) in topics_of(place).items()}
    return [Row(m.topic, kinds[m.topic], m.time, bytes(m.data)) for m in read_raw(place)]


def stamped_later(row, by):
    """Return the row with a stamp that is later by so many ns."""
    second, nano = struct.unpack_from('<iI', row.data, 4)
    if row.kind.endswith(('Bool', 'Float64', 'String')) or not second:
        return row
    stamp = divmod(second * 10**9 + nano + by, 10**9)
    return row._replace(data=row.data[:4] + struct.pack('<iI', *stamp) + row.data[12:])


def with_clock_set(rows, steps, recorder=True):
    """Return the rows of a robot, and recorder, whose clock was set."""
    found = []
    for row in rows:
        by = sum(int(step * 1e9) for at, step in steps
                 if row.time - rows[0].time > at * 1e9)
        row = stamped_later(row, by)
        found.append(row._replace(time=row.time + by) if recorder else row)
    return found


def numbers_of(tmp_path, rows):
    tmp_path.mkdir(exist_ok=True)
    write_mcap(tmp_path / 'a.mcap', rows, chunk=500)
    write_metadata(tmp_path, rows, ['a.mcap'])
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        with Bag(tmp_path) as bag:
            run = read(bag, 'c3p')
            numbers = run_numbers(run)
            return numbers, answers(run, numbers), bag.remarks


def same(a, b, path=''):
    """Assert that numbers are equal but for rounding, at any depth."""
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            if key not in ('bag', 'clock_steps', 'latency_s'):
                same(a[key], b[key], f'{path}.{key}')
    elif isinstance(a, list):
        assert len(a) == len(b), path
        for one, other in zip(a, b, strict=True):
            same(one, other, path)
    elif isinstance(a, float):
        # stamps of 1e18 ns, and rates by differences of stamps
        assert a == pytest.approx(b, rel=1e-4, abs=1e-6), path
    else:
        assert a == b, path


@pytest.fixture(scope='module')
def tidy(rows, tmp_path_factory):
    return numbers_of(tmp_path_factory.mktemp('tidy'), rows)


@pytest.mark.parametrize('recorder', [True, False], ids=['both', 'robot'])
@pytest.mark.parametrize('steps', SET.values(), ids=SET)
def test_the_numbers_of_a_run_do_not_depend_on_the_clock(rows, tidy, tmp_path, steps, recorder):
    numbers, told, remarks = numbers_of(tmp_path / 'bag', with_clock_set(rows, steps, recorder))
    same(numbers, tidy[0])
    found = numbers['clock_steps']
    assert len(found) == len(steps) == len([r for r in remarks if 'the clock was set' in r])
    for step, (_, by) in zip(found, steps, strict=True):
        assert step['certain'] and step['by_s'] == pytest.approx(by, abs=1e-6)
    assert found[0]['at_s'] == pytest.approx(steps[0][0], abs=0.02)
    clock = next(answer for answer in told if answer.question == 'Was the clock set?')
    assert f'by {steps[0][1]:+.3f} s at {found[0]["at_s"]:.2f} s' in clock.detail


def test_a_tidy_bag_says_nothing_of_a_clock(tidy):
    numbers, told, remarks = tidy
    assert numbers['clock_steps'] == [] == remarks
    assert 'Was the clock set?' not in [answer.question for answer in told]


def test_the_recorders_clock_alone_moves_goals_and_diagnostics_only(rows, tidy, tmp_path):
    later = [row._replace(time=row.time + (3600 * 10**9 if k > len(rows) // 2 else 0))
             for k, row in enumerate(rows)]
    numbers, _, remarks = numbers_of(tmp_path / 'bag', later)
    same(numbers, tidy[0])
    assert numbers['clock_steps'] == [] and not remarks


def test_ground_truth_of_another_clock_stays(rows, tidy, tmp_path):
    """A motion capture does not know that the robot's clock is set."""
    moved = with_clock_set(rows, [(2.5, 600.0)], recorder=False)
    mixed = [row if row.topic == '/ground_truth/odom' else other
             for row, other in zip(rows, moved, strict=True)]
    numbers, *_ = numbers_of(tmp_path / 'bag', mixed)
    same(numbers, tidy[0])


def test_gaps_and_late_messages_are_no_steps_of_the_clock():
    time = 10_000_000 * np.arange(1000)
    # one sample late, a pair exchanged, a gap of four seconds in motion
    late = time.copy()
    late[500] = late[499] - 20_000_000
    assert len(find_steps(late).sample) == 0
    late = time.copy()
    late[[500, 501]] = late[[501, 500]]
    assert len(find_steps(late).sample) == 0
    gap = time + 4_000_000_000 * (np.arange(1000) >= 500)
    rate = np.full((1000, 3), 5.0)
    angle = 5.0 * 1e-9 * gap[:, None] * np.ones(3)
    assert len(find_steps(gap, angle, rate).sample) == 0
    # the same gap without motion in it
    found = find_steps(gap, 5.0 * 1e-9 * time[:, None] * np.ones(3), rate)
    assert found.sample.tolist() == [500] and found.by.tolist() == [4_000_000_000]
    # at rest nobody knows; from a minute on durations do not span it
    rest = np.zeros((1000, 3))
    assert len(find_steps(gap, rest, rest).sample) == 0
    pause = time + 90_000_000_000 * (np.arange(1000) >= 500)
    assert find_steps(pause, rest, rest).certain.tolist() == [False]


def test_stamps_by_chance_take_no_more_memory_than_their_number(tmp_path, rows):
    source = np.random.default_rng(1)
    wild = [stamped_later(row, int(source.integers(-10**18, 10**17)))
            if row.topic == '/joint_states' else row for row in rows]
    numbers_of(tmp_path / 'bag', wild)
    # steps below a minute, and far between samples that are close
    time = np.cumsum(np.where(np.arange(2000) % 3 == 0, 59.0, 1e-6))
    twist = source.normal(size=(2000, 3))
    smoothness(time, twist, twist, np.zeros((2000, 3)))


def test_every_reader_of_a_run_says_it(rows, tmp_path):
    write_mcap(tmp_path / 'a.mcap', with_clock_set(rows, [(2.5, -3600.0)]))
    for use in (lambda bag: read_run(bag, C3P), lambda bag: recompute_bag(bag, 'c3p')):
        with Bag(tmp_path / 'a.mcap') as bag, pytest.warns(match='the clock was set'):
            use(bag)


def with_stamps(rows, stamp_of):
    """Return the rows, whose joint states have the stamps of `stamp_of` of their numbers."""
    found = []
    number = 0
    for row in rows:
        if row.topic == '/joint_states':
            stamp = stamp_of(number)
            number += 1
            if stamp is not None:
                row = row._replace(data=row.data[:4] + struct.pack('<iI', *stamp) + row.data[12:])
        found.append(row)
    return found


UNSTAMPED = {'some not set': lambda k: (0, 0) if k % 50 == 7 else None,
             'the first ones not set': lambda k: (0, 0) if k < 40 else None,
             'some negative': lambda k: (-1, 0) if k % 50 == 7 else None,
             'all the same': lambda k: (5, 0)}


@pytest.mark.parametrize('stamp_of', UNSTAMPED.values(), ids=UNSTAMPED)
def test_stamps_that_were_not_set_are_replaced_by_times_of_recording(rows, tidy, tmp_path,
                                                                     stamp_of):
    numbers, _, remarks = numbers_of(tmp_path, with_stamps(rows, stamp_of))
    for name in ('time_s', 'duration_s', 'distance_m', 'moving_s', 'final_error_m',
                 'path_error_max_m', 'reached'):
        assert numbers[name] == pytest.approx(tidy[0][name], abs=0.02), name
    assert not numbers['clock_steps'] and 'have no stamp of their own' in remarks[0]
