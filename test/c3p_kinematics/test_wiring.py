# SPDX-License-Identifier: Apache-2.0
"""Exchanged and reversed joints explain contradicting sensors; a single faulty sensor does not."""

from dataclasses import replace

import numpy as np
import pytest
from robots import C3P

from c3p_kinematics.rolling import rolling_rates
from c3p_kinematics.wiring import Increments, explanations

PERIOD = 0.02


def window(robot, seed, turn=1.0, cycles=80):
    """Return true increments of a drive that turns."""
    rng = np.random.default_rng(seed)
    twist = np.array([*rng.uniform(-0.4, 0.4, 2), turn])
    steering, rows = rng.uniform(-np.pi, np.pi, robot.count), []
    for _ in range(cycles):
        _, turning, _ = rolling_rates(robot, steering, twist)
        middle = steering + 0.5 * PERIOD * turning
        wheel, turning, _ = rolling_rates(robot, middle, twist)
        rows.append((middle, PERIOD * turning, PERIOD * wheel))
        steering = steering + PERIOD * turning
    return Increments(*np.moveaxis(np.array(rows), 1, 0))


def swapped(values):
    return values[:, [1, 0, 2]]


WRONG = {
    ('wheels', 'exchanged', (0, 1)): lambda w: w._replace(rolled=swapped(w.rolled)),
    ('encoders', 'exchanged', (0, 1)): lambda w: w._replace(
        steering=swapped(w.steering), steered=swapped(w.steered)),
    ('modules', 'exchanged', (0, 1)): lambda w: Increments(*map(swapped, w)),
    ('wheels', 'reversed', ()): lambda w: w._replace(rolled=-w.rolled),
    ('encoders', 'reversed', ()): lambda w: Increments(-w.steering, -w.steered, w.rolled),
    ('wheels', 'reversed', (1,)): lambda w: w._replace(rolled=w.rolled * [1, -1, 1]),
    ('encoders', 'reversed', (2,)): lambda w: Increments(
        w.steering * [1, 1, -1], w.steered * [1, 1, -1], w.rolled),
    ('encoders', 'turned', (0,)): lambda w: w._replace(steering=w.steering + [np.pi / 2, 0, 0]),
}


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('wrong', WRONG)
def test_wrong_wiring_explains_its_own_motion(wrong, seed):
    """Among the first three: a mirrored robot has exchanged modules and reversed encoders."""
    found = explanations(C3P, WRONG[wrong](window(C3P, seed)), 'drift', 2)
    assert wrong in [e[:3] for e in found[:3]]


BESIDE = replace(C3P, lateral_offset=0.03)


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('wrong', WRONG)
def test_wheels_beside_their_pivots_roll_farther_while_they_steer(wrong, seed):
    found = explanations(BESIDE, WRONG[wrong](window(BESIDE, seed)), 'drift', 2)
    assert wrong in [e[:3] for e in found[:3]]


@pytest.mark.parametrize('fault', ['stuck', 'drift', 'gear', 'zero'])
@pytest.mark.parametrize('seed', range(4))
def test_one_faulty_sensor_is_no_wrong_wiring(fault, seed):
    w = window(C3P, seed)
    only = np.array([1.0, 0.0, 0.0])
    if fault == 'stuck':
        w = w._replace(steering=w.steering * (1 - only) + w.steering[0] * only,
                       steered=w.steered * (1 - only))
    elif fault == 'drift':
        time = PERIOD * np.arange(len(w.steering))[:, None]
        w = w._replace(steering=w.steering + 2.0 * time * only,
                       steered=w.steered + 2.0 * PERIOD * only)
    elif fault == 'gear':
        w = w._replace(rolled=w.rolled * (1 + 0.5 * only))
    else:
        w = w._replace(steering=w.steering + 0.5 * only)
    assert explanations(C3P, w, 'wheel' if fault == 'gear' else 'drift', 0) == []


@pytest.mark.parametrize(('seed', 'turn'), [(5, 1.0), (7, 1.0), (9, 1.0), (3, 0.6), (3, 0.4)])
def test_an_encoder_without_counts_is_stuck_also_where_zeros_explain_it_nearly(seed, turn):
    """All zeros turned leave some hundredths of the travel; without the encoder none is left."""
    w = window(C3P, seed, turn)
    others = np.array([0.0, 1.0, 1.0])
    stuck = w._replace(steering=w.steering * others + w.steering[0] * (1 - others),
                       steered=w.steered * others)
    assert explanations(C3P, stuck, 'stuck', 0) == []


@pytest.mark.parametrize('wrong', WRONG)
@pytest.mark.parametrize('accused', range(3))
def test_wrong_wiring_explains_its_own_motion_also_where_an_encoder_looks_stuck(wrong, accused):
    found = explanations(C3P, WRONG[wrong](window(C3P, 0)), 'stuck', accused)
    assert wrong in [e[:3] for e in found[:3]]


def test_a_robot_at_rest_explains_nothing():
    still = window(C3P, 0)._replace(rolled=np.zeros((80, 3)))
    assert explanations(C3P, still, 'drift', 0) == []
    assert explanations(C3P, Increments(*np.zeros((3, 0, 3))), 'drift', 0) == []


def test_exchanged_casters_that_are_parallel_and_drive_straight_are_not_visible():
    """Every arrangement explains it: nothing is wrong by what the joints show."""
    straight = Increments(np.zeros((80, 3)), np.zeros((80, 3)), np.full((80, 3), 0.1))
    found = explanations(C3P, straight, 'drift', 0)
    assert ('wheels', 'exchanged', (0, 1)) in [e[:3] for e in found]
