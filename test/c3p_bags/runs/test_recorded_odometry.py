# SPDX-License-Identifier: Apache-2.0
"""The odometry of a running node against the same, computed from what was recorded of it."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from synthetic import opened  # noqa: E402

from c3p_bags.recorder.recorder_node import RecorderNode  # noqa: E402
from c3p_bags.runs.recompute_bag import recompute_bag  # noqa: E402
from c3p_description.reading.loader import load_casters  # noqa: E402
from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode  # noqa: E402
from c3p_ros.schema import read_schema  # noqa: E402

ROBOT = load_casters('c3p')
SAMPLES = 120
SCHEMA = Path(__file__).parents[3] / 'c3p_kinematics/sensed_kinematics_parameters.yaml'


def uneven(k, spin=0.0):
    """Return steering and wheel angles of wheels that roll unevenly; later the first spins."""
    late = max(k - SAMPLES // 2, 0)
    return (0.3 * np.sin(0.02 * k + np.arange(3)),
            0.01 * k + 0.002 * np.sin(0.1 * k + np.arange(3)) + [spin * late, 0.0, 0.0])


def wrong_encoder(k):
    """Return steering and wheel angles of a straight drive; later an encoder is off by 0.3 rad."""
    return np.array([0.0, 0.3 * (k > SAMPLES // 2), 0.0]), np.full(3, 0.02 * k)


def drive(bench, publisher, first, motion=uneven):
    """Send samples of a motion, as fast as they are taken."""
    for k in range(first, first + SAMPLES):
        steering, angle = motion(k)
        message = JointState(
            name=[*ROBOT.steering_joints, *ROBOT.wheel_joints],
            position=[*steering, *angle],
            velocity=[0.1, 0.2, 0.3, 2.0, 2.1, 2.2])
        message.header.stamp = bench.now()
        publisher.publish(message)
        for _ in range(5):
            bench.spin_once()


def test_recorded_and_recomputed_odometry_are_equal_to_the_last_bit(bench, tmp_path):
    # other parameters than the defaults, so that those in the bag are needed
    bench.add(SensedKinematicsNode, wheel_counts=1024, rate_noise_std=0.02)
    recorder = bench.add(RecorderNode, bag=str(tmp_path / 'bag'), frames='never')
    publisher = bench.publisher(JointState, 'joint_states')
    bench.wait_for(lambda: publisher.get_subscription_count() == 2, 'both to listen')
    drive(bench, publisher, 0)
    bench.call(Trigger, 'sensed_kinematics/reset_odometry')
    drive(bench, publisher, SAMPLES)
    counts = recorder.writer.counts
    bench.wait_for(lambda: counts['/recorder/parameters'] and counts['/odom'], 'the recording')
    bench.wait_for(lambda: counts['/joint_states'] == 2 * SAMPLES, 'all samples')
    recorder.close()
    found = opened(recompute_bag, tmp_path / 'bag')
    assert found.known and found.parameters['wheel_counts'] == 1024
    # a computer that stood still for 0.2 s makes the node refuse a sample, and the run does, too
    assert found.agreement.compared == counts['/odom'] > SAMPLES
    assert found.agreement.identical == found.agreement.compared
    assert len(found.odometry.resets) == 1
    assert found.odometry.refused == 2 * SAMPLES - counts['/odom']


# of slip, plausibility and faults; of each some that decide what happens in the drive
THRESHOLDS = {
    'alarm.false_alarm': 1e-3, 'alarm.clear_fraction': 0.5, 'slip.time_constant': 0.05,
    'slip.noise_std': 0.004, 'slip.persistence': 0.05, 'slip.isolated': 0.7,
    'grip.acceleration': 3.0, 'grip.noise': 0.02, 'faults.time_constant': 0.03,
    'faults.persistence': 0.02, 'faults.creep': 0.01}


# 0.1 m/s at once: beyond the friction of these thresholds, within that of the defaults
@pytest.mark.parametrize('motion, groups', [
    (partial(uneven, spin=0.0125), ('alarm', 'slip', 'grip')), (wrong_encoder, ('faults',))])
def test_a_drive_with_other_thresholds_is_recomputed_to_the_last_bit(bench, tmp_path, motion,
                                                                     groups):
    # samples of one instant with exact stamps: each step is judged alone
    node = bench.add(SensedKinematicsNode, stamp_jitter=0.0, sample_skew=0.0, **THRESHOLDS)
    recorder = bench.add(RecorderNode, bag=str(tmp_path / 'bag'), frames='never')
    publisher = bench.publisher(JointState, 'joint_states')
    bench.wait_for(lambda: publisher.get_subscription_count() == 2, 'both to listen')
    drive(bench, publisher, 0, motion)
    counts = recorder.writer.counts
    bench.wait_for(lambda: counts['/recorder/parameters'] and counts['/odom'], 'the recording')
    bench.wait_for(lambda: counts['/joint_states'] == SAMPLES, 'all samples')
    recorder.close()
    used = node._odometry.settings
    assert used.slip.false_alarm == used.faults.false_alarm == 1e-3
    assert used.slip.clear_fraction == used.faults.clear_fraction == 0.5
    found = opened(recompute_bag, tmp_path / 'bag')
    assert {name: found.parameters[name] for name in THRESHOLDS} == THRESHOLDS
    assert found.agreement.identical == found.agreement.compared == counts['/odom'] > 100
    # they have an effect on this drive, or the comparison would show nothing
    schema = read_schema(SCHEMA)
    for group in groups:
        usual = {name: schema[name]['default_value'] for name in THRESHOLDS
                 if name.startswith(group)}
        other = opened(recompute_bag, tmp_path / 'bag', changes=usual)
        assert other.agreement.identical < other.agreement.compared, group


# of the errors of tyres and of the times of the joints
ERRORS = {'tyre_creep': 0.03, 'side_slip': 0.001, 'sample_skew': 0.004}


def test_a_drive_with_other_errors_of_tyres_and_times_is_recomputed_to_the_last_bit(bench,
                                                                                   tmp_path):
    node = bench.add(SensedKinematicsNode, **ERRORS)
    recorder = bench.add(RecorderNode, bag=str(tmp_path / 'bag'), frames='never')
    publisher = bench.publisher(JointState, 'joint_states')
    bench.wait_for(lambda: publisher.get_subscription_count() == 2, 'both to listen')
    drive(bench, publisher, 0)
    counts = recorder.writer.counts
    bench.wait_for(lambda: counts['/recorder/parameters'] and counts['/odom'], 'the recording')
    bench.wait_for(lambda: counts['/joint_states'] == SAMPLES, 'all samples')
    recorder.close()
    used = node._odometry.settings
    assert (used.tyre_creep, used.side_slip) == (0.03, 0.001)
    found = opened(recompute_bag, tmp_path / 'bag')
    assert {name: found.parameters[name] for name in ERRORS} == ERRORS
    assert found.agreement.identical == found.agreement.compared == counts['/odom'] > 100
    # they have an effect on this drive, or the comparison would show nothing
    for name in ('tyre_creep', 'side_slip'):
        usual = read_schema(SCHEMA)[name]['default_value']
        other = opened(recompute_bag, tmp_path / 'bag', changes={name: usual})
        assert other.agreement.identical < other.agreement.compared, name
