# SPDX-License-Identifier: Apache-2.0
"""What is played and when, without nodes and without a clock."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_bags.player.playback import (
    CLOCK,
    Lateness,
    PlaybackPace,
    PlaybackWindow,
    commands,
    select,
    with_clock,
)
from c3p_bags.storage.bag import RawMessage
from c3p_bags.storage.bag_writer import BagError
from c3p_bags.storage.topics import read_topics_file
from c3p_description.reading.files import share_file

SECOND = 10**9


def test_what_moves_a_robot_is_muted_and_what_it_says_is_not():
    topics, _ = read_topics_file(share_file('config/record_topics.yaml'))
    assert {t for t in topics if commands(t)} == {
        'goal_pose', 'cmd_vel', 'cmd_vel_keyboard', 'cmd_vel_joy', 'cmd_vel_position',
        'cmd_vel_navigation', 'e_stop', 'reference_trajectory', 'reference_acceleration',
        'dynamics_effort', 'wheel_effort', 'sensed_kinematics/set_pose'}
    # of ros2_control and of Nav2
    for topic in ('/wheel_effort_controller/commands', '/robot_1/initialpose',
                  '/hardware/joint_commands'):
        assert commands(topic)


def test_selection():
    topics = ['/odom', '/cmd_vel', '/parameter_events', '/rosout']
    assert select(topics) == (('/odom', '/rosout'), ('/cmd_vel',))
    assert select(topics, with_commands=True) == (('/cmd_vel', '/odom', '/rosout'), ())
    assert select(topics, ['/parameter_events', '/cmd_vel']) == (('/parameter_events',),
                                                                 ('/cmd_vel',))
    with pytest.raises(BagError, match=r"\['/od'\]: not in the bag"):
        select(topics, ['/od'])


@given(st.floats(0.01, 1000.0), st.lists(st.tuples(st.floats(0.0, 100.0), st.floats(0.0, 100.0)),
                                         max_size=5), st.integers(0, 10**12))
def test_pauses_shift_and_never_lose_time(rate, pauses, ahead):
    pace, now, stood = PlaybackPace(rate), 50.0, 0.0
    pace.begin(10**18, now)
    for run, wait in pauses:
        now += run
        pace.pause(now)
        # a second press changes nothing
        pace.pause(now + wait / 2)
        assert pace.paused
        now, stood = now + wait, stood + wait
        pace.resume(now)
    pace.resume(now + 1.0)
    # sums of some hundred seconds, and a division: float64 has 1e-13 of them
    assert pace.due(10**18 + ahead) == pytest.approx(50.0 + stood + ahead * 1e-9 / rate,
                                                     rel=1e-12)


def test_a_pause_at_the_beginning_goes_on():
    pace = PlaybackPace(1.0)
    pace.pause(0.0)
    pace.begin(0, 7.0)
    assert pace.paused
    pace.resume(9.0)
    assert pace.due(SECOND) == 10.0


def messages(*tenths, topic='/a'):
    return [RawMessage(topic, 10**18 + t * SECOND // 10, b'%d' % t) for t in tenths]


def test_a_window_begins_with_what_is_latched_from_before():
    recorded = sorted(messages(*range(100)) + messages(0, 30, 60, topic='/urdf'),
                      key=lambda m: m.time)
    cut = list(PlaybackWindow(5.0, 2.0).cut(iter(recorded), {'/urdf'}))
    assert [m[:2] for m in cut[:2]] == [('/urdf', 10**18 + 5 * SECOND)] * 2
    assert [m.data for m in cut if m.topic == '/a'] == [b'%d' % t for t in range(50, 71)]
    assert [m.data for m in cut if m.topic == '/urdf'] == [b'0', b'30', b'60']
    assert list(PlaybackWindow().cut(iter(recorded), {'/urdf'})) == recorded
    assert list(PlaybackWindow(11.0).cut(iter(recorded), {'/urdf'})) == []


@given(st.lists(st.integers(0, 50), min_size=1).map(sorted), st.floats(0.5, 200.0))
def test_the_clock_never_goes_back_and_never_lags_behind_a_message(tenths, rate):
    ticks = with_clock(messages(*tenths), rate)
    last, found = None, []
    for topic, time, data in ticks:
        if topic == CLOCK:
            assert last is None or time > last
            last = time
        else:
            # at most one period old, and a message is never from the future of its clock's next
            assert last is not None and last <= time < last + SECOND / rate
            found.append(data)
    assert found == [m.data for m in messages(*tenths)]
    assert [m.topic for m in with_clock(messages(*tenths), 0.0)] == ['/a'] * len(tenths)


def test_lateness():
    late = Lateness()
    assert late.quantiles() == {}
    for value in np.linspace(0.0, 1.0, 101):
        late.add(value)
    assert late.quantiles() == pytest.approx({'p50': 0.5, 'p99': 0.99, 'max': 1.0})
