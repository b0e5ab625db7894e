# SPDX-License-Identifier: Apache-2.0
"""Samples of a live robot for a browser: compact, of the last minute, and safe between threads."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.singularity import singularity
from c3p_viewers.sources.moment import Moment

# samples a second, and for how long they are kept, s
RATE, KEPT = 20.0, 60.0


def _short(values: Array | None, digits: int = 4) -> list[float | None] | None:
    """Return values as JSON has them: None where they are not finite."""
    if values is None:
        return None
    return [round(float(v), digits) if np.isfinite(v) else None for v in np.ravel(values)]


def sample(robot: CasterRobot, moment: Moment) -> dict[str, Any]:
    """
    Return a `moment` of the `robot` for a browser; SI units, None where a topic is silent.

    ``t`` time, ``p`` pose, ``s`` steering, ``v`` twist, ``c`` command, ``q`` torques, ``u``
    torques of the steering, ``r`` slip speeds, ``k`` suspect, ``m`` smallest singular value with
    its direction ``d``, ``g`` goal.
    """
    found = singularity(robot, moment.steering)
    slip = None if moment.residual is None else np.hypot(*moment.residual.T)
    return {'t': round(moment.time, 3), 'p': _short(moment.pose), 's': _short(moment.steering),
            'v': _short(moment.twist), 'c': _short(moment.command), 'q': _short(moment.torque),
            'u': _short(moment.steering_torque), 'r': _short(slip, 5), 'k': moment.suspect,
            'm': abs(round(float(found.sigma_min), 4)), 'd': _short(found.directions[2]),
            'g': _short(moment.goal)}


class History:
    """
    Samples of the last minute and the newest status; browsers wait here for the next ones.

    Every entry has a number, so that a browser that was slow continues where it stopped.
    """

    def __init__(self) -> None:
        """Begin without samples."""
        self._samples: deque[tuple[int, dict[str, Any]]] = deque(maxlen=int(RATE * KEPT))
        self._status: tuple[int, dict[str, Any]] = (0, {})
        self._number, self._closed = 0, False
        self._changed = threading.Condition()

    def add(self, value: dict[str, Any]) -> None:
        """Add a sample; a robot time that goes back begins anew."""
        with self._changed:
            if self._samples and value['t'] < self._samples[-1][1]['t']:
                self._samples.clear()
            self._number += 1
            self._samples.append((self._number, value))
            self._changed.notify_all()

    def set_status(self, value: dict[str, Any]) -> None:
        """Replace the status, if it differs."""
        with self._changed:
            if value != self._status[1]:
                self._number += 1
                self._status = (self._number, value)
                self._changed.notify_all()

    @property
    def status(self) -> dict[str, Any]:
        """Newest status."""
        return self._status[1]

    @property
    def closed(self) -> bool:
        """True after `close`."""
        return self._closed

    def close(self) -> None:
        """End the waiting of all browsers."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def after(self, number: int, wait: float) -> tuple[int, list[dict[str, Any]],
                                                       dict[str, Any] | None]:
        """
        Return the newest number, the samples after `number`, and the status if it is newer.

        Waits for the next entry, `wait` [s] at most; without one the lists are empty.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._number > number or self._closed, wait)
            # from the end: only few are new
            new: list[dict[str, Any]] = []
            for k, value in reversed(self._samples):
                if k <= number:
                    break
                new.append(value)
            told = self._status
            return self._number, new[::-1], told[1] if told[0] > number else None
