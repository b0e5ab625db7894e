# SPDX-License-Identifier: Apache-2.0
"""
Observer of the steering axes of modules: their angles and rates when the next torques act.

An axis is a double integrator of the acceleration that was sent. The observer continues it, and
corrects angle and rate by the measured angle with the gains of a fading memory,

    α = 1 − q²,  β = (1 − q)²/dt,  q = exp(−ω dt)

so that the rate lags by nothing that the law itself has caused. From the last sample on, what was
sent acts for the input delay, and the prediction is the state at its end. Without it a loop
of steering rates lags by delay, hold and filter, 25 ms of 5 ms samples, and swings with samples
that arrive in batches.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_controller.sent_accelerations import SentAccelerations
from c3p_description.model import Array

# bandwidth of the correction ω, 1/s
BANDWIDTH = 100.0

# longest step of which the memory is of use, s
LONGEST_STEP = 0.1

# time constant in which the longest interval between samples is forgotten, s
INTERVAL_MEMORY = 1.0


class SteeringObserver:
    """
    State of the steering axes of one robot, n axes.

    Attributes
    ----------
    interval : float, s
        Longest recent time between two samples, for which torques are held.

    Examples
    --------
    >>> observer = SteeringObserver()
    >>> for k in range(200):  # an axis at 2 rad/s, in samples of 5 ms
    ...     observer.measure(np.array([0.01 * k]), 0.005, 0.01)
    >>> angle, rate = observer.ahead(0.01)
    >>> angle.round(3).tolist(), rate.round(3).tolist()  # 10 ms ahead of 1.99 rad
    ([2.01], [2.0])
    """

    def __init__(self) -> None:
        """Start without a sample."""
        self.forget()

    def forget(self) -> None:
        """Forget the past; the axes stand at the next angles."""
        self.interval = 0.0
        self._angle: Array | None = None
        self._rate = np.zeros(0)
        self._sent = SentAccelerations()

    def measure(self, angle: Array, dt: float, delay: float) -> None:
        """Process the angles (n,), rad, `dt` after the last ones; `delay` of the input, s."""
        self.interval = max(dt, self.interval * math.exp(-dt / INTERVAL_MEMORY))
        self._sent.advance(dt)
        if self._angle is None or dt > LONGEST_STEP:
            self._angle = np.array(angle, float)
            self._rate = np.zeros(len(angle))
            return
        # what acted between the samples
        before, rate = self._continued(delay, -dt, 0.0)
        fading = math.exp(-BANDWIDTH * dt)
        error = angle - before
        self._angle = before + (1.0 - fading**2) * error
        self._rate = rate + (1.0 - fading)**2 / dt * error

    def ahead(self, delay: float) -> tuple[Array, Array]:
        """Return the angles and rates (n,) when torques of this sample act, after `delay` [s]."""
        return self._continued(delay, 0.0, delay)

    def send(self, accel: Array, delay: float) -> None:
        """Remember the accelerations (n,), rad/s², of the torques of this sample."""
        self._sent.send(accel, delay)

    def _continued(self, delay: float, begin: float, end: float) -> tuple[Array, Array]:
        """Return angles and rates at `end`, from the state at `begin`, s from this sample."""
        assert self._angle is not None
        angle = self._angle
        rate = self._rate
        now = begin
        for since, until, accel in self._sent.during(begin, end, delay):
            step = until - since
            # without a known acceleration it coasts
            angle = angle + (since - now) * rate + step * (rate + 0.5 * step * accel)
            rate = rate + step * accel
            now = until
        return angle + (end - now) * rate, rate


def held_gain(gain: float, interval: float) -> float:
    """
    Return the gain [1/s] of a rate whose correction is held for `interval`, s.

    ``(1 − exp(−k T))/T``: at the end the error is what it would be with `gain` all the time.

    Examples
    --------
    >>> held_gain(60.0, 0.0), round(held_gain(60.0, 0.035), 1)
    (60.0, 25.1)
    """
    return -math.expm1(-gain * interval) / interval if interval > 0.0 else gain
