# SPDX-License-Identifier: Apache-2.0
"""Writer of Imu messages, straight to the wire (wire.py)."""

from __future__ import annotations

import numpy as np

from c3p_ros.chain_messages import ImuMessage
from c3p_ros.wire import Writer, finite_numbers
from c3p_ros.wire_readers import IMU


class YawRateWriter(Writer):
    """
    Writes Imu messages that have a yaw rate alone, in always the same frame.

    Parameters
    ----------
    frame_id : str
    variance : float, rad²/s²
        Of the rate; 0 if unknown.
    topic : str, for errors
    """

    def __init__(self, frame_id: str, variance: float = 0.0, topic: str = 'Imu') -> None:
        """Serialize the message with zeros."""
        super().__init__(IMU, topic, frame_id=frame_id)
        self._frame_id = frame_id
        self._covariance = (0.0,) * 8 + (variance,)
        self._turn = self._span('angular_velocity', 'angular_velocity_covariance')
        # −1: the message has no such data
        for field in ('orientation_covariance', 'linear_acceleration_covariance'):
            np.frombuffer(self._blank, '<f8', *self._span(field))[0] = -1.0

    def message(self, stamp: int, rate: float) -> ImuMessage:
        """
        Return the message with this stamp (ns) and yaw rate (rad/s).

        Raises
        ------
        PublishError
            A number that is not finite.
        """
        z, = finite_numbers(self._topic, 'yaw rate', [rate], ('z',))
        return ImuMessage(stamp, self._frame_id, (0.0, 0.0, z), self._covariance)

    def _fill(self, data: bytearray, message: ImuMessage) -> None:
        np.frombuffer(data, '<f8', *self._turn)[:] = (
            *message.angular_velocity, *message.angular_velocity_covariance)
