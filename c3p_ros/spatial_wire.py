# SPDX-License-Identifier: Apache-2.0
"""Writer of the Odometry of a vehicle in space, straight to the wire (wire.py)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_ros.wire import ODOMETRY, Writer, check_finite


class OdometryWriter(Writer):
    """
    Writes Odometry messages between always the same frames.

    Parameters
    ----------
    frame_id, child_frame_id : str
    topic : str, for errors
    """

    FIELDS = ('pose', 'pose_covariance', 'twist', 'twist_covariance')

    def __init__(self, frame_id: str, child_frame_id: str, topic: str = 'Odometry') -> None:
        """Serialize the message with zeros."""
        super().__init__(ODOMETRY, topic, frame_id=frame_id, child_frame_id=child_frame_id)
        self._parts = [self._numbers(field) for field in self.FIELDS]
        self._every = self._numbers(*self.FIELDS)

    def __call__(self, stamp: int, pose: ArrayLike, twist: ArrayLike,
                 pose_covariance: ArrayLike | None = None,
                 twist_covariance: ArrayLike | None = None) -> bytes:
        """
        Return the message.

        Parameters
        ----------
        stamp : int, ns
        pose : (7,) array_like
            Position and quaternion (x, y, z, w).
        twist : (6,) array_like
            Linear and angular.
        pose_covariance, twist_covariance : (36,) array_like, optional
            Those of the message before when left out, zero at first.

        Raises
        ------
        PublishError
            A number that is not finite.
        """
        for part, numbers in zip(self._parts, (pose, pose_covariance, twist, twist_covariance),
                                 strict=True):
            if numbers is not None:
                part[:] = numbers
        # the fields are adjacent: one test for all
        if not np.isfinite(self._every).all():
            self._reject()
        return self._stamped(stamp)

    def _reject(self) -> None:
        """Raise with the number at fault, and keep none of the numbers."""
        given = [part.copy() for part in self._parts]
        self._every[:] = 0.0
        for field, values in zip(self.FIELDS, given, strict=True):
            check_finite(self._topic, field.replace('_', '.'), values)
