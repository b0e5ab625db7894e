# SPDX-License-Identifier: Apache-2.0
"""What devices hold after they were configured, and every reason for which one is refused."""

import re
import socket
from dataclasses import replace

import pytest
from canopen.sdo import SdoAbortedError
from card_network import ROBOT, SETTINGS, UNITS, CardNetwork, with_drive, with_encoder

from c3p_hardware.canopen.cia301 import NmtState
from c3p_hardware.canopen.cia402 import DriveState
from c3p_hardware.canopen.process_data import heartbeat_id
from c3p_hardware.settings import CardSettings
from c3p_hardware.transport import can_bus
from c3p_hardware.transport import configure as configuring
from c3p_hardware.transport.can_bus import BusAddress, BusError, open_bus
from c3p_hardware.transport.configure import ConfigurationError, configure, start

# remedy where the kernel has CAN, and where it has none
try:
    socket.socket(socket.AF_CAN, socket.SOCK_RAW, socket.CAN_RAW).close()
    NO_CAN = 'ip link set can_none up'
except (OSError, AttributeError):
    NO_CAN = 'this kernel has no CAN'

# an answer is there before it is waited for: only who stays silent takes this long, s
SDO_TIMEOUT = 0.01


@pytest.fixture
def network(monkeypatch):
    """Fresh cards, whose answers need no time."""
    monkeypatch.setattr(can_bus, 'SDO_TIMEOUT', SDO_TIMEOUT)
    monkeypatch.setattr(configuring, 'START_WITHIN', SDO_TIMEOUT)
    monkeypatch.setattr(configuring, 'MODE_WITHIN', SDO_TIMEOUT)
    return CardNetwork()


def held(device):
    """Return a function of (index, subindex) that tells what a device holds."""
    return lambda index, subindex=0: device.value(index, subindex)


# the objects of CiA 301 and CiA 402 by number, written out by hand; `n` is the node id
DRIVE_HOLDS = {
    (0x1016, 1): lambda n: 127 << 16 | 150, (0x1017, 0): lambda n: 50, (0x1029, 1): lambda n: 0,
    (0x6007, 0): lambda n: 3, (0x605A, 0): lambda n: 2, (0x605E, 0): lambda n: 0,
    (0x6060, 0): lambda n: 10, (0x6061, 0): lambda n: 10, (0x6071, 0): lambda n: 0,
    # 1.2 N·m of 0.11·14·0.8 N·m, rounded so that the limit is not exceeded
    (0x6072, 0): lambda n: 974, (0x6073, 0): lambda n: 974,
    (0x1800, 1): lambda n: 0x180 + n, (0x1800, 2): lambda n: 1, (0x1A00, 0): lambda n: 3,
    (0x1A00, 1): lambda n: 0x60410010, (0x1A00, 2): lambda n: 0x60640020,
    (0x1A00, 3): lambda n: 0x60770010,
    (0x1801, 1): lambda n: 0x280 + n, (0x1801, 2): lambda n: 255, (0x1801, 5): lambda n: 100,
    (0x1A01, 0): lambda n: 4, (0x1A01, 1): lambda n: 0x60610008,
    (0x1A01, 2): lambda n: 0x603F0010, (0x1A01, 3): lambda n: 0x60790020,
    (0x1A01, 4): lambda n: 0x20300008,
    (0x1400, 1): lambda n: 0x200 + n, (0x1400, 2): lambda n: 255, (0x1600, 0): lambda n: 2,
    (0x1600, 1): lambda n: 0x60400010, (0x1600, 2): lambda n: 0x60710010,
    (0x1401, 1): lambda n: 1 << 31 | 0x300 + n,
}
ENCODER_HOLDS = {
    (0x1017, 0): lambda n: 50,
    (0x1800, 1): lambda n: 0x180 + n, (0x1800, 2): lambda n: 1, (0x1A00, 0): lambda n: 3,
    (0x1A00, 1): lambda n: 0x60040020, (0x1A00, 2): lambda n: 0x65030010,
    (0x1A00, 3): lambda n: 0x65050010,
    (0x1801, 1): lambda n: 1 << 31 | 0x280 + n,
}


def test_devices_hold_what_is_asked_and_say_who_they_are(network):
    found = configure(network, SETTINGS)
    for device in (*network.cards.drives, *network.cards.encoders):
        wanted = DRIVE_HOLDS if device in network.cards.drives else ENCODER_HOLDS
        holds = held(device)
        assert {key: holds(*key) for key in wanted} == {
            key: value(device.id) for key, value in wanted.items()}, device.name
        assert device.state == NmtState.PRE_OPERATIONAL
    assert [i.serial for i in found] == [1001, 1002, 1003, 2001, 2002, 2003]
    assert [i.name for i in found] == [d.name for d in (*SETTINGS.drives, *SETTINGS.encoders)]
    start(network, SETTINGS)
    assert {d.state for d in network.cards.devices.values()} == {NmtState.OPERATIONAL}


def test_a_holding_brake_is_closed_unmasked_and_commanded(network):
    configure(network, with_drive(0, brake=True))
    drive = network.cards.drives[0]
    assert [drive.value(0x60FE, k) for k in (1, 2)] == [1, 1]
    assert [drive.value(0x1600, k) for k in range(4)] == [
        3, 0x60400010, 0x60710010, 0x60FE0120]
    start(network, with_drive(0, brake=True))
    # of the frame on the wire: open, and closed
    for outputs in (0, 1):
        drive.receive(0x201, bytes([0, 0, 0, 0, outputs, 0, 0, 0]), 0.0)
        assert drive.drive.outputs == outputs


def test_a_drive_that_coasts_when_its_master_is_lost_is_told_so(network):
    configure(network, replace(SETTINGS, quick_stop=False))
    # 2: disable voltage; what ends by itself in any case is the quick stop option
    assert [d.drive.abort_option for d in network.cards.drives] == [2, 2, 2]
    assert all(0 <= d.drive.quick_stop_option <= 4 for d in network.cards.drives)


def test_times_of_the_settings_reach_the_drives(network):
    configure(network, replace(SETTINGS, heartbeat_period=0.2, heartbeat_timeout=1.5,
                               master_id=100))
    for drive in network.cards.drives:
        assert drive.value(0x1016, 1) == 100 << 16 | 1500 and drive.value(0x1017, 0) == 200


def test_nothing_is_written_but_what_is_needed_and_never_a_preset_or_a_controlword(network):
    configure(network, SETTINGS)
    start(network, SETTINGS)
    written = {(index, sub) for _, index, sub, _ in network.writes}
    assert {w for w in written if w[0] >= 0x6000} == {
        (index, 0) for index in (0x6007, 0x605A, 0x605E, 0x6060, 0x6071, 0x6072, 0x6073)}
    assert {w[0] for w in written if w[0] < 0x6000} == {
        0x1016, 0x1017, 0x1029, 0x1400, 0x1401, 0x1600, 0x1800, 0x1801, 0x1A00, 0x1A01}
    # an encoder's zero is kept in software: 6003h would make it depend on where it was written
    assert not any(index == 0x6003 for _, index, _, _ in network.writes)
    assert {d.drive.state for d in network.cards.drives} == {DriveState.SWITCH_ON_DISABLED}


def test_only_devices_of_the_settings_are_commanded(network):
    two = CardSettings(SETTINGS.drives[:2], SETTINGS.encoders[:2])
    configure(network, two)
    start(network, two)
    # node 0 would be all devices, also those of somebody else
    assert {node for node, _ in network.commands} == {1, 2, 11, 12}
    assert {node for node, *_ in network.writes} == {1, 2, 11, 12}


def test_a_robot_may_be_configured_again_whatever_state_it_is_in(network):
    for _ in range(2):
        configure(network, SETTINGS)
        start(network, SETTINGS)
    assert {d.state for d in network.cards.devices.values()} == {NmtState.OPERATIONAL}


@pytest.mark.parametrize('missing', [[(0x6073, 0)], [(0x608F, 1), (0x608F, 2)],
                                     [(0x1018, sub) for sub in (2, 3, 4)], [(0x1401, 1)]])
def test_objects_that_a_device_need_not_have_may_be_missing(network, missing):
    def absent(index, subindex, od):
        if (index, subindex) in missing:
            raise SdoAbortedError(0x06020000)

    network.cards.drives[1].node._read_callbacks.insert(0, absent)
    found = configure(network, SETTINGS)
    start(network, SETTINGS)
    assert len(found) == 6
    assert not any((index, sub) in missing for node, index, sub, _ in network.writes
                   if node == 2)


def refused(network, settings, *words):
    """Assert that configuring is refused with all these words, in a text of one line."""
    with pytest.raises(ConfigurationError) as refusal:
        configure(network, settings)
        start(network, settings)
    text = str(refusal.value)
    lacking = [word for word in words if word not in text]
    assert not lacking, f'{lacking} not in {text!r}'
    assert '\n' not in text
    return text


# a drive and an encoder have each other's node ids
SWAPPED = replace(SETTINGS, drives=(replace(SETTINGS.drives[0], node_id=11), *SETTINGS.drives[1:]),
                  encoders=(replace(SETTINGS.encoders[0], node_id=1), *SETTINGS.encoders[1:]))


@pytest.mark.parametrize('settings, words', [
    (with_drive(1, node_id=4), ['drive of wheel_joint_2 (node 4)', '1000h', 'no response',
                                'c3p can scan']),
    (with_encoder(2, node_id=99), ['encoder of steering_joint_3 (node 99)', '1000h', 'no response',
                                   'check power']),
    (SWAPPED, ['drive of wheel_joint_1 (node 11)', '1000h', '406', 'CiA 402',
               'check the node ids']),
    (with_drive(2, serial=77), ['drive of wheel_joint_3 (node 3)', '1018h:4', '1003', '77',
                                'replaced', 'drives.serial_numbers']),
    (with_encoder(0, serial=2002), ['encoder of steering_joint_1 (node 11)', '1018h:4', '2001',
                                    '2002', 'c3p can zero', 'encoders.serial_numbers']),
    (with_drive(0, units=replace(UNITS, rated_torque=0.2)),
     ['wheel_joint_1 (node 1)', '6076h', '0.1100 N·m', '0.2000 N·m', 'drives.rated_torque']),
    (with_drive(0, units=replace(UNITS, counts=4000)),
     ['wheel_joint_1 (node 1)', '608Fh', '2000', '4000', 'drives.encoder_counts']),
    (with_encoder(1, counts=8192), ['steering_joint_2 (node 12)', '6001h', '4096', '8192',
                                    'encoders.counts']),
    (with_encoder(1, span=65536), ['steering_joint_2 (node 12)', '6002h', '4096', '65536',
                                   'encoders.range']),
])
def test_settings_that_do_not_fit_the_devices_are_refused(network, settings, words):
    refused(network, settings, *words)


def test_a_rated_torque_that_differs_by_rounding_alone_is_taken(network):
    configure(network, with_drive(0, units=replace(UNITS, rated_torque=0.1105)))


def test_a_drive_without_cyclic_torque_is_refused(network):
    network.cards.drives[1].live[0x6502, 0] = lambda: 0b101
    refused(network, SETTINGS, 'wheel_joint_2 (node 2)', '6502h:0 = 5h',
            'cyclic synchronous torque', 'profile position', 'profile velocity', 'use a drive')


def test_a_drive_that_takes_the_mode_but_shows_another_is_refused(network):
    network.cards.inject('wrong_mode=8:drive3')
    refused(network, SETTINGS, 'wheel_joint_3 (node 3)', '6061h', 'cyclic synchronous position',
            'cyclic synchronous torque', 'manual')


def test_a_drive_may_take_a_moment_to_show_its_mode(network, monkeypatch):
    monkeypatch.setattr(configuring, 'MODE_WITHIN', 10.0)
    shown = iter([0, 0, 8, 10])
    network.cards.drives[0].live[0x6061, 0] = lambda: next(shown)
    configure(network, SETTINGS)
    assert next(shown, 'all') == 'all'


# what a watchdog or a torque limit rests on, with a value that it must not have
UNSAFE = [((0x1016, 1), 0), ((0x1017, 0), 0), ((0x1029, 1), 1), ((0x6007, 0), 0),
          ((0x605A, 0), 6), ((0x605A, 0), 5), ((0x605E, 0), 2), ((0x6072, 0), 3000),
          ((0x6073, 0), 3000), ((0x6060, 0), 8), ((0x6071, 0), 5)]
MAPPED = [((0x1A00, 1), 0x60640020), ((0x1A00, 0), 2), ((0x1800, 2), 255), ((0x1800, 1), 0x181),
          ((0x1801, 5), 0), ((0x1600, 2), 0x60FF0020), ((0x1600, 0), 1), ((0x1400, 2), 1)]


@pytest.mark.parametrize('key, value', UNSAFE + MAPPED)
def test_a_value_that_does_not_stay_is_refused(network, key, value):
    """605Ah above 4 would let a drive stay in quick stop, from where one word enables it."""
    network.cards.drives[1].live[key] = lambda: value
    refused(network, SETTINGS, 'wheel_joint_2 (node 2)', f'{key[0]:04X}h:{key[1]}',
            f'reads {value:#x} after', "manufacturer's tool")


@pytest.mark.parametrize('key', [(0x1017, 0), (0x1A00, 2), (0x1800, 2)])
def test_a_value_of_an_encoder_that_does_not_stay_is_refused(network, key):
    network.cards.encoders[2].live[key] = lambda: 7
    refused(network, SETTINGS, 'steering_joint_3 (node 13)', f'{key[0]:04X}h:{key[1]}',
            'reads 0x7 after')


@pytest.mark.parametrize('key', [k for k, _ in UNSAFE if k not in ((0x605A, 0),)]
                         + [(0x605A, 0), (0x1800, 1), (0x1A00, 1), (0x1600, 0)])
def test_a_device_that_refuses_a_value_is_refused(network, key):
    def refuse(index, subindex, od, data):
        if (index, subindex) == key:
            raise SdoAbortedError(0x08000022)

    network.cards.drives[0].node._write_callbacks.insert(0, refuse)
    text = refused(network, SETTINGS, 'wheel_joint_1 (node 1)', f'{key[0]:04X}h:{key[1]}',
                   'rejected', 'in this state of the device', 'manual')
    # what was to be written
    assert re.search(r'writing \S+ ', text), text


@pytest.mark.parametrize('key', [(0x1000, 0), (0x6502, 0), (0x6076, 0), (0x6072, 0), (0x6061, 0)])
def test_a_device_without_an_object_that_it_must_have_is_refused(network, key):
    def absent(index, subindex, od):
        if (index, subindex) == key:
            raise SdoAbortedError(0x06020000)

    network.cards.drives[0].node._read_callbacks.insert(0, absent)
    refused(network, SETTINGS, 'wheel_joint_1 (node 1)', f'{key[0]:04X}h:{key[1]}', 'rejected',
            'manual')


@pytest.mark.parametrize('device, name', [('drive2', 'wheel_joint_2 (node 2)'),
                                          ('encoder1', 'steering_joint_1 (node 11)')])
def test_a_silent_device_is_refused(network, device, name):
    network.cards.inject(f'silence:{device}')
    network.cards.advance(0.01)
    refused(network, SETTINGS, name, 'no response', 'check power, cable')


def test_a_device_that_falls_silent_in_the_middle_is_refused(network):
    drive = network.cards.drives[1]

    def fall_silent(index, subindex, od, data):
        if index == 0x6060:
            drive.connected = False

    drive.node.add_write_callback(fall_silent)
    refused(network, SETTINGS, 'wheel_joint_2 (node 2)', '6060h', 'no response')


def test_a_device_whose_number_is_too_short_is_refused(network):
    network.cards.drives[0].live[0x6076, 0] = lambda: bytes(1)
    refused(network, SETTINGS, 'wheel_joint_1 (node 1)', '6076h:0', '1 bytes, not 4', 'manual')


def test_a_device_that_does_not_start_is_refused(network):
    network.cards.encoders[1].command = lambda command, now: None
    refused(network, SETTINGS, 'steering_joint_2 (node 12)', 'OPERATIONAL', 'one master')


def test_a_heartbeat_of_another_state_does_not_count_as_started(network):
    configure(network, SETTINGS)
    network.cards.drives[0].command = lambda command, now: None
    for state in (NmtState.PRE_OPERATIONAL, NmtState.INITIALISING, NmtState.STOPPED):
        network.notify(heartbeat_id(1), bytearray([state]), 0.0)
    with pytest.raises(ConfigurationError, match='wheel_joint_1'):
        start(network, SETTINGS)


@pytest.mark.parametrize('address, words', [
    (BusAddress('serial', '/nowhere/tty'), ['serial:/nowhere/tty', 'start the program at']),
    (BusAddress('socketcan', 'can_none'), ['socketcan:can_none', NO_CAN]),
    (BusAddress('carrier_pigeon', 'x'), ['carrier_pigeon:x', 'bus.interface']),
    (BusAddress('slcan', '/nowhere/tty'), ['slcan:/nowhere/tty', 'bus.channel']),
])
def test_a_bus_that_is_not_there_is_named_with_what_to_do(address, words):
    with pytest.raises(BusError) as error:
        open_bus(address)
    lacking = [word for word in words if word not in str(error.value)]
    assert not lacking, f'{lacking} not in {error.value}'
    assert '\n' not in str(error.value)


def test_the_settings_are_those_of_the_robot():
    """The table above rests on it."""
    assert ROBOT.count == 3 and ROBOT.torque_limit == pytest.approx([1.2] * 3)
