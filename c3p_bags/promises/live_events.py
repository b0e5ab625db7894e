# SPDX-License-Identifier: Apache-2.0
"""Events for the promises from the messages of a running robot, in the order of their arrival."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from c3p_bags.promises.judged_parameters import MuxInputs
from c3p_bags.promises.promise_events import (
    MASKED,
    PASSES,
    REVERSED,
    CommandMatch,
    Key,
    Observed,
    driving_fractions,
    in_order,
    keys,
    passed_event,
    plain_events,
    sizes,
    speeds,
    torque_fractions,
)
from c3p_bags.storage import log_fields as fields
from c3p_controller.stop_promises import COMMAND, LOCK, MOTOR, SPEED, TORQUE, StopEvent
from c3p_description.model import Array, CasterRobot

TWIST = 'geometry_msgs/msg/TwistStamped'
JOINTS = 'sensor_msgs/msg/JointState'
BOOL = 'std_msgs/msg/Bool'

# topics of every robot: type, and whether a lost message would matter; a reliable subscription to
# the topics of the control cycle would make their publishers wait
TOPICS = {'joint_states': (JOINTS, False), 'odom': ('nav_msgs/msg/Odometry', False),
          'wheel_effort': (JOINTS, False), 'cmd_vel': (TWIST, True), 'twist_mux/locked': (BOOL, True)}


def topics_of(mux: MuxInputs | None) -> dict[str, tuple[str, bool]]:
    """Return {topic: (type, reliable)} of a robot with this mux."""
    if mux is None:
        return dict(TOPICS)
    return {**TOPICS, **{source.topic: (TWIST, True) for source in mux.sources},
            **{lock.topic: (BOOL, True) for lock in mux.locks}}


class LiveEvents:
    """
    Maker of events.

    Parameters
    ----------
    robot : CasterRobot
    mux : MuxInputs, optional
    """

    def __init__(self, robot: CasterRobot, mux: MuxInputs | None) -> None:
        """Prepare the readers of the topics."""
        self._robot = robot
        self._match = CommandMatch()
        self._waiting: list[StopEvent] = []
        # their sources are known once all topics have been read
        self._passed: list[tuple[float, Key]] = []
        self._sources = {one.topic: one.name for one in mux.sources} if mux else {}
        self._plain: dict[str, tuple[fields.Reader, Callable[[fields.TopicRows], Array], str, str]]
        self._plain = {
            'joint_states': (fields.joint_reader(robot), self._driving, MOTOR, ''),
            'odom': (fields.odometry, lambda rows: speeds(rows.values[1]), SPEED, ''),
            'wheel_effort': (fields.effort_reader(robot), self._torques, TORQUE, ''),
            'twist_mux/locked': (fields.scalar, _first, MASKED, '')}
        for lock in mux.locks if mux else ():
            self._plain[lock.topic] = fields.scalar, _first, LOCK, lock.name

    def _driving(self, rows: fields.TopicRows) -> Array:
        return driving_fractions(rows.values[3], rows.values[4], self._robot)

    def _torques(self, rows: fields.TopicRows) -> Array:
        return torque_fractions(rows.values[0], self._robot)

    def take(self, topic: str, kind: str, data: Sequence[bytes], time: Array) -> None:
        """Take messages of a topic, of the type `kind`, that arrived at `time` (k,), s."""
        if topic == 'cmd_vel' or topic in self._sources:
            for rows in fields.planar(kind, data):
                self._commands(topic, time[rows.rows], rows)
        elif topic in self._plain:
            reader, value, what, name = self._plain[topic]
            for rows in reader(kind, data):
                self._waiting += plain_events([
                    Observed(what, time[rows.rows], value(rows), name)])
                if what == TORQUE and rows.broken:
                    self._waiting.append(StopEvent(TORQUE, float(time[-1]), '', np.inf))

    def _commands(self, topic: str, time: Array, rows: fields.TopicRows) -> None:
        twist = rows.values[0]
        stamp = np.zeros(len(time)) if rows.stamp is None else rows.stamp
        commands = list(zip(time.tolist(), keys(stamp, twist), strict=True))
        if topic == 'cmd_vel':
            self._passed += commands
            return
        name = self._sources[topic]
        for at, key in commands:
            self._match.add(name, at, key)
        self._waiting += plain_events([Observed(COMMAND, time, sizes(twist), name)])

    def settled(self, before: float) -> Sequence[StopEvent]:
        """Return the events before a time, s, which no earlier one will follow."""
        self._waiting += [passed_event(at, key, self._match) for at, key in self._passed
                          if at < before]
        self._passed = [command for command in self._passed if command[0] >= before]
        events = in_order(self._waiting)
        self._waiting = [event for event in events if event.at >= before]
        self._match.forget(before - PASSES - REVERSED)
        return [event for event in events if event.at < before]


def _first(rows: fields.TopicRows) -> Array:
    return rows.values[0]
