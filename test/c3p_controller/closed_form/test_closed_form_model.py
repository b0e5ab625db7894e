# SPDX-License-Identifier: Apache-2.0
"""The equations of motion in plain Python against the compiled ones, which Pinocchio checks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import C3P, robots_in_motion

from c3p_controller.closed_form.model import ScalarModel, cross, dot, times
from c3p_description.model import Friction
from c3p_dynamics.caster_dynamics import forward_dynamics, mass_matrix


def full(triangle):
    """Return the (3, 3) matrix of an upper triangle."""
    xx, xy, xw, yy, yw, ww = triangle
    return np.array([[xx, xy, xw], [xy, yy, yw], [xw, yw, ww]])


@settings(max_examples=50)
@given(robots_in_motion(), st.integers(0, 2**32 - 1))
def test_accelerations_are_those_of_the_forward_dynamics(moving, seed):
    robot, steering, twist, _ = moving
    rng = np.random.default_rng(seed)
    robot = replace(robot, friction=Friction(*rng.uniform(0.0, 0.1, 5), smoothing=0.3))
    torque, wrench = rng.normal(size=robot.count), rng.normal(size=3)
    motion = ScalarModel(robot, 0.3).motion(list(steering), tuple(twist), tuple(wrench))
    force = np.array(motion.force) + np.array(motion.rolling).T @ (torque / robot.wheel_radius)
    accel = times(motion.inverse_mass, tuple(force))
    expected = (forward_dynamics(robot, steering, twist, torque)
                + np.linalg.solve(mass_matrix(robot, steering), wrench))
    # two ways of solving with M, whose condition is some thousand
    assert np.array(accel) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(robots_in_motion())
def test_the_mass_and_its_inverse(moving):
    robot, steering, twist, _ = moving
    motion = ScalarModel(robot, 0.3).motion(list(steering), tuple(twist), (0.0, 0.0, 0.0))
    assert full(motion.mass) == pytest.approx(mass_matrix(robot, steering), rel=1e-12, abs=1e-12)
    assert full(motion.mass) @ full(motion.inverse_mass) == pytest.approx(np.eye(3), abs=1e-9)


def test_steering_rates_are_those_of_the_kinematics():
    motion = ScalarModel(C3P, 0.5).motion([0.0] * 3, (0.5, 0.0, 0.0), (0.0, 0.0, 0.0))
    # at θ = 0 the axle points along +X: 0.5 m/s across a caster of 40 mm
    assert motion.steering_rate == pytest.approx([-12.5] * 3)
    assert motion.along == pytest.approx([0.0] * 3)


def test_products_of_rows():
    a, b = (1.0, -2.0, 3.0), (0.5, 4.0, -1.0)
    assert dot(a, b) == pytest.approx(np.dot(a, b))
    assert cross(a, b) == pytest.approx(np.cross(a, b))
    assert times((1.0, 2.0, 3.0, 4.0, 5.0, 6.0), a) == pytest.approx(
        full((1.0, 2.0, 3.0, 4.0, 5.0, 6.0)) @ a)
