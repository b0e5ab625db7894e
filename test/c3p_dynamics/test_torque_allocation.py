# SPDX-License-Identifier: Apache-2.0
"""What the wheels are told at singular poses and at their limits, and what is said about it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import settings as suite_settings
from hypothesis import strategies as st
from robots import C3P, robots_in_motion, vectors
from scipy.optimize import lsq_linear
from unequal_casters import FRICTION

from c3p_description.model import CasterRobot
from c3p_dynamics._sharing_kernels import MOST_STEPS, share_weighted
from c3p_dynamics.allocation import METHODS, allocate
from c3p_dynamics.caster_dynamics import bias, forward_dynamics, inverse_dynamics, mass_matrix
from c3p_kinematics.casters import wheel_jacobian
from c3p_kinematics.singularity import singularity

TINY = CasterRobot.regular(0.4, np.radians([0.0, 70.0, 150.0, 220.0, 300.0]), 0.03, 0.05, 30.0,
                           3.0)
PARALLEL, RADIAL = np.zeros(3), np.radians([-60.0, 60.0, 180.0])


def reach_of(robot, steering, twist):
    """Return B (3, n) and the acceleration without torque, of ν̇ = B τ + drift."""
    mass = mass_matrix(robot, steering)
    reach = np.linalg.solve(mass, wheel_jacobian(robot, steering).T) * robot.driven
    return reach, np.linalg.solve(mass, -bias(robot, steering, twist))


# --- the bounded problem itself -------------------------------------------------------------

@given(st.integers(2, 6), st.integers(0, 2**32 - 1), st.floats(-7, 0), st.booleans(),
       st.booleans())
def test_weighted_share_meets_the_conditions_of_the_optimum(n, seed, power, singular, some_locked):
    rng = np.random.default_rng(seed)
    reach, target = rng.normal(size=(3, n)), rng.normal(size=3) * 10 ** rng.uniform(-2, 2)
    if singular:
        # all wheels push within a plane, as parallel casters do
        reach = (np.eye(3) - np.outer(v := rng.normal(size=3), v) / (v @ v)) @ reach
    weight, ridge = 10 ** rng.uniform(-2, 2, 3), 10**power
    low, high = -(10 ** rng.uniform(-2, 1, n)), 10 ** rng.uniform(-2, 1, n)
    if some_locked:
        low[0] = high[0] = 0.0
    torque = np.empty(n)
    steps = share_weighted(reach, target, weight, ridge, low, high, torque)
    assert 0 < steps < MOST_STEPS / 2
    assert np.all((torque >= low) & (torque <= high))
    slope = -reach.T @ (weight * (target - reach @ torque)) + ridge * torque
    # free wheels: no slope; wheels at a limit: uphill into the bounds; locked ones: anything
    wrong = np.where(torque >= high, np.maximum(slope, 0),
                     np.where(torque <= low, np.maximum(-slope, 0), np.abs(slope)))
    strength = (weight[:, None] * reach**2).sum()
    size = np.abs(reach.T) @ (weight * (np.abs(target) + np.abs(reach) @ np.abs(torque)))
    # rounding of the sums, enlarged by the ratio of the matrix to its smallest pivot
    assert np.all(wrong[low < high] <= (1e-13 * (1 + strength / ridge) * size)[low < high])


def test_without_limits_the_share_is_that_of_ordinary_least_squares():
    rng = np.random.default_rng(3)
    reach, target, weight, ridge = rng.normal(size=(3, 5)), rng.normal(size=3), [1, 4, 9], 0.1
    torque, free = np.empty(5), np.full(5, np.inf)
    share_weighted(reach, target, np.array(weight, float), ridge, -free, free, torque)
    root = np.sqrt(weight)
    tall = np.vstack([root[:, None] * reach, np.sqrt(ridge) * np.eye(5)])
    expected = np.linalg.lstsq(tall, np.concatenate([root * target, np.zeros(5)]), rcond=None)[0]
    np.testing.assert_allclose(torque, expected, rtol=1e-12)


# --- allocations ----------------------------------------------------------------------------

@given(robots_in_motion(), st.floats(0.01, 3.0), vectors(3, 2.0), st.booleans())
@suite_settings(max_examples=30)
def test_weighted_allocation_is_the_bounded_least_squares_solution(drawn, limit, exponent, align):
    free, steering, twist, accel = drawn
    robot = replace(free, torque_limit=limit, driven=np.arange(free.count) != 3)
    steering = np.full(robot.count, 0.7) if align else steering
    weight, cost = 10**exponent, 1e-3
    got = allocate(robot, steering, twist, accel, 'weighted', acceleration_weight=weight,
                   torque_cost=cost)
    reach, drift = reach_of(robot, steering, twist)
    root, driven = np.sqrt(weight), robot.driven
    tall = np.vstack([root[:, None] * reach[:, driven],
                      np.sqrt(cost) * np.eye(np.count_nonzero(driven))])
    right = np.concatenate([root * (accel - drift), np.zeros(np.count_nonzero(driven))])
    expected = lsq_linear(tall, right, (-limit, limit), method='bvls', tol=1e-14)
    # both minimise; compare what is minimised, which the torques near a kink may reach apart
    miss = np.sum((tall @ got.torque[driven] - right) ** 2)
    best = np.sum((tall @ expected.x - right) ** 2)
    assert miss <= best * (1 + 1e-9) + 1e-15
    assert np.all(np.abs(got.torque) <= limit) and not got.torque[~driven].any()
    np.testing.assert_array_equal(got.saturated, driven & (np.abs(got.torque) == limit))


@pytest.mark.parametrize('exponent', [*range(-324, -90, 6), -60, -30])
def test_the_smallest_accelerations_have_finite_torques(exponent):
    rng = np.random.default_rng(-exponent)
    limits = np.array([1.0, 1e-3, 2.0, 0.1, 1.0, 0.5])
    for _ in range(20):
        reach, weight = rng.normal(size=(3, 6)), 10.0 ** rng.uniform(-1.0, 3.0, 3)
        target, torque = rng.normal(size=3) * 10.0**exponent, np.empty(6)
        limits[rng.integers(6)] = 0.0
        assert share_weighted(reach, target, weight, 1e-6, -limits, limits, torque) > 0
        assert np.all(np.isfinite(torque)) and np.all(np.abs(torque) <= limits)


@given(robots_in_motion(min_casters=4), st.integers(-323, -100))
@example((TINY, np.zeros(5), np.zeros(3), np.array([1e-200, 0.0, 1e-210])), -281)
def test_weighted_allocation_of_a_vanishing_acceleration_is_no_torque(drawn, exponent):
    free, steering, _, accel = drawn
    robot = replace(free, torque_limit=0.5, driven=np.arange(free.count) != 3)
    for size in (1.0, 10.0**exponent):
        got = allocate(robot, steering, np.zeros(3), accel * size, 'weighted')
        assert np.all(np.isfinite(got.torque))
    # the last one: 1e-100 of 5 m/s² at most, on 100 kg
    assert np.abs(got.torque).max() < 1e-90


@given(robots_in_motion(min_casters=3), st.sampled_from(METHODS))
@suite_settings(max_examples=30)
def test_unreached_is_what_forward_dynamics_says(drawn, method):
    robot, steering, twist, accel = drawn
    got = allocate(robot, steering, twist, accel, method)
    missed = accel - forward_dynamics(robot, steering, twist, got.torque)
    np.testing.assert_allclose(got.unreached_acceleration, missed, rtol=0,
                               atol=1e-12 * (1 + np.abs(accel).max()))
    pose = singularity(robot, steering)
    assert got.rank == pose.rank and got.condition == pose.condition


@given(robots_in_motion(min_casters=3))
def test_away_from_singularities_least_norm_reaches_everything(drawn):
    robot, steering, twist, accel = drawn
    assume(singularity(robot, steering).condition < 1e3)
    got = allocate(robot, steering, twist, accel, 'least_norm')
    assert got.rank == 3 and not got.unactuated_direction.any()
    np.testing.assert_allclose(got.unreached_acceleration, 0, atol=1e-9)


def test_weighted_reaches_all_but_a_millionth_away_from_singularities():
    got = allocate(C3P, [1.0, 0.2, -2.0], [0.3, -0.2, 0.5], [0.5, 0.2, 1.0], 'weighted')
    assert got.rank == 3 and 0 < np.linalg.norm(got.unreached_acceleration) < 1e-4


@pytest.mark.parametrize(('steering', 'lost'), [(PARALLEL, [1, 0, 0]), (RADIAL, [0, 0, 1])])
@pytest.mark.parametrize('method', METHODS)
def test_lost_direction_is_named_and_not_reached(steering, lost, method):
    accel = np.array([0.5, 0.2, 1.0])
    got = allocate(C3P, steering, np.zeros(3), accel, method)
    assert got.rank == 2 and got.condition == np.inf
    direction = got.unactuated_direction / np.linalg.norm(got.unactuated_direction)
    np.testing.assert_allclose(direction, lost, atol=1e-9)
    # not a bit of it: no wheel pushes that way, and M does not couple it to the others here
    assert got.unreached_acceleration @ lost == pytest.approx(accel @ lost, rel=1e-6)


def test_least_norm_leaves_only_what_no_wheel_feels():
    got = allocate(C3P, PARALLEL, np.zeros(3), [0.5, 0.2, 1.0], 'least_norm')
    force = mass_matrix(C3P, PARALLEL) @ got.unreached_acceleration
    np.testing.assert_allclose(wheel_jacobian(C3P, PARALLEL) @ force, 0, atol=1e-9)


def test_virtual_steering_turns_the_casters_where_least_norm_does_nothing():
    aside = [0.5, 0.0, 0.0]
    idle = allocate(C3P, PARALLEL, np.zeros(3), aside, 'least_norm').torque
    np.testing.assert_allclose(idle, 0, atol=1e-15)
    got = allocate(C3P, PARALLEL, np.zeros(3), aside, 'virtual_steering')
    # paid for by a yaw that nobody asked for
    assert got.unreached_acceleration[2] > 0.1
    np.testing.assert_array_equal(
        got.torque, inverse_dynamics(C3P, PARALLEL, np.zeros(3), aside))


def test_at_the_limits_what_counts_most_is_missed_least():
    robot = replace(C3P, torque_limit=1.2)
    asked = [2.0, 2.0, 4.0]
    lost = [np.abs(allocate(robot, [0.5, 1.5, -1.0], np.zeros(3), asked, 'weighted',
                            acceleration_weight=w).unreached_acceleration)
            for w in 1.0 + 999.0 * np.eye(3)]
    for j in range(3):
        assert lost[j][j] < 0.9 * min(row[j] for k, row in enumerate(lost) if k != j)


def test_without_torque_limits_weighted_reaches_what_least_norm_reaches():
    state = [0.5, 1.5, -1.0], np.zeros(3), [20.0, 20.0, 40.0]
    unlimited = allocate(C3P, *state, 'weighted')
    assert np.isinf(C3P.torque_limit).all() and not unlimited.saturated.any()
    # a millionth of what could be given is given up, more of it where the condition is worse
    np.testing.assert_allclose(unlimited.torque, allocate(C3P, *state, 'least_norm').torque,
                               rtol=1e-3)


@pytest.mark.parametrize('method', METHODS)
def test_sweep_equals_loop_and_friction_does_not_enter(method):
    robot, rng = replace(C3P, friction=FRICTION, torque_limit=1.0), np.random.default_rng(1)
    steering, twist = rng.uniform(-3, 3, (4, 2, 3)), rng.normal(size=(2, 3))
    many = allocate(robot, steering, twist, [1, 1, 1], method)
    assert many.torque.shape == (4, 2, 3) and many.rank.shape == (4, 2)
    for i, j in np.ndindex(4, 2):
        one = allocate(C3P if method != 'weighted' else replace(C3P, torque_limit=1.0),
                       steering[i, j], twist[j], [1, 1, 1], method)
        np.testing.assert_array_equal(many.torque[i, j], one.torque)
        np.testing.assert_array_equal(many.unreached_acceleration[i, j],
                                      one.unreached_acceleration)


@pytest.mark.parametrize(('more', 'name'), [
    ({'method': 'strong'}, 'method'),
    ({'virtual_steering_weight': 0.0}, 'virtual_steering_weight'),
    ({'method': 'weighted', 'acceleration_weight': [1, 1]}, 'acceleration_weight'),
    ({'method': 'weighted', 'acceleration_weight': [0, 0, 0]}, 'acceleration_weight'),
    ({'method': 'weighted', 'acceleration_weight': [1, -1, 0]}, 'acceleration_weight'),
    ({'method': 'weighted', 'torque_cost': 0.0}, 'torque_cost'),
    ({'accel': [1, 1]}, 'accel'),
    ({'accel': [1, np.nan, 1], 'method': 'weighted'}, 'accel = .*must be finite'),
    ({'virtual_steering_weight': np.inf}, 'virtual_steering_weight'),
])
def test_wrong_input_is_refused_by_name(more, name):
    call = {'steering': [0] * 3, 'twist': [0] * 3, 'accel': [0] * 3, **more}
    with pytest.raises(ValueError, match=name):
        allocate(C3P, **call)
