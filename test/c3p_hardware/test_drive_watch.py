# SPDX-License-Identifier: Apache-2.0
"""Drives that turn too fast, or give another torque than they are commanded, stop the robot."""

import numpy as np
import pytest
from device_bench import PUSH, ZERO, CardBench, card_settings_of, torques
from hypothesis import given
from hypothesis import strategies as st

from c3p_hardware.canopen.cia402 import INTERNAL_LIMIT, VOLTAGE_ENABLED, DriveState, state_bits
from c3p_hardware.canopen.process_data import DRIVE_SAMPLE
from c3p_hardware.drive_watch import HELD, OVERSPEED_TIME, SETTLING, DriveWatch
from c3p_hardware.settings import CardError, DriveSettings
from c3p_hardware.supervisor import ArmState

PERIOD = 1 / 200
# 0.2 of 1.2 N·m, permille of 1.232 N·m
TOLERANCE = 0.2 * 974


def limited(count=3, limit=25.0, **changes):
    """Return settings whose drives have a rate limit, rad/s."""
    plain = card_settings_of(count)
    drives = tuple(DriveSettings(d.node_id, d.joint, d.units, d.torque_limit, rate_limit=limit)
                   for d in plain.drives)
    return card_settings_of(count, drives=drives, **changes)


def drive(bench, cycles, torque=PUSH):
    for _ in range(cycles):
        bench.cycle(torque)
    return bench


# -- overspeed ------------------------------------------------------------------------------------

@pytest.mark.parametrize('sign', [1, -1])
def test_a_wheel_that_turns_too_fast_stops_all_and_is_named(sign):
    bench = CardBench(limited()).arm()
    bench.wheel_rate = np.array([24.0, sign * 29.9, 0.0])
    drive(bench, 50)
    assert bench.state == ArmState.ARMED
    # a late SYNC makes a rate look too great for some cycles
    for _ in range(5):
        bench.wheel_rate = np.array([24.0, sign * 90.0, 0.0])
        drive(bench, 10)
        bench.wheel_rate = np.array([24.0, sign * 29.9, 0.0])
        drive(bench, 1)
    assert bench.state == ArmState.ARMED
    bench.wheel_rate = np.array([24.0, sign * 30.1, 0.0])
    drive(bench, 10)
    assert bench.state == ArmState.ARMED
    drive(bench, 1)
    assert torques(bench.cycle(PUSH)) == [0, 0, 0]
    (fault,) = bench.supervisor.faults
    assert fault.kind == 'overspeed' and fault.device == 'drive of wheel_joint_2 (node 2)'
    assert '30.1 rad/s' in fault.text and '30.0 rad/s' in fault.text
    bench.wheel_rate = ZERO
    drive(bench, 20)
    assert bench.state == ArmState.FAULT


@pytest.mark.parametrize('settings', [limited(overspeed_margin=0.0), limited(limit=np.inf)])
def test_without_margin_or_limit_no_rate_is_too_fast(settings):
    bench = CardBench(settings).arm()
    bench.wheel_rate = np.full(3, 1e4)
    # longer than the time of an overspeed
    assert drive(bench, round(4 * OVERSPEED_TIME / PERIOD)).state == ArmState.ARMED


def test_a_robot_that_is_pushed_by_hand_has_no_overspeed():
    bench = CardBench(limited())
    bench.wheel_rate = np.full(3, 40.0)
    assert drive(bench, 10).state == ArmState.DISARMED


def test_a_margin_below_the_limit_is_refused():
    with pytest.raises(CardError, match='overspeed_margin = 0.9: must be at least 1'):
        limited(overspeed_margin=0.9)


# -- torque ---------------------------------------------------------------------------------------

def deviate(bench, torque, most=60):
    """Let drive 1 give `torque` permille; return the cycles until the fault, None for none."""
    for k in range(most):
        orders = bench.cycle(PUSH)
        if bench.state == ArmState.FAULT:
            assert torques(orders) == [0, 0, 0]
            return k
        bench.slave(1).torque = torque
    return None


@pytest.mark.parametrize('torque', [-1000, 1000, -32768, 32767, 0])
def test_a_drive_with_another_torque_is_named_after_50_ms(torque):
    bench = drive(CardBench().arm(), 20)
    cycles = deviate(bench, torque)
    # the samples of 50 ms deviate, after one cycle that asks for them
    assert 0.05 < cycles * PERIOD < 0.05 + 3 * PERIOD
    (fault,) = bench.supervisor.faults
    assert (fault.kind, fault.device) == ('torque', 'drive of wheel_joint_1 (node 1)')
    assert f'{1.232e-3 * torque:.3f} N·m' in fault.text and '0.299 N·m' in fault.text
    assert 'motor cables' in fault.remedy and '~/recover' in fault.remedy


def test_a_deviation_within_the_tolerance_or_the_time_is_none():
    bench = drive(CardBench().arm(), 20)
    order = bench.cycle(PUSH)[0].torque
    assert deviate(bench, int(order + TOLERANCE)) is None
    assert deviate(bench, int(order - TOLERANCE) + 1) is None
    for _ in range(20):
        assert deviate(bench, 2000, most=9) is None
        drive(bench, 1)
    assert bench.state == ArmState.ARMED


def test_switched_off_no_torque_deviates():
    bench = drive(CardBench(card_settings_of(torque_tolerance=0.0)).arm(), 20)
    assert deviate(bench, -1000) is None


def test_a_quick_stop_has_torques_of_its_own():
    bench = drive(CardBench().arm(), 20)
    bench.supervisor.disarm()
    for _ in range(40):
        for slave in bench.slaves[:3]:
            slave.torque = -900
        bench.cycle(PUSH)
    bench.come_to_rest()
    assert bench.state == ArmState.DISARMED and not bench.supervisor.faults


class Drives:
    """One drive and its watch, cycle by cycle, without bus and supervisor."""

    def __init__(self, **changes):
        self.bench = CardBench(card_settings_of(**changes))
        self.drive, self.now = self.bench.drives[0], 0.0
        self.watch = DriveWatch(self.bench.settings, [self.drive])

    def cycle(self, order, actual, word=0):
        """Command `order`, sample `actual`, permille; return the kinds of problems."""
        self.now += PERIOD
        bits = state_bits(DriveState.OPERATION_ENABLED) | VOLTAGE_ENABLED | word
        self.drive.on_sample(DRIVE_SAMPLE.pack(bits, 0, round(actual)), self.now)
        found = [p.kind for p in self.watch.problems(self.now, np.zeros(1))]
        self.watch.sent([round(order)], self.now)
        return found


@given(st.floats(0.3, 40.0), st.sampled_from([1, 2, 3, 4]), st.integers(0, 2**32 - 1))
def test_delay_and_lag_of_a_drive_are_no_deviation(frequency, delay, seed):
    """Commands of any frequency, reversals included, to a drive that is up to 20 ms late."""
    rng, rig = np.random.default_rng(seed), Drives()
    orders, actual = [0.0] * delay, 0.0
    assert delay * PERIOD <= HELD
    for k in range(400):
        wave = 900 * np.sin(2 * np.pi * frequency * k * PERIOD + rng.normal(0, 0.1))
        actual += 0.8 * (orders[-delay] - actual)
        assert rig.cycle(wave, actual + rng.normal(0, 10)) == []
        orders.append(wave)


@pytest.mark.parametrize('slope', [2000, 5000, 20_000])
def test_a_torque_slope_is_no_deviation_while_it_comes_nearer(slope):
    """From 2 to 20 times the rated torque per second, from one end to the other."""
    rig, actual = Drives(), 0.0
    for order in (900, -900, 900, 0):
        for _ in range(300):
            actual += np.clip(order - actual, -slope * PERIOD, slope * PERIOD)
            assert rig.cycle(order, actual) == []


def test_a_drive_that_reports_its_limit_may_give_less_but_not_the_opposite():
    rig = Drives()
    for _ in range(100):
        assert rig.cycle(900, 100, INTERNAL_LIMIT) == []
    kinds = [rig.cycle(900, -400, INTERNAL_LIMIT) for _ in range(30)]
    assert kinds[-1] == ['torque'] and kinds[5] == []
    # and without that bit it is a deviation
    rig = Drives()
    assert [rig.cycle(900, 100) for _ in range(30)][-1] == ['torque']


def cycles_until_torque(rig, order, actuals):
    """Return the cycles until the deviation is a problem, None without one."""
    for k, actual in enumerate(actuals):
        if 'torque' in rig.cycle(order, actual):
            return k
    return None


def test_a_deviation_that_hardly_shrinks_does_not_settle():
    """Within 50 ms by less than a quarter of the tolerance: no slope, and a problem in time."""
    rig = Drives()
    for _ in range(20):
        rig.cycle(0, 0)
    slow = 0.5 * SETTLING * TOLERANCE / 12
    assert 10 <= cycles_until_torque(rig, 0, 900 - slow * np.arange(60)) <= 13
    # one that shrinks by a quarter each time restarts the clock
    rig = Drives()
    for _ in range(20):
        rig.cycle(0, 0)
    quick = 1.1 * SETTLING * TOLERANCE
    assert cycles_until_torque(rig, 0, np.maximum(900 - quick * np.arange(60) / 2, 0)) is None


def test_rounding_to_a_permille_is_no_deviation_however_small_the_tolerance():
    assert cycles_until_torque(Drives(torque_tolerance=1e-4), 200, [201] * 40) is None
    assert cycles_until_torque(Drives(torque_tolerance=1e-4), 200, [202] * 40) is not None


def test_a_command_counts_for_as_long_as_it_may_act_and_no_longer():
    """A drive that keeps a torque is given HELD, the cycles of its order, and the 50 ms."""
    rig = Drives()
    for _ in range(40):
        assert rig.cycle(200, 200) == []
    late = cycles_until_torque(rig, -200, [200] * 60)
    assert HELD + 0.05 < late * PERIOD < HELD + 0.05 + 4 * PERIOD


@given(st.integers(0, 2**32 - 1))
def test_random_torques_are_found(seed):
    rng, rig = np.random.default_rng(seed), Drives()
    for _ in range(20):
        rig.cycle(200, 200)
    found = [rig.cycle(200, rng.integers(-32768, 32768)) for _ in range(200)]
    assert ['torque'] in found
