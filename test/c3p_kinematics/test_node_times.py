# SPDX-License-Identifier: Apache-2.0
"""The node states once how far apart its joints are, and a report answers it."""

from types import SimpleNamespace

import numpy as np
import pytest
from miscalibrated import towed_drive
from robots import C3P

from c3p_bags.report.times_answer import times_answer
from c3p_kinematics.calibration.recording import at_one_instant
from c3p_kinematics.joint_times import TIMES
from c3p_kinematics.odometry import Odometry


@pytest.fixture(scope='module')
def late():
    """Return the recording of a drive whose second wheel is 9 ms older than the other joints."""
    ages = np.zeros(6)
    ages[4] = 0.009
    return at_one_instant(towed_drive(C3P, 3, 20.0)[0], -ages)


def taught(odometry, recording):
    for row in zip(recording.time, recording.steering, recording.wheel_angle, strict=True):
        odometry.step(*row)
    return odometry


def test_the_node_logs_the_times_once_and_shows_them(bench, late):
    pytest.importorskip('rclpy')
    from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode
    node = bench.add(SensedKinematicsNode)
    assert TIMES not in node.metrics()
    assert not node._times._stated
    taught(node._odometry, late)
    wheel = node.robot.wheel_joints[1]
    assert f'{wheel} oldest' in node.metrics()[TIMES]
    assert node._times._stated


def test_a_report_answers_whether_the_joints_are_of_one_instant(late):
    odometry = taught(Odometry(C3P), late)
    run = SimpleNamespace(slip=SimpleNamespace(times=odometry.times), robot=C3P)
    answer, = times_answer(run)
    apart, deviation = odometry.times.apart
    assert abs(apart - 0.009) < 2.5 * deviation
    assert answer.answer == f'Up to {1e3 * apart:.1f} ms apart'
    assert answer.verdict == 'note' and f'{C3P.wheel_joints[1]} oldest' in answer.detail
    together, = times_answer(SimpleNamespace(slip=SimpleNamespace(times=taught(
        Odometry(C3P), towed_drive(C3P, 3, 20.0)[0]).times), robot=C3P))
    assert together.answer == 'Yes' and together.verdict == 'good'
    assert times_answer(SimpleNamespace(slip=SimpleNamespace(times=None), robot=C3P)) == []
