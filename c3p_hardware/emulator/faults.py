# SPDX-License-Identifier: Apache-2.0
"""
Scripts of faults: what breaks, where, when and for how long.

One fault is ``kind:device@at+duration``, as ``silence:drive2@3.0+0.5``: from second 3.0 on for
half a second. Without ``@`` it is now, without ``+`` for ever. A value may follow the kind,
``encoder_jump=200:encoder1``. Several are separated by spaces, commas or semicolons.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches

#: kind: (devices it can befall, value when none is given, what happens)
KINDS: dict[str, tuple[str, int, str]] = {
    'silence': ('any', 0, 'its cable is cut: it neither hears nor is heard'),
    'wrong_mode': ('drive', 8, 'its mode is another one (6061h shows the value); no torque'),
    'emcy': ('any', 0x2310, 'an error whose code is the value: EMCY, and FAULT in a drive'),
    'orders_lost': ('drive', 0, 'it gets no orders, while SYNC and heartbeats reach it'),
    'second_master': ('drive', 900, 'another master sends it orders of the value, permille'),
    'wrong_torque': ('drive', -1000, 'its torque actual value (6077h) is the value, permille'),
    'counts_jump': ('drive', 1000000, 'its position jumps by the value, in counts'),
    'counts_stuck': ('drive', 0, 'its position stays where it is'),
    'counts_negated': ('drive', 0, 'its position counts the other way'),
    'encoder_drift': ('encoder', 1304, 'its position drifts by the value, in counts a second'),
    'bus_off': ('any', 0, 'its CAN controller leaves the bus and comes back at the end'),
    'duplicate_id': ('any', 0, 'a second device with the same node id answers, too'),
    'reboot': ('any', 0, 'it starts again, unconfigured'),
    'encoder_jump': ('encoder', 512, 'its position jumps by the value, in counts'),
    'encoder_stuck': ('encoder', 0, 'its position stays where it is'),
    'power_cut': ('any', 0, 'it is switched off, and starts again at the end'),
    'sto': ('drive', 0, 'safe torque off: the power stage is open'),
    'over_temperature': ('drive', 85, 'its warning bit is set, its temperature the value in °C'),
    'wrong_serial': ('any', 9999, 'it is another device: its serial number is the value'),
}
GROUPS = ('all', 'drives', 'encoders')


class FaultError(ValueError):
    """A script of faults that cannot be used."""


@dataclass(frozen=True)
class Fault:
    """
    One fault.

    Attributes
    ----------
    kind : str
        Of `KINDS`.
    device : str
        ``drive1``, ``encoder3``, …, or ``all``, ``drives``, ``encoders``.
    at : float, s
        When it begins, in the time of the emulated cards; 0 is at once.
    duration : float, s
        Infinite for ever; a reboot takes no time.
    value : int, optional
        See `KINDS`.
    """

    kind: str
    device: str
    at: float = 0.0
    duration: float = math.inf
    value: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
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
        """Return the script of this fault."""
        value = '' if self.value == KINDS[self.kind][1] else f'={self.value}'
        lasting = f'+{self.duration:g}' if math.isfinite(self.duration) else ''
        return f'{self.kind}{value}:{self.device}@{self.at:g}{lasting}'


def suggestion(word: str, known: tuple[str, ...]) -> str:
    """Return what was probably meant by `word`, or all that is known."""
    close = get_close_matches(word, known)
    return f'did you mean {close[0]}?' if close else f'known are {", ".join(known)}'


def parse_faults(script: str) -> tuple[Fault, ...]:
    """
    Return the faults of a script.

    >>> [str(fault) for fault in parse_faults('silence:drive2@3+0.5; reboot:all@7')]
    ['silence:drive2@3+0.5', 'reboot:all@7']

    Raises
    ------
    FaultError
        With the part that cannot be read and what it should be.
    """
    return tuple(_parsed(part) for part in script.replace(',', ' ').replace(';', ' ').split())


def _parsed(text: str) -> Fault:
    what, colon, rest = text.partition(':')
    if not colon:
        raise FaultError(f'fault {text!r} names no device; write kind:device@at+duration, as '
                         'silence:drive2@3.0+0.5')
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
            raise FaultError(f'fault {text!r}: {number!r} is no time in seconds') from None
    try:
        worth = int(value, 0) if given else None
    except ValueError:
        raise FaultError(f'fault {text!r}: {value!r} is no whole number') from None
    return Fault(kind, device, numbers['at'], numbers['duration'], worth)


def befallen(fault: Fault, names: tuple[str, ...]) -> tuple[str, ...]:
    """
    Return which of the devices `names` a fault befalls.

    Raises
    ------
    FaultError
        No such device, or one that cannot have this fault.
    """
    kind_of = KINDS[fault.kind][0]
    group = fault.device.removesuffix('s')
    if fault.device not in GROUPS and fault.device not in names:
        raise FaultError(f'{fault}: there is no device {fault.device!r}; '
                         + suggestion(fault.device, (*names, *GROUPS)))
    chosen = tuple(n for n in names if fault.device in ('all', n)
                   or fault.device in GROUPS and n.startswith(group))
    able = tuple(n for n in chosen if kind_of == 'any' or n.startswith(kind_of))
    if not able:
        raise FaultError(f'{fault}: only {kind_of}s can have this fault')
    return able


class FaultSchedule:
    """
    Begins and ends faults as time passes.

    Parameters
    ----------
    names : tuple of str
        The devices.
    begin, end : callable
        Called with a fault and the name of a device.
    """

    def __init__(self, names: tuple[str, ...], begin: Callable[[Fault, str], None],
                 end: Callable[[Fault, str], None]) -> None:
        """Start with no faults."""
        self._names, self._begin, self._end = names, begin, end
        self._coming: list[Fault] = []
        self._present: list[tuple[float, Fault, str]] = []

    @property
    def present(self) -> tuple[str, ...]:
        """The faults that last now, as ``kind:device``."""
        return tuple(f'{fault.kind}:{name}' for _, fault, name in self._present)

    def add(self, fault: Fault, now: float = 0.0) -> None:
        """
        Add a fault; one that should have begun before `now` (s) begins now.

        Raises
        ------
        FaultError
            As `befallen`.
        """
        befallen(fault, self._names)
        self._coming.append(replace(fault, at=max(fault.at, now)))
        self._coming.sort(key=lambda f: f.at)

    def clear(self) -> None:
        """End all faults and forget those that have not begun."""
        self._coming.clear()
        while self._present:
            _, fault, name = self._present.pop(0)
            self._end(fault, name)

    def step(self, now: float) -> None:
        """Begin and end what is due at `now` (s)."""
        for entry in [e for e in self._present if e[0] <= now]:
            self._present.remove(entry)
            self._end(entry[1], entry[2])
        while self._coming and self._coming[0].at <= now:
            fault = self._coming.pop(0)
            for name in befallen(fault, self._names):
                if fault.kind != 'reboot':
                    self._present.append((now + fault.duration, fault, name))
                self._begin(fault, name)
