# SPDX-License-Identifier: Apache-2.0
"""
CiA 406 profile of absolute encoders: objects, alarms and warnings.

The preset (6003h) is never written: it makes the position jump, and manufacturers store it in
different ways. The zero of an axis is a parameter of the master.
"""

from __future__ import annotations

from enum import IntEnum


class EncoderObject(IntEnum):
    """Indices of the object dictionary."""

    COUNTS_PER_TURN = 0x6001
    TOTAL_RANGE = 0x6002
    POSITION = 0x6004
    ALARMS = 0x6503
    WARNINGS = 0x6505


# bit: text; other bits are the manufacturer's (12 to 15) or reserved
ALARMS = {0: 'position error: the position is not valid', 1: 'commissioning diagnostic failed'}
WARNINGS = {0: 'frequency exceeded: turned too fast',
            1: 'light control reserve used up: dirty or old', 2: 'CPU watchdog has reset it',
            3: 'operating time limit exceeded', 4: 'battery low', 5: 'reference point not reached'}
FIRST_MANUFACTURER_BIT = 12


def alarm_texts(alarms: int) -> list[str]:
    """
    Return the alarms (6503h) as texts; with any of them the position may be wrong.

    >>> alarm_texts(0x1001)
    ['position error: the position is not valid', "manufacturer's alarm (bit 12)"]
    """
    return _texts(alarms, ALARMS, 'alarm')


def warning_texts(warnings: int) -> list[str]:
    """Return the warnings (6505h) as texts; the position is still valid."""
    return _texts(warnings, WARNINGS, 'warning')


def _texts(bits: int, names: dict[int, str], kind: str) -> list[str]:
    owner = ['reserved'] * FIRST_MANUFACTURER_BIT + ["manufacturer's"] * 4
    return [names.get(bit, f'{owner[bit]} {kind} (bit {bit})') for bit in range(16)
            if bits >> bit & 1]
