# SPDX-License-Identifier: Apache-2.0
"""What the closed-form law follows: the reference ahead sampled, and the line of a bare twist."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_controller.closed_form.reference import PreviewReference, TwistReference, turn_near
from c3p_controller.torque_law import Preview

DT = 0.005


def line():
    return TwistReference(0.8, 3.0, 0.1, 0.6)


@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.floats(-0.1, 3.0))
def test_between_points_it_is_linear(seed, count, time):
    rng = np.random.default_rng(seed)
    times = np.concatenate(([0.0], np.cumsum(rng.uniform(0.01, 0.1, count - 1))))
    ahead = Preview(times, rng.normal(0.0, 0.5, (count, 3)), rng.normal(size=(count, 3)))
    target = PreviewReference().at(ahead, time, 0.0)
    inside = min(max(time, 0.0), times[-1])
    velocity = [np.interp(inside, times, ahead.velocity[:, j]) for j in range(3)]
    pose = np.array([np.interp(inside, times, ahead.pose[:, j]) for j in range(3)])
    # beyond the last point it goes on as it is there
    pose += max(0.0, time - times[-1]) * np.array(velocity)
    assert target.velocity == pytest.approx(velocity)
    assert target.pose[:2] == pytest.approx(pose[:2])
    assert math.remainder(target.pose[2] - pose[2], 2.0 * math.pi) == pytest.approx(0.0, abs=1e-9)


def test_from_rest_the_heading_is_that_of_the_first_motion():
    times = np.linspace(0.0, 1.0, 21)
    velocity = np.outer(np.minimum(times, 0.5), [-0.6, 0.8, 0.0])
    pose = np.outer(times**2 / 2.0, [-0.6, 0.8, 0.0])
    target = PreviewReference().at(Preview(times, pose, velocity), 0.0, 0.0)
    assert target.heading == pytest.approx(math.atan2(0.8, -0.6))
    assert target.accel == pytest.approx((-0.6, 0.8, 0.0))


def test_a_reference_at_rest_keeps_the_heading():
    reference = PreviewReference()
    moving = Preview(np.array([0.0, 1.0]), np.zeros((2, 3)), np.full((2, 3), [0.0, -1.0, 0.0]))
    resting = Preview(np.array([0.0, 1.0]), np.zeros((2, 3)), np.zeros((2, 3)))
    reference.at(moving, 0.0, 0.0)
    assert reference.at(resting, 0.0, 0.0).heading == pytest.approx(-math.pi / 2.0)


@given(st.floats(-50.0, 50.0), st.floats(-50.0, 50.0))
def test_a_turn_is_the_nearest(angle, near):
    turned = turn_near(angle, near)
    assert abs(turned - near) <= math.pi + 1e-9
    assert math.remainder(turned - angle, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-9)


def test_the_line_goes_straight_although_the_robot_yaws():
    target_line = line()
    for k in range(100):
        # the robot runs along at 0.4 m/s, 20 mm beside the line, and yaws
        place = (0.4 * DT * k, 0.02 if k else 0.0, 0.1 * math.sin(0.1 * k))
        target = target_line.at((0.4, 0.0, 0.0), place, (0.4, 0.0, 0.0), DT)
        assert target.heading == pytest.approx(0.0, abs=1e-12)
        assert target.pose[:2] == pytest.approx((place[0], 0.0), abs=1e-12)
        assert target.pose[2] == pytest.approx(0.0, abs=1e-12)


def test_a_twist_that_is_turned_with_the_robot_keeps_its_direction():
    target_line = line()
    for k in range(200):
        yaw = 0.3 * math.sin(0.05 * k)
        twist = (0.4 * math.cos(0.7 - yaw), 0.4 * math.sin(0.7 - yaw), 0.0)
        target = target_line.at(twist, (0.0, 0.0, yaw), (0.0, 0.0, 0.0), DT)
        # a direction that differs by less than 1e-3 rad is not taken for a new one
        assert target.heading == pytest.approx(0.7, abs=1.1e-3)
        assert target.pose[2] == pytest.approx(0.0, abs=1e-9)


def test_the_line_comes_along_when_the_robot_is_far_away():
    target_line = line()
    target_line.at((0.4, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), DT)
    target = target_line.at((0.4, 0.0, 0.0), (0.0, 0.5, 1.0), (0.0, 0.0, 0.0), DT)
    # 0.1 m across its heading, which follows 0.6 rad behind
    assert target.pose[2] == pytest.approx(0.4)
    across = (0.5 - target.pose[1]) * math.cos(0.4) + target.pose[0] * math.sin(0.4)
    assert across == pytest.approx(0.1)


def test_a_twist_speeds_up_and_slows_down_evenly():
    start = line().at((0.5, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), DT)
    assert start.accel == pytest.approx((0.8, 0.0, 0.0))
    slower = line().at((0.2, 0.0, 0.0), (0.0, 0.0, 0.0), (0.5, 0.0, 0.0), DT)
    assert slower.velocity == pytest.approx((0.5, 0.0, 0.0))
    assert slower.accel == pytest.approx((-0.8, 0.0, 0.0))
    there = line().at((0.5, 0.0, 0.0), (0.0, 0.0, 0.0), (0.5, 0.0, 0.0), DT)
    assert there.accel == pytest.approx((0.0, 0.0, 0.0))


def test_zero_stops_along_the_motion_and_then_holds_the_place():
    target_line = line()
    stopping = target_line.at((0.0, 0.0, 0.0), (1.0, 2.0, 0.0), (0.3, 0.4, 0.0), DT)
    assert stopping.pose[:2] == pytest.approx((1.0, 2.0))
    assert stopping.accel[:2] == pytest.approx((-0.48, -0.64))
    target_line.at((0.0, 0.0, 0.0), (1.1, 2.0, 0.0), (0.0, 0.01, 0.0), DT)
    held = target_line.at((0.0, 0.0, 0.0), (1.13, 2.0, 0.0), (0.0, 0.01, 0.0), DT)
    # 0.13 m away is more than the leash of 0.1 m
    assert held.pose[:2] == pytest.approx((1.03, 2.0))
    assert held.velocity == pytest.approx((0.0, 0.0, 0.0))


def test_a_turning_twist_bends_the_path():
    target_line = line()
    for _ in range(1000):
        target = target_line.at((0.3, 0.0, 0.2), (0.0, 0.0, 0.0), (0.3, 0.0, 0.0), DT)
    # centripetal: v ω to the left of the heading
    c, s = math.cos(target.heading), math.sin(target.heading)
    assert c * target.accel[1] - s * target.accel[0] == pytest.approx(
        0.2 * (target.velocity[0] * c + target.velocity[1] * s), abs=1e-9)
    assert target.velocity[2] == pytest.approx(0.2)
