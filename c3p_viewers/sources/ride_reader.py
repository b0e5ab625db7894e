# SPDX-License-Identifier: Apache-2.0
"""Moments of the tricycle, from messages as they come or from its recorded run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs.ride_log import TERRAIN, Ride, RideGround, ground_of
from c3p_description.model import Array
from c3p_description.pvc_model import JOINTS
from c3p_ros.cdr import MessageError
from c3p_viewers.sources.newest import (
    LASTS,
    NewestMessages,
    picked,
    rates,
    spatial_pose,
    spatial_twist,
    stamp_of,
)

# topics of a moment, and of the ground
MOVING = {'joint_states': 'sensor_msgs/msg/JointState', 'odom': 'nav_msgs/msg/Odometry'}
TOPICS = {**MOVING, TERRAIN: 'visualization_msgs/msg/MarkerArray'}


class Placed(NamedTuple):
    """
    An odometry in space.

    Attributes
    ----------
    frame : str
    stamp : int, ns
    pose : (7,) array
        Position [m] and quaternion x, y, z, w of the platform in `frame`.
    twist : (6,) array
        Of the platform in its own frame, m/s and rad/s.
    """

    frame: str
    stamp: int
    pose: Array
    twist: Array


class RideMoment(NamedTuple):
    """
    The tricycle at one time.

    Attributes
    ----------
    time : float, s
        Since the first joint states.
    joint, rate : (6,) arrays, rad and rad/s
        In the order of `pvc_model.JOINTS`.
    pose : (7,) array
        Position [m] and quaternion x, y, z, w of the platform in the odometry's frame.
    twist : (6,) array
        Of the platform in its own frame, m/s and rad/s.
    """

    time: float
    joint: Array
    rate: Array
    pose: Array
    twist: Array


def ride_at(ride: Ride, time: float) -> RideMoment:
    """Return the newest samples of a recorded run at a time, s; before its start the first."""
    at, placed = (max(0, int(np.searchsorted(times, time, side='right')) - 1)
                  for times in (ride.time, ride.pose_time))
    return RideMoment(time, ride.joint[at], ride.rate[at], ride.pose[placed], ride.twist[placed])


class RideReader(NewestMessages):
    """
    Keeps the newest messages of a tricycle; decodes them when a moment is requested.

    Parameters
    ----------
    lasts, refuse
        As for `NewestMessages`.
    names : sequence of str
        Of the joints, those of the tricycle when omitted.
    """

    def __init__(self, lasts: float = LASTS,
                 refuse: Callable[[str, object], None] = lambda topic, reason: None,
                 names: Sequence[str] = JOINTS) -> None:
        """Begin without messages."""
        super().__init__(TOPICS, lasts, refuse, large=(TERRAIN,))
        self._names = list(names)
        self._first: int | None = None
        self._ground: object = None

    def joints(self, now: float) -> tuple[int, Array, Array] | None:
        """Return stamp, ns, positions and rates (k,) of the joints; None without fresh ones."""
        return self.value('joint_states', now, lambda message: (
            stamp_of(message.header), picked(message, self._names, 'position'),
            rates(message, self._names)))

    def placed(self, now: float) -> Placed | None:
        """Return the newest odometry; None without a fresh one."""
        return self.value('odom', now, lambda message: Placed(
            message.header.frame_id, stamp_of(message.header), spatial_pose(message.pose.pose),
            spatial_twist(message.twist.twist)))

    def moment(self, now: float) -> RideMoment | None:
        """Return the moment at `now`, s by the clock of `put`; None without fresh messages."""
        joints = self.joints(now)
        placed = self.placed(now)
        if joints is None or placed is None:
            return None
        stamp, joint, rate = joints
        if self._first is None or stamp < self._first:
            self._first = stamp
        return RideMoment(1e-9 * (stamp - self._first), joint, rate, placed.pose, placed.twist)

    def ground(self) -> RideGround | None:
        """Return the newest ground if it has not been returned before."""
        received = self.received(TERRAIN)
        if received is None or received is self._ground:
            return None
        self._ground = received
        return self.value(TERRAIN, np.inf, _ground)


def _ground(message: Any) -> RideGround:
    ground = ground_of(message)
    if ground is None:
        raise MessageError('no list of triangles')
    return ground
