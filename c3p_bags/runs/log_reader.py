# SPDX-License-Identifier: Apache-2.0
"""Bags to arrays: a run of a robot, and its description, without a ROS 2 installation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs.run_log import Goal, Health, Joints, Motion, RunLog, Series, Slip
from c3p_bags.storage import log_fields as fields
from c3p_bags.storage.bags import BagError, read_topics, topics_of
from c3p_bags.storage.batches import read_batches
from c3p_description.model import Array, CasterRobot
from c3p_ros.wheel_slip import TOPIC as SLIP

JOINT_STATES = 'joint_states'
WHEEL_EFFORT = 'wheel_effort'
GOAL_REACHED = 'position_controller/goal_reached'
DISTANCE = 'position_controller/distance_to_goal'
DIAGNOSTICS = '/diagnostics'


def namespace_of(topics: Iterable[str], path: str | Path) -> str:
    """
    Return the namespace of the only robot in a bag, ``''`` or ``'/robot_1'``.

    Raises
    ------
    BagError
        No ``joint_states`` at all, or those of several robots.
    """
    ends = sorted(t[:-len(JOINT_STATES) - 1] for t in topics if t.endswith(f'/{JOINT_STATES}'))
    if not ends:
        raise BagError(f'bag {path}: no {JOINT_STATES} topic, so there is no run to read; the bag '
                       f'has {sorted(topics)}')
    if '' in ends:
        return ''
    if len(ends) > 1:
        raise BagError(f'bag {path}: joint_states of several robots; name one of the namespaces '
                       f'{ends}')
    return ends[0]


def read_description(bag: str | Path, namespace: str | None = None) -> str | None:
    """Return the URDF text in a bag, or None when it has none."""
    # each look into a bag costs a quarter of a second
    space = namespace_of(topics_of(bag), bag) if namespace is None else namespace.rstrip('/')
    for entry in read_topics(bag, [f'{space}/robot_description']):
        return entry.message.data
    return None


class _Column(NamedTuple):
    """All usable messages of a topic: recorded and stamped (ns; 0 is no stamp), and values."""

    recorded: Array
    stamp: Array
    values: tuple[Array, ...]


def read_run(bag: str | Path, robot: CasterRobot, namespace: str | None = None) -> RunLog:
    """
    Return the run in a bag.

    Parameters
    ----------
    bag : str or Path
        Directory of a rosbag2 bag, or a single MCAP or sqlite3 file, recorded by the suite or by
        ``ros2 bag record``.
    robot : CasterRobot
        Gives joint names, signs and zero angles.
    namespace : str, optional
        Of the robot; default the only one in the bag.

    Raises
    ------
    BagError
        It cannot be read, or has no ``joint_states`` of this robot.
    """
    found = topics_of(bag)
    space = namespace_of(found, bag) if namespace is None else namespace.rstrip('/')
    readers = _readers(robot)
    names = {(t if t.startswith('/') else f'{space}/{t}'): t for t in readers}
    parts: dict[str, list[_Column]] = {t: [] for t in readers}
    for batch in read_batches(bag, [name for name in names if name in found]):
        topic, kind = names[batch.topic], found[batch.topic][0]
        rows = readers[topic](kind, batch.data)
        if rows:
            parts[topic].append(_in_order(batch.time, rows))
    columns = {topic: _joined(some) for topic, some in parts.items() if some}
    if JOINT_STATES not in columns:
        raise BagError(f'bag {bag}: no message on {space}/{JOINT_STATES} has the joints '
                       f'{[*robot.steering_joints, *robot.wheel_joints]}')
    return _assemble(Path(bag), columns, {t: n for t, (_, n) in found.items()})


def _readers(robot: CasterRobot) -> dict[str, fields.Reader]:
    """Return for each topic what turns its messages into rows."""
    return {
        JOINT_STATES: fields.joint_reader(robot), 'odom': fields.odometry,
        'ground_truth/odom': fields.odometry, 'cmd_vel': fields.planar,
        'reference_acceleration': fields.planar, 'goal_pose': fields.goal,
        'dynamics_effort': fields.effort_reader(robot),
        WHEEL_EFFORT: fields.effort_reader(robot),
        SLIP: fields.slip_reader(robot), GOAL_REACHED: fields.scalar, DISTANCE: fields.scalar,
        DIAGNOSTICS: fields.diagnostics,
    }


def _joined(parts: Sequence[_Column]) -> _Column:
    """Return the messages of several columns one after the other."""
    recorded, stamp, values = zip(*parts, strict=True)
    return _Column(np.concatenate(recorded), np.concatenate(stamp),
                   tuple(np.concatenate(v) for v in zip(*values, strict=True)))


def _in_order(recorded: Array, found: Sequence[fields.Rows]) -> _Column:
    """Return the rows of one batch, which come by their layout, in the order of its messages."""
    columns = [_Column(rows, np.zeros(len(rows), np.int64) if stamp is None else stamp, values)
               for rows, stamp, values in found]
    rows, stamp, values = _joined(columns)
    order = np.argsort(rows)
    return _Column(recorded[rows[order]], stamp[order], tuple(v[order] for v in values))


class _Axis:
    """The axis of time of a run: seconds since the first joint states, by stamps."""

    def __init__(self, joints: _Column) -> None:
        self.start, self.origin = int(joints.stamp[0]), int(joints.recorded[0])
        self._recorded = joints.recorded
        self._on_recording = (joints.recorded - self.origin) * 1e-9
        self._on_stamps = (joints.stamp - self.start) * 1e-9

    def place(self, column: _Column, stamped: bool = True) -> Array:
        """Return when messages were, s: by their stamps, or where there is none, as recorded."""
        # the robot's clock may be simulated: place by the joint states recorded around it, and
        # beyond the first and the last of them at the pace of the recording
        at = np.clip(column.recorded, self._recorded[0], self._recorded[-1])
        arrived = (column.recorded - at) * 1e-9 + np.interp(
            (at - self.origin) * 1e-9, self._on_recording, self._on_stamps)
        by_stamp = (column.stamp - self.start) * 1e-9
        return np.where(column.stamp != 0, by_stamp, arrived) if stamped else arrived


def _assemble(path: Path, columns: Mapping[str, _Column], messages: Mapping[str, int]) -> RunLog:
    """Turn columns into a run on one axis of time."""
    axis = _Axis(columns[JOINT_STATES])

    def series(topic: str) -> Series | None:
        found = columns.get(topic)
        return None if found is None else Series(axis.place(found), *found.values)

    def motion(topic: str) -> Motion | None:
        found = columns.get(topic)
        if found is None:
            return None
        pose, twist, of_pose, of_twist, frame, child = found.values
        pose[:, 2] = np.unwrap(pose[:, 2])
        return Motion(axis.place(found), pose, twist, of_pose, of_twist, str(frame[0]),
                      str(child[0]))

    def arrived(topic: str) -> list[tuple[float, tuple[Any, ...]]]:
        found = columns.get(topic)
        return [] if found is None else list(zip(
            axis.place(found, stamped=False).tolist(), zip(*found.values, strict=True),
            strict=True))

    slip, joints = columns.get(SLIP), columns[JOINT_STATES]
    return RunLog(
        path=path, start_ns=axis.start, joints=Joints(axis.place(joints), *joints.values),
        odom=motion('odom'), ground_truth=motion('ground_truth/odom'), cmd_vel=series('cmd_vel'),
        reference_acceleration=series('reference_acceleration'),
        dynamics_effort=series('dynamics_effort'), wheel_effort=series(WHEEL_EFFORT),
        goals=tuple(Goal(time, tuple(pose.tolist()), frame)
                    for time, (pose, frame) in arrived('goal_pose')),
        slip=None if slip is None else Slip(axis.place(slip), *slip.values),
        goal_reached=series(GOAL_REACHED), distance_to_goal=series(DISTANCE),
        diagnostics=tuple(Health(time, *status) for time, (told,) in arrived(DIAGNOSTICS)
                          for status in told),
        messages=dict(messages),
        recorded={topic: (columns[topic].recorded - axis.origin) * 1e-9
                  for topic in (JOINT_STATES, WHEEL_EFFORT) if topic in columns})
