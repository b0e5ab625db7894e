# SPDX-License-Identifier: Apache-2.0
"""
Writer of velocity commands, Twist or TwistStamped, straight to the wire (wire.py).

rclpy makes ten Python objects of a TwistStamped, in 60 calls.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_ros.chain_messages import TwistMessage
from c3p_ros.wire import PLANAR, Writer, finite_numbers

KINDS = {True: 'geometry_msgs/msg/TwistStamped', False: 'geometry_msgs/msg/Twist'}


class TwistWriter(Writer):
    """
    Writes velocity commands of a robot on a plane in always the same frame.

    Parameters
    ----------
    stamped : bool
        TwistStamped; else Twist, which has neither stamp nor frame.
    frame_id : str
    topic : str, for errors

    Examples
    --------
    >>> write = TwistWriter(False, 'base_link', 'cmd_vel')
    >>> write(7, [0.3, 0.1, 0.5]) == write(8, [0.3, 0.1, 0.5])
    True
    """

    def __init__(self, stamped: bool, frame_id: str, topic: str = 'Twist') -> None:
        """Serialize the message with zeros."""
        super().__init__(KINDS[stamped], topic, frame_id=frame_id)
        self._frame_id = frame_id
        self._twist = self._span('twist')

    def message(self, stamp: int, twist: ArrayLike) -> TwistMessage:
        """
        Return the message with this stamp (ns) and twist (vx, vy, yaw rate).

        Raises
        ------
        PublishError
            A number that is not finite.
        """
        return TwistMessage(stamp, self._frame_id, finite_numbers(
            self._topic, 'twist', twist, ('vx', 'vy', 'yaw rate')))

    def _fill(self, data: bytearray, message: TwistMessage) -> None:
        np.frombuffer(data, '<f8', *self._twist)[PLANAR] = message.twist
