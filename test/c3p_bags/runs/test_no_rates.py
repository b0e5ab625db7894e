# SPDX-License-Identifier: Apache-2.0
"""Joint states without velocities are enough: positions decide, rates are not known."""

import json

import numpy as np
import pytest
import synthetic
from synthetic import opened

from c3p_bags.runs.log_reader import read_run
from c3p_bags.runs.recompute_bag import recompute_bag
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_writer import BagWriter
from c3p_bringup.cli.main import main
from c3p_description.reading.loader import load
from c3p_experiments.identification.identify import recording_of
from c3p_kinematics.odometry import Odometry

C3P = load('c3p')
JOINTS = 'sensor_msgs/msg/JointState'
RATES = {'empty': lambda count: np.zeros(0), 'nan': lambda count: np.full(count, np.nan),
         'one is nan': lambda count: np.append(np.ones(count - 1), np.nan)}


def without_rates(source, target, rates, only=None):
    """Copy a bag, with other velocities in its joint states."""
    with Bag(source) as bag, BagWriter(target) as writer:
        for topic, known in bag.topics.items():
            writer.adopt(topic, known.kind, bag.qos(topic), bag.types)
        for topic, time, data in bag.raw(only):
            if topic == '/joint_states':
                message = bag.types.deserialize_cdr(data, JOINTS)
                message.velocity = rates(len(message.name))
                data = bag.types.serialize_cdr(message, JOINTS)
            writer.write(topic, time, data)
    return target


@pytest.fixture(scope='module')
def drive(tmp_path_factory):
    place = tmp_path_factory.mktemp('drive') / 'bag'
    run = synthetic.drive(C3P, goal=(1.0, 0.5, 0.5), rate=100.0)
    synthetic.write_bag(place, C3P, run, only=['joint_states', 'odom', 'ground_truth/odom',
                                               'cmd_vel', 'goal_pose', 'wheel_effort'])
    return place


@pytest.mark.parametrize('rates', RATES.values(), ids=RATES)
def test_every_command_on_recordings_works_by_positions(drive, tmp_path, capsys, rates):
    bag = without_rates(drive, tmp_path / 'bag', rates)
    whole = opened(read_run, drive, C3P)
    log = opened(read_run, bag, C3P)
    assert np.array_equal(log.joints.wheel_angle, whole.joints.wheel_angle)
    assert np.array_equal(log.joints.steering, whole.joints.steering)
    for ours, theirs in zip(recording_of(log, C3P).recording, recording_of(whole, C3P).recording,
                            strict=True):
        assert np.all(np.isfinite(ours)) and ours.shape == theirs.shape
    assert np.isnan(log.joints.wheel_rate).all() and np.isnan(log.joints.steering_rate).all()
    assert log.not_finite == {}
    assert main(['report', str(bag), '--out', str(tmp_path / 'page'), '--robot', 'c3p',
                 '--json', str(tmp_path / 'report.json')]) == 0
    numbers = json.loads((tmp_path / 'report.json').read_text())
    assert numbers['reached'] and numbers['distance_m'] > 1.0
    capsys.readouterr()
    assert main(['recompute', str(bag), '--robot', 'c3p', '--everything', '--json', '-']) == 0
    assert json.loads(capsys.readouterr().out)['samples'] == len(log.joints.time)
    assert main(['calibrate', str(bag), '--robot', 'c3p', '--out', str(tmp_path / 'cal')]) == 0


def test_the_odometry_is_that_of_positions_alone(drive, tmp_path):
    bag = without_rates(drive, tmp_path / 'bag', RATES['empty'])
    found = opened(recompute_bag, bag, 'c3p', everything=True).odometry
    joints = opened(read_run, drive, C3P).joints
    odometry = Odometry(C3P)
    poses = [odometry.step(time, steering, angle).pose for time, steering, angle in zip(
        joints.time, joints.steering, joints.wheel_angle, strict=True)]
    ours = found.numbers
    assert np.allclose(ours[:, :2], np.array(poses)[:, :2], atol=1e-9)
    # and close to that with rates
    with_rates = opened(recompute_bag, drive, 'c3p', everything=True).odometry.numbers
    assert np.abs(ours[-1, :2] - with_rates[-1, :2]).max() < 1e-3
