# SPDX-License-Identifier: Apache-2.0
"""A brake whose wheels count backwards finds its sense, and no other brake changes its own."""

import numpy as np
import pytest
from robots import C3P

from c3p_controller.brake_sense import BrakeSense
from c3p_kinematics.wiring_hypotheses import wirings
from c3p_kinematics.wiring_monitor import RIGHT, LikelyWiring

DT = 0.005


def brake(counts, motors, doubted=(), push=0.0, mass=C3P.total_mass):
    """
    Brake a robot at 0.4 m/s for 2 s; return its speeds, m/s.

    `counts` and `motors` are signs of each wheel; `push` is an acceleration, m/s².
    """
    sense = BrakeSense(C3P)
    sense.doubt(np.isin(np.arange(3), doubted))
    speeds = [0.4]
    for k in range(400):
        measured = counts * speeds[-1] / C3P.wheel_radius
        torque = sense.torque(DT * k, measured, 0.1, 0.005)
        force = np.sum(motors * torque[:3] / C3P.wheel_radius)
        speeds.append(speeds[-1] + DT * (force / mass + push))
    return np.array(speeds)


ONES = np.ones(3)


@pytest.mark.parametrize('doubted', [(), (0, 1, 2)])
@pytest.mark.parametrize('payload', [1.0, 1.9])
def test_wheels_that_count_against_their_motors_stop(doubted, payload):
    speeds = brake(-ONES, ONES, doubted, mass=payload * C3P.total_mass)
    assert abs(speeds[-1]) < 0.02 and speeds.max() < (0.5 if doubted else 0.65)


@pytest.mark.parametrize('doubted', [(), (0, 1, 2)])
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_wheels_that_count_with_their_motors_are_braked_as_described(doubted, sign):
    speeds = brake(sign * ONES, sign * ONES, doubted)
    assert np.array_equal(speeds, brake(ONES, ONES)) and speeds.max() == 0.4
    assert abs(speeds[-1]) < 0.02


def test_one_doubted_wheel_that_counts_against_its_motor_slows_down_with_the_others():
    counts = np.array([-1.0, 1.0, 1.0])
    assert abs(brake(counts, ONES, (0,))[-1]) < 0.02


@pytest.mark.parametrize('push', [0.5, 1.0, 2.5])
def test_a_slope_or_a_push_does_not_turn_the_brake(push):
    speeds = brake(ONES, ONES, push=push)
    # the brake is as strong as the push at a speed of push/6
    assert speeds[-1] < push / 5.0 + 0.02


def test_a_robot_that_gains_speed_in_both_senses_gets_no_torque_and_a_later_brake_is_new():
    sense = BrakeSense(C3P)
    for k in range(200):
        torque = sense.torque(DT * k, np.full(3, 5.0 + 0.4 * k), 0.1, 0.005)
    assert sense.sign.tolist() == [0.0, 0.0, 0.0] and not torque.any()
    assert sense.torque(3.0, np.full(3, 5.0), 0.1, 0.005)[0] < 0.0


def test_wheels_count_backwards_by_the_sum_of_the_likely_wirings():
    by_text = {w.text(): w for w in wirings(3)}
    likely = tuple(LikelyWiring(p, by_text[text], 1.0) for p, text in (
        (0.4, 'all wheel encoders reversed'), (0.3, 'wheel encoder of caster 2 reversed'),
        (0.2, 'casters 1 and 2 exchanged'))) + (LikelyWiring(0.1, None, 1.0),)
    report = RIGHT._replace(doubted=True, right=0.0, likely=likely)
    assert report.backwards == (1,)
    assert report._replace(doubted=False).backwards == ()
    assert RIGHT._replace(doubted=True, likely=likely[-1:]).backwards == ()
