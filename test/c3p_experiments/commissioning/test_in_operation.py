# SPDX-License-Identifier: Apache-2.0
"""Drives with a wrong wiring: the plant behind it, and what is named in the first decimetres."""

import numpy as np
import pytest

from c3p_experiments.commissioning.in_operation import (
    ACCUSED,
    drive_wrongly,
    named_wiring,
    wired_as,
)
from c3p_experiments.commissioning.wired import robot_named
from c3p_kinematics.wiring_hypotheses import wirings
from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.wired_plant import WiredPlant

C3P = robot_named('c3p')


@pytest.mark.parametrize('wiring', wirings(3)[::5], ids=lambda wiring: wiring.text())
def test_a_hypothesis_and_its_assignment_state_the_same_joints(wiring):
    rng = np.random.default_rng(1)
    measured = rng.uniform(-3.0, 3.0, (4, 6))
    angles = wired_as(C3P, wiring, motors=False).angles(measured)
    assert angles[:, :3] == pytest.approx(wiring.of_steering(measured[:, :3]) + wiring.turn)
    assert angles[:, 3:] == pytest.approx(wiring.of_wheels(measured[:, 3:]))


def test_torques_and_angles_pass_the_wiring_both_ways():
    wiring = named_wiring(C3P, 'casters 1 and 2 exchanged')
    right, wrong = AnalyticPlant(C3P), AnalyticPlant(C3P)
    wired = WiredPlant(wrong, wired_as(C3P, wiring, motors=True))
    steering = np.array([0.3, -0.8, 1.2])
    right.reset(steering=steering)
    wired.reset(steering=steering)
    for _ in range(20):
        true = right.step([0.2, -0.1, 0.3], 0.01)
        stated = wired.step([-0.1, 0.2, 0.3], 0.01)
    swap = [1, 0, 2]
    assert stated.wheel_angle == pytest.approx(true.wheel_angle[swap])
    assert stated.steering == pytest.approx(true.steering[swap])
    assert stated.steering_rate == pytest.approx(true.steering_rate[swap])


def test_exchanged_modules_are_named_on_tyres_within_two_decimetres():
    wiring = named_wiring(C3P, 'casters 1 and 2 exchanged')
    found = drive_wrongly(C3P, wiring, 5)
    # the worst of 18 drives of three robots is 0.08 m
    assert found.right and found.named < 0.2
    assert found.accused <= ACCUSED and not found.reached
    assert '`c3p commission`' in found.text
