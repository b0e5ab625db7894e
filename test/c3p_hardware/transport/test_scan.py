# SPDX-License-Identifier: Apache-2.0
"""Who is on the bus, on emulated cards; nothing but SDO reads may be sent."""

import threading
import time
from types import SimpleNamespace

import can
import pytest

from c3p_bringup.cli.can import scan_text
from c3p_description.reading.loader import load
from c3p_hardware.axes import card_settings
from c3p_hardware.canopen.process_data import heartbeat_id, sdo_answer_id, sdo_request_id
from c3p_hardware.emulator.cards import EmulatedCards, EmulatedDevices
from c3p_hardware.tools.parameter_file import hardware_values
from c3p_hardware.transport.can_bus import open_bus
from c3p_hardware.transport.scan import DOUBLED, FoundNode, _count_beats, scan
from c3p_simulation.make_plant import make_plant

# faults take a moment: within this time a scan tells of them, s
LISTEN, PATIENCE = 0.1, 30.0


class Room:
    """Cards in a thread, a bus to scan, and somebody who writes down what is asked."""

    def __init__(self, name, faults='', settings=None):
        self.bus, self.theirs, self.spy = (can.Bus(name, interface='virtual') for _ in range(3))
        self.cards = EmulatedCards(self.theirs, make_plant('analytic', 'c3p'), settings, faults)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self.cards.run, args=(self._over,))
        self._thread.start()

    def scan(self, until=lambda found: True, **parameters):
        """Scan until it holds."""
        settings = card_settings(load('c3p'), hardware_values(**parameters))
        give_up = time.monotonic() + PATIENCE
        while not until(found := scan(self.bus, settings, LISTEN)):
            assert time.monotonic() < give_up, found
        return found

    def close(self):
        self._over.set()
        self._thread.join()
        for bus in (self.bus, self.theirs, self.spy):
            bus.shutdown()


@pytest.fixture
def room(request, virtual_time):
    rooms = []

    def make(faults='', settings=None):
        rooms.append(Room(request.node.name, faults, settings))
        return rooms[0]

    yield make
    for one in rooms:
        one.close()


def test_all_devices_are_found_with_what_they_are_and_nothing_is_written(room):
    bench = room()
    found = bench.scan(lambda f: not f.problems and not any(n.notes for n in f.nodes))
    assert found.problems == [] and not found.master and found.sync_rate == 0.0
    assert [n.node_id for n in found.nodes] == [1, 2, 3, 11, 12, 13]
    assert [n.serial for n in found.nodes] == [1001, 1002, 1003, 2001, 2002, 2003]
    drive, encoder = found.nodes[0], found.nodes[3]
    assert drive.kind == 'drive (CiA 402): servo drive' and drive.product == 402
    assert drive.values == pytest.approx({
        'heartbeat_period_s': 0.0, 'error_register': 0, 'state': 'SWITCH_ON_DISABLED',
        'mode': 'none (0)', 'rated_torque_nm': 0.11, 'encoder_counts': 2000.0,
        'link_voltage_v': 24.0})
    assert encoder.values['counts_per_turn'] == 4096 and encoder.values['position_counts'] == 0
    text = scan_text('here', found, 127)
    assert 'rated torque 0.11 N·m, encoder counts 2000, link voltage 24 V' in text
    assert text.endswith('all devices match the parameters')
    asked = []
    while (message := bench.spy.recv(0)) is not None:
        if message.arbitration_id < sdo_answer_id(1) or message.arbitration_id > 0x600:
            asked.append(message)
    # requests to read (40h), what an answer that is segmented needs, and no other frame
    ours = [m for m in asked if sdo_request_id(1) <= m.arbitration_id <= sdo_request_id(127)]
    assert len(ours) > 126 and {m.data[0] for m in ours} == {0x40}
    assert {m.arbitration_id for m in asked} - {m.arbitration_id for m in ours} <= {
        heartbeat_id(n.node_id) for n in found.nodes}


@pytest.mark.parametrize(('faults', 'settings', 'parameters', 'says'), [
    ('power_cut:encoder3', None, {}, 'encoder of steering_joint_3 (node 13): missing; check its'),
    ('power_cut:all', None, {}, 'no device responds: check power, cable, termination'),
    ('', EmulatedDevices(drive_ids=(1, 2, 4)), {},
     'node 4: drive (CiA 402): servo drive, not in the'),
    ('', None, {'drives.serial_numbers': [1001, 7, 1003]}, '(1018h:4) is 1002, not 7'),
    ('', None, {'drives.rated_torque': [0.2]}, 'rated torque (6076h) is 0.1100 N·m, drives.'),
    ('', None, {'drives.encoder_counts': [500]}, 'has 2000 counts a turn (608Fh), drives.enc'),
    ('', None, {'encoders.counts': [1024]}, 'it has 4096 in 6001h, encoders.counts is'),
    ('', None, {'encoders.range': [8192]}, 'it has 4096 in 6002h, encoders.range is 8192'),
    ('', None, {'drives.node_ids': [11, 2, 3], 'encoders.node_ids': [1, 12, 13]},
     'it is encoder (CiA 406): single-turn absolute (1000h:0), not a device of CiA 402'),
])
def test_what_is_not_as_the_parameters_say_is_told(room, faults, settings, parameters, says):
    bench = room(faults, settings)
    found = bench.scan(lambda f: any(says in p for p in f.problems), **parameters)
    assert 'WRONG: ' in scan_text('here', found, 127)


def test_an_error_and_an_alarm_are_notes(room):
    bench = room('emcy=0x2310:drive1 emcy=0x5530:encoder2 sto:drive2')
    found = bench.scan(lambda f: {n.node_id for n in f.nodes if n.notes} == {1, 2, 12})
    notes = {n.node_id: n.notes for n in found.nodes}
    assert notes[1] == ['its last error is continuous over-current (2310h)']
    assert notes[2] == ['no voltage at its power stage: motor supply off, or STO']
    assert notes[12] == ['position error: the position is not valid']
    assert notes[3] == []


def test_a_running_master_and_its_sync_are_heard(room):
    bench, over = room(), threading.Event()

    def master():
        while not over.wait(0.02):
            for number, data in ((heartbeat_id(127), b'\x05'), (0x80, b'')):
                bench.spy.send(can.Message(arbitration_id=number, data=data,
                                           is_extended_id=False))

    thread = threading.Thread(target=master)
    thread.start()
    try:
        found = bench.scan(lambda f: f.master and f.sync_rate)
    finally:
        over.set()
        thread.join()
    assert found.master and found.sync_rate > 0
    assert 'a hardware interface is running: heartbeat of node 127' in scan_text('x', found, 127)
    # the master itself is no device
    assert 127 not in [n.node_id for n in found.nodes]


def test_two_answers_to_one_question_are_two_devices(room):
    bench, over = room(), threading.Event()

    def twin():
        """A second device with node id 2, which answers whatever it is asked."""
        while not over.is_set():
            message = bench.spy.recv(0.02)
            if message is not None and message.arbitration_id == sdo_request_id(2):
                data = bytes((0x43, *message.data[1:4], 0x92, 0x01, 0x02, 0x00))
                bench.spy.send(can.Message(arbitration_id=sdo_answer_id(2), data=data,
                                           is_extended_id=False))

    thread = threading.Thread(target=twin)
    thread.start()
    try:
        found = bench.scan(lambda f: any('two devices' in p for p in f.problems))
    finally:
        over.set()
        thread.join()
    assert [n.node_id for n in found.nodes if n.answers > 1] == [2]


@pytest.mark.parametrize(('beats', 'two'), [(10, False), (14, False), (20, True), (3, False)])
def test_more_heartbeats_than_one_device_sends_are_two(beats, two):
    node = FoundNode(2, 'OPERATIONAL', values={'heartbeat_period_s': 0.05}, answers=1)
    _count_beats(node, beats, 0.5)
    assert (node.answers == 2) == two and DOUBLED * 10 == 15


def test_a_bus_that_cannot_be_opened_says_how():
    address = SimpleNamespace(interface='serial', channel='/nowhere', bitrate=1)
    with pytest.raises(ValueError, match='start the program at the other end first'):
        open_bus(address)
