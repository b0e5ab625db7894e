# SPDX-License-Identifier: Apache-2.0
"""What joint rates a command asks for: those of a vehicle that rolls on flat ground."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_description import load
from c3p_rough_ground.node.commands import (
    AUTODRIVE,
    CAMBERS,
    COMMANDED,
    DRIVES,
    REFUSED,
    STALE,
    STEERING,
    USABLE_STEERING,
    WAITING,
    Commands,
    ackermann,
)

MODEL = load('pvc_tricycle')
PERIOD = 0.01


def contact_slip(speed, yaw_rate, steering, drives):
    """Velocity of the tyre against flat ground at each wheel, along and across its heading."""
    out = []
    for (x, y, _), angle, rate in zip(MODEL.wheel_centers, (steering, 0.0, 0.0), drives,
                                      strict=True):
        velocity = np.array([speed - yaw_rate * y, yaw_rate * x])
        along, across = np.array([[math.cos(angle), math.sin(angle)],
                                  [-math.sin(angle), math.cos(angle)]]) @ velocity
        out.append((along - MODEL.outer_radius * rate, across))
    return np.array(out)


@given(speed=st.floats(-1.5, 1.5), steering=st.floats(-0.6, 0.6))
def test_wheels_do_not_slip_once_the_steering_is_there(speed, steering):
    yaw_rate = speed * math.tan(steering) / MODEL.wheelbase
    rates = ackermann(MODEL, speed, yaw_rate, steering, PERIOD)
    assert abs(rates[STEERING]) * PERIOD < 1e-9 or speed == 0.0
    slip = contact_slip(speed, yaw_rate, steering, rates[DRIVES])
    # rounding of sums of a few terms of about 1 m/s
    np.testing.assert_allclose(slip, 0.0, atol=1e-12)
    assert not rates[CAMBERS].any()


@given(speed=st.floats(-100, 100), yaw_rate=st.floats(-100, 100), steering=st.floats(-1, 1))
def test_no_command_asks_for_more_than_the_motors_can(speed, yaw_rate, steering):
    rates = ackermann(MODEL, speed, yaw_rate, steering, PERIOD)
    assert np.isfinite(rates).all()
    assert abs(rates[STEERING]) <= MODEL.steering_rate_limit
    assert np.abs(rates[DRIVES]).max() <= MODEL.drive_rate_limit * (1 + 1e-12)


@given(speed=st.floats(-1, 1), yaw_rate=st.floats(-5, 5))
def test_steering_arrives_within_its_range_and_stays(speed, yaw_rate):
    steering = 0.0
    for _ in range(200):
        steering += PERIOD * ackermann(MODEL, speed, yaw_rate, steering, PERIOD)[STEERING]
    assert abs(steering) <= USABLE_STEERING * MODEL.steering_limit + 1e-12
    wanted = math.atan(MODEL.wheelbase * yaw_rate / speed) if speed else steering
    if abs(wanted) < USABLE_STEERING * MODEL.steering_limit:
        assert steering == pytest.approx(wanted, abs=1e-9)


def test_a_left_turn_steers_left_and_drives_the_right_wheel_faster():
    rates = ackermann(MODEL, 0.5, 0.1, 0.2, PERIOD)
    assert rates[STEERING] > 0 and rates[DRIVES[2]] > rates[DRIVES[1]] > 0


def test_turning_on_the_spot_only_steers():
    rates = ackermann(MODEL, 0.0, -0.5, 0.0, PERIOD)
    assert rates[STEERING] == -MODEL.steering_rate_limit and not rates[DRIVES].any()
    assert not ackermann(MODEL, 0.0, 0.0, 0.3, PERIOD).any()


def test_a_command_wins_over_driving_by_itself_until_it_is_forgotten():
    commands = Commands(MODEL, autodrive=True, drive_rate=1.2, timeout=0.5)
    joint = np.zeros(6)
    assert commands.source(0.0) == AUTODRIVE
    assert commands.rates(joint, 0.0, PERIOD)[DRIVES].tolist() == [1.2] * 3
    commands.command(0.3, 0.0, now=1.0)
    assert commands.source(1.5) == COMMANDED
    np.testing.assert_allclose(commands.rates(joint, 1.5, PERIOD)[DRIVES], 1.0, rtol=1e-12)
    assert commands.source(1.51) == STALE
    assert not commands.rates(joint, 1.51, PERIOD).any()
    commands.forget()
    assert commands.source(2.0) == AUTODRIVE
    commands.autodrive = False
    assert commands.source(2.0) == WAITING and not commands.rates(joint, 2.0, PERIOD).any()


def test_what_cannot_be_used_stops_the_vehicle_until_something_can():
    commands = Commands(MODEL)
    commands.command(0.3, 0.0, now=0.0)
    commands.refuse()
    assert commands.source(0.1) == REFUSED and not commands.rates(np.zeros(6), 0.1, 0.01).any()
    commands.command(0.3, 0.0, now=0.2)
    assert commands.source(0.3) == COMMANDED


def test_camber_gain_uprights_the_wheels_while_driving_only():
    commands = Commands(MODEL, camber_gain=2.0)
    joint = np.array([0.0, 5.0, 0.1, 5.0, -0.2, 5.0])
    np.testing.assert_allclose(commands.rates(joint, 0.0, 0.01)[CAMBERS], [-0.2, 0.4])
    # not further than upright in one period
    np.testing.assert_allclose(commands.rates(joint, 0.0, 1.0)[CAMBERS], [-0.1, 0.2])
    commands.drive_rate = 0.0
    assert not commands.rates(joint, 0.0, 0.01).any()
