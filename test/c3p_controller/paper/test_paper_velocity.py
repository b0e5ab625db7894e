# SPDX-License-Identifier: Apache-2.0
"""The papers' law: limits, standstill, memory, weight, and tracking of a twist."""

import math

import numpy as np
import pytest
from closed_loop import DYNAMICS, ROBOT, velocity_controller
from hypothesis import given
from robots import C3P, vectors

from c3p_controller.limits import limit_torque
from c3p_controller.paper.velocity import PaperLaw, PaperSettings, VelocityGains
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_dynamics.caster_dynamics import inverse_dynamics
from c3p_simulation.plants.plant import AnalyticPlant

DT, STILL = 0.005, np.zeros(3)


def at(steering, wheel_rate, twist):
    return Sensed(0.0, steering, wheel_rate, np.zeros(3), twist)


def follow(command, steering, seconds, start=(0.0, 0.0, 0.0)):
    """Return (true twists, torques) of a robot that follows `command` for some time."""
    plant, controller = AnalyticPlant(ROBOT), velocity_controller()
    sample = plant.reset(steering=steering, twist=start)
    controller.reset(at(np.zeros(3), np.zeros(3), np.array(start, float)))
    twists, torques = [], []
    for _ in range(round(seconds / DT)):
        twist = plant.truth().twist
        accel = controller.accel(np.array(command, float), twist, DT)
        dynamics = inverse_dynamics(ROBOT, sample.steering, twist, accel,
                                    DYNAMICS['virtual_steering_weight'])
        torques.append(controller.fuse(at(sample.steering, sample.wheel_rate, twist), dynamics))
        sample = plant.step(torques[-1], DT)
        twists.append(plant.truth().twist)
    return np.array(twists), np.array(torques)


@given(vectors(3, 50.0), vectors(3, 3.0).map(lambda v: 0.1 + abs(v)))
def test_limited_torques_keep_the_direction_of_the_wrench(torque, limit):
    limited = limit_torque(torque, limit)
    assert np.all(np.abs(limited) <= limit * (1 + 1e-12))
    # parallel and not reversed; 1e-9 is far below an angle of 1e-6 rad
    assert np.linalg.norm(np.cross(torque, limited)) <= 1e-9 * (1 + torque @ torque)
    assert limited @ torque >= 0.0
    if np.all(np.abs(torque) <= limit):
        assert np.array_equal(limited, torque)


@given(vectors(3, 7.0), vectors(3, 50.0), vectors(3, 2.0), vectors(3, 2.0), vectors(3, 100.0))
def test_torques_are_finite_and_inside_their_limits_whatever_comes(steering, wheel_rate, command,
                                                                  sensed, dynamics):
    controller = velocity_controller()
    accel = controller.accel(command, sensed, DT)
    torque = controller.fuse(at(steering, wheel_rate, sensed), dynamics)
    assert np.all(np.isfinite(accel)) and np.all(np.isfinite(torque))
    assert np.all(np.abs(torque) <= ROBOT.torque_limit)


def test_at_rest_with_nothing_asked_the_torques_are_zero():
    controller = velocity_controller()
    # sensors of a standing robot: below the standstill thresholds, but not zero
    accel = controller.accel(STILL, np.array([0.001, -0.002, 0.003]), DT)
    torque = controller.fuse(at(STILL, np.full(3, 0.02), STILL), np.ones(3))
    assert not accel.any() and not torque.any()


def test_reset_forgets_and_starts_from_the_measured_state():
    used, fresh, rng = velocity_controller(), velocity_controller(), np.random.default_rng(3)
    states = [(at(rng.uniform(-4, 4, 3), rng.uniform(-9, 9, 3), rng.uniform(-0.5, 0.5, 3)),
               Setpoint(rng.uniform(-1, 1, 3))) for _ in range(40)]
    for sensed, setpoint in states:
        used.step(sensed, setpoint, DT)
    sensed, setpoint = states[7]
    for law in (used, fresh):
        law.reset(sensed)
        assert np.array_equal(law.reference, sensed.twist)
    assert np.array_equal(used.step(sensed, setpoint, DT), fresh.step(sensed, setpoint, DT))
    used.reset()
    assert not used.reference.any()


@pytest.mark.parametrize('weight', [1.0, 0.023])
def test_the_weight_is_that_of_the_inverse_dynamics(weight):
    # at parallel casters a side force becomes a yaw moment, 1/(1 + w_s) of −d F
    settings = PaperSettings(VelocityGains(friction_compensation=0.0, wheel_gain=0.0),
                             virtual_steering_weight=weight)
    law, other, command = PaperLaw(C3P, settings), PaperLaw(C3P, settings), np.array([0.3, 0, 0])
    torque = law.step(at(STILL, STILL, STILL), Setpoint(command), DT)
    accel = other.accel(command, STILL, DT)
    assert torque == pytest.approx(inverse_dynamics(C3P, STILL, STILL, accel, weight), abs=1e-15)
    assert torque.any()


def test_reset_to_a_motion_goes_on_from_it_without_a_jump():
    controller, moving = velocity_controller(), np.array([0.1, 0.3, 0.2])
    controller.reset(at(STILL, STILL, moving))
    accel = controller.accel(moving, moving, DT)
    # what is left is the turning of the axes: ω × v of components, 0.2 · 0.32 m/s²
    assert np.abs(accel).max() <= 0.07


@pytest.mark.parametrize('command', [(0.0, 0.3, 0.0), (0.0, 0.3, 0.2), (0.0, -0.4, 0.0),
                                     (0.2, 0.3, 0.0)])
def test_a_constant_twist_is_followed_closely(command):
    steering = math.atan2(-command[0], command[1])
    twists, torques = follow(command, steering, 10.0)
    speed_error = np.abs(twists[-200:, :2] - np.array(command[:2])).max()
    assert speed_error <= 0.02, f'{twists[-1]}'
    assert np.all(np.abs(torques) <= ROBOT.torque_limit)


def test_commanded_to_stand_it_comes_to_rest_and_to_exactly_zero_torque():
    twists, torques = follow((0.0, 0.0, 0.0), 0.0, 6.0, start=(0.0, 0.4, 0.0))
    assert np.abs(twists[-1]).max() < 0.005
    assert not torques[-1].any()


def test_from_the_singular_start_the_missing_direction_is_found():
    twists, _ = follow((0.3, 0.0, 0.0), 0.0, 6.0)
    assert twists[-1, 0] == pytest.approx(0.3, abs=0.02)
    # while the casters turn, travel across stays small
    assert np.abs(twists[:, 1]).max() < 0.1


def test_the_reference_never_jumps():
    controller, before = velocity_controller(), np.zeros(3)
    limit = controller.shaper.limits.acceleration * DT
    rng = np.random.default_rng(1)
    for _ in range(500):
        controller.accel(rng.uniform(-1, 1, 3), STILL, DT)
        assert math.hypot(*(controller.reference - before)[:2]) <= limit + 1e-12
        before = controller.reference.copy()
