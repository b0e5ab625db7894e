# SPDX-License-Identifier: Apache-2.0
"""How fast a robot was stopped, from what its emulated cards and its plant wrote down."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from c3p_hardware.process_data import DRIVE_COMMAND, SYNC_ID, rpdo

# a platform below these stands: dry friction is smoothed, and the last creep has no end
STANDING_SPEED, STANDING_TURN = 0.005, 0.02  # m/s, rad/s
# how long before a fault the computer must have been steady, s
BEFORE = 0.05
# a wheel that takes more than this from its motor is driven, W
DRIVING_POWER = 0.05


@dataclass(frozen=True)
class Stop:
    """
    How a stop went, counted from when the fault began.

    Attributes
    ----------
    zero : float or None, s
        The first order without driving torque has reached the last wheel; None when no orders
        came any more.
    cycles : int
        SYNCs until then.
    driven : float, s
        The last moment at which a motor drove its wheel.
    stand : float or None, s
        The platform stands; None when it did not in what was recorded.
    distance : float, m
        Its way until then, or until the record ends.
    moved : float, m/s
        Its highest speed after it stood.
    stall : float, s
        The longest time around it in which the computer did not run the cards.
    """

    zero: float | None
    cycles: int
    driven: float
    stand: float | None
    distance: float
    moved: float
    stall: float


def measured(record: Mapping[str, Sequence[Any]], begin: float, end: float,
             push: Sequence[float]) -> Stop:
    """
    Return the measures of a stop.

    Parameters
    ----------
    record : mapping
        As `trial_cards.CardsServer.record`.
    begin, end : float, s
        When the fault began, and until when to look.
    push : sequence of float, N·m
        The torques that drove the wheels: their signs are those of driving.
    """
    frames = [f for f in record['frames'] if f[0] <= end]
    steps = [s for s in record['steps'] if begin <= s[0] <= end]
    zeros = [_without_drive(frames, rpdo(1, i + 1), begin, p) for i, p in enumerate(push) if p]
    zero = None if None in zeros else max(zeros)
    cycles = sum(1 for f in frames if f[1] == SYNC_ID and begin < f[0] <= (
        end if zero is None else zero))
    driven = max((s[0] for s in steps if any(
        t * r > DRIVING_POWER for t, r in zip(s[5], s[6], strict=True))), default=begin)
    stood = next((s[0] for s in steps if s[0] >= driven and s[3] < STANDING_SPEED
                  and abs(s[4]) < STANDING_TURN), None)
    way = [s for s in steps if stood is None or s[0] <= stood]
    distance = sum(math.hypot(b[1] - a[1], b[2] - a[2])
                   for a, b in zip(way, way[1:], strict=False))
    moved = max((s[3] for s in steps if stood is not None and s[0] > stood), default=0.0)
    until = max(driven, driven if zero is None else min(zero, begin + 1.0))
    times = [s[0] for s in record['steps'] if begin - BEFORE <= s[0] <= until]
    stall = max((b - a for a, b in zip(times, times[1:], strict=False)), default=0.0)
    return Stop(None if zero is None else zero - begin, cycles, driven - begin,
                None if stood is None else stood - begin, distance, moved, stall)


def _without_drive(frames: Sequence[Sequence[Any]], identifier: int, begin: float, push: float
                   ) -> float | None:
    """Return when a wheel got its first order after `begin` that no driving one follows."""
    orders = [(f[0], DRIVE_COMMAND.unpack(bytes.fromhex(f[2]))[1]) for f in frames
              if f[1] == identifier]
    last = max((t for t, torque in orders if torque * push > 0), default=-math.inf)
    return next((t for t, _ in orders if t > max(last, begin)), None)
