# SPDX-License-Identifier: Apache-2.0
"""
Messages of the control chain as immutable values. Needs no ROS.

The nodes of a process hand these values to each other (exchange.py); wire.py writes them for other
processes, and reads an equal value from the bytes of another process. Sequences are tuples, arrays
are read-only: a subscriber cannot change what the next one gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from c3p_description.model import Array


class JointFields(Protocol):
    """Fields of a JointState, as a message of rclpy or rosbags or as a `JointStateMessage`."""

    @property
    def name(self) -> Sequence[str]:
        """Names of the joints."""

    @property
    def position(self) -> Sequence[float]:
        """Angles, rad."""

    @property
    def velocity(self) -> Sequence[float]:
        """Rates, rad/s."""

    @property
    def effort(self) -> Sequence[float]:
        """Torques, N·m."""


class JointStateMessage(NamedTuple):
    """
    A JointState.

    Attributes
    ----------
    stamp : int, ns
    name : tuple of str
    position, velocity, effort : tuple of float, rad, rad/s and N·m
        One number for each joint, or empty.
    """

    stamp: int
    name: tuple[str, ...]
    position: tuple[float, ...]
    velocity: tuple[float, ...]
    effort: tuple[float, ...]


class OdometryMessage(NamedTuple):
    """
    An Odometry.

    Attributes
    ----------
    stamp : int, ns
    frame_id, child_frame_id : str
    pose : tuple of 7 floats
        Position, m, and quaternion (x, y, z, w).
    twist : tuple of 6 floats
        Linear, m/s, and angular, rad/s.
    pose_covariance, twist_covariance : tuple of 36 or 9 floats
        By rows; 9 of x, y and yaw for a robot on a plane. Written, but not read by the nodes of
        the chain: empty in a message of another process.
    """

    stamp: int
    frame_id: str
    child_frame_id: str
    pose: tuple[float, ...]
    twist: tuple[float, ...]
    pose_covariance: tuple[float, ...] = ()
    twist_covariance: tuple[float, ...] = ()


class AccelMessage(NamedTuple):
    """
    An AccelStamped.

    Attributes
    ----------
    stamp : int, ns
    frame_id : str
    accel : tuple of 6 floats
        Linear, m/s², and angular, rad/s².
    """

    stamp: int
    frame_id: str
    accel: tuple[float, ...]


class ImuMessage(NamedTuple):
    """
    An Imu, of which the angular velocity is read.

    Attributes
    ----------
    stamp : int, ns
    frame_id : str
    angular_velocity : tuple of 3 floats, rad/s
    angular_velocity_covariance : tuple of 9 floats, rad²/s²
        By rows; the first is −1 for a message without angular velocity.
    """

    stamp: int
    frame_id: str
    angular_velocity: tuple[float, ...]
    angular_velocity_covariance: tuple[float, ...]


class TwistMessage(NamedTuple):
    """
    A Twist or TwistStamped of a robot on a plane.

    Attributes
    ----------
    stamp : int, ns
    frame_id : str
    twist : tuple of 3 floats
        vx and vy, m/s, and yaw rate, rad/s.
    """

    stamp: int
    frame_id: str
    twist: tuple[float, ...]


class TrajectoryMessage(NamedTuple):
    """
    A MultiDOFJointTrajectory of one frame.

    Attributes
    ----------
    stamp : int, ns
    frame_id : str
    name : tuple of str
        Names of the joints: of the frame that moves.
    time : (k,) array, s
        Of the points, from the start.
    transforms : (k, 7) array
        Positions, m, and quaternions (x, y, z, w).
    velocities : (k, 6) array
        Linear, m/s, and angular, rad/s.
    """

    stamp: int
    frame_id: str
    name: tuple[str, ...]
    time: Array
    transforms: Array
    velocities: Array


ChainMessage = (JointStateMessage | OdometryMessage | AccelMessage | ImuMessage | TwistMessage
                | TrajectoryMessage)
