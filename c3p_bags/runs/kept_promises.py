# SPDX-License-Identifier: Apache-2.0
"""Promises of safety.md that a bag shows to be broken, by the judge of the safety monitor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from c3p_bags.promises.judged_parameters import JudgedParameters, MuxInputs
from c3p_bags.promises.promise_events import (
    MASKED,
    CommandMatch,
    ObservedTopic,
    driving_fractions,
    in_order,
    keys,
    passed_event,
    plain_events,
    sizes,
    speeds,
    torque_fractions,
)
from c3p_bags.promises.promise_judge import BrokenPromise, PromiseJudge
from c3p_bags.runs.run_log import RunLog, Series
from c3p_controller.motion_promises import TorqueLimits
from c3p_controller.stop_promises import (
    COMMAND,
    LOCK,
    MOTOR,
    SPEED,
    TORQUE,
    StopEvent,
)
from c3p_description.model import CasterRobot


class KeptPromises(NamedTuple):
    """
    Promises on a run.

    Attributes
    ----------
    judged : tuple of str
        Identities of those that the bag has the messages and parameters for.
    broken : tuple of BrokenPromise
        Each once, in the order of time, s since the first joint states.
    """

    judged: tuple[str, ...]
    broken: tuple[BrokenPromise, ...]


def kept_promises(log: RunLog, robot: CasterRobot, parameters: JudgedParameters | None = None
                  ) -> KeptPromises:
    """
    Return which promises are judged on a run, and which of them are broken.

    Without `parameters` those that depend on a timeout or on the mux are not judged.
    """
    parameters = parameters or JudgedParameters()
    judge = PromiseJudge(parameters, float(log.joints.time[0]))
    for event in in_order(_events(log, robot, parameters.mux)):
        judge.see(event)
    broken = dict(judge.broken)
    if count := log.not_finite.get('wheel_effort', 0):
        broken[TorqueLimits.identity] = BrokenPromise(
            TorqueLimits.identity, 0.0, 'a torque that is not finite', count)
    return KeptPromises(judge.judged(), tuple(sorted(broken.values(), key=lambda one: one.time)))


def _events(log: RunLog, robot: CasterRobot, mux: MuxInputs | None) -> Iterator[StopEvent]:
    """Yield what the bag shows."""
    joints = log.joints
    parts = [ObservedTopic(MOTOR, joints.time, driving_fractions(joints.wheel_rate,
                                                             joints.wheel_torque, robot))]
    if log.odom is not None:
        parts.append(ObservedTopic(SPEED, log.odom.time, speeds(log.odom.twist)))
    if (effort := log.wheel_effort) is not None:
        parts.append(ObservedTopic(TORQUE, effort.time, torque_fractions(effort.value, robot)))
    commands = log.commands
    match = CommandMatch()
    if mux is not None:
        parts += _mux_parts(commands, mux)
        for source in mux.sources:
            if (sent := commands.get(source.topic)) is not None:
                for at, key in zip(sent.time.tolist(), keys(sent.value[:, 0], sent.value[:, 1:]),
                                   strict=True):
                    match.add(source.name, at, key)
    yield from plain_events(parts)
    if (passed := commands.get('cmd_vel') or _unstamped(log.cmd_vel)) is not None:
        for at, key in zip(passed.time.tolist(), keys(passed.value[:, 0], passed.value[:, 1:]),
                           strict=True):
            yield passed_event(at, key, match)


def _mux_parts(commands: Mapping[str, Series], mux: MuxInputs) -> Iterator[ObservedTopic]:
    """Yield the messages of the sources and locks of a mux, and its state."""
    for source in mux.sources:
        if (sent := commands.get(source.topic)) is not None:
            yield ObservedTopic(COMMAND, sent.time, sizes(sent.value[:, 1:]), source.name)
    for lock in mux.locks:
        if (states := commands.get(lock.topic)) is not None:
            yield ObservedTopic(LOCK, states.time, states.value, lock.name)
    for device in mux.enables:
        if (states := commands.get(device.topic)) is not None:
            yield ObservedTopic(LOCK, states.time, 1.0 - states.value, device.name)
    if (locked := commands.get('twist_mux/locked')) is not None:
        yield ObservedTopic(MASKED, locked.time, locked.value)


def _unstamped(series: Series | None) -> Series | None:
    """Return commands with a stamp of zero."""
    return None if series is None else Series(
        series.time, np.column_stack([np.zeros(len(series.time)), series.value]))
