# SPDX-License-Identifier: Apache-2.0
"""Vehicles for uneven ground: frames of the tricycle, rolling of the others over hills."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_description.pvc_model import PvcTricycle
from c3p_rough_ground.closed_chain import place, simulate, velocity
from c3p_rough_ground.closed_chain.velocity import joint_frames
from c3p_rough_ground.terrain import Flat, Hills
from c3p_rough_ground.vehicles import caster_vehicle, four_wheel_rover, pvc_tricycle

HILLS = Hills.random(1)
MODEL = PvcTricycle('example', 1.3, 0.7, 0.12, 0.25, 0.05, camber_limit=0.6, steering_limit=0.8)


def drives(vehicle, speed=0.25):
    """Return the desired rates of a straight drive: every wheel at the same speed."""
    desired = np.zeros(vehicle.size[0])
    for i, wheel in zip(vehicle.spins, vehicle.wheels, strict=True):
        desired[i] = speed / wheel.surface.outer_radius
    return desired


@pytest.mark.parametrize('vehicle, free', [(four_wheel_rover(), 5), (caster_vehicle(), 3)],
                         ids=['rover', 'caster'])
def test_other_vehicles_roll_over_hills_without_slip(vehicle, free):
    start = place(vehicle, HILLS, 0, 0, 0.3).require()
    desired = drives(vehicle)
    run = simulate(vehicle, HILLS, start, desired, 20.0, camber_gain=1.0)
    assert not run.ended_early
    assert run.closure_l2.max() < 1e-11
    assert run.rolling_l2.max() < 1e-11
    assert run.material_slip.max() < 1e-9
    assert np.linalg.norm(run.position[-1] - run.position[0]) == pytest.approx(5.0, abs=0.3)
    full = velocity(vehicle, HILLS, run.state(), run.desired[-1])
    assert full.free == free
    assert np.abs(full.joint_rates - run.joint_rates[-1]).max() < 1e-12
    assert np.abs(full.contact_rates - run.contact_rates[-1]).max() < 1e-12


def test_the_front_axle_of_the_rover_swings_with_the_ground():
    rover = four_wheel_rover()
    run = simulate(rover, HILLS, place(rover, HILLS, 0, 0, 0.3).require(), drives(rover), 20.0)
    axle = run.joint[:, rover.index('front_axle')]
    assert np.ptp(axle) > 0.02
    # how far the four contacts are off one plane is what it takes up
    points = run.contact_point - run.contact_point[:, :1]
    height = np.einsum('ni,ni->n', points[:, 3], np.cross(points[:, 1], points[:, 2]))
    assert np.corrcoef(axle, height)[0, 1] ** 2 > 0.9


def test_the_caster_turns_to_trail():
    cart = caster_vehicle()
    joint = np.zeros(6)
    joint[cart.index('caster_pivot')] = 0.8
    weights = np.ones(6)
    # what turns freely weighs little
    weights[[cart.index('caster_pivot'), cart.index('caster_wheel')]] = 1e-6
    start = place(cart, Flat(), 0, 0, 0, joint).require()
    run = simulate(cart, Flat(), start, drives(cart), 4.0, weights=weights, camber_gain=1.0)
    pivot = run.joint[:, cart.index('caster_pivot')]
    # a towed wheel: sin ψ' = −v/d sin ψ, with the whole vehicle straight
    expected = 2.0 * np.arctan(np.tan(0.4) * np.exp(-run.time * 0.25 / 0.1))
    assert np.abs(pivot - expected).max() < 0.05
    assert abs(pivot[-1]) < 1e-3


def turn(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    out = np.eye(4)
    i, j = [(1, 2), (2, 0), (0, 1)]['xyz'.index(axis)]
    out[i, i], out[i, j], out[j, i], out[j, j] = c, -s, s, c
    return out


def move(x, y, z):
    out = np.eye(4)
    out[:3, 3] = x, y, z
    return out


@given(st.tuples(*[st.floats(-3, 3)] * 6))
def test_wheel_frames_are_the_products_of_the_model(joint):
    steering, drive_1, camber_2, drive_2, camber_3, drive_3 = joint
    expected = [
        move(1.3, 0, 0) @ turn('z', steering) @ turn('y', drive_1),
        move(0, 0.58, 0) @ turn('x', camber_2) @ move(0, 0.12, 0) @ turn('y', drive_2),
        move(0, -0.58, 0) @ turn('x', camber_3) @ move(0, -0.12, 0) @ turn('y', drive_3)]
    for i, frame in enumerate(expected):
        assert np.abs(joint_frames(pvc_tricycle(MODEL), i, joint)[-1] - frame).max() < 1e-14


def test_joints_have_the_limits_of_the_model_and_cambers_are_known():
    tricycle = pvc_tricycle(MODEL)
    assert tricycle.limits[0].tolist() == [-0.8, 0.8]
    assert tricycle.limits[2].tolist() == tricycle.limits[4].tolist() == [-0.6, 0.6]
    assert np.all(np.isinf(tricycle.limits[[1, 3, 5]]))
    assert [tricycle.index(name) for name in tricycle.camber] == [2, 4]
    assert tricycle.spins == (1, 3, 5)
    with pytest.raises(ValueError, match='has no joint'):
        tricycle.index('wheel_joint_4')
