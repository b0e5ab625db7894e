# SPDX-License-Identifier: Apache-2.0
"""Bags of the tricycle to arrays, without a ROS 2 installation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs.log_reader import JOINT_STATES, namespace_of
from c3p_bags.storage.bags import BagError, read_topics, topics_of
from c3p_bags.storage.batches import read_batches
from c3p_bags.storage.log_fields import Rows, named_reader, spatial
from c3p_description.model import Array
from c3p_description.pvc_model import JOINTS

# the ground under the vehicle, a MarkerArray with one TRIANGLE_LIST
TERRAIN = 'rough_ground/terrain'

# of markers
TRIANGLE_LIST = 11


class Ground(NamedTuple):
    """
    A piece of the ground as triangles, three corners each.

    Attributes
    ----------
    corners : (3 m, 3) array, m
        In the odometry's frame.
    colours : (3 m, 4) array
        Red, green, blue, opacity, 0 to 1; empty where the message has none.
    """

    corners: Array
    colours: Array


class Ride(NamedTuple):
    """
    A recorded run of the tricycle; times in s since the first joint states, by stamps.

    Attributes
    ----------
    time : (k,) array
    joint, rate : (k, 6) arrays, rad and rad/s
        In the order of `pvc_model.JOINTS`.
    pose_time : (m,) array
    pose : (m, 7) array
        Position [m] and quaternion x, y, z, w of the platform.
    twist : (m, 6) array
        Of the platform in its own frame, m/s and rad/s.
    grounds : sequence of (float, Ground)
        Since when each piece was shown.
    """

    time: Array
    joint: Array
    rate: Array
    pose_time: Array
    pose: Array
    twist: Array
    grounds: Sequence[tuple[float, Ground]]


def ground_of(message: Any) -> Ground | None:
    """Return the first list of triangles in a MarkerArray, or None."""
    for marker in message.markers:
        if marker.type == TRIANGLE_LIST and marker.points:
            return Ground(np.array([(p.x, p.y, p.z) for p in marker.points]),
                          np.array([(c.r, c.g, c.b, c.a) for c in marker.colors]).reshape(-1, 4))
    return None


def read_ride(bag: str | Path, namespace: str | None = None) -> Ride:
    """
    Return the tricycle's run in a bag.

    Parameters
    ----------
    bag : str or Path
        Directory of a rosbag2 bag, or a single file.
    namespace : str, optional
        Of the robot; default the only one in the bag.

    Raises
    ------
    BagError
        It cannot be read, or has no joint states or no odometry of a tricycle.
    """
    found = topics_of(bag)
    space = namespace_of(found, bag) if namespace is None else namespace.rstrip('/')
    readers = {f'{space}/{JOINT_STATES}': named_reader(JOINTS), f'{space}/odom': spatial}
    parts: dict[str, list[Rows]] = {topic: [] for topic in readers}
    for batch in read_batches(bag, [topic for topic in readers if topic in found]):
        parts[batch.topic] += readers[batch.topic](found[batch.topic][0], batch.data)
    for topic, what in zip(readers, (f'all of {list(JOINTS)}', 'numbers only'), strict=True):
        if not parts[topic]:
            raise BagError(f'bag {bag}: no message on {topic} has {what}')
    columns = []
    for rows in parts.values():
        stamp = np.concatenate([r.stamp for r in rows])
        order = np.argsort(stamp, kind='stable')
        columns.append((stamp[order], *(np.concatenate(v)[order] for v in zip(
            *(r.values for r in rows), strict=True))))
    (stamp, joint, rate), (pose_stamp, pose, twist) = columns
    grounds = [(max(0.0, (_stamp(m.message) - int(stamp[0])) / 1e9), ground)
               for m in read_topics(bag, [f'{space}/{TERRAIN}'])
               if (ground := ground_of(m.message)) is not None]
    return Ride((stamp - stamp[0]) / 1e9, joint, rate, (pose_stamp - stamp[0]) / 1e9, pose,
                twist, grounds)


def _stamp(message: Any) -> int:
    stamp = message.markers[0].header.stamp
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
