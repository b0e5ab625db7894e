# SPDX-License-Identifier: Apache-2.0
"""Paper I, eqs (14)-(16): the exponential law with a robot that does at once what it is asked."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as suite_settings
from hypothesis import strategies as st
from robots import vectors

from c3p_controller.goals.position_command import exponential
from c3p_controller.paper.exponential import PositionController, PositionGains, line_velocity
from c3p_controller.paper.position import axis_velocity
from c3p_kinematics.se2 import compose, exp, wrap

DT, GAINS = 0.01, PositionGains()
# third leg of paper I, Fig. 10e: neither along an axis nor along a diagonal
LEG_START, LEG_GOAL = np.array([3.0, 3.5]), np.array([0.0, 0.0])


def drive(goal, start=(0.0, 0.0, 0.0), gains=GAINS, seconds=60.0):
    """Return poses (k, 3) and commands of an ideal robot until it stands, or time is up."""
    controller, pose = PositionController(gains), np.array(start, float)
    controller.set_goal(np.array(goal, float), pose)
    poses, commands = [pose], []
    while len(commands) * DT < seconds:
        commands.append(controller.step(pose))
        if not commands[-1].twist.any():
            break
        pose = compose(pose, exp(commands[-1].twist * DT))
        poses.append(pose)
    return np.array(poses), commands


def off_line(positions, start, goal):
    """Return the largest distance of `positions` from the line, m."""
    along = (goal - start) / math.hypot(*(goal - start))
    way = positions - start
    return np.abs(along[0] * way[:, 1] - along[1] * way[:, 0]).max()


@given(st.floats(-10, 10), st.floats(0.01, 3), st.floats(0.05, 20))
def test_the_law_saturates_smoothly_at_its_gain(error, gain, rate):
    value = exponential(error, gain, rate)
    assert abs(value) <= gain and value * error >= 0.0
    assert abs(value) <= gain * rate * abs(error) * (1 + 1e-12)
    assert value == -exponential(-error, gain, rate)


@given(st.floats(0.05, 8.0), st.floats(-math.pi, math.pi))
def test_distance_falls_at_least_as_fast_as_the_exponential_says(distance, direction):
    """d' = −K(1 − e^(−μd)) has the solution e^(μd) − 1 = (e^(μd0) − 1) e^(−Kμt)."""
    goal = distance * np.array([math.cos(direction), math.sin(direction)])
    poses, commands = drive([*goal, 0.0])
    left = np.array([c.distance for c in commands])
    time = DT * np.arange(len(left))
    exact = np.log1p(np.expm1(GAINS.approach * distance)
                     * np.exp(-GAINS.speed * GAINS.approach * time)) / GAINS.approach
    # steps of 10 ms against the exact solution: at most K·μ·dt/2 of the distance
    assert np.all(np.abs(left - exact) <= 0.003 * distance + 1e-6)


def test_the_ideal_robot_keeps_to_the_line_where_the_papers_form_leaves_it():
    poses, _ = drive([*LEG_GOAL, 0.0], start=(*LEG_START, 0.0))
    assert off_line(poses[:, :2], LEG_START, LEG_GOAL) < 1e-9
    position, printed = LEG_START.copy(), [LEG_START]
    for _ in range(3000):
        position = position + DT * axis_velocity(LEG_GOAL - position, (0.5, 0.5), (1.2, 1.2))
        printed.append(position)
    # the figure that docs/papers states for the form as printed
    assert off_line(np.array(printed), LEG_START, LEG_GOAL) == pytest.approx(0.14, abs=0.02)


@given(vectors(2, 6.0), st.floats(-math.pi, math.pi), vectors(2, 6.0),
       st.floats(-math.pi, math.pi))
@suite_settings(max_examples=25)
def test_an_ideal_robot_always_arrives_and_stays(goal, goal_yaw, start, start_yaw):
    poses, commands = drive([*goal, goal_yaw], start=(*start, start_yaw))
    assert commands[-1].reached and not commands[-1].twist.any()
    assert commands[-1].distance <= GAINS.stop_distance
    assert abs(commands[-1].yaw_error) <= GAINS.stop_yaw
    speeds = [math.hypot(*c.twist[:2]) for c in commands]
    assert max(speeds) <= GAINS.speed * (1 + 1e-12)
    assert max(abs(c.twist[2]) for c in commands) <= GAINS.yaw_rate


@given(vectors(2, 6.0), vectors(2, 6.0), st.floats(-math.pi, math.pi))
def test_the_velocity_never_exceeds_its_cap_and_never_leads_away(error, aside, angle):
    direction = np.array([math.cos(angle), math.sin(angle)])
    velocity = line_velocity(error, direction, GAINS)
    assert math.hypot(*velocity) <= GAINS.speed * (1 + 1e-12)
    # along and across have the sign of their errors, so together they point towards the goal
    assert velocity @ error >= 0.0


def test_a_disturbance_across_is_brought_back_to_the_line():
    controller = PositionController(GAINS)
    controller.set_goal(np.array([4.0, 0.0, 0.0]), np.zeros(3))
    pose, aside = np.array([1.0, 0.2, 0.0]), []
    while pose[0] < 3.5:
        pose = compose(pose, exp(controller.step(pose).twist * DT))
        aside.append(abs(pose[1]))
    assert np.all(np.diff(aside) <= 0) and aside[-1] < 0.05
    free = PositionController(PositionGains(line_approach=0.0))
    free.set_goal(np.array([4.0, 0.0, 0.0]), np.zeros(3))
    assert free.step(np.array([1.0, 0.2, 0.0])).twist[1] == 0.0


def test_inside_the_zone_it_stands_until_pushed_out():
    controller = PositionController(GAINS)
    controller.set_goal(np.array([1.0, 0.0, 0.0]), np.zeros(3))
    between = 1.0 - 0.5 * (GAINS.stop_distance + GAINS.goal_tolerance)
    # on the way in it closes in further, although the zone is reached
    command = controller.step(np.array([between, 0.0, 0.0]))
    assert command.reached and command.twist.any()
    assert not controller.step(np.array([1.0, 0.0, 0.0])).twist.any()
    # pushed, but not out of the zone: no hunting
    assert not controller.step(np.array([between, 0.0, 0.0])).twist.any()
    outside = controller.step(np.array([1.0 - 1.1 * GAINS.goal_tolerance, 0.0, 0.0]))
    assert not outside.reached and outside.twist[0] > 0.0
    # after that it closes in fully again
    assert controller.step(np.array([between, 0.0, 0.0])).twist.any()


def test_yaw_outside_its_tolerance_is_not_arrived():
    controller = PositionController(GAINS)
    controller.set_goal(np.array([1.0, 0.0, 1.0]), np.zeros(3))
    command = controller.step(np.array([1.0, 0.0, 0.5]))
    assert not command.reached and not command.twist[:2].any() and command.twist[2] > 0.0


@pytest.mark.parametrize('yaw, goal_yaw, sign', [
    (3.0, -3.0, 1), (-3.0, 3.0, -1), (0.1, 3.0, 1), (-0.1, -3.0, -1), (12.0, 0.0, 1)])
def test_it_turns_the_short_way_round(yaw, goal_yaw, sign):
    controller = PositionController(GAINS)
    controller.set_goal(np.array([0.0, 0.0, goal_yaw]), np.array([0.0, 0.0, yaw]))
    command = controller.step(np.array([0.0, 0.0, yaw]))
    assert np.sign(command.twist[2]) == sign
    assert command.yaw_error == pytest.approx(float(wrap(goal_yaw - yaw)))
    assert abs(command.yaw_error) <= math.pi


def test_a_goal_close_by_is_driven_to_without_a_line():
    poses, commands = drive([0.04, 0.03, 0.0], gains=PositionGains(goal_tolerance=0.02))
    assert commands[-1].reached
    assert off_line(poses[:, :2], np.zeros(2), np.array([0.04, 0.03])) < 1e-9


def test_a_turn_on_the_spot_asks_for_no_travel():
    poses, commands = drive([0.0, 0.0, 2.5])
    assert commands[-1].reached and np.abs(poses[:, :2]).max() == 0.0


def test_the_twist_is_in_the_axes_of_the_robot():
    controller = PositionController(PositionGains(yaw_gain=0.0))
    controller.set_goal(np.array([0.0, 4.0, 0.0]), np.zeros(3))
    twist = controller.step(np.array([0.0, 0.0, math.pi / 2])).twist
    assert twist[0] > 0.4 and abs(twist[1]) < 1e-12


def test_a_new_goal_replaces_the_old_one_and_cancel_forgets_it():
    controller = PositionController(GAINS)
    assert controller.step(np.zeros(3)) is None
    controller.set_goal(np.array([1.0, 0.0, 0.0]), np.zeros(3))
    controller.set_goal(np.array([0.0, -2.0, 0.0]), np.zeros(3))
    command = controller.step(np.zeros(3))
    assert command.twist[1] < 0.0 and command.twist[0] == 0.0
    controller.cancel()
    assert controller.step(np.zeros(3)) is None


@pytest.mark.parametrize('goal', [[1.0, 2.0], [math.nan, 0.0, 0.0], [0.0, math.inf, 0.0], []])
def test_a_goal_that_is_none_is_refused_and_the_old_one_stays(goal):
    controller = PositionController(GAINS)
    controller.set_goal(np.array([1.0, 0.0, 0.0]), np.zeros(3))
    with pytest.raises(ValueError, match='three finite numbers'):
        controller.set_goal(goal, np.zeros(3))
    assert controller.goal.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize('wrong', [{'stop_distance': 0.06}, {'stop_yaw': 0.2}])
def test_a_stop_outside_the_goal_zone_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match=f'{next(iter(wrong))} = .*must be at most'):
        PositionGains(**wrong)
