# SPDX-License-Identifier: Apache-2.0
"""The reference shaper: direction, acceleration over the floor, and where it ends."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from robots import vectors

from c3p_controller.limits import ReferenceLimits, limit_twist
from c3p_controller.paper.velocity import ReferenceShaper

LIMITS = ReferenceLimits(speed=0.6, yaw_rate=1.0, acceleration=0.2, yaw_acceleration=0.4)
DT = 0.005


def turned(twist, angle):
    """Return the linear part of `twist` in axes that stand at `angle` to it, seen from those."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * twist[0] - s * twist[1], s * twist[0] + c * twist[1]])


@given(vectors(3, 20.0))
def test_a_limited_twist_keeps_its_direction_and_its_curvature(twist):
    limited = limit_twist(twist, LIMITS)
    assert math.hypot(*limited[:2]) <= LIMITS.speed * (1 + 1e-12)
    assert abs(limited[2]) <= LIMITS.yaw_rate * (1 + 1e-12)
    # parallel: the cross product vanishes against the lengths, far below 1e-6 rad
    assert np.linalg.norm(np.cross(twist, limited)) <= 1e-9 * (1 + twist @ twist)
    assert twist @ limited >= 0.0


@given(vectors(3, 0.4))
def test_a_twist_inside_the_limits_is_left_alone(twist):
    assert np.array_equal(limit_twist(twist, LIMITS), twist)


@given(vectors(2, 3.0), st.floats(-3.0, 3.0))
def test_from_rest_the_reference_points_where_the_command_points(command, yaw_rate):
    shaper = ReferenceShaper(LIMITS)
    twist, _ = shaper.step(np.array([*command, 0.0]), yaw_rate, DT)
    if math.hypot(*command) < 1e-6:
        return
    cross = command[0] * twist[1] - command[1] * twist[0]
    angle = math.atan2(cross, command @ twist[:2])
    assert abs(angle) <= 1e-6


@given(st.lists(vectors(3, 2.0), min_size=1, max_size=8), st.lists(
    st.floats(-3.0, 3.0), min_size=1, max_size=8), st.floats(0.001, 0.05))
def test_acceleration_over_the_floor_is_never_above_its_limit(commands, yaw_rates, dt):
    shaper, before, before_yaw = ReferenceShaper(LIMITS), np.zeros(3), 0.0
    for k in range(40):
        command, rate = commands[k % len(commands)], yaw_rates[k % len(yaw_rates)]
        twist, _ = shaper.step(command, rate, dt)
        yaw = before_yaw + rate * dt
        change = turned(twist, yaw) - turned(before, before_yaw)
        # rounding of a difference of velocities below 3 m/s
        assert math.hypot(*change) <= LIMITS.acceleration * dt + 1e-12
        assert abs(twist[2] - before[2]) <= LIMITS.yaw_acceleration * dt + 1e-12
        before, before_yaw = twist.copy(), yaw


@given(vectors(3, 2.0), vectors(3, 0.6), st.floats(-2.0, 2.0))
@example(np.array([0.0, 1.0, 0.0]), np.zeros(3), 1.3)
def test_it_ends_exactly_at_the_limited_command_and_stays(command, start, yaw_rate):
    shaper = ReferenceShaper(LIMITS)
    shaper.reset(start)
    # turning axes move the reference by yaw_rate·speed·dt at most, less than the limit allows;
    # 2 m/s at 0.2 m/s² are 10 s, once more for the axes
    slow = 0.2 * yaw_rate
    for _ in range(5000):
        twist, _ = shaper.step(command, slow, DT)
    target = limit_twist(command, LIMITS)
    if abs(slow) * LIMITS.speed < 0.8 * LIMITS.acceleration:
        assert twist == pytest.approx(target, abs=1e-12)
        again, _ = shaper.step(command, 0.0, DT)
        assert again == pytest.approx(target, abs=1e-12)


@given(vectors(3, 0.4), st.floats(-3.0, 3.0))
def test_straight_over_the_floor_costs_no_acceleration_while_the_body_turns(start, yaw_rate):
    # without the filter: in turning axes a floor velocity is a changing command, which it delays
    shaper = ReferenceShaper(replace(LIMITS, smoothing=0.0))
    shaper.reset(start)
    yaw, floor = 0.0, start[:2].copy()
    for _ in range(50):
        yaw += yaw_rate * DT
        # the same floor velocity, seen from the axes after the step
        command = np.array([*turned(np.array([*floor, 0.0]), -yaw), start[2]])
        twist, _ = shaper.step(command, yaw_rate, DT)
        assert twist == pytest.approx(command, abs=1e-12)


def test_a_command_in_steps_becomes_a_reference_without_jumps_in_its_acceleration():
    # 50 commands a second for 200 steps, on a ramp below the limit of acceleration
    def accelerations(smoothing):
        shaper = ReferenceShaper(replace(LIMITS, smoothing=smoothing))
        return np.array([shaper.step(np.array([0.1 * 0.02 * (k // 4), 0.0, 0.0]), 0.0, DT)[1][0]
                         for k in range(400)])[100:300]

    assert np.ptp(accelerations(0.0)) == pytest.approx(0.2)  # between nothing and the limit
    assert np.ptp(accelerations(0.04)) < 0.06


@given(vectors(3, 2.0), st.floats(-3.0, 3.0))
def test_the_acceleration_returned_is_the_derivative_of_the_components(command, yaw_rate):
    shaper, before = ReferenceShaper(LIMITS), np.zeros(3)
    for _ in range(10):
        twist, accel = shaper.step(command, yaw_rate, DT)
        assert accel * DT == pytest.approx(twist - before, abs=1e-12)
        before = twist.copy()


def test_reset_starts_from_rest_or_from_what_is_given():
    shaper = ReferenceShaper(LIMITS)
    shaper.step(np.ones(3), 0.0, DT)
    shaper.reset()
    assert not shaper.twist.any()
    given_twist = np.array([0.1, 0.2, 0.3])
    shaper.reset(given_twist)
    given_twist[:] = 9.0
    assert shaper.twist.tolist() == [0.1, 0.2, 0.3]


def test_infinite_limits_follow_at_once():
    free = ReferenceLimits(*[math.inf] * 4, smoothing=0.0)
    twist, _ = ReferenceShaper(free).step(np.array([3.0, -4.0, 5.0]), 0.7, DT)
    assert twist == pytest.approx([3.0, -4.0, 5.0])
