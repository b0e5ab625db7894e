# SPDX-License-Identifier: Apache-2.0
"""The emulated drive against the tables of CiA 402, canopen's and exact solutions."""

import math

import numpy as np
import pytest
from canopen.profiles.p402 import State402
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from c3p_hardware.canopen.cia402 import DriveState, state_of
from c3p_hardware.emulator.motor_drive import DriveCard, MotorDrive

CARD = DriveCard()
UP = (0x06, 0x07, 0x0F)
S = DriveState


def drive_in(state, **changed):
    """Return a drive that has been brought to a state by controlwords."""
    drive = MotorDrive(CARD)
    drive.quick_stop_option = 6
    drive.mode = 10
    words = {S.SWITCH_ON_DISABLED: (), S.READY_TO_SWITCH_ON: UP[:1], S.SWITCHED_ON: UP[:2],
             S.OPERATION_ENABLED: UP, S.QUICK_STOP_ACTIVE: (*UP, 0x02), S.FAULT: UP,
             S.FAULT_REACTION_ACTIVE: UP}[state]
    for word in words:
        drive.command(word)
    if state in (S.FAULT, S.FAULT_REACTION_ACTIVE):
        drive.fault_option = 0 if state is S.FAULT else 2
        drive.fail(0x2310)
    for name, value in changed.items():
        setattr(drive, name, value)
    assert drive.state is state
    return drive


def canopen_state(drive):
    """Return the state as canopen's tables read the statusword."""
    (name,) = [name for name, (mask, bits) in State402.SW_MASK.items()
               if drive.statusword & mask == bits]
    return name


NAMES = {'SWITCH ON DISABLED': S.SWITCH_ON_DISABLED, 'READY TO SWITCH ON': S.READY_TO_SWITCH_ON,
         'SWITCHED ON': S.SWITCHED_ON, 'OPERATION ENABLED': S.OPERATION_ENABLED,
         'QUICK STOP ACTIVE': S.QUICK_STOP_ACTIVE, 'FAULT': S.FAULT}


@pytest.mark.parametrize('before, after', [
    pair for pair in State402.TRANSITIONTABLE if set(pair) <= set(NAMES)])
def test_every_transition_of_canopens_table_is_made(before, after):
    drive = drive_in(NAMES[before])
    if before == 'FAULT':
        drive.command(0)  # so that bit 7 rises
    drive.command(State402.TRANSITIONTABLE[before, after])
    assert canopen_state(drive) == after


# state: {command bits 3..0: next}; what is not here stays. CiA 402-2, figure of the machine
SHUTDOWN, SWITCH_ON, ENABLE = 0x06, 0x07, 0x0F
TABLE = {
    S.SWITCH_ON_DISABLED: lambda w: S.READY_TO_SWITCH_ON if w & 7 == 6 else None,
    S.READY_TO_SWITCH_ON: lambda w: (S.SWITCH_ON_DISABLED if w & 6 != 6 else
                                     S.SWITCHED_ON if w & 7 == 7 else None),
    S.SWITCHED_ON: lambda w: (S.SWITCH_ON_DISABLED if w & 6 != 6 else
                              S.READY_TO_SWITCH_ON if w & 7 == 6 else
                              S.OPERATION_ENABLED if w & 15 == 15 else None),
    S.OPERATION_ENABLED: lambda w: (S.SWITCH_ON_DISABLED if not w & 2 else
                                    S.QUICK_STOP_ACTIVE if not w & 4 else
                                    S.READY_TO_SWITCH_ON if w & 7 == 6 else
                                    S.SWITCHED_ON if w & 15 == 7 else None),
    S.QUICK_STOP_ACTIVE: lambda w: (S.SWITCH_ON_DISABLED if not w & 2 else
                                    S.OPERATION_ENABLED if w & 15 == 15 else None),
    S.FAULT: lambda w: None, S.FAULT_REACTION_ACTIVE: lambda w: None}


@pytest.mark.parametrize('state', TABLE, ids=lambda s: s.name)
def test_every_controlword_in_every_state(state):
    for word in range(128):
        drive = drive_in(state)
        drive.command(word)
        assert drive.state is (TABLE[state](word) or state), f'{word:#x}'


def test_a_fault_needs_the_rising_edge():
    drive = drive_in(S.FAULT)
    drive.command(0x80)
    assert drive.state is S.SWITCH_ON_DISABLED and drive.error_code == 0
    drive = drive_in(S.OPERATION_ENABLED)
    drive.command(0x8F)  # bit 7 is high before the fault: no edge any more
    drive.fault_option = 0
    drive.fail(0x2310)
    for word in (0x80, 0x8F, 0x06, 0x0F, 0x00):
        drive.command(word)
        assert drive.state is S.FAULT and drive.error_code == 0x2310
    drive.command(0x80)
    assert drive.state is S.SWITCH_ON_DISABLED


words = st.lists(st.one_of(st.sampled_from([0, 2, 6, 7, 0x80]), st.integers(0, 255).filter(
    lambda w: w & 0x0F != 0x0F)), max_size=30)


@given(words)
def test_it_is_never_enabled_without_being_told(sequence):
    drive = MotorDrive(CARD)
    drive.mode, drive.target = 10, 1000
    for word in sequence:
        drive.command(word)
        assert drive.step(0.001, 0.0, 0.0) == 0.0
        assert state_of(drive.statusword) is drive.state is not S.OPERATION_ENABLED


@given(st.lists(st.integers(0, 255), max_size=30))
def test_after_a_loss_a_single_enable_word_moves_nothing(sequence):
    for option in (0, 2, 6):
        drive = drive_in(S.OPERATION_ENABLED, abort_option=3, quick_stop_option=option)
        drive.connection_lost(0x8130)
        for _ in range(100):
            drive.target = 1000
            drive.command(0x0F)
            assert drive.step(0.001, 0.0, 0.0) == 0.0
        assert drive.state is S.SWITCH_ON_DISABLED
        for word in sequence:  # up again only by way of all the states
            before = drive.state
            drive.command(word)
            assert not (before is S.SWITCH_ON_DISABLED and drive.state is S.OPERATION_ENABLED)


@pytest.mark.parametrize('option, state', [
    (0, S.OPERATION_ENABLED), (1, S.FAULT_REACTION_ACTIVE), (2, S.SWITCH_ON_DISABLED),
    (3, S.QUICK_STOP_ACTIVE)])
def test_a_lost_master_has_the_effect_of_6007h(option, state):
    drive = drive_in(S.OPERATION_ENABLED, abort_option=option)
    drive.connection_lost(0x8130)
    assert drive.state is state
    assert drive.error_code == (0x8130 if option else 0)


@given(st.integers(-1000, 1000), st.lists(st.floats(1e-5, 1e-2), min_size=1, max_size=10))
def test_the_current_loop_is_the_exact_first_order_lag(target, steps):
    drive = drive_in(S.OPERATION_ENABLED, target=target)
    rate, impulse = 2 * math.pi * CARD.bandwidth, 0.0
    for dt in steps:
        impulse += drive.step(dt, 0.0, 0.0) * dt
    # ∫ τ (1 − e^(−2πft)) dt from 0; quadrature as another way than the drive's closed form
    torque = target / 1000 * 0.11 * 14 * 0.8
    grid = np.concatenate([[0.0], np.cumsum(steps)])
    exact = sum(quad(lambda t: torque * (1 - math.exp(-rate * t)), a, b)[0]
                for a, b in zip(grid, grid[1:], strict=False))
    # of sums of some 1e-2 N·m·s, in double precision
    assert impulse == pytest.approx(exact, abs=1e-12)
    assert drive.torque_actual == round(target * (1 - math.exp(-rate * grid[-1])))


def test_torque_is_given_in_torque_mode_only_and_within_the_limits():
    drive = drive_in(S.OPERATION_ENABLED, target=1000, max_torque=400)
    assert drive.step(1.0, 0.0, 0.0) == pytest.approx(0.4 * 1.232, rel=1e-3)  # the lag's 0.3 ms
    assert drive.statusword & 1 << 11 and drive.statusword & 1 << 12
    drive.max_current = 200
    drive.step(1.0, 0.0, 0.0)
    assert drive.torque_actual == 200
    drive.mode = 0
    drive.step(1.0, 0.0, 0.0)
    assert drive.torque_actual == 0 and not drive.statusword & (1 << 11 | 1 << 12)


@pytest.mark.parametrize('option, ends', [(0, S.SWITCH_ON_DISABLED), (2, S.SWITCH_ON_DISABLED),
                                          (6, S.QUICK_STOP_ACTIVE)])
def test_a_quick_stop_brakes_a_wheel_along_its_ramp(option, ends):
    # a wheel alone, with a third of the inertia of 30 kg on wheels of 4 cm
    inertia, rate, angle, time = 0.016, 10.0, 0.0, 0.0
    drive = drive_in(S.OPERATION_ENABLED, quick_stop_option=option)
    drive.command(0x02)
    while time < 2.0:
        torque = drive.step(0.001, angle, rate)
        rate += torque / inertia * 0.001
        angle += rate * 0.001
        time += 0.001
        if abs(rate) < 0.05:
            break
    assert drive.step(0.001, angle, rate) == 0.0 or option == 6
    if option == 0:
        assert rate == 10.0  # it coasts
    else:
        # 50 rad/s² take 0.2 s; the wheel follows 0.05 s behind until it stands
        assert 0.2 <= time < 0.2 + 0.05 * math.log(10.0 / 0.05)
    for _ in range(3):
        drive.step(0.001, angle, 0.0)
    assert drive.state is ends


@given(st.floats(-1e6, 1e6), st.sampled_from([1, -1]))
def test_positions_are_counts_since_switching_on_and_wrap(angle, direction):
    drive = MotorDrive(DriveCard(direction=direction))
    drive.restart(3.0)
    assert drive.position == 0
    drive.sense(3.0 + angle)
    exact = direction * angle * 28000 / (2 * math.pi)
    assert -2**31 <= drive.position < 2**31
    # half a count, and the rounding of 1e6 rad + 3
    assert abs((drive.position - exact + 2**31) % 2**32 - 2**31) <= 0.5 + 1e-5


def test_safe_torque_off_opens_the_stage_and_forbids_to_go_up():
    drive = drive_in(S.OPERATION_ENABLED, target=1000, safe_torque_off=True)
    assert drive.step(0.001, 0.0, 0.0) == 0.0
    assert drive.state is S.SWITCH_ON_DISABLED and not drive.statusword & 1 << 4
    drive.command(0x06)
    assert drive.state is S.SWITCH_ON_DISABLED
    drive.safe_torque_off = False
    assert drive.statusword & 1 << 4
    drive.command(0x0F)
    assert drive.state is S.SWITCH_ON_DISABLED


@pytest.mark.parametrize('name, value', [('gear_ratio', 0), ('bandwidth', math.nan),
                                         ('direction', 2), ('counts', -1)])
def test_cards_that_cannot_be_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        DriveCard(**{name: value})
