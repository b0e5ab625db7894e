# SPDX-License-Identifier: Apache-2.0
"""The emulated cards in a process of their own, over a pseudo terminal; then one that pauses."""

import os
import struct
import subprocess
import sys
import threading

import can
import pytest

from c3p_hardware.emulator.cards import EmulatedCards
from c3p_hardware.transport.serial_can import FastSerialBus
from c3p_simulation.make_plant import make_plant

# the machine may stand still for a while; nothing takes longer unless it is broken, s
PATIENCE = 60.0

SERVE = """
import sys, threading
from c3p_hardware.emulator.cards import EmulatedCards
from c3p_hardware.transport.serial_can import PtyBus
from c3p_simulation.make_plant import make_plant
plant = make_plant('analytic', 'c3p')
plant.step([0, 0, 0], 0.001)
with PtyBus(sys.argv[1]) as bus:
    cards = EmulatedCards(bus, plant)
    print('ready', flush=True)
    cards.run(threading.Event())
"""


@pytest.fixture
def served(tmp_path):
    """Return (process, channel) of emulated cards."""
    channel = str(tmp_path / 'can')
    process = subprocess.Popen([sys.executable, '-c', SERVE, channel], stdout=subprocess.PIPE,
                               text=True)
    try:
        assert process.stdout.readline() == 'ready\n'
        yield process, channel
    finally:
        process.kill()
        process.wait(PATIENCE)
        process.stdout.close()


def send(bus, number, data=b''):
    bus.send(can.Message(arbitration_id=number, data=data, is_extended_id=False))


def await_frame(bus, wanted):
    """Return the data of the next frame for which `wanted` (identifier, data) holds."""
    while (message := bus.recv(PATIENCE)) is not None:
        if wanted(message.arbitration_id, bytes(message.data)):
            return bytes(message.data)
    raise AssertionError('the frame did not come')


def write(bus, node, index, subindex, value, code='<I'):
    data = struct.pack(code, value)
    send(bus, 0x600 + node, struct.pack('<BHB4s', 0x23 | 4 - len(data) << 2, index, subindex,
                                        data))
    answer = await_frame(bus, lambda number, _: number == 0x580 + node)
    assert answer[0] == 0x60, answer.hex()


def read(bus, node, index, subindex=0):
    send(bus, 0x600 + node, struct.pack('<BHB4x', 0x40, index, subindex))
    answer = await_frame(bus, lambda number, _: number == 0x580 + node)
    assert answer[0] != 0x80, answer.hex()
    return int.from_bytes(answer[4:8 - (answer[0] >> 2 & 3)], 'little')


def start(bus, node=1, patience_ms=0):
    """Configure one drive, which waits for heartbeats so long, and enable it in torque mode."""
    for index, subindex, value, code in (
            (0x1800, 1, 0xC0000180 + node, '<I'), (0x1A00, 0, 0, '<B'),
            (0x1A00, 1, 0x60410010, '<I'), (0x1A00, 2, 0x60640020, '<I'), (0x1A00, 0, 2, '<B'),
            (0x1800, 2, 1, '<B'), (0x1800, 1, 0x40000180 + node, '<I'),
            (0x1400, 1, 0x80000200 + node, '<I'), (0x1600, 0, 0, '<B'),
            (0x1600, 1, 0x60400010, '<I'), (0x1600, 2, 0x60710010, '<I'), (0x1600, 0, 2, '<B'),
            (0x1400, 1, 0x200 + node, '<I'), (0x6007, 0, 3, '<h'), (0x6060, 0, 10, '<b'),
            (0x1016, 1, 127 << 16 | patience_ms, '<I')):
        write(bus, node, index, subindex, value, code)
    send(bus, 0, b'\x01\x00')
    for word in (0x06, 0x07, 0x0F):
        send(bus, 0x200 + node, struct.pack('<Hh', word, 0))
    assert sample(bus, node)[0] & 0x6F == 0x27


def sample(bus, node=1):
    """Return statusword and position of a drive at a new SYNC."""
    send(bus, 0x77F, b'\x05')
    send(bus, 0x80)
    return struct.unpack('<Hi', await_frame(bus, lambda number, _: number == 0x180 + node))


@pytest.mark.real_time
def test_a_drive_turns_its_wheel_over_the_bus(served):
    with FastSerialBus(served[1]) as bus:
        start(bus)
        send(bus, 0x201, struct.pack('<Hh', 0x0F, 100))
        while sample(bus)[1] < 200:
            pass


@pytest.mark.real_time
def test_a_killed_master_stops_the_drive_and_the_next_finds_it_off(served):
    code = ('import sys; sys.path.insert(0, sys.argv[2])\n'
            'from test_cards_processes import FastSerialBus, start, send, sample, struct\n'
            'bus = FastSerialBus(sys.argv[1])\n'
            'start(bus, patience_ms=3000)\n'
            "send(bus, 0x201, struct.pack('<Hh', 0x0F, 100))\n"
            "print('driving', flush=True)\n"
            'while True: sample(bus)\n')
    master = subprocess.Popen([sys.executable, '-c', code, served[1], os.path.dirname(__file__)],
                              stdout=subprocess.PIPE, text=True)
    try:
        assert master.stdout.readline() == 'driving\n'
        master.kill()
        master.wait(PATIENCE)
        with FastSerialBus(served[1]) as bus:
            while read(bus, 1, 0x6041) & 0x6F != 0x40:
                pass
            # as if nothing had been
            send(bus, 0, b'\x01\x00')
            for _ in range(20):
                send(bus, 0x201, struct.pack('<Hh', 0x0F, 100))
                assert read(bus, 1, 0x6077) == 0 and read(bus, 1, 0x6041) & 0x6F == 0x40
    finally:
        master.kill()
        master.wait(PATIENCE)
        master.stdout.close()


@pytest.fixture
def here(virtual_time):
    """Return (bus, cards): the cards follow the virtual clock in a thread."""
    bus, theirs = (can.Bus('paused cards', interface='virtual') for _ in range(2))
    cards, over = EmulatedCards(theirs, make_plant('analytic', 'c3p')), threading.Event()
    thread = threading.Thread(target=cards.run, args=(over,))
    thread.start()
    yield bus, cards
    over.set()
    thread.join()
    bus.shutdown()
    theirs.shutdown()


def test_stopped_cards_go_on_where_they_were(here, virtual_time):
    bus, cards = here
    start(bus, patience_ms=2000)
    before, when = sample(bus)[1], cards.time
    for _ in range(50):  # these wait, and only the newest is answered
        send(bus, 0x77F, b'\x05')
        send(bus, 0x80)
    virtual_time.stall(2.5)  # longer than the drive waits for a heartbeat
    word, position = struct.unpack('<Hi', await_frame(bus, lambda n, _: n == 0x181))
    # no command could arrive meanwhile: the time has not passed for the robot
    assert word & 0x6F == 0x27 and position == before
    assert cards.pauses == 1 and cards.time - when < 0.1
    more = 0
    while (message := bus.recv(0.2)) is not None:
        more += message.arbitration_id == 0x181
    assert more == 0 and cards.missed_syncs == 49
