# SPDX-License-Identifier: Apache-2.0
"""Bags to arrays: a run of a robot, and its description, without a ROS 2 installation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_simulation.recording import log_fields as fields
from c3p_simulation.recording.bags import BagError, read_topics, topics_of
from c3p_simulation.recording.run_log import Goal, Health, Joints, Motion, RunLog, Series, Slip

JOINT_STATES = 'joint_states'
SLIP = 'sensed_kinematics/wheel_slip'
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
    found = topics_of(bag)
    space = namespace_of(found, bag) if namespace is None else namespace.rstrip('/')
    for entry in read_topics(bag, [f'{space}/robot_description']):
        return entry.message.data
    return None


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
    rows: dict[str, list[tuple[Any, ...]]] = {t: [] for t in readers}
    for entry in read_topics(bag, names):
        topic = names[entry.topic]
        row = readers[topic](entry.message)
        if row is not None:
            rows[topic].append((entry.time, *row))
    if not rows[JOINT_STATES]:
        raise BagError(f'bag {bag}: no message on {space}/{JOINT_STATES} has the joints '
                       f'{[*robot.steering_joints, *robot.wheel_joints]}')
    return _assemble(Path(bag), rows, {t: n for t, (_, n) in found.items()})


def _readers(robot: CasterRobot) -> dict[str, Callable[[Any], tuple[Any, ...] | None]]:
    """Return for each topic what turns a message into (stamp in ns or None, values…)."""
    return {
        JOINT_STATES: fields.joint_reader(robot), 'odom': fields.odometry,
        'ground_truth/odom': fields.odometry, 'cmd_vel': fields.twist,
        'reference_acceleration': fields.acceleration, 'goal_pose': fields.goal,
        'dynamics_effort': fields.effort_reader(robot),
        'wheel_effort': fields.effort_reader(robot),
        SLIP: fields.slip_reader(robot), GOAL_REACHED: fields.scalar, DISTANCE: fields.scalar,
        DIAGNOSTICS: fields.diagnostics,
    }


def _assemble(path: Path, rows: Mapping[str, list[tuple[Any, ...]]],
              messages: Mapping[str, int]) -> RunLog:
    """Turn rows (recorded, stamp, values…) into arrays on one axis of time."""
    recorded, stamp = (np.array([r[i] for r in rows[JOINT_STATES]], np.int64) for i in (0, 1))
    start, origin = int(stamp[0]), int(recorded[0])

    def seconds(row: tuple[Any, ...], stamped: bool = True) -> float:
        if stamped and row[1]:
            return (row[1] - start) * 1e-9
        # the robot's clock may be simulated: place by the joint states recorded around it, and
        # beyond the first and the last of them at the pace of the recording
        at = np.clip(row[0], recorded[0], recorded[-1])
        beyond = (row[0] - at) * 1e-9
        return beyond + float(np.interp((at - origin) * 1e-9, (recorded - origin) * 1e-9,
                                        (stamp - start) * 1e-9))

    def columns(topic: str) -> list[Array] | None:
        some = rows[topic]
        if not some:
            return None
        time = np.array([seconds(r) for r in some])
        return [time, *(np.array(c) for c in list(zip(*some, strict=True))[2:])]

    def series(topic: str) -> Series | None:
        found = columns(topic)
        return None if found is None else Series(*found)

    def motion(topic: str) -> Motion | None:
        found = columns(topic)
        if found is None:
            return None
        time, pose, twist, of_pose, of_twist, frame, child = found
        pose[:, 2] = np.unwrap(pose[:, 2])
        return Motion(time, pose, twist, of_pose, of_twist, str(frame[0]), str(child[0]))

    slip = columns(SLIP)
    return RunLog(
        path=path, start_ns=start, joints=Joints(*columns(JOINT_STATES)), odom=motion('odom'),
        ground_truth=motion('ground_truth/odom'), cmd_vel=series('cmd_vel'),
        reference_acceleration=series('reference_acceleration'),
        dynamics_effort=series('dynamics_effort'), wheel_effort=series('wheel_effort'),
        goals=tuple(Goal(seconds(r, stamped=False), *r[2:]) for r in rows['goal_pose']),
        slip=None if slip is None else Slip(*slip), goal_reached=series(GOAL_REACHED),
        distance_to_goal=series(DISTANCE),
        diagnostics=tuple(Health(seconds(r, stamped=False), *status)
                          for r in rows[DIAGNOSTICS] for status in r[2]),
        messages=dict(messages))
