# SPDX-License-Identifier: Apache-2.0
"""Torques of the inverse dynamics at and near singular poses, and what they leave out."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from robots import C3P, robots_in_motion
from unequal_casters import FRICTION

from c3p_description.model import Friction
from c3p_dynamics.caster_dynamics import (
    VIRTUAL_STEERING_WEIGHT,
    inverse_dynamics,
    mass_matrix,
    unreached_acceleration,
)
from c3p_kinematics.casters import wheel_jacobian
from c3p_kinematics.singularity import singularity

PARALLEL, RADIAL = np.zeros(3), np.radians([-60.0, 60.0, 180.0])
# w_s of the pseudo-inverse, which has the least norm, and of virtual steering motors
LEAST_NORM, VIRTUAL_STEERING = METHODS = 0.0, VIRTUAL_STEERING_WEIGHT


def unreached(robot, steering, twist, accel, weight):
    """Return the torques, and the acceleration that they leave out without friction."""
    smooth = replace(robot, friction=Friction())
    torque = inverse_dynamics(smooth, steering, twist, accel, weight)
    return torque, unreached_acceleration(smooth, steering, twist, accel, torque)


@given(robots_in_motion(min_casters=3))
def test_away_from_singularities_least_norm_reaches_everything(drawn):
    robot, steering, twist, accel = drawn
    pose = singularity(robot, steering)
    assume(pose.condition < 1e3)
    _, missed = unreached(robot, steering, twist, accel, LEAST_NORM)
    assert pose.rank == 3 and not pose.unactuated_direction.any()
    np.testing.assert_allclose(missed, 0, atol=1e-9)


@pytest.mark.parametrize(('steering', 'lost'), [(PARALLEL, [1, 0, 0]), (RADIAL, [0, 0, 1])])
@pytest.mark.parametrize('weight', METHODS)
def test_lost_direction_is_named_and_not_reached(steering, lost, weight):
    accel = np.array([0.5, 0.2, 1.0])
    pose = singularity(C3P, steering)
    assert pose.rank == 2 and pose.condition == np.inf
    direction = pose.unactuated_direction / np.linalg.norm(pose.unactuated_direction)
    np.testing.assert_allclose(direction, lost, atol=1e-9)
    # not a bit of it: no wheel pushes that way, and M does not couple it to the others here
    _, missed = unreached(C3P, steering, np.zeros(3), accel, weight)
    assert missed @ lost == pytest.approx(accel @ lost, rel=1e-6)


def test_least_norm_leaves_only_what_no_wheel_feels():
    _, missed = unreached(C3P, PARALLEL, np.zeros(3), np.array([0.5, 0.2, 1.0]), LEAST_NORM)
    force = mass_matrix(C3P, PARALLEL) @ missed
    np.testing.assert_allclose(wheel_jacobian(C3P, PARALLEL) @ force, 0, atol=1e-9)


def test_virtual_steering_turns_the_casters_where_least_norm_does_nothing():
    aside = [0.5, 0.0, 0.0]
    idle, _ = unreached(C3P, PARALLEL, np.zeros(3), aside, LEAST_NORM)
    np.testing.assert_allclose(idle, 0, atol=1e-15)
    _, missed = unreached(C3P, PARALLEL, np.zeros(3), aside, VIRTUAL_STEERING)
    # at the price of a yaw acceleration that was not requested
    assert missed[2] > 0.1


@pytest.mark.parametrize('weight', METHODS)
def test_sweep_equals_loop_and_friction_does_not_enter(weight):
    robot, rng = replace(C3P, friction=FRICTION), np.random.default_rng(1)
    steering, twist = rng.uniform(-3, 3, (4, 2, 3)), rng.normal(size=(2, 3))
    torque, missed = unreached(robot, steering, twist, [1, 1, 1], weight)
    assert torque.shape == missed.shape == (4, 2, 3)
    rough = inverse_dynamics(robot, steering, twist, [1, 1, 1], weight)
    np.testing.assert_array_equal(rough, torque)
    for i, j in np.ndindex(4, 2):
        one, left = unreached(C3P, steering[i, j], twist[j], [1, 1, 1], weight)
        np.testing.assert_array_equal(torque[i, j], one)
        np.testing.assert_array_equal(missed[i, j], left)
