# SPDX-License-Identifier: Apache-2.0
"""
An absolute encoder as CiA 406 describes it: numbers in, numbers out.

With scaling (6000h bit 2) a turn has 6001h steps and the position returns to 0 after 6002h;
without it both are those of the disc. Bit 0 reverses the counting. The preset 6003h shifts the
position, and 6509h tells by how much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

REVERSED, SCALED = 1 << 0, 1 << 2  # 6000h
POSITION_ERROR = 1 << 0  # 6503h, 6504h


@dataclass(frozen=True)
class EncoderCard:
    """
    What an encoder and its mounting are.

    Attributes
    ----------
    counts : int
        Of the disc per turn.
    turns : int
        That it can tell apart; 1 for a single-turn encoder.
    zero_counts : int
        What it tells when the steering angle is 0.
    direction : int
        1 or -1: whether it counts up or down with the steering angle.
    """

    counts: int = 4096
    turns: int = 1
    zero_counts: int = 0
    direction: int = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
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
        6509h, which a preset makes.
    alarms, warnings : int
        6503h and 6505h.
    jump : int
        Counts by which a fault shifts the disc.
    stuck : bool
        A fault: the position stays where it is.
    """

    def __init__(self, card: EncoderCard) -> None:
        """Switch on."""
        self.card = card
        self.jump, self.stuck = 0, False
        self._angle = 0.0
        self.restart()

    def restart(self) -> None:
        """Begin again as after switching on; the disc still stands where it stood."""
        self.parameters = SCALED
        self.steps, self.range = self.card.counts, self.card.counts * self.card.turns
        self.offset = 0
        self.alarms = self.warnings = 0

    def sense(self, angle: float) -> None:
        """Turn the shaft to a steering angle, rad."""
        if not self.stuck:
            self._angle = angle

    def _shaft(self) -> tuple[int, int]:
        """Return the position without preset and the range in which it returns to 0."""
        card = self.card
        disc = math.floor(card.direction * self._angle / (2 * math.pi) * card.counts
                          + card.zero_counts + self.jump + 0.5) % (card.counts * card.turns)
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
        """
        Make the position `value` where the shaft stands now (6003h).

        Raises
        ------
        ValueError
            Not below the total range.
        """
        shaft, total = self._shaft()
        if not 0 <= value < total:
            raise ValueError(f'preset = {value}: must be 0 to {total - 1}')
        self.offset = value - shaft
