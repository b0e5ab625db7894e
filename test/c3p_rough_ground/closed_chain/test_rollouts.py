# SPDX-License-Identifier: Apache-2.0
"""Runs in threads are the runs one by one, to the last bit, events included."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from grounded_vehicles import HILLS, TRICYCLE, tricycle_at

from c3p_rough_ground.closed_chain import RolloutOptions, Stepping, place, rollouts, simulate
from c3p_rough_ground.terrain import Flat, Hills, Incline, Plateau, SplineGround
from c3p_rough_ground.vehicles import four_wheel_rover

# as sharp as the tyres in places: second contacts and lost margins
ROUGH = Hills.random(3, amplitude=1.2, wavelength=1.6)


def random_rates(rng, count):
    """Return desired rates of the tricycle that steer far enough to meet its limits."""
    rates = np.zeros((count, 6))
    rates[:, 0], rates[:, 1::2] = rng.uniform(-0.8, 0.8, count), rng.uniform(0.5, 1.5, (count, 3))
    return rates


@pytest.mark.parametrize('ground', [HILLS, ROUGH, SplineGround.random(2), Flat(), Incline(0.2),
                                    Plateau()], ids=lambda one: type(one).__name__)
def test_each_of_many_runs_is_the_run_alone(ground):
    rng = np.random.default_rng(5)
    # not divided evenly among the threads
    desired = random_rates(rng, 11)
    starts = [tricycle_at(ground, 0.1 * k, -0.2 * k, 0.3 * k) for k in range(11)]
    step = 0.01
    with ThreadPoolExecutor(2) as pool:
        many = rollouts(TRICYCLE, ground, starts, desired, 1.5,
                        RolloutOptions(step, 50, pool.map), camber_gain=1.0)
    for k in range(11):
        run = simulate(TRICYCLE, ground, starts[k], desired[k], 1.5, Stepping(step),
                       camber_gain=1.0)
        assert many.ended[k] == (run.events[0].what if run.events else '')
        kept = run.states[::50]
        assert many.states[k, :len(kept)].tolist() == kept.tolist()
        assert many.time[k] == (run.events[0].when if run.events else 1.5)


def test_events_end_single_runs():
    desired = np.tile([0.0, 1.0, 0.0, 1.0, 0.0, 1.0], (8, 1))
    desired[3, 0] = 1.0
    many = rollouts(TRICYCLE, HILLS, tricycle_at(HILLS, 0, 0, 0.3), desired, 4.0,
                    weights=[100, 1, 100, 1, 100, 1])
    assert many.ended == ('',) * 3 + ('joint limit',) + ('',) * 4


def test_each_run_has_inputs_of_its_own_that_change_with_time():
    rng = np.random.default_rng(2)
    desired = random_rates(rng, 3)[:, None] * np.linspace(0.2, 1.0, 51)[:, None]
    start = tricycle_at(HILLS, 0, 0, 0.3)
    many = rollouts(TRICYCLE, HILLS, start, desired, 1.0, RolloutOptions(every=10))
    for one, rates in zip(many.states, desired, strict=True):
        assert one.tolist() == simulate(TRICYCLE, HILLS, start, rates, 1.0).states[::10].tolist()


def test_a_vehicle_on_four_wheels_runs_many_times_as_once():
    rover = four_wheel_rover()
    start = place(rover, HILLS, 0.2, -0.1, 0.4).require()
    desired = np.full((2, rover.size[0]), 0.1)
    desired[:, list(rover.spins)] = [[1.0], [1.5]]
    many = rollouts(rover, HILLS, start, desired, 1.0, RolloutOptions(every=10))
    for one, rates in zip(many.states, desired, strict=True):
        assert one.tolist() == simulate(rover, HILLS, start, rates, 1.0).states[::10].tolist()


@pytest.mark.parametrize('wrong, text', [(np.nan, 'finite'), (1e3, 'step')])
def test_one_bad_row_of_many_is_found(wrong, text):
    desired = np.tile([0.0, 1.0, 0.0, 1.0, 0.0, 1.0], (9, 1))
    desired[7, 3] = wrong
    with pytest.raises(ValueError, match=text):
        rollouts(TRICYCLE, HILLS, tricycle_at(HILLS, 0, 0, 0.3), desired, 1.0)
