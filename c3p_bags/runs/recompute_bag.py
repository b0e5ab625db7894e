# SPDX-License-Identifier: Apache-2.0
"""Odometry of a whole bag again: with the robot and parameters that it knows, or with others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rosbags.typesys.store import Typestore

from c3p_bags.runs.log_reader import namespace_of
from c3p_bags.runs.recompute import (
    ODOMETRY,
    Agreement,
    Recomputed,
    compare,
    read_samples,
    recompute,
)
from c3p_bags.runs.recorded_robot import NODE, recorded_casters
from c3p_bags.storage.bag_contents import connections_of, notes_of
from c3p_bags.storage.bag_parameters import read_parameters, suite_version
from c3p_bags.storage.bags import BagError, BagWriter, read_raw, topics_of
from c3p_kinematics.odometry import PARAMETERS, odometry_settings

# where the recorded odometry goes in a bag that has the recomputed one
RECORDED = 'odom/recorded'


class BagOdometry(NamedTuple):
    """
    What became of a bag.

    Attributes
    ----------
    odometry : Recomputed
    agreement : Agreement or None
        With the recorded odometry, where there is one.
    parameters : dict
        Of the odometry, as they were used.
    known : bool
        Whether the bag had the parameters of the node.
    changed : bool
        Whether robot or parameters are others than the bag's.
    namespace : str
    frames : (str, str)
        Of pose and twist.
    """

    odometry: Recomputed
    agreement: Agreement | None
    parameters: dict[str, Any]
    known: bool
    changed: bool
    namespace: str
    frames: tuple[str, str]


def recompute_bag(bag: str | Path, robot: str = '', namespace: str | None = None,
                  changes: Mapping[str, Any] | None = None, everything: bool = False,
                  progress: Callable[[float], None] = lambda part: None) -> BagOdometry:
    """
    Compute the odometry of a bag again.

    Parameters
    ----------
    bag : str or Path
    robot : str, optional
        Name or path; default that of the bag, as `robot_of` finds it.
    namespace : str, optional
        Of the robot; default the only one in the bag.
    changes : mapping, optional
        Parameters of the node sensed_kinematics that shall be others than the bag's.
    everything : bool
        Use every joint state and set no pose, whatever the recorded odometry says.
    progress : callable
        Told the part that is done, 0 to 1.

    Raises
    ------
    BagError
        It cannot be read, has no joint states, or parameters are named that the odometry does not
        have.
    """
    found = topics_of(bag)
    space = namespace_of(found, bag) if namespace is None else namespace.rstrip('/')
    told = read_parameters(bag).get(f'{space}/{NODE}', {})
    changes = dict(changes or {})
    if unknown := set(changes) - set(PARAMETERS):
        raise BagError(f'{sorted(unknown)}: not parameters of the odometry; these are '
                       f'{sorted(PARAMETERS)}')
    values = {**{name: told[name] for name in PARAMETERS if name in told}, **changes}
    described = recorded_casters(bag, robot, space)
    samples, recorded = read_samples(bag, described, space)
    try:
        settings = odometry_settings(**values)
    except ValueError as error:
        raise BagError(f'bag {bag}, parameters of {NODE}: {error}') from None
    result = recompute(samples, described, settings,
                       None if everything else recorded, progress)
    return BagOdometry(
        result, None if recorded is None else compare(result, recorded), values, bool(told),
        bool(robot or changes or everything), space,
        (f'{told.get("odom_frame", "odom")}', f'{told.get("base_frame", "base_link")}'))


def write_recomputed(bag: str | Path, path: str | Path, found: BagOdometry) -> None:
    """
    Write a bag with everything that was recorded, and the recomputed odometry as ``odom``.

    The recorded odometry stands in it as ``odom/recorded``.

    Raises
    ------
    BagError
        `path` exists, or one of the bags cannot be used.
    """
    space, result = found.namespace, found.odometry
    odom, recorded = f'{space}/odom', f'{space}/{RECORDED}'
    with BagWriter(path) as writer:
        writer.note({**notes_of(bag), 'c3p_recomputed': suite_version()})
        for topic, (kind, latched) in connections_of(bag).items():
            writer.add(recorded if topic == odom else topic, kind, latched)
        writer.add(odom, ODOMETRY)
        coming = zip(result.recorded.tolist(), result.stamp.tolist(), result.numbers, strict=True)
        ours = next(coming, None)
        for topic, time, data in read_raw(bag):
            # in the order of the joint states that they answer
            while ours is not None and ours[0] < time:
                writer.write(odom, ours[0], _message(writer.types, *ours[1:], *found.frames))
                ours = next(coming, None)
            writer.write(recorded if topic == odom else topic, time, data)
        for time, *rest in [ours, *coming] if ours is not None else ():
            writer.write(odom, time, _message(writer.types, *rest, *found.frames))


def _message(store: Typestore, stamp: int, numbers: Any, frame: str, child: str) -> bytes:
    """Return a serialised Odometry."""
    t = store.types
    point, quaternion, pose = (t[f'geometry_msgs/msg/{name}'] for name in (
        'Point', 'Quaternion', 'PoseWithCovariance'))
    vector, twist = t['geometry_msgs/msg/Vector3'], t['geometry_msgs/msg/TwistWithCovariance']
    plain = [float(v) for v in numbers[:13]]
    return bytes(store.serialize_cdr(t[ODOMETRY](
        t['std_msgs/msg/Header'](
            t['builtin_interfaces/msg/Time'](*divmod(stamp, 1_000_000_000)), frame), child,
        pose(t['geometry_msgs/msg/Pose'](point(*plain[:3]), quaternion(*plain[3:7])),
             numbers[13:49]),
        twist(t['geometry_msgs/msg/Twist'](vector(*plain[7:10]), vector(*plain[10:])),
              numbers[49:])), ODOMETRY))
