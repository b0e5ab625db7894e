# SPDX-License-Identifier: Apache-2.0
"""The odometry of a running node against the same, computed from what was recorded of it."""

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

ROBOT = load_casters('c3p')
SAMPLES = 120


def drive(bench, publisher, first):
    """Send samples of wheels that roll unevenly, as fast as they are taken."""
    for k in range(first, first + SAMPLES):
        angle = 0.01 * k + 0.002 * np.sin(0.1 * k + np.arange(3))
        message = JointState(
            name=[*ROBOT.steering_joints, *ROBOT.wheel_joints],
            position=[*(0.3 * np.sin(0.02 * k + np.arange(3))), *angle],
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
