# SPDX-License-Identifier: Apache-2.0
"""Measures of a stop, from the records of the emulated cards and the plant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from c3p_hardware.canopen.process_data import DRIVE_COMMAND, SYNC_ID, rpdo

# standstill: dry friction is smoothed, so the platform creeps on below these
# m/s, rad/s
STANDING_SPEED = 0.005
STANDING_TURN = 0.02
# time before a fault in which the computer must not have paused, s
BEFORE = 0.05
# power from the motor above which a wheel counts as driven, W
DRIVING_POWER = 0.05


@dataclass(frozen=True)
class Stop:
    """
    A stop, with times since the beginning of the fault.

    Attributes
    ----------
    zero : float or None, s
        Time at which the last wheel received its first order without driving torque; None
        without such an order.
    cycles : int
        SYNCs until `zero`.
    driven : float, s
        Last time at which a motor drove its wheel.
    stand : float or None, s
        Time of standstill; None without standstill in the record.
    distance : float, m
        Path length until standstill, or until the end of the record.
    moved : float, m/s
        Highest speed after standstill.
    stall : float, s
        Longest pause of the cards around the stop.
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
        As `servers.CardsServer.record`.
    begin, end : float, s
        Beginning of the fault and end of the evaluation.
    push : sequence of float, N·m
        Driving torques of the wheels, for their signs.
    """
    frames = [f for f in record['frames'] if f[0] <= end]
    steps = [s for s in record['steps'] if begin <= s[0] <= end]
    zeros = [_without_drive(frames, rpdo(1, i + 1), begin, p) for i, p in enumerate(push) if p]
    known = [zero for zero in zeros if zero is not None]
    zero = max(known) if len(known) == len(zeros) else None
    cycles = sum(1 for f in frames if f[1] == SYNC_ID and begin < f[0] <= (
        end if zero is None else zero))
    driven = max((s[0] for s in steps if any(
        t * r > DRIVING_POWER for t, r in zip(s[5], s[6], strict=True))), default=begin)
    stood = next((s[0] for s in steps if s[0] >= driven and s[3] < STANDING_SPEED
                  and abs(s[4]) < STANDING_TURN), None)
    path = [s for s in steps if stood is None or s[0] <= stood]
    distance = sum(math.hypot(b[1] - a[1], b[2] - a[2])
                   for a, b in zip(path, path[1:], strict=False))
    moved = max((s[3] for s in steps if stood is not None and s[0] > stood), default=0.0)
    until = max(driven, driven if zero is None else min(zero, begin + 1.0))
    times = [s[0] for s in record['steps'] if begin - BEFORE <= s[0] <= until]
    stall = max((b - a for a, b in zip(times, times[1:], strict=False)), default=0.0)
    return Stop(None if zero is None else zero - begin, cycles, driven - begin,
                None if stood is None else stood - begin, distance, moved, stall)


def _without_drive(frames: Sequence[Sequence[Any]], identifier: int, begin: float, push: float
                   ) -> float | None:
    """Return the time of the first order after `begin` that no driving order follows."""
    orders = [(f[0], DRIVE_COMMAND.unpack(bytes.fromhex(f[2]))[1]) for f in frames
              if f[1] == identifier]
    last = max((t for t, torque in orders if torque * push > 0), default=-math.inf)
    return next((t for t, _ in orders if t > max(last, begin)), None)
