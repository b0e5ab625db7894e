# SPDX-License-Identifier: Apache-2.0
"""The clockwork of a control chain: stamps that go forward, parts that belong together."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from c3p_ros.cycle import (  # noqa: E402
    DEPTH,
    CycleClock,
    Lifeline,
    Lifelines,
    RepeatedStamp,
    StampJoin,
)
from c3p_ros.messages import MessageError  # noqa: E402

MS = 1_000_000


def test_steps_are_the_differences_of_stamps():
    clock = CycleClock()
    assert clock.accept(1000 * MS) is None
    assert clock.accept(1005 * MS) == pytest.approx(0.005)
    assert clock.accept(3005 * MS) == pytest.approx(2.0)
    assert not clock.restarted


@pytest.mark.parametrize('back, kind, text', [
    (0, RepeatedStamp, '^the same stamp again'),
    (5 * MS, MessageError, r'^out of order: 0\.0050 s before'),
    (199 * MS, MessageError, r'^out of order: 0\.1990 s before')])
def test_a_repeated_or_older_stamp_is_refused_and_changes_nothing(back, kind, text):
    clock = CycleClock()
    clock.accept(5000 * MS)
    with pytest.raises(MessageError, match=text) as error:
        clock.accept(5000 * MS - back)
    assert type(error.value) is kind
    assert clock.accept(5010 * MS) == pytest.approx(0.01)


def test_time_going_back_far_is_a_restart():
    clock = CycleClock()
    clock.accept(5000 * MS)
    assert clock.accept(3000 * MS) is None and clock.restarted
    assert clock.accept(3005 * MS) == pytest.approx(0.005)
    assert not clock.restarted


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=50))
def test_accepted_steps_are_always_positive(stamps):
    clock = CycleClock()
    for stamp in stamps:
        try:
            step = clock.accept(stamp * MS)
        except MessageError:
            continue
        assert step is None or step > 0.0


def test_a_lifeline_never_heard_is_not_lost_and_one_that_falls_silent_is():
    line = Lifeline(0.2)
    assert not line.lost(1e9) and line.age(1e9) == float('inf')
    line.beat(10.0)
    assert not line.lost(10.2) and line.lost(10.21) and line.age(10.5) == 0.5
    line.beat(11.0)
    assert not line.lost(11.1)


@pytest.mark.parametrize('order', list(itertools.permutations(range(3))))
def test_parts_meet_in_any_order_and_once(order):
    join, parts = StampJoin('a', 'b', 'c'), 'abc'
    answers = [join.put(parts[i], 7, parts[i].upper()) for i in order]
    assert answers == [None, None, ('A', 'B', 'C')]
    assert join.put('a', 7, 'late') is None and join.put('b', 6, 'older') is None


def test_interleaved_cycles_do_not_mix():
    join = StampJoin('a', 'b')
    assert join.put('a', 1, 'a1') is None
    assert join.put('a', 2, 'a2') is None
    assert join.put('b', 1, 'b1') == ('a1', 'b1')
    assert join.put('b', 2, 'b2') == ('a2', 'b2')


def test_a_complete_cycle_makes_older_ones_useless():
    join = StampJoin('a', 'b')
    join.put('a', 1, 'a1')
    join.put('a', 2, 'a2')
    assert join.put('b', 2, 'b2') == ('a2', 'b2')
    assert join.put('b', 1, 'b1') is None


def test_parts_whose_cycle_never_completes_do_not_pile_up():
    join = StampJoin('a', 'b')
    for stamp in range(1, 10 * DEPTH):
        join.put('a', stamp, stamp)
    newest = 10 * DEPTH - 1
    assert join.put('b', 1, 'b') is None
    assert join.put('b', newest, 'b') == (newest, 'b')


def test_a_doubled_part_counts_once_and_the_later_value_stands():
    join = StampJoin('a', 'b')
    assert join.put('a', 1, 'first') is None
    assert join.put('a', 1, 'second') is None
    assert join.put('b', 1, 'b') == ('second', 'b')


SECOND = 1_000_000_000


def test_time_going_back_far_begins_a_new_time_line():
    """A simulation that is reset, a bag that loops, a clock that is set back."""
    join = StampJoin('a', 'b')
    join.put('a', 100 * SECOND, 'a')
    join.put('b', 100 * SECOND, 'b')
    assert join.put('a', 3 * SECOND, 'a3') is None
    assert join.put('b', 3 * SECOND, 'b3') == ('a3', 'b3')


def test_parts_with_stamps_far_ahead_do_not_block_the_present():
    join = StampJoin('a', 'b')
    for k in range(3 * DEPTH):
        join.put('a', 10**18 + k, 'junk')
    for stamp in range(5 * SECOND, 5 * SECOND + 5):
        assert join.put('a', stamp, 'a') is None
        assert join.put('b', stamp, 'b') == ('a', 'b')


def test_clear_forgets_what_is_past():
    join = StampJoin('a', 'b')
    join.put('a', 7, 'a')
    join.put('b', 7, 'b')
    join.clear()
    join.put('a', 5, 'a')
    assert join.put('b', 5, 'b') == ('a', 'b')


def test_parts_of_a_chain_are_lost_against_the_first_and_only_once_heard():
    chain = Lifelines('joints', 'odom', 'answer', timeout=0.2)
    chain.beat('joints', 1.0)
    chain.beat('odom', 1.0)
    # nobody has ever answered: that is no loss
    assert chain.lost(1.1) == []
    chain.beat('joints', 1.3)
    assert chain.lost(1.3) == ['odom']
    assert chain.ages(1.3) == 'odom 0.30 s'
    # after a pause of everything the others are not to blame
    chain.beat('odom', 1.3)
    assert chain.lost(2.0) == ['joints']
    chain.set_timeout(1.0)
    assert chain.timeout == 1.0 and chain.lost(2.0) == []
