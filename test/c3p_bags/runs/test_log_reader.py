# SPDX-License-Identifier: Apache-2.0
"""What goes into a bag as arrays comes out of it as arrays, in the model's convention."""

from dataclasses import replace

import numpy as np
import pytest
import synthetic
from robots import C3P
from synthetic import opened

from c3p_bags.report.drive_page import drive_figure
from c3p_bags.runs.log_reader import read_run
from c3p_bags.runs.metrics import drive_metrics
from c3p_bags.runs.run_bag import write_run
from c3p_bags.runs.run_log import Joints, RunLog, Series
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_writer import BagError, BagWriter
from c3p_description.reading.loader import robot_description

# a robot whose encoders count backwards from another zero
ODD = replace(C3P, name='odd', steering_sign=-1.0, steering_zero=[0.1, -0.2, 0.3],
              wheel_sign=[1, -1, 1], torque_limit=1.2)


@pytest.fixture(scope='module')
def run():
    return synthetic.drive(ODD, goal=(0.5, 0.2, 0.3), rate=100.0)


@pytest.fixture(scope='module')
def bag(run, tmp_path_factory):
    path = tmp_path_factory.mktemp('log') / 'bag'
    synthetic.write_bag(path, ODD, run, robot_description('c3p'))
    return path


def test_everything_comes_back(run, bag):
    log = opened(read_run, bag, ODD)
    assert log.start_ns == synthetic.START_NS
    np.testing.assert_allclose(log.joints.time, run['t'], atol=1e-9)
    for name, key in (('steering', 'steering'), ('steering_rate', 'steering_rate'),
                      ('wheel_angle', 'wheel'), ('wheel_rate', 'wheel_rate'),
                      ('wheel_torque', 'torque')):
        np.testing.assert_allclose(getattr(log.joints, name), run[key], atol=1e-12)
    np.testing.assert_allclose(log.odom.pose, run['odom'], atol=1e-12)
    np.testing.assert_allclose(log.odom.twist, run['sensed'], atol=1e-15)
    np.testing.assert_allclose(log.odom.pose_covariance[0], 1e-4 * np.eye(3))
    np.testing.assert_allclose(log.ground_truth.pose, run['pose'], atol=1e-12)
    np.testing.assert_allclose(log.wheel_effort.value, run['torque'], atol=1e-15)
    np.testing.assert_allclose(log.cmd_vel.value, run['cmd'][run['t'] >= run['goal_time']])
    np.testing.assert_allclose(log.slip.residual, run['residual'])
    assert np.array_equal(log.slip.suspect, run['suspect'])
    assert log.odom.frame == 'odom' and log.odom.child_frame == 'base_link'
    assert log.messages['/joint_states'] == len(run['t'])
    assert log.diagnostics[-1].values['cycles'] == str(len(run['t']))
    assert log.diagnostics[-1].level == 0
    (goal,) = log.goals
    np.testing.assert_allclose(goal.pose, run['goal'], atol=1e-12)
    # placed by when it was recorded
    assert goal.time == pytest.approx(run['goal_time'], abs=1e-6)
    assert log.reference_acceleration is None and log.dynamics_effort is None
    assert log.goal_reached is None and log.distance_to_goal is None


def test_wheel_slip_of_an_earlier_version_comes_back(run, tmp_path):
    synthetic.write_bag(tmp_path / 'bag', ODD, run, only=[
        'joint_states', 'sensed_kinematics/wheel_slip'], slip=synthetic.slip_statuses)
    slip = opened(read_run, tmp_path / 'bag', ODD).slip
    np.testing.assert_allclose(slip.residual, run['residual'])
    assert np.array_equal(slip.suspect, run['suspect'])
    assert np.array_equal(slip.confidence, run['suspect'].astype(float))


def test_description_comes_back(bag, tmp_path, run):
    assert '<robot' in opened(Bag.description, bag)
    synthetic.write_bag(tmp_path / 'bare', ODD, run, only=['joint_states'])
    assert opened(Bag.description, tmp_path / 'bare') is None


def test_the_picture_of_a_run(bag, run, tmp_path):
    log = opened(read_run, bag, ODD)
    found = drive_metrics(log, ODD, run['goal'], 0.05)
    files = drive_figure(log, ODD, found, tmp_path / 'new' / 'drive.png')
    assert [f.name for f in files] == ['drive.png', 'drive.pdf']
    assert files[0].read_bytes().startswith(b'\x89PNG') and files[0].stat().st_size > 50_000
    assert files[1].read_bytes().startswith(b'%PDF') and files[1].stat().st_size > 10_000


@pytest.mark.parametrize('only', [
    ['joint_states'], ['joint_states', 'odom'], ['joint_states', 'cmd_vel'],
    ['joint_states', 'odom', 'cmd_vel', 'goal_pose'], ['joint_states', 'ground_truth/odom'],
    ['joint_states', 'sensed_kinematics/wheel_slip', 'diagnostics']])
def test_missing_topics_are_none_and_never_an_error(run, tmp_path, only):
    short = {k: v[:60] if isinstance(v, np.ndarray) and len(v) > 3 else v for k, v in run.items()}
    synthetic.write_bag(tmp_path / 'bag', ODD, short, only=only)
    log = opened(read_run, tmp_path / 'bag', ODD)
    assert (log.odom is None) == ('odom' not in only)
    assert (log.slip is None) == ('sensed_kinematics/wheel_slip' not in only)
    found = drive_metrics(log, ODD, run['goal'], 0.05)
    assert found['reached'] is False
    files = drive_figure(log, ODD, found, tmp_path / 'drive')
    assert all(f.stat().st_size > 0 for f in files)


def test_a_bag_without_joint_states_says_so(run, tmp_path):
    synthetic.write_bag(tmp_path / 'bag', ODD, run, only=['odom'])
    with pytest.raises(BagError, match='no joint_states topic.*odom'):
        opened(read_run, tmp_path / 'bag', ODD)


def test_joint_states_of_another_robot_say_so(bag):
    other = replace(ODD, wheel_joints=('a', 'b', 'c'))
    with pytest.raises(BagError, match='no a, b, c among'):
        opened(read_run, bag, other)


@pytest.mark.parametrize(('spaces', 'found'), [
    (['', '/r1'], ''), (['/r1'], '/r1'), (['/r1', '/r2'], "'/r1', '/r2'"),
    ([], 'no joint_states')])
def test_namespaces(tmp_path, spaces, found):
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add('/odom', 'nav_msgs/msg/Odometry')
        for space in spaces:
            writer.add(f'{space}/joint_states', 'sensor_msgs/msg/JointState')
    with Bag(tmp_path / 'bag') as bag:
        assert [bag.namespace(name) for name in ('', '/', 'r1', '/r1/')] == ['', '', '/r1', '/r1']
        if found in spaces:
            assert bag.namespace() == found
        else:
            with pytest.raises(BagError, match=found):
                bag.namespace()


def test_messages_that_cannot_be_used_are_left_out(tmp_path):
    names = [*ODD.steering_joints, *ODD.wheel_joints]
    start = synthetic.START_NS
    with BagWriter(tmp_path / 'bag') as writer:
        make = synthetic.Messages(writer.types)
        writer.add('/r/joint_states', 'sensor_msgs/msg/JointState')
        writer.add('/r/cmd_vel', 'geometry_msgs/msg/Twist')
        messages = [
            make.joints(start, ['gripper'], [1.0], [0.0]),  # another device on the topic
            make.joints(start + 1, names, [np.nan] * 6, [0.0] * 6),
            make.joints(start + 2, names, [0.0] * 6, [0.0] * 2),  # velocities of some joints
            make.joints(start + 3, names[::-1] + ['gripper'], np.arange(7.0), np.zeros(7)),
            make.joints(start + 10**9, names, np.arange(6.0), np.zeros(6))]
        for k, message in enumerate(messages):
            writer.write_message('/r/joint_states', start + k, message)
        # half a second after the last joint states; a plain Twist has no stamp
        writer.write_message('/r/cmd_vel', start + 4 + 5 * 10**8, make.twist([0.1, 0.2, 0.3]))
    log = opened(read_run, tmp_path / 'bag', ODD)
    assert len(log.joints.time) == 2 and log.start_ns == start + 3
    # the reversed message: joint k is at place 5 − k
    np.testing.assert_allclose(log.joints.wheel_angle[0], [2.0, -1.0, 0.0])
    np.testing.assert_allclose(log.joints.steering[0], [-4.9, -4.2, -2.7])
    assert np.isnan(log.joints.wheel_torque).all()
    np.testing.assert_allclose(log.cmd_vel.value, [[0.1, 0.2, 0.3]])
    assert log.cmd_vel.time[0] == pytest.approx(1.5, abs=1e-6)


def test_efforts_of_steering_motors_come_back(tmp_path):
    powered = replace(ODD, steered=[True, False, True], steering_torque_limit=1.0)
    log = opened(read_run, _bag_of(powered, tmp_path), powered)
    torque = np.arange(6.0) + np.arange(4.0)[:, None]
    np.testing.assert_allclose(log.joints.wheel_torque, torque)
    np.testing.assert_allclose(log.wheel_effort.value, torque)


def _bag_of(robot, folder):
    """Return a bag of four samples at rest, whose torques count up."""
    time, still = 0.01 * np.arange(4.0), np.zeros((4, 3))
    torque = np.arange(6.0) + np.arange(4.0)[:, None]
    log = RunLog(path=folder, start_ns=0, wheel_effort=Series(time, torque),
                 joints=Joints(time, still, still, still, still, torque))
    return write_run(log, robot, folder / 'powered')
