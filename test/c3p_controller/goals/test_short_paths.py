# SPDX-License-Identifier: Apache-2.0
"""Paths of length zero, equal points, pieces of 0 m: nothing on them is not a number."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from c3p_controller.goals.path import TURN_LENGTH, Arcs, StraightLine, closest, figure_eight
from c3p_controller.goals.path_controller import PathController, PathGains
from c3p_controller.paper.exponential import PositionController, PositionGains

# of the sizes that messages may have, the smallest numbers of all among them
NUMBER = st.one_of(st.sampled_from([0.0, -0.0, 5e-324, 1e-310, -1e-160, 1e-9, math.pi, -math.pi]),
                   st.floats(-10.0, 10.0), st.floats(-1e9, 1e9))
POSES = st.tuples(NUMBER, NUMBER, NUMBER).map(np.array)
HERE = np.array([0.7, -0.4, 1.1])
LENGTHS = st.one_of(st.just(0.0), st.just(5e-324), st.floats(0.0, 5.0))


@st.composite
def lines(draw):
    start = draw(POSES)
    # in a third of them nothing is left to drive, or a coordinate
    goal = np.where(draw(st.tuples(*[st.booleans()] * 3)), start, draw(POSES))
    return StraightLine(start, goal)


@st.composite
def arcs(draw):
    pieces = draw(st.lists(st.tuples(LENGTHS, st.floats(-20.0, 20.0)), min_size=1, max_size=4))
    return Arcs(draw(POSES), draw(st.floats(-7.0, 7.0)), tuple(pieces))


@st.composite
def eights(draw):
    return figure_eight(draw(POSES), draw(st.floats(1e-6, 1e6)), draw(st.floats(-7.0, 7.0)))


PATHS = st.one_of(lines(), arcs(), eights())


def check_tangents(path, rates):
    """Each tangent is as long as `Path.at` says."""
    planar = np.hypot(rates[:, 0], rates[:, 1])
    if path.length == 0.0:
        assert not rates.any()
    elif isinstance(path, Arcs):
        np.testing.assert_allclose(planar, 1.0, rtol=1e-12)
    else:
        np.testing.assert_allclose(np.maximum(planar, TURN_LENGTH * abs(rates[:, 2])), 1.0,
                                   rtol=1e-9)


@settings(max_examples=300)
@given(PATHS, st.lists(st.floats(-1.0, 2.0), min_size=1, max_size=5))
@example(StraightLine(HERE, HERE), [0.0, 1.0])
@example(StraightLine(np.zeros(3), np.array([0.0, 0.0, 5e-324])), [0.0, 1.0])
@example(Arcs(HERE, 0.0, ((0.0, 3.0),)), [0.0, 1.0])
@example(Arcs(HERE, 0.0, ((0.0, 3.0), (1.0, 0.0), (0.0, -2.0))), [0.0, 0.5, 1.0])
def test_every_place_of_every_path_is_a_pose_with_its_tangent(path, parts):
    poses, rates = path.at(np.array(parts) * path.length)
    assert np.isfinite(poses).all() and np.isfinite(rates).all()
    check_tangents(path, rates)
    # beyond an end the path does not go on
    for sigma, end in ((-1.0, 0.0), (path.length + 1.0, path.length)):
        np.testing.assert_array_equal(path.at(np.array([sigma]))[0], path.at(np.array([end]))[0])


@settings(max_examples=300)
@given(PATHS, POSES, st.floats(-1.0, 2.0))
@example(StraightLine(HERE, HERE), HERE, 0.0)
@example(StraightLine(HERE, HERE), np.zeros(3), 0.0)
@example(Arcs(HERE, 0.0, ((0.0, 3.0),)), np.zeros(3), 0.0)
def test_the_closest_place_is_on_the_path(path, pose, part):
    assert 0.0 <= closest(path, pose, part * path.length) <= path.length


@settings(max_examples=200)
@given(PATHS, POSES, st.tuples(*[st.floats(-2.0, 2.0)] * 3).map(np.array))
@example(StraightLine(HERE, HERE), HERE, np.zeros(3))
@example(StraightLine(HERE, HERE), HERE, np.array([0.3, 0.0, 0.2]))
@example(Arcs(HERE, 0.0, ((0.0, 3.0),)), HERE, np.zeros(3))
def test_the_controller_commands_finite_numbers_within_its_limits(path, pose, twist):
    gains, controller = PathGains(), PathController(PathGains())
    controller.set_path(path)
    for _ in range(2):
        command = controller.step(pose, twist)
        assert math.hypot(*command.twist[:2]) <= gains.speed * (1 + 1e-9)
        assert abs(command.twist[2]) <= gains.yaw_rate
        assert all(np.isfinite(part).all() for part in controller.preview)
        assert np.isfinite([command.distance, command.yaw_error]).all()


@settings(max_examples=100)
@given(POSES)
@example(np.zeros(3))
def test_a_goal_where_the_robot_stands_is_reached_at_once(pose):
    for controller in (PathController(PathGains()), PositionController(PositionGains())):
        controller.set_goal(pose, pose)
        command = controller.step(pose, np.zeros(3))
        assert command.reached and not command.twist.any() and command.distance == 0.0


def test_a_robot_pushed_off_a_goal_where_it_stood_comes_back():
    controller = PathController(PathGains())
    controller.set_goal(HERE, HERE)
    pose = HERE + np.array([0.03, -0.02, 0.1])
    for _ in range(400):
        twist = controller.step(pose, np.zeros(3)).twist
        c, s = math.cos(pose[2]), math.sin(pose[2])
        pose = pose + 0.02 * np.array([c * twist[0] - s * twist[1], s * twist[0] + c * twist[1],
                                       twist[2]])
    assert controller.step(pose, np.zeros(3)).reached
    np.testing.assert_allclose(pose, HERE, atol=0.021)


@pytest.mark.parametrize('pieces', [
    (), ((-0.1, 0.0),), ((math.nan, 0.0),), ((1.0, math.inf),), ((math.inf, 0.0),)])
def test_pieces_that_are_no_path_are_refused(pieces):
    with pytest.raises(ValueError, match='pieces = .*one or more'):
        Arcs(np.zeros(3), 0.0, pieces)


@pytest.mark.parametrize('radius', [0.0, -1.0, math.nan, math.inf])
def test_a_figure_eight_needs_a_radius(radius):
    with pytest.raises(ValueError, match='radius = .*greater than zero'):
        figure_eight(np.zeros(3), radius)
