# SPDX-License-Identifier: Apache-2.0
"""A stop is watched until the wheels are at rest and the drives without voltage."""

from dataclasses import replace

import numpy as np
import pytest
from device_bench import PUSH, UNITS, ZERO, CardBench, card_settings_of

from c3p_hardware.canopen.cia402 import DriveState
from c3p_hardware.stop_watch import OFF_TIME
from c3p_hardware.supervisor import ArmState, Refused

PERIOD = 1 / 200
OFF = (DriveState.SWITCH_ON_DISABLED, DriveState.READY_TO_SWITCH_ON)


class TurningBench(CardBench):
    """A bench whose wheels turn at `rates`, rad/s, as far as their counts show it."""

    def __init__(self, **changes):
        super().__init__(card_settings_of(**changes))
        self.rates, self.turned = np.zeros(3), np.zeros(3)
        # counts that are not those of the wheels
        self.offset = [0, 0, 0]

    def cycle(self, torque=None, lost=()):
        self.turned = self.turned + PERIOD * self.rates
        self.wheel_rate = self.rates
        for slave, angle, offset in zip(self.slaves, self.turned, self.offset, strict=False):
            counts = round(angle / UNITS.angle_resolution) + offset
            slave.position = (counts + (1 << 31)) % (1 << 32) - (1 << 31)
        return super().cycle(torque, lost)

    def run(self, seconds, rates=None):
        """Let time pass; `rates` is a function of the time of the stop."""
        begin = self.now
        for _ in range(round(seconds / PERIOD)):
            if rates is not None:
                self.rates = np.asarray(rates(self.now - begin), float)
            self.cycle(PUSH)

    def kinds(self):
        return [f.kind for f in self.supervisor.faults]


@pytest.fixture
def driving():
    """Wheels of 4 cm at 10 rad/s, 0.4 m/s."""
    bench = TurningBench().arm()
    bench.rates = np.array([10.0, -8.0, 3.0])
    for _ in range(20):
        bench.cycle(PUSH)
    return bench


STOPS = {'quick_stop': lambda s: s.quick_stop(), 'disarm': lambda s: s.disarm()}


@pytest.mark.parametrize('stop', STOPS)
def test_a_quick_stop_without_effect_ends_in_voltage_off_after_the_margin(driving, stop):
    STOPS[stop](driving.supervisor)
    driving.run(0.34)
    assert {s.state for s in driving.slaves[:3]} == {DriveState.QUICK_STOP_ACTIVE}
    driving.run(0.1)
    assert all(s.state in OFF for s in driving.slaves[:3])
    assert driving.state == ArmState.FAULT
    text = next(f'{f}' for f in driving.supervisor.faults if f.kind == 'stop')
    assert 'does not brake' in text and 'motor leads' in text and '607Eh' in text
    assert 'wheel_joint_1 (node 1) 10.0 rad/s, 10.0 at the order' in text
    assert '-8.0 rad/s' in text


def test_a_quick_stop_that_accelerates_ends_at_once(driving):
    driving.supervisor.disarm()
    driving.run(0.2, lambda t: [10.0 + 60.0 * t, -8.0, 3.0])
    assert all(s.state in OFF for s in driving.slaves[:3])
    text = next(f'{f}' for f in driving.supervisor.faults if f.kind == 'stop')
    assert 'accelerates' in text


@pytest.mark.parametrize('stop', STOPS)
def test_a_quick_stop_that_brakes_is_left_to_the_drives(driving, stop):
    before = driving.kinds()
    STOPS[stop](driving.supervisor)
    # half of the expected deceleration, 2.57 m/s² of torque limits by 35 kg, is 32 rad/s²
    driving.run(1.0, lambda t: np.array([10.0, -8.0, 3.0]) * max(0.0, 1 - 3.5 * max(0, t - 0.2)))
    assert driving.kinds() == before + ['quick_stop'] * (stop == 'quick_stop')


def test_disarmed_is_said_at_rest_only(driving):
    driving.supervisor.disarm()
    for slave in driving.slaves[:3]:
        slave.state = DriveState.SWITCH_ON_DISABLED
    driving.run(1.0, lambda t: [3.0, 0.0, 0.0])
    assert driving.state == ArmState.STOPPING
    with pytest.raises(Refused, match='stopping: wheel_joint_1 turns at 3.0 rad/s'):
        driving.supervisor.arm(driving.now)
    driving.run(0.1, lambda t: ZERO)
    assert driving.state == ArmState.DISARMED
    # and a robot that is pushed by hand later remains disarmed
    driving.run(1.0, lambda t: [9.0, 9.0, 9.0])
    assert driving.state == ArmState.DISARMED and not driving.supervisor.faults


@pytest.mark.parametrize('turns', [True, False])
def test_recovering_is_refused_while_a_wheel_turns_or_a_drive_stops(driving, turns):
    driving.supervisor.quick_stop()
    driving.run(0.05)
    if turns:
        for slave in driving.slaves:
            slave.quick_stop_ended()
        driving.run(0.1)
        expected = 'wheel_joint_1 turns at 10.0 rad/s'
    else:
        driving.run(0.1, lambda t: ZERO)
        expected = 'wheel_joint_1 .* is in QUICK_STOP_ACTIVE'
    with pytest.raises(Refused, match=expected):
        driving.supervisor.recover()
    assert driving.state == ArmState.FAULT and 'quick_stop' in driving.kinds()


def test_a_robot_that_moves_again_during_the_recovery_has_not_recovered(driving):
    driving.supervisor.quick_stop()
    driving.rates = ZERO
    driving.come_to_rest()
    driving.supervisor.recover()
    driving.run(1.9, lambda t: [2.0, 0.0, 0.0])
    assert driving.state == ArmState.RECOVERING
    driving.run(0.2)
    assert driving.state == ArmState.FAULT and driving.kinds() == ['moving']


def test_a_drive_that_keeps_its_voltage_ends_the_heartbeat():
    bench = TurningBench(quick_stop=False).arm()
    slave = bench.slave(2)
    slave.obey = lambda order: None
    bench.supervisor.disarm()
    bench.run(OFF_TIME)
    assert not bench.supervisor.withheld
    bench.run(0.05)
    assert bench.supervisor.withheld and bench.kinds() == ['voltage']
    text = f'{bench.supervisor.faults[0]}'
    assert 'wheel_joint_2 (node 2)' in text and 'STO' in text and 'OPERATION_ENABLED' in text
    del slave.obey
    bench.come_to_rest()
    bench.supervisor.recover()
    assert not bench.supervisor.withheld


def test_a_drive_that_ignores_a_missing_heartbeat_is_named_and_brakes_close():
    plain = card_settings_of()
    drives = tuple(replace(drive, brake=True) for drive in plain.drives)
    bench = TurningBench(quick_stop=False, drives=drives).arm()
    bench.rates = np.array([10.0, 10.0, 10.0])
    for _ in range(20):
        bench.cycle(PUSH)
    # a drive that goes on driving
    bench.slave(2).obey = lambda order: None
    bench.supervisor.disarm()
    bench.run(OFF_TIME + 0.05)
    assert bench.kinds() == ['voltage'] and not bench.supervisor._stops.ignored
    bench.run(bench.settings.heartbeat_timeout + OFF_TIME)
    # the brakes have closed with the voltage, and do not hold
    assert set(bench.kinds()) == {'voltage', 'holding', 'ignored'}
    (text,) = (f'{fault}' for fault in bench.supervisor.faults if fault.kind == 'ignored')
    assert 'wheel_joint_2 (node 2)' in text and 'the only order that remains' in text
    assert {order.brake for order in bench.cycle()} == {True}
    del bench.slave(2).obey
    bench.rates = np.zeros(3)
    bench.come_to_rest()
    bench.supervisor.recover()
    assert not bench.supervisor._stops.ignored


def test_a_drive_that_stays_in_its_quick_stop_at_rest_is_switched_off_without_a_fault(driving):
    driving.supervisor.disarm()
    driving.run(0.28, lambda t: [10.0 * max(0.0, 1 - 10 * t), 0.0, 0.0])
    assert driving.slaves[0].state == DriveState.QUICK_STOP_ACTIVE
    driving.run(0.1)
    assert driving.slaves[0].state in OFF and not driving.supervisor.faults


def test_a_silent_device_does_not_blind_the_watch(driving):
    driving.slave(12).silent = True
    driving.run(0.6)
    assert {'silence', 'stop'} <= set(driving.kinds())
    assert all(s.state in OFF for s in driving.slaves[:3])


# -- counts that no motor reaches -----------------------------------------------------------------

# beyond the 1.5 rad of `max_wheel_rate` in a cycle
JUMPS = [1 << 30, -(1 << 30), 20_000, -20_000]


@pytest.mark.parametrize('stays', [True, False])
@pytest.mark.parametrize('jump', JUMPS)
def test_counts_that_jump_at_the_order_do_not_excuse_a_stop_without_effect(driving, jump, stays):
    driving.offset[1] = jump
    driving.supervisor.quick_stop()
    driving.cycle(PUSH)
    if not stays:
        driving.offset[1] = 0
    driving.run(0.45)
    assert all(s.state in OFF for s in driving.slaves[:3])
    text = next(f'{f}' for f in driving.supervisor.faults if f.kind == 'stop')
    assert 'does not brake' in text and '-8.0 rad/s, -8.0 at the order' in text


@pytest.mark.parametrize('jump', JUMPS)
def test_counts_that_jump_once_do_not_end_a_stop_that_brakes(driving, jump):
    driving.supervisor.disarm()
    for k in range(100):
        driving.offset[1] = jump if k == 30 else 0
        driving.run(PERIOD, lambda t, k=k: np.array([10.0, -8.0, 3.0]) * max(0.0, 1 - k / 60))
    assert not driving.supervisor.faults


@pytest.mark.parametrize('jump', JUMPS)
def test_recovering_waits_until_counts_have_stopped_jumping(driving, jump):
    driving.supervisor.quick_stop()
    driving.rates = ZERO
    driving.come_to_rest()
    # in each cycle, and in each second one
    for k in range(40):
        driving.offset[1] += jump if k < 20 or k % 2 else 0
        driving.cycle()
        with pytest.raises(Refused, match='the counts of wheel_joint_2 jump'):
            driving.supervisor.recover()
    driving.run(0.03)
    driving.supervisor.recover()
    driving.run(0.1)
    assert driving.state == ArmState.DISARMED


def test_a_robot_whose_counts_jump_is_not_at_rest(driving):
    driving.supervisor.disarm()
    driving.rates = ZERO
    driving.come_to_rest()
    assert driving.state == ArmState.DISARMED
    driving.arm()
    driving.supervisor.disarm()
    for _ in range(100):
        driving.offset[1] += JUMPS[0]
        driving.cycle()
        assert driving.state != ArmState.DISARMED
    driving.run(0.1)
    assert driving.supervisor.moving == ''


# -- the brake of armed wheels --------------------------------------------------------------------

def close_gate(bench, seconds, rates):
    """Let commands stop coming, and the wheels brake."""
    for _ in range(42):
        bench.cycle()
    begin = bench.now
    for _ in range(round(seconds / PERIOD)):
        bench.rates = np.asarray(rates(bench.now - begin), float)
        bench.cycle()


def test_a_brake_that_accelerates_is_followed_by_a_quick_stop(driving):
    close_gate(driving, 0.5, lambda t: [10.0 + 20.0 * t, 0.0, 0.0])
    assert driving.state == ArmState.FAULT and driving.kinds()[0] == 'brake'
    assert 'accelerate' in f'{driving.supervisor.faults[0]}'
    assert 'wheel command is' in f'{driving.supervisor.faults[0]}'


def test_a_brake_without_effect_is_followed_by_a_quick_stop(driving):
    close_gate(driving, 2.0, lambda t: [10.0, 10.0, 10.0])
    assert driving.kinds()[0] == 'brake'
    assert 'do not slow down' in f'{driving.supervisor.faults[0]}'


@pytest.mark.parametrize('speed', [4.0, 0.0])
def test_a_braked_robot_may_roll_slowly_down_a_slope(driving, speed):
    """0.1 rad hold 34 N, which 0.1 N·m·s/rad on three wheels of 4 cm balance at 4.6 rad/s."""
    close_gate(driving, 5.0, lambda t: np.full(3, speed + (10.0 - speed) * np.exp(-t / 0.2)))
    assert driving.state == ArmState.ARMED
    close_gate(driving, 2.0, lambda t: np.full(3, 9.0))
    assert driving.state == ArmState.ARMED, 'pushed by hand after the brake has acted'


def test_without_damping_no_brake_is_expected():
    bench = TurningBench(stop_damping=0.0).arm()
    bench.rates = np.full(3, 10.0)
    bench.cycle(PUSH)
    close_gate(bench, 2.0, lambda t: np.full(3, 10.0))
    assert bench.state == ArmState.ARMED
