# SPDX-License-Identifier: Apache-2.0
"""A mapping is read as it is meant, or refused by file, key, value and remedy."""

import math

import pytest
from robot_logs import EXAMPLES

from c3p_bags.importing.mapping import MappingError, TimeMapping, ValueMapping, read_mapping

JOINT = 'joints: {wheel_joint_1: {column: a, %s}}'


def mapping(tmp_path, text):
    file = tmp_path / 'mapping.yaml'
    file.write_text(text)
    return read_mapping(file)


ANGLES = {
    'unit: rad': ValueMapping('a'), 'unit: deg': ValueMapping('a', math.pi / 180),
    'unit: turns': ValueMapping('a', 2 * math.pi),
    'unit: counts, counts_per_turn: 1600': ValueMapping('a', 2 * math.pi / 1600),
    'unit: m, wheel_radius: 0.05': ValueMapping('a', 20.0),
    'sign: -1, zero: 0.1, gear: 6.75': ValueMapping('a', 1.0, -1.0, 6.75, 0.1),
    'wrap: pi': ValueMapping('a', wrap=2 * math.pi),
    'unit: deg, wrap: 2pi': ValueMapping('a', math.pi / 180, wrap=360.0),
    'unit: counts, counts_per_turn: 4096, wrap: turn': ValueMapping(
        'a', 2 * math.pi / 4096, wrap=4096.0),
    'unit: counts, counts_per_turn: 4096, wrap: uint16': ValueMapping(
        'a', 2 * math.pi / 4096, wrap=65536.0),
    'unit: counts, counts_per_turn: 10, wrap: int32': ValueMapping(
        'a', 2 * math.pi / 10, wrap=2.0**32),
    'wrap: 1000': ValueMapping('a', wrap=1000.0), 'increments: true': ValueMapping(
        'a', increments=True)}


@pytest.mark.parametrize(('text', 'expected'), ANGLES.items())
def test_units_and_wraps(tmp_path, text, expected):
    (joint,) = mapping(tmp_path, JOINT % text).joints
    got = joint.angle
    assert got == ValueMapping(**{**expected.__dict__, 'scale': pytest.approx(expected.scale),
                                  'wrap': pytest.approx(expected.wrap)})


def test_times_poses_and_gyros(tmp_path):
    found = mapping(tmp_path, """
robot: mine.yaml
time: {column: 3, unit: us, offset: -2.5, wrap: uint32}
joints: {j: {column: a, rate: {column: b, unit: turns/min, sign: -1, gear: 2}}}
ground_truth: {x: px, y: py, yaw: pyaw, unit: mm, yaw_unit: deg, time: {rate: 100}, file: '*o*'}
imu: {yaw_rate: w, unit: deg/s}
""")
    assert found.time == TimeMapping('3', 1e-6, -2.5, 2.0**32)
    assert found.robot == str(tmp_path / 'mine.yaml')
    assert found.joints[0].rate == ValueMapping('b', pytest.approx(2 * math.pi / 60), -1.0, 2.0)
    assert found.ground_truth.x.scale == 1e-3 and found.ground_truth.time.rate == 100.0
    assert found.ground_truth.file == '*o*'
    assert found.imu.yaw is None and found.imu.time == found.time


WRONG = {
    '5': 'the file = 5: must be a table', 'a: [': 'mapping', '{}': 'neither joints',
    'joint: {}': 'joint: unknown key; known are robot',
    JOINT % 'unit: degrees': "joints.wheel_joint_1.unit = 'degrees': must be one of rad, deg",
    JOINT % 'unit: counts': 'counts_per_turn = None: must be a positive number',
    JOINT % 'unit: m': 'wheel_radius = None: must be a positive number',
    JOINT % 'sign: 2': 'sign = 2: must be 1 or -1', JOINT % 'gear: 0': 'gear = 0: must be a pos',
    JOINT % 'zero: .nan': 'zero = nan: must be a finite', JOINT % 'wrap: uint7': 'must be pi, 2pi',
    JOINT % 'increments: 1': 'must be true or false',
    JOINT % 'ticks: 9': 'joints.wheel_joint_1.ticks: unknown key',
    'joints: {j: {}}': 'joints.j.column = None: must be the name of a column, or its number',
    'joints: {j: {column: 0}}': 'column = 0', 'joints: [a]': "joints = ['a']: must be a table",
    'joints: {1: {column: a}}': 'under the name of a joint',
    'time: {unit: min}\njoints: {j: {column: a}}': "time.unit = 'min': must be one of s, ms",
    'time: {wrap: pi}\njoints: {j: {column: a}}': 'must be uint8',
    'imu: {}': 'and not both', 'imu: {yaw: a, yaw_rate: b}': 'and not both',
    'ground_truth: {x: a, y: b}': 'ground_truth.yaw = None'}


@pytest.mark.parametrize(('text', 'says'), WRONG.items())
def test_what_is_wrong_is_named(tmp_path, text, says):
    with pytest.raises(MappingError) as error:
        mapping(tmp_path, text)
    assert f'mapping {tmp_path / "mapping.yaml"}' in f'{error.value}' and says in f'{error.value}'


@pytest.mark.parametrize('file', EXAMPLES, ids=lambda file: file.stem)
def test_the_examples_are_mappings(file):
    assert read_mapping(file).joints
