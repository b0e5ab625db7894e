# SPDX-License-Identifier: Apache-2.0
"""
Model of a CiA 406 absolute encoder.

Pure. With scaling (6000h bit 2) a turn has 6001h steps and the position wraps after 6002h; without
it both are those of the disc. Bit 0 reverses the counting. The preset 6003h shifts the position by
the offset 6509h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# 6000h
REVERSED = 1 << 0
SCALED = 1 << 2
POSITION_ERROR = 1 << 0  # 6503h, 6504h


@dataclass(frozen=True)
class EncoderCard:
    """
    Data of an encoder and its mounting.

    Attributes
    ----------
    counts : int
        Counts of the disc per turn.
    turns : int
        Number of turns in its range; 1 for a single-turn encoder.
    zero_counts : int
        Position at angle 0 of the joint.
    direction : int
        1 when it counts up with the angle of the joint, else -1.
    gear_ratio : float
        Turns of the disc per turn of the joint.
    """

    counts: int = 4096
    turns: int = 1
    zero_counts: int = 0
    direction: int = 1
    gear_ratio: float = 1.0

    def __post_init__(self) -> None:
        """Reject impossible values."""
        if not 0 < self.gear_ratio < math.inf:
            raise ValueError(f'gear_ratio = {self.gear_ratio}: must be a positive number')
        for name in ('counts', 'turns'):
            value = getattr(self, name)
            if value != int(value) or value < 1:
                raise ValueError(f'{name} = {value}: must be a whole number, 1 or more')
        if self.direction not in (1, -1):
            raise ValueError(f'direction = {self.direction}: must be 1 or -1')


class AbsoluteEncoder:
    """
    Position, preset, alarms and warnings of one encoder.

    >>> encoder = AbsoluteEncoder(EncoderCard())
    >>> encoder.sense(-math.pi / 2)
    >>> encoder.position
    3072

    Parameters
    ----------
    card : EncoderCard

    Attributes
    ----------
    parameters : int
        6000h.
    steps, range : int
        6001h and 6002h.
    offset : int
        6509h, set by a preset.
    alarms, warnings : int
        6503h and 6505h.
    jump : int
        Shift of the disc by a fault, counts.
    stuck : bool
        The position is frozen by a fault.
    """

    def __init__(self, card: EncoderCard) -> None:
        """Switch on."""
        self.card = card
        self.jump = 0
        self.stuck = False
        self._angle = 0.0
        self.restart()

    def restart(self) -> None:
        """Reset as at power-on; the disc keeps its angle."""
        self.parameters = SCALED
        self.steps, self.range = self.card.counts, self.card.counts * self.card.turns
        self.offset = 0
        self.alarms = self.warnings = 0

    def sense(self, angle: float) -> None:
        """Set the angle of the joint, rad."""
        if not self.stuck:
            self._angle = angle

    def _shaft(self) -> tuple[int, int]:
        """Return the position without preset, and the range."""
        card = self.card
        turns = card.direction * self._angle * card.gear_ratio / (2 * math.pi)
        disc = math.floor(turns * card.counts + card.zero_counts + self.jump + 0.5) % (
            card.counts * card.turns)
        if self.parameters & REVERSED:
            disc = -disc % (card.counts * card.turns)
        if self.parameters & SCALED:
            return disc * self.steps // card.counts % self.range, self.range
        return disc, card.counts * card.turns

    @property
    def position(self) -> int:
        """6004h, 0 to below the total range."""
        shaft, total = self._shaft()
        return (shaft + self.offset) % total

    def preset(self, value: int) -> None:
        """Set the present position to `value` (6003h); ValueError unless below the total range."""
        shaft, total = self._shaft()
        if not 0 <= value < total:
            raise ValueError(f'preset = {value}: must be 0 to {total - 1}')
        self.offset = value - shaft
