# SPDX-License-Identifier: Apache-2.0
"""Driving by hand from two live pages as a machine: touches, late and lost messages, silence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from c3p_controller import motion_promises
from c3p_controller import stop_promises as seen
from c3p_controller.stop_promises import Promise, StopEvent
from c3p_viewers.dashboard.hand_drive import HOLD, HandDrive
from c3p_viewers.dashboard.refusal import Refusal

# the grid of time, s: two ticks are shorter than HOLD, three longer
TICK = 0.125
OLDEST = 3
# zeros after a press, ticks
ZEROS = 4

PAGES = ('page 1', 'page 2')
MOVE = {'vx': 0.2, 'vy': 0.0, 'omega': 0.0}


class HandMachine:
    """
    Two pages; each has one touch at a time, whose messages may come late, twice, or not at all.

    A touch has a name of its own; of each page only the last name can still come.
    """

    events = (*(f'{page} {what}' for page in PAGES
                for what in ('is touched', 'repeats', 'lets go')), 'e-stop', 'time passes')

    def __init__(self) -> None:
        """Start without a touch."""
        self.now = 0.0
        self.begin()

    def begin(self) -> Sequence[StopEvent]:
        """Start anew."""
        self.hand = HandDrive()
        # the last touch of each page: its name, None before the first
        self._touch: dict[str, str | None] = dict.fromkeys(PAGES)
        return ()

    def state(self) -> tuple[Any, ...]:
        """Return the touch that drives, those that have ended, and the moments in ticks."""
        hand = self.hand
        pages = tuple((touch is not None, touch == hand.press and bool(hand.press),
                       touch in hand._ended) for touch in self._touch.values())
        # the touch that drives may be one before the last of its page
        other = bool(hand.press) and hand.press not in self._touch.values()
        held = _ticks(hand._held_until - self.now) if hand.press else 0
        return (pages, other, held, min(max(_ticks(hand._zeros_until - self.now), 0), ZEROS))

    def restore(self, state: tuple[Any, ...]) -> None:
        """Become what `state` describes, at 0 s; names of touches are made up."""
        pages, other, held, zeros = state
        self.now = 0.0
        hand = self.hand
        hand.press = 'a touch before' if other else ''
        hand._ended.clear()
        for page, (touched, holds, ended) in zip(PAGES, pages, strict=True):
            name = f'{page}, before' if touched else None
            self._touch[page] = name
            if holds and name:
                hand.press = name
            if ended and name:
                hand._ended.append(name)
        hand._twist = np.array([MOVE['vx'], 0.0, 0.0])
        # between two points of the grid, as it is: HOLD is between
        hand._held_until = HOLD - TICK * (OLDEST - held) if hand.press else 0.0
        hand._zeros_until = TICK * zeros

    def step(self, event: str) -> Sequence[StopEvent]:
        """Let `event` happen; each ends with what the page commands then."""
        found: list[StopEvent] = []
        if event == 'time passes':
            self.now += TICK
        elif event == 'e-stop':
            self.hand.end(self.now)
            found += [StopEvent(seen.LET_GO, self.now, page) for page in PAGES]
        else:
            found += self._page(event[:6], event[7:])
        twist = self.hand.twist(self.now)
        if twist is not None:
            found.append(StopEvent(seen.PASSED, self.now, '', float(np.abs(twist).max())))
        return found or (StopEvent('look', self.now),)

    def _page(self, page: str, what: str) -> Sequence[StopEvent]:
        """Let a page send a message."""
        if what == 'lets go':
            # of a touch that was refused, or has ended, nothing depends on it
            holds = bool(self.hand.press) and self._touch[page] == self.hand.press
            self.hand.end(self.now, self._touch[page] or 'never')
            return (StopEvent(seen.LET_GO, self.now, page),) if holds else ()
        if what == 'is touched':
            self._touch[page] = f'{page}, new'
        elif self._touch[page] is None:
            return ()
        try:
            self.hand.move({'press': self._touch[page], **MOVE}, self.now)
        except Refusal:
            return (StopEvent('refused', self.now, page),)
        kind = seen.TOUCH if what == 'is touched' else seen.COMMAND
        return (StopEvent(kind, self.now, page, 1.0),)


def _ticks(ahead: float) -> int:
    """Return how far a moment is ahead, in ticks that have begun."""
    return int(np.ceil(ahead / TICK - 1e-9))


def hand_promises() -> list[Promise]:
    """Return the promise of driving by hand."""
    return [motion_promises.HeldByHand(HOLD, PAGES)]
