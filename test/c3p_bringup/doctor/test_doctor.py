# SPDX-License-Identifier: Apache-2.0
"""What the doctor says of computers that are made of files."""

import json
import os
import time
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='needs rclpy')


from c3p_bringup.cli.main import main  # noqa: E402
from c3p_bringup.doctor import bus, computer, robot, ros  # noqa: E402
from c3p_bringup.doctor.check import Level, counted, fail, ok, warn  # noqa: E402
from c3p_bringup.modules import how_to_have  # noqa: E402
from c3p_hardware.transport.can_bus import BusAddress  # noqa: E402
from c3p_ros.middleware import LOCAL_ONLY, RANGE, Middleware  # noqa: E402

OK, WARN, FAIL = Level.OK, Level.WARN, Level.FAIL
CAN0 = BusAddress('socketcan', 'can0', 500_000)
JAZZY = Middleware('rmw_fastrtps_cpp', frozenset({RANGE, LOCAL_ONLY}))


def levels(checks):
    """Return {name: level}."""
    return {check.name: check.level for check in checks}


@pytest.mark.parametrize(('version', 'level'), [
    ((3, 9), FAIL), ((3, 10), OK), ((3, 14), OK), ((3, 99), WARN)])
def test_python_is_one_that_was_tested(version, level):
    assert computer.python(version).level is level


def test_a_missing_package_says_what_needs_it():
    absent = computer.Package('no_such', 'no-such', 'nobody')
    needed = computer.Package('no_such', 'no-such', 'all', True)
    there = computer.Package('numpy', 'numpy', 'all')
    bare = computer.Package('json', 'no-metadata', 'all')
    found = list(computer.packages((absent, needed, there, bare)))
    assert [c.level for c in found] == [WARN, FAIL, OK, OK]
    assert f'needed by nobody; {how_to_have("no_such")}' in f'{found[0]}'


def test_a_governor_that_saves_power_is_told(tmp_path):
    place = tmp_path / 'devices/system/cpu/cpu0/cpufreq'
    place.mkdir(parents=True)
    for governor, level in (('powersave', WARN), ('performance', OK)):
        (place / 'scaling_governor').write_text(f'{governor}\n')
        assert levels(computer.processors(tmp_path))['governor'] is level
    assert levels(computer.processors(tmp_path / 'none'))['governor'] is OK
    (tmp_path / 'kernel').mkdir()
    (tmp_path / 'kernel/realtime').write_text('1')
    assert any(c.text == 'PREEMPT_RT' for c in computer.processors(tmp_path))


@pytest.mark.parametrize(('limit', 'root', 'level'), [(0, False, WARN), (80, False, OK),
                                                      (0, True, OK)])
def test_priority_is_allowed_by_limit_or_to_root(limit, root, level):
    assert computer.priority(limit, root).level is level


def test_a_step_of_the_clock_is_seen(monkeypatch):
    times = iter([2e9, 2e9 + 1.0, 2e9 + 1.0])
    monkeypatch.setattr(computer, 'time', SimpleNamespace(
        time=lambda: next(times), monotonic=lambda: 5.0, sleep=lambda seconds: None,
        ctime=time.ctime))
    assert 'stepped by +1.' in f'{computer.clock(0.0)}'
    monkeypatch.setattr(computer.time, 'time', lambda: 1000.0)
    assert computer.clock(0.0).level is FAIL


def test_files_of_ended_processes_are_counted_and_those_in_use_are_not(tmp_path):
    memory, processes = tmp_path / 'shm', tmp_path / 'proc'
    (processes / '7').mkdir(parents=True)
    memory.mkdir()
    used, left = 'fastrtps_0123456789abcdef', 'fastrtps_fedcba9876543210'
    (processes / '7/maps').write_text(f'7f00-7f01 rw-s 00:01 5 {memory}/{used}\n')
    for name in (used, f'{used}_el', left, f'{left}_el', 'other'):
        (memory / name).touch()
    check = computer.shared_memory(memory, processes)
    assert check.level is WARN and check.text.startswith('1 files')
    (memory / left).unlink()
    assert 'left over' in computer.shared_memory(memory, processes).text
    assert computer.shared_memory(tmp_path / 'none').level is OK


@pytest.mark.skipif(os.geteuid() == 0, reason='root may use every device')
def test_a_serial_adapter_that_may_not_be_used_is_told(tmp_path):
    (tmp_path / 'ttyACM0').touch(mode=0)
    assert 'dialout' in computer.serial_ports(tmp_path).remedy


def test_serial_adapters_are_named(tmp_path):
    assert computer.serial_ports(tmp_path).text == 'none'
    (tmp_path / 'ttyUSB3').touch()
    assert computer.serial_ports(tmp_path).text == 'ttyUSB3'


@pytest.mark.parametrize(('environment', 'expected'), [
    ({}, {'ROS_DOMAIN_ID': OK, 'discovery range': OK}),
    ({'ROS_DOMAIN_ID': '42', 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'},
     {'ROS_DOMAIN_ID': OK, 'discovery range': OK}),
    ({'ROS_DOMAIN_ID': '150'}, {'ROS_DOMAIN_ID': WARN, 'discovery range': OK}),
    ({'ROS_DOMAIN_ID': '233'}, {'ROS_DOMAIN_ID': FAIL, 'discovery range': OK}),
    ({'ROS_DOMAIN_ID': 'lab', 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'NEAR'},
     {'ROS_DOMAIN_ID': FAIL, 'discovery range': FAIL}),
    ({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'OFF', 'ROS_LOCALHOST_ONLY': '1'},
     {'ROS_DOMAIN_ID': OK, 'discovery range': WARN, 'ROS_LOCALHOST_ONLY': WARN}),
])
def test_the_environment_of_ros(environment, expected):
    assert levels(ros.network(environment, JAZZY)) == expected


def test_a_mixture_of_distributions_is_told():
    found = levels(ros.client_library({'ROS_DISTRO': 'foxy'}))
    assert found['rclpy'] is OK and found['ROS_DISTRO'] is WARN and found['middleware'] is OK
    assert 'ROS_DISTRO' not in levels(ros.client_library({}))


@pytest.mark.parametrize(('version', 'text', 'level'), [
    ('7.1.6', '7.1.6, jazzy', OK), ('9.1.2', '9.1.2, kilted', OK),
    ('10.0.10', '10.0.10, lyrical', OK),
    ('3.3.16', '3.3.16, humble', FAIL), ('11.0.2', '11.0.2, unknown', WARN),
    ('', 'unknown version, unknown', WARN)])
def test_the_distribution_is_one_that_was_tested(version, text, level, monkeypatch):
    monkeypatch.setattr(ros, 'rclpy_version', lambda: version)
    monkeypatch.setattr(ros, 'apart', lambda check, name, remedy: ok(name, ''))
    first = next(iter(ros.client_library({})))
    assert (first.name, first.text, first.level) == ('rclpy', text, level)
    assert level is OK or 'jazzy, kilted or lyrical' in first.remedy


@pytest.mark.parametrize(('publishers', 'level'), [
    ({}, OK), ({'/joint_states': ['/simulation']}, WARN),
    ({'/joint_states': ['/simulation', '/hardware_interface']}, FAIL)])
def test_two_robots_on_one_topic_will_not_work(publishers, level):
    assert ros.judged(publishers).level is level


@pytest.mark.parametrize(('text', 'says'), [
    ('velocity_controller: {ros__parameters: {controler: mpc}}',
     "has no parameter 'controler', did you mean controller?"),
    ('velocity_controller: {ros__parameters: {controller: hope}}', 'must be one of'),
    ('simulation: {ros__parameters: {rate: fast}}', "rate = 'fast'"),
    ('simulation: {ros__parameters: {start_steering: 0.0}}', 'must be a double_array'),
    ('emulated_cards: {ros__parameters: {drive_ids: [500]}}', 'drive_ids = [500]'),
    ('a: [', 'cannot be read as YAML'), ('a: 1', 'no ros__parameters in it'),
    ('hardware_interface: {ros__parameters: {drives.node_ids: [1, 1, 2]}}', 'used twice'),
])
def test_a_parameter_file_that_the_nodes_would_refuse_fails(text, says, tmp_path):
    file = tmp_path / 'p.yaml'
    file.write_text(text)
    wrong = [c for c in robot.parameter_files([file], 'c3p') if c.level is FAIL]
    assert says in ' '.join(c.text for c in wrong)


def test_a_parameter_file_that_the_nodes_take_is_ok(tmp_path):
    file = tmp_path / 'p.yaml'
    file.write_text('/**: {ros__parameters: {use_sim_time: false}}\n'
                    'simulation: {ros__parameters: {plant: analytic, robot: c3p}}\n'
                    'somebody_else: {ros__parameters: {x: 1}}\n')
    assert [c.level for c in robot.parameter_files([file], 'c3p')] == [OK]


@pytest.mark.parametrize(('name', 'level'), [('c3p', OK), ('nobody', FAIL)])
def test_a_robot_is_one_that_can_be_loaded(name, level):
    assert robot.description(name).level is level


def network(place, kind='280', flags='0x1043'):
    """Make an interface can0 in a kernel made of files."""
    folder = place / 'class/net/can0'
    folder.mkdir(parents=True)
    (folder / 'type').write_text(f'{kind}\n')
    (folder / 'flags').write_text(f'{flags}\n')


def link(bitrate=500_000, state='ERROR-ACTIVE'):
    return lambda _: {'linkinfo': {'info_data': {'bittiming': {'bitrate': bitrate},
                                                 'state': state}}}


@pytest.mark.parametrize(('details', 'level', 'says'), [
    (link(), OK, 'up, 500000 bit/s, ERROR-ACTIVE'), (lambda _: {}, OK, 'up, no bit/s'),
    (link(250_000), FAIL, 'up at 250000 bit/s, bus.bitrate is 500000'),
    (link(state='BUS-OFF'), FAIL, 'BUS-OFF; check termination'),
    (link(state='ERROR-WARNING'), WARN, 'check termination, shield'),
])
def test_a_bus_that_is_up_has_the_right_rate_and_state(details, level, says, tmp_path):
    network(tmp_path)
    (check,) = bus.interface(CAN0, True, tmp_path, details)
    assert check.level is level and says in f'{check}'


@pytest.mark.parametrize(('made', 'wanted', 'level', 'says'), [
    (None, True, FAIL, 'no such interface; found: none'),
    (None, False, WARN, 'needed for hardware:=can'),
    ({'kind': '1'}, True, FAIL, 'not a CAN interface'),
    ({'flags': '0x0'}, True, FAIL, 'sudo ip link set can0 up type can bitrate 500000'),
])
def test_a_bus_that_is_not_up_says_what_to_do(made, wanted, level, says, tmp_path):
    (tmp_path / 'class/net').mkdir(parents=True)
    if made is not None:
        network(tmp_path, **made)
    (check,) = bus.interface(CAN0, wanted, tmp_path, link())
    assert check.level is level and says in f'{check}'


def test_a_serial_bus_is_a_file(tmp_path):
    for name, level in (('can', FAIL), ('', OK)):
        address = BusAddress('serial', str(tmp_path / name))
        assert [c.level for c in bus.interface(address, True)] == [level]


def test_answers_are_counted_and_have_remedies():
    checks = [ok('a', 'x'), ok('b', 'x'), warn('c', 'x', 'do'), fail('d', 'x', 'do it')]
    assert counted(checks) == {'ok': 2, 'warn': 1, 'fail': 1}
    assert f'{checks[3]}'.endswith('x; do it [C3P-DR-0099]')
    assert f'{checks[0]}'.endswith('x')


def test_the_command_tells_everything_and_ends_with_1_when_something_will_not_work(
        tmp_path, capsys, monkeypatch):
    # who else runs on this computer is not this test's
    monkeypatch.setattr(ros, 'other_robots', lambda: ros.judged({}))
    file = tmp_path / 'doctor.json'
    assert main(['doctor', '--json', str(file)]) == 0
    told = json.loads(file.read_text())
    assert told['fail'] == 0 and told['ok'] + told['warn'] == len(told['checks'])
    assert all(c['remedy'] for c in told['checks'] if c['level'] != 'OK')
    names = {c['name'] for c in told['checks']}
    assert {'Python', 'rclpy', 'robot', 'wake-up', 'clock', 'CAN can0', 'robots on the air',
            'shared memory', 'log files', 'machine code'} <= names
    assert main(['doctor', '--robot', 'nobody', '--no-network', '--json', '-']) == 1
    seen = capsys.readouterr()
    told = json.loads(seen.out[seen.out.rindex('\n{') if '\n{' in seen.out else 0:])
    assert told['fail'] >= 1 and 'that will not work' in seen.err
