# SPDX-License-Identifier: Apache-2.0
"""
Arrays of numbers from recorded messages: stamps in ns (None without stamps) and values.

A message that cannot be used (other joints, values that are not finite) is left out; the
nodes reject it too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_ros.cdr import LAYOUTS
from c3p_ros.cdr_arrays import (
    FieldTable,
    Status,
    read_diagnostics,
    read_status,
    tables,
)
from c3p_ros.wheel_slip import status_values, suspects

DIAGNOSTICS = 'diagnostic_msgs/msg/DiagnosticArray'
STATUS = 'diagnostic_msgs/msg/DiagnosticStatus'

# the numbers of x, y and yaw in ROS' covariances over (x, y, z, roll, pitch, yaw)
PLANAR = np.ravel_multi_index(np.ix_([0, 1, 5], [0, 1, 5]), (6, 6))


class TopicRows(NamedTuple):
    """
    Usable messages of a topic.

    Attributes
    ----------
    rows : (k,) int array
        Which of the messages.
    stamp : (k,) int array or None
        Of their headers, ns.
    values : tuple of (k, …) arrays
    broken : int
        Number of messages with a number that is not finite, left out or not.
    """

    rows: Array
    stamp: Array | None
    values: tuple[Array, ...]
    broken: int = 0


# turns messages of one type into rows
Reader = Callable[[str, Sequence[bytes]], list[TopicRows]]


def _finite(*columns: Array) -> Array:
    """Return which rows have numbers only."""
    good = np.ones(len(columns[0]), bool)
    for column in columns:
        good &= np.isfinite(column).all(axis=1)
    return good


def _kept(table: FieldTable, good: Array, stamp: Array | None, *values: Array) -> TopicRows:
    return TopicRows(table.rows[good], None if stamp is None else stamp[good],
                     tuple(v[good] for v in values), int(np.sum(~good)))


def _by_table(read: Callable[[FieldTable], TopicRows | None]) -> Reader:
    """Return a reader that calls `read` for the rows of each table."""
    def reader(kind: str, data: Sequence[bytes]) -> list[TopicRows]:
        found = (read(table) for table in tables(data, kind)) if kind in LAYOUTS else ()
        return [rows for rows in found if rows is not None]
    return reader


def yaw_of(pose: Array) -> Array:
    """Return the yaw of poses (k, 7), position and quaternion, rad; its length does not matter."""
    x, y, z, w = pose[:, 3:].T
    return np.arctan2(2.0 * (w * z + x * y), w**2 + x**2 - y**2 - z**2)


def _places(names: Sequence[str], wanted: Sequence[str], *fields: Array) -> Array | None:
    """Return the places of `wanted` joints among `names`; None unless each field has all names."""
    if any(names.count(name) != 1 for name in wanted) or any(
            field.shape[1] != len(names) for field in fields):
        return None
    return np.array([names.index(name) for name in wanted])


def _with_rates(velocity: Array, names: Sequence[str]) -> Array:
    """Return velocities (k, number of names): nan for messages without any."""
    return velocity if velocity.shape[1] else np.full((len(velocity), len(names)), np.nan)


def _all_or_none(rate: Array) -> Array:
    """Return rates (k, n), all nan where one is: the odometry uses all or none of a sample."""
    rate[np.isnan(rate).any(axis=1)] = np.nan
    return rate


def _joints(robot: CasterRobot, table: FieldTable) -> TopicRows | None:
    stamp, _, names, position, velocity, effort = table.fields
    n = robot.count
    velocity = _with_rates(velocity, names)
    order = _places(names, robot.sensed_joints, position, velocity)
    if order is None:
        return None
    if len(order) < 2 * n:
        return _some_joints(robot, table, order)
    sign = np.concatenate([robot.steering_sign, robot.wheel_sign])
    zero = np.concatenate([robot.steering_zero, np.zeros(n)])
    angle = sign * position[:, order] + zero
    rate = _all_or_none(sign * velocity[:, order])
    # behind the wheels those of steering motors
    place = order[n:] if robot.efforts == n else np.concatenate([order[n:], order[:n]])
    torque = (effort[:, place] * robot.effort_sign if effort.shape[1] == len(names)
              else np.full((len(table.rows), robot.efforts), np.nan))
    # wheels on one pivot share its motor
    torque[:, ~np.isin(np.arange(robot.efforts), list(robot.effort_places.values()))] = 0.0
    # nan is a torque that is not measured; an infinite one is not a torque
    infinite = np.isinf(torque).any(axis=1)
    torque = np.where(np.isinf(torque), np.nan, torque)
    good = _finite(angle) & ~np.isinf(rate).any(axis=1)
    return _kept(table, good, stamp, angle[:, :n], rate[:, :n], angle[:, n:], rate[:, n:],
                 torque)._replace(broken=int(np.sum(infinite | ~good)))


def _some_joints(robot: CasterRobot, table: FieldTable, order: Array) -> TopicRows:
    """Return the joints of a robot without all encoders: fixed wheels stand at their angles."""
    stamp, _, names, position, velocity, _ = table.fields
    n = robot.count
    count = len(table.rows)
    sign = np.concatenate([robot.steering_sign, robot.wheel_sign])
    raw = np.zeros((count, 2 * n))
    raw[:, robot.sensed] = position[:, order]
    angle = sign * raw + np.concatenate([robot.steering_zero, np.zeros(n)])
    rate = np.zeros((count, 2 * n))
    rate[:, robot.sensed] = _with_rates(velocity, names)[:, order]
    rate = _all_or_none(sign * rate)
    good = _finite(angle) & ~np.isinf(rate).any(axis=1)
    torque = np.full((count, robot.efforts), np.nan)
    return _kept(table, good, stamp, angle[:, :n], rate[:, :n], angle[:, n:], rate[:, n:],
                 torque)


def joint_reader(robot: CasterRobot) -> Reader:
    """
    Return a reader of JointState messages with all joints of `robot` that have an encoder.

    It gives steering, steering rate, wheel angle, wheel rate and torques in the model's
    convention; rates are nan where the message has no velocity, or nan, and torques where it has
    no effort.
    """
    return _by_table(partial(_joints, robot))


def effort_reader(robot: CasterRobot) -> Reader:
    """Return a reader of JointState messages that carry efforts: torque (k, robot.efforts)."""
    def read(table: FieldTable) -> TopicRows | None:
        stamp, _, names, _, _, effort = table.fields
        order = _places(names, list(robot.effort_places), effort)
        if order is None:
            return None
        torque: Array = np.zeros((len(effort), robot.efforts))
        places = list(robot.effort_places.values())
        torque[:, places] = effort[:, order] * robot.effort_sign[places]
        return _kept(table, np.logical_not(np.isinf(torque).any(axis=1)), stamp, torque)

    return _by_table(read)


def named_reader(joints: Sequence[str]) -> Reader:
    """Return a reader of JointState messages: positions and rates (k, n) of these joints."""
    def read(table: FieldTable) -> TopicRows | None:
        stamp, _, names, position, velocity, _ = table.fields
        velocity = _with_rates(velocity, names)
        order = _places(names, joints, position, velocity)
        if order is None:
            return None
        angle = position[:, order]
        rate = _all_or_none(velocity[:, order])
        return _kept(table, _finite(angle) & ~np.isinf(rate).any(axis=1), stamp, angle, rate)

    return _by_table(read)


def _spatial(table: FieldTable) -> TopicRows:
    stamp, _, _, pose, _, twist, _ = table.fields
    return _kept(table, _finite(pose, twist), stamp, pose, twist)


# reader of Odometry in space: position and quaternion x, y, z, w (k, 7), twist (k, 6)
spatial = _by_table(_spatial)


def _repeated(text: str, count: int) -> Array:
    """Return an array of one text, which all rows share: `np.full` makes a text for each."""
    one = np.empty(1, object)
    one[0] = text
    return np.broadcast_to(one, count)


def _odometry(table: FieldTable) -> TopicRows:
    stamp, frame, child, pose, of_pose, twist, of_twist = table.fields
    place = np.column_stack([pose[:, :2], yaw_of(pose)])
    speed = twist[:, [0, 1, 5]]
    count = len(table.rows)
    return _kept(table, _finite(place, speed), stamp, place, speed, of_pose[:, PLANAR],
                 of_twist[:, PLANAR], _repeated(frame, count), _repeated(child, count))


# reader of Odometry: pose, twist, their covariances (k, 3, 3), frame and child frame
odometry = _by_table(_odometry)


def _vector(table: FieldTable) -> TopicRows:
    value = table.fields[-1][:, [0, 1, 5]]
    return _kept(table, _finite(value), table.fields[0] if len(table.fields) > 1 else None, value)


# reader of TwistStamped, Twist and AccelStamped: x, y and turn (k, 3)
planar = _by_table(_vector)


def _goal(table: FieldTable) -> TopicRows:
    stamp, frame, pose = table.fields
    place = np.column_stack([pose[:, :2], yaw_of(pose)])
    return _kept(table, _finite(place), stamp, place, _repeated(frame, len(table.rows)))


# reader of PoseStamped: pose (k, 3) and frame
goal = _by_table(_goal)


def _imu(table: FieldTable) -> TopicRows:
    stamp, frame, _, _, rate, covariance, _, _ = table.fields
    # -1: the message has no such data
    return _kept(table, _finite(rate) & (covariance[:, 0] != -1.0), stamp, rate,
                 _repeated(frame, len(table.rows)))


# reader of Imu: angular velocity (k, 3) in the frame of the message, and this frame
imu = _by_table(_imu)


def _imu_spread(table: FieldTable) -> TopicRows:
    stamp, frame, _, _, rate, covariance, _, _ = table.fields
    return _kept(table, _finite(rate) & (covariance[:, 0] != -1.0), stamp, rate, covariance,
                 _repeated(frame, len(table.rows)))


# the same, with the covariance (k, 9) of the velocity
imu_spread = _by_table(_imu_spread)


def _scalar(table: FieldTable) -> TopicRows:
    value = np.asarray(table.fields[0], float).reshape(len(table.rows))
    return _kept(table, np.isfinite(value), None, value)


# reader of Bool and Float64: number (k,)
scalar = _by_table(_scalar)


def _statuses(kind: str, data: Sequence[bytes]) -> list[tuple[int, int, list[Status]]]:
    """Return which message, its stamp and its statuses, of each DiagnosticArray."""
    if kind != DIAGNOSTICS:
        return []
    found = ((row, read_diagnostics(one)) for row, one in enumerate(data))
    return [(row, *told) for row, told in found if told is not None]


def slip_reader(robot: CasterRobot) -> Reader:
    """
    Return a reader of the wheel slip: residual (k, n, 2), suspect and probability (k, n).

    Of both types, c3p_ros/wheel_slip.py.
    """
    def read(table: FieldTable) -> TopicRows | None:
        stamp, _, names, along, across, probability = table.fields
        order = _places(names, robot.wheel_joints, along, across, probability)
        if order is None:
            return None
        return _slip_rows(table.rows, stamp, np.stack([along, across, probability], -1)[:, order])

    def earlier(data: Sequence[bytes]) -> list[TopicRows]:
        found = []
        for row, stamp, statuses in _statuses(DIAGNOSTICS, data):
            of = {s.name.rsplit(': ', 1)[-1]: s.values for s in statuses}
            if all(joint in of for joint in robot.wheel_joints):
                found.append((row, stamp, [status_values(of[j]) for j in robot.wheel_joints]))
        return [_slip_rows(*map(np.array, zip(*found, strict=True)))] if found else []

    tabled = _by_table(read)
    return lambda kind, data: earlier(data) if kind == DIAGNOSTICS else tabled(kind, data)


def _slip_rows(rows: Array, stamp: Array, values: Array) -> TopicRows:
    """Return the rows of values (k, n, 3): along, across and probability."""
    good = ~np.isinf(values).any(axis=(1, 2))
    values = values[good]
    probability = values[..., 2]
    return TopicRows(rows[good], stamp[good],
                     (values[..., :2], suspects(probability), probability), int(np.sum(~good)))


def diagnostics(kind: str, data: Sequence[bytes]) -> list[TopicRows]:
    """Return the statuses of DiagnosticArrays: (name, level, message, values) of each."""
    found = _statuses(kind, data)
    if not found:
        return []
    told = np.empty(len(found), object)
    for k, (_, _, statuses) in enumerate(found):
        told[k] = statuses
    return [TopicRows(np.array([f[0] for f in found]), np.array([f[1] for f in found], np.int64),
                      (told,))]


def status(kind: str, data: Sequence[bytes]) -> list[TopicRows]:
    """Return DiagnosticStatuses, which have no stamp: each as a list of one."""
    found = [(row, read_status(one)) for row, one in enumerate(data)] if kind == STATUS else []
    found = [(row, one) for row, one in found if one is not None]
    if not found:
        return []
    told = np.empty(len(found), object)
    for k, (_, one) in enumerate(found):
        told[k] = [one]
    return [TopicRows(np.array([row for row, _ in found]), None, (told,))]
