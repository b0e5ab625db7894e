# SPDX-License-Identifier: Apache-2.0
"""Paths, and what a controller that follows one asks for."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from c3p_controller.goals.path import TURN_LENGTH, Arcs, StraightLine, closest, figure_eight
from c3p_controller.goals.path_controller import SPACING, PathController, PathGains
from c3p_kinematics.se2 import wrap

NUMBER = st.floats(-5.0, 5.0)
POSES = st.tuples(NUMBER, NUMBER, NUMBER).map(np.array)


@st.composite
def paths(draw):
    if draw(st.booleans()):
        return StraightLine(draw(POSES), draw(POSES))
    pieces = draw(st.lists(st.tuples(st.floats(0.1, 4.0), st.floats(-2.0, 2.0)), min_size=1,
                           max_size=4))
    return Arcs(draw(POSES), draw(NUMBER), tuple(pieces))


@settings(max_examples=100, deadline=None)
@given(paths(), st.floats(0.0, 1.0))
def test_derivatives_are_those_of_finite_differences(path, part):
    assume(path.length > 0.01)
    h = 1e-6 * path.length
    sigma = min(max(part * path.length, h), path.length - h)
    if isinstance(path, Arcs):
        # not across a joint, where the curvature jumps
        joints = np.cumsum([length for length, _ in path.pieces])
        assume(abs(joints - sigma).min() > 2 * h)
    before, after = path.at(np.array([sigma - h, sigma + h]))[0]
    _, rate = path.at(np.array([sigma]))
    np.testing.assert_allclose((after - before) / (2 * h), rate[0], atol=2e-6)


@settings(max_examples=60, deadline=None)
@given(paths(), POSES, st.floats(0.0, 1.0))
def test_closest_is_a_minimum_near_where_it_looked(path, away, part):
    assume(path.length > 0.3)
    near = part * path.length
    # beside the path by less than the radius of any arc, so that there is one minimum here
    pose = path.at(np.array([near]))[0][0] + 0.02 * away / 5.0
    found = closest(path, pose, near)

    def distance(sigma):
        gap = pose - path.at(np.array([sigma]))[0][0]
        return gap[0]**2 + gap[1]**2 + (TURN_LENGTH * wrap(gap[2]))**2

    window = (max(0.0, near - 0.1), min(path.length, near + 0.1))
    best = minimize_scalar(distance, bounds=window, method='bounded', options={'xatol': 1e-9})
    # the distance is flat at its minimum: a thousandth of the way beside is the Newton step's rest
    assert distance(found) <= best.fun + 1e-6


@settings(max_examples=100, deadline=None)
@given(st.floats(-np.pi, np.pi), st.floats(0.05, 5.0), st.floats(-3.0, 3.0), st.floats(-1.0, 1.0),
       st.floats(-0.2, 1.2), st.floats(-1.0, 1.0))
def test_tracking_errors_are_those_of_the_closest_place_and_positive_to_the_left(
        travel, distance, turn, aside, part, yaw):
    along = np.array([np.cos(travel), np.sin(travel)])
    left = np.array([-along[1], along[0]])
    line = StraightLine(np.array([1.0, -2.0, 0.4]), np.array([*([1.0, -2.0] + distance * along),
                                                              0.4 + turn]))
    # the closest place is known from how the pose was made
    share = min(max(part, 0.0), 1.0)
    beyond = (part - share) * distance
    pose = np.array([*([1.0, -2.0] + part * distance * along + aside * left),
                     0.4 + share * turn - yaw])
    position, heading = line.tracking_errors(pose)
    assert abs(position) == pytest.approx(np.hypot(beyond, aside), abs=1e-9)
    assert abs(aside) < 1e-9 or np.sign(position) == np.sign(aside)
    assert heading == pytest.approx(yaw, abs=1e-9)


@pytest.mark.parametrize('goal, pose, errors', [
    # a turn on the spot: within it the heading is that of some place, past it that of the goal
    ([0.0, 0.0, 1.0], [0.0, 0.2, 0.5], (0.2, 0.0)),
    ([0.0, 0.0, 1.0], [0.1, 0.0, 1.3], (0.1, -0.3)),
    ([0.0, 0.0, 0.0], [-0.3, 0.0, 0.2], (0.3, -0.2))])
def test_a_line_without_a_direction_has_tracking_errors(goal, pose, errors):
    line = StraightLine(np.zeros(3), np.array(goal))
    assert line.tracking_errors(np.array(pose)) == pytest.approx(errors)


def test_a_turn_on_the_spot_has_a_length():
    line = StraightLine(np.zeros(3), np.array([0.0, 0.0, 3.0]))
    assert line.length == pytest.approx(TURN_LENGTH * 3.0)
    assert closest(line, np.array([0.0, 0.0, 1.5]), 0.2) == pytest.approx(0.5 * line.length)


def test_a_figure_eight_returns_to_its_start():
    path = figure_eight(np.array([1.0, 2.0, 0.3]), 1.5)
    end = path.at(np.array([path.length]))[0][0]
    np.testing.assert_allclose(end, [1.0, 2.0, 0.3], atol=1e-12)
    # it begins along +Y of the platform, to the left
    _, rate = path.at(np.zeros(1))
    np.testing.assert_allclose(rate[0], [-np.sin(0.3), np.cos(0.3), 1 / 1.5], atol=1e-12)


@settings(max_examples=80, deadline=None)
@given(POSES, st.floats(0.0, 1.0), st.tuples(*[st.floats(-0.5, 0.5)] * 3).map(np.array))
def test_the_reference_ahead_keeps_to_path_and_limits(goal, part, twist):
    assume(np.hypot(*goal[:2]) > 0.1)
    gains = PathGains()
    controller = PathController(gains)
    controller.set_goal(goal, np.zeros(3))
    pose = part * np.array([goal[0], goal[1], wrap(goal[2])])
    controller.step(pose, twist)
    ahead = controller.preview
    speed = np.hypot(*ahead.velocity[:, :2].T)
    length = controller.path.length
    across = (ahead.pose[:, 0] * goal[1] - ahead.pose[:, 1] * goal[0]) / np.hypot(*goal[:2])
    assert abs(across).max() < 1e-9
    assert speed.max() <= gains.speed + 1e-12
    assert abs(ahead.velocity[:, 2]).max() <= gains.yaw_rate + 1e-12
    # it speeds up no faster than allowed; how it brakes is seen from the distance that is left
    assert np.diff(speed).max() <= gains.acceleration * SPACING + 1e-9
    left = np.hypot(*(goal[:2] - ahead.pose[:, :2]).T) * length / np.hypot(*goal[:2])
    assert (speed[1:] <= np.sqrt(2 * gains.deceleration * left[:-1]) + 1e-6).all()
    assert (np.diff(left) <= 1e-12).all()


def test_the_yaw_rate_of_a_turn_on_the_spot_is_limited():
    gains = PathGains(yaw_rate=0.7)
    controller = PathController(gains)
    controller.set_goal(np.array([0.0, 0.0, 3.0]), np.zeros(3))
    command = controller.step(np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.6]))
    assert controller.preview.velocity[:, 2].max() == pytest.approx(0.7)
    assert command.twist[2] == pytest.approx(0.7)


@pytest.mark.parametrize('straight', [0.2, 0.4, 0.55])
def test_it_brakes_before_a_bend_and_not_in_it(straight):
    gains = PathGains(speed=0.8, yaw_rate=0.5, acceleration=3.0)
    controller = PathController(gains)
    controller.set_path(Arcs(np.zeros(3), 0.0, ((straight, 0.0), (2.0, 2.0))))
    controller.step(np.zeros(3), np.array([0.5, 0.0, 0.0]))
    ahead = controller.preview
    speed, bent = np.hypot(*ahead.velocity[:, :2].T), ahead.velocity[:, 2] > 0.0
    # 0.5 rad/s with 2 rad/m
    assert speed[bent] == pytest.approx(0.25, rel=1e-9)
    assert bent.any() and speed.max() > 0.3
    # places where the limit is known are 4 cm apart
    assert np.diff(speed).min() >= -2.0 * gains.deceleration * SPACING


def test_a_robot_that_follows_the_reference_arrives_and_stands():
    controller, pose, twist = PathController(PathGains()), np.zeros(3), np.zeros(3)
    controller.set_goal(np.array([1.0, -0.5, 0.8]), pose)
    cycles = 0
    while cycles < 2000:
        cycles += 1
        command = controller.step(pose, twist)
        c, s = np.cos(pose[2]), np.sin(pose[2])
        # an ideal robot: it has the speed of the reference one point ahead
        velocity = controller.preview.velocity[1]
        pose = pose + 0.02 * velocity
        twist = np.array([c * velocity[0] + s * velocity[1], c * velocity[1] - s * velocity[0],
                          velocity[2]])
        if not command.twist.any():
            break
    assert command.reached and cycles < 300
    np.testing.assert_allclose(pose, [1.0, -0.5, 0.8], atol=2e-3)


@pytest.mark.parametrize('passing', [[0.3, 0.0, 0.0], [0.0, -0.3, 0.0], [0.0, 0.0, 1.0]])
def test_a_robot_that_passes_its_goal_has_not_arrived_until_it_is_slow_there(passing):
    controller = PathController(PathGains())
    goal = np.array([1.0, 0.5, 0.3])
    controller.set_goal(goal, np.zeros(3))
    beside = goal + [0.3 * controller.gains.stop_distance, 0.0, 0.3 * controller.gains.stop_yaw]
    # it brakes back to the goal, and does not let go of it
    assert controller.step(beside, np.array(passing)).twist.any()
    assert not controller.step(beside, np.zeros(3)).twist.any()
    # once there it stays so, whatever the measured twist is for a moment
    assert not controller.step(beside, np.array(passing)).twist.any()


def test_what_is_commanded_turns_with_the_platform():
    controller = PathController(PathGains())
    controller.set_goal(np.array([2.0, 0.0, 0.5]), np.array([0.0, 0.0, 0.5]))
    command = controller.step(np.array([0.5, 0.0, 0.5]), np.zeros(3))
    np.testing.assert_allclose(command.twist, [0.5 * np.cos(0.5), -0.5 * np.sin(0.5), 0.0],
                               atol=1e-12)


@pytest.mark.parametrize('goal', [[1.0, 2.0], [np.nan, 0.0, 0.0], [0.0, np.inf, 0.0]])
def test_a_goal_that_is_none_is_refused(goal):
    with pytest.raises(ValueError, match='goal'):
        PathController(PathGains()).set_goal(goal, np.zeros(3))
