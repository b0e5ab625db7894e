# SPDX-License-Identifier: Apache-2.0
"""Steps fitted again without a wheel that turned out to slip."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import C3P, caster_robots

from c3p_kinematics.casters import inverse
from c3p_kinematics.odometry import Odometry
from c3p_kinematics.se2 import integrate
from c3p_kinematics.step_memory import CAPACITY, StepMemory

DT = 0.005


def keep(memory, robot, steering, twist, pose, slip=None, held=False):
    """Add one step of `twist`; a wheel may have slipped by `slip` = (index, m/s)."""
    wheel, steer, _ = inverse(robot, steering, twist)
    fitted = np.array(twist, float)
    if slip is not None:
        wheel[slip[0]] += slip[1] / robot.wheel_radius[slip[0]]
        # what the wheel made of the pose: anything, the refit must remove it
        fitted = fitted + np.array([0.3 * slip[1], 0.1 * slip[1], 0.5 * slip[1]])
    memory.add(steering, wheel, steer, np.ones(robot.count), fitted, DT, held)
    return integrate(pose, DT * fitted)


@given(robot=caster_robots(min_casters=3), seed=st.integers(0, 2**32 - 1))
def test_without_the_wheel_the_pose_is_that_of_the_others(robot, seed):
    rng = np.random.default_rng(seed)
    memory, wheel = StepMemory(robot.geometry, 1.0), int(rng.integers(robot.count))
    pose = true = rng.uniform(-1, 1, 3)
    for _ in range(20):
        steering, twist = rng.uniform(-np.pi, np.pi, robot.count), rng.uniform(-0.5, 0.5, 3)
        pose = keep(memory, robot, steering, twist, pose, (wheel, 0.2))
        true = integrate(true, DT * twist)
    # LEAST_TRUST of 0.2 m/s during 0.1 s stays: 20 µm, divided by what the others leave open
    assert memory.without(wheel, pose) == pytest.approx(true, abs=3e-4)


def test_steps_older_than_the_span_stay_as_they_are():
    memory = StepMemory(C3P.geometry, 10 * DT + 1e-9)
    pose, early = np.zeros(3), None
    for k in range(30):
        pose = keep(memory, C3P, np.zeros(3), [0.0, 0.4, 0.0], pose, (0, 0.2))
        early = pose.copy() if k == 19 else early
    expected = early
    for _ in range(10):
        expected = integrate(expected, [0.0, 0.4 * DT, 0.0])
    # LEAST_TRUST of the slip stays
    assert memory.without(0, pose) == pytest.approx(expected, abs=1e-4)


def test_held_steps_stay_held():
    memory, pose = StepMemory(C3P.geometry, 1.0), np.zeros(3)
    for _ in range(10):
        pose = keep(memory, C3P, np.zeros(3), [0.0, 0.4, 0.0], pose, (0, 0.2), held=True)
    assert memory.without(0, pose) == pytest.approx(pose, abs=1e-12)


def test_more_steps_than_the_memory_holds_and_none_at_all():
    memory, pose = StepMemory(C3P.geometry, 1e9), np.zeros(3)
    assert memory.without(0, pose).tolist() == pose.tolist()
    for _ in range(3 * CAPACITY + 7):
        pose = keep(memory, C3P, np.zeros(3), [0.1, 0.4, 0.2], pose)
    assert memory.without(1, pose) == pytest.approx(pose, abs=1e-9)
    memory.clear()
    assert memory.without(1, pose).tolist() == pose.tolist()


def slipped(speed, seconds=0.3):
    """Drive 2 m along +Y at 0.5 m/s; wheel 3 slips for some time. Return the yaw at the end."""
    odometry, angle, estimate = Odometry(C3P), np.zeros(3), None
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
