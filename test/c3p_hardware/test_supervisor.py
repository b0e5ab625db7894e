# SPDX-License-Identifier: Apache-2.0
"""Stop doctrine: whatever happens to one device, all wheels stop, and nothing moves by itself."""

from dataclasses import replace

import numpy as np
import pytest
from device_bench import LIMIT, PUSH, ZERO, CardBench, card_settings_of, torques
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from c3p_hardware.canopen.cia301 import NmtState
from c3p_hardware.canopen.cia402 import DriveState
from c3p_hardware.canopen.process_data import RATED_PERMILLE
from c3p_hardware.devices import SURPLUS, Problem
from c3p_hardware.supervisor import ArmState, Refused

DRIVE, ENCODER = 2, 12
ENABLE_OPERATION = 0x0F
# controlwords that bring a drive to READY_TO_SWITCH_ON or further
TOWARDS_POWER = (0x06, 0x07, 0x0F)


def set_state(**values):
    """Return what changes a slave for good."""
    return lambda slave: [setattr(slave, k, v) for k, v in values.items()]


# kind: (node, what happens, cycles until it shows, words of the text, must be configured again)
FAULTS = {
    'silence': (DRIVE, set_state(silent=True), 12, ['silent for 0.0', 'OPERATION_ENABLED'], True),
    'silent encoder': (ENCODER, set_state(silent=True), 12, ['silent for 0.0'], True),
    'heartbeat': (DRIVE, set_state(heartless=True), 31, ['no heartbeat for 0.15',
                                                         'OPERATION_ENABLED'], True),
    'reboot': (ENCODER, set_state(nmt=NmtState.INITIALISING), 1, ['restarted'], True),
    'nmt': (DRIVE, set_state(nmt=NmtState.PRE_OPERATIONAL), 1, ['PRE_OPERATIONAL'], True),
    'duplicate': (ENCODER, set_state(twins=2), SURPLUS, ['two devices have this node id'], True),
    'emergency': (ENCODER, lambda s: s.emergency(0x5210), 1, ['measuring circuit (5210h)'], False),
    'emergency of a drive': (DRIVE, lambda s: s.emergency(0x4310), 1,
                             ['over-temperature of the drive (4310h)', 'OPERATION_ENABLED'],
                             False),
    'mode': (DRIVE, lambda s: s.health(mode=8), 1, ['cyclic synchronous position (8)',
                                                    'OPERATION_ENABLED'], True),
    'no mode': (DRIVE, lambda s: s.health(mode=0), 1, ['none (0)'], True),
    'fault': (DRIVE, lambda s: (s.health(error=0x2310), set_state(state=DriveState.FAULT)(s)), 1,
              ['FAULT: continuous over-current (2310h)'], False),
    'left': (DRIVE, set_state(state=DriveState.SWITCH_ON_DISABLED, sto=True), 1,
             ['SWITCH_ON_DISABLED', 'no voltage', 'STO'], False),
    'left by quick stop': (DRIVE, set_state(state=DriveState.QUICK_STOP_ACTIVE), 1,
                           ['left OPERATION_ENABLED on its own: QUICK_STOP_ACTIVE'], False),
    'alarm': (ENCODER, set_state(alarms=1), 1, ['position is not valid'], False),
    'range': (ENCODER, set_state(position=4096), 1, ['position 4096: must be below 4096'], False),
}
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


def heal(bench):
    """Let all devices be healthy again, and configured."""
    for slave in bench.slaves:
        set_state(nmt=NmtState.OPERATIONAL, sto=False, silent=False, heartless=False, twins=1,
                  position=0, alarms=0)(slave)
        if slave.drive:
            slave.health()
    bench.configure()


def check_locked(bench):
    """Nothing but `recover` and `arm` with a fresh zero lets the robot move."""
    for torque in (PUSH, ZERO, PUSH):
        for _ in range(20):
            orders = bench.cycle(torque)
            assert torques(orders) == [0, 0, 0]
            assert not any(o.controlword in TOWARDS_POWER for o in orders)
    with pytest.raises(Refused, match=r'~/recover'):
        bench.supervisor.arm(bench.now)
    for slave in bench.slaves:
        slave.quick_stop_ended()
    bench.supervisor.recover()
    for torque in [PUSH, ZERO] * 5 + [PUSH]:
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
    # a robot that still brakes goes on braking when somebody asks to recover
    bench.supervisor.recover()
    for _ in range(5):
        bench.cycle()
    braking = DriveState.QUICK_STOP_ACTIVE if quick else DriveState.SWITCH_ON_DISABLED
    assert [s.state for s in bench.slaves[:3]] == [braking] * 3
    assert bench.state == ArmState.DISARMED


def test_a_disarmed_robot_is_armed_again_out_of_a_quick_stop(driving):
    driving.supervisor.disarm()
    driving.cycle(ZERO)
    assert driving.slaves[0].state == DriveState.QUICK_STOP_ACTIVE
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
    driving.cycle(ZERO)
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
    for _ in range(5):
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


class Master(RuleBasedStateMachine):
    """Random lives of a robot; what must hold holds after every single order."""

    @initialize(quick=st.booleans(), damping=st.sampled_from([0.0, 0.1]))
    def begin(self, quick, damping):
        self.bench = CardBench(card_settings_of(quick_stop=quick, stop_damping=damping,
                                                arming_timeout=0.2))
        self.armed = False  # an `arm` was granted, and no fault or disarming since
        self.pressed = False  # a torque was commanded before the drives held, and no zero since

    @rule(torque=st.sampled_from([None, ZERO, PUSH, -PUSH, 9 * PUSH]), cycles=st.integers(1, 15),
          lost=st.sets(st.sampled_from([1, 2, 3, 11, 12, 13]), max_size=2),
          rate=st.sampled_from([ZERO, PUSH, -20 * PUSH]))
    def pass_cycles(self, torque, cycles, lost, rate):
        self.bench.wheel_rate = rate
        for _ in range(cycles):
            before = self.bench.state
            orders = self.bench.cycle(torque, lost)
            if torque is not None and (not torque.any() or before != ArmState.ARMED):
                self.pressed = bool(torque.any())
            self.check(orders, before)

    def check(self, orders, before):
        bench, state = self.bench, self.bench.state
        if state == ArmState.FAULT:
            self.armed = False
        assert self.armed == (state in (ArmState.ARMING, ArmState.ARMED))
        for order, drive in zip(orders, bench.drives, strict=True):
            if order.controlword in TOWARDS_POWER:
                assert self.armed
            if order.torque:
                assert state == before == ArmState.ARMED or before == ArmState.ARMING
                assert order.controlword == ENABLE_OPERATION
                assert abs(order.torque) <= drive.settings.max_permille
        if state == ArmState.ARMED != before:
            assert all(d.behind <= bench.settings.missed_cycles for d in bench.devices)
        if any(torques(orders)):
            assert all(d.state == DriveState.OPERATION_ENABLED for d in bench.drives)
            assert all(d.behind <= bench.settings.missed_cycles for d in bench.devices)
            power = np.array(torques(orders)) * bench.wheel_rate
            assert bench.gate.open or np.all(power <= 0)
            assert not (bench.gate.open and self.pressed)
        if state == ArmState.ARMED:
            assert all(o.controlword == ENABLE_OPERATION for o in orders)
        assert (state == ArmState.FAULT) == bool(bench.supervisor.faults)

    @rule()
    def arm(self):
        newest, age = self.bench.gate.newest(self.bench.now)
        try:
            self.bench.supervisor.arm(self.bench.now)
        except Refused:
            return
        assert self.armed or (not newest.any() and age <= self.bench.settings.command_timeout)
        self.armed = True

    @rule()
    def arm_completely(self):
        """Do what a careful user does, so that the machine is often armed."""
        if self.bench.state == ArmState.FAULT:
            heal(self.bench)
            self.bench.supervisor.recover()
        self.pass_cycles(ZERO, 8, (), ZERO)
        self.arm()
        self.pass_cycles(ZERO, 5, (), ZERO)

    # one rule for all that ends driving, so that as many rules drive as stop

    @rule(what=st.sampled_from(['disarm', 'recover', 'quick_stop', 'breaks', 'state']),
          name=st.sampled_from(sorted(FAULTS)), drive=st.integers(1, 3),
          state=st.sampled_from([s for s in DriveState if s != DriveState.UNKNOWN]),
          then=st.sampled_from([None, 11, 12]))
    def trouble(self, what, name, drive, state, then):
        """Let somebody ask, or something break, perhaps while an encoder is late."""
        supervisor, before = self.bench.supervisor, self.bench.state
        if then and what == 'state' and before == ArmState.ARMED:
            self.pass_cycles(PUSH, 4, {then}, ZERO)
        if what == 'disarm':
            supervisor.disarm()
        elif what == 'recover':
            supervisor.recover()
        elif what == 'quick_stop':
            supervisor.quick_stop()
        elif what == 'breaks':
            node, happen, *_ = FAULTS[name]
            happen(self.bench.slave(drive + (10 if node == ENCODER else 0)))
        else:
            self.bench.slave(drive).state = state
        if what in ('disarm', 'recover', 'quick_stop'):
            self.armed = False
        if then:
            self.pass_cycles(PUSH, 3, {then}, ZERO)

    @rule()
    def all_is_well_again(self):
        for slave in self.bench.slaves:
            slave.quick_stop_ended()
        heal(self.bench)

    @precondition(lambda self: self.bench.state == ArmState.FAULT)
    @rule()
    def a_fault_is_not_armed_away(self):
        with pytest.raises(Refused):
            self.bench.supervisor.arm(self.bench.now)

    @invariant()
    def a_fault_is_told(self):
        if hasattr(self, 'bench') and self.bench.state == ArmState.FAULT:
            assert all(f.device and f.text and f.remedy for f in self.bench.supervisor.faults)


TestMaster = Master.TestCase
TestMaster.settings = hypothesis_settings(max_examples=100, stateful_step_count=30, deadline=None)


def test_settings_of_the_bench_are_those_of_the_schema():
    # the figures above (12 and 31 cycles, 0.05 s) are those of the defaults
    settings = card_settings_of()
    assert (settings.rate, settings.silence_timeout, settings.heartbeat_timeout,
            settings.missed_cycles) == (200.0, 0.05, 0.15, 1)
    assert replace(settings, rate=100.0).period == 0.01
