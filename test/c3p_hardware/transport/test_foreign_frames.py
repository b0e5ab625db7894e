# SPDX-License-Identifier: Apache-2.0
"""Frames that only the master may send: foreign ones are a fault, an echo of its own is none."""

import can
import canopen
import pytest
from card_network import SETTINGS
from test_card_bus import ORDERS, ScriptedBus, frame, samples

from c3p_hardware.canopen.process_data import DRIVE_COMMAND
from c3p_hardware.devices import Drive, Encoder
from c3p_hardware.transport.can_bus import EchoProbe
from c3p_hardware.transport.card_bus import CardBus, OwnFrames

WRITE = bytes([0x2F, 0x60, 0x60, 0, 8, 0, 0, 0])  # modes of operation := 8
READ = bytes([0x40, 0x00, 0x10, 0, 0, 0, 0, 0])

# every identifier that only the master sends, with bytes that it could have
COMMANDS = [(0x000, b'\x01\x00', 'network management'), (0x080, b'', 'SYNC'),
            (0x77F, b'\x05', 'heartbeat of this node'),
            *((base + node, DRIVE_COMMAND.pack(15, 900), f'wheel_joint_{node} (node {node})')
              for base in (0x200, 0x300, 0x400, 0x500) for node in (1, 2, 3)),
            *((0x600 + node, WRITE, f'(node {node})') for node in (1, 2, 3, 11, 12, 13))]


class EchoingBus(ScriptedBus):
    """A bus that returns every frame, marked as received like an adapter does that loops back."""

    def send(self, message, timeout=None):
        super().send(message, timeout)
        self.coming.append(can.Message(arbitration_id=message.arbitration_id, data=message.data,
                                       is_extended_id=False))


def bus_of(kind=ScriptedBus, echoes=False):
    bus = CardBus(kind(), SETTINGS, [Drive.of(d) for d in SETTINGS.drives],
                  [Encoder.of(e) for e in SETTINGS.encoders], echoes)
    bus.begin(0.0)
    return bus


def cycle(bus, *foreign):
    """Let a cycle pass with foreign frames in it; return what is wrong with the bus."""
    bus.sync()
    bus.bus.coming.extend([*samples(), *foreign])
    bus.heartbeat()
    bus.receive(0.0, until_complete=False)
    bus.order(ORDERS)
    bus.receive(0.0, until_complete=False)
    return bus.own.problem()


@pytest.mark.parametrize(('number', 'data', 'meaning'), COMMANDS)
def test_one_foreign_command_is_a_fault_that_names_identifier_count_and_remedy(
        number, data, meaning):
    bus = bus_of()
    assert cycle(bus) is None
    found = cycle(bus, frame(number, data))
    assert (found.device, found.kind, found.configure) == ('bus', 'foreign_command', True)
    assert f'{number:03X}h' in found.text and meaning in found.text and ' 1 times' in found.text
    assert 'stop the other master' in found.remedy and '~/recover' in found.remedy
    assert bus.foreign == bus.malformed == 0
    # until the devices have been configured again
    assert cycle(bus) is not None
    bus.begin(1.0)
    assert cycle(bus) is None


def test_frames_are_counted_by_identifier():
    bus = bus_of()
    found = cycle(bus, *[frame(0x201, DRIVE_COMMAND.pack(15, 900))] * 20, frame(0x080))
    assert ('201h (command to the drive of wheel_joint_1 (node 1)) 20 times, 080h (SYNC) 1 times'
            in found.text)


@pytest.mark.parametrize('harmless', [
    frame(0x601, READ), frame(0x601, b'\x60' + bytes(7)), frame(0x601, WRITE[:5]),
    frame(0x604, WRITE), frame(0x204, bytes(4)), frame(0x77E, b'\x05'),
    frame(0x201, bytes(4), is_extended_id=True), frame(0x080, is_remote_frame=True),
    frame(0x000, b'\x01\x00', is_error_frame=True)])
def test_reading_other_nodes_and_other_kinds_of_frames_are_no_fault(harmless):
    assert cycle(bus_of(), harmless) is None


def test_an_echo_is_no_fault_and_hides_no_foreign_command():
    bus = bus_of(EchoingBus, echoes=True)
    for _ in range(50):
        assert cycle(bus) is None
    # even an exact copy of what was sent is one too many
    copy = frame(0x201, ORDERS[0].pack())
    assert '201h' in cycle(bus, copy).text
    bus.begin(1.0)
    assert '080h' in cycle(bus, frame(0x080)).text


def test_without_knowledge_of_the_echo_it_is_taken_for_a_second_master():
    assert '080h' in cycle(bus_of(EchoingBus)).text


def test_frames_that_the_interface_marks_as_its_own_are_an_echo():
    assert cycle(bus_of(), frame(0x080, is_rx=False), frame(0x201, bytes(4), is_rx=False)) is None


def test_echoes_that_got_lost_are_forgotten():
    own = OwnFrames(SETTINGS, echoes=True)
    for torque in (1, 2, 3):
        own.sent(frame(0x201, DRIVE_COMMAND.pack(15, torque)))
    assert own.received(frame(0x201, DRIVE_COMMAND.pack(15, 3))) and own.problem() is None
    assert own.received(frame(0x201, DRIVE_COMMAND.pack(15, 1))) and own.problem() is not None


@pytest.mark.parametrize('answer', ['echo', 'silence', 'another frame'])
def test_the_probe_tells_a_bus_that_echoes(answer):
    network = canopen.Network()

    def send(number, data, remote=False):
        if answer != 'silence':
            network.notify(number, data if answer == 'echo' else bytes(8), 0.0)

    network.send_message = send
    assert EchoProbe(network, 127).echoes == (answer == 'echo')
