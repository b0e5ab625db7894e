# SPDX-License-Identifier: Apache-2.0
"""``c3p drive --hardware emulated`` as a user starts it: the whole robot over a bus."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from patience import patient_parameters  # noqa: E402

from c3p_ros.frames import pose_of  # noqa: E402
from c3p_simulation.recording.bags import read_topics  # noqa: E402

pytestmark = pytest.mark.slow

CAN = {'sync_rate_hz', 'bus_load', 'frames_per_s', 'faults', 'missed_cycles'}

# a plant over the bus ends where the same plant ends without one, m
SAME_PLACE = 0.02
# 200 Hz on a computer of its own; one that runs other tests leaves deadlines out, Hz
LEAST_RATE = 50.0


def drive(out, *arguments):
    """Run the command line; return figures, text and where the robot truly ended."""
    done = subprocess.run([sys.executable, '-m', 'c3p_simulation', 'drive', *map(str, arguments),
                           '--params-file', patient_parameters(out), '--bag', '--out', out,
                           '--json', out / 'figures.json'],
                          capture_output=True, text=True, timeout=110, env=os.environ.copy())
    assert done.returncode == 0, done.stderr + done.stdout
    assert 'Traceback' not in done.stderr, done.stderr
    truth = [m.message for m in read_topics(out / 'bag', ['/ground_truth/odom'])][-1]
    return (json.loads((out / 'figures.json').read_text()), done.stdout,
            pose_of(truth.pose.pose, 'truth'))


def check_bus(figures, said):
    """What a drive over the bus tells of the bus."""
    can = figures['can']
    assert set(can) == CAN
    assert LEAST_RATE <= can['sync_rate_hz'] <= 205.0
    assert can['faults'] == 0
    # SYNC, 3 + 3 samples and 3 orders in a cycle; heartbeats and the slow PDOs besides
    assert 0.8 * 10 * can['sync_rate_hz'] < can['frames_per_s'] < 12 * can['sync_rate_hz']
    # 200 Hz of ten frames of about 110 bits are 22 % of 1 Mbit/s
    assert 0.1 < can['bus_load'] < 0.3
    # a cycle whose samples come late on a busy machine has no torque, which is no fault
    assert 0 <= can['missed_cycles'] <= 0.5 * figures['cycles']
    assert 'SYNC rate' in said and 'bus load' in said


@pytest.fixture(scope='module')
def direct(tmp_path_factory):
    """The drive without a bus: the same plant, moved by the torques themselves."""
    return drive(tmp_path_factory.mktemp('direct'), 1, 0, 0, '--realtime-factor', 0)


def test_a_drive_over_the_bus_ends_where_the_same_drive_without_one_ends(tmp_path, direct):
    figures, said, pose = drive(tmp_path, 1, 0, 0, '--hardware', 'emulated')
    check_bus(figures, said)
    assert figures['reached'] is True and figures['failures'] == []
    assert figures['ground_truth_final_error_m'] <= 0.05
    assert figures['path_error_max_m'] <= 0.10
    assert figures['max_wheel_torque_nm'] <= 1.2
    apart = np.hypot(*(pose - direct[2])[:2])
    print(f'over the bus the robot ends {1e3 * apart:.2f} mm from where it ends without: '
          f'{figures["can"]}')
    assert apart <= SAME_PLACE
    assert abs(pose[2] - direct[2][2]) < 0.02


def test_every_node_in_a_process_of_its_own_drives_over_the_bus(tmp_path):
    figures, said, _ = drive(tmp_path, 0.5, 0, 0, '--hardware', 'emulated', '--nodes', 'processes')
    check_bus(figures, said)
    assert figures['reached'] is True and figures['failures'] == []
    assert figures['ground_truth_final_error_m'] <= 0.05


def test_a_bus_has_no_other_pace_than_its_own(tmp_path):
    done = subprocess.run([sys.executable, '-m', 'c3p_simulation', 'drive', '1', '0', '0',
                           '--hardware', 'emulated', '--realtime-factor', '0', '--out', tmp_path],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and 'real time' in done.stderr
    assert 'Traceback' not in done.stderr
