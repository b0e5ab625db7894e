# SPDX-License-Identifier: Apache-2.0
"""What a node of the same process hands over passes the guards that messages of others pass."""

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from bad_messages import TOPICS, joints, stamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from neighbour import Neighbour, value_of  # noqa: E402
from ros_bench import Bench  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_ros.wire import READERS, Writer  # noqa: E402

# topics that nodes of a process share; commands come by the middleware
SHARED = [case for case, (_, kind, *_) in TOPICS.items() if kind in READERS]


@pytest.fixture(scope='module')
def robot():
    """A robot of one process, and a node beside it, which is a fault of its own."""
    bench = Bench(shared=True)
    bench.add_robot(**{name: {'sole_publisher': False} for name in (
        'simulation', 'sensed_kinematics', 'velocity_controller')})
    for topic in ('odom', 'wheel_effort'):
        bench.forget(topic)
    bench.neighbour = bench.add(Neighbour)
    bench.wait_until_unlocked()
    yield bench
    bench.close()


def refused(bench, nodes, topic):
    """Return how often each node has refused a topic."""
    return {name: bench.nodes[name].diagnostics.refused(topic) for name in nodes}


@pytest.mark.parametrize('case', SHARED)
def test_a_bad_value_of_a_neighbour_is_refused_with_its_reason_and_harms_nothing(
        robot, case):
    topic, kind, cases, nodes = TOPICS[case]
    tried = 0
    for message, word in cases(robot.now):
        value = value_of(message)
        if value is None:
            # no writer makes it: malformed, or beyond the limits, which are tested below
            continue
        for _ in range(20):
            if word not in ('stale', 'future', 'zero', 'out of order'):
                # newer than what has been used meanwhile
                now = robot.now(0.01)
                value = value._replace(stamp=now.sec * 10**9 + now.nanosec)
            before = refused(robot, nodes, topic)
            robot.neighbour.hand(kind, topic, value)
            robot.run(0.002)
            after = refused(robot, nodes, topic)
            if all(after[name] > before[name] for name in nodes) and all(
                    word in robot.nodes[name].diagnostics.status().message for name in nodes):
                break
        else:
            raise AssertionError(f'{topic}: {word!r} is not refused by {nodes}: {value}')
        tried += 1
    assert tried >= 4
    robot.wait_for(lambda: robot.speed() < 0.02, 'rest')
    robot.let_go_and_move(0.0, 0.2, 0.0, speed=0.05)
    robot.wait_for(lambda: robot.speed() < 0.02, 'stopping')


def test_a_value_that_exceeds_a_limit_of_the_wire_is_refused_by_each_node(robot):
    """As another process would, whose reader finds the limit in the bytes."""
    nodes = ('sensed_kinematics', 'velocity_controller', 'inverse_dynamics')
    value = value_of(joints(robot.now(0.01)))
    before = refused(robot, nodes, 'joint_states')
    robot.neighbour.hand(JointState, 'joint_states', value, '401 names: must be at most 400')
    robot.run(0.002)
    for name in nodes:
        assert refused(robot, nodes, 'joint_states')[name] > before[name]
        assert '401 names' in robot.nodes[name].diagnostics.status().message


def test_the_age_of_a_value_counts_from_its_stamp(robot):
    """Not from the moment at which it is handed over."""
    now = robot.now(-0.5)
    message = stamped(Odometry, now)
    message.pose.pose.orientation.w = 1.0
    before = refused(robot, ['position_controller'], 'odom')
    robot.neighbour.hand(Odometry, 'odom', value_of(message))
    robot.run(0.002)
    assert refused(robot, ['position_controller'], 'odom') != before
    assert 'stale: 0.5' in robot.nodes['position_controller'].diagnostics.status().message


def test_in_one_process_nothing_is_serialized_that_nobody_else_needs(robot, monkeypatch):
    serialized = []
    serialize = Writer.serialize
    monkeypatch.setattr(Writer, 'serialize', lambda self, message: (
        serialized.append(self._topic), serialize(self, message))[1])
    robot.run(0.3)
    # the bench listens to the ground truth alone
    assert set(serialized) == {'ground_truth/odom'}
    heard = robot.collect(Odometry, 'odom')
    robot.run(0.3)
    assert serialized.count('odom') >= len(heard) > 20
    assert not {'joint_states', 'wheel_effort'} & set(serialized)
