# SPDX-License-Identifier: Apache-2.0
"""Each layout of a message, as data, is that of the middleware's own serialization."""

import importlib
import itertools
import struct

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from rclpy.serialization import serialize_message  # noqa: E402

from c3p_bags.recorder.readers import read_message  # noqa: E402
from c3p_bags.storage.bag_writer import message_types  # noqa: E402
from c3p_ros.cdr import LAYOUTS, MOST_BYTES, MessageError, layout_of  # noqa: E402

# test_wire.py has trajectories
PLAIN = [kind for kind in LAYOUTS if 'points' not in dict(LAYOUTS[kind]).values()]


def message_class(kind):
    package, _, name = kind.split('/')
    return getattr(importlib.import_module(f'{package}.msg'), name)


def fill(message, numbers):
    """Set every double of a message to the next of `numbers`; return them in their order."""
    found = []
    for name, kind in message.get_fields_and_field_types().items():
        if kind == 'double':
            found.append(next(numbers))
            setattr(message, name, found[-1])
        elif kind.startswith('double['):
            array = [next(numbers) for _ in getattr(message, name)]
            setattr(message, name, array)
            found += array
        elif kind == 'sequence<double>':
            array = [next(numbers) for _ in range(5)]
            setattr(message, name, array)
            found += array
        elif '/' in kind and name != 'stamp':
            found += fill(getattr(message, name), numbers)
    return found


@pytest.mark.parametrize('kind', PLAIN)
def test_every_number_of_a_message_is_in_the_place_of_its_layout(kind):
    message = message_class(kind)()
    if hasattr(message, 'header'):
        message.header.frame_id = 'map'
        message.header.stamp.sec, message.header.stamp.nanosec = 7, 11
    expected = fill(message, map(float, itertools.count(1)))
    data = serialize_message(message)
    layout = layout_of(data, kind)
    read = []
    for name, form in LAYOUTS[kind]:
        slot = layout.fields[name]
        if isinstance(form, int) or form == 'doubles':
            read += struct.unpack_from(f'{layout.order}{slot.count}d', data, slot.place)
        elif form == 'stamp':
            assert struct.unpack_from(f'{layout.order}iI', data, slot.place) == (7, 11)
    assert read == expected
    # nothing is left behind the last field but padding
    assert len(data) - 4 < layout.size <= len(data)


def test_messages_up_to_a_quarter_of_a_mebibyte_are_read_while_recording():
    assert MOST_BYTES == 262144
    types = message_types()
    with pytest.raises(MessageError, match=f'{MOST_BYTES + 1} bytes exceed the limit'):
        read_message(types, bytes(MOST_BYTES + 1), 'std_msgs/msg/Float64')
    # as long as allowed: it is the content that is refused
    with pytest.raises(MessageError, match='^no std_msgs/msg/Float64'):
        read_message(types, bytes([255]) * MOST_BYTES, 'std_msgs/msg/Float64')
