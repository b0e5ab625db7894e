# SPDX-License-Identifier: Apache-2.0
"""
Observer of the twist of the platform, by the accelerations that were sent.

Measured rates may lag, because drives filter them. A loop that is closed over them swings from a
gain of about 1/lag on. The observer continues the twist by what was sent, and estimates what else
accelerates the platform, d, from the path x that odometry has by the angles of the wheels,

    x̂̇ = ν̂ + 3 ω (x − x̂),  ν̂̇ = a + d + 3 ω² (x − x̂),  ḋ = ω³ (x − x̂)

in steps as a fading memory with ``q = exp(−ω dt)``, which is stable with samples of any distance,
so that friction, slopes and the push of casters leave no error. The prediction is the twist when
torques of this sample act.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_controller.sent_accelerations import SentAccelerations
from c3p_controller.steering_observer import LONGEST_STEP
from c3p_description.model import Array
from c3p_kinematics.se2 import to_body

# largest part of a path beyond that of the measured twist, m: the pose was set from outside
LEAP = 0.05


class TwistObserver:
    """
    Twist of one robot and the disturbance of its acceleration.

    Attributes
    ----------
    twist : (3,) array, m/s and rad/s
        At the last sample, without the lag of the measurement.
    disturbance : (3,) array, m/s² and rad/s²
    moved : (3,) array, m and rad
        Path between the last two samples, ``base_link``; of a pose that was set from outside that
        by the measured twist.

    Examples
    --------
    >>> observer = TwistObserver(np.zeros(3))
    >>> for k in range(400):  # what was sent accelerates the platform by 0.1 m/s² less
    ...     time = 0.005 * k
    ...     motion = np.array([0.9 * time, 0.0, 0.0])
    ...     observer.measure(np.array([0.45 * time**2, 0.0, 0.0]), motion, 0.005, (10.0, 0.0))
    ...     observer.send(np.array([1.0, 0.0, 0.0]), 0.0)
    >>> observer.disturbance.round(3).tolist()
    [-0.1, 0.0, 0.0]
    """

    def __init__(self, twist: Array) -> None:
        """Start at `twist` (3,), with nothing sent."""
        self.twist = np.array(twist, float)
        self.disturbance = np.zeros(3)
        self.moved = np.zeros(3)
        self._sent = SentAccelerations()
        self._pose: Array | None = None
        # path beyond that of the observer, ``base_link``
        self._ahead = np.zeros(3)

    def measure(self, pose: Array, twist: Array, dt: float, settings: tuple[float, float]) -> None:
        """
        Process the `pose` and `twist` (3,) of odometry, `dt` seconds after the last ones.

        `settings` are the bandwidth ω, 1/s, and the delay of the input, s.
        """
        bandwidth, delay = settings
        self._sent.advance(dt)
        last, self._pose = self._pose, np.array(pose, float)
        if last is None or dt > LONGEST_STEP:
            self.twist = np.array(twist, float)
            self.disturbance = np.zeros(3)
            self.moved = np.zeros(3)
            self._ahead = np.zeros(3)
            return
        before = self._continued(delay, -dt, 0.0)
        self.moved = _path(last, self._pose, twist, dt)
        self._ahead = self._ahead + self.moved - 0.5 * dt * (self.twist + before)
        fading = math.exp(-bandwidth * dt)
        error = self._ahead
        self.twist = before + 1.5 * (1.0 - fading)**2 * (1.0 + fading) / dt * error
        self.disturbance = self.disturbance + (1.0 - fading)**3 / dt**2 * error
        self._ahead = fading**3 * error

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


def _path(last: Array, pose: Array, twist: Array, dt: float) -> Array:
    """Return the path (3,) between two poses in ``base_link``; by `twist` across a leap."""
    turned = math.remainder(float(pose[2] - last[2]), 2.0 * math.pi)
    moved = np.append(to_body(last[2] + 0.5 * turned, pose - last)[:2], turned)
    rolled = dt * np.asarray(twist, float)
    return moved if np.abs(moved - rolled).max() < LEAP else rolled
