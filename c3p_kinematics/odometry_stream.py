# SPDX-License-Identifier: Apache-2.0
"""
Odometry of samples as they arrive; the node and the offline run on a bag are both this.

What is the same object gives the same bits: the odometry recomputed from recorded joint states is
the recorded one, as long as samples and settings are.
"""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_description.texts import brief
from c3p_kinematics.odometry import Odometry, OdometryEstimate, OdometrySettings

# parameters of the node that are settings of the odometry
PARAMETERS = (
    'max_gap', 'robust', 'wheel_counts', 'steering_counts', 'rate_noise_std',
    'position_variance_per_metre', 'position_variance_per_radian', 'yaw_variance_per_metre',
    'yaw_variance_per_radian')


# variance of z, roll and pitch, which wheels do not observe, m² and rad²: large but finite,
# because filters and RViz break on more
UNOBSERVED = 1e6

# where x, y and yaw stand among the 36 numbers of a covariance, and the others' part of it
PLANAR = np.array([0, 1, 5, 6, 7, 11, 30, 31, 35])
TEMPLATE = np.diag([0.0, 0.0, UNOBSERVED, UNOBSERVED, UNOBSERVED, 0.0]).reshape(-1)


def planar_covariance(covariance: Array) -> Array:
    """Return the 36 numbers of a message from the covariance (3, 3) of (x, y, yaw)."""
    full = TEMPLATE.copy()
    full[PLANAR] = covariance.reshape(-1)
    return full


def odometry_settings(wheel_counts: int = 2000, steering_counts: int = 4096,
                      **more: float) -> OdometrySettings:
    """
    Return the settings from the parameters of the node.

    Parameters
    ----------
    wheel_counts, steering_counts : int
        Counts of an encoder per turn; resolution = 2π / counts.
    **more
        Fields of `OdometrySettings` by their names.

    Raises
    ------
    ValueError
        A value that cannot be.

    Examples
    --------
    >>> settings = odometry_settings(wheel_counts=1000, max_gap=0.5)
    >>> round(settings.wheel_resolution, 6), settings.max_gap
    (0.006283, 0.5)
    """
    for name, counts in (('wheel_counts', wheel_counts), ('steering_counts', steering_counts)):
        if isinstance(counts, bool) or not isinstance(counts, Integral) or not counts > 0:
            raise ValueError(f'{name} = {brief(counts)}: must be a whole number greater than zero')
    for name, value in more.items():
        truth = isinstance(value, bool)
        if name == 'robust' and not truth:
            raise ValueError(f'robust = {brief(value)}: must be true or false')
        if name not in ('robust', 'slip') and (truth or not isinstance(value, Real)):
            raise ValueError(f'{name} = {brief(value)}: must be a number')
    return OdometrySettings(wheel_resolution=2 * math.pi / wheel_counts,
                            steering_resolution=2 * math.pi / steering_counts, **more)


class OdometryStream:
    """
    Odometry with a clock of its own.

    Parameters
    ----------
    robot : CasterRobot
    settings : OdometrySettings, optional

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> stream, still = OdometryStream(robot), np.zeros(3)
    >>> first = stream.step(None, still, still, still, still)
    >>> second = stream.step(0.1, still, still, still + 0.25, still + 2.5)  # a centimetre, +Y
    >>> second.time, (second.pose.round(9) + 0.0).tolist()
    (0.1, [0.0, 0.01, 0.0])
    """

    def __init__(self, robot: CasterRobot, settings: OdometrySettings | None = None) -> None:
        """Stand at the origin at time zero."""
        self._robot = robot
        self._odometry = Odometry(robot, settings)
        # of the last sample, and since the last one that was used, s
        self._time, self._since = 0.0, 0.0

    @property
    def pose(self) -> Array:
        """Pose (x, y, yaw) on the floor: m and rad."""
        return self._odometry.pose

    def warm_up(self) -> None:
        """Compile the kernels with made-up samples, and forget these."""
        n = self._robot.count
        for k in range(3):
            self._odometry.step(0.01 * k, np.zeros(n), np.full(n, 0.01 * k), np.ones(n),
                                np.zeros(n))
        self._odometry.warm_up()

    def reset(self, pose: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Stand at `pose` (3,); the next sample only latches. Raises as `Odometry.reset`."""
        self._odometry.reset(pose)

    def step(self, dt: float | None, steering: ArrayLike, steering_rate: ArrayLike,
             wheel_angle: ArrayLike, wheel_rate: ArrayLike) -> OdometryEstimate:
        """
        Take one sample of all encoders.

        Parameters
        ----------
        dt : float, s, or None
            Since the sample before; None begins a time line: after a first one the pose stays
            where it was.
        steering, steering_rate, wheel_angle, wheel_rate : (n,) array_like, rad and rad/s

        Returns
        -------
        OdometryEstimate
            As `Odometry.step`; its time counts from the first sample.
        """
        if dt is None:
            self._odometry.reset(self._odometry.pose)
        # seconds since the first sample: no digits are lost to the epoch
        self._time += dt or 0.0
        self._since += dt or 0.0
        estimate = self._odometry.step(self._time, steering, wheel_angle, wheel_rate,
                                       steering_rate, self._since)
        if estimate.accepted:
            self._since = 0.0
        return estimate
