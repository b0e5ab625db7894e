# SPDX-License-Identifier: Apache-2.0
"""Reader of a robot's run: a bag to arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from c3p_bags.promises.judged_parameters import MuxInputs, mux_inputs
from c3p_bags.runs import mapped
from c3p_bags.runs.columns import Column, read_columns
from c3p_bags.runs.publishers import refuse_two_publishers
from c3p_bags.runs.run_log import Goal, Health, Joints, Motion, RunLog, Series, Slip
from c3p_bags.runs.time_axis import TimeAxis
from c3p_bags.runs.unusable_joints import unusable_joints
from c3p_bags.storage import log_fields as fields
from c3p_bags.storage.bag import JOINT_STATES, Bag
from c3p_description.model import CasterRobot
from c3p_ros.wheel_slip import TOPIC as SLIP

WHEEL_EFFORT = 'wheel_effort'
GOAL_REACHED = 'position_controller/goal_reached'
DISTANCE = 'position_controller/distance_to_goal'
DIAGNOSTICS = '/diagnostics'
RESULT = 'position_controller/result'
LOCKED = 'twist_mux/locked'

# steps of the clock of which each is a remark
MOST_REMARKS = 5


def read_run(bag: Bag, robot: CasterRobot, namespace: str | None = None,
             progress: Callable[[float], object] = lambda part: None) -> RunLog:
    """
    Return the run in a bag, recorded by the suite or by ``ros2 bag record``.

    `robot` defines joint names, signs and zero angles; `namespace` is that of the robot, default
    the only one in the bag. `progress` receives the fraction of the messages read, 0 to 1.

    Raises
    ------
    BagError
        The bag cannot be read, or has no ``joint_states`` of this robot.
    """
    space = bag.namespace(namespace)
    mux = mux_inputs(bag.parameters, space)
    readers = _mux_readers(mux) | _readers(robot)
    # absolute names, such as /diagnostics, are shared by all robots
    names = {(t if t.startswith('/') else f'{space}/{t}'): t for t in readers}
    broken: Counter[str] = Counter()
    found = read_columns(bag, {name: readers[topic] for name, topic in names.items()},
                         progress, broken)
    columns = {names[name]: column for name, column in found.items() if len(column.recorded)}
    if JOINT_STATES not in columns:
        raise unusable_joints(bag, f'{space}/{JOINT_STATES}', robot)
    joints = columns[JOINT_STATES]
    refuse_two_publishers(bag, f'{space}/{JOINT_STATES}', joints.stamp,
                          (joints.values[0], joints.values[2]))
    log = _assemble(bag.path, columns, {t: topic.count for t, topic in bag.topics.items()},
                    {names[name]: count for name, count in broken.items() if count},
                    _mux_readers(mux))
    for column in columns.values():
        mapped.give_back(column.recorded, column.stamp, column.place, *column.values)
    if log.axis is not None and log.axis.unstamped and columns[JOINT_STATES].stamp.any():
        bag.remark(f'{log.axis.unstamped} joint states have no stamp of their own: their times of '
                   'recording are used')
    for step in log.clock_steps[:MOST_REMARKS]:
        bag.remark(step.text())
    if len(log.clock_steps) > MOST_REMARKS:
        bag.remark(f'the clock was set {len(log.clock_steps)} times')
    return log


def _readers(robot: CasterRobot) -> dict[str, fields.Reader]:
    """Return the reader of each topic."""
    return {
        JOINT_STATES: fields.joint_reader(robot), 'odom': fields.odometry,
        'ground_truth/odom': fields.odometry, 'cmd_vel': fields.planar,
        'reference_acceleration': fields.planar, 'goal_pose': fields.goal,
        'dynamics_effort': fields.effort_reader(robot),
        WHEEL_EFFORT: fields.effort_reader(robot),
        SLIP: fields.slip_reader(robot), GOAL_REACHED: fields.scalar, DISTANCE: fields.scalar,
        DIAGNOSTICS: fields.diagnostics, RESULT: fields.status,
    }


def _mux_readers(mux: MuxInputs | None) -> dict[str, fields.Reader]:
    """Return the readers of what passes a mux: its sources, its locks, its output and state."""
    if mux is None:
        return {}
    return {**{source.topic: fields.planar for source in mux.sources}, 'cmd_vel': fields.planar,
            **{lock.topic: fields.scalar for lock in (*mux.locks, *mux.enables)},
            LOCKED: fields.scalar}


def _assemble(path: Path, columns: Mapping[str, Column], messages: Mapping[str, int],
              not_finite: Mapping[str, int], of_mux: Mapping[str, fields.Reader]) -> RunLog:
    """Return a run from columns, on one time axis."""
    axis = TimeAxis(columns[JOINT_STATES])

    def series(topic: str) -> Series | None:
        found = columns.get(topic)
        return None if found is None else Series(axis.place(found), *found.values)

    def motion(topic: str) -> Motion | None:
        found = columns.get(topic)
        if found is None:
            return None
        pose, twist, of_pose, of_twist, frame, child = found.values
        pose[:, 2] = mapped.unwrapped(pose[:, 2])
        return Motion(axis.place(found), pose, twist, of_pose, of_twist, str(frame[0]),
                      str(child[0]))

    def arrived(topic: str) -> list[tuple[float, tuple[Any, ...]]]:
        found = columns.get(topic)
        return [] if found is None else list(zip(
            axis.place(found, stamped=False).tolist(), zip(*found.values, strict=True),
            strict=True))

    def statuses(topic: str) -> tuple[Health, ...]:
        return tuple(Health(time, *status) for time, (some,) in arrived(topic) for status in some)

    def arrivals(topic: str, reader: fields.Reader) -> Series:
        found = columns[topic]
        (value,) = found.values
        return Series(axis.place(found, stamped=False), value if reader is fields.scalar
                      else np.column_stack([found.stamp, value]))

    slip = columns.get(SLIP)
    joints = columns[JOINT_STATES]
    return RunLog(
        path=path, start_ns=axis.start, joints=Joints(axis.place(joints), *joints.values),
        odom=motion('odom'), ground_truth=motion('ground_truth/odom'), cmd_vel=series('cmd_vel'),
        reference_acceleration=series('reference_acceleration'),
        dynamics_effort=series('dynamics_effort'), wheel_effort=series(WHEEL_EFFORT),
        goals=tuple(Goal(time, tuple(pose.tolist()), frame)
                    for time, (pose, frame) in arrived('goal_pose')),
        slip=None if slip is None else Slip(axis.place(slip), *slip.values),
        goal_reached=series(GOAL_REACHED), distance_to_goal=series(DISTANCE),
        diagnostics=statuses(DIAGNOSTICS), results=statuses(RESULT),
        messages=dict(messages),
        recorded={topic: axis.arrival(columns[topic])
                  for topic in (JOINT_STATES, WHEEL_EFFORT) if topic in columns},
        not_finite=not_finite,
        commands={topic: arrivals(topic, reader) for topic, reader in of_mux.items()
                  if topic in columns}, clock_steps=axis.steps, axis=axis)
