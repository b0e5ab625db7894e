# SPDX-License-Identifier: Apache-2.0
"""Events for the promises from the messages of a running robot, in the order of their arrival."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from c3p_bags.promises.judged_parameters import MuxInputs
from c3p_bags.promises.promise_events import (
    MASKED,
    PASSES,
    REVERSED,
    CommandMatch,
    Key,
    ObservedTopic,
    driving_fractions,
    in_order,
    keys,
    passed_event,
    plain_events,
    rim_speeds,
    sizes,
    thinned,
    torque_fractions,
)
from c3p_bags.storage import log_fields as fields
from c3p_controller.stop_promises import COMMAND, LOCK, MOTOR, SPEED, TORQUE, StopEvent
from c3p_description.model import Array, CasterRobot

TWIST = 'geometry_msgs/msg/TwistStamped'
JOINTS = 'sensor_msgs/msg/JointState'
BOOL = 'std_msgs/msg/Bool'

# topics of every robot: type, and whether a lost message would matter; a reliable subscription to
# the topics of the control cycle would make their publishers wait. Odometry is left out: receiving
# it takes more processor time than the judgement of all others
TOPICS = {'joint_states': (JOINTS, False), 'wheel_effort': (JOINTS, False),
          'cmd_vel': (TWIST, True), 'twist_mux/locked': (BOOL, True)}

# of equal events one in each period counts, and the last before a pause, s: a fraction of the
# margins of the judge
THIN = 0.05
PAUSE = 0.02


def topics_of(mux: MuxInputs | None) -> dict[str, tuple[str, bool]]:
    """Return {topic: (type, reliable)} of a robot with this mux."""
    if mux is None:
        return dict(TOPICS)
    return {**TOPICS, **{source.topic: (TWIST, True) for source in mux.sources},
            **{lock.topic: (BOOL, True) for lock in (*mux.locks, *mux.enables)}}


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
        flags = {'twist_mux/locked': (MASKED, '')}
        flags |= {lock.topic: (LOCK, lock.name) for lock in (mux.locks if mux else ())}
        self._flags = flags
        self._devices = {one.topic: one.name for one in (mux.enables if mux else ())}
        self._joints = fields.joint_reader(robot)
        self._efforts = fields.effort_reader(robot)

    def take(self, topic: str, kind: str, data: Sequence[bytes], time: Array) -> None:
        """Take messages `data` (k) of a `topic` of type `kind`, received at `time` (k,), s."""
        if topic == 'joint_states':
            for rows in self._joints(kind, data):
                self._motion(time[rows.rows], rows)
        elif topic == 'wheel_effort':
            for rows in self._efforts(kind, data):
                self._torques(time[rows.rows], rows)
                if rows.broken:
                    self._waiting.append(StopEvent(TORQUE, float(time[-1]), '', np.inf))
        elif topic in self._flags:
            for rows in fields.scalar(kind, data):
                what, name = self._flags[topic]
                self._waiting += plain_events([
                    ObservedTopic(what, time[rows.rows], rows.values[0], name)])
        elif topic in self._devices:
            for rows in fields.scalar(kind, data):
                self._waiting += plain_events([ObservedTopic(
                    LOCK, time[rows.rows], 1.0 - rows.values[0], self._devices[topic])])
        elif topic == 'cmd_vel' or topic in self._sources:
            for rows in fields.planar(kind, data):
                self._commands(topic, time[rows.rows], rows)

    def _motion(self, time: Array, rows: fields.TopicRows) -> None:
        _, _, _, rate, torque = rows.values
        drives = driving_fractions(rate, torque, self._robot)
        some = thinned(time, drives > 0.0, THIN, PAUSE)
        self._waiting += plain_events([
            ObservedTopic(MOTOR, time[some], drives[some]),
            ObservedTopic(SPEED, time[some], rim_speeds(rate[some], self._robot))])

    def _torques(self, time: Array, rows: fields.TopicRows) -> None:
        size = torque_fractions(rows.values[0], self._robot)
        zero = size == 0.0
        # a zero may open the gate; a torque that is not a number is above each limit
        keep = ~(size <= 1.0) | np.append(True, zero[1:] != zero[:-1])
        some = thinned(time, keep, THIN, PAUSE)
        self._waiting += plain_events([ObservedTopic(TORQUE, time[some], size[some])])

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
        self._waiting += plain_events([ObservedTopic(COMMAND, time, sizes(twist), name)])

    def settled(self, before: float) -> Sequence[StopEvent]:
        """Return the events before a time, s, which no earlier one will follow."""
        self._waiting += [passed_event(at, key, self._match) for at, key in self._passed
                          if at < before]
        self._passed = [command for command in self._passed if command[0] >= before]
        events = in_order(self._waiting)
        self._waiting = [event for event in events if event.at >= before]
        self._match.forget(before - PASSES - REVERSED)
        return [event for event in events if event.at < before]
