# SPDX-License-Identifier: Apache-2.0
"""Packed structs in WPILOG files: layouts as WPILib's specification states them, and imports."""

import struct

import numpy as np
import pytest
from robot_logs import write_wpilog
from test_import import imported, joints_of

from c3p_bags.importing.wpi_struct import PackedNumber, SchemaError, StructSchemas
from c3p_bags.storage.bag_writer import BagError

SCHEMAS = {'Rotation2d': 'double value', 'Translation2d': 'double x;double y',
           'Pose2d': 'Translation2d translation;Rotation2d rotation',
           'SwerveModulePosition': 'double distance;Rotation2d angle',
           'SwerveModuleState': 'double speed;Rotation2d angle'}
TYPES = {f'/.schema/struct:{name}': 'structschema' for name in SCHEMAS}
RADIUS = 0.05

# schema, bytes of the struct, and the first byte of each member: the examples of the specification
LAYOUTS = [
    ('bool b;int16 i', 3, {'b': 0, 'i': 1}), ('int16 i[2];', 4, {'i': 0}),
    ('char c; Inner s; bool b', 5, {'c': 0, 's': 1, 'b': 4}),
    ('double arr[4] ; ; bool value', 33, {'arr': 0, 'value': 32}),
    ('enum {a=1, b=2} int8 val', 1, {'val': 0}), ('{a=1}uint32 v;enum{} int8 w', 5, {'w': 4}),
    ('char s [ 4 ];float32 f;float64 d', 16, {'f': 4, 'd': 8}),
    ('int8 a:4;int16 b:4', 3, {'a': 0, 'b': 1}),
    ('int16 a:4;uint16 b:5;bool c:1;int16 d:7', 4, {'a': 0, 'c': 0, 'd': 2}),
    ('uint8 a:4;int8 b:2;bool c:1;int16 d:1', 3, {'c': 0, 'd': 1}),
    ('bool a:1;bool b:1;int8 c:2', 1, {'c': 0}), ('bool a:1;bool b:1;int16 c:2', 3, {'c': 1}),
    ('int8 b:1;Bits s;int8 c:1', 3, {'s': 1, 'c': 2}),
    ('enum {x=1,y=-2,} int32 value : 2;double after', 12, {'after': 4})]


@pytest.mark.parametrize(('schema', 'size', 'places'), LAYOUTS)
def test_members_lie_where_the_specification_puts_them(schema, size, places):
    schemas = StructSchemas({'T': schema, 'Inner': 'int16 i; int8 x', 'Bits': 'int8 a:1'})
    layout = schemas.layout('T')
    assert layout.size == size
    assert {name: layout.members[name].place for name in places} == places


def test_a_number_is_found_through_arrays_and_structs():
    schemas = StructSchemas({**SCHEMAS, 'Drive': 'uint8 kind;SwerveModulePosition modules[4]'})
    assert schemas.number('Drive', '.modules[2].angle.value') == PackedNumber(41, '<f8', 65)
    assert schemas.number('Drive', '.modules[2].angle') == PackedNumber(41, '<f8', 65)
    assert schemas.number('Drive', '.kind') == PackedNumber(0, '<u1', 65)
    assert schemas.number('Rotation2d', '') == PackedNumber(0, '<f8', 8)


WRONG = {
    'unknown': ('T', '', {}, "no schema of struct 'T', but of none"),
    'nested': ('T', '.a', {'T': 'Other a'}, "no schema of struct 'Other', but of T"),
    'itself': ('T', '.a', {'T': 'T a'}, 'in itself'),
    'each other': ('T', '.a', {'T': 'U a;U b;U c', 'U': 'T a;T b;T c'}, 'in itself'),
    'text': ('T', '.a', {'T': 'no declaration here'}, 'is not a declaration'),
    'commas': ('T', '.a', {'T': 'int8 a,b'}, 'not in|not a declaration'),
    'bits': ('T', '.a', {'T': 'int16 a:17'}, 'cannot have 17 bits'),
    'bits of a bool': ('T', '.a', {'T': 'bool a:3'}, 'cannot have 3 bits'),
    'bits of a double': ('T', '.a', {'T': 'double a:2'}, 'cannot have 2 bits'),
    'array of bits': ('T', '.a', {'T': 'int32 a[2]:2'}, 'not a declaration'),
    'large': ('T', '.a', {'T': 'double a[999999999]'}, 'more than 1000000 bytes'),
    'no path': ('SwerveModuleState', '', SCHEMAS, 'with .speed, .angle'),
    'no member': ('SwerveModuleState', '.distance', SCHEMAS, 'which has speed, angle'),
    'too deep': ('SwerveModuleState', '.speed.value', SCHEMAS, 'which has no members'),
    'no array': ('SwerveModuleState', '.speed[0]', SCHEMAS, 'speed is not an array'),
    'array': ('T', '.a', {'T': 'double a[4]'}, r'a has 4 values, from a\[0\] on'),
    'beyond': ('T', '.a[4]', {'T': 'double a[4]'}, r'a has 4 values, from a\[0\] on'),
    'a field of bits': ('T', '.a', {'T': 'int8 a:2;int8 b'}, 'a is a field of bits'),
    'a text': ('T', '.a[0]', {'T': 'char a[9]'}, 'is text')}


@pytest.mark.parametrize(('name', 'path', 'texts', 'reason'), WRONG.values(), ids=WRONG)
def test_an_error_names_the_member_and_the_reason(name, path, texts, reason):
    with pytest.raises(SchemaError, match=reason):
        StructSchemas(texts).number(name, path)


def swerve_log(path, prefix='/', last=False):
    """
    Write positions and states of four modules and the pose, of fifty cycles, as structs.

    With `last` the schemas are behind all values, as where structs are first used late.
    """
    schemas = [(f'{prefix}.schema/struct:{name}', 10 + k, text.encode())
               for k, (name, text) in enumerate(SCHEMAS.items())]
    values = []
    for k in range(50):
        at = 20_000 * (k + 1)
        values += [
            ('/Drive/Positions', at, b''.join(struct.pack('<2d', 0.01 * k * m, 0.1 * m + 0.01 * k)
                                              for m in range(1, 5))),
            ('/Drive/Measured', at, b''.join(struct.pack('<2d', 0.5 * m, 0.1 * m + 0.01 * k)
                                             for m in range(1, 5))),
            ('/Pose', at, struct.pack('<3d', 0.02 * k, -0.01 * k, 0.001 * k))]
    return write_wpilog(path, [*values, *schemas] if last else [*schemas, *values], {
        '/Drive/Positions': 'struct:SwerveModulePosition[]',
        '/Drive/Measured': 'struct:SwerveModuleState[]', '/Pose': 'struct:Pose2d',
        **{f'{prefix}.schema/struct:{name}': 'structschema' for name in SCHEMAS}})


MAPPING = 'joints:\n' + ''.join(
    f'  s{m}: {{column: "/Drive/Positions[{m}].angle"}}\n'
    f'  w{m}: {{column: "/Drive/Positions[{m}].distance", unit: m, wheel_radius: {RADIUS}}}\n'
    for m in range(4)) + 'ground_truth: {x: /Pose.translation.x, y: /Pose.translation.y, yaw: ' \
    '/Pose.rotation}\n'


@pytest.mark.parametrize('last', [False, True])
@pytest.mark.parametrize('prefix', ['/', '', 'NT:/'])
def test_positions_of_swerve_modules_and_a_pose_are_imported(tmp_path, prefix, last):
    log = swerve_log(tmp_path / 'log.wpilog', prefix, last)
    found, done = imported(tmp_path, log, MAPPING)
    stamps, joints = joints_of(found)
    k = np.arange(50)
    assert stamps == pytest.approx(0.02 * (k + 1)) and not done.remarks
    for m in range(4):
        assert joints[f's{m}'] == pytest.approx(0.1 * (m + 1) + 0.01 * k)
        assert joints[f'w{m}'] == pytest.approx(0.01 * k * (m + 1) / RADIUS)
    pose = [message.pose.pose.position for _, message in found['/ground_truth/odom']]
    assert [p.y for p in pose] == pytest.approx(-0.01 * k)


def test_speeds_of_module_states_are_rates(tmp_path):
    log = swerve_log(tmp_path / 'log.wpilog')
    found, _ = imported(tmp_path, log, (
        f'joints: {{w: {{column: "/Drive/Positions[1].distance", unit: m, wheel_radius: {RADIUS}, '
        f'rate: {{column: "/Drive/Measured[1].speed", unit: m/s, wheel_radius: {RADIUS}}}}}}}'))
    assert [m.velocity[0] for _, m in found['/joint_states']] == pytest.approx([20.0] * 50)


@pytest.mark.parametrize(('column', 'reason'), [
    ('/Drive/Positions[0]', r"'/Drive/Positions\[0\]': it is a struct 'SwerveModulePosition' with "
                            '.distance, .angle'),
    ('/Drive/Positions[0].speed', '.speed is not in'),
    ('/Drive/Positions[4].angle', r"4 values of '/Drive/Positions'.*is not among them"),
    ('/Drive/Position', "no entry '/Drive/Position'; it has /Drive/Positions"),
    ('/.schema/struct:Pose2d', "is of type 'structschema'; only boolean")])
def test_a_column_that_a_log_of_structs_lacks_is_named(tmp_path, column, reason):
    log = swerve_log(tmp_path / 'log.wpilog')
    with pytest.raises(BagError, match=reason):
        imported(tmp_path, log, f'joints: {{j: {{column: "{column}"}}}}')


def test_a_record_that_is_no_number_of_structs_and_a_missing_schema_are_named(tmp_path):
    kinds = {'/p': 'struct:Rotation2d[]'}
    log = write_wpilog(tmp_path / 'a.wpilog', [('/p', 1, bytes(16))], kinds)
    with pytest.raises(BagError, match="no schema of struct 'Rotation2d'"):
        imported(tmp_path, log, 'joints: {j: {column: "/p[0]"}}')
    kinds['struct:Rotation2d'] = 'structschema'
    log = write_wpilog(tmp_path / 'b.wpilog', [
        ('struct:Rotation2d', 1, b'double value'), ('/p', 2, bytes(15))], kinds)
    with pytest.raises(BagError, match="15 bytes for '/p' of type struct:Rotation2d"):
        imported(tmp_path, log, 'joints: {j: {column: "/p[0]"}}')


def test_names_with_brackets_and_dots_of_their_own_stay_entries(tmp_path):
    records = [(name, 1000 * k, float(k * f)) for k in range(1, 5)
               for f, name in enumerate(('a.b', 'a.b[0]', 'a'), 1)]
    log = write_wpilog(tmp_path / 'log.wpilog', records, dict.fromkeys(('a.b', 'a.b[0]', 'a'),
                                                                      'double'))
    found, _ = imported(tmp_path, log, 'joints: {x: {column: a.b}, y: {column: "a.b[0]"}}')
    _, joints = joints_of(found)
    assert joints['x'].tolist() == [1, 2, 3, 4] and joints['y'].tolist() == [2, 4, 6, 8]
