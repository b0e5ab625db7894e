# SPDX-License-Identifier: Apache-2.0
"""The velocity controller node with the papers' law, and a test in the place of its chain."""

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from bad_messages import efforts, joints, stamped  # noqa: E402
from geometry_msgs.msg import AccelStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_controller.velocity_controller_node import VelocityControllerNode  # noqa: E402
from c3p_ros.exchange import Exchange  # noqa: E402


class Chain:
    """Joint states, odometry and answers, one by one."""

    def __init__(self, bench):
        bench.add(VelocityControllerNode, controller='paper')
        self.bench = bench
        self._joints = bench.publisher(JointState, 'joint_states')
        self._odom = bench.publisher(Odometry, 'odom')
        self._answers = bench.publisher(JointState, 'dynamics_effort')
        self.asked = bench.collect(AccelStamped, 'reference_acceleration')
        self.sent = bench.collect(JointState, 'wheel_effort')

    def ask(self, odom_first=False):
        """Begin a cycle and return its stamp."""
        stamp, count = self.bench.now(), len(self.asked)
        parts = [(self._joints, joints(stamp)), (self._odom, stamped(Odometry, stamp))]
        for publisher, message in reversed(parts) if odom_first else parts:
            publisher.publish(message)
            self.bench.run(0.005)
        self.bench.wait_for(lambda: len(self.asked) > count, 'the question', 2.0)
        assert self.asked[-1].header.stamp == stamp
        return stamp

    def answer(self, stamp, *effort):
        self._answers.publish(efforts(stamp, list(effort) or [0.1, 0.2, 0.3]))


@pytest.fixture
def chain(bench):
    return Chain(bench)


@pytest.mark.parametrize('odom_first', [True, False])
def test_a_cycle_carries_its_stamp_whatever_arrives_first(chain, odom_first):
    stamp = chain.ask(odom_first)
    chain.answer(stamp)
    chain.bench.wait_for(lambda: chain.sent, 'the torque', 2.0)
    assert chain.sent[-1].header.stamp == stamp


def test_an_answer_that_comes_after_the_next_question_still_counts(chain):
    """As on a busy computer; dropping it would starve the wheels as long as that lasts."""
    first, second, third = (chain.ask() for _ in range(3))
    chain.answer(first)
    chain.bench.wait_for(lambda: chain.sent, 'the torque', 2.0)
    assert chain.sent[-1].header.stamp == first
    chain.answer(third)
    chain.bench.wait_for(lambda: len(chain.sent) == 2, 'the next torque', 2.0)
    # older than what has been used
    chain.answer(second)
    chain.answer(third)
    chain.bench.run(0.1)
    assert len(chain.sent) == 2


def test_an_answer_to_nothing_that_was_asked_is_not_used(chain):
    chain.ask()
    chain.answer(chain.bench.now(0.001))
    chain.bench.run(0.1)
    assert not chain.sent


def test_at_rest_without_a_command_the_torque_is_exactly_zero(chain):
    for _ in range(3):
        count = len(chain.sent)
        chain.answer(chain.ask(), 1.0, 1.0, 1.0)
        chain.bench.wait_for(lambda c=count: len(chain.sent) > c, 'the torque', 2.0)
        assert not np.any(chain.sent[-1].effort)


@pytest.mark.parametrize('shared', [False, True])
def test_a_torque_is_published_before_the_next_one_is_prepared(bench, monkeypatch, shared):
    """Alone, and where nodes of the process share the messages."""
    node = bench.add(VelocityControllerNode, controller='mpc')
    if shared:
        node.join(Exchange())
    order, publish = [], node.publish

    def published(publisher, message):
        order.append(publisher.topic_name.rpartition('/')[2])
        publish(publisher, message)

    monkeypatch.setattr(node, 'publish', published)
    monkeypatch.setattr(node._law, 'prepare', lambda: order.append('prepared'))
    talk = bench.publisher(JointState, 'joint_states'), bench.publisher(Odometry, 'odom')
    for k in range(1, 4):
        stamp = bench.now()
        talk[0].publish(joints(stamp))
        talk[1].publish(stamped(Odometry, stamp))
        bench.wait_for(lambda k=k: order.count('prepared') == k, 'the end of the cycle', 2.0)
    assert [name for name in order if name in ('wheel_effort', 'prepared')] == [
        'wheel_effort', 'prepared'] * 3
