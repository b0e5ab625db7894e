# SPDX-License-Identifier: Apache-2.0
"""The one place where the equations of motion are summed up: against numpy, and its memory."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import robots_in_motion, vectors

from c3p_description.model import Friction
from c3p_dynamics._caster_equations import (
    ANGLE,
    DRIVE,
    RATE,
    caster_model,
    cofactors,
    forward_derivatives,
    mass_times,
    terms,
)
from c3p_dynamics._caster_motion_kernels import runge_kutta
from c3p_dynamics.caster_dynamics import bias, forward_dynamics, kinetic_energy, mass_matrix
from c3p_kinematics.casters import inverse, wheel_jacobian

SEEDS = st.integers(0, 2**32 - 1)


def rough(robot, seed):
    rng = np.random.default_rng(seed)
    return replace(robot, friction=Friction(*rng.uniform(0, 0.1, (5, robot.count)),
                                            smoothing=rng.uniform(0.02, 0.3)))


def model_of(robot):
    return caster_model(robot)


def full(triangle):
    matrix = np.zeros((3, 3))
    matrix[np.triu_indices(3)] = triangle
    return matrix + np.triu(matrix, 1).T


def at(robot, steering, twist, torque, wrench):
    """Return M, M⁻¹ and F − G of a fresh model."""
    model = model_of(robot)
    model[2][:, ANGLE], model[2][:, DRIVE] = steering, torque / robot.wheel_radius
    mass, inverted, force = terms(model, *map(float, twist), *map(float, wrench))
    return full(mass), full(inverted), np.array(force), model


@given(robots_in_motion(), vectors(3, 20.0), SEEDS)
def test_terms_are_those_of_the_public_functions(drawn, wrench, seed):
    smooth, steering, twist, _ = drawn
    robot = rough(smooth, seed)
    torque = np.random.default_rng(seed).uniform(-2, 2, robot.count)
    mass, inverted, force, model = at(robot, steering, twist, torque, wrench)
    np.testing.assert_allclose(mass, mass_matrix(robot, steering), rtol=0, atol=0)
    # LAPACK as the oracle of the cofactors; rounding grows with the condition of M
    slack = 1e-14 * np.linalg.cond(mass)
    np.testing.assert_allclose(inverted @ mass, np.eye(3), rtol=0, atol=slack)
    accel = forward_dynamics(robot, steering, twist, torque) + np.linalg.solve(mass, wrench)
    size = 1.0 + np.abs(accel).max()
    np.testing.assert_allclose(np.linalg.solve(mass, force), accel, rtol=0, atol=slack * size)
    np.testing.assert_allclose(model[2][:, RATE], inverse(robot, steering, twist)[1], rtol=1e-10,
                               atol=1e-12)


@given(robots_in_motion())
def test_without_friction_force_is_that_of_the_motors_less_the_bias(drawn):
    smooth, steering, twist, _ = drawn
    robot = replace(smooth, friction=Friction())
    torque = np.linspace(-1, 1, robot.count)
    _, _, force, model = at(robot, steering, twist, torque, np.zeros(3))
    assert model[3].shape == (2, 0)
    expected = wheel_jacobian(robot, steering).T @ torque - bias(robot, steering, twist)
    np.testing.assert_allclose(force, expected, rtol=1e-12, atol=1e-11 * (1 + abs(expected).max()))


@given(robots_in_motion(), SEEDS)
def test_a_model_that_was_used_elsewhere_gives_the_same_bits(drawn, seed):
    smooth, steering, twist, accel = drawn
    robot, rng = rough(smooth, seed), np.random.default_rng(seed)
    n, used = robot.count, model_of(robot)
    torque, wrench = rng.normal(size=n), rng.normal(size=3)

    def derivatives(model, angles, nu):
        out = np.empty(3), np.empty((3, n)), np.empty((3, 3)), np.empty((3, n))
        forward_derivatives(model, angles, nu, torque, wrench, out)
        return np.hstack([part.reshape(3, -1) for part in out])

    derivatives(used, rng.normal(size=n), rng.normal(size=3))
    np.testing.assert_array_equal(derivatives(used, steering, twist),
                                  derivatives(model_of(robot), steering, twist))


@given(robots_in_motion(), vectors(3, 5.0))
def test_mass_times_a_vector_is_the_product_with_the_mass_matrix(drawn, vector):
    robot, steering, _, _ = drawn
    product = np.empty(3)
    mass_times(model_of(robot), steering, vector, product)
    mass = mass_matrix(robot, steering)
    np.testing.assert_allclose(product, mass @ vector, rtol=0,
                               atol=1e-14 * (np.abs(mass) @ np.abs(vector)).max())


@given(robots_in_motion(), SEEDS)
def test_work_of_friction_is_the_energy_that_is_lost(drawn, seed):
    smooth, steering, twist, _ = drawn
    robot, n = rough(smooth, seed), smooth.count
    # an integration of 20 ms: as slow as a robot drives, or the fourth order does not suffice
    twist = 0.2 * twist / (1.0 + np.abs(twist).max())
    state = np.concatenate([np.zeros(3), twist, steering, np.zeros(n + 2)])
    runge_kutta(caster_model(robot), state, np.zeros(n), np.zeros(3), 1e-4, 200)
    energy = [float(kinetic_energy(robot, *s)) for s in (
        (steering, twist), (state[6:6 + n], state[3:6]))]
    work, dissipated = state[-2:]
    assert work == 0.0 and dissipated >= 0.0
    assert energy[0] - energy[1] == pytest.approx(dissipated, rel=1e-5, abs=1e-9 * energy[0])


@given(SEEDS)
def test_cofactors_over_the_determinant_are_the_inverse(seed):
    root = np.random.default_rng(seed).normal(size=(3, 3))
    matrix = root @ root.T + 0.1 * np.eye(3)
    adjugate, determinant = cofactors(tuple(matrix[np.triu_indices(3)]))
    assert determinant == pytest.approx(np.linalg.det(matrix), rel=1e-10)
    np.testing.assert_allclose(full(adjugate) / determinant, np.linalg.inv(matrix), rtol=1e-9,
                               atol=1e-10)
