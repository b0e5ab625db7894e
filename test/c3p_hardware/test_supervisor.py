# SPDX-License-Identifier: Apache-2.0
"""Stop doctrine: whatever happens to one device, all wheels stop, and nothing moves by itself."""

from dataclasses import replace

import numpy as np
import pytest
from device_bench import LIMIT, PUSH, ZERO, CardBench, card_settings_of, torques
from device_faults import (
    DRIVE,
    ENABLE_OPERATION,
    ENCODER,
    FAULTS,
    TOWARDS_POWER,
    heal,
    set_state,
)

from c3p_hardware.canopen.cia402 import DriveState
from c3p_hardware.canopen.process_data import RATED_PERMILLE
from c3p_hardware.devices import Problem
from c3p_hardware.supervisor import ArmState, Refused

KINDS = {'silent encoder': 'silence', 'emergency of a drive': 'emergency', 'no mode': 'mode',
         'left by quick stop': 'left'}
LATCHED = {
    'jump': Problem('encoder of steering_joint_2 (node 12)', 'jump', 'it jumped', 'x ~/recover'),
    'stuck': Problem('encoder of steering_joint_2 (node 12)', 'stuck', 'it stands',
                     'x ~/recover'),
    'bus': Problem('bus', 'bus', 'no buffer', 'x ~/recover', True),
}


@pytest.fixture
def bench():
    return CardBench()


@pytest.fixture
def driving(bench):
    bench.arm()
    assert torques(bench.cycle(PUSH)) == [243, -162, 81]
    return bench


def check_locked(bench):
    """Nothing but `recover` and `arm` with a fresh zero lets the robot move."""
    for torque in (PUSH, ZERO, PUSH):
        for _ in range(20):
            orders = bench.cycle(torque)
            assert torques(orders) == [0, 0, 0]
            assert not any(o.controlword in TOWARDS_POWER for o in orders)
    with pytest.raises(Refused, match=r'~/recover'):
        bench.supervisor.arm(bench.now)
    bench.come_to_rest()
    bench.supervisor.recover()
    for torque in [PUSH, ZERO] * 10 + [PUSH]:
        assert torques(bench.cycle(torque)) == [0, 0, 0]
    assert bench.state == ArmState.DISARMED and not bench.supervisor.faults
    with pytest.raises(Refused, match='release the command first'):
        bench.supervisor.arm(bench.now)
    for _ in range(50):
        bench.cycle()
    with pytest.raises(Refused, match='no fresh wheel_effort'):
        bench.supervisor.arm(bench.now)
    bench.arm()
    assert torques(bench.cycle(PUSH)) == [243, -162, 81]


@pytest.mark.parametrize('name', FAULTS)
def test_any_fault_of_one_device_stops_all_wheels_until_they_are_armed_again(driving, name):
    node, happen, shows, words, configure = FAULTS[name]
    slave = driving.slave(node)
    happen(slave)
    for k in range(shows):
        assert driving.state == ArmState.ARMED, f'shown after {k} cycles'
        orders = driving.cycle(PUSH)
    # in the very cycle in which it shows
    assert driving.state == ArmState.FAULT
    assert torques(orders) == [0, 0, 0]
    assert not any(o.controlword == ENABLE_OPERATION for o in orders)
    fault = next(f for f in driving.supervisor.faults if f.kind == KINDS.get(name, name))
    assert slave.device.joint in fault.device and f'node {node}' in fault.device
    assert all(word in f'{fault}' for word in words), f'{fault}'
    assert '~/recover' in fault.remedy and '~/enable' in fault.remedy
    assert driving.supervisor.to_configure == configure
    heal(driving)
    check_locked(driving)


@pytest.mark.parametrize('name', LATCHED)
def test_what_others_find_stops_all_wheels_in_the_same_cycle(driving, name):
    driving.supervisor.latch(LATCHED[name])
    assert torques(driving.cycle(PUSH)) == [0, 0, 0]
    assert driving.state == ArmState.FAULT
    check_locked(driving)


def test_one_device_without_configuration_among_several_faults_is_configured(driving):
    driving.supervisor.latch(LATCHED['jump'])
    assert not driving.supervisor.to_configure
    driving.supervisor.latch(LATCHED['bus'])
    assert driving.supervisor.to_configure


@pytest.mark.parametrize('node', [DRIVE, ENCODER])
@pytest.mark.parametrize('missed', [1, 2, 5])
def test_a_device_may_leave_so_many_cycles_unanswered_and_no_more(node, missed):
    bench = CardBench(card_settings_of(missed_cycles=missed)).arm()
    for _ in range(missed):
        assert any(torques(bench.cycle(PUSH, lost=[node])))
    orders = bench.cycle(PUSH, lost=[node])
    assert torques(orders) == [0, 0, 0] and f'node {node}' in bench.supervisor.held
    # the drives go on holding: a frame is lost now and then
    assert [o.controlword for o in orders] == [ENABLE_OPERATION] * 3
    assert any(torques(bench.cycle(PUSH))) and not bench.supervisor.held


def test_a_drive_that_leaves_while_another_device_is_late_is_not_led_back(driving):
    for _ in range(4):
        driving.cycle(PUSH, lost=[ENCODER])
    driving.slave(DRIVE).state = DriveState.SWITCH_ON_DISABLED
    for _ in range(6):
        orders = driving.cycle(PUSH, lost=[ENCODER])
        assert torques(orders) == [0, 0, 0]
        assert not any(o.controlword in TOWARDS_POWER for o in orders)
    assert [f.kind for f in driving.supervisor.faults] == ['left']


def test_what_befalls_all_devices_is_told_once(driving):
    for slave in driving.slaves:
        set_state(silent=True)(slave)
    for _ in range(4):
        driving.cycle(PUSH)
    assert driving.supervisor.held == 'all devices'
    for _ in range(20):
        assert torques(driving.cycle(PUSH)) == [0, 0, 0]
    (fault,) = driving.supervisor.faults
    assert (fault.device, fault.kind, fault.configure) == ('bus', 'silence', True)
    assert 'no device responds; silent for' in f'{fault}' and 'bit rate' in fault.remedy


@pytest.mark.parametrize('quick', [True, False])
@pytest.mark.parametrize('stop', ['disarm', 'quick_stop'])
def test_drives_brake_or_coast_as_the_settings_say(quick, stop):
    bench = CardBench(card_settings_of(quick_stop=quick)).arm()
    getattr(bench.supervisor, stop)()
    assert [o.controlword for o in bench.cycle()] == [0x02 if quick else 0x00] * 3
    for _ in range(5):
        bench.cycle()
    braking = DriveState.QUICK_STOP_ACTIVE if quick else DriveState.SWITCH_ON_DISABLED
    assert [s.state for s in bench.slaves[:3]] == [braking] * 3
    bench.come_to_rest()
    bench.supervisor.recover()
    for _ in range(20):
        bench.cycle()
    assert bench.state == ArmState.DISARMED


def test_a_robot_that_stops_is_armed_again_once_it_stands(driving):
    driving.supervisor.disarm()
    driving.cycle(ZERO)
    assert driving.slaves[0].state == DriveState.QUICK_STOP_ACTIVE
    for _ in range(20):
        driving.cycle(ZERO)
    assert driving.state == ArmState.STOPPING
    with pytest.raises(Refused, match=r'stopping: drive of wheel_joint_1 .* QUICK_STOP_ACTIVE'):
        driving.supervisor.arm(driving.now)
    driving.come_to_rest()
    driving.arm()
    assert any(torques(driving.cycle(PUSH)))


def test_a_command_while_arming_moves_nothing_until_it_was_zero(bench):
    bench.cycle(ZERO)
    bench.supervisor.arm(bench.now)
    while bench.state == ArmState.ARMING:
        assert torques(bench.cycle(PUSH)) == [0, 0, 0]
    assert bench.state == ArmState.ARMED
    for _ in range(20):
        assert torques(bench.cycle(PUSH)) == [0, 0, 0]
    assert 'while arming' in bench.gate.reason
    bench.cycle(ZERO)
    assert any(torques(bench.cycle(PUSH)))


@pytest.mark.parametrize('node', [DRIVE, ENCODER])
def test_a_robot_is_not_armed_while_a_device_is_late(bench, node):
    bench.cycle(ZERO)
    bench.cycle(ZERO, lost=[node])
    bench.supervisor.arm(bench.now)
    for _ in range(8):
        bench.slave(DRIVE).state = DriveState.OPERATION_ENABLED
        assert torques(bench.cycle(ZERO, lost=[node])) == [0, 0, 0]
        assert bench.state == ArmState.ARMING
    for _ in range(4):
        bench.cycle(ZERO)
    assert bench.state == ArmState.ARMED


def test_wheels_brake_when_commands_stop_coming(driving):
    driving.wheel_rate = np.array([2.0, -1.0, 0.0])
    for _ in range(41):
        orders = driving.cycle()
    # -0.1 N·m·s/rad of 1.232 mN·m per permille, rounded towards zero
    assert torques(orders) == [-162, 81, 0] and driving.state == ArmState.ARMED


def test_no_more_is_asked_of_a_drive_than_its_limit(driving):
    driving.command(np.array([1e6, -1e6, 0.0]))
    most = int(LIMIT / 1.232e-3)
    assert torques(driving.cycle()) == [most, -most, 0] and most <= RATED_PERMILLE


def test_a_drive_without_voltage_ends_arming_with_its_name(bench):
    bench.slave(DRIVE).sto = True
    bench.cycle(ZERO)
    bench.supervisor.arm(bench.now)
    for _ in range(402):
        assert torques(bench.cycle(ZERO)) == [0, 0, 0]
    text = '; '.join(map(str, bench.supervisor.faults))
    assert bench.state == ArmState.FAULT
    assert 'did not reach OPERATION_ENABLED in 2.0 s: SWITCH_ON_DISABLED, no voltage' in text
    assert 'wheel_joint_2 (node 2)' in text and 'STO' in text


@pytest.mark.parametrize(('change', 'why'), [
    (lambda b: setattr(b.supervisor, 'allowed', False), 'not active'),
    (lambda b: b.slave(ENCODER).emergency(0x5210), 'measuring circuit'),
    (lambda b: [b.cycle(ZERO, lost=[DRIVE]) for _ in range(4)], 'no sample yet'),
    (lambda b: b.command(PUSH), 'release the command first'),
    (lambda b: [b.cycle() for _ in range(41)], 'no fresh wheel_effort'),
    (lambda b: b.supervisor.quick_stop(), 'quick stop by a call of ~/quick_stop')])
def test_arming_is_refused_with_the_reason(bench, change, why):
    bench.cycle(ZERO)
    change(bench)
    with pytest.raises(Refused, match=why):
        bench.supervisor.arm(bench.now)
    assert bench.state != ArmState.ARMING


def test_a_robot_that_was_never_configured_is_not_armed(bench):
    fresh = CardBench.__new__(CardBench)
    fresh.configure = lambda: None
    CardBench.__init__(fresh)
    fresh.command(ZERO)
    with pytest.raises(Refused, match='no sample received yet'):
        fresh.supervisor.arm(fresh.now)


def test_recovering_resets_drives_by_one_edge_and_a_fault_that_stays_is_told_again(driving):
    slave = driving.slave(DRIVE)
    slave.state = DriveState.FAULT
    driving.cycle(ZERO)
    driving.come_to_rest()
    slave.obey = lambda order: words.append(order.controlword)
    words = []
    driving.supervisor.recover()
    for _ in range(402):
        assert torques(driving.cycle(ZERO)) == [0, 0, 0]
        if driving.state != ArmState.RECOVERING:
            break
    edges = sum(b & ~a & 0x80 for a, b in zip(words, words[1:], strict=False)) // 0x80
    assert driving.state == ArmState.FAULT and edges == 1
    assert [f.kind for f in driving.supervisor.faults] == ['fault']


def test_another_fault_while_recovering_is_latched_at_once(driving):
    driving.slave(DRIVE).state = DriveState.FAULT
    driving.slave(DRIVE).obey = lambda order: None
    driving.come_to_rest()
    driving.supervisor.recover()
    driving.cycle(ZERO)
    assert driving.state == ArmState.RECOVERING
    driving.slave(ENCODER).alarms = 1
    driving.cycle(ZERO)
    assert driving.state == ArmState.FAULT
    assert 'alarm' in [f.kind for f in driving.supervisor.faults]
    # the second attempt has an edge of its own
    driving.slave(ENCODER).alarms = 0
    del driving.slave(DRIVE).obey
    driving.supervisor.recover()
    for _ in range(15):
        driving.cycle(ZERO)
    assert driving.state == ArmState.DISARMED


def test_a_master_that_was_held_up_accuses_nobody(driving):
    for device in driving.devices:
        device.new_cycle(driving.max_backlog, driving.now)
    for slave in driving.slaves:
        slave.answer(driving.now)
    driving.now += 10.0  # between reading and deciding
    orders = driving.supervisor.step(driving.now, ZERO)
    # the command has grown old meanwhile: wheels at rest get nothing
    assert driving.state == ArmState.ARMED and torques(orders) == [0, 0, 0]


def test_settings_of_the_bench_are_those_of_the_schema():
    # the figures of the faults (12 and 31 cycles, 0.05 s) are those of the defaults
    settings = card_settings_of()
    assert (settings.rate, settings.silence_timeout, settings.heartbeat_timeout,
            settings.missed_cycles) == (200.0, 0.05, 0.15, 1)
    assert replace(settings, rate=100.0).period == 0.01
