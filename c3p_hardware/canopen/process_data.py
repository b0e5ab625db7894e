# SPDX-License-Identifier: Apache-2.0
"""
Process data of one cycle: identifiers, layouts of the frames, units of a drive's numbers.

SYNC → three encoder and three drive samples → three drive commands: ten frames. A layout packs
and unpacks up to eight bytes, and gives the numbers of the mapping object (1600h, 1A00h) of the
device. Identifiers are those of the predefined connection set. CiA 301, 7.2.2.4, 7.3.3 and
7.5.2.35.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field, replace
from functools import cached_property

# identifiers without a node
NMT_ID = 0x000
SYNC_ID = 0x080

MAX_NODE_ID = 127
MAX_PDO_NUMBER = 4
# axes of one card: each transmits two PDOs
MAX_CHANNEL = 2
MAX_PDO_BYTES = 8

# objects of the first channel, and distance of those of the next; the same of its PDOs
FIRST_PROFILE_OBJECT, CHANNEL_OBJECTS, CHANNEL_PDOS = 0x6000, 0x800, 0x40

# transmission types of the objects 1400h+ and 1800h+, subindex 2
EVERY_SYNC = 1
ON_EVENT = 255
# bit 31 of subindex 1: this PDO is disabled
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
        In the object dictionary, 0x0001 to 0xFFFF.
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
        """Reject values that a mapping cannot express."""
        if not (0 < self.index <= 0xFFFF and 0 <= self.subindex <= 0xFF):
            raise ValueError(f'object {self.index:04X}h:{self.subindex}: index must be 1 to FFFFh '
                             'and subindex 0 to 255')
        if self.bits not in _CODES:
            raise ValueError(f'object {self.index:04X}h:{self.subindex} has {self.bits} bits: '
                             f'must be one of {sorted(_CODES)}')

    @property
    def mapping(self) -> int:
        """u32 of the mapping object, ``iiii ss bb``: index, subindex, bits; CiA 301, 7.5.2.36."""
        return self.index << 16 | self.subindex << 8 | self.bits

    def __str__(self) -> str:
        """Return name, object and type, as ``statusword (6041h:0, u16)``."""
        kind = 'i' if self.signed else 'u'
        return f'{self.name or "object"} ({self.index:04X}h:{self.subindex}, {kind}{self.bits})'


@dataclass(frozen=True)
class PdoLayout:
    """
    Consecutive entries, little endian, without gaps.

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
        """Compile the struct of the entries."""
        entries = tuple(self.entries)
        # small letters of struct are signed
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
        """Values of subindices 1, 2, … of the mapping object."""
        return tuple(e.mapping for e in self.entries)

    def pack(self, *values: int) -> bytes:
        """
        Return the bytes of `values`, one per entry.

        Raises
        ------
        ValueError
            Another number of values, or one out of range: no value is clipped.
        """
        try:
            return self._struct.pack(*values)
        except struct.error:
            raise ValueError(f'{self.name}: {values}: must be {len(self.entries)} whole numbers '
                             f'within {", ".join(map(str, self.entries))}') from None

    def unpack(self, data: bytes | bytearray | memoryview) -> tuple[int, ...]:
        """
        Return the values in `data`, one per entry.

        Raises
        ------
        ValueError
            Not exactly `size` bytes: the device has another mapping.
        """
        try:
            return self._struct.unpack(data)
        except struct.error:
            raise ValueError(f'{self.name}: {len(bytes(data))} bytes received, must be '
                             f'{self.size}; the device has another PDO mapping: configure it '
                             'again') from None


STATUSWORD = Entry(0x6041, 0, 16, False, 'statusword')
POSITION_ACTUAL = Entry(0x6064, 0, 32, True, 'position actual value')
TORQUE_ACTUAL = Entry(0x6077, 0, 16, True, 'torque actual value')
CONTROLWORD = Entry(0x6040, 0, 16, False, 'controlword')
TARGET_TORQUE = Entry(0x6071, 0, 16, True, 'target torque')
TARGET_VELOCITY = Entry(0x60FF, 0, 32, True, 'target velocity')
MODE_DISPLAY = Entry(0x6061, 0, 8, True, 'modes of operation display')
ERROR_CODE = Entry(0x603F, 0, 16, False, 'error code')
LINK_VOLTAGE = Entry(0x6079, 0, 32, False, 'DC link circuit voltage')
ENCODER_POSITION = Entry(0x6004, 0, 32, False, 'position value')
ENCODER_ALARMS = Entry(0x6503, 0, 16, False, 'alarms')
ENCODER_WARNINGS = Entry(0x6505, 0, 16, False, 'warnings')

# from a drive at every SYNC: statusword, counts, permille of rated torque
DRIVE_SAMPLE = PdoLayout('DRIVE_SAMPLE', (STATUSWORD, POSITION_ACTUAL, TORQUE_ACTUAL))
# to a drive, effective on receipt: controlword, permille of rated torque
DRIVE_COMMAND = PdoLayout('DRIVE_COMMAND', (CONTROLWORD, TARGET_TORQUE))
# the same in the velocity mode: controlword, counts per second
VELOCITY_COMMAND = PdoLayout('VELOCITY_COMMAND', (CONTROLWORD, TARGET_VELOCITY))
# from an absolute encoder at every SYNC: counts, alarms, warnings
ENCODER_SAMPLE = PdoLayout('ENCODER_SAMPLE', (ENCODER_POSITION, ENCODER_ALARMS, ENCODER_WARNINGS))


def drive_health(temperature_index: int = 0x2030, temperature_subindex: int = 0) -> PdoLayout:
    """
    Return the slow PDO of a drive: mode, error code, link voltage [mV], temperature [°C].

    Parameters
    ----------
    temperature_index, temperature_subindex : int
        Manufacturer's object of 8 bits, signed, as the profile has no temperature.
    """
    temperature = Entry(temperature_index, temperature_subindex, 8, True, 'temperature')
    return PdoLayout('DRIVE_HEALTH', (MODE_DISPLAY, ERROR_CODE, LINK_VOLTAGE, temperature))


def sample_id(node_id: int, channel: int = 1) -> int:
    """Return the identifier of the samples of a channel: TPDO 1 or 3."""
    return tpdo(2 * channel - 1, node_id)


def health_id(node_id: int, channel: int = 1) -> int:
    """Return the identifier of the slow PDO of a channel: TPDO 2 or 4."""
    return tpdo(2 * channel, node_id)


def command_id(node_id: int, channel: int = 1) -> int:
    """Return the identifier of the commands to a channel: RPDO 1 or 2."""
    return rpdo(channel, node_id)


def of_channel(layout: PdoLayout, channel: int) -> PdoLayout:
    """
    Return a layout with the objects of a channel: those of the profile are 800h apart.

    >>> [f'{m:08X}' for m in of_channel(DRIVE_COMMAND, 2).mappings]
    ['68400010', '68710010']
    """
    return PdoLayout(layout.name, tuple(
        replace(entry, index=profile_object(entry.index, channel)) for entry in layout.entries))


def profile_object(index: int, channel: int) -> int:
    """Return the index of an object of a drive for a channel; CiA 301, 7.5.1."""
    inside = FIRST_PROFILE_OBJECT <= index < FIRST_PROFILE_OBJECT + CHANNEL_OBJECTS
    return index + (channel - 1) * CHANNEL_OBJECTS if inside else index


def pdo_object(index: int, channel: int) -> int:
    """Return the index of a PDO object (1400h+, 1600h+, 1800h+, 1A00h+) for a channel."""
    return index + (channel - 1) * CHANNEL_PDOS


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


RATED_PERMILLE = 1000
# ranges of 6071h and 60FFh, both signs
MOST_PERMILLE, MOST_VELOCITY = 32767, (1 << 31) - 1
# permille: a torque of whole permille must not round to the one below
ROUNDING_PERMILLE = 1e-6


@dataclass(frozen=True)
class DriveUnits:
    """
    Conversion between the numbers of a drive and its wheel.

        τ_wheel = direction · ratio · efficiency · rated · permille / 1000
        θ_wheel = direction · 2π · position / (ratio · counts)

    The efficiency is that of a driving motor. A wheel that drives its motor gets up to
    ``1/efficiency²`` times this torque. The sign of the power is not considered, as the torque
    would then change with the noise of a rate.

    Attributes
    ----------
    rated_torque : float, N·m
        Rated torque of the motor, 6076h (there in mN·m).
    gear_ratio : float
        Turns of the motor per turn of the wheel.
    efficiency : float, above 0 to 1
        Efficiency of the gear.
    counts : int
        Counts of the motor's encoder per turn of the motor, after quadrature (608Fh).
    direction : int, 1 or -1
        -1 where a positive motor turn is a negative wheel turn.
    """

    rated_torque: float
    gear_ratio: float
    efficiency: float
    counts: int
    direction: int = 1

    def __post_init__(self) -> None:
        """Reject impossible values."""
        for name in ('rated_torque', 'gear_ratio'):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f'{name} = {value}: must be a positive number')
        if not 0 < self.efficiency <= 1:
            raise ValueError(f'efficiency = {self.efficiency}: must be above 0 and at most 1')
        if not 1 <= self.counts < math.inf or self.counts != int(self.counts):
            raise ValueError(f'counts = {self.counts}: must be a whole number per motor turn, at '
                             'least 1')
        if self.direction not in (1, -1):
            raise ValueError(f'direction = {self.direction}: must be 1 or -1')

    @cached_property
    def torque_resolution(self) -> float:
        """Torque of one permille at the wheel, N·m."""
        return self.gear_ratio * self.efficiency * self.rated_torque / RATED_PERMILLE

    @cached_property
    def counts_per_wheel_turn(self) -> float:
        """Counts per turn of the wheel; not whole with such a ratio."""
        return self.gear_ratio * self.counts

    @cached_property
    def angle_resolution(self) -> float:
        """Angle of the wheel per count, rad."""
        return 2 * math.pi / self.counts_per_wheel_turn

    def max_permille(self, limit: float) -> int:
        """
        Return the largest permille within a wheel torque of `limit` N·m; at most 32767.

        Raises
        ------
        ValueError
            A negative limit or NaN.
        """
        if not limit >= 0:
            raise ValueError(f'torque limit = {limit} N·m: must be a number, 0 or more')
        return int(min(limit / self.torque_resolution + ROUNDING_PERMILLE, MOST_PERMILLE))

    def permille(self, torque: float, most: int = RATED_PERMILLE) -> int:
        """
        Return the target torque (6071h) for `torque` N·m at the wheel.

        Rounded towards zero, so that rounding never drives a wheel; clipped to ± `most`.

        Raises
        ------
        ValueError
            A torque that is not finite.
        """
        if not math.isfinite(torque):
            raise ValueError(f'wheel torque = {torque}: must be a finite number of N·m')
        # clip as a float: int() of a huge one is slow, and of infinity an error
        size = min(abs(torque) / self.torque_resolution + ROUNDING_PERMILLE, most)
        return int(math.copysign(int(size), torque * self.direction))

    def velocity(self, rate: float) -> int:
        """
        Return the target velocity (60FFh), counts/s, for `rate` rad/s of the joint.

        Clipped to 32 bits.

        Raises
        ------
        ValueError
            A rate that is not finite.
        """
        if not math.isfinite(rate):
            raise ValueError(f'wheel rate = {rate}: must be a finite number of rad/s')
        counts = self.direction * rate / self.angle_resolution
        return round(min(max(counts, -MOST_VELOCITY), MOST_VELOCITY))

    def torque(self, permille: int) -> float:
        """Return the torque of `permille` (6071h, 6077h) at the wheel, N·m."""
        return self.direction * self.torque_resolution * permille

    def angle(self, position: int) -> float:
        """Return the wheel angle, rad, of an unwrapped position (6064h)."""
        return self.direction * self.angle_resolution * position
