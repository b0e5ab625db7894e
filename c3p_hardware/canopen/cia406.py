# SPDX-License-Identifier: Apache-2.0
"""
An absolute encoder of CiA 406: its objects, its troubles, and its counts as an angle.

An encoder counts ``counts`` per turn (6001h) from 0 to ``range`` (6002h) and begins again. The
zero of an axis is a number of the master, never the preset (6003h): a preset makes the position
jump, and is lost or kept by rules of the manufacturer.
"""

from __future__ import annotations

import math
from enum import IntEnum, IntFlag


class EncoderObject(IntEnum):
    """Indices of the object dictionary; CiA 406."""

    OPERATING_PARAMETERS = 0x6000
    COUNTS_PER_TURN = 0x6001
    TOTAL_RANGE = 0x6002
    PRESET = 0x6003
    POSITION = 0x6004
    SPEED = 0x6030
    CYCLE_TIMER = 0x6200
    OPERATING_STATUS = 0x6500
    SINGLE_TURN_RESOLUTION = 0x6501
    TURNS = 0x6502
    ALARMS = 0x6503
    SUPPORTED_ALARMS = 0x6504
    WARNINGS = 0x6505
    SUPPORTED_WARNINGS = 0x6506
    PROFILE_VERSION = 0x6507
    OPERATING_TIME = 0x6508
    OFFSET = 0x6509
    MODULE = 0x650A
    SERIAL_NUMBER = 0x650B


class OperatingParameters(IntFlag):
    """Bits of 6000h, and of 6500h, which tells what is in force."""

    # counts rise counter-clockwise as seen on the shaft, otherwise clockwise
    COUNTER_CLOCKWISE = 1 << 0
    COMMISSIONING_DIAGNOSTIC = 1 << 1
    # 6001h and 6002h count; without it the encoder tells its physical counts
    SCALING = 1 << 2
    # of linear encoders
    REVERSED = 1 << 3


# bit: words; other bits are the manufacturer's (12 to 15) or reserved
ALARMS = {0: 'position error: the position is not valid', 1: 'commissioning diagnostic failed'}
WARNINGS = {0: 'frequency exceeded: turned too fast',
            1: 'light control reserve used up: dirty or old', 2: 'CPU watchdog has reset it',
            3: 'operating time limit exceeded', 4: 'battery low', 5: 'reference point not reached'}
FIRST_MANUFACTURER_BIT = 12


def alarm_texts(alarms: int) -> list[str]:
    """
    Return the alarms (6503h) in words: with any of them the position may be wrong.

    >>> alarm_texts(0x1001)
    ['position error: the position is not valid', "manufacturer's alarm (bit 12)"]
    """
    return _texts(alarms, ALARMS, 'alarm')


def warning_texts(warnings: int) -> list[str]:
    """Return the warnings (6505h) in words: the position is still right."""
    return _texts(warnings, WARNINGS, 'warning')


def _texts(bits: int, names: dict[int, str], kind: str) -> list[str]:
    """Return the names of the bits that are set."""
    texts = []
    for bit in range(16):
        if bits >> bit & 1:
            whose = "manufacturer's" if bit >= FIRST_MANUFACTURER_BIT else 'reserved'
            texts.append(names.get(bit, f'{whose} {kind} (bit {bit})'))
    return texts


class AbsoluteAngle:
    """
    The angle of an axis that turns without end, from the counts of an absolute encoder.

    With p the position followed across both ends of the range,

        angle = direction · 2π (p − zero_counts) / counts

    The first sample is taken on the side nearest to the zero. Between two samples the shortest
    way is taken, so the axis may turn by less than half the range; where that does not hold,
    nothing in the counts tells it.

    >>> axis = AbsoluteAngle(counts=4096, range=4096, zero_counts=4000)
    >>> [round(axis.step(raw), 6) for raw in (4000, 4095, 928)]
    [0.0, 0.145728, 1.570796]

    Parameters
    ----------
    counts : int
        Per turn, 6001h.
    range : int
        From which counting begins again, 6002h; whole turns.
    direction : int, 1 or -1
        Which way counts rise. Used here or set in 6000h, not both.
    zero_counts : float
        Position at which the angle is 0.

    Attributes
    ----------
    angle : float, rad
        Of the last sample.
    counts, range, direction, zero_counts
        As given.
    """

    def __init__(self, counts: int, range: int, direction: int = 1,
                 zero_counts: float = 0) -> None:
        """Know no sample yet."""
        if not 1 <= counts <= 1 << 32 or counts != int(counts):
            raise ValueError(f'counts = {counts}: must be a whole number of counts per turn, at '
                             'least 1 (6001h)')
        if not counts <= range <= 1 << 32 or range != int(range) or range % counts:
            raise ValueError(f'range = {range}: must be a whole number of turns of {counts} '
                             'counts, at most 2³² (6002h); otherwise the angle of an axis that '
                             'turns without end is lost where counting begins again')
        if direction not in (1, -1):
            raise ValueError(f'direction = {direction}: must be 1 or -1')
        if not math.isfinite(zero_counts):
            raise ValueError(f'zero_counts = {zero_counts}: must be a finite number')
        self.counts, self.range = int(counts), int(range)
        self.direction, self.zero_counts = direction, zero_counts
        self._per_count = direction * 2 * math.pi / counts
        self.reset()

    def reset(self) -> None:
        """Forget the samples: the next one is a first one."""
        self.angle = 0.0
        self._position: int | None = None

    @property
    def raw(self) -> int | None:
        """The last sample in counts, 0 to range; None before the first."""
        return None if self._position is None else self._position % self.range

    @property
    def turns(self) -> int:
        """Whole turns from the zero, towards it rounded."""
        return int(self.angle / (2 * math.pi))

    def difference(self, raw: int) -> int:
        """
        Return the counts from the last sample to `raw`, the shortest way; 0 without a sample.

        From −range/2, included, to range/2. Changes nothing.

        Raises
        ------
        ValueError
            As `step`.
        """
        self._check(raw)
        if self._position is None:
            return 0
        return self._shortest(raw - self._position)

    def step(self, raw: int) -> float:
        """
        Take a position value (6004h) and return the angle in rad.

        Raises
        ------
        ValueError
            A value outside the range, which the encoder cannot tell when it is set as assumed.
            The angle stays.
        """
        self._check(raw)
        if self._position is None:
            # nearest to the zero, which need not be a whole count
            zero = math.floor(self.zero_counts)
            self._position = zero + self._shortest(raw - zero)
        else:
            self._position += self._shortest(raw - self._position)
        self.angle = self._per_count * (self._position - self.zero_counts)
        return self.angle

    def _shortest(self, difference: int) -> int:
        """Return the smallest difference that is the same modulo the range."""
        half = self.range // 2
        return (difference + half) % self.range - half

    def _check(self, raw: int) -> None:
        """Refuse what cannot be a position."""
        if not 0 <= raw < self.range:
            raise ValueError(f'position = {raw}: must be 0 to {self.range - 1}; the encoder '
                             'counts otherwise than assumed, read 6001h and 6002h')
