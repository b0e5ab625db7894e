# SPDX-License-Identifier: Apache-2.0
"""Nav2's action, served by the position controller to a real client."""

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
nav2 = pytest.importorskip('nav2_msgs.action', reason='needs nav2_msgs, which comes with Nav2')

from action_msgs.msg import GoalStatus  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402

from c3p_ros.frames import fill_pose  # noqa: E402

ENDS = {GoalStatus.STATUS_SUCCEEDED: 'succeeded', GoalStatus.STATUS_ABORTED: 'aborted',
        GoalStatus.STATUS_CANCELED: 'canceled'}


class Client:
    """A client of the action on a bench with a whole robot."""

    def __init__(self, bench):
        self.bench, self.feedback = bench, []
        self.client = ActionClient(bench.talker, nav2.NavigateToPose, 'navigate_to_pose')
        bench.wait_for(self.client.server_is_ready, 'the action')

    def send(self, *pose, frame='odom'):
        """Send a goal; return its handle."""
        goal = nav2.NavigateToPose.Goal()
        goal.pose.header.frame_id = frame
        fill_pose(goal.pose.pose, pose)
        sent = self.client.send_goal_async(
            goal, feedback_callback=lambda m: self.feedback.append(m.feedback))
        self.bench.wait_for(sent.done, 'the answer')
        return sent.result()

    def result(self, handle):
        """Return the end of a goal: status, code and text."""
        ended = handle.get_result_async()
        self.bench.wait_for(ended.done, 'the result', 30.0)
        end = ended.result()
        return ENDS[end.status], end.result.error_code, getattr(end.result, 'error_msg', '')


@pytest.fixture
def client(in_process_robot):
    client = Client(in_process_robot)
    yield client
    client.client.destroy()


def test_the_robot_drives_to_a_goal_of_the_action(client):
    handle = client.send(0.0, 0.4, 0.0)
    assert handle.accepted
    client.bench.wait_for(lambda: client.feedback, 'feedback')
    first = client.feedback[0]
    assert first.distance_remaining == pytest.approx(0.4, abs=0.05)
    assert first.current_pose.header.frame_id == 'odom'
    # half a metre per second
    left = first.estimated_time_remaining
    assert left.sec + left.nanosec * 1e-9 == pytest.approx(2 * first.distance_remaining, abs=1e-3)
    client.bench.wait_for(lambda: handle.status == GoalStatus.STATUS_EXECUTING, 'executing')
    assert client.result(handle) == ('succeeded', 0, '')
    assert np.allclose(client.bench.pose(), [0.0, 0.4, 0.0], atol=0.06)


def test_a_goal_of_the_action_is_cancelled_preempted_and_rejected(client):
    bench = client.bench
    first = client.send(0.0, 3.0, 0.0)
    bench.wait_for(lambda: bench.speed() > 0.1, 'driving')
    second = client.send(0.0, 4.0, 0.0)
    assert client.result(first) == ('aborted', 9000, 'goal 2 took its place')
    assert not client.send(0.0, 1.0, 0.0, frame='moon').accepted
    cancelled = second.cancel_goal_async()
    bench.wait_for(cancelled.done, 'the answer')
    assert len(cancelled.result().goals_canceling) == 1
    assert client.result(second)[0] == 'canceled'
    bench.wait_for(lambda: bench.speed() < 0.01, 'rest')
    third = client.send(0.0, 4.0, 0.0)
    bench.wait_for(lambda: bench.speed() > 0.1, 'driving')
    bench.goal(*bench.pose())
    assert client.result(third)[0] == 'aborted'
    fourth = client.send(0.0, 4.0, 0.0)
    bench.remove('sensed_kinematics')
    assert client.result(fourth)[:2] == ('aborted', 9002)


def test_an_empty_name_offers_no_action(bench):
    from c3p_controller.position_controller_node import PositionControllerNode
    node = bench.add(PositionControllerNode, navigate_action='')
    client = ActionClient(bench.talker, nav2.NavigateToPose, 'navigate_to_pose')
    bench.run(0.3)
    assert not client.server_is_ready() and node._reports._action is None
    client.destroy()
