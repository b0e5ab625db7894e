# SPDX-License-Identifier: Apache-2.0
"""Joint states that pause: what positions before and after tell, and how far it can be trusted."""

import numpy as np
import pytest
from robots import C3P

from c3p_kinematics.casters import inverse
from c3p_kinematics.odometry import Odometry

RATE, BEGIN, COUNT = 200, 300, 600


def driven(seed, gap, brakes):
    """
    Return joints of a drive at 0.5 m/s that turns off at 1.5 s, or brakes to a stop within `gap`.

    As (steering, wheel angle, wheel rate, steering rate), each (COUNT, 3).
    """
    rng = np.random.default_rng(seed)
    way = rng.uniform(-np.pi, np.pi)
    before = np.array([0.5 * np.cos(way), 0.5 * np.sin(way), rng.uniform(-0.5, 0.5)])
    bend = rng.normal(0.0, 1.5, 3) * [0.3, 0.3, 0.6]
    time = np.arange(COUNT) / RATE
    twist = before + np.maximum(time - BEGIN / RATE, 0.0)[:, None] * bend
    if brakes:
        twist *= 1.0 - np.clip((time - BEGIN / RATE) / gap, 0.0, 1.0)[:, None]
    found = np.zeros((4, COUNT, 3))
    steering, angle, rate, steering_rate = found
    for _ in range(2000):
        steering[0] += inverse(C3P, steering[0], before)[1] / RATE
    for k in range(COUNT):
        rate[k], steering_rate[k], _ = inverse(C3P, steering[k], twist[k])
        if k + 1 < COUNT:
            half = steering[k] + 0.5 * steering_rate[k] / RATE
            rolled, turned, _ = inverse(C3P, half, twist[k])
            steering[k + 1] = steering[k] + turned / RATE
            angle[k + 1] = angle[k] + rolled / RATE
    return found


def odometry_of(joints, gap=0.0, wrap=False):
    """Return all estimates, where the samples of a gap are left out."""
    steering, angle, rate, steering_rate = joints
    if wrap:
        angle = np.mod(angle + np.pi, 2 * np.pi) - np.pi
    odometry, end = Odometry(C3P), BEGIN + round(gap * RATE)
    return [odometry.step(k / RATE, steering[k], angle[k], rate[k], steering_rate[k])
            for k in range(COUNT) if not BEGIN < k < end]


@pytest.mark.parametrize('gap, brakes, most', [
    (0.3, True, 0.01), (0.3, False, 0.02), (0.6, True, 0.03), (0.6, False, 0.06),
    (1.0, True, 0.06), (1.0, False, 0.2)])
def test_the_way_driven_in_a_gap_is_counted_and_its_doubt_is_in_the_covariance(gap, brakes, most):
    for seed in range(12):
        joints = driven(seed, gap, brakes)
        whole, found = odometry_of(joints)[-1], odometry_of(joints, gap)[-1]
        error = found.pose - whole.pose
        deviation = np.sqrt(np.diag(found.pose_covariance))
        assert found.gaps == 1 and found.skipped == 0
        assert np.hypot(*error[:2]) < most
        assert (np.abs(error) < 3.0 * deviation).all()
        assert np.trace(found.pose_covariance) > 1.2 * np.trace(whole.pose_covariance)
        # 5 cm or more were driven meanwhile
        assert abs(found.distance - whole.distance) < 0.3 * gap * 0.5


def test_a_gap_is_told_with_its_way_and_the_slip_watch_does_not_take_it_for_slip():
    found = odometry_of(driven(3, 1.0, True), 1.0)
    told = [e.reason for e in found if e.reason][1:]
    assert len(told) == 1 and told[0].startswith('gap of 1 s: longer than max_gap = 0.25 s; 0.')
    assert not any(e.slip.slipping for e in found)


def test_positions_that_begin_anew_every_turn_are_read_by_the_rates():
    """Half a second at 12 rad/s is almost a turn: only the rates tell it from none."""
    joints = driven(5, 0.5, False)
    plain, wrapped = odometry_of(joints, 0.5)[-1], odometry_of(joints, 0.5, wrap=True)[-1]
    np.testing.assert_allclose(wrapped.pose, plain.pose, atol=1e-9)


def test_positions_that_restart_from_zero_move_nothing_and_are_reported():
    """A driver that was started again counts its wheels from zero."""
    odometry, still = Odometry(C3P), np.zeros(3)
    for k in range(100):
        odometry.step(k / RATE, still, np.full(3, 200.0 + 0.05 * k), np.full(3, 10.0), still)
    before = odometry.pose
    found = odometry.step(1.0, still, still, still, still)
    np.testing.assert_array_equal(found.pose, before)
    assert 'counters were reset' in found.reason and found.skipped == 1 and found.gaps == 0


@pytest.mark.parametrize('hours', [1.0, 24.0])
def test_a_clock_that_was_set_costs_no_way(hours):
    """The stamp jumps between two samples that are a period apart: 2.5 mm are 2.5 mm."""
    odometry, still = Odometry(C3P), np.zeros(3)
    for k in range(200):
        jump = 3600.0 * hours if k >= 100 else 0.0
        found = odometry.step(k / RATE + jump, still, np.full(3, 12.5 / RATE * k),
                              np.full(3, 12.5), still)
    np.testing.assert_allclose(found.pose, [0.0, 199 * 0.0025, 0.0], atol=1e-9)
    assert found.gaps == 1
