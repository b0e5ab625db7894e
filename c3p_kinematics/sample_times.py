# SPDX-License-Identifier: Apache-2.0
"""
Times of joint samples that a publisher sends in a cycle of its own.

The joint state broadcaster of ros2_control stamps the cycle of its manager and sends the newest
state of the hardware. If the hardware has another cycle, one sample is sent twice and another one
not at all; while the hardware is silent, its last sample is sent with new stamps.
"""

from __future__ import annotations

import numpy as np

from c3p_description.model import Array
from c3p_kinematics._sample_kernels import interval, repeated

__all__ = ['REPEATED', 'Repetition', 'interval']

# reason of the odometry
REPEATED = 'the sample before, repeated'

# rate, rad/s, above which a sample that equals the one before is the same sample: encoders count
# several times in a period of the watchdogs, whereas some drives show a rate at standstill
LEAST_RATE = 1.0


class Repetition:
    """
    Detects a sample that equals the one before bit for bit although the robot moves.

    Parameters
    ----------
    count : int
        Number of casters.

    Examples
    --------
    >>> repetition, still, rate = Repetition(3), np.zeros(3), np.full(3, 5.0)
    >>> [repetition.found(still, still, still + angle, rate) for angle in (0.1, 0.2, 0.2)]
    [False, False, True]
    >>> [repetition.found(still, still, still, still) for _ in range(2)]  # a robot that stands
    [False, False]
    """

    def __init__(self, count: int) -> None:
        """Start without a sample."""
        self._before = np.full((4, count), np.nan)

    def found(self, steering: Array, steering_rate: Array, wheel_angle: Array, wheel_rate: Array
              ) -> bool:
        """
        Return whether a sample is the one before.

        Parameters
        ----------
        steering, steering_rate : (n,) array, rad and rad/s
        wheel_angle, wheel_rate : (n,) array, rad and rad/s
        """
        return repeated(self._before, steering, wheel_angle, steering_rate, wheel_rate, LEAST_RATE)
