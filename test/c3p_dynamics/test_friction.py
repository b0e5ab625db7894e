# SPDX-License-Identifier: Apache-2.0
"""The friction compensation against the friction of the equations of motion."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as suite_settings
from robots import C3P, robots_in_motion, vectors

from c3p_description.model import Friction
from c3p_dynamics.caster_dynamics import forward_dynamics
from c3p_dynamics.friction import friction_compensation
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


def test_undriven_wheels_get_none():
    robot = replace(ROUGH, driven=[True, False, True])
    assert friction_compensation(robot, [0.3, 1.0, 2.0], [0.1, 0.4, 0.2])[1] == 0.0


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
    ({'smoothing': -1.0}, 'smoothing'), ({'steering': np.zeros(2)}, 'steering'),
    ({'twist': np.zeros(4)}, 'twist')])
def test_what_cannot_be_is_refused_by_name(wrong, name):
    with pytest.raises(ValueError, match=name):
        friction_compensation(**{'robot': ROUGH, 'steering': np.zeros(3), 'twist': np.zeros(3),
                                 **wrong})
