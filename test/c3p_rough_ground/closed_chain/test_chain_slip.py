# SPDX-License-Identifier: Apache-2.0
"""Slip of the wheels' material, slip without camber, many runs at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from grounded_vehicles import EQUAL_DRIVES, HILLS, TRICYCLE, planar_tricycle, tricycle_at

from c3p_rough_ground.closed_chain import (
    RolloutOptions,
    locked_slip,
    place,
    rollouts,
    simulate,
)
from c3p_rough_ground.closed_chain.ground import hollow_radius
from c3p_rough_ground.terrain import Flat, Hills, Incline, Plateau, SplineGround


def test_material_does_not_slip_on_smooth_ground():
    run = simulate(TRICYCLE, HILLS, tricycle_at(HILLS, 0, 0, 0.3), EQUAL_DRIVES, 20.0)
    assert run.material_slip.shape == (1001, 3)
    assert run.material_slip.max() < 1e-9


def test_a_locked_camber_slips_and_the_differences_see_it():
    # infinite weights keep camber and drives: nothing is left to give way
    weights = [1.0, np.inf, np.inf, np.inf, np.inf, np.inf]
    start = tricycle_at(HILLS, 0, 0, 0.3, [0.3, 0, 0, 0, 0, 0])
    run = simulate(TRICYCLE, HILLS, start, EQUAL_DRIVES, 1.0, weights=weights)
    assert run.material_slip.max() > 1e-3
    assert np.abs(run.rolling_l2 - np.sqrt(np.sum(run.material_slip**2, axis=1))).max() < 1e-6


def test_slip_without_camber_comes_mostly_from_equal_drives():
    ground = SplineGround.random(1)
    run = simulate(TRICYCLE, ground, tricycle_at(ground, 0, 0, 0), EQUAL_DRIVES, 20.0)
    slip = locked_slip(run, every=20)
    assert slip.equal.shape == slip.best.shape == (51, 3)
    assert np.all(np.sum(slip.best**2, axis=1) <= np.sum(slip.equal**2, axis=1) + 1e-20)
    # about nine tenths of the square, seven tenths of the mean
    assert 0.8 < slip.equal_drive_energy_fraction < 0.95
    assert 0.6 < slip.equal_drive_fraction < 0.9
    assert 1e-5 < slip.best.mean() < slip.equal.mean() < 0.01


def test_best_drives_leave_slip_across_the_wheels_alone():
    run = simulate(TRICYCLE, HILLS, tricycle_at(HILLS, 0, 0, 0.3), EQUAL_DRIVES, 4.0)
    slip = locked_slip(run, every=50)
    assert np.abs(slip.best_velocity[..., 0]).max() < 1e-12
    assert np.abs(slip.best_velocity[..., 1]).max() > 1e-6


def test_straight_up_a_slope_nothing_slips_without_camber_either():
    ground = Plateau()
    run = simulate(TRICYCLE, ground, tricycle_at(ground, 0, 0, 0), EQUAL_DRIVES, 20.0)
    slip = locked_slip(run, every=50)
    # left and right are alike; only the front wheel wants another rate where the slope changes
    assert slip.best.max() < 1e-9 < 1e-4 < slip.equal.max()


def test_a_vehicle_without_camber_has_none_to_lock():
    cart = planar_tricycle()
    run = simulate(cart, Flat(), place(cart, Flat(), 0, 0, 0).require(), [0, 1, 1, 1], 0.1)
    with pytest.raises(ValueError, match='no camber joint'):
        locked_slip(run)


@pytest.mark.parametrize('workers', [1, 2])
def test_rollouts_are_the_runs_one_by_one(workers):
    start = tricycle_at(HILLS, 0, 0, 0.3)
    desired = np.array([[0.05 * k, 1.0, 0.0, 1.0 + 0.1 * k, 0.0, 1.0] for k in range(5)])
    with ThreadPoolExecutor(workers) as pool:
        many = rollouts(TRICYCLE, HILLS, start, desired, 2.0,
                        RolloutOptions(every=25, spread=pool.map))
    assert many.states.shape == (5, 5, 28) and many.ended == ('',) * 5
    for one, rates in zip(many.states, desired, strict=True):
        run = simulate(TRICYCLE, HILLS, start, rates, 2.0)
        assert one.tolist() == run.states[::25].tolist()


def test_rollouts_that_end_early_say_so_and_keep_their_last_state():
    start = tricycle_at(HILLS, 0, 0, 0.3)
    desired = np.array([[0.0, 1, 0, 1, 0, 1], [1.0, 1, 0, 1, 0, 1]])
    many = rollouts(TRICYCLE, HILLS, [start, start], desired, 4.0, RolloutOptions(every=50),
                    weights=[100, 1, 100, 1, 100, 1])
    assert many.ended == ('', 'joint limit')
    assert many.time[0] == 4.0 and 0.5 < many.time[1] < 2.0
    steering = many.joint(TRICYCLE)[1, :, 0]
    assert np.all(steering[2:] == steering[-1]) and steering[-1] <= 1.0


@pytest.mark.parametrize('states, desired, changes, text', [
    (1, np.ones(6), {}, 'shape'), (2, np.ones((3, 6)), {}, 'equally many'),
    (1, np.ones((3, 5)), {}, 'desired'), (1, np.ones((3, 6)), {'every': -1}, 'every')])
def test_rollouts_name_what_does_not_fit(states, desired, changes, text):
    start = tricycle_at(HILLS, 0, 0, 0.3)
    with pytest.raises(ValueError, match=text):
        rollouts(TRICYCLE, HILLS, start if states == 1 else [start] * states, desired, 1.0,
                 RolloutOptions(**changes))


@pytest.mark.parametrize('ground', [
    Hills.random(2), SplineGround.random(3), SplineGround.random(3, degree=5), Plateau(),
    Plateau(rise=0.7, width=0.4, direction=1.0)], ids=str)
def test_no_hollow_is_sharper_than_the_bound(ground):
    assert 0.0 < hollow_radius(ground) <= ground.smallest_radius * (1.0 + 1e-9)


def test_planes_have_no_hollow():
    assert hollow_radius(Flat()) == hollow_radius(Incline(0.5)) == np.inf
