# SPDX-License-Identifier: Apache-2.0
"""Commands of steered modules: flips, arrival, standing turns, limits, fixed wheels."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from c3p_description import load
from c3p_kinematics.casters import sensed_forward
from c3p_kinematics.module_commands import ModuleSteering, allowed_twist
from c3p_kinematics.rolling import rolling_rates

SWERVE = load('swerve')
BESIDE = replace(SWERVE, name='beside', lateral_offset=[0.045, -0.045, -0.045, 0.045])
DT = 0.01


def settle(modules, steering, twist, cycles=100):
    """Return all commands until the modules have arrived."""
    found = []
    for _ in range(cycles):
        found.append(modules.step(steering, twist, DT))
        steering = found[-1].steering
    return found


@pytest.mark.parametrize('sign', [1, -1])
def test_modules_at_a_right_angle_do_not_turn_apart(sign):
    """Three at 88° and one at 92°: one way for all, by the same turn."""
    modules = ModuleSteering(SWERVE)
    off = sign * np.radians([88.0, 88.0, 92.0, 88.0])
    found = settle(modules, -off, [0.0, 0.5, 0.0])
    turned = found[-1].steering + off
    np.testing.assert_allclose(turned, off, atol=1e-9)
    for command in found:
        # in step: the turns are in proportion, and all wheels roll the same way
        part = (command.steering + off) / off
        np.testing.assert_allclose(part, part[0], atol=1e-9)
        assert np.all(command.wheel_rate >= -1e-12)


def test_noise_at_a_right_angle_does_not_change_the_decision():
    rng = np.random.default_rng(1)
    modules = ModuleSteering(SWERVE)
    steering = np.zeros(4)
    signs = set()
    for _ in range(60):
        angle = np.radians(90.0 + rng.normal())
        command = modules.step(steering, [-0.5 * np.sin(angle), 0.5 * np.cos(angle), 0.0], DT)
        steering = command.steering
        signs |= set(np.sign(command.steering_rate[np.abs(steering) < 1.4]))
    assert signs == {1.0}


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_reversal_of_the_command_does_not_swing_the_platform(seed):
    """180° ± 4°: wheels reverse, turn by 4° at most, and make the motion that is commanded."""
    rng = np.random.default_rng(seed)
    modules = ModuleSteering(SWERVE)
    before = np.array([*rng.uniform(-0.5, 0.5, 2), rng.uniform(-0.3, 0.3)])
    if np.abs(before[:2]).max() < 0.1:
        return
    steering = settle(modules, np.zeros(4), before)[-1].steering
    angle = np.pi + np.radians(rng.uniform(-4.0, 4.0))
    c, s = np.cos(angle), np.sin(angle)
    after = np.array([c * before[0] - s * before[1], s * before[0] + c * before[1], -before[2]])
    yaw = 0.0
    for command in settle(modules, steering, after, 30):
        found = sensed_forward(SWERVE, command.steering, command.wheel_rate,
                               command.steering_rate).twist
        yaw += DT * (found[2] - command.twist[2])
        assert abs(np.degrees(yaw)) < 0.2
    assert np.abs(command.steering - steering).max() < np.radians(12.0)
    np.testing.assert_allclose(command.twist, after, atol=1e-9)


@pytest.mark.parametrize('robot', [SWERVE, BESIDE, load('twin')])
def test_the_platform_stands_while_its_modules_turn(robot):
    """Wheels beside their pivots roll around them; the twist of all joints is the command's."""
    robot = replace(robot, caster_offset=0.0, steering_rate_limit=5.0)
    modules = ModuleSteering(robot)
    # across the wheels, so that the factor of the speed is nearly zero
    command = modules.step(np.zeros(robot.count), [-0.4, 0.0, 0.0], DT)
    assert np.abs(command.steering_rate).max() == pytest.approx(5.0)
    if robot is not SWERVE:
        assert (np.abs(command.wheel_rate) > 0.1).all() == bool(robot.lateral_offset.all())
    found = sensed_forward(robot, command.steering, command.wheel_rate, command.steering_rate)
    assert np.abs(found.twist).max() < 0.01 * 0.4


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_modules_arrive_within_their_limits_at_the_wanted_motion(seed):
    rng = np.random.default_rng(seed)
    robot = replace(BESIDE, steering_rate_limit=rng.uniform(2.0, 20.0, 4))
    twist = rng.uniform(-0.6, 0.6, 3)
    found = settle(ModuleSteering(robot), rng.uniform(-4, 4, 4), twist, 120)
    for command in found:
        assert np.all(np.abs(command.steering_rate) <= robot.steering_rate_limit * (1 + 1e-12))
    last = found[-1]
    np.testing.assert_allclose(last.twist, twist, atol=1e-9)
    rates = rolling_rates(robot, last.steering, twist)
    np.testing.assert_allclose(rates.side_slip, 0.0, atol=1e-9)
    np.testing.assert_allclose(last.wheel_rate, rates.wheel_rate, atol=1e-9)


def test_fixed_wheels_leave_the_motions_that_they_allow():
    tricycle = load('tricycle_agv')
    twist = allowed_twist(tricycle, [0.2, 0.3, 0.4])
    assert twist[1] == pytest.approx(0.0, abs=1e-12)
    assert twist[0] == pytest.approx(0.2) and twist[2] != 0.0
    command = settle(ModuleSteering(tricycle), np.full(3, -np.pi / 2), [0.2, 0.0, 0.4])[-1]
    # the wheel in front points at the centre of rotation, 0.5 m to the left of the rear axle
    assert command.steering[0] + np.pi / 2 == pytest.approx(np.arctan2(0.15, 0.5))
    np.testing.assert_allclose(command.wheel_rate[1:], (
        0.2 - 0.4 * tricycle.hip_position[1:, 1]) / 0.0325, rtol=1e-12)


def test_modules_stay_as_they_are_at_standstill():
    angles = np.array([0.3, -1.0, 2.0, 5.0])
    command = ModuleSteering(SWERVE).step(angles, np.zeros(3), DT)
    np.testing.assert_array_equal(command.steering, angles)
    np.testing.assert_array_equal(command.wheel_rate, 0.0)
