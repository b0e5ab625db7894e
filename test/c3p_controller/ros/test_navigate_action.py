# SPDX-License-Identifier: Apache-2.0
"""Goals of the action NavigateToPose and how their clients are told; server and type are ours."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from geometry_msgs.msg import PoseStamped  # noqa: E402
from rclpy.action import CancelResponse, GoalResponse  # noqa: E402

from c3p_controller.goals.goal_life import (  # noqa: E402
    CANCELLED,
    NO_ODOMETRY,
    NO_PROGRESS,
    PREEMPTED,
    REACHED,
    GoalLife,
)
from c3p_controller.ros import navigate_action  # noqa: E402
from c3p_controller.ros.navigate_action import NavigateAction, duration  # noqa: E402
from c3p_ros.messages import MessageError  # noqa: E402

KIND = SimpleNamespace(
    Result=lambda: SimpleNamespace(error_code=0, error_msg=''),
    Feedback=SimpleNamespace)


class Server:
    """Keeps what the adapter gives it; `finish` waits until the callback is over, as rclpy's."""

    def __init__(self, node, kind, name, **callbacks):
        self.name, self.callbacks, self.ending = name, callbacks, []

    def finish(self, handle, end):
        self.ending.append((handle, end))

    def after(self):
        """Return {handle: result} of what was to be finished."""
        ended, self.ending = {handle.client: end(handle) for handle, end in self.ending}, []
        return ended


class Handle:
    """A goal of a client."""

    def __init__(self, client):
        self.client, self.state, self.heard = client, 'accepted', []
        self.is_cancel_requested = False

    def __getattr__(self, name):
        return lambda *heard: self.heard.extend(heard) if heard else setattr(self, 'state', name)


class Robot:
    """The side of the position controller: one goal at a time."""

    def __init__(self, kind=KIND):
        self.life, self.lost = GoalLife(), False
        self.action = NavigateAction(None, 'navigate_to_pose', self.resolve, self.begin,
                                     self.cancel, kind=kind, server=Server)
        self.server = self.action._server

    def resolve(self, message):
        if self.lost:
            raise MessageError('no odometry')
        return np.array([message.pose.position.x, 0.0, 0.0])

    def begin(self, goal):
        self.tell(self.life.begin(goal, 0.0))
        return self.life.number

    def cancel(self, text):
        self.tell(self.life.end(CANCELLED, text))

    def tell(self, outcome):
        if outcome:
            self.action.ended(outcome)

    def ask(self, client):
        """Send a goal as rclpy would; return its handle, None when it is rejected."""
        callbacks = self.server.callbacks
        goal = SimpleNamespace(pose=PoseStamped(), behavior_tree='')
        if callbacks['goal_callback'](goal) == GoalResponse.REJECT:
            return None
        handle = Handle(client)
        callbacks['handle_accepted_callback'](handle)
        return handle

    def ask_to_cancel(self, handle):
        accepted = self.server.callbacks['cancel_callback'](handle) == CancelResponse.ACCEPT
        handle.is_cancel_requested = accepted
        return accepted


def test_a_goal_that_is_reached_succeeds_without_an_error():
    robot = Robot()
    handle = robot.ask('a')
    assert handle.state == 'execute' and not robot.server.ending
    robot.tell(robot.life.end(REACHED, 'there'))
    (result,) = robot.server.after().values()
    assert handle.state == 'succeed' and (result.error_code, result.error_msg) == (0, '')


@pytest.mark.parametrize('reason, code', [
    (NO_PROGRESS, 9003), (NO_ODOMETRY, 9002),
    # by somebody else than the client
    (CANCELLED, 9000)])
def test_a_goal_that_is_given_up_is_aborted_with_its_reason(reason, code):
    robot = Robot()
    handle = robot.ask('a')
    robot.tell(robot.life.end(reason, 'since 10 s'))
    (result,) = robot.server.after().values()
    assert handle.state == 'abort'
    assert (result.error_code, result.error_msg) == (code, 'since 10 s')


def test_a_goal_that_is_being_cancelled_has_no_feedback():
    """rclpy 10 warns for each one, and does not send it."""
    robot = Robot()
    handle = robot.ask('a')
    feedback = partial(robot.action.feedback, robot.life.number, PoseStamped(), 1.0, 2.0, 3.0,
                       (0.0, 0.0))
    feedback()
    assert [heard.distance_remaining for heard in handle.heard] == [1.0]
    handle.is_cancel_requested = True
    feedback()
    assert len(handle.heard) == 1


def test_the_client_cancels_its_goal_and_no_other():
    robot = Robot()
    handle = robot.ask('a')
    assert robot.ask_to_cancel(handle)
    assert not robot.life.running
    (result,) = robot.server.after().values()
    assert handle.state == 'canceled' and result.error_code == 0
    # it has ended: nothing is left to cancel, least of all somebody else's
    robot.begin(np.zeros(3))
    assert not robot.ask_to_cancel(handle) and robot.life.running


@pytest.mark.parametrize('by', ['action', 'topic'])
def test_a_goal_is_preempted_by_any_other(by):
    robot = Robot()
    first = robot.ask('first')
    second = robot.ask('second') if by == 'action' else robot.begin(np.ones(3))
    results = robot.server.after()
    assert set(results) == {'first'} and first.state == 'abort'
    assert results['first'].error_code == 9000 and 'goal 2' in results['first'].error_msg
    # a goal of the topic has no client; the end of the present one is told to whose it is
    robot.tell(robot.life.end(REACHED, ''))
    assert set(robot.server.after()) == ({'second'} if by == 'action' else set())
    assert by == 'topic' or second.state == 'succeed'


def test_what_cannot_be_driven_to_is_rejected_and_ends_nothing():
    robot = Robot()
    handle = robot.ask('a')
    robot.lost = True
    assert robot.ask('b') is None
    assert robot.life.running and handle.state == 'execute' and not robot.server.ending


def test_feedback_reaches_the_client_whose_goal_it_is():
    robot = Robot()
    handle = robot.ask('a')
    robot.action.feedback(robot.life.number + 1, PoseStamped(), 1.0, 2.0, 3.0, (0.1, -0.2))
    assert not handle.heard
    robot.action.feedback(robot.life.number, PoseStamped(), 1.5, 2.25, 3.0, (0.1, -0.2))
    (feedback,) = handle.heard
    assert feedback.distance_remaining == 1.5
    assert (feedback.navigation_time.sec, feedback.navigation_time.nanosec) == (2, 250_000_000)
    assert feedback.estimated_time_remaining == duration(3.0)
    robot.tell(robot.life.end(PREEMPTED, ''))
    robot.action.feedback(robot.life.number, PoseStamped(), 1.5, 2.25, 3.0, (0.1, -0.2))
    assert len(handle.heard) == 1


def test_tracking_errors_are_sent_where_the_action_has_them():
    class Feedback(SimpleNamespace):
        """As in Nav2 1.5: the fields are there before they are given."""

        position_tracking_error = heading_tracking_error = 0.0

    for feedback, expected in ((Feedback, {'position_tracking_error': 0.1,
                                           'heading_tracking_error': -0.2}),
                               (SimpleNamespace, {})):
        robot = Robot(SimpleNamespace(Result=KIND.Result, Feedback=feedback))
        handle = robot.ask('a')
        robot.action.feedback(robot.life.number, PoseStamped(), 1.5, 2.25, 3.0, (0.1, -0.2))
        (sent,) = handle.heard
        assert {name: value for name, value in vars(sent).items()
                if name.endswith('tracking_error')} == expected


def test_the_codes_are_those_of_every_version_of_the_action():
    # NavigateToPose.action of Nav2 1.4.2 and 1.5.1; 1.3.13 has NONE only
    both = {'NONE': 0, 'UNKNOWN': 9000, 'TF_ERROR': 9002, 'TIMEOUT': 9003}
    assert {name: getattr(navigate_action, name) for name in both} == both
    assert set(navigate_action.CODES.values()) <= set(both.values())
