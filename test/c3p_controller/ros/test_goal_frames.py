# SPDX-License-Identifier: Apache-2.0
"""Goals in the known frames, and rejection of the others."""

import math

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from geometry_msgs.msg import PoseStamped, Quaternion  # noqa: E402

from c3p_controller.ros import goal_frames as frames  # noqa: E402
from c3p_controller.ros.goal_frames import GoalFrames  # noqa: E402
from c3p_ros.messages import (
    MessageError,  # noqa: E402
    fill_pose,  # noqa: E402
)


@pytest.fixture
def goals(bench):
    known = GoalFrames(bench.talker)
    known.pair = 'c3p/odom', 'c3p/base_link'
    return known


def goal(*pose, frame=''):
    message = PoseStamped()
    message.header.frame_id = frame
    fill_pose(message.pose, pose)
    return message


@pytest.mark.parametrize('frame', ['', 'c3p/odom'])
def test_a_goal_in_the_odometry_frame_is_taken_as_it_is(goals, frame):
    assert goals.resolve(goal(1, 2, 0.5, frame=frame), np.array([9.0, 9.0, 3.0])) == (
        pytest.approx([1.0, 2.0, 0.5]))


def test_a_goal_in_the_robots_frame_is_ahead_of_the_robot(goals):
    found = goals.resolve(goal(2, 0, 0.1, frame='c3p/base_link'),
                          np.array([1.0, 1.0, math.pi / 2]))
    assert found == pytest.approx([1.0, 3.0, math.pi / 2 + 0.1])


@pytest.mark.skipif(frames.tf2_ros is not None, reason='tf2_ros is installed and asked first')
def test_an_unknown_frame_is_refused_with_those_that_are_known(goals):
    with pytest.raises(MessageError, match="'map'.*'c3p/odom' and 'c3p/base_link'.*tf2_ros"):
        goals.resolve(goal(1, 2, 0, frame='map'), np.zeros(3))


@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize('axis', 'xy')
def test_a_goal_that_is_not_finite_is_refused(goals, axis, value):
    message = goal(1, 2, 0)
    setattr(message.pose.position, axis, value)
    with pytest.raises(MessageError, match='pose.position'):
        goals.resolve(message, np.zeros(3))


def test_a_goal_without_orientation_is_refused_with_the_remedy(goals):
    message = goal(1, 2, 0)
    message.pose.orientation = Quaternion(w=0.0)
    with pytest.raises(MessageError, match='pose.orientation.*send w = 1'):
        goals.resolve(message, np.zeros(3))
