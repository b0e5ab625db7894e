# SPDX-License-Identifier: Apache-2.0
"""
Process data of an emulated device, configured by SDO in the order of CiA 301.

To change a mapping the PDO is disabled (bit 31 of its COB-ID), the number of its entries set to 0,
the entries written, their number set, and the PDO enabled again. Any other order is rejected with
the abort code of a real device. CiA 301, 7.5.2.35 to 7.5.2.38.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from canopen import LocalNode, ObjectDictionary
from canopen.objectdictionary import ODVariable
from canopen.sdo import SdoAbortedError

from c3p_hardware.canopen.process_data import PDO_DISABLED

EXTENDED = 1 << 29
IDENTIFIER = 0x7FF
FIRST_EVENT_TYPE = 254  # and 255; 1 to 240 are synchronous, 0 is on change at a SYNC

NOT_MAPPABLE = 0x06040041
TOO_LONG = 0x06040042
NO_SUCH_OBJECT = 0x06020000
BAD_VALUE = 0x06090030
WRONG_STATE = 0x08000022

MOST_BITS = 64
CODES = {8: 'B', 16: 'H', 32: 'I', 64: 'Q'}
SIGNED_TYPES = (0x02, 0x03, 0x04)


def variable(objects: ObjectDictionary, index: int, subindex: int) -> ODVariable:
    """Return the description of an object; KeyError if it is not in the dictionary."""
    found = objects.get_variable(index, subindex)
    if found is None:
        raise KeyError(f'{index:04X}h:{subindex}: the device has no such object')
    return found


def default(objects: ObjectDictionary, index: int, subindex: int) -> int:
    """Return the number that an object has after a reset; KeyError as `variable`."""
    return variable(objects, index, subindex).default or 0


class Pdo:
    """
    Parameters of one PDO, in its two objects.

    Parameters
    ----------
    node : LocalNode
        For defaults, types and mappable objects of its dictionary.
    communication, mapping : int
        Indices of the objects, 1400h and 1600h or 1800h and 1A00h.

    Attributes
    ----------
    entries : list of (index, subindex)
    layout : struct.Struct
    """

    def __init__(self, node: LocalNode, communication: int, mapping: int) -> None:
        """Read the defaults of the dictionary."""
        self._node = node
        self.communication = communication
        self.mapping = mapping
        self.restart()

    def restart(self) -> None:
        """Return to the defaults."""
        objects = self._node.object_dictionary
        first = self.communication
        second = self.mapping
        self._cob, self.kind = default(objects, first, 1), default(objects, first, 2)
        self._inhibit, self._timer = default(objects, first, 3), default(objects, first, 5)
        self._count = default(objects, second, 0)
        self._maps = [default(objects, second, k) for k in range(1, 9)]
        self._compile()
        self.clear()

    def clear(self) -> None:
        """Drop sent and received data."""
        self.last: bytes | None = None
        self.waiting: bytes | None = None
        self.moved = -1e9
        self.syncs = 0

    @property
    def enabled(self) -> bool:
        """The PDO is enabled."""
        return not self._cob & PDO_DISABLED

    @property
    def cob_id(self) -> int:
        """Identifier of its frames."""
        return self._cob & IDENTIFIER

    @property
    def on_event(self) -> bool:
        """The PDO is independent of SYNC."""
        return self.kind >= FIRST_EVENT_TYPE

    @property
    def inhibit(self) -> float:
        """Shortest time between two frames, s; the object counts 100 µs."""
        return 1e-4 * self._inhibit

    @property
    def timer(self) -> float:
        """Longest time between two frames, s; 0 is off."""
        return 1e-3 * self._timer

    def write(self, index: int, subindex: int, value: int) -> None:
        """Write one of the objects; SdoAbortedError in a wrong order or for an invalid mapping."""
        if index == self.mapping:
            self._write_mapping(subindex, value)
        elif subindex == 1:
            changed = (value ^ self._cob) & IDENTIFIER
            if value & EXTENDED or self.enabled and not value & PDO_DISABLED and changed:
                raise SdoAbortedError(BAD_VALUE)
            self._cob = value
        elif subindex == 2:
            if 240 < value < FIRST_EVENT_TYPE:
                raise SdoAbortedError(BAD_VALUE)
            self.kind = value
        elif subindex == 3:
            if self.enabled:
                raise SdoAbortedError(WRONG_STATE)
            self._inhibit = value
        elif subindex == 5:
            self._timer = value
        self.clear()

    def _write_mapping(self, subindex: int, value: int) -> None:
        if self.enabled or subindex and self._count:
            raise SdoAbortedError(WRONG_STATE)
        if subindex:
            self._check(value)
            self._maps[subindex - 1] = value
            return
        if sum(entry & 0xFF for entry in self._maps[:value]) > MOST_BITS:
            raise SdoAbortedError(TOO_LONG)
        for entry in self._maps[:value]:
            self._check(entry)
        self._count = value
        self._compile()

    def _check(self, entry: int) -> None:
        """Reject an entry without a matching object of the dictionary."""
        index = entry >> 16
        subindex = entry >> 8 & 0xFF
        bits = entry & 0xFF
        objects = self._node.object_dictionary
        if index not in objects:
            raise SdoAbortedError(NO_SUCH_OBJECT)
        found = objects.get_variable(index, subindex)
        if found is None or not found.pdo_mappable or len(found) != bits:
            raise SdoAbortedError(NOT_MAPPABLE)

    def _compile(self) -> None:
        self.entries = []
        codes = '<'
        for entry in self._maps[:self._count]:
            index = entry >> 16
            subindex = entry >> 8 & 0xFF
            bits = entry & 0xFF
            found = variable(self._node.object_dictionary, index, subindex)
            code = CODES[bits]
            codes += code.lower() if found.data_type in SIGNED_TYPES else code
            self.entries.append((index, subindex))
        self.layout = struct.Struct(codes)


class TransmitPdo(Pdo):
    """A PDO that the device sends."""

    def data(self, read: Callable[[int, int], int]) -> bytes:
        """Return its data, with the values of `read` (index, subindex)."""
        return self.layout.pack(*(read(index, subindex) for index, subindex in self.entries))

    def due(self, data: bytes, now: float) -> bool:
        """Return True when an event-driven PDO with this `data` must be sent at `now`, s."""
        passed = now - self.moved
        # rounding must not postpone the event timer
        return (data != self.last and passed >= self.inhibit
                or self.timer > 0 and passed >= self.timer - 1e-9)

    def synchronous(self) -> bool:
        """Count a SYNC; return True when the PDO responds to it."""
        self.syncs += 1
        return self.kind == 0 or not self.on_event and self.syncs % self.kind == 0


class ReceivePdo(Pdo):
    """A PDO that the device receives."""

    def take(self, data: bytes, now: float, write: Callable[[int, int, int], None]) -> bool:
        """
        Take a frame at `now`; `write` its values (index, subindex, value) now or at the next SYNC.

        False for a frame shorter than the mapping, which is an error.
        """
        if len(data) < self.layout.size:
            return False
        self.moved = now
        if self.on_event:
            self.act(data, write)
        else:
            self.waiting = bytes(data)
        return True

    def act(self, data: bytes, write: Callable[[int, int, int], None]) -> None:
        """Write the values in `data`, as `take`."""
        values = self.layout.unpack_from(data)
        for (index, subindex), value in zip(self.entries, values, strict=True):
            write(index, subindex, value)

    def overdue(self, now: float) -> bool:
        """Return True when received frames have stopped for longer than the timer."""
        return self.enabled and self.timer > 0 and self.moved >= 0 and (
            now - self.moved > self.timer)
