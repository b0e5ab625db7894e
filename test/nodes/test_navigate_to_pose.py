# SPDX-License-Identifier: Apache-2.0
"""Nav2's action, served by the position controller to a client; the odometry is the test's."""

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
nav2 = pytest.importorskip('nav2_msgs.action', reason='needs nav2_msgs, which comes with Nav2')

from action_msgs.msg import GoalStatus  # noqa: E402
from goal_place import NODE, Place  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from c3p_ros.messages import fill_pose  # noqa: E402

ENDS = {GoalStatus.STATUS_SUCCEEDED: 'succeeded', GoalStatus.STATUS_ABORTED: 'aborted',
        GoalStatus.STATUS_CANCELED: 'canceled'}


class Client(Place):
    """A client of the action, and the place of the robot."""

    def __init__(self, bench, **parameters):
        super().__init__(bench, **parameters)
        self.feedback = []
        self.client = ActionClient(bench.talker, nav2.NavigateToPose, 'navigate_to_pose')
        self.until(self.client.server_is_ready, 'the action')

    def send(self, *pose, frame='odom'):
        """Send a goal; return its handle."""
        goal = nav2.NavigateToPose.Goal()
        goal.pose.header.frame_id = frame
        fill_pose(goal.pose.pose, pose)
        sent = self.client.send_goal_async(
            goal, feedback_callback=lambda m: self.feedback.append(m.feedback))
        self.until(sent.done, 'the answer')
        return sent.result()

    def end(self, handle):
        """Return the end of a goal: status, code and text."""
        ended = handle.get_result_async()
        self.until(ended.done, 'the result')
        end = ended.result()
        return ENDS[end.status], end.result.error_code, getattr(end.result, 'error_msg', '')


@pytest.fixture
def make(bench):
    """Return a function that makes a client; what it has is destroyed in the end."""
    made = []

    def one(**parameters):
        made.append(Client(bench, **parameters))
        return made[-1]
    yield one
    for client in made:
        client.client.destroy()


def test_a_goal_of_the_action_succeeds_when_the_robot_stands_there(make):
    client = make()
    handle = client.send(0.0, 1.0, 0.0)
    assert handle.accepted
    client.until(lambda: client.feedback, 'feedback')
    first = client.feedback[0]
    assert first.distance_remaining == pytest.approx(1.0)
    assert first.current_pose.header.frame_id == 'odom'
    # from Nav2 1.5 on
    assert [getattr(first, f'{name}_tracking_error', 0.0) for name in ('position', 'heading')] == (
        pytest.approx([0.0, 0.0]))
    # half a metre per second
    left = first.estimated_time_remaining
    assert left.sec + left.nanosec * 1e-9 == pytest.approx(2.0)
    client.until(lambda: handle.status == GoalStatus.STATUS_EXECUTING, 'executing')
    client.pose = np.array([0.0, 0.99, 0.0])
    assert client.end(handle) == ('succeeded', 0, '')
    assert client.status('reached')[0]['number'] == '1'


def test_a_goal_of_the_action_is_cancelled_by_its_client_and_by_others(make, bench):
    client = make()
    first = client.send(0.0, 1.0, 0.0)
    asked = first.cancel_goal_async()
    client.until(asked.done, 'the answer')
    assert len(asked.result().goals_canceling) == 1
    assert client.end(first)[:2] == ('canceled', 0)
    second = client.send(0.0, 1.0, 0.0)
    assert bench.call(Trigger, f'{NODE}/cancel').success
    assert client.end(second) == ('aborted', 9000, 'cancelled')


def test_a_goal_of_the_action_is_preempted_by_any_other_and_by_none_that_is_rejected(make, bench):
    client = make()
    first, second = client.send(0.0, 1.0, 0.0), client.send(0.0, 2.0, 0.0)
    assert client.end(first) == ('aborted', 9000, 'goal 2 took its place')
    assert not client.send(0.0, 1.0, 0.0, frame='moon').accepted
    assert bench.nodes[NODE]._goals.life.running
    client.goal(1.0, 1.0, 0.0)
    assert client.end(second) == ('aborted', 9000, 'goal 3 took its place')


def test_a_goal_of_the_action_is_aborted_with_the_code_of_what_went_wrong(make):
    client = make(progress_timeout=0.3)
    assert client.end(client.send(0.0, 1.0, 0.0))[:2] == ('aborted', 9003)
    handle = client.send(0.0, 1.0, 0.0)
    client.shift = -2.0
    status, code, _ = client.end(handle)
    # whichever was first on a busy machine
    assert status == 'aborted' and code in (9002, 9003)


def test_an_empty_name_offers_no_action(bench):
    from c3p_controller.position_controller_node import PositionControllerNode
    bench.add(PositionControllerNode, navigate_action='')
    assert not [name for name, _ in bench.talker.get_service_names_and_types()
                if name.startswith('/navigate_to_pose')]
    assert bench.nodes[NODE]._goals._action is None
