# SPDX-License-Identifier: Apache-2.0
"""The friction compensation against the friction of the equations of motion."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as suite_settings
from robots import C3P, robots_in_motion, vectors

from c3p_description.model import CasterRobot, Friction
from c3p_dynamics.caster_dynamics import forward_dynamics
from c3p_dynamics.friction import friction_compensation
from c3p_kinematics.casters import (
    contact_jacobian,
    inverse,
    steering_jacobian,
    wheel_jacobian,
)
from c3p_kinematics.singularity import singularity

FRICTION = Friction(pivot_viscous=0.002, pivot_coulomb=0.01, rolling_viscous=0.001,
                    rolling_coulomb=0.05, scrub_coulomb=0.05, smoothing=0.05)
ROUGH = replace(C3P, friction=FRICTION)
SMOOTH = replace(C3P, friction=Friction())

# small enough to realise the force, large enough to be solved: 1e-7 of it is lost
TINY_WEIGHT = 1e-9


@given(vectors(3, 7.0), vectors(3, 1.0))
def test_with_compensation_the_robot_moves_as_without_friction(steering, twist):
    assume(singularity(C3P, steering).sigma_min > 0.05)
    torque = friction_compensation(ROUGH, steering, twist, TINY_WEIGHT,
                                   smoothing=FRICTION.smoothing)
    rough = forward_dynamics(ROUGH, steering, twist, torque)
    smooth = forward_dynamics(SMOOTH, steering, twist, np.zeros(3))
    # some 1 m/s² of deceleration are taken away down to the part that the weight loses
    assert rough == pytest.approx(smooth, abs=1e-4)


@given(robots_in_motion(min_casters=3))
@suite_settings(max_examples=30)
def test_any_robot_and_any_friction_of_its_casters(drawn):
    robot, steering, twist, _ = drawn
    assume(singularity(robot, steering).sigma_min > 0.05)
    rng = np.random.default_rng(robot.count)
    uneven = replace(FRICTION, pivot_coulomb=rng.uniform(0, 0.02, robot.count),
                     rolling_coulomb=rng.uniform(0, 0.1, robot.count),
                     scrub_coulomb=rng.uniform(0, 0.1, robot.count))
    rough = replace(robot, friction=uneven)
    torque = friction_compensation(rough, steering, twist, TINY_WEIGHT,
                                   smoothing=FRICTION.smoothing)
    left = (forward_dynamics(rough, steering, twist, torque)
            - forward_dynamics(replace(robot, friction=Friction()), steering, twist,
                               np.zeros(robot.count)))
    without = (forward_dynamics(rough, steering, twist, np.zeros(robot.count))
               - forward_dynamics(replace(robot, friction=Friction()), steering, twist,
                                  np.zeros(robot.count)))
    assert np.linalg.norm(left) <= 1e-3 * np.linalg.norm(without) + 1e-6


@given(vectors(3, 7.0), vectors(3, 1.0))
def test_it_pushes_against_friction_and_not_against_the_motion(steering, twist):
    torque = friction_compensation(ROUGH, steering, twist)
    back = friction_compensation(ROUGH, steering, -twist)
    assert torque == pytest.approx(-back, abs=1e-12)


def test_nothing_is_compensated_at_rest_or_without_friction():
    assert not friction_compensation(ROUGH, np.ones(3), np.zeros(3)).any()
    assert not friction_compensation(SMOOTH, np.ones(3), np.ones(3)).any()


def test_parallel_casters_get_a_finite_answer():
    for angle in np.radians(np.arange(0, 360, 1)):
        torque = friction_compensation(ROUGH, np.full(3, angle), [0.5, 0.2, 0.3])
        assert np.all(np.abs(torque) < 2.0)


@given(robots_in_motion(min_casters=4))
@suite_settings(max_examples=30)
def test_driven_wheels_make_up_for_the_rolling_friction_of_those_without_a_motor(drawn):
    robot, steering, twist, _ = drawn
    smooth = replace(robot, driven=np.arange(robot.count) != 1)
    assume(singularity(smooth, steering).sigma_min > 0.05)
    rough, idle = replace(smooth, friction=FRICTION), np.zeros(robot.count)
    torque = friction_compensation(rough, steering, twist, TINY_WEIGHT,
                                   smoothing=FRICTION.smoothing)
    assert torque[1] == 0.0
    expected = forward_dynamics(smooth, steering, twist, idle)
    left = forward_dynamics(rough, steering, twist, torque) - expected
    without = forward_dynamics(rough, steering, twist, idle) - expected
    assert np.linalg.norm(left) <= 1e-3 * np.linalg.norm(without) + 1e-6


def test_too_few_motors_cancel_what_they_can():
    # one of two wheels driven, and both axles in one line: no motor, real or virtual, turns the
    # platform about the contact point of the first wheel
    robot = CasterRobot.regular(0.3, [0.0, np.pi], 0.04, 0.05, 20.0, 1.5, friction=FRICTION,
                                driven=[True, False])
    steering, twist, weight = np.zeros(2), np.array([0.2, 0.4, 0.5]), 0.023
    got = friction_compensation(robot, steering, twist, weight, FRICTION.smoothing)
    spin, turn, swing = inverse(robot, steering, twist)
    f, level = FRICTION, lambda rate: np.tanh(rate / FRICTION.smoothing)
    roll = f.rolling_viscous * spin + f.rolling_coulomb * level(spin)
    pivots, wheels = steering_jacobian(robot, steering), wheel_jacobian(robot, steering)
    force = (pivots.T @ (f.pivot_viscous * turn + f.pivot_coulomb * level(turn))
             + contact_jacobian(robot, steering).T @ (f.scrub_coulomb * level(swing))
             + wheels[1] * roll[1])
    motors = np.vstack([wheels[:1], np.sqrt(weight) * pivots])
    assert np.linalg.matrix_rank(motors, 1e-9) == 2
    shared = np.linalg.pinv(motors.T, rcond=1e-9) @ force
    np.testing.assert_allclose(got, [roll[0] + shared[0], 0.0], atol=1e-12)


def test_leading_dimensions_broadcast():
    rng = np.random.default_rng(3)
    steering, twist = rng.uniform(-3, 3, (4, 1, 3)), rng.uniform(-1, 1, (5, 3))
    many = friction_compensation(ROUGH, steering, twist)
    assert many.shape == (4, 5, 3)
    assert np.array_equal(many[2, 3], friction_compensation(ROUGH, steering[2, 0], twist[3]))
    assert friction_compensation(ROUGH, np.zeros(3), np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize('wrong, name', [
    ({'virtual_steering_weight': 0.0}, 'virtual_steering_weight'),
    ({'virtual_steering_weight': float('nan')}, 'virtual_steering_weight'),
    ({'virtual_steering_weight': np.inf}, 'virtual_steering_weight'),
    ({'twist': [0.0, np.nan, 0.0]}, 'twist = '),
    ({'smoothing': np.inf}, 'smoothing'), ({'smoothing': -1.0}, 'smoothing'),
    ({'steering': np.zeros(2)}, 'steering'), ({'twist': np.zeros(4)}, 'twist')])
def test_what_cannot_be_is_refused_by_name(wrong, name):
    with pytest.raises(ValueError, match=name):
        friction_compensation(**{'robot': ROUGH, 'steering': np.zeros(3), 'twist': np.zeros(3),
                                 **wrong})
