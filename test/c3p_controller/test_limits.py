# SPDX-License-Identifier: Apache-2.0
"""Traction control: torque taken from slipping wheels and returned; slip that does not end."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import caster_robots

from c3p_controller.gripping_law import GrippingLaw
from c3p_controller.limits import (
    ReferenceLimits,
    TorqueShapeError,
    TractionControl,
    TractionSettings,
    braking_torque,
    limit_twist,
)
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_description import load
from c3p_dynamics.traction import torque_bounds
from c3p_kinematics.casters import inverse

C3P, DT = load('c3p'), 0.005
SETTINGS = TractionSettings()


def sensed(twist=(0.0, 0.4, 0.0), spin=(0.0, 0.0, 0.0), robot=C3P):
    """Return a robot that rolls with `twist` while its wheels spin faster by `spin`, rad/s."""
    steering = np.zeros(robot.count)
    rate, _, _ = inverse(robot, steering, twist)
    return Sensed(0.0, steering, rate + np.array(spin), np.zeros(3), np.array(twist))


def run(control, state, torque, seconds):
    for _ in range(round(seconds / DT)):
        control.update(state, np.array(torque), DT)


def test_wheels_that_roll_keep_their_bounds_at_any_speed():
    control = TractionControl(C3P)
    for twist in np.random.default_rng(1).uniform(-1, 1, (100, 3)):
        control.update(sensed(twist), np.full(3, 1.2), DT)
    assert (control.limit == torque_bounds(C3P)).all()
    assert control.describe() == '' and control.fault == ''


def test_a_slipping_wheel_falls_to_the_cut_of_its_torque_and_the_others_do_not():
    control = TractionControl(C3P)
    control.update(sensed(spin=(0.0, 10.0, 0.0)), np.array([0.3, 0.8, 0.1]), DT)
    assert control.limit == pytest.approx([1.2, SETTINGS.cut * 0.8, 1.2])
    assert control.slipping.tolist() == [False, True, False]
    assert control.describe() == 'wheel_joint_2 slips: torque reduced'


def test_slip_in_either_direction_counts():
    control = TractionControl(C3P)
    control.update(sensed(spin=(-10.0, 10.0, 0.0)), np.array([-0.8, 0.8, 0.1]), DT)
    assert control.slipping.tolist() == [True, True, False]


def test_the_limit_stays_for_the_hold_and_returns_within_the_recovery():
    control = TractionControl(C3P)
    control.update(sensed(spin=(10.0, 0.0, 0.0)), np.full(3, 0.4), DT)
    run(control, sensed(), [0.2] * 3, SETTINGS.hold - DT)
    assert control.limit[0] == pytest.approx(0.2)
    assert 'wheel_joint_1 0.20 of 1.20 N·m' in control.describe()
    run(control, sensed(), [0.2] * 3, SETTINGS.recovery / 2)
    assert 0.7 < control.limit[0] < 0.9
    run(control, sensed(), [0.2] * 3, SETTINGS.recovery)
    assert control.limit[0] == 1.2


def test_slip_again_and_again_does_not_take_all_torque_away():
    control = TractionControl(C3P)
    for _ in range(50):
        control.update(sensed(spin=(10.0, 0.0, 0.0)), control.limit, DT)
        control.update(sensed(), control.limit, DT)
    assert control.limit[0] == pytest.approx(SETTINGS.least * 1.2)


def test_a_spinning_wheel_is_damped_against_its_spin_within_the_bound():
    control = TractionControl(C3P)
    control.update(sensed(spin=(5.0, -5.0, 1e4)), np.full(3, 1.0), DT)
    torque = control.apply(np.zeros(3))
    assert torque[0] < 0.0 < torque[1]
    assert torque[2] == -torque_bounds(C3P)[2]


def test_slip_of_all_wheels_that_does_not_end_is_a_fault_with_its_reason():
    control = TractionControl(C3P)
    run(control, sensed(spin=(10.0, 10.0, 10.0)), [0.4] * 3, SETTINGS.patience - DT)
    assert control.fault == ''
    run(control, sensed(spin=(10.0, 10.0, 10.0)), [0.4] * 3, 4 * DT)
    assert 'all driven wheels have slipped for 0.5 s' in control.fault
    control.update(sensed(), np.zeros(3), DT)
    assert control.fault == ''


def test_a_single_wheel_that_slips_has_more_patience():
    control = TractionControl(C3P)
    run(control, sensed(spin=(10.0, 0.0, 0.0)), [0.4] * 3, 3 * SETTINGS.patience)
    assert control.fault == ''
    run(control, sensed(spin=(10.0, 0.0, 0.0)), [0.4] * 3, 2 * SETTINGS.patience)
    assert 'wheel_joint_1 has slipped for' in control.fault


def test_a_robot_that_is_too_fast_is_a_fault_with_rate_and_limit():
    control = TractionControl(C3P)
    fast = sensed(twist=(0.0, 1.3, 0.0))
    run(control, fast, [0.0] * 3, 0.05 - DT)
    assert control.fault == ''
    run(control, fast, [0.0] * 3, 3 * DT)
    assert control.fault == ('wheel_joint_1 turns at 32.5 rad/s: at most 1.2 times its limit of '
                             '25 rad/s')
    run(control, sensed(twist=(0.0, 1.1, 0.0)), [0.0] * 3, DT)
    assert control.fault == ''


def test_a_wheel_that_spins_is_slip_and_no_overspeed():
    control = TractionControl(C3P)
    run(control, sensed(spin=(100.0, 0.0, 0.0)), [0.4] * 3, 0.2)
    assert control.slipping[0] and control.fault == ''


def test_without_a_rate_limit_no_rate_is_too_fast():
    robot = replace(C3P, wheel_rate_limit=np.inf)
    control = TractionControl(robot)
    run(control, sensed(twist=(0.0, 9.0, 0.0)), [0.0] * 3, 0.2)
    assert control.fault == ''


def test_undriven_wheels_are_not_watched():
    robot = replace(C3P, driven=[True, True, False])
    control = TractionControl(robot)
    control.update(sensed(spin=(0.0, 0.0, 50.0), robot=robot), np.zeros(3), DT)
    assert not control.slipping.any()


@given(robot=caster_robots(), seed=st.integers(0, 2**32 - 1))
def test_torques_stay_finite_and_within_the_bounds_whatever_is_sensed(robot, seed):
    rng = np.random.default_rng(seed)
    robot = replace(robot, torque_limit=rng.uniform(0.1, 100.0, robot.count))
    control, n = TractionControl(robot), robot.count
    for _ in range(30):
        control.update(Sensed(0.0, rng.uniform(-9, 9, n), rng.normal(0, 1e3, n), np.zeros(3),
                              rng.normal(0, 1, 3)), rng.normal(0, 10, n), DT)
        torque = control.apply(rng.normal(0, 1e3, n))
        assert (np.abs(torque) <= torque_bounds(robot)).all()
        assert (control.limit >= 0).all() and (control.limit <= torque_bounds(robot)).all()


class Constant:
    """A law that wants the same torque in every cycle."""

    limit = np.zeros(3)

    def reset(self, sensed=None):
        self.was_reset = True

    def step(self, sensed, asked, dt):
        return np.full(3, 1.0)

    def prepare(self):
        pass


def test_a_law_is_given_the_limits_and_held_to_them():
    law = GrippingLaw(Constant(), TractionControl(C3P))
    asked = Setpoint(np.zeros(3))
    assert law.step(sensed(), asked, DT).tolist() == [1.0, 1.0, 1.0]
    torque = law.step(sensed(spin=(10.0, 0.0, 0.0)), asked, DT)
    assert law.law.limit[0] == pytest.approx(0.5)
    assert torque[0] < 0.5 and torque[1:].tolist() == [1.0, 1.0]
    law.reset()
    # what is known of the floor outlives a reset of the law
    assert law.law.was_reset and law.step(sensed(), asked, DT)[0] == pytest.approx(0.5)



@pytest.mark.parametrize('radius', [0.02, 0.04, 0.4])
def test_a_wheel_rests_below_a_rim_speed(radius):
    robot = replace(C3P, wheel_radius=radius)
    rate = np.array([0.9, 1.1, -1.1]) * 0.005 / radius
    assert braking_torque(robot, rate, 0.1, 0.005) == pytest.approx(
        np.array([0.0, -0.1, 0.1]) * np.abs(rate))


def test_torques_of_a_law_are_admitted_within_the_bounds_by_one_factor():
    control = TractionControl(C3P)
    control.update(sensed(), np.zeros(3), DT)
    admitted = control.admit(np.array([2.4, -1.2, 0.6]))
    assert admitted == pytest.approx([1.2, -0.6, 0.3])
    # a wheel that slips is limited behind the factor
    control.update(sensed(spin=(10.0, 0.0, 0.0)), admitted, DT)
    assert control.admit(np.array([2.4, -1.2, 0.6]))[0] < control.limit[0] < 1.2


@pytest.mark.parametrize('wrong', [np.nan, np.inf, -np.inf])
def test_torques_that_are_not_finite_are_not_admitted(wrong):
    control = TractionControl(C3P)
    assert control.admit(np.array([0.1, wrong, 0.1])) is None
    assert control.admit(np.array([wrong, 0.0, 0.0])) is None


@pytest.mark.parametrize('torque', [np.zeros(2), np.zeros((3, 1)), 0.0])
def test_torques_of_another_size_never_reach_a_kernel(torque):
    control = TractionControl(C3P)
    for limit in (control.admit, control.apply):
        with pytest.raises(TorqueShapeError, match=r'must be \(3,\), one for each motor'):
            limit(torque)


def test_limits_of_a_reference_that_are_not_given_are_the_documented_ones():
    limits = ReferenceLimits()
    assert (limits.speed, limits.yaw_rate, limits.smoothing) == (0.8, 2.0, 0.04)
    assert (limits.acceleration, limits.yaw_acceleration) == (0.125, 0.55)
    assert (SETTINGS.slip_speed, SETTINGS.slip_fraction, SETTINGS.cut) == (0.05, 0.05, 0.5)
    assert (SETTINGS.least, SETTINGS.hold, SETTINGS.recovery) == (0.04, 0.3, 4.0)
    assert (SETTINGS.patience, SETTINGS.overspeed) == (0.5, 1.2)


@pytest.mark.parametrize('excess, twist', [
    (1.0, (0.4, 0.0, 0.5)), (2.0, (2.0, 0.0, 1.0)), (2.0, (0.0, -2.0, -4.0)),
    (5.0, (3.0, 4.0, 0.0))])
def test_a_twist_beyond_the_limits_is_scaled_as_a_whole(excess, twist):
    limited = limit_twist(np.array(twist), ReferenceLimits(speed=1.0, yaw_rate=2.0))
    assert limited == pytest.approx(np.array(twist) / excess)
