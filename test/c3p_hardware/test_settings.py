# SPDX-License-Identifier: Apache-2.0
"""Settings that cannot work are refused by name, with value and remedy."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from device_bench import UNITS, card_settings_of
from robots import C3P

from c3p_hardware.axes import card_settings, per_axis
from c3p_hardware.settings import CardError, DriveSettings, EncoderSettings

NAN = float('nan')


def parameters(**changes):
    """Return parameters as the schema has them by default; ``drives__directions=…`` changes."""
    values = {'rate': 200.0, 'master_id': 127, 'heartbeat_period': 0.05, 'heartbeat_timeout': 0.15,
              'missed_cycles': 2, 'silence_timeout': 0.05, 'arming_timeout': 2.0,
              'command_timeout': 0.2, 'stop_damping': 0.1, 'max_steering_rate': 60.0,
              'rate_bandwidth': 40.0, 'fault_reaction': 'quick_stop', 'overspeed_margin': 1.2,
              'torque_tolerance': 0.2, 'torque_deviation_time': 0.05, 'rpdo_deadline': -1.0,
              'max_wheel_rate': 300.0, 'stop_margin': 0.3, 'brake_close_time': 0.05,
              'brake_open_time': 0.05}
    groups = {
        'bus': {'bitrate': 1_000_000},
        'drives': {'joints': [''], 'node_ids': [1, 2, 3], 'channels': [1],
                   'serial_numbers': [0], 'directions': [1],
                   'gear_ratio': [14.0], 'efficiency': [0.8], 'rated_torque': [0.11],
                   'encoder_counts': [2000], 'mode': 'torque', 'velocity_gain': [0.2],
                   'brakes': [False],
                   'temperature_index': 0x2030,
                   'temperature_subindex': 0},
        'encoders': {'joints': [''], 'node_ids': [11, 12, 13], 'serial_numbers': [0],
                     'counts': [4096], 'gear_ratio': [1.0], 'range': [0], 'directions': [1],
                     'zeros': [0]}}
    for name, value in changes.items():
        group, _, key = name.rpartition('__')
        (groups[group] if group else values)[key] = value
    return SimpleNamespace(**values, **{k: SimpleNamespace(**v) for k, v in groups.items()})


def test_parameters_become_settings_in_the_order_of_the_casters():
    settings = card_settings(replace(C3P, torque_limit=[1.2, 0.8, np.inf]), parameters(
        drives__directions=[1, -1, 1], drives__serial_numbers=[7, 8, 9], encoders__zeros=[1, 2, 3],
        encoders__range=[0, 8192, 0], fault_reaction='coast', rate=250.0))
    assert [d.node_id for d in settings.drives] == [1, 2, 3]
    assert [d.joint for d in settings.drives] == list(C3P.wheel_joints)
    assert [d.units.direction for d in settings.drives] == [1, -1, 1]
    assert [d.serial for d in settings.drives] == [7, 8, 9]
    # 1.232 N·m is what the rated torque gives at the wheel: a limit of the robot is kept below
    assert [d.max_permille for d in settings.drives] == [974, 649, 1000]
    assert [(e.node_id, e.zero, e.range) for e in settings.encoders] == [
        (11, 1, 4096), (12, 2, 8192), (13, 3, 4096)]
    assert [e.joint for e in settings.encoders] == list(C3P.steering_joints)
    assert not settings.quick_stop and settings.period == 1 / 250


def test_names_say_joint_and_node():
    settings = card_settings_of()
    assert settings.drives[1].name == 'drive of wheel_joint_2 (node 2)'
    assert settings.encoders[2].name == 'encoder of steering_joint_3 (node 13)'


@pytest.mark.parametrize(('changes', 'text'), [
    ({'drives__node_ids': [1, 2]}, r'drives\.node_ids = \[1, 2\].*3 drives'),
    ({'drives__gear_ratio': []}, r'drives\.gear_ratio = \[\].*3 drives'),
    ({'encoders__zeros': [1, 2, 3, 4]}, r'encoders\.zeros = \[1, 2, 3, 4\].*3 encoders'),
    ({'drives__node_ids': [1]}, r'node id \[1\] is used twice'),
    ({'drives__channels': [1, 2, 3]}, r'wheel_joint_3 \(node 3, channel 3\): channel = 3.*1 to 2'),
    ({'drives__node_ids': [1, 2, 11]}, r'node id \[11\] is used twice'),
    ({'encoders__node_ids': [11, 12, 127]}, r'node id \[127\].*master_id is 127'),
    ({'drives__node_ids': [0, 2, 3]}, r'node id \[0\]: must be 1 to 127'),
    ({'master_id': 128}, r'master_id = 128: must be 1 to 127'),
    ({'drives__directions': [1, 0, 1]}, r'wheel_joint_2 \(node 2\): direction = 0'),
    ({'drives__rated_torque': [0.0]}, r'wheel_joint_1 \(node 1\): rated_torque = 0\.0'),
    ({'drives__gear_ratio': [14.0, 14.0, NAN]}, r'wheel_joint_3 \(node 3\): gear_ratio = nan'),
    ({'drives__efficiency': [1.2]}, r'wheel_joint_1 \(node 1\): efficiency = 1\.2'),
    ({'drives__encoder_counts': [0]}, r'wheel_joint_1 \(node 1\): counts = 0'),
    ({'encoders__counts': [4096, 0, 4096]}, r'steering_joint_2 \(node 12\): counts = 0'),
    ({'encoders__range': [5000]}, r'steering_joint_1 \(node 11\): range = 5000'),
    ({'encoders__directions': [1, 1, 2]}, r'steering_joint_3 \(node 13\): direction = 2'),
    ({'heartbeat_timeout': 0.09}, r'heartbeat_timeout = 0\.09 s.*heartbeat_period = 0\.05'),
    ({'silence_timeout': 0.01}, r'silence_timeout = 0\.01 s.*missed_cycles = 2'),
    ({'rate': 40.0}, r'silence_timeout = 0\.05 s.*missed_cycles = 2 cycles of 0\.0250'),
    ({'rate': 1000.0}, r'rate = 1000\.0 Hz.*bus\.bitrate'),
    ({'bus__bitrate': 10_000}, r'rate = 200\.0 Hz: loads a bus of 10000 bit/s')])
def test_what_cannot_work_is_refused_by_name(changes, text):
    with pytest.raises(CardError, match=text):
        card_settings(C3P, parameters(**changes))


@pytest.mark.parametrize('limit', [0.0, 1e-3, -1.0, NAN])
def test_a_torque_limit_below_one_permille_would_never_move(limit):
    with pytest.raises(CardError, match=r'wheel_joint_1 \(node 1\): torque_limit = '):
        DriveSettings(1, 'wheel_joint_1', UNITS, limit)


def test_no_drive_with_a_motor_is_refused():
    settings = card_settings_of()
    for drives in ((), (replace(settings.drives[0], driven=False),)):
        with pytest.raises(CardError, match=r'\d drives and 3 encoders.*drives\.joints'):
            replace(settings, drives=drives)


def test_one_value_stands_for_all():
    assert per_axis('x.y', [4], 'abc') == [4, 4, 4]
    assert per_axis('x.y', (4, 5, 6), 'abc') == [4, 5, 6]


def test_the_range_of_a_single_turn_is_its_counts():
    assert EncoderSettings(11, 'a').range == 4096
    assert EncoderSettings(11, 'a', span=8192).range == 8192
