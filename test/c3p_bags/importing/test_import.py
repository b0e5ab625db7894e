# SPDX-License-Identifier: Apache-2.0
"""Logs of other robots: what is in them is in the bag, whatever their form and their traps."""

import gzip
import json
import math
import struct

import numpy as np
import pytest
from robot_logs import (
    ROOT,
    ROS_1,
    SWERVE,
    joint_state,
    write_csv,
    write_ros1,
    write_wpilog,
)
from rosbags.rosbag1 import Writer
from synthetic import notes_of, read_topics

from c3p_bags.importing.import_log import import_logs
from c3p_bags.importing.mapping import read_mapping
from c3p_bags.storage.bag_writer import BagError
from c3p_bringup.cli.main import main

EXAMPLES = ROOT / 'config' / 'import'
TIME = 0.02 * np.arange(300)
# of the wheels, and of the steering axes
ANGLE = 40.0 * np.sin(0.5 * TIME)
STEERING = np.unwrap(4.0 * np.sin(0.9 * TIME))


def imported(tmp_path, logs, mapping, **options):
    """Return what a mapping makes of logs: the messages by topic, and the result."""
    file = mapping
    if isinstance(mapping, str):
        file = tmp_path / 'mapping.yaml'
        file.write_text(mapping)
    done = import_logs(logs if isinstance(logs, list) else [logs],
                       None if file is None else read_mapping(file), tmp_path / 'bag', **options)
    found = {}
    for topic, time, message in read_topics(tmp_path / 'bag'):
        found.setdefault(topic, []).append((time, message))
    return found, done


def stamp_of(message):
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def joints_of(found):
    """Return times, and positions by joint."""
    messages = [message for _, message in found['/joint_states']]
    positions = np.array([message.position for message in messages]).T
    return (np.array([stamp_of(m) for m in messages]),
            dict(zip(messages[0].name, positions, strict=True)))


FORMS = {
    'rad': ('unit: rad', ANGLE, 1e-7), 'deg': ('unit: deg', np.degrees(ANGLE), 1e-6),
    'turns': ('unit: turns', ANGLE / (2 * np.pi), 1e-7),
    'counts': ('unit: counts, counts_per_turn: 4096', np.rint(ANGLE * 4096 / (2 * np.pi)), 1.6e-3),
    'path': ('unit: m, wheel_radius: 0.05', 0.05 * ANGLE, 1e-6),
    'motor side': ('gear: 6.75', 6.75 * ANGLE, 1e-6),
    'sign and zero': ('sign: -1, zero: 0.5', -(ANGLE - 0.5), 1e-7),
    'wrapped to pi': ('wrap: pi', np.angle(np.exp(1j * ANGLE)), 1e-7),
    'wrapped to 2pi': ('unit: deg, wrap: 2pi', np.degrees(ANGLE) % 360.0, 1e-6),
    'uint16': ('unit: counts, counts_per_turn: 4096, wrap: uint16',
               (np.rint(ANGLE * 4096 / (2 * np.pi)) + 65530) % 65536, 1.6e-3),
    'uint32': ('unit: counts, counts_per_turn: 35136, wrap: uint32',
               (np.rint(ANGLE * 35136 / (2 * np.pi)) - 5) % 2**32, 1e-3),
    'int32': ('unit: counts, counts_per_turn: 35136, wrap: int32',
              (np.rint(ANGLE * 35136 / (2 * np.pi)) + 2**31 - 9 + 2**31) % 2**32 - 2**31, 1e-3),
    'increments': ('unit: counts, counts_per_turn: 4096, increments: true',
                   np.diff(np.rint(ANGLE * 4096 / (2 * np.pi)), prepend=0.0), 1.6e-3),
}


@pytest.mark.parametrize('container', ['csv', 'csv.gz', 'wpilog', 'bag'])
@pytest.mark.parametrize(('words', 'values', 'within'), FORMS.values(), ids=FORMS)
def test_every_form_of_an_angle_in_every_container(tmp_path, container, words, values, within):
    log = tmp_path / f'log.{container}'
    time, column = 'time: {column: t}', 'wheel angle'
    if container.startswith('csv'):
        write_csv(log, [TIME + 5.0, values], ['t', column])
        if container.endswith('gz'):
            log.write_bytes(gzip.compress(log.read_bytes()))
    elif container == 'wpilog':
        time = ''
        # a record for each change only
        records = [(column, round(1e6 * (t + 5.0)), v) for k, (t, v) in enumerate(
            zip(TIME, values, strict=True)) if not k or 'increments' in words
            or v != values[k - 1]]
        write_wpilog(log, records, {column: 'double'})
    else:
        time, column = '', '/wheels#position[left]'
        write_ros1(log, [('/wheels', 1, joint_state(round(1e9 * (t + 5.0)), ['x', 'left'],
                                                    [0.0, v]))
                         for t, v in zip(TIME, values, strict=True)])
    found, _ = imported(tmp_path, log, f'{time}\njoints: {{wheel: {{column: "{column}", '
                                       f'{words}}}}}')
    stamps, joints = joints_of(found)
    expected = np.interp(stamps, TIME + 5.0, ANGLE)
    error = joints['wheel'] - expected
    # a counter begins anywhere
    assert np.ptp(error) < within
    assert len(stamps) >= 290 and stamps[0] == pytest.approx(5.0)
    if 'int' not in words and 'wrap' not in words and 'increments' not in words:
        assert np.abs(error).max() < within
    assert [len(m.velocity) for _, m in found['/joint_states']] == [0] * len(stamps)


TEXTS = {'names': 't,a\n1,2\n2,3\n', 'no names': '1,2\n2,3\n', 'semicolons': 't;a\n1;2\n2;3\n',
         'decimal comma': 't;a\n1,0;2,0\n2,0;3,0\n', 'tabs': 't\ta\n1\t2\n2\t3\n',
         'blanks': '1 2\n2 3\n', 'comments': '# by hand\nt,a\n1,2\n# pause\n2,3\n\n',
         'byte order mark': '\ufefft,a\n1,2\n2,3\n', 'quotes': '"t","a"\n"1","2"\n2,3\n',
         'Windows': 't,a\r\n1,2\r\n2,3\r\n', 'changes only': 't,a\n1,2\n1.5,\n2,3\n',
         'before the first value': 't,a\n0.5,\n1,2\n2,3\n', 'repeated': 't,a\n1,2\n1,2\n2,3\n',
         'back': 't,a\n1,2\n0.5,9\n2,3\n', 'nan': 't,a\n1,2\nnan,nan\n2,3\n'}


@pytest.mark.parametrize('text', TEXTS.values(), ids=TEXTS)
def test_csv_of_all_kinds(tmp_path, text):
    log = tmp_path / 'log.txt'
    log.write_text(text, newline='')
    columns = ('1', '2') if text[0] == '1' else ('t', 'a')
    found, done = imported(tmp_path, log,
        f'time: {{column: {columns[0]}}}\njoints: {{j: {{column: {columns[1]}}}}}')
    stamps, joints = joints_of(found)
    if text == TEXTS['changes only']:
        assert joints['j'].tolist() == [2.0, 2.0, 3.0]
    else:
        assert stamps.tolist() == [1.0, 2.0] and joints['j'].tolist() == [2.0, 3.0]
    assert bool(done.remarks) == (text in [TEXTS[k] for k in (
        'before the first value', 'repeated', 'back', 'nan')])


def test_times_that_are_negative_or_zero_are_shifted_and_counters_of_time_unwrapped(tmp_path):
    log = write_csv(tmp_path / 'a.csv', [TIME - 2.0, ANGLE], ['t', 'a'])
    found, done = imported(tmp_path, log, 'time: {column: t}\njoints: {j: {column: a}}')
    stamps, _ = joints_of(found)
    assert stamps[0] == pytest.approx(1.0) and np.diff(stamps) == pytest.approx(0.02)
    assert 'shifted by +3 s' in done.remarks[0]
    counter = (2**32 - 1500 + np.rint(1e6 * TIME)) % 2**32
    log = write_csv(tmp_path / 'b.csv', [[f'{c:.0f}' for c in counter], ANGLE], ['t', 'a'])
    (tmp_path / 'two').mkdir()
    found, done = imported(tmp_path / 'two', log, 'time: {column: t, unit: us, wrap: uint32}\n'
                                                  'joints: {j: {column: a}}')
    assert np.diff(joints_of(found)[0]) == pytest.approx(0.02) and not done.remarks
    # without a column of times
    (tmp_path / 'three').mkdir()
    found, _ = imported(tmp_path / 'three', log, 'time: {rate: 50}\njoints: {j: {column: a}}')
    assert np.diff(joints_of(found)[0]) == pytest.approx(0.02)


def test_rates_are_kept_where_all_joints_have_one(tmp_path):
    log = write_csv(tmp_path / 'a.csv', [TIME + 1, ANGLE, ANGLE, 9.5 * ANGLE], list('tabr'))
    both = ('time: {column: t}\njoints:\n  a: {column: a, rate: {column: r, unit: turns/min}}\n'
            '  b: {column: b%s}\n')
    found, _ = imported(tmp_path, log, both % ', rate: {column: r, unit: rad/s, sign: -1}')
    a, b = np.array([m.velocity for _, m in found['/joint_states']]).T
    assert a == pytest.approx(9.5 * ANGLE * 2 * math.pi / 60, rel=1e-6, abs=1e-6)
    assert b == pytest.approx(-9.5 * ANGLE, rel=1e-6, abs=1e-6)
    (tmp_path / 'two').mkdir()
    found, done = imported(tmp_path / 'two', log, both % '')
    assert not len(found['/joint_states'][0][1].velocity) and 'no rate of b' in done.remarks[0]


def test_wpilog_arrays_have_their_own_times_and_unchanged_ones_no_record(tmp_path):
    kinds = {'t': 'double[]', 'a': 'double[]', 'b': 'float[]', 'n': 'int64', 'text': 'string',
             'early': 'double'}
    records = [('text', 1, 0), ('early', -500, 7.0), ('early', -3, 8.0)]
    for cycle in range(10):
        at = 20_000 * (cycle + 1)
        records.append(('t', at, [0.02 * cycle + 0.011, 0.02 * cycle + 0.018]))
        if cycle < 5:
            records += [('a', at, [cycle, cycle + 0.5]), ('b', at, [-cycle, -cycle - 0.5])]
    log = write_wpilog(tmp_path / 'log.wpilog', records, kinds, extra='made by hand')
    found, done = imported(tmp_path, log, 'time: {column: t}\njoints: {a: {column: a}, b: {column:'
                                          ' b}, e: {column: early}}')
    stamps, joints = joints_of(found)
    assert np.allclose(stamps[:4], [0.011, 0.018, 0.031, 0.038]) and len(stamps) == 20
    assert joints['a'][:4].tolist() == [0.0, 0.5, 1.0, 1.5]
    assert joints['a'][10:].tolist() == [4.5] * 10 and joints['b'][-1] == -4.5
    assert set(joints['e']) == {8.0} and not done.remarks
    # on the times of the records: negative ones are initial values
    (tmp_path / 'two').mkdir()
    found, done = imported(tmp_path / 'two', log, 'joints: {a: {column: a}, e: {column: early}}')
    stamps, joints = joints_of(found)
    assert stamps == pytest.approx([0.02, 0.04, 0.06, 0.08, 0.1])
    assert joints['a'].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5] and set(joints['e']) == {8.0}
    assert '2 records have times before zero' in done.remarks[0]


def test_a_wpilog_that_was_cut_off_is_read_up_to_its_end(tmp_path):
    log = write_wpilog(tmp_path / 'log.wpilog', [('a', 1000 * k, k) for k in range(1, 100)],
                       {'a': 'double'})
    log.write_bytes(log.read_bytes()[:-5])
    found, _ = imported(tmp_path, log, 'joints: {j: {column: a}}')
    assert joints_of(found)[1]['j'].tolist() == list(range(1, 99))


@pytest.mark.parametrize('packing', [None, Writer.CompressionFormat.BZ2,
                                     Writer.CompressionFormat.LZ4])
def test_a_bag_of_ros_1_needs_no_mapping_for_joint_states(tmp_path, packing):
    types = ROS_1.types
    zero = types['geometry_msgs/msg/Vector3'](0.0, 0.0, 0.0)
    messages = [('joint_states', 10**9 + k, joint_state(10**9 + k, ['a', 'b'], [k, -k]))
                for k in range(50)]
    messages += [('/cmd_vel', 10**9 + 100 + k, types['geometry_msgs/msg/Twist'](
        types['geometry_msgs/msg/Vector3'](0.1 * k, 0.0, 0.0), zero)) for k in range(5)]
    log = write_ros1(tmp_path / 'one.bag', messages, packing)
    found, _ = imported(tmp_path, log, None)
    assert joints_of(found)[1]['a'].tolist() == list(range(50))
    assert [m.linear.x for _, m in found['/cmd_vel']] == [0.1 * k for k in range(5)]
    assert [time for time, _ in found['/joint_states']] == [10**9 + k for k in range(50)]


def test_a_drive_of_each_example_is_imported(tmp_path):
    turn = 1000.0
    files = {
        'tricycle': write_csv(tmp_path / 'tricycle.csv', [
            TIME, 0.1 * TIME, 0 * TIME, 0.1 * TIME, np.rint(50 + 0 * TIME), STEERING]),
        'three_casters': write_csv(tmp_path / 'three.csv', [
            1000 * TIME + 10, *[np.degrees(STEERING) % 360] * 3, *[
                np.rint(turn * TIME) % 65536] * 3],
            ['time_ms', 'fl_steering', 'fr_steering', 'r_steering', 'fl_ticks', 'fr_ticks',
             'r_ticks']),
        'swerve': write_csv(tmp_path / 'swerve.csv', [
            TIME + 3.0, *[STEERING] * 4, *[ANGLE] * 4, 7.0 + 0.1 * TIME],
            ['sample_time_s', *[f'{m}_turn_rad' for m in ('fl', 'fr', 'bl', 'br')],
             *[f'{m}_drive_rad' for m in ('fl', 'fr', 'bl', 'br')], 'gyro_yaw_rad'])}
    for name, log in files.items():
        (tmp_path / name).mkdir()
        found, done = imported(tmp_path / name, log, EXAMPLES / f'{name}.yaml')
        assert done.messages['/joint_states'] == 300
        _, joints = joints_of(found)
        if name == 'tricycle':
            assert joints['wheel_joint_1'][-1] == pytest.approx(300 * 50 / 1600 * 2 * math.pi)
            last = found['/ground_truth/odom'][-1][1]
            assert last.pose.pose.position.x == pytest.approx(0.1 * TIME[-1])
            assert last.twist.twist.angular.z == pytest.approx(0.1)
            assert last.header.frame_id == 'motion_capture'
        elif name == 'swerve':
            assert joints['steering_joint_2'] == pytest.approx(STEERING - math.pi / 2, abs=1e-6)
            rates = [m.angular_velocity.z for _, m in found['/imu/data']]
            assert rates == pytest.approx([0.1] * 300, abs=1e-5)
        else:
            assert joints['wheel_joint_3'] == pytest.approx(-joints['wheel_joint_1'])
            assert np.ptp(joints['steering_joint_1']) == pytest.approx(np.ptp(STEERING), abs=1e-4)


def test_report_recompute_and_calibrate_read_an_imported_swerve_drive(tmp_path, capsys):
    """Straight ahead and back: the wheels' path is that of the odometry."""
    (tmp_path / 'robot.yaml').write_text(SWERVE)
    names = ('fl', 'fr', 'bl', 'br')
    path = 2.0 * (1.0 - np.cos(0.5 * np.clip(TIME - 1.0, 0.0, None)))
    log = write_csv(tmp_path / 'swerve.csv', [
        TIME + 3.0, *[0 * TIME] * 4, *[path / 0.05] * 4, 0 * TIME],
        ['sample_time_s', *[f'{m}_turn_rad' for m in names], *[f'{m}_drive_rad' for m in names],
         'gyro_yaw_rad'])
    bag = tmp_path / 'bag'
    mapping = tmp_path / 'mapping.yaml'
    mapping.write_text('robot: robot.yaml\n' + (EXAMPLES / 'swerve.yaml').read_text())
    assert main(['import', str(log), '--mapping', str(mapping), '--out', str(bag), '--json',
                 '-']) == 0
    told = json.loads(capsys.readouterr().out)
    # wheels below their pivots are described in the bag
    assert told['topics'] == {'/imu/data': 300, '/joint_states': 300, '/robot_description': 1}
    robot = ['--robot', str(tmp_path / 'robot.yaml')]
    assert main(['recompute', str(bag), *robot, '--json', '-']) == 0
    pose = json.loads(capsys.readouterr().out)['end_pose']
    assert pose == pytest.approx([path[-1], 0.0, 0.0], abs=0.01 * path.max())
    assert main(['report', str(bag), *robot, '--out', str(tmp_path / 'page')]) == 0
    assert main(['calibrate', str(bag), *robot, '--out', str(tmp_path / 'cal')]) in (0, 1), (
        capsys.readouterr().err)


def test_the_robot_of_the_mapping_is_that_of_the_bag(tmp_path):
    names = [f'{part}_joint_{k}' for part in ('steering', 'wheel') for k in (1, 2, 3)]
    log = write_csv(tmp_path / 'a.csv', [TIME + 1, *[0 * TIME] * 6], ['t', *names])
    joints = 'time: {column: t}\njoints:\n' + ''.join(f'  {n}: {{column: {n}}}\n' for n in names)
    imported(tmp_path, log, f'robot: c3p\n{joints}')
    assert notes_of(tmp_path / 'bag')['c3p_robot'] == 'c3p'
    assert notes_of(tmp_path / 'bag')['c3p_imported'] == 'a.csv'
    assert main(['report', str(tmp_path / 'bag'), '--out', str(tmp_path / 'page')]) == 0
    with pytest.raises(BagError, match=r'does not have: wheel_joint_3'):
        (tmp_path / 'two').mkdir()
        imported(tmp_path / 'two', log, f'robot: c3p\n{joints[:joints.index("  wheel_joint_3")]}')


def test_several_files_of_a_drive_share_a_clock(tmp_path):
    joints = write_csv(tmp_path / 'odo.csv', [TIME + 2, ANGLE], ['t', 'a'])
    truth = write_csv(tmp_path / 'opti.csv', [TIME[::2] + 2.003, *[TIME[::2]] * 3],
                      ['t', 'x', 'y', 'yaw'])
    found, _ = imported(tmp_path, [truth, joints], 'time: {column: t}\njoints: {j: {column: a}}\n'
                        'ground_truth: {x: x, y: y, yaw: yaw, file: "opti*"}')
    assert len(found['/joint_states']) == 300 and len(found['/ground_truth/odom']) == 150
    times = [m.time for m in read_topics(tmp_path / 'bag')]
    assert times == sorted(times)


MAPPING = 'time: {column: t}\njoints: {j: {column: a}}'
WRONG = {
    'a text': ('t,a\n1,2\n2,x\n', MAPPING, "line 3, column 'a': 'x' is not a number"),
    'a short row': ('t,a\n1,2\n2\n', MAPPING, "line 3: 1 columns; 'a' is number 2"),
    'no such column': ('t,b\n1,2\n', MAPPING, "no column 'a'; it has t, b"),
    'a name twice': ('t,a,a\n1,2,3\n', MAPPING, "2 columns are named 'a'; give the number"),
    'no time': ('t,a\n1,2\n', 'joints: {j: {column: a}}', 'no time: name its column'),
    'empty': ('', MAPPING, 'has no line'), 'names only': ('t,a\n', MAPPING, 'no row has a time'),
    'never a value': ('t,a\n1,\n2,\n', MAPPING, 'no row has a time and a value'),
    'unit of time': ('t,a\n1,2\n2000000000,3\n', MAPPING, 'check the unit'),
    'time of ns': ('t,a\n1700000000000000000,2\n1700000000000000001,3\n', MAPPING,
                   'check the unit of the time'),
    'a number out of range': ('1,2\n2,3\n', 'time: {column: 1}\njoints: {j: {column: 3}}',
                              "no column '3'; it has 1 to 2, without names"),
}


@pytest.mark.parametrize(('text', 'mapping', 'says'), WRONG.values(), ids=WRONG)
def test_what_is_wrong_in_a_csv_is_named_by_file_line_and_column(tmp_path, text, mapping, says):
    log = tmp_path / 'log.csv'
    log.write_text(text)
    with pytest.raises(BagError) as error:
        imported(tmp_path, log, mapping)
    assert f'{log}' in f'{error.value}' or 'unit' in says
    assert says in f'{error.value}' and not (tmp_path / 'bag').exists()


HEAD = b'WPILOG' + struct.pack('<HI', 0x0100, 0)
START = b'\0' + struct.pack('<I', 1) + b'\1\0\0\0a' + b'\6\0\0\0double' + bytes(4)
HOSTILE = {
    'a bag of ROS 2': (b'\x89MCAP0\r\n' + bytes(99), 'is a bag of ROS 2'),
    'bytes': (bytes(range(128, 256)) * 9, 'not a text in UTF-8'),
    'a cut archive': (gzip.compress(b't,a\n' + b'1,2\n' * 9999)[:-20], 'cannot be unpacked'),
    'a bomb': (gzip.compress(b'1,' * 200_000_000), 'is not read'),
    'a header alone': (b'WPILOG\0\1', 'ends in its header'),
    'another version': (b'WPILOG' + struct.pack('<HI', 0x0200, 0), 'version 2.0'),
    'no entry': (HEAD, "no entry 'a'"),
    'a damaged entry': (HEAD + b'\0\0\x05\0' + START[:5], 'record at byte 12: a damaged begin'),
    'a wrong size': (HEAD + bytes([0, 0, len(START), 0]) + START + b'\0\1\3\1abc',
                     "record at byte 40: 3 bytes for 'a' of type double"),
    'ROS 1 alone': (b'#ROSBAG V2.0\n', 'cannot be read'),
    'ROS 1 damaged': (b'#ROSBAG V2.0\n' + bytes(range(256)), 'cannot be read'),
}


@pytest.mark.parametrize(('data', 'says'), HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_log_is_refused_in_one_line(tmp_path, data, says):
    log = tmp_path / 'log.bag'
    log.write_bytes(data)
    with pytest.raises(BagError) as error:
        imported(tmp_path, log, MAPPING if b'WPILOG' not in data else 'joints: {j: {column: a}}')
    assert says in f'{error.value}' and '\n' not in f'{error.value}'


def test_a_chunk_of_ros_1_that_unpacks_to_more_than_it_states_is_refused(tmp_path):
    log = write_ros1(tmp_path / 'one.bag', [('/j', k + 1, joint_state(k + 1, ['a'], [0.0] * 1))
                                            for k in range(2000)], Writer.CompressionFormat.BZ2)
    data = log.read_bytes()
    place = data.index(b'size=') + 5
    log.write_bytes(data[:place] + struct.pack('<I', 100) + data[place + 4:])
    with pytest.raises(BagError, match='more than the 100 bytes that it states'):
        imported(tmp_path, log, None)


@pytest.mark.parametrize(('column', 'says'), [
    ('/j', 'must be TOPIC#FIELD'), ('/k#position', 'must be TOPIC#FIELD'),
    ('/j#speed', "no field 'speed'; it has header, name, position"),
    ('/j#position', 'is not a number'), ('/j#position[9]', "no element '9' of 1"),
    ('/j#position[b]', 'the names are a'), ('/j#__class__', 'no field')])
def test_what_is_wrong_in_a_path_is_named(tmp_path, column, says):
    log = write_ros1(tmp_path / 'one.bag', [('/j', 1, joint_state(1, ['a'], [1.0]))])
    with pytest.raises(BagError) as error:
        imported(tmp_path, log, f'joints: {{j: {{column: "{column}"}}}}')
    assert says in f'{error.value}'


def test_the_command_needs_a_mapping_for_what_has_no_names(tmp_path, capsys):
    log = write_csv(tmp_path / 'a.csv', [TIME, ANGLE])
    assert main(['import', str(log)]) == 2
    assert '--mapping FILE is needed' in capsys.readouterr().err
    assert main(['import', str(tmp_path), '--mapping', str(log)]) == 2
    for words in (['report'], ['recompute'], ['repair']):
        assert main([*words, str(log)]) == 2
        assert f'`c3p import {log} --mapping FILE` makes one of it' in capsys.readouterr().err
    assert main(['import', str(tmp_path / 'none.csv')]) == 2
    assert 'no such file' in capsys.readouterr().err
