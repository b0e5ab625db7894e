# SPDX-License-Identifier: Apache-2.0
"""Writer of the Odometry of a vehicle in space, straight to the wire (wire.py)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_ros.cdr import COVARIANCE, POSE, TWIST
from c3p_ros.chain_messages import OdometryMessage
from c3p_ros.wire import Writer, finite_numbers
from c3p_ros.wire_readers import ODOMETRY

# fields of the numbers, in their order in the message, with their sizes
SIZES = {'pose': POSE, 'pose_covariance': COVARIANCE, 'twist': TWIST,
         'twist_covariance': COVARIANCE}


class OdometryWriter(Writer):
    """
    Writes Odometry messages between always the same frames.

    Parameters
    ----------
    frame_id, child_frame_id : str
    topic : str, for errors
    """

    def __init__(self, frame_id: str, child_frame_id: str, topic: str = 'Odometry') -> None:
        """Serialize the message with zeros."""
        super().__init__(ODOMETRY, topic, frame_id=frame_id, child_frame_id=child_frame_id)
        self._frames = frame_id, child_frame_id
        self._every = self._span(*SIZES)
        zeros = (0.0,) * COVARIANCE
        self._covariances = {'pose_covariance': zeros, 'twist_covariance': zeros}

    def message(self, stamp: int, pose: ArrayLike, twist: ArrayLike,
                pose_covariance: ArrayLike | None = None,
                twist_covariance: ArrayLike | None = None) -> OdometryMessage:
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
        ValueError
            A wrong count of numbers.
        """
        given = {'pose': pose, 'pose_covariance': pose_covariance, 'twist': twist,
                 'twist_covariance': twist_covariance}
        found = dict(self._covariances)
        for field, values in given.items():
            if values is not None:
                found[field] = self._checked(field, values)
        self._covariances = {field: found[field] for field in self._covariances}
        return OdometryMessage(stamp, *self._frames, found['pose'], found['twist'],
                               found['pose_covariance'], found['twist_covariance'])

    def _checked(self, field: str, values: ArrayLike) -> tuple[float, ...]:
        numbers = finite_numbers(self._topic, field.replace('_', '.'), values)
        if len(numbers) != SIZES[field]:
            raise ValueError(f'{self._topic}: {field} has {len(numbers)} numbers; must have '
                             f'{SIZES[field]}')
        return numbers

    def _fill(self, data: bytearray, message: OdometryMessage) -> None:
        np.frombuffer(data, '<f8', *self._every)[:] = (
            *message.pose, *message.pose_covariance, *message.twist, *message.twist_covariance)
