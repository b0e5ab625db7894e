# SPDX-License-Identifier: Apache-2.0
"""The last steps fitted again without a wheel that turned out to slip."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import C3P, caster_robots

from c3p_kernels.compiled import borrowed, kernel
from c3p_kinematics._ring_kernels import refit
from c3p_kinematics.casters import inverse
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.odometry_data import SYNCHRONOUS
from c3p_kinematics.odometry_states import CAPACITY, Ring
from c3p_kinematics.se2 import integrate

DT = 0.005

cut_ring = Ring.cut


@kernel
def refit_block(block, geometry, span, wheel, pose):
    """Execute `refit`, a part of the odometry's step, on the block of a Ring."""
    refit(borrowed(geometry), cut_ring(block, len(geometry)), span, wheel, borrowed(pose))


class Steps:
    """A ring of steps as the odometry keeps it, and the pose that they give."""

    def __init__(self, robot, pose=(0.0, 0.0, 0.0)):
        self.robot, self.pose, self.ring = robot, np.array(pose, float), Ring.new(robot.count)

    def add(self, steering, twist, slip=None, held=False):
        """Add one step of `twist`; a wheel may have slipped by `slip` = (index, m/s)."""
        wheel, steer, _ = inverse(self.robot, steering, twist)
        ring, steps = self.ring, self.ring.steps
        fitted, row = np.array(twist, float), int(ring.count[0]) % CAPACITY
        if slip is not None:
            wheel[slip[0]] += slip[1] / self.robot.wheel_radius[slip[0]]
            # an arbitrary effect of the wheel on the pose, which the refit must remove
            fitted = fitted + np.array([0.3 * slip[1], 0.1 * slip[1], 0.5 * slip[1]])
        ring.steering[row], ring.wheel_rate[row], ring.steering_rate[row] = steering, wheel, steer
        ring.weight[row] = 1.0
        steps.twist[row], steps.duration[row], steps.held[row] = fitted, DT, held
        steps.reference[row], steps.pose[row] = fitted, self.pose
        ring.count[0] += 1
        self.pose = integrate(self.pose, DT * fitted)

    def without(self, wheel, span=1.0):
        """Return the pose after the refit."""
        pose = self.pose.copy()
        ring = deepcopy(self.ring)
        refit_block(ring.block, self.robot.geometry, span, wheel, pose)
        return pose


@given(robot=caster_robots(min_casters=3), seed=st.integers(0, 2**32 - 1))
def test_without_the_wheel_the_pose_is_that_of_the_others(robot, seed):
    rng = np.random.default_rng(seed)
    wheel, true = int(rng.integers(robot.count)), rng.uniform(-1, 1, 3)
    steps = Steps(robot, true)
    for _ in range(20):
        steering, twist = rng.uniform(-np.pi, np.pi, robot.count), rng.uniform(-0.5, 0.5, 3)
        steps.add(steering, twist, (wheel, 0.2))
        true = integrate(true, DT * twist)
    # LEAST_TRUST of 0.2 m/s during 0.1 s stays: 20 µm, divided by what the others leave open
    assert steps.without(wheel) == pytest.approx(true, abs=3e-4)


def test_steps_older_than_the_span_stay_as_they_are():
    steps, early = Steps(C3P), None
    for k in range(30):
        steps.add(np.zeros(3), [0.0, 0.4, 0.0], (0, 0.2))
        early = steps.pose.copy() if k == 19 else early
    expected = early
    for _ in range(10):
        expected = integrate(expected, [0.0, 0.4 * DT, 0.0])
    # LEAST_TRUST of the slip stays
    assert steps.without(0, 10 * DT + 1e-9) == pytest.approx(expected, abs=1e-4)
    assert steps.without(0, 0.5 * DT).tolist() == steps.pose.tolist()


def test_held_steps_stay_held():
    steps = Steps(C3P)
    for _ in range(10):
        steps.add(np.zeros(3), [0.0, 0.4, 0.0], (0, 0.2), held=True)
    assert steps.without(0) == pytest.approx(steps.pose, abs=1e-12)


def test_more_steps_than_the_ring_holds_and_none_at_all():
    steps = Steps(C3P)
    assert steps.without(0, 1e9).tolist() == steps.pose.tolist()
    for _ in range(3 * CAPACITY + 7):
        steps.add(np.zeros(3), [0.1, 0.4, 0.2])
    assert steps.without(1, 1e9) == pytest.approx(steps.pose, abs=1e-9)


def slipped(speed, seconds=0.3):
    """Return the pose after 2 m along +Y at 0.5 m/s, in which wheel 3 slips for some time."""
    odometry = Odometry(C3P, OdometrySettings(**SYNCHRONOUS))
    angle, estimate = np.zeros(3), None
    for k in range(801):
        estimate = odometry.step(DT * k, np.zeros(3), angle)
        angle = angle + 0.5 * DT / C3P.wheel_radius
        if 200 <= k < 200 + seconds / DT:
            angle[2] += speed * DT / C3P.wheel_radius[2]
    return estimate.pose


@pytest.mark.parametrize('speed', [0.06, 0.1, -0.1, 0.2])
def test_what_a_wheel_slipped_before_its_alarm_is_taken_back(speed):
    pose = slipped(speed)
    # a third of 0.1 s of slip over the lever of 0.34 m would be 0.006 rad at 0.06 m/s
    assert abs(pose[2]) < 0.0015
    assert np.hypot(pose[0], pose[1] - 2.0) < 0.004
