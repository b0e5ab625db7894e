# SPDX-License-Identifier: Apache-2.0
"""Samples of a live robot for a browser: compact, of the last minute, and safe between threads."""

from __future__ import annotations

import threading
from collections import deque
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.singularity import shown_singularity
from c3p_viewers.sources.moment import Moment

# samples a second, and for how long they are kept, s
RATE = 20.0
KEPT = 60.0


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
    its direction ``d``, of casters, ``g`` goal.
    """
    found = shown_singularity(robot, moment.steering)
    slip = None if moment.residual is None else np.hypot(*moment.residual.T)
    return {'t': round(moment.time, 3), 'p': _short(moment.pose), 's': _short(moment.steering),
            'v': _short(moment.twist), 'c': _short(moment.command), 'q': _short(moment.torque),
            'u': _short(moment.steering_torque), 'r': _short(slip, 5), 'k': moment.suspect,
            'm': None if found is None else abs(round(float(found.sigma_min), 4)),
            'd': None if found is None else _short(found.directions[2]),
            'g': _short(moment.goal)}


class Seen(NamedTuple):
    """Numbers of the newest sample and of the newest status that a browser has received."""

    sample: int = 0
    status: int = 0


class History:
    """
    Samples of the last minute and the newest status, for browsers that fetch what is new.

    Samples and statuses are numbered, so that a browser that was slow continues where it stopped.
    """

    def __init__(self) -> None:
        """Begin without samples."""
        self._samples: deque[dict[str, Any]] = deque(maxlen=int(RATE * KEPT))
        self._count = 0
        self._status: dict[str, Any] = {}
        self._version = 0
        self._lock = threading.Lock()

    def add(self, value: dict[str, Any]) -> None:
        """Add a sample; a robot time that goes back begins anew."""
        with self._lock:
            if self._samples and value['t'] < self._samples[-1]['t']:
                self._samples.clear()
            self._count += 1
            self._samples.append(value)

    def set_status(self, value: dict[str, Any]) -> None:
        """Replace the status, if it differs."""
        with self._lock:
            if value != self._status:
                self._version += 1
                self._status = value

    @property
    def status(self) -> dict[str, Any]:
        """Newest status."""
        return self._status

    def after(self, seen: Seen, most: int) -> tuple[Seen, list[dict[str, Any]],
                                                    dict[str, Any] | None]:
        """
        Return what is newer than `seen`: samples, the earliest first, and the status.

        Parameters
        ----------
        seen : Seen
        most : int
            Largest number of samples.

        Returns
        -------
        tuple
            What has been seen afterwards; samples; status, None if it is not newer.
        """
        with self._lock:
            new = min(self._count - seen.sample, len(self._samples))
            begin = len(self._samples) - new
            samples = list(islice(self._samples, begin, begin + most))
            status = self._status if self._version > seen.status else None
            return Seen(self._count - new + len(samples), self._version), samples, status
