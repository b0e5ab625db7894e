# SPDX-License-Identifier: Apache-2.0
"""State of the present goal for the live page: driving with its distance, or the last result."""

from __future__ import annotations

from typing import Any

# the position controller publishes the distance ten times a second while it drives; without one
# for so long it does not drive, s
DISTANCE_LASTS = 1.0
# distances that were sent before the result of their goal arrive at most so long after it, s
CROSSING = 0.3
# a refused goal is shown for so long, s
REFUSAL_SHOWN = 10.0
# results that do not end the present drive
CONTINUING = frozenset({'preempted', 'refused'})


class DriveView:
    """
    State of the present goal, from the topics of the position controller.

    ``~/distance_to_goal`` continues while a reached goal is held; ``~/goal_reached`` separates
    both.
    """

    def __init__(self) -> None:
        """Begin without a goal."""
        self._held = False
        self._distance: tuple[float, float] | None = None
        self._result: dict[str, Any] | None = None
        self._ended = -CROSSING
        self._refused: tuple[float, str] | None = None

    def on_reached(self, reached: bool) -> None:
        """Take ``~/goal_reached``."""
        self._held = reached

    def on_distance(self, distance: float, now: float) -> None:
        """Take ``~/distance_to_goal``, m, at a time, s."""
        if self._held or now - self._ended < CROSSING:
            return
        self._distance = (now, distance)
        # it is that of an earlier goal
        self._result = None

    def on_result(self, level: int, text: str, now: float) -> None:
        """Take ``~/result`` of a goal: the level of its diagnostics and ``reason: text``."""
        reason, _, why = text.partition(': ')
        if reason == 'refused':
            self._refused = (now, why)
        if reason not in CONTINUING:
            self._distance = None
            self._ended = now
        if reason not in CONTINUING or not self._drives(now):
            self._result = {'level': level, 'reason': reason,
                            'why': '' if why == reason else why}

    def status(self, now: float) -> dict[str, Any]:
        """
        Return the state for the page.

        ``to_go`` [m] is None unless the robot drives to a goal; ``result`` is that of the last
        goal, None before the first one and during a drive; ``refused`` is the reason of a goal
        that was refused in the last seconds, else ''.
        """
        refused = self._refused
        return {'to_go': (round(self._distance[1], 2) if self._drives(now) and self._distance
                          else None),
                'result': self._result,
                'refused': refused[1] if refused and now - refused[0] <= REFUSAL_SHOWN else ''}

    def _drives(self, now: float) -> bool:
        return self._distance is not None and now - self._distance[0] <= DISTANCE_LASTS
