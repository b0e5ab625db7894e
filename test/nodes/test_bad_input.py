# SPDX-License-Identifier: Apache-2.0
"""Whatever arrives at any subscriber: nodes live, torques stay sane, the reason is told."""

import math
import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from bad_messages import (  # noqa: E402
    BAD,
    JUNK,
    TOPICS,
    bad_plain_twists,
    efforts,
    joints,
    put,
    stamped,
)
from fuzz import random_message  # noqa: E402
from geometry_msgs.msg import AccelStamped, Twist, TwistStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from ros_bench import Bench  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from c3p_controller.position_controller_node import PositionControllerNode  # noqa: E402
from c3p_controller.velocity_controller_node import VelocityControllerNode  # noqa: E402
from c3p_description import load  # noqa: E402

LIMIT = load('c3p').torque_limit
QUIET = 0.02
# reasons that lie in the stamp itself
STAMP_WORDS = ('stale', 'future', 'zero', 'out of order', 'same stamp')


@pytest.fixture(scope='module', params=['mpc'])
def robot(request):
    """One robot for all: a node that a message has harmed stays harmed for the tests after it."""
    bench = Bench()
    # the talker publishes beside the robot's own nodes, which is a fault of its own
    bench.add_robot(request.param, **{name: {'sole_publisher': False} for name in (
        'simulation', 'sensed_kinematics', 'velocity_controller')})
    bench.applied = bench.collect(JointState, 'joint_states')
    bench.wait_until_unlocked()
    yield bench
    bench.close()


def check_torques(bench):
    """Every torque that the controller sent and that the motors gave is finite and limited."""
    sent = [m.effort for m in bench.effort if m.header.frame_id != JUNK]
    given = [m.effort[3:] for m in bench.applied if m.header.frame_id != JUNK]
    assert len(sent) > 10 and len(given) > 10
    for torques in (np.array(sent), np.array(given)):
        assert np.all(np.isfinite(torques)) and np.all(np.abs(torques) <= LIMIT * (1 + 1e-12))
    bench.effort.clear()
    bench.applied.clear()


def check_still_follows(bench):
    """Good messages move the robot, and silence stops it."""
    bench.wait_for(lambda: bench.speed() < QUIET, 'rest')
    before = bench.pose()
    bench.let_go_and_move(0.0, 0.2, 0.0, speed=0.05)
    bench.wait_for(lambda: bench.speed() < QUIET, 'stopping')
    assert np.all(np.isfinite(bench.pose())) and np.linalg.norm(bench.pose() - before) < 1.0


def refused_with(bench, nodes, topic, word, count):
    """True when each node has refused `topic` more often than before, with this word."""
    return all(bench.nodes[n].diagnostics.refused(topic) > count[n]
               and word in bench.nodes[n].diagnostics.status().message for n in nodes)


# what the law of the wheels is given, with each kind of law; the rest with one
@pytest.mark.parametrize('robot, case', [
    *(('mpc', case) for case in TOPICS),
    ('paper', 'joint_states'), ('paper', 'odom')], indirect=['robot'], scope='module')
def test_a_bad_message_is_refused_with_its_reason_and_harms_nothing(robot, case):
    topic, kind, cases, nodes = TOPICS[case]
    publisher = robot.publisher(kind, topic)
    short = topic.split('/')[-1]
    for message, word in cases(robot.now):
        count = {n: robot.nodes[n].diagnostics.refused(short) for n in nodes}
        robot.publish_until(
            publisher, message, lambda n=nodes, w=word, c=count: refused_with(
                robot, n, short, w, c), f'{topic} refused by {nodes} with {word!r}',
            # a little ahead, so that it is not older than what has been used meanwhile
            None if word in STAMP_WORDS else lambda: robot.now(0.01))
    robot.wait_for(lambda: all(f'{short} refused' in robot.health[n].message for n in nodes),
                   '/diagnostics', 3.0)
    check_torques(robot)
    check_still_follows(robot)


def test_bad_commands_while_driving_do_not_disturb_the_drive(robot):
    """Good commands at 50 Hz, ten times as many bad ones between them."""
    publisher = robot.publisher(TOPICS['cmd_vel'][1], 'cmd_vel', 10)
    robot.command_until(lambda: robot.speed() > 0.15, 'moving', 0.0, 0.2, 0.0)
    bad, begin = [], time.monotonic()

    def more():
        seconds = time.monotonic() - begin
        if not bad:
            bad.extend(m for m, _ in TOPICS['cmd_vel'][2](robot.now))
        # not right behind a good one: of two in a queue of one, the later is left
        if 0.006 < time.monotonic() - robot.commanded < 0.016:
            publisher.publish(bad.pop())
        assert robot.speed() > 0.05
        return seconds > 1.0

    robot.command_until(more, 'a second of bad commands', 0.0, 0.2, 0.0)
    check_torques(robot)
    check_still_follows(robot)


def test_a_bad_answer_of_the_inverse_dynamics_is_refused(bench):
    """An answer counts only with the stamp that was asked with, so the test plays the chain."""
    node = bench.add(VelocityControllerNode, controller='paper')
    joint_pub, odom_pub = (bench.publisher(kind, topic) for kind, topic in (
        (JointState, 'joint_states'), (Odometry, 'odom')))
    answers = bench.publisher(JointState, 'dynamics_effort')
    asked = bench.collect(AccelStamped, 'reference_acceleration')
    sent = bench.collect(JointState, 'wheel_effort')
    for effort in [[value, 0.0, 0.0] for value in BAD] + [[0.0], []]:
        stamp, count = bench.now(), node.diagnostics.refused('dynamics_effort')
        asked.clear()
        joint_pub.publish(joints(stamp))
        odom_pub.publish(stamped(Odometry, stamp))
        bench.wait_for(lambda: asked, 'the question')
        answers.publish(efforts(asked[0].header.stamp, effort))
        bench.wait_for(lambda c=count: node.diagnostics.refused('dynamics_effort') > c, 'refusal')
        assert 'dynamics_effort refused: effort' in node.diagnostics.status().message
        assert not sent
    # the same question can still be answered well
    answers.publish(efforts(asked[0].header.stamp, [0.0, 0.0, 0.0]))
    bench.wait_for(lambda: sent, 'the torque')


def test_a_refused_pose_does_not_make_the_next_one_late(bench):
    """The position controller orders what it uses, not what it refuses."""
    node = bench.add(PositionControllerNode)
    publisher = bench.publisher(Odometry, 'odom')
    commands = bench.collect(TwistStamped, 'cmd_vel')
    refused = put(stamped(Odometry, bench.now(0.05), 'odom'), 'pose.pose.position.x', math.nan)
    bench.publish_until(publisher, refused, lambda: node.diagnostics.refused('odom'), 'refusal')
    count = node.diagnostics.refused('odom')
    # before the refused one, and good
    good = stamped(Odometry, bench.now(0.02), 'odom', child_frame_id='base_link')
    publisher.publish(good)
    bench.run(0.1)
    assert node.diagnostics.refused('odom') == count, node.diagnostics.status().message
    bench.goal(0.5, 0.0, 0.0)
    bench.publish_until(publisher, good, lambda: commands, 'a command', lambda: bench.now(0.03))


def test_repeated_and_reordered_stamps_are_used_once(robot):
    heard = robot.collect(JointState, 'joint_states', keep=20)
    publisher = robot.publisher(JointState, 'joint_states')
    robot.wait_for(lambda: len(heard) == 20, 'joint states')
    node = robot.nodes['sensed_kinematics'].diagnostics
    again = list(heard)[-10:]
    for message in [*again, *reversed(again)]:
        message.header.frame_id = JUNK
        count = node.refused('joint_states')
        robot.publish_until(publisher, message, lambda c=count: node.refused('joint_states') > c,
                            'refusal')
        # on a machine that stands still for a moment they grow too old as well
        assert any(word in node.status().message
                   for word in ('same stamp', 'out of order', 'stale'))
    check_torques(robot)
    check_still_follows(robot)


@pytest.mark.parametrize('robot, size', [('mpc', 1e6), ('mpc', 1.7e308),
                                         ('paper', 1e6)], indirect=['robot'],
    scope='module')
def test_huge_finite_numbers_give_finite_limited_torques(robot, size):
    bad = [(TOPICS['joint_states'], joints(robot.now(), position=[size] * 6)),
           (TOPICS['joint_states'], joints(robot.now(), velocity=[-size] * 6)),
           (TOPICS['wheel_effort'], efforts(robot.now(), [size, -size, 0.0]))]
    for (topic, kind, *_), message in bad:
        message.header.stamp = robot.now()
        robot.publisher(kind, topic).publish(message)
        robot.run(0.05)
    end = time.monotonic() + 0.2
    robot.command_until(lambda: time.monotonic() > end, 'huge commands', size, -size, size)
    check_torques(robot)
    check_still_follows(robot)


@pytest.mark.parametrize('robot', ['mpc', 'paper'], indirect=True, scope='module')
def test_some_thousand_random_messages_leave_a_robot_that_follows(robot):
    rng, sent, end = np.random.default_rng(20240711), 0, time.monotonic() + 3.0
    kinds = {topic: kind for topic, kind, *_ in TOPICS.values()}
    # what nobody listens to harms nobody
    if robot.nodes['velocity_controller'].parameters.value.controller == 'paper':
        del kinds['reference_trajectory']
        kinds['dynamics_effort'] = JointState
    publishers = {topic: robot.publisher(kind, topic) for topic, kind in kinds.items()}
    names = sorted(publishers)

    def more():
        nonlocal sent
        for _ in range(3):
            topic = names[rng.integers(len(names))]
            publishers[topic].publish(random_message(rng, topic, robot.now))
            sent += 1
        return time.monotonic() > end or sent >= 2500

    robot.command_until(more, 'random messages', 0.0, 0.1, 0.0)
    assert sent >= 1000
    check_torques(robot)
    # a random goal may have been good: nobody drives to it any more
    robot.call(Trigger, 'position_controller/cancel')
    check_still_follows(robot)
    assert all(math.isfinite(v) for v in robot.pose())


def test_unstamped_commands_that_are_not_finite_are_refused(bench):
    node = bench.add(VelocityControllerNode, use_stamped_vel=False)
    publisher = bench.publisher(Twist, 'cmd_vel')
    for message, word in bad_plain_twists(bench.now):
        count = {'velocity_controller': node.diagnostics.refused('cmd_vel')}
        bench.publish_until(publisher, message, lambda w=word, c=count: refused_with(
            bench, c, 'cmd_vel', w, c), word)
