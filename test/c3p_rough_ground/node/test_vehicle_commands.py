# SPDX-License-Identifier: Apache-2.0
"""cmd_vel of any vehicle: rates that roll without slip on flat ground."""

import math

import numpy as np
import pytest

from c3p_description import load
from c3p_description.reading.vehicle_files import load_vehicle
from c3p_rough_ground.node.commands import ackermann
from c3p_rough_ground.node.run import RoughGroundRun
from c3p_rough_ground.node.vehicle_commands import VehicleCommands
from c3p_rough_ground.terrain import Flat


def driven(name, speed, yaw_rate, duration=8.0, period=0.02):
    """Return commands and run of a vehicle after a command on flat ground."""
    model = load_vehicle(name)
    commands, run = VehicleCommands(model, autodrive=False), RoughGroundRun(model, Flat())
    commands.command(speed, yaw_rate, 0.0)
    for _ in range(round(duration / period)):
        run.advance(commands.rates(run.state.joint, 0.0, period), period)
    return commands, run


def test_a_tricycle_gets_the_rates_of_its_own_commands():
    commands = VehicleCommands(load_vehicle('vla_tricycle'), autodrive=False)
    joint = np.zeros(6)
    joint[0] = math.atan(1.2 * 0.1 / 0.3)
    commands.command(0.3, 0.1, 0.0)
    assert commands.rates(joint, 0.0, 0.02) == pytest.approx(
        ackermann(load('pvc'), 0.3, 0.1, joint[0], 0.02), abs=1e-12)


@pytest.mark.parametrize('name', ['rover', 'vla_tricycle', 'caster_vehicle'])
@pytest.mark.parametrize('speed, yaw_rate', [(0.3, 0.0), (-0.2, 0.0), (0.3, 0.06)])
def test_on_flat_ground_the_platform_follows_the_command(name, speed, yaw_rate):
    if name == 'caster_vehicle' and speed < 0.0:
        pytest.skip('its caster flips, which takes longer than this run')
    _, run = driven(name, speed, yaw_rate)
    assert not run.ended
    # linear speed at base_link and yaw rate; camber of up to 2° and the weights leave some
    assert run.twist[0] == pytest.approx(speed, rel=0.03)
    assert run.twist[5] == pytest.approx(yaw_rate, abs=4e-3)


def test_steering_keeps_its_limits_and_drives_theirs():
    model = load_vehicle('rover')
    commands = VehicleCommands(model, autodrive=False)
    commands.command(1.0, 1.0, 0.0)
    rates = commands.rates(np.zeros(11), 0.0, 0.01)
    assert np.abs(rates).max() <= 8.0 and rates[1] == pytest.approx(1.5)
    commands.command(100.0, 0.0, 0.0)
    assert np.abs(commands.rates(np.zeros(11), 0.0, 0.01)).max() == pytest.approx(8.0)


def test_a_caster_trails_without_a_rate_of_its_own():
    commands, run = driven('caster_vehicle', 0.3, 0.1)
    assert commands.rates(run.state.joint, 0.0, 0.02)[4:].tolist() == [0.0, 0.0]
    # its wheel rolls as the ground turns it, and the pivot has left zero
    assert abs(run.joint_rates[5]) > 1.0 and abs(run.state.joint[4]) > 0.02
