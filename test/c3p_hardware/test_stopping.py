# SPDX-License-Identifier: Apache-2.0
"""The formula of stopping distances: closed cases, bounds, and what does not stop."""

import math
from dataclasses import replace

import numpy as np
import pytest

from c3p_description import load
from c3p_description.model import GRAVITY
from c3p_hardware.emulator import motor_drive
from c3p_hardware.stopping import (
    COAST,
    DAMPING,
    QUICK_STOP,
    RAMP,
    RAMP_GAIN,
    STOPPED,
    UNEQUAL,
    Reaction,
    StopCase,
    reactions,
    stopping_distance,
    stopping_table,
)

ROBOT = load('c3p')


def moved(robot, load_=0.0):
    return robot.total_mass + load_ + np.sum(robot.wheel_spin_inertia / robot.wheel_radius ** 2)


def test_without_torque_the_distance_is_that_of_rolling_friction():
    rolling = np.sum(ROBOT.losses[:, 3] / ROBOT.wheel_radius)
    found = stopping_distance(ROBOT, StopCase(0.5), Reaction('brake', 0.3, COAST))
    assert found == pytest.approx(0.5 * 0.3 + 0.5 ** 2 * moved(ROBOT) / (2.0 * rolling))


def test_a_weak_damping_covers_v_tau():
    """With strong motors and grip only the response time is left of the formula."""
    strong = replace(ROBOT, torque_limit=1e6, tyre_friction=1e6)
    case = StopCase(0.5, friction=1e6)
    tau = moved(ROBOT) / np.sum(0.1 / ROBOT.wheel_radius ** 2)
    found = stopping_distance(strong, case, Reaction('node', 0.21, DAMPING), 0.1)
    assert found == pytest.approx(0.5 * (0.21 + UNEQUAL * tau), rel=1e-4)


def test_the_damping_on_a_slope_is_the_integral_of_its_equation():
    """Oracle: dv/dt = s − v/τ in small steps, from v to the speed of standstill."""
    strong = replace(ROBOT, torque_limit=1e6, tyre_friction=1e6)
    case = StopCase(0.5, slope=math.radians(1.0), friction=1e6)
    tau = moved(ROBOT) / np.sum(0.1 / ROBOT.wheel_radius ** 2)
    pull = (ROBOT.total_mass * GRAVITY * math.sin(case.slope)
            - np.sum(ROBOT.losses[:, 3] / ROBOT.wheel_radius)) / moved(ROBOT)
    assert pull > 0.0
    v = case.speed
    way = 0.0
    dt = 1e-5
    while v > STOPPED:
        way += v * dt
        v += (pull - v / tau) * dt
    found = stopping_distance(strong, case, Reaction('node', 0.0, DAMPING), 0.1)
    # v τ counts the creep below the standstill speed as well
    assert way < found / UNEQUAL < way + tau * STOPPED + 1e-3


@pytest.mark.parametrize('change', [
    {'speed': 0.6}, {'load': 20.0}, {'slope': 0.02}, {'friction': 0.1}])
def test_no_worse_case_has_a_shorter_distance(change):
    case = StopCase(0.5, friction=0.4)
    for reaction in reactions():
        assert (stopping_distance(ROBOT, case._replace(**change), reaction)
                >= stopping_distance(ROBOT, case, reaction))


def test_a_failed_motor_brakes_less():
    alike = [Reaction('x', 0.01, QUICK_STOP, lost) for lost in (0, 1, 3)]
    ways = [stopping_distance(ROBOT, StopCase(0.5), reaction) for reaction in alike]
    # the last has no motor: it rolls
    assert ways[0] < ways[1] < ways[2]


def test_what_gravity_drives_rolls_on():
    steep = StopCase(0.5, slope=math.radians(12.0))
    assert all(math.isinf(row.distances[0]) for row in stopping_table(ROBOT, (steep,))
               if row.reaction.brake != QUICK_STOP or row.reaction.lost)
    # the tyres hold less than the slope pulls
    slippery = StopCase(0.5, slope=math.radians(12.0), friction=0.2)
    assert all(math.isinf(row.distances[0]) for row in stopping_table(ROBOT, (slippery,)))
    assert math.isinf(stopping_distance(ROBOT, StopCase(0.5), Reaction('x', 0.1, DAMPING), 0.0))


def test_categories_and_drives():
    assert {r.part: r.category for r in reactions()} == {
        'motor': 1, 'encoder': 1, 'bus': 1, 'node': 2, 'process': 1, 'computer': 1, 'brake': 0}
    assert RAMP_GAIN == motor_drive.RAMP_GAIN
    card = motor_drive.DriveCard()
    assert motor_drive.MotorDrive(card).ramp == round(RAMP * abs(card.counts_per_radian))
