# SPDX-License-Identifier: Apache-2.0
"""A master for tests that has nothing to do with the suite's own: bytes by hand, no threads."""

import struct

import can

from c3p_hardware.emulator.cards import EmulatedCards
from c3p_simulation.make_plant import make_plant

DRIVES, ENCODERS, MASTER = (1, 2, 3), (11, 12, 13), 127
PERIOD = 0.005


class Master:
    """Drives emulated cards on a virtual bus; time passes only when it says so."""

    def __init__(self, name, robot='c3p', settings=None, faults='', **start):
        self.bus = can.Bus(name, interface='virtual')
        self.theirs = can.Bus(name, interface='virtual')
        plant = make_plant('analytic', robot)
        plant.reset(**start)
        self.cards = EmulatedCards(self.theirs, plant, settings, faults)
        self.received, self.log = {}, []
        self.collect()

    def close(self):
        self.bus.shutdown()
        self.theirs.shutdown()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, number, data=b''):
        self.bus.send(can.Message(arbitration_id=number, data=data, is_extended_id=False))

    def collect(self):
        """Take what the devices have sent; return it in order."""
        new = []
        while (message := self.bus.recv(0)) is not None:
            new.append((message.arbitration_id, bytes(message.data)))
        self.received.update(new)
        self.log += [(round(self.cards.time, 6), *frame) for frame in new]
        return new

    def advance(self, seconds=0.001):
        self.cards.advance(seconds)
        return self.collect()

    def sdo(self, node, index, subindex=0, value=None, code='<I'):
        """Read or write an object; returns the value, or the abort code as a negative number."""
        if value is None:
            request = struct.pack('<BHB4x', 0x40, index, subindex)
        else:
            data = struct.pack(code, value)
            request = struct.pack('<BHB4s', 0x23 | 4 - len(data) << 2, index, subindex, data)
        self.send(0x600 + node, request)
        ((_, answer),) = [f for f in self.advance() if f[0] == 0x580 + node]
        assert struct.unpack_from('<HB', answer, 1) == (index, subindex)
        if answer[0] == 0x80:
            return -struct.unpack_from('<I', answer, 4)[0]
        if value is not None:
            return value
        size = 4 - (answer[0] >> 2 & 3)
        return int.from_bytes(answer[4:4 + size], 'little', signed=code.islower())

    def map(self, node, communication, cob, kind, entries, timer=0):
        """Map a PDO in the order of CiA 301; every answer must be good."""
        mapping = communication + 0x200
        steps = [(communication, 1, cob | 1 << 31, '<I'), (mapping, 0, 0, '<B'),
                 *((mapping, k, entry, '<I') for k, entry in enumerate(entries, 1)),
                 (mapping, 0, len(entries), '<B'), (communication, 2, kind, '<B'),
                 (communication, 5, timer, '<H'), (communication, 1, cob, '<I')]
        for index, subindex, value, code in steps:
            assert self.sdo(node, index, subindex, value, code) == value, f'{index:04X}'

    def configure(self, heartbeat_ms=150, abort=3):
        """Configure all devices as the contract of the suite says, and start them."""
        for node in DRIVES:
            self.map(node, 0x1800, 0x180 + node, 1, (0x60410010, 0x60640020, 0x60770010))
            self.map(node, 0x1801, 0x280 + node, 255,
                     (0x60610008, 0x603F0010, 0x60790020, 0x20300008), timer=100)
            self.map(node, 0x1400, 0x200 + node, 255, (0x60400010, 0x60710010))
            for index, value, code in ((0x6007, abort, '<h'), (0x605A, 2, '<h'),
                                       (0x605E, 0, '<h'), (0x6060, 10, '<b')):
                assert self.sdo(node, index, 0, value, code) == value
        for node in ENCODERS:
            self.map(node, 0x1800, 0x180 + node, 1, (0x60040020, 0x65030010, 0x65050010))
        for node in (*DRIVES, *ENCODERS):
            assert self.sdo(node, 0x1016, 1, MASTER << 16 | heartbeat_ms) >= 0
            assert self.sdo(node, 0x1017, 0, 50, '<H') == 50
            assert self.sdo(node, 0x1029, 1, 0, '<B') == 0
        self.send(0, b'\x01\x00')
        self.beat()
        self.advance()

    def beat(self):
        self.send(0x700 + MASTER, b'\x05')

    def command(self, word, permille=(0, 0, 0)):
        for node, torque in zip(DRIVES, permille, strict=True):
            self.send(0x200 + node, struct.pack('<Hh', word, torque))

    def cycle(self, word, permille=(0, 0, 0), beat=True, silent=False):
        """Do one cycle of PERIOD; returns what the samples tell."""
        if beat:
            self.beat()
        self.send(0x80)
        self.advance(PERIOD / 5)
        if not silent:
            self.command(word, permille)
        self.advance(PERIOD * 4 / 5)

    def enable(self):
        for word in (0x06, 0x07, 0x0F):
            self.cycle(word)

    def drive(self, node):
        """Return statusword, position and torque of the newest sample."""
        return struct.unpack('<Hih', self.received[0x180 + node])

    def encoder(self, node):
        """Return position, alarms and warnings of the newest sample."""
        return struct.unpack('<IHH', self.received[0x180 + node])

    def states(self):
        """Return the state bits of the drives."""
        return [self.drive(node)[0] & 0x6F for node in DRIVES]
