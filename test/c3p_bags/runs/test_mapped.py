# SPDX-License-Identifier: Apache-2.0
"""Long columns in temporary files hold the same numbers, and little memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from source_tree import ROOT

from c3p_bags.report.run import read
from c3p_bags.runs import mapped
from c3p_bags.runs.recompute import read_samples, recompute
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
    rows, before = mapped.Rows(), mapped.IN_MEMORY
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
    rows = mapped.Rows()
    for text, count in parts:
        rows.append(np.full(count, text, dtype=object))
    found = rows.array()
    assert found.tolist() == [text for text, count in parts for _ in range(count)]
    if len({text for text, _ in parts}) == 1:
        assert found.strides == (0,)


def test_other_objects_stay_what_they_are():
    rows, some = mapped.Rows(), np.empty(2, dtype=object)
    some[:] = [['a'], ['a']]
    rows.append(some)
    rows.append(some[:0])
    assert rows.array().tolist() == [['a'], ['a']]


def test_a_report_is_the_same_with_columns_in_files(monkeypatch):
    with Bag(ROOT / 'test/data/golden_bag') as bag:
        expected = read(bag)
        monkeypatch.setattr(mapped, 'IN_MEMORY', 0)
        monkeypatch.setattr(mapped, 'ROWS', 100)
        found = read(bag)
    assert found.events == expected.events and found.goals == expected.goals
    for name in ('joints', 'odom', 'slip', 'ground_truth', 'wheel_effort'):
        for ours, theirs in zip(getattr(found.log, name), getattr(expected.log, name),
                                strict=True):
            np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(found.slip, expected.slip, strict=True):
        np.testing.assert_array_equal(ours, theirs)


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
