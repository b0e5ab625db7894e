# SPDX-License-Identifier: Apache-2.0
"""Other vehicles are descriptions and nothing else: they roll over hills as the tricycle does."""

import numpy as np
import pytest

from c3p_kinematics.closed_chain_vehicle import place, simulate, velocity
from c3p_kinematics.rovers import caster_vehicle, four_wheel_rover
from c3p_kinematics.terrain import Flat, Hills

HILLS = Hills.random(1)


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
