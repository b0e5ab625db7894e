# SPDX-License-Identifier: Apache-2.0
"""Implausible contact velocities: wheels that spin, alone and together, and robots that stop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import C3P, caster_robots

from c3p_description.model import GRAVITY
from c3p_kinematics.casters import inverse
from c3p_kinematics.grip import GripMonitor, GripSettings
from c3p_kinematics.odometry import Odometry, OdometrySettings

DT = 0.005


def measured(robot, steering, twist):
    """Return wheel and steering rates of rolling without slip."""
    wheel, steer, _ = inverse(robot, steering, twist)
    return wheel, steer


@given(robot=caster_robots(), seed=st.integers(0, 2**32 - 1))
def test_motion_that_tyres_can_cause_is_always_plausible(robot, seed):
    rng = np.random.default_rng(seed)
    grip = GripMonitor(robot)
    reach = np.hypot(*robot.hip_position.T).max() + robot.caster_offset.max()
    # 1 m/s of travel and 1 m/s of turning: what turning axes add is below 2 m/s · 1 m/s / reach
    most = np.array([1.0, 1.0, 1.0 / max(reach, 1.0)])
    steering, twist = rng.uniform(-np.pi, np.pi, robot.count), most * rng.uniform(-1, 1, 3)
    for _ in range(50):
        wheel, steer = measured(robot, steering, twist)
        assert grip.step(DT, steering, wheel, steer).plausible.all()
        steering = steering + steer * DT
        # a third of g at most for each of travel and turn
        change = rng.uniform(-1, 1, 3) * GRAVITY / 3 * DT / np.array([1.5, 1.5, reach])
        twist = np.clip(twist + change, -most, most)


@given(robot=caster_robots(min_casters=3), seed=st.integers(0, 2**32 - 1))
def test_a_wheel_that_spins_up_is_left_out_and_the_twist_stays(robot, seed):
    rng = np.random.default_rng(seed)
    grip, wheel_at_fault = GripMonitor(robot), rng.integers(robot.count)
    steering, twist = rng.uniform(-np.pi, np.pi, robot.count), rng.uniform(-0.5, 0.5, 3)
    wheel, steer = measured(robot, steering, twist)
    for _ in range(3):
        grip.step(DT, steering, wheel, steer)
    spun = wheel.copy()
    spun[wheel_at_fault] += rng.choice([-1, 1]) * 2.0 / robot.wheel_radius[wheel_at_fault]
    for _ in range(20):
        report = grip.step(DT, steering, spun, steer)
        assert np.flatnonzero(~report.plausible).tolist() == [wheel_at_fault]
        # the platform turns below a steering that is kept: its axes turn by ω dt each sample, the
        # fit of the others follows; LEAST_TRUST of 2 m/s remains
        assert np.abs(report.twist - twist)[:2].max() < 0.02
        assert report.held == 0.0
    assert grip.step(DT, steering, wheel, steer).plausible.all()


def test_all_wheels_that_spin_hold_the_twist_and_widen_the_bound():
    grip, steering = GripMonitor(C3P), np.zeros(3)
    wheel, steer = measured(C3P, steering, [0.0, 0.5, 0.0])
    for _ in range(3):
        grip.step(DT, steering, wheel, steer)
    for k in range(1, 11):
        report = grip.step(DT, steering, wheel + 100.0, steer)
        assert report.held == pytest.approx(k * DT)
        assert report.twist == pytest.approx([0.0, 0.5, 0.0], abs=1e-12)
        assert not report.plausible.any()
    # the floor may have accelerated the robot meanwhile by up to g
    faster = wheel + 0.9 * GRAVITY * 11 * DT / C3P.wheel_radius
    report = grip.step(DT, steering, faster, steer)
    assert report.plausible.all() and report.held == 0.0


def test_a_held_twist_keeps_its_direction_over_the_floor():
    grip, steering = GripMonitor(C3P), np.array([0.3, 1.2, -2.0])
    wheel, steer = measured(C3P, steering, [0.4, 0.0, 1.0])
    grip.step(DT, steering, wheel, steer)
    for _ in range(20):
        report = grip.step(DT, steering, wheel + 200.0, steer)
    turned = 20 * DT * 1.0
    assert report.twist == pytest.approx(
        [0.4 * np.cos(turned), -0.4 * np.sin(turned), 1.0], abs=1e-12)


def test_wheels_that_stop_together_are_believed_at_once():
    grip, steering = GripMonitor(C3P), np.zeros(3)
    grip.step(DT, steering, *measured(C3P, steering, [0.0, 1.0, 0.0]))
    report = grip.step(DT, steering, np.zeros(3), np.zeros(3))
    assert report.plausible.all() and report.twist == pytest.approx(np.zeros(3), abs=1e-12)


def test_wheels_are_believed_again_after_the_longest_hold():
    grip, steering = GripMonitor(C3P, GripSettings(longest_hold=0.1)), np.zeros(3)
    wheel, steer = measured(C3P, steering, [0.0, 0.1, 0.0])
    grip.step(DT, steering, wheel, steer)
    held = [grip.step(DT, steering, wheel + 500.0, steer).held for _ in range(30)]
    assert 0.1 <= max(held) <= 0.1 + 1.5 * DT
    assert held[-1] == 0.0


def test_infinite_acceleration_switches_the_check_off():
    grip, steering = GripMonitor(C3P, GripSettings(acceleration=np.inf)), np.zeros(3)
    grip.step(DT, steering, np.zeros(3), np.zeros(3))
    assert grip.step(DT, steering, np.full(3, 1e4), np.zeros(3)).plausible.all()



def spun_odometry(robust):
    """Drive 1 m along +Y at 0.5 m/s; all wheels spin at 3 m/s more for 0.1 s in the middle."""
    odometry = Odometry(C3P, OdometrySettings(robust=robust))
    angle, estimate = 0.0, None
    for k in range(401):
        estimate = odometry.step(DT * k, np.zeros(3), np.full(3, angle))
        speed = 0.5 + (3.0 if 200 <= k < 220 else 0.0)
        angle += speed * DT / C3P.wheel_radius
    return estimate


def test_odometry_does_not_count_what_spinning_wheels_roll():
    error = abs(spun_odometry(True).pose[1] - 1.0)
    # the last sample of the spin has no bound against the one before: nothing is lost but rounding
    assert error < 0.01
    assert abs(spun_odometry(False).pose[1] - 1.3) < 0.01


def test_the_covariance_covers_what_the_floor_may_have_done_meanwhile():
    estimate = spun_odometry(True)
    # at most ½ g t² with t = 0.1 s
    assert 0.02 < estimate.doubt[0] <= 0.5 * GRAVITY * 0.105**2 * 1.1
    assert estimate.pose_covariance[1, 1] >= estimate.doubt[0]**2
    np.linalg.cholesky(estimate.pose_covariance)
