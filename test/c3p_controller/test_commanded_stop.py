# SPDX-License-Identifier: Apache-2.0
"""A robot that is commanded to stop slows down, or is reported with joints and rates."""

from dataclasses import replace

import numpy as np
import pytest

from c3p_controller.commanded_stop import MARGIN, STOPPED_SPEED, CommandedStop
from c3p_description import load

ROBOT, PERIOD = load('c3p'), 0.005


def watch(rates, seconds, deceleration=1.0, robot=ROBOT, stops=lambda t: True):
    """Return the texts of wheels with `rates`, a function of time, and times of the reports."""
    seen, texts = CommandedStop(robot), []
    for k in range(round(seconds / PERIOD)):
        t = PERIOD * k
        seen.step(t, np.asarray(rates(t), float), stops(t), deceleration)
        if seen.text:
            texts.append((t, seen.text))
    return texts


def test_wheels_that_turn_on_are_reported_with_their_joints_and_rates():
    texts = watch(lambda t: [10.0, -9.0, 0.0], 3.0)
    begin, text = texts[0]
    assert MARGIN < begin < MARGIN + 0.2 and texts[-1][0] > 2.9
    assert 'does not slow down' in text and 'wheel_joint_1 10.0 rad/s' in text
    assert 'wheel_joint_2 -9.0 rad/s' in text and 'emergency stop' in text


def test_wheels_that_turn_faster_are_reported_at_once():
    begin, text = watch(lambda t: np.full(3, 5.0 + 20.0 * t), 1.0)[0]
    assert begin < MARGIN and 'accelerates' in text


@pytest.mark.parametrize('deceleration', [1.0, 0.125])
def test_half_of_the_promised_deceleration_is_an_effect(deceleration):
    assert watch(lambda t: np.full(3, max(0.0, 12.0 - 12.6 * deceleration * t)), 8.0,
                 deceleration) == []


def test_a_stop_that_ends_takes_the_report_with_it():
    texts = watch(lambda t: np.full(3, 10.0 if t < 2.0 else 0.0), 4.0)
    assert 2.0 < texts[-1][0] < 2.1


def test_a_slope_or_a_push_by_hand_after_the_stop_is_none_of_its_failures():
    """The robot stops within 0.4 s; then it rolls away, as a robot at rest has no torque."""
    assert watch(lambda t: np.full(3, max(0.0, 10.0 - 25.0 * t) if t < 1.0 else 5.0 * (t - 1.0)),
                 5.0) == []


def test_a_stop_that_a_slope_of_5_degrees_slows_down_is_an_effect():
    """1 m/s² against 0.86 m/s² of the slope would be late; the stop is stronger than it."""
    assert watch(lambda t: np.full(3, max(0.0, 10.0 - 0.6 / 0.04 * t)), 5.0) == []


def test_a_robot_that_sways_at_rest_is_no_failure():
    assert watch(lambda t: np.full(3, 0.9 * STOPPED_SPEED / 0.04 * np.sin(20 * t)), 5.0) == []


def test_a_command_that_moves_ends_the_stop_and_the_next_one_begins_anew():
    texts = watch(lambda t: np.full(3, 10.0), 3.0, stops=lambda t: t % 0.5 > 0.1)
    assert texts == []


def test_motors_that_are_too_weak_for_the_limits_are_given_their_time():
    heavy = replace(ROBOT, platform_mass=300.0)
    # 90 N on 306 kg: 0.29 m/s²
    assert watch(lambda t: np.full(3, max(0.0, 10.0 - 0.2 / 0.04 * t)), 5.0, robot=heavy) == []


def test_a_single_wheel_that_spins_is_not_the_motion_of_the_robot():
    """On oil the torque of the brake turns a wheel round and spins it; the robot slows down."""
    slowing = lambda t: max(0.0, 5.0 - 25.0 * t)  # noqa: E731
    assert watch(lambda t: [slowing(t), -80.0 + 400.0 * t, slowing(t)], 1.0) == []
    assert watch(lambda t: [0.0, 80.0, 80.0], 3.0)
