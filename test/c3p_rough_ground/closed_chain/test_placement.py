# SPDX-License-Identifier: Apache-2.0
"""Poses in which all wheels touch."""

import numpy as np
import pytest
from grounded_vehicles import (
    HILLS,
    STEEP,
    TRICYCLE,
    deepest_points,
    places,
    platform_by_wheels,
    tricycle_joints,
)
from hypothesis import given, settings

from c3p_description.pvc_model import PvcTricycle
from c3p_rough_ground.closed_chain import place
from c3p_rough_ground.closed_chain.vehicle import yaw_of
from c3p_rough_ground.rolling_contact import ContactError
from c3p_rough_ground.terrain import Flat, Hills, Incline, SplineGround
from c3p_rough_ground.vehicles import pvc_tricycle


@settings(max_examples=30)
@given(places, tricycle_joints)
def test_placed_wheels_agree_on_the_platform(at, joint):
    state = place(TRICYCLE, STEEP, *at, joint).require()
    poses = platform_by_wheels(TRICYCLE, STEEP, state.joint, state.contact)
    assert np.abs(poses[:, :3, 3] - state.position).max() < 1e-11
    assert np.abs(poses[:, :3, :3] - state.rotation).max() < 1e-11
    assert state.position[:2].tolist() == list(at[:2])


def test_nearly_all_of_a_thousand_poses_on_slopes_to_45_degrees_are_solved():
    rng = np.random.default_rng(7)
    steepest, steps, solved = 0.0, [], 0
    for _ in range(1000):
        x, y = rng.uniform(-40, 40, 2)
        _, gx, gy, *_ = STEEP.derivatives(x, y)
        steepest = max(steepest, np.hypot(gx, gy))
        found = place(TRICYCLE, STEEP, x, y, rng.uniform(-3, 3), rng.uniform(-0.5, 0.5, 6))
        solved += found.success
        steps.append(found.iterations)
    assert np.degrees(np.arctan(steepest)) > 40.0
    assert solved >= 999
    assert np.mean(np.array(steps) <= 5) > 0.9


def test_on_an_incline_the_platform_is_parallel_to_it():
    slope, direction = 0.6, 0.4
    found = place(TRICYCLE, Incline(slope, direction), 1.0, 2.0, 0.7)
    normal = np.array([-slope * np.cos(direction), -slope * np.sin(direction), 1.0])
    normal /= np.linalg.norm(normal)
    assert found.success
    assert np.abs(found.state.rotation[:, 2] - normal).max() < 1e-12
    # centres a wheel's radius off the plane
    height = slope * (np.cos(direction) * 1.0 + np.sin(direction) * 2.0)
    assert abs((found.state.position - [1.0, 2.0, height]) @ normal - 0.3) < 1e-12


def test_on_the_flat_the_heading_is_the_one_asked_for():
    state = place(TRICYCLE, Flat(2.0), 0.5, -0.5, -2.0).require()
    assert yaw_of(state.rotation) == pytest.approx(-2.0, abs=1e-12)
    assert state.position[2] == pytest.approx(2.3, abs=1e-12)


def test_of_two_places_the_wheel_takes_the_one_where_it_is_not_inside_the_ground():
    # ruts sharper than the wheel: it rides on their edges
    ruts, rng, stood = Hills.random(5, amplitude=0.1, wavelength=0.8), np.random.default_rng(0), 0
    for _ in range(20):
        found = place(TRICYCLE, ruts, *rng.uniform(-5, 5, 2), 0.3)
        stood += found.success
        if found.success:
            assert min(deepest_points(found.state, ruts)) > -1e-4
        else:
            assert 'wheel' in found.reason
    assert stood >= 15


def test_wheels_that_cannot_stand_are_named_with_place_and_remedy():
    needles = SplineGround.random(2, spacing=0.15, amplitude=0.6)
    rng, reasons = np.random.default_rng(0), []
    for _ in range(20):
        found = place(TRICYCLE, needles, *rng.uniform(0, 3, 2), 0.0)
        if not found.success:
            reasons.append(found.reason)
            with pytest.raises(ContactError, match='wheel'):
                found.require()
    assert reasons
    for reason in reasons:
        assert 'x =' in reason and ('take' in reason or 'place the' in reason)


def test_a_vehicle_wider_than_its_ground_still_stands():
    large = pvc_tricycle(PvcTricycle('large', 12.0, 6.0, 1.0, 2.5, 0.5))
    assert place(large, HILLS, 0.0, 0.0, 1.0).success


@pytest.mark.parametrize('at', [(np.nan, 0, 0), (0, np.inf, 0)])
def test_numbers_that_are_not_finite_are_refused(at):
    with pytest.raises(ValueError, match='finite'):
        place(TRICYCLE, HILLS, *at)
