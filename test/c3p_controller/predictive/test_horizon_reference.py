# SPDX-License-Identifier: Apache-2.0
"""The reference over the horizon, from a trajectory ahead and from a bare twist."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from c3p_controller.predictive.horizon_reference import TwistReference, directions, sample
from c3p_controller.torque_law import MOST_POINTS, Preview, check_preview

TIMES = 0.025 * np.arange(33)


def straight(speed, yaw=0.0):
    """Return a second of travel along +X."""
    time = np.arange(0.0, 1.01, 0.1)
    pose = np.column_stack([speed * time, 0 * time, np.full_like(time, yaw)])
    velocity = np.tile([speed, 0.0, 0.0], (len(time), 1))
    return Preview(time, pose, velocity)


def test_a_straight_reference_is_interpolated_and_goes_on():
    rows = np.zeros((len(TIMES), 7))
    sample(straight(0.4), TIMES + 0.73, 0.0, rows)
    np.testing.assert_allclose(rows[:, 0], 0.4 * (TIMES + 0.73), atol=1e-12)
    np.testing.assert_allclose(rows[:, 3:7], np.tile([0.4, 0, 0, 0], (len(TIMES), 1)), atol=1e-12)


@pytest.mark.parametrize('turns', [-2, 0, 3])
def test_the_nearest_turn_of_the_yaw_is_taken(turns):
    rows = np.zeros((len(TIMES), 7))
    sample(straight(0.4, yaw=0.2), TIMES, 0.1 + 2 * np.pi * turns, rows)
    np.testing.assert_allclose(rows[:, 2], 0.2 + 2 * np.pi * turns, atol=1e-12)


def test_rows_that_stand_take_the_direction_of_their_neighbours():
    rows = np.zeros((5, 7))
    rows[1, 3:5] = 0.0, 0.3
    rows[3, 3:5] = -0.3, 0.0
    directions(rows)
    np.testing.assert_allclose(rows[:, 6], np.array([1, 1, 1, 2, 2]) * np.pi / 2)


@settings(max_examples=100, deadline=None)
@given(st.tuples(*[st.floats(-0.6, 0.6)] * 3).map(np.array), st.floats(-3.0, 3.0),
       st.tuples(*[st.floats(-0.5, 0.5)] * 3).map(np.array))
def test_a_twist_becomes_a_motion_that_fits_itself(twist, yaw, velocity):
    pose = np.array([1.0, 2.0, yaw])
    rows = np.zeros((len(TIMES), 7))
    TwistReference(1.0, 3.0).step(twist, pose, velocity, TIMES, 0.005, rows)
    gaps = np.diff(TIMES)[:, None]
    # positions are the trapezoidal integral of the velocities
    np.testing.assert_allclose(np.diff(rows[:, :3], axis=0),
                               0.5 * (rows[1:, 3:6] + rows[:-1, 3:6]) * gaps, atol=1e-12)
    speed = np.hypot(*rows[:, 3:5].T)
    # from what the robot does towards what is asked for, and never beyond either
    assert speed.max() <= max(np.hypot(*twist[:2]), np.hypot(*velocity[:2])) + 1e-9
    assert abs(np.diff(speed)).max() <= 1.0 * 0.025 + 1e-9
    assert abs(rows[:, 5]).max() <= abs(twist[2]) + 1e-9


def test_the_line_stays_where_it_was_when_the_robot_is_pushed_aside():
    reference, rows = TwistReference(1.0, 3.0), np.zeros((len(TIMES), 7))
    twist, velocity = np.array([0.3, 0.0, 0.0]), np.array([0.3, 0.0, 0.0])
    reference.step(twist, np.zeros(3), velocity, TIMES, 0.005, rows)
    reference.step(twist, np.array([0.2, 0.03, 0.0]), velocity, TIMES, 0.005, rows)
    np.testing.assert_allclose(rows[0, :2], [0.2, 0.0], atol=1e-12)
    # but not for ever: half a metre aside it is given up
    reference.step(twist, np.array([0.3, 0.5, 0.0]), velocity, TIMES, 0.005, rows)
    np.testing.assert_allclose(rows[0, :2], [0.3, 0.4], atol=1e-12)


def test_a_stop_is_along_the_motion_and_then_holds_the_place():
    reference, rows = TwistReference(1.0, 3.0), np.zeros((len(TIMES), 7))
    reference.step(np.zeros(3), np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.2, 0.0]), TIMES,
                   0.005, rows)
    assert rows[-1, 1] == pytest.approx(1.0 + 0.2**2 / 2, abs=2e-3)
    np.testing.assert_allclose(rows[-1, 3:6], 0.0, atol=1e-12)


@pytest.mark.parametrize('change, name', [
    (dict(time=np.arange(1.0, 3.0)), 'begin with 0'), (dict(time=np.zeros(2)), 'increase'),
    (dict(pose=np.zeros((2, 2))), 'pose'), (dict(velocity=np.zeros((3, 3))), 'velocity'),
    (dict(pose=np.full((2, 3), np.nan)), 'finite'),
    (dict(time=np.arange(MOST_POINTS + 1.0)), str(MOST_POINTS))])
def test_a_reference_that_cannot_be_is_refused(change, name):
    good = Preview(np.arange(2.0), np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match=name):
        check_preview(good._replace(**change))
