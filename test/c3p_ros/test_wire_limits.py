# SPDX-License-Identifier: Apache-2.0
"""Counts and stamps that cannot be are refused before what they count is read."""

import struct
import time

import pytest

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from builtin_interfaces.msg import Time  # noqa: E402
from geometry_msgs.msg import AccelStamped, PoseStamped, Transform, Twist  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from trajectory_msgs.msg import (  # noqa: E402
    MultiDOFJointTrajectory,
    MultiDOFJointTrajectoryPoint,
)

from c3p_controller import torque_law  # noqa: E402
from c3p_controller.ros.goal_frames import GoalFrames  # noqa: E402
from c3p_ros.cdr import MOST_NAMES, MOST_POINTS, MOST_TEXT, MessageError  # noqa: E402
from c3p_ros.messages import stamp_to_ns  # noqa: E402
from c3p_ros.wire import READERS  # noqa: E402

# a refusal looks at one count; of this processor time, s, it needs a hundredth
AT_ONCE = 1e-3
KINDS = list(READERS)


def points(count):
    point = MultiDOFJointTrajectoryPoint(transforms=[Transform()], velocities=[Twist()])
    return serialize_message(MultiDOFJointTrajectory(points=[point] * count))


def refusal(kind, data):
    """Return how `data` is refused, and the processor time of it, s."""
    tried = []
    # the best of three: another thread of this process may collect garbage meanwhile
    for _ in range(3):
        read, begin = READERS[kind](), time.thread_time()
        with pytest.raises(MessageError) as error:
            read(data)
        tried.append((time.thread_time() - begin, f'{error.value}'))
    took, text = min(tried)
    return text, took


LARGE = {
    'names': (JointState, lambda n: serialize_message(JointState(name=['wheel'] * n)), 300_000,
              f'300000 names: must be at most {MOST_NAMES}'),
    'numbers': (JointState, lambda n: serialize_message(JointState(position=[0.0] * n)), 300_000,
                f'300000 numbers in a field: must be at most {MOST_NAMES}'),
    'points': (MultiDOFJointTrajectory, points, 20_000,
               f'20000 points: must be at most {MOST_POINTS}'),
    'joint_names': (MultiDOFJointTrajectory, lambda n: serialize_message(
        MultiDOFJointTrajectory(joint_names=['a'] * n)), 300_000, '300000 names'),
}


@pytest.mark.parametrize('case', LARGE)
def test_a_large_message_is_refused_by_its_count_at_once(case):
    kind, make, count, says = LARGE[case]
    data = make(count)
    text, took = refusal(kind, data)
    assert says in text
    assert took <= AT_ONCE, f'{1e3 * took:.3f} ms for {len(data)} bytes'


@pytest.mark.parametrize('kind', KINDS)
def test_long_frames_are_refused_by_their_length(kind):
    message = kind()
    message.header.frame_id = 'x' * 1_000_000
    text, took = refusal(kind, serialize_message(message))
    assert 'a string of 1000001 bytes' in text and f'at most {MOST_TEXT}' in text
    assert took <= AT_ONCE


def test_a_goal_in_a_frame_of_a_megabyte_is_refused_in_one_line():
    goal = PoseStamped()
    goal.header.frame_id, goal.pose.orientation.w = 'x' * 2**20, 1.0
    with pytest.raises(MessageError) as error:
        GoalFrames(None).resolve(goal, [0.0, 0.0, 0.0])
    assert f'{error.value}' == f'a frame of {2**20} letters: must have at most {MOST_TEXT}'


@pytest.mark.parametrize('kind', [JointState, MultiDOFJointTrajectory])
def test_what_is_of_the_size_of_a_robot_is_read(kind):
    if kind is JointState:
        message = JointState(name=[f'joint_{k}' for k in range(MOST_NAMES)],
                             position=[0.5] * MOST_NAMES)
        assert READERS[kind]()(serialize_message(message)).name == tuple(message.name)
    else:
        assert torque_law.MOST_POINTS == MOST_POINTS
        assert len(READERS[kind]()(points(MOST_POINTS)).time) == MOST_POINTS


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('seconds, nanoseconds', [(2**31 - 1, 2**32 - 1), (0, 10**9), (-5, 2**31)])
def test_nanoseconds_of_a_second_or_more_are_refused(kind, seconds, nanoseconds):
    message = kind()
    message.header.stamp.sec, message.header.stamp.nanosec = seconds, nanoseconds
    text, _ = refusal(kind, serialize_message(message))
    assert text == f'stamp: {nanoseconds} nanoseconds: must be less than 1000000000'
    with pytest.raises(MessageError, match='stamp: '):
        stamp_to_ns(message.header.stamp)


@pytest.mark.parametrize('kind', [JointState, Odometry, AccelStamped])
@pytest.mark.parametrize('seconds', [-2**31, -1, 0, 2**31 - 1])
def test_every_other_stamp_can_be_written_again(kind, seconds):
    message = kind()
    message.header.stamp = Time(sec=seconds, nanosec=999_999_999)
    stamp = READERS[kind]()(serialize_message(message)).stamp
    assert struct.pack('iI', *divmod(stamp, 10**9)) == struct.pack('iI', seconds, 999_999_999)
    assert stamp_to_ns(message.header.stamp) == stamp


def test_the_time_of_a_point_is_looked_at_like_a_stamp():
    message = MultiDOFJointTrajectory(points=[MultiDOFJointTrajectoryPoint(
        transforms=[Transform()], velocities=[Twist()])])
    message.points[0].time_from_start.nanosec = 10**9
    text, _ = refusal(MultiDOFJointTrajectory, serialize_message(message))
    assert text == 'time of point 0: 1000000000 nanoseconds: must be less than 1000000000'
