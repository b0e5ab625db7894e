# SPDX-License-Identifier: Apache-2.0
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from rosbags.highlevel import AnyReader
from synthetic import read_raw, read_topics, scalars, topics_of

from c3p_bags.storage.bag_writer import BagError, BagWriter, message_types
from c3p_bags.storage.topics import read_topics_file
from c3p_description.reading.files import share_file


@pytest.mark.parametrize('compression', ['none', 'zstd'])
def test_what_is_written_is_read(tmp_path, compression):
    # enough for more than one chunk of 1 MiB
    times = scalars(tmp_path / 'bag', 30_000, compression)
    found = list(read_topics(tmp_path / 'bag', ['/a']))
    assert [m.time for m in found] == times
    assert [m.message.data for m in found] == list(range(30_000))
    assert topics_of(tmp_path / 'bag') == {'/a': ('std_msgs/msg/Float64', 30_000)}


def test_raw_messages_are_those_that_were_written(tmp_path):
    times = scalars(tmp_path / 'bag', 20)
    found = list(read_raw(tmp_path / 'bag', ['/a', '/none']))
    assert [(topic, time) for topic, time, _ in found] == [('/a', time) for time in times]
    # CDR: four bytes of header, then the double
    assert [struct.unpack('<4xd', data)[0] for _, _, data in found] == list(range(20))
    with pytest.raises(BagError, match='no such file'):
        next(read_raw(tmp_path / 'none'))


def test_metadata_is_rosbag2s(tmp_path):
    scalars(tmp_path / 'bag', 3, latched=True)
    info = yaml.safe_load((tmp_path / 'bag' / 'metadata.yaml').read_text())[
        'rosbag2_bagfile_information']
    assert info['version'] == 9 and info['storage_identifier'] == 'mcap'
    assert info['message_count'] == 3
    assert (tmp_path / 'bag' / info['relative_file_paths'][0]).is_file()
    topic = info['topics_with_message_count'][0]
    (qos,) = topic['topic_metadata']['offered_qos_profiles']
    assert qos['durability'] == 'transient_local' and qos['reliability'] == 'reliable'
    assert topic['topic_metadata']['type_description_hash'].startswith('RIHS01_')


def test_definitions_are_those_of_the_installed_messages():
    """The same type hash means that raw messages may be written under our definitions."""
    topics, _ = read_topics_file(share_file('config/record_topics.yaml'))
    prefixes = [*filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)),
                sys.prefix]
    checked = 0
    for kind in set(topics.values()):
        package, _, name = kind.split('/')
        files = [f for p in prefixes
                 if (f := Path(p, 'share', package, 'msg', f'{name}.json')).is_file()]
        if not files:
            continue
        hashes = {h['type_name']: h['hash_string']
                  for h in json.loads(files[0].read_text())['type_hashes']}
        assert message_types().hash_rihs01(kind) == hashes[kind], kind
        checked += 1
    assert checked >= 5


def test_distributions_agree_on_what_is_recorded():
    topics, _ = read_topics_file(share_file('config/record_topics.yaml'))
    for kind in topics.values():
        assert len({message_types(d).hash_rihs01(kind)
                    for d in ('humble', 'jazzy', 'kilted', 'not_yet_known')}) == 1, kind


def test_an_existing_bag_is_not_overwritten(tmp_path):
    scalars(tmp_path / 'bag', 1)
    with pytest.raises(BagError, match='exists already'):
        BagWriter(tmp_path / 'bag')


def test_unknown_types_and_compressions_are_named(tmp_path):
    with pytest.raises(BagError, match='lzma'):
        BagWriter(tmp_path / 'a', 'lzma')
    with BagWriter(tmp_path / 'b') as writer, pytest.raises(BagError, match='foo_msgs/msg/Bar'):
        writer.add('/a', 'foo_msgs/msg/Bar')


def test_an_empty_bag_is_a_bag(tmp_path):
    BagWriter(tmp_path / 'bag').close()
    assert topics_of(tmp_path / 'bag') == {}
    assert list(read_topics(tmp_path / 'bag')) == []


def test_an_error_while_writing_keeps_what_was_recorded(tmp_path):
    with pytest.raises(RuntimeError), BagWriter(tmp_path / 'bag') as writer:
        writer.add('/a', 'std_msgs/msg/Float64')
        writer.write_message('/a', 1, writer.types.types['std_msgs/msg/Float64'](1.0))
        raise RuntimeError
    assert topics_of(tmp_path / 'bag')['/a'][1] == 1


def test_a_process_that_fails_leaves_a_whole_bag(tmp_path):
    program = """
import sys
from c3p_bags.storage.bag_writer import BagWriter
writer = BagWriter(sys.argv[1])
writer.add('/a', 'std_msgs/msg/Float64')
writer.write('/a', 5, bytes([0, 1, 0, 0]) + bytes(8))
raise KeyboardInterrupt
"""
    ended = subprocess.run([sys.executable, '-c', program, str(tmp_path / 'bag')],
                           capture_output=True, check=False)
    assert ended.returncode != 0
    assert [m.time for m in read_raw(tmp_path / 'bag')] == [5]


def test_what_is_no_bag_is_refused(tmp_path):
    with pytest.raises(BagError, match='no such file'):
        topics_of(tmp_path / 'nothing')
    with pytest.raises(BagError, match='without metadata.yaml'):
        topics_of(tmp_path)
    file = tmp_path / 'a.mcap'
    file.write_bytes(b'no bag at all')
    with pytest.raises(BagError, match='cannot be read'):
        topics_of(file)


def test_topics_that_are_missing_are_no_error(tmp_path):
    scalars(tmp_path / 'bag', 2)
    assert len(list(read_topics(tmp_path / 'bag', ['/a', '/b']))) == 2


def test_other_tools_read_arrays(tmp_path):
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add('/j', 'sensor_msgs/msg/JointState')
        types = writer.types.types
        header = types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](1, 2), 'f')
        writer.write_message('/j', 5, types['sensor_msgs/msg/JointState'](
            header, ['a'], np.array([1.5]), np.zeros(0), np.zeros(0)))
    with AnyReader([tmp_path / 'bag']) as reader:
        ((connection, time, data),) = reader.messages()
        message = reader.deserialize(data, connection.msgtype)
    assert time == 5 and message.position.tolist() == [1.5] and message.name == ['a']
