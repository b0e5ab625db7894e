# SPDX-License-Identifier: Apache-2.0
"""Joint states of a publisher with a cycle of its own: repeated samples, stamps of other times."""

import numpy as np
import pytest
from test_odometry_gap import BEGIN, COUNT, RATE, driven

from c3p_description import load
from c3p_kinematics.odometry import Odometry
from c3p_kinematics.sample_times import REPEATED, interval

C3P = load('c3p')
STAMPS = np.arange(COUNT) / RATE


def run(joints, chosen, stamps):
    """Return all estimates of the samples `chosen`, sent at `stamps`."""
    odometry = Odometry(C3P)
    return [odometry.step(stamp, *(joints[k][sample] for k in range(4)))
            for sample, stamp in zip(chosen, stamps, strict=True)]


@pytest.mark.parametrize('gap, most', [(0.01, 1e-4), (0.05, 1e-3), (0.1, 2e-3), (0.2, 0.005),
                                       (0.3, 0.01), (0.6, 0.03), (0.9, 0.06)])
def test_a_sample_that_is_sent_again_and_again_counts_once_and_no_path_is_lost(gap, most):
    """
    A topic system repeats the state of hardware that is silent, with new stamps.

    Tolerances: the robot brakes to a stop meanwhile, along a path that only positions before and
    after it tell (test_odometry_gap.py). Counted as standstill, 0.9 s cost 0.24 m.
    """
    for seed in range(12):
        joints, chosen = driven(seed, gap, True), np.arange(COUNT)
        chosen[BEGIN:BEGIN + round(gap * RATE)] = BEGIN
        whole, found = run(joints, np.arange(COUNT), STAMPS)[-1], run(joints, chosen, STAMPS)
        repeats = [e for e in found if not e.accepted]
        assert len(repeats) == found[-1].repeated == round(gap * RATE) - 1
        assert {e.reason for e in repeats} == {REPEATED}
        assert np.hypot(*(found[-1].pose - whole.pose)[:2]) < most
        assert found[-1].gaps == (gap > 0.25)


@pytest.mark.parametrize('jitter, drift', [(0.0005, 0.0), (0.001, 0.0), (0.003, 0.0),
                                           (0.0003, 1e-3), (0.001, -1e-3)])
def test_stamps_of_another_cycle_than_that_of_the_samples_cost_no_path(jitter, drift):
    """
    The manager stamps its own cycle and sends the newest sample: none, one or two are new.

    Without the times of the samples a drive of 1.7 m lost 0.19 m to a jitter of 1 ms: twice the
    increment in one cycle looked like wheels that spin.
    """
    errors = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        joints = driven(seed, 1.0, False)
        arrived = np.maximum.accumulate(STAMPS + abs(rng.normal(0.0, jitter, COUNT)))
        cycle = STAMPS * (1.0 + drift) + 0.0025 + abs(rng.normal(0.0, jitter, COUNT))
        cycle = np.maximum.accumulate(cycle) + 1e-5 * np.arange(COUNT)
        chosen = np.maximum(np.searchsorted(arrived, cycle) - 1, 0)
        whole = run(joints, np.arange(chosen[-1] + 1), STAMPS[:chosen[-1] + 1])[-1]
        errors.append(np.hypot(*(run(joints, chosen, cycle)[-1].pose - whole.pose)[:2]))
    assert np.median(errors) < 2e-3 and max(errors) < 0.03


def test_equal_samples_of_a_robot_that_stands_are_samples():
    """Zero rates, and the last digit of a rate that a drive shows at standstill."""
    for rate in (0.0, 0.1):
        odometry, still = Odometry(C3P), np.zeros(3)
        for k in range(400):
            found = odometry.step(k / RATE, still, still, np.full(3, rate), still)
            assert found.accepted
        assert not found.repeated and (found.pose == 0.0).all()


def test_samples_in_time_are_integrated_with_their_stamps():
    """Nothing that deviates as much as encoders do changes a bit of a recorded odometry."""
    joints = driven(2, 1.0, False)
    rate = joints[2]
    for k in range(1, COUNT - 1):
        mean = (joints[1][k] - joints[1][k - 1]) * RATE + 2 * np.pi / 2000 * RATE * (-1)**k
        assert interval(mean, rate[k - 1], rate[k], 1 / RATE, 2 * np.pi / 2000,
                                0.0)[0] == 1 / RATE


@pytest.mark.parametrize('mean, before, after, expected', [
    # half and twice the increments
    ([5.0, 10.0, -10.0], [10.0, 20.0, -20.0], [10.0, 20.0, -20.0], 0.5),
    ([20.0, 40.0, -40.0], [10.0, 20.0, -20.0], [10.0, 20.0, -20.0], 2.0),
    # more than one cycle cannot have been missing, as far as known
    ([90.0, 90.0, 90.0], [10.0, 10.0, 10.0], [10.0, 10.0, 10.0], 2.0),
    # one wheel differs: that is not a matter of time
    ([20.0, 10.0, 10.0], [10.0, 10.0, 10.0], [10.0, 10.0, 10.0], 1.0),
    # wheels that spin up show it in both
    ([15.0, 15.0, 15.0], [10.0, 10.0, 10.0], [20.0, 20.0, 20.0], 1.0),
    # rates unknown
    ([20.0, 20.0, 20.0], [np.nan] * 3, [10.0, 10.0, 10.0], 1.0)])
def test_the_time_between_samples_is_that_of_all_increments(mean, before, after, expected):
    found, _ = interval(*map(np.array, (mean, before, after)), 0.005, 0.0, 0.0)
    assert found / 0.005 == pytest.approx(expected)
