# SPDX-License-Identifier: Apache-2.0
"""Small bags of every storage and compression, and everything of the suite that opens a bag."""

import io
from pathlib import Path

import numpy as np
import synthetic
from rosbags.rosbag2 import (
    CompressionFormat,
    CompressionMode,
    StoragePlugin,
    Writer,
)
from synthetic import opened, read_raw, read_topics, topics_of

from c3p_bags.report.run import read as read_report
from c3p_bags.runs.log_reader import read_run
from c3p_bags.runs.recompute_bag import recompute_bag
from c3p_bags.runs.ride_log import read_ride
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_parameters import EVENT, event
from c3p_bags.storage.bag_writer import BagWriter
from c3p_bags.storage.mcap_close import close_mcap
from c3p_bags.storage.repair import repair
from c3p_description.reading.loader import load, robot_description

C3P = load('c3p')
TOPICS = ['joint_states', 'odom', 'ground_truth/odom', 'cmd_vel', 'wheel_effort', 'goal_pose',
          'sensed_kinematics/wheel_slip', 'diagnostics', 'robot_description']


def parameter(types, value):
    """Return the value of a parameter, of the types that the odometry has."""
    numbers = {bool: (1, value, 0, 0.0, ''), int: (2, False, value, 0.0, ''),
               float: (3, False, 0, value, ''), str: (4, False, 0, 0.0, value)}[type(value)]
    empty = [np.zeros(0, kind) for kind in (np.int8, bool, np.int64, float)]
    return types['rcl_interfaces/msg/ParameterValue'](*numbers, *empty, [])


def messages(folder):
    """Write a short drive; return its messages as (topic, type, time, bytes)."""
    run = synthetic.drive(C3P, goal=(0.05, 0.0, 0.0), rate=20.0, before=0.2, after=0.2)
    synthetic.write_bag(folder / 'whole', C3P, run, robot_description('c3p'), only=TOPICS)
    kinds = {topic: kind for topic, (kind, _) in topics_of(folder / 'whole').items()}
    found = [(m.topic, kinds[m.topic], m.time, bytes(m.data)) for m in read_raw(folder / 'whole')]
    with BagWriter(folder / 'event') as writer:
        values = {'robot': 'c3p', 'wheel_counts': 2000, 'robust': True, 'max_gap': 0.25}
        made = event(writer.types.types, found[0][2], '/sensed_kinematics', {
            name: parameter(writer.types.types, value) for name, value in values.items()})
        data = bytes(writer.types.serialize_cdr(made, EVENT))
    return [('/recorder/parameters', EVENT, found[0][2], data), *found]


def write_plain(path, found, compression='none'):
    """Write messages to a bag as the suite does."""
    with BagWriter(path, compression) as writer:
        writer.note({'c3p_robot': 'c3p', 'c3p_version': '1'})
        for topic, kind in {topic: kind for topic, kind, *_ in found}.items():
            writer.add(topic, kind, topic == '/robot_description')
        for topic, _, time, data in found:
            writer.write(topic, time, data)
    return path


def write_sqlite(path, found, mode=None):
    """Write messages to a bag of sqlite3, compressed or not."""
    types = BagWriterTypes()
    writer = Writer(path, version=9, storage_plugin=StoragePlugin.SQLITE3)
    if mode is not None:
        writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        connections = {topic: writer.add_connection(topic, kind, typestore=types.store)
                       for topic, kind in {t: k for t, k, *_ in found}.items()}
        for topic, _, time, data in found:
            writer.write(connections[topic], time, data)
    return path


class BagWriterTypes:
    """The message definitions of the suite's bags."""

    def __init__(self):
        from c3p_bags.storage.bag_writer import message_types

        self.store = message_types()


def bags(folder):
    """Return ``{name: files}`` of sound bags; files are ``{name: bytes}``."""
    found = messages(folder)
    made = {'mcap': write_plain(folder / 'mcap', found),
            'zstd': write_plain(folder / 'zstd', found, 'zstd'),
            'sqlite': write_sqlite(folder / 'sqlite', found),
            'packed_messages': write_sqlite(folder / 'packed_messages', found,
                                            CompressionMode.MESSAGE),
            'packed_files': write_sqlite(folder / 'packed_files', found, CompressionMode.FILE)}
    result = {name: {p.name: p.read_bytes() for p in path.iterdir()}
              for name, path in made.items()}
    # without index, as after a loss of power
    name, data = next((n, d) for n, d in result['mcap'].items() if n.endswith('.mcap'))
    source, target = folder / 'cut.mcap', io.BytesIO()
    source.write_bytes(data)
    with source.open('rb') as file:
        close_mcap(file, target)
    result['unindexed'] = {**result['mcap'], name: target.getvalue()}
    return found, result


def lay(files, folder, changed=None, data=b''):
    """Write the files of a bag, one of them damaged."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(data if name == changed else content)
    return folder


def _look(bag):
    with Bag(bag) as found:
        assert found.topics is not None and found.notes is not None
        assert found.parameters is not None and found.span


def _robot(bag):
    with Bag(bag) as found, found.robot().description() as robot:
        load(robot)


def _messages(bag):
    for _ in read_raw(bag):
        pass


def _objects(bag):
    for _ in read_topics(bag):
        pass


def _repaired(bag):
    repair(bag, Path(bag).with_name('repaired'))


def _report(bag):
    opened(read_report, bag, 'c3p')


OPENS = {'look': _look, 'robot': _robot, 'messages': _messages, 'objects': _objects,
         'run': lambda bag: opened(read_run, bag, C3P), 'ride': lambda bag: opened(read_ride, bag),
         'recompute': lambda bag: opened(recompute_bag, bag), 'report': _report,
         'repair': _repaired}
