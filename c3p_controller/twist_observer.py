# SPDX-License-Identifier: Apache-2.0
"""
Observer of the twist of the platform, by the accelerations that were sent.

Measured twists may lag: drives filter their rates, and samples have an age. A loop that is closed
over them swings from a gain of about 1/lag on. The observer continues the twist by what was sent,
and estimates what else accelerates the platform, d,

    ν̂̇ = a + d + 2 ω (ν − ν̂),  ḋ = ω² (ν − ν̂)

so that lag matters to its bandwidth ω only, and friction or slopes leave no error. The prediction
is the twist when torques of this sample act.
"""

from __future__ import annotations

import numpy as np

from c3p_controller.sent_accelerations import SentAccelerations
from c3p_controller.steering_observer import LONGEST_STEP
from c3p_description.model import Array


class TwistObserver:
    """
    Twist of one robot and the disturbance of its acceleration.

    Attributes
    ----------
    twist : (3,) array, m/s and rad/s
        At the last sample, without the lag of the measurement.
    disturbance : (3,) array, m/s² and rad/s²

    Examples
    --------
    >>> observer = TwistObserver(np.zeros(3))
    >>> for k in range(400):  # what was sent accelerates the platform by 0.1 m/s² less
    ...     observer.measure(np.array([0.9 * 0.005 * k, 0.0, 0.0]), 0.005, 4.0, 0.0)
    ...     observer.send(np.array([1.0, 0.0, 0.0]), 0.0)
    >>> observer.disturbance.round(3).tolist()
    [-0.1, 0.0, 0.0]
    """

    def __init__(self, twist: Array) -> None:
        """Start at `twist` (3,), with nothing on its way."""
        self.twist = np.array(twist, float)
        self.disturbance = np.zeros(3)
        self._sent = SentAccelerations()

    def measure(self, twist: Array, dt: float, bandwidth: float, delay: float) -> None:
        """Process the measured `twist` (3,), `dt` after the last; `delay` of the input, s."""
        self._sent.advance(dt)
        if dt > LONGEST_STEP:
            self.twist = np.array(twist, float)
            self.disturbance = np.zeros(3)
            return
        part = bandwidth * dt
        before = self._continued(delay, -dt, 0.0)
        error = twist - before
        self.twist = before + 2.0 * part * error
        self.disturbance = self.disturbance + bandwidth * part * error

    def ahead(self, delay: float) -> Array:
        """Return the twist (3,) when torques of this sample act, after `delay` [s]."""
        return self._continued(delay, 0.0, delay)

    def send(self, accel: Array, delay: float) -> None:
        """Remember the acceleration (3,) of the torques of this sample."""
        self._sent.send(accel, delay)

    def _continued(self, delay: float, begin: float, end: float) -> Array:
        twist: Array = self.twist + (end - begin) * self.disturbance
        for since, until, accel in self._sent.during(begin, end, delay):
            twist = twist + (until - since) * accel
        return twist
