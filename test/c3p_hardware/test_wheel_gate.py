# SPDX-License-Identifier: Apache-2.0
"""The last check before the motors: closed until zero, limited, braking when commands stop."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import C3P, vectors

from c3p_hardware.wheel_gate import GateSettings, WheelGate
from c3p_ros.schema import read_schema

SCHEMA = Path(__file__).parents[2] / 'c3p_hardware' / 'hardware_interface_parameters.yaml'
ROBOT = replace(C3P, torque_limit=[1.2, 0.8, 1.2])
SETTINGS = GateSettings(command_timeout=0.2, stop_damping=0.1)
RATE, REST = np.array([3.0, -2.0, 0.5]), np.zeros(3)
TORQUE = np.array([0.3, -0.2, 0.1])


@pytest.fixture
def gate():
    return WheelGate(ROBOT, SETTINGS)


@pytest.fixture
def open_gate(gate):
    gate.command(np.zeros(3), 10.0)
    return gate


def test_closed_at_the_start_it_brakes_and_says_why(gate):
    assert not gate.open and gate.reason
    assert gate.torque_at(0.0, RATE) == pytest.approx(-0.1 * RATE)
    assert not gate.torque_at(0.0, REST).any()


def test_torque_alone_never_opens_it(gate):
    for k in range(100):
        gate.command(TORQUE, 0.005 * k)
        assert gate.torque_at(0.005 * k, REST).tolist() == [0.0, 0.0, 0.0]
    assert not gate.open


def test_a_zero_command_opens_it(open_gate):
    assert open_gate.open and not open_gate.reason
    open_gate.command(TORQUE, 10.1)
    assert open_gate.torque_at(10.1, RATE).tolist() == TORQUE.tolist()


def test_a_closed_gate_brakes_wheels_and_lets_steering_motors_go():
    robot = replace(ROBOT, steered=[True, False, True], steering_torque_limit=0.5)
    gate = WheelGate(robot, SETTINGS)
    gate.command(np.zeros(6), 10.0)
    gate.command(np.array([0.3, -0.2, 0.1, 0.4, 0.4, -0.7]), 10.1)
    # clipped, and nothing where no motor is
    assert gate.torque_at(10.1, RATE).tolist() == [0.3, -0.2, 0.1, 0.4, 0.0, -0.5]
    assert gate.torque_at(11.0, RATE) == pytest.approx([*(-0.1 * RATE), 0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match='6 finite numbers'):
        gate.command(np.zeros(3), 11.0)


def test_a_command_lasts_as_long_as_its_timeout_and_then_the_wheels_brake(open_gate):
    open_gate.command(TORQUE, 10.0)
    assert open_gate.torque_at(10.0 + 0.199, RATE).tolist() == TORQUE.tolist()
    assert open_gate.torque_at(10.0 + 0.201, RATE) == pytest.approx(-0.1 * RATE)
    assert not open_gate.open and '0.201 s old' in open_gate.reason


def test_once_closed_it_stays_closed_until_a_zero_command(open_gate):
    open_gate.command(TORQUE, 10.0)
    open_gate.torque_at(11.0, RATE)
    for k in range(50):
        open_gate.command(TORQUE, 11.0 + 0.005 * k)
        assert open_gate.torque_at(11.0 + 0.005 * k, RATE) == pytest.approx(-0.1 * RATE)
    open_gate.command(np.zeros(3), 12.0)
    open_gate.command(TORQUE, 12.005)
    assert open_gate.torque_at(12.005, RATE).tolist() == TORQUE.tolist()


def test_a_zero_command_that_has_gone_stale_opens_nothing(gate):
    gate.command(np.zeros(3), 0.0)
    assert gate.torque_at(5.0, RATE) == pytest.approx(-0.1 * RATE)
    gate.command(TORQUE, 5.1)
    assert not gate.open


def test_closing_keeps_the_first_reason(open_gate):
    open_gate.close('emergency stop')
    open_gate.close('something else')
    assert open_gate.reason == 'emergency stop'
    assert open_gate.torque_at(10.0, RATE) == pytest.approx(-0.1 * RATE)


@pytest.mark.parametrize('wrong', [[np.nan, 0, 0], [0, np.inf, 0], [0, 0, -np.inf], [0.1, 0.2],
                                   [0.0] * 4, [], 0.5, [[0.0, 0.0, 0.0]]])
def test_what_is_no_torque_is_refused_and_the_last_one_stays(open_gate, wrong):
    open_gate.command(TORQUE, 10.1)
    with pytest.raises(ValueError, match='3 finite numbers'):
        open_gate.command(wrong, 10.2)
    assert open_gate.torque_at(10.25, RATE).tolist() == TORQUE.tolist()
    # it did not count as a sign of life either
    assert not open_gate.torque_at(10.31, REST).any() and not open_gate.open


def test_a_refused_zero_does_not_open(gate):
    with pytest.raises(ValueError):
        gate.command([0.0, 0.0], 0.0)
    assert not gate.open


@given(vectors(3, 1e6), vectors(3, 1e4), st.booleans())
def test_no_torque_is_ever_above_its_limit(torque, rate, opened):
    gate = WheelGate(ROBOT, SETTINGS)
    if opened:
        gate.command(np.zeros(3), 0.0)
    gate.command(torque, 0.0)
    assert np.all(np.abs(gate.torque_at(0.1, rate)) <= ROBOT.torque_limit)


@given(vectors(3, 1e3))
def test_braking_never_drives(rate):
    torque = WheelGate(ROBOT, SETTINGS).torque_at(0.0, rate)
    assert np.all(torque * rate <= 0.0)


def test_without_damping_the_wheels_coast():
    gate = WheelGate(ROBOT, GateSettings(stop_damping=0.0))
    assert not gate.torque_at(0.0, RATE).any()


def test_wheels_without_motors_get_no_torque():
    gate = WheelGate(replace(ROBOT, driven=[True, False, True]), SETTINGS)
    assert gate.torque_at(0.0, RATE)[1] == 0.0
    gate.command(np.zeros(3), 0.0)
    gate.command(TORQUE, 0.0)
    assert gate.torque_at(0.0, RATE).tolist() == [0.3, 0.0, 0.1]


def test_the_caller_may_use_its_array_again(open_gate):
    torque = TORQUE.copy()
    open_gate.command(torque, 10.0)
    torque[:] = 9.0
    assert open_gate.torque_at(10.0, RATE).tolist() == TORQUE.tolist()



def test_a_gate_without_settings_has_those_of_the_nodes():
    settings = GateSettings()
    assert (settings.command_timeout, settings.stop_damping) == (0.2, 0.1)
    schema = read_schema(SCHEMA)
    assert schema['command_timeout']['default_value'] == settings.command_timeout
    assert schema['stop_damping']['default_value'] == settings.stop_damping


def test_a_held_gate_stays_closed_until_the_reason_ends_and_a_zero_comes(open_gate):
    open_gate.hold('two publishers')
    assert not open_gate.open and open_gate.reason == 'two publishers'
    open_gate.command(np.zeros(3), 10.05)
    assert not open_gate.open
    assert open_gate.torque_at(10.05, RATE) == pytest.approx(-0.1 * RATE)
    open_gate.hold('')
    # the end of the reason alone moves nothing
    assert not open_gate.open and open_gate.reason == 'two publishers'
    open_gate.command(TORQUE, 10.1)
    assert not open_gate.open
    open_gate.command(np.zeros(3), 10.15)
    assert open_gate.open and open_gate.reason == ''


def test_the_newest_command_has_its_age(gate):
    torque, age = gate.newest(5.0)
    assert not torque.any() and age == np.inf
    gate.command(TORQUE, 10.0)
    torque, age = gate.newest(10.25)
    assert torque.tolist() == TORQUE.tolist() and age == pytest.approx(0.25)


def test_a_command_counts_up_to_its_timeout():
    # binary fractions, so that the age is the timeout exactly
    gate = WheelGate(ROBOT, GateSettings(command_timeout=0.25, stop_damping=0.1))
    gate.command(np.zeros(3), 10.0)
    gate.command(TORQUE, 10.0)
    assert gate.torque_at(10.25, REST) == pytest.approx(TORQUE) and gate.open
    gate.torque_at(10.25 + 2**-10, REST)
    assert not gate.open
