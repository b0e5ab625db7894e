# SPDX-License-Identifier: Apache-2.0
"""Damaged logs of other robots, and mappings: imported, or refused in one line (test_files.py)."""

import shutil
import struct

import numpy as np
import pytest
from damage import damaged, variants
from robot_logs import EXAMPLES, joint_state, write_csv, write_ros1, write_wpilog
from rosbags.rosbag1 import Writer
from trial import count, explain, outcome

from c3p_bags.importing.import_log import import_logs
from c3p_bags.importing.mapping import MappingError, read_mapping
from c3p_bags.storage.bag_writer import BagError

SEED = 13
BASE = 60
TIME = 0.02 * np.arange(40)
MAPPINGS = {
    'csv': 'time: {column: t}\njoints: {a: {column: a, unit: counts, counts_per_turn: 99, wrap: '
           'uint16}}\nground_truth: {x: a, y: a, yaw: a}',
    'wpilog': 'time: {column: t}\njoints: {a: {column: a}, b: {column: b, increments: true}, '
              'c: {column: "m[1].angle"}}',
    'bag': 'joints: {a: {column: "/joint_states#position[a]"}}'}


@pytest.fixture(scope='module')
def seeds(tmp_path_factory):
    place = tmp_path_factory.mktemp('seeds')
    log = write_csv(place / 'a', [TIME, np.rint(1e5 * TIME) % 65536], ['t', 'a'])
    states = [('/joint_states', 1 + k, joint_state(10**9 + k, ['a', 'b'], [k, -k]))
              for k in range(40)]
    cycles = [row for k in range(9) for row in (
        ('t', 20_000 * k, [0.02 * k, 0.02 * k + 0.01]), ('a', 20_000 * k, [k, k]),
        ('b', 20_000 * k, k), ('m', 20_000 * k, struct.pack('<4d', *4 * [k])))]
    # the schema of a struct, and records of two of them
    schema = [('.schema/struct:M', 0, b'double distance;A angle'),
              ('.schema/struct:A', 0, b'double value')]
    wpi = write_wpilog(place / 'w', [*schema, *cycles], {
        't': 'double[]', 'a': 'float[]', 'b': 'int64', 'm': 'struct:M[]',
        **dict.fromkeys((name for name, _, _ in schema), 'structschema')})
    return {'csv': [log.read_bytes()], 'wpilog': [wpi.read_bytes()], 'bag': [
        write_ros1(place / f'{k}.bag', states, packing).read_bytes() for k, packing in enumerate(
            (None, Writer.CompressionFormat.BZ2, Writer.CompressionFormat.LZ4))]}


@pytest.mark.parametrize('kind', MAPPINGS)
def test_damaged_logs_end_in_success_or_in_one_line(seeds, kind, tmp_path):
    (tmp_path / 'mapping.yaml').write_text(MAPPINGS[kind])
    mapping = read_mapping(tmp_path / 'mapping.yaml')

    def use(path):
        import_logs([path], mapping, tmp_path / 'out')

    path = tmp_path / f'log.{kind}'
    failures = []
    for number, source in [(-1, None), *variants(SEED, kind, count(BASE))]:
        data = seeds[kind][number % len(seeds[kind])]
        path.write_bytes(data if source is None else damaged(data, source, kind == 'csv'))
        if wrong := outcome(use, path, (BagError,), [tmp_path]):
            failures.append(explain(kind, number, wrong))
        shutil.rmtree(tmp_path / 'out', ignore_errors=True)
    assert failures == []


def test_damaged_mappings_end_in_success_or_in_one_line(tmp_path):
    path = tmp_path / 'mapping.yaml'
    data = [file.read_bytes() for file in EXAMPLES]
    failures = []
    for number, source in variants(SEED, 'mapping', count(2 * BASE)):
        path.write_bytes(damaged(source.choice(data), source, True, data))
        if wrong := outcome(read_mapping, path, (MappingError,), [tmp_path]):
            failures.append(explain('mapping', number, wrong))
    assert failures == []
