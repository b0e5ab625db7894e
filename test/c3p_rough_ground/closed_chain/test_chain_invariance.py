# SPDX-License-Identifier: Apache-2.0
"""Rolling vehicles: projection, symmetries of vehicle and ground, reversal, order conditions."""

import numpy as np
import pytest
from grounded_vehicles import HILLS, TRICYCLE, motion_at, places, tricycle_at, tricycle_joints
from hypothesis import given, settings
from hypothesis import strategies as st

from c3p_description.pvc_model import PvcTricycle
from c3p_rough_ground.closed_chain import Stepping, place, simulate
from c3p_rough_ground.closed_chain._plan import METHODS
from c3p_rough_ground.terrain import Hills
from c3p_rough_ground.vehicles import caster_vehicle, four_wheel_rover, pvc_tricycle

DESIRED = np.array([0.05, 1.0, 0.0, 1.1, 0.0, 0.9])
rates = st.tuples(*[st.floats(-2, 2)] * 6).map(np.array)


@given(places, tricycle_joints, rates, rates, st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_joint_rates_are_the_weighted_projection_of_the_desired_ones(at, joint, one, other, seed):
    state = tricycle_at(HILLS, *at, joint)
    weights = np.random.default_rng(seed).uniform(0.2, 5.0, 6)

    def projected(desired):
        return motion_at(TRICYCLE, HILLS, state, desired, weights).joint_rates[0]

    first, second = projected(one), projected(other)
    # linear, idempotent, and the remainder orthogonal to every possible motion
    np.testing.assert_allclose(projected(2.0 * one - other), 2.0 * first - second, atol=1e-9)
    np.testing.assert_allclose(projected(first), first, atol=1e-9)
    assert (one - first) @ (weights * second) == pytest.approx(0.0, abs=1e-8)


@given(st.tuples(st.floats(-5, 5), st.floats(-5, 5), st.floats(-1, 1)), st.floats(-3, 3))
@settings(max_examples=8)
def test_on_a_turned_ground_the_vehicle_drives_the_turned_path(at, angle):
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    turned = Hills(HILLS.amplitude, HILLS.wave_vector @ turn.T, HILLS.phase)
    here = simulate(TRICYCLE, HILLS, tricycle_at(HILLS, *at), DESIRED, 1.0)
    there = simulate(TRICYCLE, turned, tricycle_at(turned, *(turn @ at[:2]), at[2] + angle),
                     DESIRED, 1.0)
    np.testing.assert_allclose(there.position[:, :2], here.position[:, :2] @ turn.T, atol=1e-8)
    np.testing.assert_allclose(there.position[:, 2], here.position[:, 2], atol=1e-8)
    np.testing.assert_allclose(there.joint, here.joint, atol=1e-8)


@given(st.tuples(st.floats(-5, 5), st.floats(-5, 5), st.floats(-1, 1)))
@settings(max_examples=8)
def test_on_the_mirrored_ground_the_tricycle_drives_the_mirrored_path(at):
    mirrored = Hills(HILLS.amplitude, HILLS.wave_vector * [1, -1], HILLS.phase)
    # steering and camber change their sense, left and right their places
    order, sign = [0, 1, 4, 5, 2, 3], np.array([-1, 1, -1, 1, -1, 1])
    here = simulate(TRICYCLE, HILLS, tricycle_at(HILLS, *at), DESIRED, 1.0)
    there = simulate(TRICYCLE, mirrored, tricycle_at(mirrored, at[0], -at[1], -at[2]),
                     sign * DESIRED[order], 1.0)
    np.testing.assert_allclose(there.position, here.position * [1, -1, 1], atol=1e-8)
    np.testing.assert_allclose(there.joint, sign * here.joint[:, order], atol=1e-8)


def test_a_larger_vehicle_on_larger_hills_turns_its_joints_alike():
    scale = 2.5
    larger = pvc_tricycle(PvcTricycle('larger', *(scale * np.array([1.2, 0.6, 0.1, 0.25, 0.05]))))
    hills = Hills(scale * HILLS.amplitude, HILLS.wave_vector / scale, HILLS.phase)
    here = simulate(TRICYCLE, HILLS, tricycle_at(HILLS, 0.3, 0.2, 0.5), DESIRED, 2.0)
    start = place(larger, hills, 0.3 * scale, 0.2 * scale, 0.5).require()
    there = simulate(larger, hills, start, DESIRED, 2.0)
    np.testing.assert_allclose(there.position, scale * here.position, atol=1e-8)
    np.testing.assert_allclose(there.joint, here.joint, atol=1e-8)


@pytest.mark.parametrize('vehicle', [TRICYCLE, four_wheel_rover(), caster_vehicle()],
                         ids=lambda vehicle: vehicle.name)
def test_reversed_rates_drive_back_to_the_start(vehicle):
    """The motion is linear in the rates: a run of fourth order is reversible up to its error."""
    desired = np.zeros(vehicle.size[0])
    desired[list(vehicle.spins)] = np.linspace(0.9, 1.1, vehicle.size[1])
    start = place(vehicle, HILLS, 0.0, 0.0, 0.3).require()
    there = simulate(vehicle, HILLS, start, desired, 2.0, Stepping(0.01))
    back = simulate(vehicle, HILLS, there.state(), -desired, 2.0, Stepping(0.01))
    assert np.linalg.norm(there.position[-1] - there.position[0]) > 0.1
    np.testing.assert_allclose(back.states[-1], there.states[0], atol=1e-7)
    np.testing.assert_allclose(back.position[::-1], there.position, atol=1e-7)


@pytest.mark.parametrize(('name', 'order'), [('rk4', 4), ('adaptive', 5)])
def test_methods_satisfy_their_order_conditions(name, order):
    a, b, c, e = METHODS[name]
    assert np.all(np.triu(a) == 0.0)
    np.testing.assert_allclose(a.sum(axis=1), c, atol=1e-15)
    conditions = {
        1: [(b.sum(), 1)], 2: [(b @ c, 1 / 2)],
        3: [(b @ c**2, 1 / 3), (b @ a @ c, 1 / 6)],
        4: [(b @ c**3, 1 / 4), (b @ (c * (a @ c)), 1 / 8), (b @ a @ c**2, 1 / 12),
            (b @ a @ a @ c, 1 / 24)],
        5: [(b @ c**4, 1 / 5), (b @ (c**2 * (a @ c)), 1 / 10), (b @ (a @ c)**2, 1 / 20),
            (b @ (c * (a @ c**2)), 1 / 15), (b @ (c * (a @ a @ c)), 1 / 30),
            (b @ a @ c**3, 1 / 20), (b @ a @ (c * (a @ c)), 1 / 40),
            (b @ a @ a @ c**2, 1 / 60), (b @ a @ a @ a @ c, 1 / 120)]}
    for value, expected in sum((conditions[k] for k in range(1, order + 1)), []):
        assert value == pytest.approx(expected, abs=1e-14)
    # the error is the difference of two methods, the lower of fourth order
    if np.any(e):
        for value, expected in sum((conditions[k] for k in range(1, 4)), []):
            assert value == pytest.approx(expected, abs=1e-14)
        assert [e.sum(), e @ c, e @ c**2, e @ c**3] == pytest.approx([0.0] * 4, abs=1e-14)
