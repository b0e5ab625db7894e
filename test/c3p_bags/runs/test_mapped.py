# SPDX-License-Identifier: Apache-2.0
"""Long columns in temporary files hold the same numbers, and little memory."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from source_tree import ROOT

from c3p_bags.report.curves import curves
from c3p_bags.report.drive_page import commanded_steering
from c3p_bags.report.live import motion
from c3p_bags.report.numbers import run_numbers
from c3p_bags.report.run import read
from c3p_bags.report.timing import timing
from c3p_bags.runs import mapped
from c3p_bags.runs.metrics import drive_metrics
from c3p_bags.runs.recompute import read_samples, recompute
from c3p_bags.runs.run_log import Goal, Joints, Motion, RunLog, Series, between
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_writer import BagWriter
from c3p_description.reading.loader import load_casters
from c3p_ros.wire import JointStateWriter

ROBOT = load_casters('c3p')
FIELDS = ('position', 'velocity', 'effort')


@given(st.lists(st.integers(0, 40), min_size=1, max_size=8), st.sampled_from([(), (3,), (2, 3)]),
       st.sampled_from([float, np.int64, bool]), st.sampled_from([0, 300, 10**9]))
def test_parts_become_one_array_in_memory_or_in_a_file(sizes, shape, kind, in_memory):
    random = np.random.default_rng(len(sizes))
    parts = [random.integers(0, 2, (size, *shape)).astype(kind) for size in sizes]
    rows, before = mapped.GrowingRows(), mapped.IN_MEMORY
    try:
        mapped.IN_MEMORY = in_memory
        for part in parts:
            rows.append(part)
        found = rows.array()
    finally:
        mapped.IN_MEMORY = before
    expected = np.concatenate(parts)
    assert found.dtype == expected.dtype and type(found) is np.ndarray
    np.testing.assert_array_equal(found, expected)
    if found.size:
        # it may be written to, and what is given back comes back
        found[0] = 1
        mapped.give_back(found, found[1:], None)
        assert found[0].all()
        np.testing.assert_array_equal(found[1:], expected[1:])


@given(st.lists(st.tuples(st.sampled_from(['odom', 'map']), st.integers(1, 5)), min_size=1,
                max_size=6))
def test_texts_are_as_appended_and_one_that_repeats_takes_no_memory(parts):
    rows = mapped.GrowingRows()
    for text, count in parts:
        rows.append(np.full(count, text, dtype=object))
    found = rows.array()
    assert found.tolist() == [text for text, count in parts for _ in range(count)]
    if len({text for text, _ in parts}) == 1:
        assert found.strides == (0,)


def test_other_objects_stay_what_they_are():
    rows, some = mapped.GrowingRows(), np.empty(2, dtype=object)
    some[:] = [['a'], ['a']]
    rows.append(some)
    rows.append(some[:0])
    assert rows.array().tolist() == [['a'], ['a']]


@given(st.lists(st.floats(-20.0, 20.0), max_size=60), st.sampled_from([1, 7, 100]))
def test_sums_turns_and_interpolations_in_parts_have_the_bits_of_whole_ones(values, rows):
    angle = np.array(values)
    pair = np.stack([angle, 0.7 * angle[::-1]], axis=1)
    time = np.cumsum(1.0 + np.abs(angle))
    at = np.linspace(-5.0, 5.0 + 20.0 * len(values), 3 * len(values))
    before = mapped.ROWS
    try:
        mapped.ROWS = rows
        for column in (angle, pair):
            np.testing.assert_array_equal(mapped.unwrapped(column), np.unwrap(column, axis=0))
            np.testing.assert_array_equal(mapped.unwrapped(column, np.pi),
                                          np.unwrap(column, axis=0, period=np.pi))
            np.testing.assert_array_equal(mapped.summed(column)[1:], np.cumsum(column, axis=0))
        found = mapped.computed(lambda part: between(part, time, pair), at)
    finally:
        mapped.ROWS = before
    for k in range(2 if len(values) else 0):
        np.testing.assert_array_equal(found[:, k], np.interp(at, time, pair[:, k]))


@given(st.lists(st.booleans(), max_size=8))
def test_rows_inside_are_a_slice_where_they_are_consecutive(inside):
    mask = np.array(inside, bool)
    rows, found = np.arange(len(mask)), mapped.where(mask)
    np.testing.assert_array_equal(rows[found], rows[mask])
    assert isinstance(found, slice) == (np.count_nonzero(np.diff(rows[mask]) > 1) == 0)


def results(run):
    """Return all that a report shows of a run."""
    return {**curves(run), 'commanded': commanded_steering(run.log, run.robot),
            'numbers': run_numbers(run), 'motion': motion(run)}


def test_a_report_is_the_same_with_columns_in_files(monkeypatch):
    with Bag(ROOT / 'test/data/golden_bag') as bag:
        expected = read(bag)
        whole = results(expected)
        monkeypatch.setattr(mapped, 'IN_MEMORY', 0)
        monkeypatch.setattr(mapped, 'ROWS', 100)
        found = read(bag)
    for name, part in results(found).items():
        np.testing.assert_equal(part, whole[name], name)
    assert found.events == expected.events and found.goals == expected.goals
    for name in ('joints', 'odom', 'slip', 'ground_truth', 'wheel_effort'):
        for ours, theirs in zip(getattr(found.log, name), getattr(expected.log, name),
                                strict=True):
            np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(found.slip, expected.slip, strict=True):
        np.testing.assert_equal(ours, theirs)


def standing(path, count):
    """Write a bag of joint states that do not change."""
    write = JointStateWriter([*ROBOT.steering_joints, *ROBOT.wheel_joints], FIELDS)
    zeros = dict.fromkeys(FIELDS, np.zeros(2 * ROBOT.count))
    with BagWriter(path) as writer:
        writer.add('/joint_states', 'sensor_msgs/msg/JointState')
        for k in range(count):
            writer.write('/joint_states', 10**18 + k * 5_000_000,
                         write(10**18 + k * 5_000_000, **zeros))
    return path


@pytest.mark.timeout(300)
def test_the_memory_of_recompute_does_not_grow_with_the_bag(tmp_path, monkeypatch):
    monkeypatch.setattr(mapped, 'IN_MEMORY', 20_000)
    monkeypatch.setattr(mapped, 'ROWS', 256)
    peaks = []
    # the first run compiles
    for count in (300, 2000, 6000):
        with Bag(standing(tmp_path / f'{count}', count)) as bag:
            samples, _ = read_samples(bag, ROBOT)
            tracemalloc.start()
            found = recompute(samples, ROBOT)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert found.numbers.shape == (count, 85)
    # 85 numbers of 4000 samples more are 2.7 MB; stamps, their order and gaps 0.2 MB
    assert peaks[2] < peaks[1] + 800_000


def driving(count):
    """Return a run at 200 Hz that turns, with commands, ground truth and a goal."""
    time = 0.005 * np.arange(count)
    three = np.sin(np.arange(3.0) + time[:, None])
    square = np.zeros((count, 3, 3))
    moved = Motion(time, three, three, square, square, 'odom', 'base_link')
    return RunLog(Path('run'), 0, Joints(time, three, three, three, three, three), odom=moved,
                  ground_truth=moved._replace(frame='map'), wheel_effort=Series(time, three),
                  cmd_vel=Series(time, 0.2 + 0.0 * three),
                  goals=(Goal(0.1, (1.0, 0.0, 0.0), 'odom'),))


def test_the_memory_of_metrics_hardly_grows_with_the_run(monkeypatch):
    monkeypatch.setattr(mapped, 'IN_MEMORY', 20_000)
    monkeypatch.setattr(mapped, 'ROWS', 256)
    peaks = []
    for count in (2000, 4000, 24_000):
        log = driving(count)
        tracemalloc.start()
        drive_metrics(log, ROBOT, (1.0, 0.0, 0.0), 0.05)
        timing(log)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # a column of numbers of 20 000 samples more is 160 kB: a median takes two, beside their
    # differences
    assert peaks[2] < peaks[1] + 5 * 160_000
