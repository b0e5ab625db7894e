# SPDX-License-Identifier: Apache-2.0
"""Writer of the Odometry of a robot on a plane, straight to the wire (wire.py)."""

from __future__ import annotations

import math

import numpy as np

from c3p_description.model import Array
from c3p_ros.wire import ODOMETRY, PLANAR, Writer, check_finite

# places of x, y and the rotation (z, w) in a pose, and of x, y and yaw in a covariance
POSE = [0, 1, 5, 6]
COVARIANCE = [6 * row + column for row in PLANAR for column in PLANAR]


class PlanarOdometryWriter(Writer):
    """
    Writes Odometry messages between always the same frames.

    Parameters
    ----------
    frame_id, child_frame_id : str
    topic : str, for errors
    unobserved : (36,) array, optional
        Covariance of what a plane leaves open, for pose and twist; zero when left out.

    Examples
    --------
    >>> from c3p_ros.wire import READERS, Odometry
    >>> write, read = PlanarOdometryWriter('odom', 'base_link'), READERS[Odometry]()
    >>> read(write(5, np.array([1.0, 2.0, np.pi]), np.array([0.1, 0.2, 0.3]))).twist
    (0.1, 0.2, 0.0, 0.0, 0.0, 0.3)
    """

    FIELDS = {'pose': POSE, 'pose_covariance': COVARIANCE, 'twist': PLANAR,
              'twist_covariance': COVARIANCE}

    def __init__(self, frame_id: str, child_frame_id: str, topic: str = 'Odometry',
                 unobserved: Array | None = None) -> None:
        """Serialize the message with zeros."""
        super().__init__(ODOMETRY, topic, frame_id=frame_id, child_frame_id=child_frame_id)
        self._every, begin, places = self._numbers(*self.FIELDS), 0, []
        for field, parts in self.FIELDS.items():
            places.append(begin + np.array(parts))
            count = self._layout.fields[field].count
            if unobserved is not None and count == len(unobserved):
                self._every[begin:begin + count] = unobserved
            begin += count
        pose, first, twist, second = places
        self._motion, self._all = (np.concatenate([pose, twist]),
                                   np.concatenate([pose, twist, first, second]))

    def __call__(self, stamp: int, pose: Array, twist: Array,
                 pose_covariance: Array | None = None, twist_covariance: Array | None = None
                 ) -> bytes:
        """
        Return the message.

        Parameters
        ----------
        stamp : int, ns
        pose, twist : (3,) array
            (x, y, yaw) and (vx, vy, yaw rate).
        pose_covariance, twist_covariance : (3, 3) array, optional
            Both or none; those of the message before when left out.

        Raises
        ------
        PublishError
            A number that is not finite.
        """
        numbers, places = [*pose.tolist(), *twist.tolist()], self._motion
        if pose_covariance is not None and twist_covariance is not None:
            numbers += [*pose_covariance.ravel().tolist(), *twist_covariance.ravel().tolist()]
            places = self._all
        # of finite numbers the sum may be infinite: then each is looked at
        if not math.isfinite(sum(numbers)):
            check_finite(self._topic, 'pose', pose, ('x', 'y', 'yaw'))
            check_finite(self._topic, 'twist', twist, ('vx', 'vy', 'yaw rate'))
            check_finite(self._topic, 'covariance', numbers[6:])
        half = 0.5 * numbers[2]
        numbers[2:3] = math.sin(half), math.cos(half)
        self._every[places] = numbers
        return self._stamped(stamp)
