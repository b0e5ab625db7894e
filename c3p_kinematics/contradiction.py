# SPDX-License-Identifier: Apache-2.0
"""Contradiction of several casters that lasts: the pose of the odometry is unknown."""

from __future__ import annotations

import math

# time after which the pose is taken for unknown, and the longest interruption, s of robot time
REPORTED = 2.0
INTERRUPTED = 0.5


class Contradiction:
    """
    Duration for which the faults of more than one caster explain the samples.

    A single wheel that slips is left out of the odometry, several are not. On an oily floor they
    slip for a moment; exchanged encoders contradict each other as long as the robot turns.

    Attributes
    ----------
    lasts : float, s
        Duration so far, in which short interruptions do not count; 0 without one.
    long : bool
        The pose is unknown.

    Examples
    --------
    >>> contradiction = Contradiction()
    >>> for time, several in [(1.0, True), (1.4, True), (1.7, False), (2.0, False)]:
    ...     contradiction.step(time, several)
    >>> contradiction.lasts, contradiction.text()
    (0.0, '')
    >>> for k in range(22):
    ...     contradiction.step(3.0 + 0.1 * k, True)
    >>> contradiction.text()[:58]
    'more than one wheel slips or has a wrong encoder for 2.1 s'
    """

    def __init__(self) -> None:
        """Start without a contradiction."""
        self.lasts = 0.0
        self.long = False
        self._begin, self._last = math.inf, -math.inf

    def step(self, time: float, several: bool) -> None:
        """Process a sample at `time`, s; `several` as `FaultReport.several`."""
        # time that goes back is another run
        if not 0.0 <= time - self._last <= INTERRUPTED:
            self._begin = math.inf
        if several:
            self._begin = min(self._begin, time)
            self._last = time
        self.lasts = max(0.0, time - self._begin)
        self.long = self.lasts >= REPORTED

    def text(self) -> str:
        """Return the reason why the pose is unknown, empty until it is."""
        if not self.long:
            return ''
        return (f'more than one wheel slips or has a wrong encoder for {self.lasts:.1f} '
                's; check that no two casters are exchanged')
