# SPDX-License-Identifier: Apache-2.0
"""Velocity commands: the card makes the commanded torque of them, and stops by itself."""

import math
from dataclasses import replace

import numpy as np
import pytest
from device_bench import LIMIT, UNITS, ZERO, CardBench, card_settings_of
from hypothesis import given
from hypothesis import strategies as st

from c3p_hardware.canopen.cia402 import MODE_CST, MODE_CSV, DriveState
from c3p_hardware.canopen.process_data import DRIVE_COMMAND, VELOCITY_COMMAND
from c3p_hardware.emulator.motor_drive import DriveCard, MotorDrive
from c3p_hardware.orders import target
from c3p_hardware.settings import CardError, CardSettings, DriveSettings
from c3p_hardware.supervisor import ArmState

GAIN = 0.25
PUSH = np.array([0.3, -0.2, 0.1])


def drive_settings(direction=1, **changes):
    """Return an axis in the velocity mode."""
    return DriveSettings(1, 'wheel_joint_1', replace(UNITS, direction=direction), LIMIT,
                         mode=MODE_CSV, velocity_gain=GAIN, **changes)


def enabled_drive(direction=1, **card):
    """Return an emulated drive that follows velocities."""
    drive = MotorDrive(DriveCard(direction=direction, velocity_gain=GAIN, **card))
    drive.mode, drive.max_torque = MODE_CSV, UNITS.max_permille(LIMIT)
    for word in (0x06, 0x07, 0x0F):
        drive.command(word)
    drive.step(1e-3, 0.0, 0.0)
    assert drive.state is DriveState.OPERATION_ENABLED
    return drive


@given(torque=st.floats(-2.0, 2.0), rate=st.floats(-20.0, 20.0),
       direction=st.sampled_from([1, -1]))
def test_a_card_makes_the_commanded_torque_of_a_velocity(torque, rate, direction):
    settings, drive = drive_settings(direction), enabled_drive(direction)
    drive.target_velocity, permille = target(settings, torque, rate)
    # twenty time constants of the current loop
    for _ in range(20):
        given_torque = drive.step(1e-3, 0.0, rate)
    wanted = min(max(torque, -LIMIT), LIMIT)
    # half a count per second, rounded target, and one permille of the limit
    assert given_torque == pytest.approx(wanted, abs=GAIN * UNITS.angle_resolution
                                         + 1.001 * UNITS.torque_resolution)
    assert settings.units.torque(permille) == pytest.approx(
        given_torque, abs=2 * UNITS.torque_resolution)


def test_a_wheel_approaches_its_velocity_with_the_time_constant_of_the_loop():
    # I ω̇ = K (ω* − ω) within the torque limit: ω = ω* (1 − e^(−K t/I))
    drive, inertia, step = enabled_drive(bandwidth=1e5), 0.05, 1e-4
    drive.target_velocity = UNITS.velocity(3.0)
    rate, angle = 0.0, 0.0
    for _ in range(3000):
        torque = drive.step(step, angle, rate)
        angle, rate = angle + step * rate, rate + step * torque / inertia
    # explicit steps of 5e-4 of the time constant
    assert rate == pytest.approx(3.0 * (1.0 - math.exp(-0.3 * GAIN / inertia)), rel=2e-3)


def test_the_rate_limit_of_the_motor_limits_the_velocity():
    settings = drive_settings(rate_limit=5.0)
    velocity, permille = target(settings, 1.0, 4.5)
    assert velocity == UNITS.velocity(5.0)
    assert UNITS.torque(permille) == pytest.approx(GAIN * 0.5, abs=UNITS.torque_resolution)


def test_fusion_with_the_gain_of_the_card_needs_no_measured_rate():
    # τ = τ_D + K (θ̇_d − θ̇) becomes θ̇* = θ̇_d + τ_D/K, whatever θ̇ is
    settings = drive_settings()
    targets = {target(settings, 0.2 + GAIN * (3.0 - rate), rate)[0] for rate in (2.0, 3.0, 4.4)}
    assert max(targets) - min(targets) <= 1
    assert min(targets) == pytest.approx(UNITS.velocity(3.0 + 0.2 / GAIN), abs=1)


def test_a_drive_without_the_velocity_mode_chosen_ignores_velocities():
    drive = enabled_drive()
    drive.mode, drive.target_velocity = MODE_CST, UNITS.velocity(10.0)
    assert max(abs(drive.step(1e-3, 0.0, 0.0)) for _ in range(50)) < 1e-9


def test_invalid_modes_and_gains_are_rejected_by_name():
    with pytest.raises(CardError, match='velocity_gain = 0.0.*drives.velocity_gain'):
        replace(drive_settings(), velocity_gain=0.0)
    with pytest.raises(CardError, match='mode = 8: must be 10'):
        replace(drive_settings(), mode=8)


@pytest.fixture
def bench():
    torque = card_settings_of()
    return CardBench(CardSettings(tuple(replace(d, mode=MODE_CSV, velocity_gain=GAIN)
                                        for d in torque.drives), torque.encoders))


def velocities(orders):
    assert all(order.pack() == VELOCITY_COMMAND.pack(order.controlword, order.velocity)
               for order in orders)
    return [order.velocity for order in orders]


def test_until_armed_and_after_a_fault_the_velocity_is_zero(bench):
    bench.wheel_rate = np.full(3, 4.0)
    assert velocities(bench.cycle(ZERO)) == [0, 0, 0]
    bench.wheel_rate = np.zeros(3)
    bench.arm()
    bench.wheel_rate = np.full(3, 4.0)
    assert any(velocities(bench.cycle(PUSH)))
    bench.supervisor.quick_stop()
    orders = bench.cycle(PUSH)
    assert velocities(orders) == [0, 0, 0] and {o.controlword for o in orders} == {0x02}


def test_zero_torque_is_the_measured_rate_and_a_push_is_added_to_it(bench):
    bench.arm()
    bench.wheel_rate = np.array([1.0, -2.0, 3.0])
    assert velocities(bench.cycle(ZERO)) == [UNITS.velocity(rate) for rate in bench.wheel_rate]
    assert velocities(bench.cycle(PUSH)) == [
        UNITS.velocity(rate) for rate in bench.wheel_rate + PUSH / GAIN]


def test_a_stale_command_brakes_and_a_late_device_stops(bench):
    bench.arm()
    bench.cycle(PUSH)
    bench.wheel_rate = np.array([1.0, -2.0, 3.0])
    for _ in range(round(1.2 * bench.settings.command_timeout / bench.settings.period)):
        orders = bench.cycle()
    # the brake of the gate, −0.1 θ̇, lowers each velocity
    assert velocities(orders) == [UNITS.velocity((1.0 - 0.1 / GAIN) * rate)
                                  for rate in bench.wheel_rate]
    bench.wheel_rate = np.zeros(3)
    bench.cycle(ZERO)
    for _ in range(bench.settings.missed_cycles + 1):
        orders = bench.cycle(PUSH, lost=(11,))
    assert bench.supervisor.held and velocities(orders) == [0, 0, 0]
    assert bench.state == ArmState.ARMED


def test_torque_commands_are_those_of_before():
    bench = CardBench().arm()
    bench.wheel_rate = np.array([1.0, -2.0, 3.0])
    for order, torque in zip(bench.cycle(PUSH), PUSH, strict=True):
        assert order.velocity is None
        assert order.pack() == DRIVE_COMMAND.pack(0x0F, UNITS.permille(torque))
