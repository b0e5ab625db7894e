# SPDX-License-Identifier: Apache-2.0
"""Connect, arm, command, lose, recover, close: a link whose devices answer at once."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from card_network import ROBOT, SETTINGS, CardsBus

from c3p_hardware.canopen.cia301 import NmtState
from c3p_hardware.canopen.cia402 import DriveState
from c3p_hardware.supervisor import ArmState, Refused
from c3p_hardware.transport import can_bus, card_link, cycle_loop
from c3p_hardware.transport.can_bus import BusAddress, BusError
from c3p_hardware.transport.card_link import CardLink
from c3p_hardware.transport.configure import ConfigurationError

# nothing takes longer unless it is broken, s
SOON = 20.0
PATIENT = replace(SETTINGS, silence_timeout=0.8, heartbeat_timeout=2.0, command_timeout=2.0,
                  arming_timeout=10.0)
PUSH = np.array([0.1, 0.2, -0.3])


class Link(CardLink):
    """A link with its bus and all that it has published."""

    def __init__(self, virtual_time, settings=PATIENT):
        self.joints, self.far = [], CardsBus(settings.period)
        self.advance = virtual_time.advance
        self.clock = 0
        super().__init__(BusAddress('virtual', 'test'), ROBOT, settings, self._take, time.time_ns)

    def _take(self, joints, stamp):
        self.joints.append((joints, stamp))

    def until(self, condition, what):
        assert self.advance(SOON, condition), f'{what}: {self.state} {self.faults}'

    def hold(self):
        """Arm with a fresh command of zero."""
        self.allow(True)
        self.command(np.zeros(3), 0)
        assert self.arm() == 'armed'

    def targets(self):
        return [d.drive.target for d in self.far.cards.drives]

    def states(self):
        return {d.drive.state for d in self.far.cards.drives}


@pytest.fixture
def link(monkeypatch, virtual_time):
    link = Link(virtual_time)
    monkeypatch.setattr(card_link, 'open_bus', lambda address: link.far)
    monkeypatch.setattr(can_bus, 'SDO_TIMEOUT', 0.1)
    yield link
    link.close()
    assert not [t for t in threading.enumerate() if t.name in ('sync', 'sdo')]


def test_a_connected_link_publishes_joints_and_enables_nothing(link):
    link.connect()
    link.until(lambda: len(link.joints) > 10, 'joints')
    joints, stamps = zip(*link.joints, strict=True)
    assert np.all(np.diff(stamps) > 0)
    for values in joints[-1]:
        assert values.shape == (3,) and np.all(values == 0.0)
    assert link.states() <= {DriveState.SWITCH_ON_DISABLED, DriveState.READY_TO_SWITCH_ON}
    assert not any(torque or word & 0x0F == 0x0F for _, word, torque in link.far.orders())
    assert link.state == ArmState.DISARMED and [i.serial for i in link.identities][3] == 2001


def test_arming_needs_leave_and_a_fresh_command_of_zero(link):
    with pytest.raises(Refused, match='closed'):
        link.arm()
    link.connect()
    with pytest.raises(Refused, match='not active'):
        link.arm()
    link.allow(True)
    with pytest.raises(Refused, match='no fresh wheel_effort'):
        link.arm()
    link.command(PUSH, 0)
    with pytest.raises(Refused, match='0.2'):
        link.arm()
    assert DriveState.OPERATION_ENABLED not in link.states()
    link.hold()
    assert link.states() == {DriveState.OPERATION_ENABLED} and link.targets() == [0, 0, 0]


def test_torques_are_those_of_the_newest_command(link):
    link.connect()
    link.hold()
    for scale in (3.0, 0.5, 1.0):
        link.command(scale * PUSH, 0)
    # 1.232 N·m are 1000; rounded towards zero
    link.until(lambda: link.targets() == [81, 162, -243], 'torques')
    with pytest.raises(ValueError, match='finite'):
        link.command(np.array([0.1, np.nan, 0.1]), 0)
    with pytest.raises(ValueError):
        link.command(np.zeros(4), 0)
    count = link._loop.cycles
    link.until(lambda: link._loop.cycles > count + 3, 'cycles')
    assert link.targets() == [81, 162, -243]


def test_commands_are_known_by_the_stamp_that_they_answer(link):
    link.connect()
    link.until(lambda: link.joints, 'joints')
    assert link._loop.answered == 0
    link.command(np.zeros(3), 12345)
    assert link._loop.answered == 0
    stamp = link.joints[-1][1]
    link.command(np.zeros(3), stamp)
    link.command(np.zeros(3), stamp)
    assert link._loop.answered == 1
    assert link.metrics()['answered'] == 1
    link.reset_statistics()
    assert link.metrics()['answered'] == 0


@pytest.mark.parametrize('end', ['disarm', 'close', 'allow'])
def test_whoever_lets_go_takes_the_torque_first(link, end):
    link.connect()
    link.hold()
    link.command(PUSH, 0)
    link.until(lambda: all(link.targets()), 'torques')
    {'disarm': link.disarm, 'close': link.close, 'allow': lambda: link.allow(False)}[end]()
    link.until(lambda: link.targets() == [0, 0, 0], 'no torque')
    link.until(lambda: link.states() == {DriveState.SWITCH_ON_DISABLED}, 'no voltage') \
        if end != 'close' else None
    assert DriveState.OPERATION_ENABLED not in link.states()


def test_closing_lets_the_drives_go_before_the_devices_leave(link):
    link.connect()
    link.hold()
    link.close()
    tail = [(m.arbitration_id, bytes(m.data)) for m in link.far.sent][-15:]
    assert [number for number, _ in tail[:9]] == [0x201, 0x202, 0x203] * 3
    # no word of the farewell enables, none has torque
    assert all(data[0] & 0x0F != 0x0F and data[2:] == b'\0\0' for _, data in tail[:9])
    assert tail[9:] == [(0, bytes([0x80, node])) for node in (1, 2, 3, 11, 12, 13)]
    assert link.far.closed and link.metrics()['bus'] == 'closed'
    assert {d.state for d in link.far.cards.devices.values()} == {NmtState.PRE_OPERATIONAL}
    link.close()
    with pytest.raises(Refused, match='~/recover'):
        link.quick_stop()


def test_an_interface_that_does_not_come_back_is_closed_and_named(link, monkeypatch):
    monkeypatch.setattr(cycle_loop, 'STOP_WITHIN', 0.1)
    link.connect()
    # receiving hangs, as with a driver that is broken, until the bus is shut down
    stuck, free = threading.Event(), threading.Event()
    link.far.on_receive = lambda timeout: (stuck.set(), free.wait())
    monkeypatch.setattr(link.far, 'shutdown', free.set)
    assert stuck.wait(SOON)
    with pytest.raises(TimeoutError, match='interface blocks'):
        link.close()
    assert free.is_set()
    link.until(lambda: not [t for t in threading.enumerate() if t.name == 'sync'], 'the end')


@pytest.mark.parametrize('fault, words', [
    ('silence:encoder2', ['steering_joint_2 (node 12)', 'silent']),
    ('reboot:drive1', ['wheel_joint_1 (node 1)', 'restarted']),
    ('emcy=0x3210:drive3', ['wheel_joint_3 (node 3)', '3210h', 'over-voltage']),
    ('sto:drive2', ['wheel_joint_2 (node 2)', 'STO']),
    ('duplicate_id:drive2', ['wheel_joint_2 (node 2)', 'node id'])])
def test_no_torque_is_sent_after_a_fault_of_any_device(link, fault, words):
    link.connect()
    link.hold()
    link.command(PUSH, 0)
    link.until(lambda: all(link.targets()), 'torques')
    with link._loop.lock:
        # nothing is ordered meanwhile; what is sent from here on is an answer to the fault
        link.far.cards.inject(fault)
    syncs = link.far.cards.syncs
    link.until(lambda: link.far.cards.syncs > syncs + 3, 'three more cycles')
    link.far.sent.clear()
    link.command(PUSH, 0)
    link.until(lambda: link.state == ArmState.FAULT, 'the fault')
    count = link._loop.cycles
    link.until(lambda: link._loop.cycles > count + 5, 'cycles')
    assert not any(torque for _, _, torque in link.far.orders())
    text = '; '.join(link.faults)
    assert all(word in text for word in words), text
    # the drives that still hear have let go
    assert all(d.drive.state != DriveState.OPERATION_ENABLED for d in link.far.cards.drives
               if d.connected)
    with pytest.raises(Refused):
        link.arm()


def test_a_position_that_cannot_be_is_a_fault_of_its_encoder(link):
    link.connect()
    link.hold()
    link.far.cards.encoders[1].live[0x6004, 0] = lambda: 4096
    link.until(lambda: link.state == ArmState.FAULT, 'the fault')
    assert 'steering_joint_2 (node 12)' in link.faults[0] and '4096' in link.faults[0]
    assert 'encoders.range' in link.faults[0]


def test_a_device_that_lost_its_configuration_gets_it_again(link):
    link.connect()
    link.hold()
    link.far.cards.inject('reboot:encoder3 reboot:drive1')
    link.until(lambda: link.state == ArmState.FAULT, 'the fault')
    link.until(lambda: all(d.alive for d in link.far.cards.devices.values()), 'power')
    assert link.far.cards.drives[0].value(0x1016, 1) == 0
    assert link.recover() == 'disarmed'
    assert link.far.cards.drives[0].value(0x1016, 1) == 127 << 16 | 2000
    link.hold()


def test_what_a_jump_has_done_to_the_joints_is_forgotten_when_it_is_recovered_from(link):
    link.connect()
    link.hold()
    link.far.cards.inject('encoder_jump=1800:encoder3')
    link.until(lambda: link.state == ArmState.FAULT, 'the fault')
    watch = link._loop._sensing._watch
    assert link.recover() == 'disarmed'
    link.until(lambda: link._loop._sensing._watch is not watch, 'a fresh watch')
    link.hold()


def test_a_bus_that_breaks_is_a_fault_and_recovering_opens_it_again(link, monkeypatch):
    link.connect()
    link.hold()
    link.far.down = 'unplugged'
    link.until(lambda: any('unplugged' in f for f in link.faults), 'the fault of the bus')
    broken, link.far = link.far, CardsBus(PATIENT.period)

    def gone(address):
        raise BusError(f'CAN bus {address}: gone')

    with monkeypatch.context() as patched:
        patched.setattr(card_link, 'open_bus', gone)
        with pytest.raises(BusError, match='gone'):
            link.recover()
        assert broken.closed and link.state == ArmState.FAULT
        with pytest.raises(BusError, match='gone'):
            link.recover()
    assert link.recover() == 'disarmed'
    link.hold()


def test_recovering_is_refused_while_a_device_is_missing(link):
    link.connect()
    link.hold()
    link.far.cards.inject('silence:drive2')
    link.until(lambda: link.state == ArmState.FAULT, 'the fault')
    with pytest.raises(ConfigurationError, match='wheel_joint_2'):
        link.recover()
    assert link.state == ArmState.FAULT
    link.far.cards.drives[1].connected = True
    assert link.recover() == 'disarmed'


def test_a_link_that_cannot_be_configured_is_closed_and_may_be_tried_again(link):
    link.far.cards.drives[2].connected = False
    with pytest.raises(ConfigurationError, match='wheel_joint_3'):
        link.connect()
    assert link.far.closed and link.metrics()['bus'] == 'closed'
    link.far.cards.drives[2].connected = True
    link.connect()
    link.hold()


def test_a_cycle_that_was_held_up_leaves_deadlines_out_and_is_not_made_up_for(
        link, virtual_time):
    link.connect()
    link.hold()
    link.command(PUSH, 0)
    link.reset_statistics()
    begin, count = time.monotonic(), link._loop.cycles
    stalls = iter([0.1])
    link.far.on_receive = lambda timeout: virtual_time.sleep(next(stalls, 0.0))
    link.advance(0.25)
    cycles, took = link._loop.cycles - count, time.monotonic() - begin
    # 0.1 s are 20 periods
    assert link._loop.overruns >= 18
    assert cycles + 18 <= PATIENT.rate * took + 2
    # nobody but the computer itself was late
    assert link.state == ArmState.ARMED


def test_the_end_of_the_cycles_thread_lets_the_drives_go_and_is_told(link):
    link.connect()
    link.hold()

    def broken(joints, stamp):
        raise RuntimeError('publisher is gone')

    link._loop._publish = broken
    link.until(lambda: link.failure is not None, 'the failure')
    assert 'publisher is gone' in str(link.failure)
    link.until(lambda: DriveState.OPERATION_ENABLED not in link.states(), 'no torque')
    with pytest.raises(Refused):
        link.arm()


def test_the_heartbeat_of_the_master_is_sent(link):
    link.connect()
    link.until(lambda: any(m.arbitration_id == 0x77F for m in list(link.far.sent)), 'heartbeat')
    assert {bytes(m.data) for m in list(link.far.sent) if m.arbitration_id == 0x77F} == {b'\x05'}


def test_arming_that_takes_too_long_is_a_fault_that_names_the_drive(monkeypatch, virtual_time):
    link = Link(virtual_time, replace(PATIENT, arming_timeout=0.3))
    monkeypatch.setattr(card_link, 'open_bus', lambda address: link.far)
    link.connect()
    try:
        # it hears, and never comes
        link.far.cards.drives[1].drive.command = lambda word: None
        link.allow(True)
        link.command(np.zeros(3), 0)
        with pytest.raises(Refused, match=r'wheel_joint_2 \(node 2\).*OPERATION_ENABLED'):
            link.arm()
        assert link.state == ArmState.FAULT
    finally:
        link.close()
