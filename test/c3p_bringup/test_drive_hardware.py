# SPDX-License-Identifier: Apache-2.0
"""``c3p drive --hardware emulated`` as a user starts it: the whole robot over a bus."""

import json

import pytest
import yaml

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from drive_process import c3p  # noqa: E402
from patience import patient_parameters  # noqa: E402

CAN = {'sync_rate_hz', 'bus_load', 'frames_per_s', 'faults', 'missed_cycles'}


@pytest.mark.slow
@pytest.mark.real_time
@pytest.mark.timeout(900)
def test_every_node_in_a_process_of_its_own_drives_over_the_bus(tmp_path):
    done = c3p('drive', 0.5, 0, 0, '--hardware', 'emulated', '--nodes', 'processes',
               '--params-file', patient_parameters(tmp_path), '--out', tmp_path, '--json',
               tmp_path / 'figures.json')
    assert done.returncode == 0, done.stderr + done.stdout
    assert 'Traceback' not in done.stderr, done.stderr
    # the interface starts when the bus is there
    assert 'No such file' not in done.stderr, done.stderr
    figures = json.loads((tmp_path / 'figures.json').read_text())
    # numbers of the bus: nodes/test_hardware_drive.py
    assert figures['reached'] is True and figures['failures'] == []
    assert set(figures['can']) == CAN and figures['can']['faults'] == 0
    assert figures['can']['sync_rate_hz'] > 0 and figures['max_wheel_torque_nm'] <= 1.2
    assert 'SYNC rate' in done.stdout and 'bus load' in done.stdout


@pytest.mark.slow
@pytest.mark.real_time
@pytest.mark.timeout(900)
def test_a_drive_ends_at_the_fault_of_its_motors_and_names_it_first(tmp_path):
    wired = tmp_path / 'wired.yaml'
    # the motor of the first wheel turns the other way
    wired.write_text(yaml.safe_dump({'/**/emulated_cards': {'ros__parameters': {
        'wheel_direction': [-1, 1, 1]}}}))
    done = c3p('drive', 1.5, 1, 1.57, '--hardware', 'emulated', '--params-file',
               patient_parameters(tmp_path), '--params-file', wired, '--out', tmp_path,
               '--json', tmp_path / 'figures.json')
    assert done.returncode == 1, done.stderr + done.stdout
    figures = json.loads((tmp_path / 'figures.json').read_text())
    # encoder and motor are reversed: the interface sees a wheel that turns against its torque, the
    # odometry one that counts against the others; either may have its samples first
    causes = ('hardware_interface: motors: ', 'stopped: ', 'the pose is unknown: the '
              'joints contradict the description: wheel encoder of caster 1 reversed')
    assert figures['reached'] is False and figures['missed'].startswith(causes)
    assert 'wheel_joint_1' in figures['missed'] or 'of caster 1 reversed' in figures['missed']
    assert done.stdout.splitlines()[1].split('because')[1].strip().startswith(causes)
    # no 10 s without progress behind the fault
    assert figures['cycles'] < 5 * 200


def test_a_bus_has_no_other_pace_than_its_own(tmp_path):
    done = c3p('drive', 1, 0, 0, '--hardware', 'emulated', '--realtime-factor', 0, '--out',
               tmp_path)
    assert done.returncode == 2 and 'real time' in done.stderr
    assert 'Traceback' not in done.stderr
