# SPDX-License-Identifier: Apache-2.0
"""The tricycle as a node: what it publishes, how it is driven, where it ends."""

import math

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import Twist  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from c3p_description.pvc_model import JOINTS  # noqa: E402
from c3p_ros import node  # noqa: E402
from c3p_ros.exchange import Exchange  # noqa: E402
from c3p_rough_ground.node.rough_ground_node import RoughGroundNode  # noqa: E402
from c3p_rough_ground.worlds.terrain_files import load_terrain  # noqa: E402

# the first of these tests on a computer compiles the kernels: a minute of work, more when shared
pytestmark = pytest.mark.timeout(400)

# wheels that lean so little meet their stops where the plateau begins to rise
NARROW = 'extends: pvc_tricycle\nname: narrow\nlimits: {camber: 0.01}\n'


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


def place(message):
    at = message.pose.pose.position
    return np.array([at.x, at.y, at.z])


def speed(message):
    return np.linalg.norm([getattr(message.twist.twist.linear, axis) for axis in 'xyz'])


def test_it_drives_by_itself_and_tells_where_it_is(bench):
    joints, odom = bench.collect(JointState, 'joint_states', 50), bench.collect(
        Odometry, 'odom', 50)
    bench.add(RoughGroundNode, terrain='hills', start_pose=[1.0, -0.5, 0.3])
    bench.wait_for(lambda: len(odom) > 20 and np.linalg.norm(
        place(odom[-1]) - place(odom[0])) > 0.1, 'a way of 0.1 m')
    assert all(m.name == list(JOINTS) and len(m.position) == len(m.velocity) == 6
               and not m.effort for m in joints)
    stamps = np.array([seconds(m.header.stamp) for m in joints])
    # a busy machine may make up several periods in one step, but whole ones; stamps are told to
    # 0.2 µs by floats that count seconds since 1970
    steps = np.diff(stamps) * 100.0
    assert (np.round(steps) >= 1).all() and np.abs(steps - np.round(steps)).max() < 1e-3
    assert abs(seconds(bench.now()) - stamps[-1]) < 5.0
    # odometry belongs to joint states of the same stamp; a full queue may have dropped some
    assert len({seconds(m.header.stamp) for m in odom} & set(stamps)) > len(odom) / 2
    last = odom[-1]
    assert (last.header.frame_id, last.child_frame_id) == ('odom', 'base_link')
    turn = last.pose.pose.orientation
    assert turn.x**2 + turn.y**2 + turn.z**2 + turn.w**2 == pytest.approx(1.0, abs=1e-12)
    assert 0.1 < speed(last) < 0.5
    # on the ground and leaning with it: the platform is a wheel's radius above, within its tilt
    ground = float(load_terrain('hills').height(last.pose.pose.position.x,
                                                last.pose.pose.position.y))
    assert 0.1 < last.pose.pose.position.z - ground < 0.6
    bench.wait_for(lambda: bench.value('rough_ground', 'driven by') == 'autodrive', 'figures')


def test_commands_drive_it_and_bad_or_old_ones_stop_it(bench):
    odom, joints = bench.collect(Odometry, 'odom', 50), bench.collect(
        JointState, 'joint_states', 50)
    bench.add(RoughGroundNode, terrain='flat', autodrive=False)
    bench.wait_for(lambda: odom, 'odometry')
    first = place(odom[0])
    bench.wait_for(lambda: bench.value('rough_ground', 'driven by') == 'waiting for cmd_vel',
                   'the figure')
    assert (place(odom[-1]) == first).all()
    bench.command_until(lambda: speed(odom[-1]) > 0.25 and joints[-1].position[0] > 0.2,
                        'driving and steering', 0.3, 0.0, 0.1)
    # on flat ground, and while the wheels are upright, it turns as the steering of now says
    steering = {seconds(m.header.stamp): m.position[0] for m in joints}
    for message in odom:
        if (angle := steering.get(seconds(message.header.stamp))) is not None:
            twist = message.twist.twist
            assert twist.angular.z == pytest.approx(twist.linear.x * math.tan(angle) / 1.2,
                                                    rel=0.05, abs=5e-3)
    bench.command_until(lambda: bench.nodes['rough_ground'].diagnostics.refused('cmd_vel')
                        and speed(odom[-1]) == 0.0, 'a stop', math.nan, 0.0, 0.0)
    assert 'nan' in bench.nodes['rough_ground'].diagnostics.status().message
    bench.command_until(lambda: speed(odom[-1]) > 0.1, 'driving again', 0.3, 0.0, 0.0)
    bench.wait_for(lambda: 'stale' in (bench.value('rough_ground', 'driven by') or ''),
                   'silence noticed')
    bench.wait_for(lambda: speed(odom[-1]) == 0.0, 'standing still')


def test_plain_twists_are_taken_when_asked_for(bench):
    odom = bench.collect(Odometry, 'odom', 10, keep=1)
    bench.add(RoughGroundNode, terrain='flat', autodrive=False, use_stamped_vel=False)
    message = Twist()
    message.linear.x = -0.2
    publisher = bench.publisher(Twist, 'cmd_vel')
    bench.publish_until(publisher, message,
                        lambda: odom and odom[-1].twist.twist.linear.x < -0.1, 'going back')


def test_it_ends_with_a_reason_stands_and_begins_anew(bench, tmp_path):
    path = tmp_path / 'narrow.yaml'
    path.write_text(NARROW)
    joints, odom, clock = (bench.collect(kind, topic, 10, keep=1) for kind, topic in (
        (JointState, 'joint_states'), (Odometry, 'odom'), (Clock, '/clock')))
    node = bench.add(RoughGroundNode, robot=str(path), terrain='plateau_20deg',
                     start_pose=[1.5, 0.0, 0.0], drive_rate=3.0, publish_clock=True)
    bench.wait_for(lambda: node.run.ended, 'the stop of a camber joint')
    bench.wait_for(lambda: 'rough_ground' in bench.health and 'camber_joint' in bench.health[
        'rough_ground'].message, 'the reason')
    health = bench.health['rough_ground']
    assert health.level == DiagnosticStatus.ERROR and '~/restart' in health.message
    # the last state is published on; messages from before may still be in the queue
    bench.wait_for(lambda: clock and speed(odom[-1]) == 0.0, 'odometry of standing')
    begin, there = seconds(odom[-1].header.stamp), place(odom[-1])
    bench.wait_for(lambda: seconds(odom[-1].header.stamp) > begin + 0.5, 'later odometry')
    assert (place(odom[-1]) == there).all() and speed(odom[-1]) == 0.0
    bench.wait_for(lambda: not any(joints[-1].velocity), 'joints at rest')
    assert bench.set_parameter('rough_ground', 'drive_rate', 0.0).successful
    assert bench.call(Trigger, 'rough_ground/restart').success
    bench.wait_for(lambda: (place(odom[-1])[:2] == [1.5, 0.0]).all(), 'the start')
    bench.wait_for(lambda: bench.health['rough_ground'].message == 'OK', 'an end of the alarm')
    assert not node.run.ended


def test_parameters_that_may_change_take_effect(bench):
    odom = bench.collect(Odometry, 'odom', 10, keep=1)
    bench.add(RoughGroundNode, terrain='flat', drive_rate=0.0)
    assert bench.set_parameter('rough_ground', 'drive_rate', 2.0).successful
    # 2 rad/s on 0.3 m
    bench.wait_for(lambda: odom and speed(odom[-1]) == pytest.approx(0.6, abs=1e-6), '0.6 m/s')
    assert not bench.set_parameter('rough_ground', 'camber_gain', -1.0).successful


@pytest.mark.parametrize('wrong, words', [
    ({'realtime_factor': 2.0}, 'publish_clock'), ({'robot': 'c3p'}, 'give pvc_tricycle'),
    ({'robot_description': '<robot/>'}, 'name it with robot'), ({'terrain': 'sea'}, 'sea'),
    ({'start_pose': [0.0, 0.0]}, 'start_pose'), ({'weights': [0.0] * 6}, 'weights')])
def test_parameters_that_cannot_be_are_refused(bench, wrong, words):
    with pytest.raises(ValueError, match=words):
        bench.add(RoughGroundNode, **wrong)


def test_transforms_in_space_hold_all_seven_numbers(monkeypatch):
    class Publisher:
        def get_subscription_count(self):
            return 1

    class Node:
        def create_publisher(self, kind, topic, depth):
            sent.append(topic)
            return Publisher()

        def publish(self, publisher, message):
            sent.append(message)

        # between turns it calls at once
        exchange = Exchange()

    class Transforms:
        def __init__(self, transforms):
            self.transforms = transforms

    sent = []
    # tf2_msgs comes with a ROS 2 installation only
    monkeypatch.setattr(node, 'TFMessage', Transforms)
    publisher = node.TransformPublisher(Node())
    publisher.send_spatial(3_000_000_001, [1, 2, 3, 0.1, 0.2, 0.3, 0.9], 'odom', 'base_link')
    publisher.send(4, np.array([1.0, 2.0, math.pi]), 'odom', 'base_footprint')
    topic, space, plane = sent
    move, = space.transforms
    assert topic == '/tf' and (move.header.frame_id, move.child_frame_id) == ('odom', 'base_link')
    assert (move.header.stamp.sec, move.header.stamp.nanosec) == (3, 1)
    at, turn = move.transform.translation, move.transform.rotation
    assert (at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w) == (1, 2, 3, 0.1, 0.2, 0.3, 0.9)
    flat, = plane.transforms
    assert flat.transform.translation.z == 0.0
    assert flat.transform.rotation.z == pytest.approx(1.0)
