# SPDX-License-Identifier: Apache-2.0
"""The simulated robot as a node, with contact, encoders, lost samples and errors."""

import sys

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
pytest.importorskip('mujoco', reason='pip install .[sim]')

from nav_msgs.msg import Odometry  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_simulation.make_plant import PLANTS  # noqa: E402
from c3p_simulation.simulation_node import SimulationNode  # noqa: E402

LOCKSTEP = {'lockstep': True, 'publish_clock': True}


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


def test_contact_plant_tells_counts_and_stands_still(bench):
    joints = bench.collect(JointState, 'joint_states')
    truth = bench.collect(Odometry, 'ground_truth/odom')
    node = bench.add(SimulationNode, plant='mujoco', start_steering=[0.3])
    bench.wait_for(lambda: len(joints) > 50 and len(truth) > 50, 'messages')
    assert node.plant.settings == PLANTS['mujoco']
    counts = np.array(joints[0].position[:3]) * 4096 / (2 * np.pi)
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-6)
    # parked: nm, not bits
    assert abs(truth[-1].pose.pose.position.x) < 1e-9


def test_lost_samples_are_not_published_and_lockstep_goes_on(bench):
    joints = bench.collect(JointState, 'joint_states')
    node = bench.add(SimulationNode, plant='analytic', sensors='encoders', dropout=0.4, **LOCKSTEP)
    publisher, answered = bench.publisher(JointState, 'wheel_effort'), []

    def answer():
        """Answer each cycle as a controller would."""
        while len(answered) < len(joints):
            message = JointState(name=node.robot.wheel_joints, effort=[0.0] * 3)
            message.header.stamp = joints[len(answered)].header.stamp
            publisher.publish(message)
            answered.append(message)
        return node.cycles > 100

    bench.wait_for(answer, '100 cycles', 20.0)
    # some 40 of 100 are missing, and the stamps of the others are whole cycles
    assert 0.4 * node.cycles < len(joints) < 0.8 * node.cycles
    steps = np.diff([seconds(m.header.stamp) for m in joints]) / 0.005
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-5)
    assert steps.min() > 0.5 and steps.max() > 1.5


def answered(bench, node, joints, cycles):
    """Run a lockstep of a number of cycles with a controller that answers each sample."""
    publisher, done = bench.publisher(JointState, 'wheel_effort'), []

    def answer():
        while len(done) < len(joints):
            # zero commands open the gate
            effort = [0.1 if len(done) > 5 else 0.0] * 3
            message = JointState(name=node.robot.wheel_joints, effort=effort)
            message.header.stamp = joints[len(done)].header.stamp
            publisher.publish(message)
            done.append(message)
        return node.cycles > cycles

    bench.wait_for(answer, f'{cycles} cycles', 40.0)


def stated(tmp_path, text):
    """Return the path of a file with settings of sensors."""
    file = tmp_path / 'sensors.yaml'
    file.write_text(text)
    return f'{file}'


def test_batches_are_published_one_by_one_with_their_own_stamps(bench, tmp_path):
    joints = bench.collect(JointState, 'joint_states')
    node = bench.add(SimulationNode, sensors=stated(tmp_path, 'timing: {batch: [3, 3]}'),
                     **LOCKSTEP)
    answered(bench, node, joints, 60)
    # lockstep goes on without an answer until the batch is complete, and no sample is missing
    assert len(joints) == pytest.approx(node.cycles, abs=3)
    stamps = np.array([seconds(m.header.stamp) for m in joints])
    np.testing.assert_allclose(np.diff(stamps), 0.005, atol=1e-6)
    assert node.pace.answered > 15 and node.plant.truth().twist.any()


def test_stamps_are_those_that_the_robot_states_and_the_truth_has_its_own(bench, tmp_path):
    joints = bench.collect(JointState, 'joint_states')
    truth = bench.collect(Odometry, 'ground_truth/odom')
    sensors = stated(tmp_path, 'timing: {stamp_jitter: 0.001, clock_drift: -0.24}')
    node = bench.add(SimulationNode, sensors=sensors, **LOCKSTEP)
    answered(bench, node, joints, 400)
    stamps = np.array([seconds(m.header.stamp) for m in joints])
    steps = np.diff(stamps)
    assert steps.std() > 5e-4 and steps.mean() == pytest.approx(0.76 * 0.005, rel=0.05)
    true = np.diff([seconds(m.header.stamp) for m in truth])
    np.testing.assert_allclose(true, 0.005, atol=1e-6)
    # 0.5 s behind, and still no command counts as late: it answers the stamps
    assert node._gate.reason == '' and node.pace.answered > 390


def test_a_robot_that_states_no_rates_publishes_none(bench, tmp_path):
    joints = bench.collect(JointState, 'joint_states')
    bench.add(SimulationNode, sensors=stated(tmp_path, 'rates: false'), start_steering=[0.3])
    bench.wait_for(lambda: len(joints) > 5, 'joints')
    assert len(joints[-1].velocity) == 0
    assert len(joints[-1].position) == len(joints[-1].effort) == 6


def test_a_robot_that_falls_over_ends_the_node(bench):
    node = bench.add(SimulationNode, plant='mujoco')
    node.plant.push((0.0, 5000.0), 0.0, 1.0)
    with pytest.raises(ValueError, match='fallen over'):
        bench.run(1.0)


def test_whatever_ends_the_thread_that_moves_time_ends_the_node(bench, monkeypatch):
    node = bench.add(SimulationNode)

    def step(torque, dt):
        raise ArithmeticError('no solution')

    monkeypatch.setattr(node.plant, 'step', step)
    with pytest.raises(ArithmeticError, match='no solution'):
        bench.run(1.0)


@pytest.mark.parametrize(('wrong', 'words'), [
    ({'slope': 0.1}, 'slope'), ({'friction': 0.0}, 'friction'), ({'sensors': 'none'}, 'sensors'),
    ({'dropout': 1.0}, 'dropout'), ({'latency': -0.1}, 'latency')])
def test_parameters_that_cannot_be_are_refused(bench, wrong, words):
    with pytest.raises(ValueError, match=words):
        bench.add(SimulationNode, **wrong)


def test_without_mujoco_the_node_names_the_remedy(bench, monkeypatch):
    monkeypatch.setitem(sys.modules, 'mujoco', None)
    with pytest.raises(ValueError, match=r'pip install .*\[sim\]'):
        bench.add(SimulationNode, plant='mujoco')
