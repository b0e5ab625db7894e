# SPDX-License-Identifier: Apache-2.0
"""Messages read from their bytes, many at once, are those that rosbags makes of each."""

import numpy as np
import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st

from c3p_bags.storage.bag_writer import message_types
from c3p_ros.cdr_arrays import read_diagnostics, read_status, tables

TYPES = message_types()
MAKE = synthetic.Messages(TYPES)

numbers = st.floats(-1e6, 1e6)
names = st.text(max_size=9)
stamps = st.integers(1, 2**31 * 10**9 - 1)


@st.composite
def joint_states(draw):
    some = draw(st.lists(names, max_size=4))
    sizes = [draw(st.sampled_from([0, len(some)])) for _ in range(3)]
    return MAKE.joints(draw(stamps), some, *([draw(numbers) for _ in range(n)] for n in sizes))


def data_of(messages, little=True):
    return [bytes(TYPES.serialize_cdr(m, m.__msgtype__, little_endian=little)) for m in messages]


@given(st.lists(joint_states(), max_size=8), st.booleans())
def test_joint_states_of_any_layout_come_back(messages, little):
    found = {}
    for table in tables(data_of(messages, little), 'sensor_msgs/msg/JointState'):
        for k, row in enumerate(table.rows):
            stamp, frame, name, *arrays = table.fields
            found[row] = (stamp[k], frame, list(name), [a[k].tolist() for a in arrays])
    assert found == {row: (
        m.header.stamp.sec * 10**9 + m.header.stamp.nanosec, m.header.frame_id, m.name,
        [m.position.tolist(), m.velocity.tolist(), m.effort.tolist()])
        for row, m in enumerate(messages)}


@pytest.mark.parametrize('little', [True, False])
def test_the_other_types_come_back(little):
    pose, twist = (1.0, -2.0, 0.5), (0.1, 0.2, -0.3)
    odom = MAKE.odometry(5 * 10**9 + 7, pose, twist, 'map', 0.25)
    (table,) = tables(data_of([odom] * 3, little), 'nav_msgs/msg/Odometry')
    stamp, frame, child, place, of_pose, speed, of_twist = table.fields
    assert stamp.tolist() == [5 * 10**9 + 7] * 3 and (frame, child) == ('map', 'base_link')
    assert place[2, :2].tolist() == [1.0, -2.0] and place[2, 5] == np.sin(0.25)
    assert speed[1].tolist() == [0.1, 0.2, 0.0, 0.0, 0.0, -0.3]
    assert np.array_equal(of_pose[0].reshape(6, 6), 0.25 * np.eye(6))
    assert np.array_equal(of_twist, of_pose)
    flag = TYPES.types['std_msgs/msg/Bool'](True)
    (table,) = tables(data_of([flag], little), 'std_msgs/msg/Bool')
    assert table.fields[0].tolist() == [True]


def test_what_is_cut_off_or_something_else_is_left_out():
    whole = data_of([MAKE.odometry(k, (k, 0, 0), (0, 0, 0)) for k in (1, 2, 3)])
    data = [whole[0], whole[1][:-8], b'', b'\x00\x02' + whole[1][2:], whole[2]]
    (table,) = tables(data, 'nav_msgs/msg/Odometry')
    assert table.rows.tolist() == [0, 4] and table.fields[3][:, 0].tolist() == [1.0, 3.0]


@given(st.lists(st.tuples(st.integers(0, 3), names, names, st.dictionaries(names, names)),
                max_size=3), stamps, st.booleans())
def test_diagnostics_come_back(statuses, stamp, little):
    (data,) = data_of([MAKE.diagnostics(stamp, statuses)], little)
    found, told = read_diagnostics(data)
    assert found == stamp
    assert [(s.level, s.name, s.message, s.values) for s in told] == statuses
    for end in range(0, len(data) - 1, 5):
        cut = read_diagnostics(data[:end])
        # cut between two statuses it is not whole either: their number stands before them
        assert cut is None


def test_a_single_status_is_read_whole_or_not_at_all():
    kind, value = (TYPES.types[f'diagnostic_msgs/msg/{name}'] for name in (
        'DiagnosticStatus', 'KeyValue'))
    sent = kind(2, 'position_controller: goal', 'no progress: µ', 'c3p',
                [value('reason', 'no progress'), value('time [s]', '7.5')])
    (data,) = data_of([sent])
    assert read_status(data) == (sent.name, 2, sent.message,
                                 {'reason': 'no progress', 'time [s]': '7.5'})
    # the end of the data is the last text's
    assert all(read_status(data[:end]) is None for end in range(len(data) - 8))
