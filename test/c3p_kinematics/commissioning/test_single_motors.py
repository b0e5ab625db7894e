# SPDX-License-Identifier: Apache-2.0
"""Motors of a swerve drive by motions of one motor at a time: on its plant, and refusals."""

import numpy as np
import pytest

from c3p_description.reading.loader import load_casters
from c3p_experiments.commissioning.trial import WiringBench
from c3p_kinematics.commissioning.assignment import WiringRecord, as_described
from c3p_kinematics.commissioning.motions import WiringMotions
from c3p_kinematics.commissioning.search import WiringError
from c3p_kinematics.commissioning.single_motors import ROLL_ALIKE, find_motors, single_motions
from c3p_simulation.make_plant import PlantOptions, make_plant
from c3p_simulation.plants.sensors import SensorSettings

SWERVE = load_casters('swerve')
RIGHT = as_described(SWERVE)


def drawn(seed):
    """Return a wiring: leads, and the order of the motors that steer."""
    rng = np.random.default_rng(seed)
    motor_of = RIGHT.motor_of.copy()
    motor_of[:4] = rng.permutation(motor_of[:4])
    return RIGHT._replace(motor_of=motor_of, leads=rng.choice([-1.0, 1.0], 8)), rng


def test_leads_and_steering_motors_are_found_on_tyres():
    true, rng = drawn(31)
    plant = make_plant('mujoco', SWERVE, PlantOptions(sensors=SensorSettings.real(), seed=31))
    # set parallel by a person, some of them the other way round
    plant.reset(steering=rng.normal(0.6, 0.03, 4) + np.pi * rng.integers(0, 2, 4))
    bench = WiringBench(SWERVE, true, plant)
    motions = WiringMotions(SWERVE, seed=31)
    assert not bench.move(motions)
    assert bench.fastest < 0.12 and bench.farthest < 0.1
    found = find_motors(SWERVE, motions.record())
    assert np.array_equal(found.assignment.motor_of, true.motor_of)
    assert np.array_equal(found.assignment.leads, true.leads)
    assert found.undecided == (ROLL_ALIKE,)


def record_of(true, moves):
    """Return a record: of each motor and sign, what each encoder moves, rad."""
    ordered = np.zeros((1, 8))
    measured = np.zeros((1, 8))
    for motor, sign, moved in moves:
        order = np.zeros(8)
        order[motor] = sign
        ordered = np.vstack([ordered, order, np.zeros(8)])
        measured = np.vstack([measured, measured[-1], measured[-1] + moved])
    return WiringRecord(0.01 * np.arange(len(ordered)), measured, ordered)


def alone(true, blocked=True):
    """Return moves of all motors, each with its own joint, by 0.5 rad."""
    moves = []
    for joint, motor in enumerate(true.motor_of):
        moved = np.zeros(8)
        moved[joint] = 0.5 * true.leads[joint]
        if joint >= 4 and not blocked:
            moved[4:] = moved[joint]
        moves.append((int(motor), 1.0, moved))
    return moves


def test_wheels_that_hold_each_other_show_their_order():
    true, _ = drawn(2)
    found = find_motors(SWERVE, record_of(true, alone(true)))
    assert np.array_equal(found.assignment.motor_of, true.motor_of)
    assert np.array_equal(found.assignment.leads, true.leads)
    assert not found.undecided and found.probability == 1.0


def test_motions_are_those_of_single_motors_with_their_sign():
    true, _ = drawn(3)
    both = np.zeros(8)
    both[:2] = 1.0
    record = record_of(true, alone(true)[:2])
    record = record._replace(ordered=record.ordered + np.outer(
        np.arange(len(record.time)) == 1, both))
    seen = list(single_motions(SWERVE, record))
    assert [(one.motor, one.sign) for one in seen] == [(int(true.motor_of[1]), 1.0)]


@pytest.mark.parametrize(('change', 'text'), [
    (lambda moves: moves[:-1], 'did not push alone'),
    (lambda moves: [(m, s, 0.0 * moved) for m, s, moved in moves], 'moved nothing'),
    (lambda moves: [(m, s, moved + 0.6 * (np.arange(8) < 4)) for m, s, moved in moves],
     'turned several steering axes'),
    (lambda moves: [moves[0], (moves[1][0], 1.0, moves[0][2]), *moves[2:]], 'both moved')])
def test_motions_that_do_not_show_the_motors_are_refused(change, text):
    with pytest.raises(WiringError, match=text):
        find_motors(SWERVE, record_of(RIGHT, change(alone(RIGHT))))
