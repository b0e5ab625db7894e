# SPDX-License-Identifier: Apache-2.0
"""
Scripts of faults: kind, device, begin and duration.

One fault is ``kind:device@at+duration``, such as ``silence:drive2@3.0+0.5``: from 3.0 s on for
0.5 s. It begins now without ``@``, and lasts without ``+``. A value may follow the kind,
``encoder_jump=200:encoder1``. Several faults are separated by spaces, commas or semicolons.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches

#: kind: (possible devices, default value, effect)
KINDS: dict[str, tuple[str, int, str]] = {
    'silence': ('any', 0, 'cut cable: it neither receives nor sends'),
    'wrong_mode': ('drive', 8, 'another mode, the value (6061h); no torque'),
    'emcy': ('any', 0x2310, 'an error with the value as code: EMCY, and FAULT in a drive'),
    'orders_lost': ('drive', 0, 'it receives SYNC and heartbeats, but no orders'),
    'second_master': ('drive', 900, 'another master sends it orders of the value, permille'),
    'wrong_torque': ('drive', -1000, 'its torque actual value (6077h) is the value, permille'),
    'counts_jump': ('drive', 1000000, 'its position jumps by the value, in counts'),
    'counts_stuck': ('drive', 0, 'its position is frozen'),
    'counts_negated': ('drive', 0, 'its position counts in the opposite direction'),
    'encoder_drift': ('encoder', 1304, 'its position drifts by the value, in counts a second'),
    'bus_off': ('any', 0, 'its CAN controller leaves the bus and returns at the end'),
    'duplicate_id': ('any', 0, 'a second device with the same node id responds'),
    'reboot': ('any', 0, 'it restarts, unconfigured'),
    'encoder_jump': ('encoder', 512, 'its position jumps by the value, in counts'),
    'encoder_stuck': ('encoder', 0, 'its position is frozen'),
    'power_cut': ('any', 0, 'it is switched off, and restarts at the end'),
    'sto': ('drive', 0, 'safe torque off: the power stage is open'),
    'over_temperature': ('drive', 85, 'its warning bit is set, its temperature the value in °C'),
    'wrong_serial': ('any', 9999, 'it is exchanged: its serial number is the value'),
}
GROUPS = ('all', 'drives', 'encoders')


class FaultError(ValueError):
    """An invalid script of faults."""


@dataclass(frozen=True)
class Fault:
    """
    One fault.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    device : str
        ``drive1``, ``encoder3``, …, or ``all``, ``drives``, ``encoders``.
    at : float, s
        Begin, in the time of the emulated cards; 0 is immediate.
    duration : float, s
        May be infinite; ignored by a reboot.
    value : int, optional
        See `KINDS`.
    """

    kind: str
    device: str
    at: float = 0.0
    duration: float = math.inf
    value: int | None = None

    def __post_init__(self) -> None:
        """Reject unknown kinds and invalid times."""
        if self.kind not in KINDS:
            raise FaultError(f'fault {self.kind!r} is not known; '
                             + suggestion(self.kind, tuple(KINDS)))
        if not (math.isfinite(self.at) and self.at >= 0):
            raise FaultError(f'{self.kind}: begins at {self.at} s; must be 0 or later')
        if not self.duration > 0:
            raise FaultError(f'{self.kind}: lasts {self.duration} s; must be longer than 0')
        if self.value is None:
            object.__setattr__(self, 'value', KINDS[self.kind][1])

    def __str__(self) -> str:
        """Return the fault as a script."""
        value = '' if self.value == KINDS[self.kind][1] else f'={self.value}'
        lasting = f'+{self.duration:g}' if math.isfinite(self.duration) else ''
        return f'{self.kind}{value}:{self.device}@{self.at:g}{lasting}'


def suggestion(word: str, known: tuple[str, ...]) -> str:
    """Return the most similar known word, or all of them."""
    close = get_close_matches(word, known)
    return f'did you mean {close[0]}?' if close else f'known are {", ".join(known)}'


def parse_faults(script: str) -> tuple[Fault, ...]:
    """
    Return the faults of a script; FaultError names the invalid part and the expected form.

    >>> [str(fault) for fault in parse_faults('silence:drive2@3+0.5; reboot:all@7')]
    ['silence:drive2@3+0.5', 'reboot:all@7']
    """
    return tuple(_parsed(part) for part in script.replace(',', ' ').replace(';', ' ').split())


def _parsed(text: str) -> Fault:
    what, colon, rest = text.partition(':')
    if not colon:
        raise FaultError(f'fault {text!r} names no device; write kind:device@at+duration, '
                         'such as silence:drive2@3.0+0.5')
    kind, given, value = what.partition('=')
    where, _, when = rest.partition('@')
    # a duration may follow the device at once
    place, lasts, duration = (when or where).partition('+')
    device, at = (where, place) if when else (place, '0')
    numbers = {}
    for name, number in (('at', at), ('duration', duration if lasts else 'inf')):
        try:
            numbers[name] = float(number)
        except ValueError:
            raise FaultError(f'fault {text!r}: {number!r} is not a time in seconds') from None
    try:
        worth = int(value, 0) if given else None
    except ValueError:
        raise FaultError(f'fault {text!r}: {value!r} is not a whole number') from None
    return Fault(kind, device, numbers['at'], numbers['duration'], worth)


def affected(fault: Fault, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of `names` that a fault affects; FaultError if no device can have it."""
    kind_of = KINDS[fault.kind][0]
    group = fault.device.removesuffix('s')
    if fault.device not in GROUPS and fault.device not in names:
        raise FaultError(f'{fault}: unknown device {fault.device!r}; '
                         + suggestion(fault.device, (*names, *GROUPS)))
    chosen = tuple(n for n in names if fault.device in ('all', n)
                   or fault.device in GROUPS and n.startswith(group))
    able = tuple(n for n in chosen if kind_of == 'any' or n.startswith(kind_of))
    if not able:
        raise FaultError(f'{fault}: only {kind_of}s can have this fault')
    return able


class FaultSchedule:
    """Begins and ends faults in time, by calls with a fault and the name of a device."""

    def __init__(self, names: tuple[str, ...], begin: Callable[[Fault, str], None],
                 end: Callable[[Fault, str], None]) -> None:
        """Start without faults."""
        self._names = names
        self._begin = begin
        self._end = end
        self._coming: list[Fault] = []
        self._present: list[tuple[float, Fault, str]] = []

    @property
    def present(self) -> tuple[str, ...]:
        """Present faults as ``kind:device``."""
        return tuple(f'{fault.kind}:{name}' for _, fault, name in self._present)

    def add(self, fault: Fault, now: float = 0.0) -> None:
        """Add a fault; one before `now` (s) begins now. FaultError as for `affected`."""
        affected(fault, self._names)
        self._coming.append(replace(fault, at=max(fault.at, now)))
        self._coming.sort(key=lambda f: f.at)

    def clear(self) -> None:
        """End all faults, and drop those that have not begun."""
        self._coming.clear()
        while self._present:
            _, fault, name = self._present.pop(0)
            self._end(fault, name)

    def step(self, now: float) -> None:
        """Begin and end the faults due at `now` (s)."""
        for entry in [e for e in self._present if e[0] <= now]:
            self._present.remove(entry)
            self._end(entry[1], entry[2])
        while self._coming and self._coming[0].at <= now:
            fault = self._coming.pop(0)
            for name in affected(fault, self._names):
                if fault.kind != 'reboot':
                    self._present.append((now + fault.duration, fault, name))
                self._begin(fault, name)
