# SPDX-License-Identifier: Apache-2.0
"""
What the frames of one cycle carry, and their identifiers.

SYNC → three encoder and three drive samples → three drive commands: ten frames. A layout packs
and unpacks eight bytes, and gives the numbers that a mapping object (1600h, 1A00h) must hold for
the device to agree. Identifiers are those of the predefined connection set. CiA 301, 7.2.2.4,
7.3.3 and 7.5.2.35.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

# identifiers that belong to no node
NMT_ID = 0x000
SYNC_ID = 0x080

MAX_NODE_ID = 127
MAX_PDO_NUMBER = 4
MAX_PDO_BYTES = 8

# transmission types of the objects 1400h+ and 1800h+, subindex 2
EVERY_SYNC = 1
ON_EVENT = 255
# bit 31 of subindex 1: this PDO is not used
PDO_DISABLED = 1 << 31

# struct codes of unsigned numbers; small letters are signed
_CODES = {8: 'B', 16: 'H', 32: 'I', 64: 'Q'}


@dataclass(frozen=True)
class Entry:
    """
    One object in a PDO.

    Attributes
    ----------
    index : int
        Of the object dictionary, 0x0001 to 0xFFFF.
    subindex : int
        0 to 255.
    bits : int
        8, 16, 32 or 64: whole bytes, so that a layout is a struct.
    signed : bool
    name : str
        For errors and tables.
    """

    index: int
    subindex: int
    bits: int
    signed: bool = False
    name: str = ''

    def __post_init__(self) -> None:
        """Refuse what no mapping can express."""
        if not (0 < self.index <= 0xFFFF and 0 <= self.subindex <= 0xFF):
            raise ValueError(f'object {self.index:04X}h:{self.subindex}: index must be 1 to FFFFh '
                             'and subindex 0 to 255')
        if self.bits not in _CODES:
            raise ValueError(f'object {self.index:04X}h:{self.subindex} has {self.bits} bits: '
                             f'must be one of {sorted(_CODES)}')

    @property
    def mapping(self) -> int:
        """The u32 that maps it: index, subindex and bits as ``iiii ss bb``, CiA 301, 7.5.2.36."""
        return self.index << 16 | self.subindex << 8 | self.bits

    @property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest value."""
        if self.signed:
            return -(1 << self.bits - 1), (1 << self.bits - 1) - 1
        return 0, (1 << self.bits) - 1

    def __str__(self) -> str:
        """Return name and object, as ``statusword (6041h:0)``."""
        return f'{self.name or "object"} ({self.index:04X}h:{self.subindex})'


@dataclass(frozen=True)
class PdoLayout:
    """
    Entries one after the other, little endian, without gaps.

    >>> DRIVE_COMMAND.pack(0x0F, -1).hex(' ')
    '0f 00 ff ff'
    >>> DRIVE_COMMAND.unpack(bytes.fromhex('0f00ffff'))
    (15, -1)
    >>> [f'{m:08X}' for m in DRIVE_COMMAND.mappings]
    ['60400010', '60710010']

    Attributes
    ----------
    name : str
        For errors.
    entries : tuple of Entry
        At most 8 bytes together.
    size : int, bytes
    """

    name: str
    entries: tuple[Entry, ...]
    size: int = field(init=False)
    _struct: struct.Struct = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the struct."""
        entries = tuple(self.entries)
        codes = (_CODES[e.bits].lower() if e.signed else _CODES[e.bits] for e in entries)
        compiled = struct.Struct('<' + ''.join(codes))
        if not 0 < compiled.size <= MAX_PDO_BYTES:
            raise ValueError(f'{self.name} has {compiled.size} bytes: a PDO carries 1 to '
                             f'{MAX_PDO_BYTES}')
        object.__setattr__(self, 'entries', entries)
        object.__setattr__(self, 'size', compiled.size)
        object.__setattr__(self, '_struct', compiled)

    @property
    def mappings(self) -> tuple[int, ...]:
        """The numbers of subindices 1, 2, … of its mapping object."""
        return tuple(e.mapping for e in self.entries)

    def pack(self, *values: int) -> bytes:
        """
        Return the bytes of `values`, one per entry.

        Raises
        ------
        ValueError
            Too few or many values, or one that its entry cannot hold: nothing is clipped here.
        """
        try:
            return self._struct.pack(*values)
        except struct.error:
            raise ValueError(self._complaint(values)) from None

    def unpack(self, data: bytes | bytearray | memoryview) -> tuple[int, ...]:
        """
        Return the values in `data`, one per entry.

        Raises
        ------
        ValueError
            Not exactly `size` bytes: the device maps something else.
        """
        try:
            return self._struct.unpack(data)
        except struct.error:
            raise ValueError(f'{self.name} came with {len(bytes(data))} bytes: must be '
                             f'{self.size}; the device has another PDO mapping, configure it '
                             'again') from None

    def _complaint(self, values: tuple[int, ...]) -> str:
        """Return why `values` cannot be packed."""
        if len(values) != len(self.entries):
            return f'{self.name} takes {len(self.entries)} values, not {len(values)}'
        for entry, value in zip(self.entries, values, strict=True):
            low, high = entry.limits
            if not isinstance(value, int) or not low <= value <= high:
                return (f'{self.name}: {entry} = {value!r}: must be a whole number from {low} to '
                        f'{high}')
        return f'{self.name}: {values} cannot be packed'


STATUSWORD = Entry(0x6041, 0, 16, False, 'statusword')
POSITION_ACTUAL = Entry(0x6064, 0, 32, True, 'position actual value')
TORQUE_ACTUAL = Entry(0x6077, 0, 16, True, 'torque actual value')
CONTROLWORD = Entry(0x6040, 0, 16, False, 'controlword')
TARGET_TORQUE = Entry(0x6071, 0, 16, True, 'target torque')
MODE_DISPLAY = Entry(0x6061, 0, 8, True, 'modes of operation display')
ERROR_CODE = Entry(0x603F, 0, 16, False, 'error code')
LINK_VOLTAGE = Entry(0x6079, 0, 32, False, 'DC link circuit voltage')
ENCODER_POSITION = Entry(0x6004, 0, 32, False, 'position value')
ENCODER_ALARMS = Entry(0x6503, 0, 16, False, 'alarms')
ENCODER_WARNINGS = Entry(0x6505, 0, 16, False, 'warnings')

# a drive, at every SYNC: statusword, counts, permille of rated torque
DRIVE_SAMPLE = PdoLayout('DRIVE_SAMPLE', (STATUSWORD, POSITION_ACTUAL, TORQUE_ACTUAL))
# to a drive, acts on receipt: controlword, permille of rated torque
DRIVE_COMMAND = PdoLayout('DRIVE_COMMAND', (CONTROLWORD, TARGET_TORQUE))
# an absolute encoder, at every SYNC: counts, alarms, warnings
ENCODER_SAMPLE = PdoLayout('ENCODER_SAMPLE', (ENCODER_POSITION, ENCODER_ALARMS, ENCODER_WARNINGS))


def drive_health(temperature_index: int = 0x2030, temperature_subindex: int = 0) -> PdoLayout:
    """
    Return the slow PDO of a drive: mode, error code, link voltage [mV], temperature [°C].

    Parameters
    ----------
    temperature_index, temperature_subindex : int
        The profile has no temperature; every manufacturer has an own object, here of 8 bits,
        signed.
    """
    temperature = Entry(temperature_index, temperature_subindex, 8, True, 'temperature')
    return PdoLayout('DRIVE_HEALTH', (MODE_DISPLAY, ERROR_CODE, LINK_VOLTAGE, temperature))


def tpdo(number: int, node_id: int) -> int:
    """Return the identifier of transmit PDO `number`, 1 to 4: 180h, 280h, … + `node_id`."""
    return 0x80 + 0x100 * _pdo_number(number) + _node(node_id)


def rpdo(number: int, node_id: int) -> int:
    """Return the identifier of receive PDO `number`, 1 to 4: 200h, 300h, … + `node_id`."""
    return 0x100 + 0x100 * _pdo_number(number) + _node(node_id)


def emergency_id(node_id: int) -> int:
    """Return the identifier of emergency messages: 80h + `node_id`."""
    return 0x80 + _node(node_id)


def heartbeat_id(node_id: int) -> int:
    """Return the identifier of heartbeats and boot-up messages: 700h + `node_id`."""
    return 0x700 + _node(node_id)


def sdo_request_id(node_id: int) -> int:
    """Return the identifier of SDO requests to a node: 600h + `node_id`."""
    return 0x600 + _node(node_id)


def sdo_answer_id(node_id: int) -> int:
    """Return the identifier of SDO answers of a node: 580h + `node_id`."""
    return 0x580 + _node(node_id)


def _node(node_id: int) -> int:
    """Return a checked node id."""
    if not 1 <= node_id <= MAX_NODE_ID:
        raise ValueError(f'node id = {node_id}: must be 1 to {MAX_NODE_ID}')
    return node_id


def _pdo_number(number: int) -> int:
    """Return a checked number of a PDO."""
    if not 1 <= number <= MAX_PDO_NUMBER:
        raise ValueError(f'PDO number = {number}: only 1 to {MAX_PDO_NUMBER} have a standard '
                         'identifier')
    return number
