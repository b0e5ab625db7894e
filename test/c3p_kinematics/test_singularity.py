# SPDX-License-Identifier: Apache-2.0
"""Singular sets of the driven wheels against the geometry of their rolling lines."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from robots import C3P, caster_robots, robots_in_motion, vectors
from test_casters import changed

from c3p_kinematics.casters import wheel_jacobian
from c3p_kinematics.singularity import Lines, length_scale, scaled_wheel_jacobian, singularity

angles = st.floats(-4, 4)


def aim(robot, point):
    """Return steering angles whose rolling lines pass through `point` (2,)."""
    to = np.asarray(point) - robot.hip_position
    return np.arctan2(-to[:, 0], to[:, 1])


@given(caster_robots(min_casters=3), angles, st.integers(0, 63))
def test_parallel_rolling_lines_are_singular(robot, angle, flips):
    # equal mod 180°: some of the casters point backwards
    steering = angle + np.pi * np.array([flips >> i & 1 for i in range(robot.count)])
    found = singularity(robot, steering)
    assert found.rank == 2 and found.lines == Lines.PARALLEL and np.isinf(found.condition)
    axle = np.array([np.cos(angle), np.sin(angle)])
    np.testing.assert_allclose(abs(found.unactuated_direction[:2] @ axle), 1.0, atol=1e-9)
    np.testing.assert_allclose(found.line_direction @ axle, 0.0, atol=1e-9)
    assert np.all(np.isnan(found.point))


@given(caster_robots(min_casters=3), vectors(2, 3.0))
def test_concurrent_rolling_lines_are_singular_and_lose_the_turn_about_their_point(robot, point):
    assume(np.linalg.norm(robot.hip_position - point, axis=1).min() > 0.05)
    found = singularity(robot, aim(robot, point))
    # three casters can be in line with the point: their lines are then one
    assume(found.singular_values[1] > 1e-3)
    assert found.rank == 2 and found.lines == Lines.CONCURRENT
    np.testing.assert_allclose(found.point, point, atol=1e-7)
    vx, vy, w = found.unactuated_direction
    np.testing.assert_allclose([vx - w * point[1], vy + w * point[0]], 0.0, atol=1e-7)


def lines_meet(robot, steering):
    """
    Return how far three lines are from parallel or concurrent, as a determinant.

    A line through the contact point p along e is a·x = a·p with the axle a; three such equations
    in homogeneous coordinates have a common solution (a point, or a direction at infinity)
    exactly when their determinant is zero.
    """
    axle = np.column_stack([np.cos(steering), np.sin(steering)])
    along = np.column_stack([-np.sin(steering), np.cos(steering)])
    contact = robot.hip_position - robot.caster_offset[:, None] * along
    return np.linalg.det(np.column_stack([axle, np.sum(axle * contact, axis=1)]))


@given(robots_in_motion(min_casters=3, max_casters=3))
def test_wheel_jacobian_is_singular_exactly_when_the_three_lines_meet(case):
    robot, steering, _, _ = case
    determinant = np.linalg.det(wheel_jacobian(robot, steering) * robot.wheel_radius[:, None])
    # the same number up to sign: pivots or contact points, the line is the same
    np.testing.assert_allclose(abs(determinant), abs(lines_meet(robot, steering)), atol=1e-12)
    found = singularity(robot, steering)
    assert (found.lines == Lines.REGULAR) == (found.rank == 3)
    np.testing.assert_allclose(np.prod(found.singular_values),
                               abs(determinant) / length_scale(robot), atol=1e-12)


def test_equal_angles_are_not_the_only_singularity():
    # paper I: "the singularity appears only when the steering angles are equal"
    radial = singularity(C3P, np.radians([-60.0, 60.0, 180.0]))
    assert radial.lines == Lines.CONCURRENT and radial.sigma_min < 1e-12
    np.testing.assert_allclose(radial.point, 0.0, atol=1e-12)
    np.testing.assert_allclose(radial.unactuated_direction, [0, 0, 1 / 0.343], atol=1e-9)


@pytest.mark.parametrize('degrees, lost', [(0, [1, 0, 0]), (90, [0, 1, 0]), (-90, [0, 1, 0])])
def test_aligned_casters_of_the_c3p_lose_the_direction_of_their_axles(degrees, lost):
    found = singularity(C3P, np.radians([degrees] * 3))
    np.testing.assert_allclose(found.unactuated_direction, lost, atol=1e-12)


def test_regular_configuration_loses_nothing():
    found = singularity(C3P, np.radians([30.0, 150.0, 270.0]))
    assert found.rank == 3 and found.lines == Lines.REGULAR
    np.testing.assert_array_equal(found.unactuated_direction, 0.0)
    # tangential wheels at 120°: the best that three can do, singular values √3/√2, √3/√2, √3
    np.testing.assert_allclose(found.singular_values, np.sqrt([3, 1.5, 1.5]), atol=1e-12)


def test_two_driven_wheels_always_lose_one_direction_and_one_wheel_two():
    pair = changed(C3P, driven=[True, True, False])
    found = singularity(pair, [0.3, 1.0, 2.0])
    assert found.rank == 2 and found.lines == Lines.CONCURRENT and found.sigma_min == 0.0
    assert np.abs(wheel_jacobian(pair, [0.3, 1.0, 2.0])[:2]
                  @ found.unactuated_direction).max() < 1e-12
    single = singularity(changed(C3P, driven=[True, False, False]), [0.3, 1.0, 2.0])
    assert single.rank == 1 and single.lines == Lines.COINCIDENT
    row = wheel_jacobian(C3P, [0.3, 1.0, 2.0])[0]
    np.testing.assert_allclose(single.directions[1:] @ row, 0.0, atol=1e-12)


@given(robots_in_motion(min_casters=3), angles, vectors(2, 2.0))
def test_measure_does_not_depend_on_the_choice_of_base_link(case, turn, shift):
    robot, steering, _, _ = case
    c, s = np.cos(turn), np.sin(turn)
    moved = changed(robot, hip_position=robot.hip_position @ np.array([[c, s], [-s, c]]) + shift)
    np.testing.assert_allclose(singularity(moved, steering + turn).singular_values,
                               singularity(robot, steering).singular_values, atol=1e-12)


@given(robots_in_motion(min_casters=3), st.floats(0.1, 10))
def test_measure_does_not_depend_on_the_size_of_the_robot(case, scale):
    robot, steering, _, _ = case
    scaled = changed(robot, hip_position=robot.hip_position * scale)
    np.testing.assert_allclose(singularity(scaled, steering).singular_values,
                               singularity(robot, steering).singular_values, atol=1e-12)


def test_leading_dimensions_equal_a_loop():
    steering = np.random.default_rng(2).uniform(-4, 4, (4, 5, 3))
    steering[1, 2], steering[3, 4] = 0.7, aim(C3P, [1.0, 2.0])
    many = singularity(C3P, steering)
    for i in range(4):
        for j in range(5):
            for got, single in zip(many, singularity(C3P, steering[i, j]), strict=True):
                np.testing.assert_allclose(got[i, j], single, rtol=1e-6, atol=1e-12)


def test_angle_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match='must be finite'):
        singularity(C3P, [0.0, np.nan, 0.0])


@pytest.mark.parametrize('tolerance', [-1e-6, np.nan, np.inf])
def test_tolerance_out_of_range_is_refused(tolerance):
    with pytest.raises(ValueError, match='tolerance = '):
        singularity(C3P, [0.0, 1.0, 2.0], tolerance)


@given(robots_in_motion(min_casters=3))
def test_singular_values_have_the_moments_of_the_rows(case):
    robot, steering, *_ = case
    shown = singularity(robot, steering)
    rows = scaled_wheel_jacobian(robot, steering)
    values = shown.singular_values
    # unit rolling directions and the levers of the rolling lines about the mean pivot
    assert np.sum(values**2) == pytest.approx(robot.count + np.sum(rows[:, 2]**2), rel=1e-9)
    assert np.prod(values)**2 == pytest.approx(np.linalg.det(rows.T @ rows), rel=1e-6, abs=1e-12)
    # the wheels roll with σ for the twist of each direction
    for value, twist in zip(values, shown.directions, strict=True):
        rolled = robot.wheel_radius * (wheel_jacobian(robot, steering) @ twist)
        assert np.linalg.norm(rolled) == pytest.approx(value, rel=1e-6, abs=1e-9)


@given(robots_in_motion(min_casters=3), st.integers(0, 2**32 - 1))
def test_measure_does_not_depend_on_numbering_or_handedness(case, seed):
    robot, steering, *_ = case
    values = singularity(robot, steering).singular_values
    order = np.random.default_rng(seed).permutation(robot.count)
    renumbered = replace(robot, hip_position=robot.hip_position[order],
                         caster_offset=robot.caster_offset[order],
                         wheel_radius=robot.wheel_radius[order])
    mirrored = replace(robot, hip_position=robot.hip_position * [1, -1])
    for other, angles in ((renumbered, steering[order]), (mirrored, np.pi - steering),
                          (robot, steering + np.pi)):
        np.testing.assert_allclose(singularity(other, angles).singular_values, values, atol=1e-9)
