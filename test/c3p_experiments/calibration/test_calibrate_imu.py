# SPDX-License-Identifier: Apache-2.0
"""`c3p calibrate --imu`: frames, axes and messages of IMUs in bags."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from c3p_bags.runs.run_bag import START_NS, write_run
from c3p_bags.runs.run_log import Joints
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_writer import BagWriter
from c3p_bringup.cli.main import main
from c3p_description import load
from c3p_dynamics.identification.excitation import Excitation
from c3p_experiments.identification.excite import simulate_excitation

KIND, STAND, BIAS = 'sensor_msgs/msg/Imu', 4.0, 0.01


@pytest.fixture(scope='module')
def drive(tmp_path_factory):
    """Return the bag of a drive after 4 s of standstill, and its yaw: time and angle."""
    place = tmp_path_factory.mktemp('imu')
    log = simulate_excitation(place / 'moving', excitation=Excitation(16.0))
    step = float(np.median(np.diff(log.joints.time)))
    count = round(STAND / step)
    held = [np.repeat(a[:1], count, 0) * (name not in ('steering_rate', 'wheel_rate'))
            for name, a in zip(Joints._fields[1:], log.joints[1:], strict=True)]
    joints = Joints(np.concatenate([step * np.arange(count), STAND + log.joints.time]),
                    *(np.vstack(pair) for pair in zip(held, log.joints[1:], strict=True)))
    stood = replace(log, joints=joints, odom=None, ground_truth=None, cmd_vel=None,
                    wheel_effort=None)
    write_run(stood, load('c3p'), place / 'joints')
    truth = log.ground_truth
    return (place / 'joints', np.concatenate([[0.0], STAND + truth.time]),
            np.concatenate([truth.pose[:1, 2], truth.pose[:, 2]]))


@pytest.fixture
def with_imu(drive, tmp_path):
    """Return a function that adds an IMU to the bag and returns the path."""
    joints, time, yaw = drive

    def add(frame='base_link', axis=2, sign=1.0, covariance=0.0, until=math.inf):
        with Bag(joints) as bag, BagWriter(tmp_path / 'bag') as writer:
            writer.note(bag.notes)
            types = writer.types.types
            for name, topic in bag.topics.items():
                writer.add(name, topic.kind)
            writer.add('/imu/data', KIND)
            for one in bag.raw():
                writer.write(one.topic, one.time, one.data)
            at = np.arange(0.0, time[-1], 0.01)
            rates = np.gradient(np.interp(at, time, yaw), at) + BIAS
            for t, rate in zip(at, rates, strict=True):
                ns = START_NS + round(1e9 * float(t))
                turn = np.full(3, 0.001)
                turn[axis] = sign * rate if t < until else math.nan
                stamp = types['builtin_interfaces/msg/Time'](ns // 10**9, ns % 10**9)
                vector, nine = types['geometry_msgs/msg/Vector3'], np.zeros(9)
                writer.write_message('/imu/data', ns, types[KIND](
                    types['std_msgs/msg/Header'](stamp, frame),
                    types['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0),
                    np.array([-1.0, *nine[1:]]), vector(*turn),
                    np.array([covariance, *nine[1:]]), vector(0.0, 0.0, 9.81), nine))
        return tmp_path / 'bag'

    return add


def run(bag, tmp_path, *words):
    return main(['calibrate', str(bag), '--out', str(tmp_path / 'out'), '--json',
                 str(tmp_path / 'c.json'), '--imu', 'imu/data', *words])


@pytest.mark.parametrize(('options', 'words'), [
    ({}, ()), ({'frame': 'imu_link', 'axis': 0, 'sign': -1.0}, ('--imu-axis', 'x-down'))])
def test_the_yaw_of_an_imu_is_a_reference(with_imu, tmp_path, capsys, options, words):
    assert run(with_imu(**options), tmp_path, *words) == 0
    metrics = json.loads((tmp_path / 'c.json').read_text(encoding='utf-8'))
    found, = metrics['imu']['bags']
    assert found['standstill_s'] == pytest.approx(STAND, abs=0.6)
    assert found['bias_rad_s'] == pytest.approx(BIAS, abs=1e-4)
    # the robot is as described
    assert found['ratio_to_described'] == pytest.approx(1.0, abs=2e-3)
    assert metrics['references']['count'] == 1 and metrics['references']['largest_after'] < 3.0
    assert 's of standstill' in capsys.readouterr().out


@pytest.mark.parametrize(('options', 'words', 'named'), [
    ({'frame': 'imu_link'}, (), "'imu_link'"), ({'sign': -1.0}, (), 'must be 0.9 to 1.1'),
    ({}, ('--imu-axis', 'up'), 'must be one of'), ({'covariance': -1.0}, (), 'is -1'),
    ({}, ('--imu', 'other'), 'it has /imu/data'), ({'until': 3.0}, (), 'no turn')])
def test_an_imu_that_cannot_be_used_is_refused(with_imu, tmp_path, capsys, options, words, named):
    assert run(with_imu(**options), tmp_path, *words) == 2
    assert named in capsys.readouterr().err


def test_options_of_an_imu_without_its_topic_are_refused(drive, tmp_path, capsys):
    assert main(['calibrate', str(drive[0]), '--imu-scale-std', '0.1', '--out',
                 str(tmp_path)]) == 2
    assert '--imu' in capsys.readouterr().err
