# SPDX-License-Identifier: Apache-2.0
"""What a recorder does with messages that cannot be read: callbacks called by hand, no clock."""

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from synthetic import read_raw  # noqa: E402

from c3p_bags.recorder.readers import read_message  # noqa: E402
from c3p_bags.recorder.recorder_node import RecorderNode  # noqa: E402
from c3p_bags.recorder.snapshots import MOST_FAILED, FaultWatch  # noqa: E402
from c3p_bags.storage.bag_writer import message_types  # noqa: E402
from c3p_ros.cdr import MOST_BYTES, MessageError  # noqa: E402
from c3p_ros.diagnostics import UNREAD  # noqa: E402
from c3p_ros.wire import JointStateWriter  # noqa: E402

TYPES = message_types()
ODOM = 'nav_msgs/msg/Odometry'


def odometry(frame='odom'):
    message = Odometry(child_frame_id='base_link')
    message.header.frame_id = frame
    return serialize_message(message)


def joints(name='wheel_joint_1'):
    # serialize_message returns a larger buffer than the wire carries
    return JointStateWriter([name], ['position'])(0, position=[0.5])


def fault(message='drive 1 silent'):
    return serialize_message(DiagnosticArray(status=[DiagnosticStatus(
        level=DiagnosticStatus.ERROR, name='hardware_interface: state', message=message)]))


def latin(write, text):
    """Return the message of `text` with 'ö' for '#' as Latin-1 has it: valid, and not UTF-8."""
    # the bytes between fields are not set, and may be any: the whole text is looked for
    data, word = write(text), text.encode()
    assert data.count(word) == 1
    return data.replace(word, word.replace(b'#', b'\xf6'))


UNREADABLE = {
    'cut off': ('odom', odometry()[:40]),
    'empty': ('odom', b''),
    'header alone': ('odom', odometry()[:4]),
    'random': ('odom', np.random.default_rng(1).bytes(600)),
    'frame not UTF-8': ('odom', latin(odometry, 'od#m')),
    'too large': ('odom', odometry() + bytes(MOST_BYTES)),
    'name not UTF-8': ('joint_states', latin(joints, 'wheel_#')),
    'joints cut off': ('joint_states', joints()[:50]),
}


@pytest.fixture
def start(tmp_path):
    """Start recorders; the test calls what a message would call."""
    context, nodes = rclpy.Context(), []
    rclpy.init(context=context)

    def begin(**parameters):
        values = {'bag': str(tmp_path / 'bag'), 'frames': 'always', 'node_parameters': False,
                  **parameters}
        nodes.append(RecorderNode(context=context, parameter_overrides=[
            Parameter(name, value=value) for name, value in values.items()]))
        return nodes[-1]

    yield begin
    for node in nodes:
        node.destroy_node()
    context.try_shutdown()


def unread(recorder, topic):
    return recorder.diagnostics.count(f'/{topic}', UNREAD)


@pytest.mark.parametrize('case', UNREADABLE)
def test_a_message_that_cannot_be_read_is_recorded_as_it_came_and_counted(case, start, tmp_path):
    topic, data = UNREADABLE[case]
    good = odometry() if topic == 'odom' else joints()
    recorder = start(frame_rate=1000.0)
    recorder._record(f'/{topic}', data)
    assert unread(recorder, topic) == 1
    status = recorder.diagnostics.status()
    assert f'/{topic} recorded unread: ' in status.message and status.level == b'\x01'
    # no frame of it, but of the next one, and the recording goes on
    assert recorder.writer.counts['/tf'] == 0
    recorder._frames._next = dict.fromkeys(recorder._frames._next, 0)
    recorder._record(f'/{topic}', good)
    assert recorder.writer.counts['/tf'] == 1 and unread(recorder, topic) == 1
    recorder.close()
    assert [bytes(m.data) for m in read_raw(tmp_path / 'bag', [f'/{topic}'])] == [data, good]


@pytest.mark.parametrize('data', [b'', fault()[:60], latin(fault, 'dr#ve'),
                                  np.random.default_rng(2).bytes(300)],
                         ids=['empty', 'cut', 'not UTF-8', 'random'])
def test_a_flight_recorder_outlives_diagnostics_that_it_cannot_read(data, start, tmp_path):
    recorder = start(**{'snapshot.seconds': 5.0})
    recorder._record('/diagnostics', data)
    assert unread(recorder, 'diagnostics') == 1 and not recorder.writer.snapshots
    # and still keeps what was before an error, whatever text the error has
    recorder._record('/diagnostics', fault('a\0b "\n: \x1b[31m ö' + 'x' * 9000))
    assert len(recorder.writer.snapshots) == 1
    recorder.close()
    kept = [bytes(m.data) for m in read_raw(tmp_path / 'bag/snapshot_01', ['/diagnostics'])]
    assert kept[0] == data and len(kept) == 2


def test_a_full_disk_is_told_apart_from_a_bad_message(start, monkeypatch):
    recorder = start()
    recorder._record('/odom', b'')
    assert recorder.writer is not None

    def full(*_):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(recorder.writer, 'write', full)
    recorder._record('/odom', odometry())
    assert recorder.writer is None
    assert 'No space left' in recorder.diagnostics.status().message


def test_a_disk_that_is_full_when_a_frame_is_written_ends_the_recording(start, monkeypatch):
    recorder = start()

    def full(*_):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(recorder.writer, 'write_message', full)
    recorder._record('/odom', odometry())
    assert recorder.writer is None and unread(recorder, 'odom') == 0


def test_what_cannot_be_read_is_a_message_error_with_its_type():
    for data in (b'', b'\0\1\0\0', odometry()[:99], latin(odometry, 'od#m')):
        with pytest.raises(MessageError, match=f'^no {ODOM}: '):
            read_message(TYPES, data, ODOM)
    with pytest.raises(MessageError, match=f'exceed the limit {MOST_BYTES}'):
        read_message(TYPES, bytes(MOST_BYTES + 1), ODOM)
    assert read_message(TYPES, odometry('map'), ODOM).header.frame_id == 'map'


def test_a_fault_watch_forgets_the_oldest_of_very_many_names():
    watch = FaultWatch()
    watch.look((f'{k}', 2, '') for k in range(MOST_FAILED + 1))
    assert watch.look([('1', 2, '')]) == [] and watch.look([('0', 2, '')]) == ['0: ']
