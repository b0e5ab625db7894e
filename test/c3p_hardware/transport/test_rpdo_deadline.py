# SPDX-License-Identifier: Apache-2.0
"""A drive whose commands are lost stops by itself, where it has the object for it."""

from dataclasses import replace

import can
import pytest
from canopen.sdo import SdoAbortedError
from card_network import SETTINGS, CardNetwork, CardsBus

from c3p_hardware.canopen.cia402 import DriveState
from c3p_hardware.canopen.process_data import DRIVE_COMMAND, SYNC_ID, heartbeat_id, rpdo
from c3p_hardware.settings import CardError
from c3p_hardware.transport.configure import configure, start

DRIVES = ('wheel_joint_1', 'wheel_joint_2', 'wheel_joint_3')


@pytest.fixture
def network():
    return CardNetwork()


def deadlines(network):
    """Return what was written to 1400h:5 of each node."""
    return {node: int.from_bytes(data, 'little')
            for node, index, subindex, data in network.writes if (index, subindex) == (0x1400, 5)}


@pytest.mark.parametrize(('changes', 'milliseconds'), [
    ({}, 150), ({'heartbeat_timeout': 5.0}, 5000), ({'rpdo_deadline': 0.04}, 40),
    ({'rate': 10.0, 'silence_timeout': 1.0}, 300)])
def test_the_deadline_is_the_heartbeats_or_what_is_asked_for(network, changes, milliseconds):
    found = configure(network, replace(SETTINGS, **changes))
    assert deadlines(network) == dict.fromkeys((1, 2, 3), milliseconds)
    assert not any(identity.lacks for identity in found)


def test_switched_off_the_object_is_left_alone(network):
    found = configure(network, replace(SETTINGS, rpdo_deadline=0.0))
    assert deadlines(network) == {} and not any(identity.lacks for identity in found)


def test_a_drive_without_the_object_is_configured_and_says_what_it_lacks(network):
    def absent():
        raise SdoAbortedError(0x06090011)

    network.cards.drives[1].live[0x1400, 5] = absent
    found = configure(network, SETTINGS)
    assert sorted(deadlines(network)) == [1, 3]
    assert [bool(identity.lacks) for identity in found] == [False, True, False] + [False] * 3
    assert '1400h:5' in found[1].lacks and 'rpdo_deadline' in found[1].lacks


def test_a_deadline_that_one_late_command_passes_is_refused():
    with pytest.raises(CardError, match='rpdo_deadline = 0.012 s: must be at least 3 cycles'):
        replace(SETTINGS, rpdo_deadline=0.012)


class Master:
    """Configured cards that get SYNC, heartbeats and commands of a torque, cycle by cycle."""

    def __init__(self):
        network = CardNetwork()
        configure(network, SETTINGS)
        start(network, SETTINGS)
        self.cards, self.inbox, self.network = network.cards, network._inbox.waiting, network
        self.emergencies = []
        for node in (1, 2, 3):
            network.subscribe(0x80 + node, lambda number, data, _: self.emergencies.append(
                (number - 0x80, int.from_bytes(data[:2], 'little'))))

    def cycles(self, seconds, word=15, torque=200):
        for _ in range(round(seconds / SETTINGS.period)):
            frames = [(SYNC_ID, b''), (heartbeat_id(127), b'\x05')]
            frames += [(rpdo(1, node), DRIVE_COMMAND.pack(word, torque)) for node in (1, 2, 3)]
            for number, data in frames:
                self.inbox.append(can.Message(arbitration_id=number, data=data,
                                              is_extended_id=False))
            self.cards.advance(SETTINGS.period)

    def states(self):
        return [d.drive.state for d in self.cards.drives]


def test_a_drive_that_gets_no_commands_stops_although_sync_and_heartbeat_pass():
    master = Master()
    for word in (6, 7, 15):
        master.cycles(0.02, word, 0)
    assert master.states() == [DriveState.OPERATION_ENABLED] * 3
    master.cycles(0.5)
    assert not master.emergencies
    master.cards.inject('orders_lost:drive2+1')
    master.cycles(0.14)
    assert master.states() == [DriveState.OPERATION_ENABLED] * 3 and not master.emergencies
    master.cycles(0.03)
    assert master.emergencies == [(2, 0x8250)]
    assert master.states()[1] in (DriveState.QUICK_STOP_ACTIVE, DriveState.SWITCH_ON_DISABLED)
    assert [s for i, s in enumerate(master.states()) if i != 1] == [
        DriveState.OPERATION_ENABLED] * 2
    # commands that come back enable nothing, nor does the drive give torque
    master.cycles(1.5)
    assert master.states()[1] == DriveState.SWITCH_ON_DISABLED
    assert master.cards.drives[1].drive.torque_actual == 0


def test_after_it_was_configured_again_the_error_is_gone():
    master = Master()
    for word in (6, 7, 15):
        master.cycles(0.02, word, 0)
    master.cards.inject('orders_lost:drive2+0.3')
    master.cycles(0.6)
    assert master.cards.drives[1].drive.error_code == 0x8250
    configure(master.network, SETTINGS)
    start(master.network, SETTINGS)
    master.cycles(0.1, 6, 0)
    drive = master.cards.drives[1]
    assert drive.drive.error_code == 0 and drive.register == 0
    for word in (7, 15):
        master.cycles(0.02, word, 0)
    assert master.states()[1] == DriveState.OPERATION_ENABLED


def test_what_another_master_orders_is_heard_by_the_drive_and_on_the_bus():
    bus = CardsBus()
    heard = []
    bus.cards.drives[0]._send = lambda number, data: heard.append((number, bytes(data)))
    bus.cards.inject('second_master=700:drive1+0.01')
    bus.cards.advance(0.02)
    assert heard.count((0x201, DRIVE_COMMAND.pack(15, 700))) == 10
