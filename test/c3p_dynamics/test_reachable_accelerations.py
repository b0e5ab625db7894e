# SPDX-License-Identifier: Apache-2.0
"""Reachable accelerations against the forward dynamics, corner by corner."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import C3P, caster_robots

from c3p_description.model import Friction
from c3p_dynamics.caster_dynamics import forward_dynamics
from c3p_dynamics.motion_freedoms import trailing
from c3p_dynamics.reach import heading_reach, reach, resistance, travel
from c3p_dynamics.traction import torque_bounds
from c3p_kinematics.casters import inverse

LIMITED = replace(C3P, torque_limit=1.2)


@settings(max_examples=25, deadline=None)
@given(robot=caster_robots(min_casters=3, max_casters=5), seed=st.integers(0, 1000))
def test_reach_is_the_extreme_of_sampled_torques(robot, seed):
    """No sampled torque with a parallel acceleration does better, and one does nearly as well."""
    rng = np.random.default_rng(seed)
    robot = replace(robot, torque_limit=rng.uniform(0.5, 20.0))
    steering, direction = rng.uniform(-np.pi, np.pi, robot.count), rng.normal(size=3)
    found = reach(robot, steering, direction)
    bound, still = torque_bounds(robot), np.zeros(3)
    # accelerations are linear in the torques: columns of the map by forward dynamics
    columns = np.array([forward_dynamics(robot, steering, still, np.where(
        np.arange(robot.count) == i, bound, 0.0)) for i in range(robot.count)]).T
    # the support function of the corners bounds the reach along every normal
    corners = np.array(list(product((-1.0, 1.0), repeat=robot.count))) @ columns.T
    for normal in rng.normal(size=(200, 3)):
        ahead = float(normal @ direction)
        if abs(ahead) > 1e-6:
            most = float((corners @ normal).max())
            assert found <= most / abs(ahead) * (1 + 1e-6) + 1e-9


def test_the_reached_acceleration_is_that_of_forward_dynamics():
    """Without friction three wheels at their bounds push along +Y with 3·b/(r·m)."""
    accel = forward_dynamics(LIMITED, np.zeros(3), np.zeros(3), torque_bounds(LIMITED))
    assert reach(LIMITED, np.zeros(3), [0.0, 1.0, 0.0]) == pytest.approx(accel[1], rel=1e-9)


def test_friction_takes_its_force_from_the_reach():
    """Rolling resistance of c N·m a wheel takes c/b of the force."""
    slow = replace(LIMITED, friction=Friction(rolling_coulomb=0.3))
    ideal = reach(LIMITED, np.zeros(3), [0.0, 1.0, 0.0])
    assert reach(slow, np.zeros(3), [0.0, 1.0, 0.0]) == pytest.approx(0.75 * ideal, rel=1e-6)


def test_a_robot_weaker_than_its_friction_reaches_nothing():
    weak = replace(LIMITED, friction=Friction(rolling_coulomb=1.3))
    assert reach(weak, np.zeros(3), [0.0, 1.0, 0.0]) == 0.0


def test_viscous_friction_does_not_count_at_rest():
    """Resistance is that of dry friction, whatever the viscous friction and the speed scale."""
    dry = Friction(rolling_coulomb=0.05, pivot_coulomb=0.01, scrub_coulomb=0.02)
    both = replace(dry, rolling_viscous=0.1, pivot_viscous=0.05)
    steering, direction = [0.3, -1.0, 2.0], [0.5, -0.2, 1.0]
    np.testing.assert_allclose(
        resistance(replace(C3P, friction=both), steering, direction),
        resistance(replace(C3P, friction=dry), steering, direction), atol=1e-9)


def test_two_driven_wheels_cannot_accelerate_along_one_component():
    """In general posture two wheels span a plane, which a given direction is not in."""
    two = replace(LIMITED, driven=[True, True, False])
    assert reach(two, [0.3, 1.1, -0.7], [1.0, 0.0, 0.0]) == 0.0


@settings(max_examples=30, deadline=None)
@given(robot=caster_robots(), angle=st.floats(-3.0, 3.0))
def test_trailing_casters_roll_without_turning(robot, angle):
    """In straight travel no steering angle changes, and every wheel rolls forward."""
    twist = np.array([np.cos(angle), np.sin(angle), 0.0])
    wheel, steer, _ = inverse(robot, trailing(robot, twist), twist)
    np.testing.assert_allclose(steer, 0.0, atol=1e-9)
    assert (wheel > 0.0).all()


@settings(max_examples=30, deadline=None)
@given(robot=caster_robots(), angle=st.floats(-3.0, 3.0), turn=st.floats(-1.0, 1.0))
def test_trailing_casters_keep_their_angles_on_a_circle(robot, angle, turn):
    """Where every pivot is faster than d ω; the wheels roll forward."""
    twist = np.array([3.0 * np.cos(angle), 3.0 * np.sin(angle), turn])
    wheel, steer, _ = inverse(robot, trailing(robot, twist), twist)
    np.testing.assert_allclose(steer, 0.0, atol=1e-9)
    assert (wheel > 0.0).all()
    np.testing.assert_array_equal(trailing(robot, np.array([twist, -twist]))[0],
                                  trailing(robot, twist))


def test_travel_of_a_regular_robot_is_equal_in_every_direction():
    found = travel(LIMITED, 6)
    np.testing.assert_allclose(found.along, found.along[0], rtol=1e-9)
    assert found.turn[0] == pytest.approx(found.turn[1])


def test_heading_is_corrected_by_the_wheels_beside_the_others():
    """Of three parallel lines, two on one and one beside it, the weakest decides."""
    level = np.full(3, -0.5 * np.pi)
    free = heading_reach(LIMITED, level, [1.0, 0.0])
    assert free > 1.0
    # friction that holds the third wheel, alone beside the first two, holds the heading
    jammed = replace(LIMITED, friction=Friction(rolling_coulomb=[0.1, 0.1, 1.3]))
    assert heading_reach(jammed, level, [1.0, 0.0]) < 0.3 * free
    one = replace(LIMITED, driven=[True, False, False])
    assert heading_reach(one, level, [1.0, 0.0]) == pytest.approx(0.0, abs=1e-6)
