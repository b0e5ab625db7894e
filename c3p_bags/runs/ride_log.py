# SPDX-License-Identifier: Apache-2.0
"""Reader of a tricycle's run: a bag to arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs.columns import read_columns
from c3p_bags.storage.bag import JOINT_STATES, Bag
from c3p_bags.storage.bag_writer import BagError
from c3p_bags.storage.log_fields import named_reader, spatial
from c3p_description.model import Array
from c3p_description.pvc_model import JOINTS

# the ground under the vehicle, a MarkerArray with one TRIANGLE_LIST
TERRAIN = 'rough_ground/terrain'

# of markers
TRIANGLE_LIST = 11


class RideGround(NamedTuple):
    """
    Part of the ground as m triangles: corners (3 m, 3) [m] in the odometry's frame, and colours.

    Red, green, blue, opacity (3 m, 4), 0 to 1; empty for a message without colours.
    """

    corners: Array
    colours: Array


class Ride(NamedTuple):
    """
    A recorded run of the tricycle; times in s since the first joint states, by stamps.

    Joint angles and rates (k, 6) [rad and rad/s] in the order of `pvc_model.JOINTS`; position [m]
    and quaternion x, y, z, w (m, 7) of the platform, and its twist (m, 6) in its own frame [m/s
    and rad/s]; times from which the parts of the ground were shown.
    """

    time: Array
    joint: Array
    rate: Array
    pose_time: Array
    pose: Array
    twist: Array
    grounds: Sequence[tuple[float, RideGround]]


def ground_of(message: Any) -> RideGround | None:
    """Return the first list of triangles in a MarkerArray, or None."""
    for marker in message.markers:
        if marker.type == TRIANGLE_LIST and marker.points:
            return RideGround(np.array([(p.x, p.y, p.z) for p in marker.points]),
                              np.array([(c.r, c.g, c.b, c.a) for c in marker.colors]).reshape(-1,
                                                                                              4))
    return None


def read_ride(bag: Bag, namespace: str | None = None) -> Ride:
    """
    Return the tricycle's run in a bag.

    `namespace` is that of the robot; default the only one in the bag.

    Raises
    ------
    BagError
        The bag cannot be read, or has no joint states or no odometry of a tricycle.
    """
    space = bag.namespace(namespace)
    readers = {f'{space}/{JOINT_STATES}': named_reader(JOINTS), f'{space}/odom': spatial}
    found = read_columns(bag, readers)
    columns = []
    for topic, content in zip(readers, (f'all of {list(JOINTS)}', 'numbers only'), strict=True):
        if topic not in found:
            raise BagError(f'bag {bag}: no message on {topic} has {content}')
        stamp = found[topic].stamp
        values = found[topic].values
        order = np.argsort(stamp, kind='stable')
        columns.append((stamp[order], *(value[order] for value in values)))
    (stamp, joint, rate), (pose_stamp, pose, twist) = columns
    grounds = [(max(0.0, (_stamp(m.message) - int(stamp[0])) / 1e9), ground)
               for m in bag.messages([f'{space}/{TERRAIN}'])
               if (ground := ground_of(m.message)) is not None]
    return Ride((stamp - stamp[0]) / 1e9, joint, rate, (pose_stamp - stamp[0]) / 1e9, pose,
                twist, grounds)


def _stamp(message: Any) -> int:
    stamp = message.markers[0].header.stamp
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
