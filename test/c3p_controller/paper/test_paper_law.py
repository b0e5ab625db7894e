# SPDX-License-Identifier: Apache-2.0
"""The papers' cascade as one law: the same torques as its parts give one after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as suite_settings
from hypothesis import strategies as st
from robots import C3P, caster_robots

from c3p_controller.paper.law import PaperLaw, PaperSettings
from c3p_controller.paper.velocity import VelocityController, VelocityGains
from c3p_controller.setpoint_limits import ReferenceLimits
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_dynamics.caster_dynamics import inverse_dynamics

DT = 0.005


def samples(robot, seed, count=40):
    """Return sensed states and commands without any order."""
    rng, n = np.random.default_rng(seed), robot.count
    for k in range(count):
        yield (Sensed(DT * k, rng.uniform(-4, 4, n), rng.uniform(-9, 9, n), np.zeros(3),
                      rng.uniform(-0.5, 0.5, 3)), rng.uniform(-1, 1, 3))


@given(caster_robots(), st.integers(0, 1000), st.floats(0.001, 2.0), st.floats(0.0, 3.0))
@suite_settings(max_examples=15)
def test_the_law_gives_the_torques_that_its_parts_give_through_the_nodes(robot, seed, weight,
                                                                         exponent):
    gains = VelocityGains(lambda_1=exponent, lambda_2=exponent, wheel_gain=0.3)
    limits = ReferenceLimits(acceleration=0.7)
    law = PaperLaw(robot, PaperSettings(gains, limits, weight))
    parts = VelocityController(robot, gains, limits, weight)
    for sensed, command in samples(robot, seed):
        torque = law.step(sensed, Setpoint(command), DT)
        accel = parts.accel(command, sensed.twist, DT)
        dynamics = inverse_dynamics(robot, sensed.steering, sensed.twist, accel, weight)
        assert np.array_equal(torque, parts.fuse(sensed.steering, sensed.wheel_rate, sensed.twist,
                                                 dynamics))
        assert np.array_equal(law.reference, parts.reference)


def test_reset_forgets_and_goes_on_from_what_is_sensed():
    used, fresh = PaperLaw(C3P), PaperLaw(C3P)
    for sensed, command in samples(C3P, 3):
        used.step(sensed, Setpoint(command), DT)
    sensed, command = next(samples(C3P, 4))
    for law in (used, fresh):
        law.reset(sensed)
        assert np.array_equal(law.reference, sensed.twist)
    assert np.array_equal(used.step(sensed, Setpoint(command), DT),
                          fresh.step(sensed, Setpoint(command), DT))
    used.reset()
    assert not used.reference.any()


def test_standing_with_nothing_asked_gives_exactly_nothing():
    still = np.zeros(3)
    torque = PaperLaw(C3P).step(Sensed(0.0, still, still, still, still), Setpoint(still), DT)
    assert not torque.any()


@pytest.mark.parametrize('weight', [1.0, 0.023])
def test_the_weight_is_that_of_the_inverse_dynamics(weight):
    # at parallel casters a side force becomes a yaw moment, 1/(1 + w_s) of −d F
    law = PaperLaw(C3P, PaperSettings(VelocityGains(friction_compensation=0.0, wheel_gain=0.0),
                                      virtual_steering_weight=weight))
    still = np.zeros(3)
    torque = law.step(Sensed(0.0, still, still, still, still), Setpoint(np.array([0.3, 0, 0])), DT)
    accel = VelocityController(C3P, VelocityGains(), ReferenceLimits(), weight).accel(
        np.array([0.3, 0, 0]), still, DT)
    assert torque == pytest.approx(inverse_dynamics(C3P, still, still, accel, weight), abs=1e-15)
    assert torque.any()
