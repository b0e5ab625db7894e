# SPDX-License-Identifier: Apache-2.0
"""
Promises of safety.md that a bag shows to be broken, by the predicates of the enumeration.

A recorder may begin in a drive, lose messages, and stamp what it has no stamp of late: the
predicates have margins for that, and what a bag does not contain is not judged. Times are those
of the parameters in the bag: without them no timeout is judged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs.run_log import RunLog, Series
from c3p_controller.motion_promises import CommandTimeout, GateOpens, TorqueLimits
from c3p_controller.stop_promises import (
    MOTOR,
    PASSED,
    SPEED,
    TORQUE,
    Promise,
    StopEvent,
)
from c3p_controller.velocity_controller_parameters import StopParameters
from c3p_description.model import Array, CasterRobot
from c3p_hardware.wheel_gate import GateSettings

# a stop has at least half of the required deceleration, this long after its order at the latest,
# s (safety.md), and 0.5 s of patience before the brake
LEAST_EFFECT = 0.5
MARGIN = 1.2

# of a torque command that is late at the recorder, s
GRACE = 0.1

# smaller torques, in limits, and rates, rad/s, are noise
TORQUE_NOISE = 0.1
RATE_NOISE = 0.5


# nodes with a wheel gate
GATES = ('hardware_interface', 'ros2_control_bridge', 'simulation')


class StopTimes(NamedTuple):
    """
    Parameters of the velocity controller and of the wheel gate behind it; defaults are theirs.

    Attributes
    ----------
    cmd_vel_timeout, command_timeout : float, s
    stop_acceleration : float, m/s²
    """

    cmd_vel_timeout: float = 0.5
    command_timeout: float = GateSettings.command_timeout
    stop_acceleration: float = StopParameters.stop_acceleration


def stop_times(parameters: Mapping[str, Mapping[str, Any]], space: str = '') -> StopTimes | None:
    """
    Return the times in the `parameters` of a bag, of the robot with the namespace `space`.

    None without those of a velocity controller. `parameters` has those of each node by its name.

    Examples
    --------
    >>> stop_times({'/velocity_controller': {'cmd_vel_timeout': 1.0}}).cmd_vel_timeout
    1.0
    """
    controller = parameters.get(f'{space}/velocity_controller')
    if not controller:
        return None
    gate = next((parameters[name] for name in (f'{space}/{node}' for node in GATES)
                 if name in parameters), {})
    known = {**{name: controller.get(name) for name in ('cmd_vel_timeout', 'stop_acceleration')},
             'command_timeout': gate.get('command_timeout')}
    return StopTimes()._replace(**{name: float(value) for name, value in known.items()
                                   if isinstance(value, (int, float)) and value > 0.0})


class BrokenPromise(NamedTuple):
    """
    A promise that was broken.

    Attributes
    ----------
    promise : str
        Its identity.
    time : float, s
        Since the first joint states; when it was seen first.
    evidence : str
    events : int
        Events that show it.
    """

    promise: str
    time: float
    evidence: str
    events: int = 1


def broken_promises(log: RunLog, robot: CasterRobot, times: StopTimes | None = None
                    ) -> tuple[BrokenPromise, ...]:
    """
    Return the promises that a run broke, each once, in the order of time.

    Without `times` those that depend on a timeout are not judged.
    """
    promises: list[Promise] = [TorqueLimits()]
    gate: GateOpens | None = None
    if times is not None:
        gate = GateOpens(times.command_timeout + GRACE)
        # a bag may begin in a drive, and its torques after its joint states
        gate.flags['open'] = True
        if log.wheel_effort is not None and len(log.wheel_effort.time):
            gate.moments['received'] = float(log.wheel_effort.time[0])
        slowest = LEAST_EFFECT * times.stop_acceleration
        promises += [CommandTimeout(times.cmd_vel_timeout, slowest, MARGIN), gate]
    broken: dict[str, BrokenPromise] = {}
    if count := log.not_finite.get('wheel_effort', 0):
        broken[TorqueLimits.identity] = BrokenPromise(
            TorqueLimits.identity, 0.0, 'a torque that is not finite', count)
    have = {MOTOR, *(kind for kind, series in _series(log) if series is not None)}
    judged = [p for p in promises if have.issuperset(p.needs) or p is gate and TORQUE in have]
    for event in _events(log, robot):
        for promise in judged:
            if evidence := promise.see(event):
                name = promise.identity
                before = broken.get(name)
                broken[name] = (BrokenPromise(name, event.at, evidence) if before is None
                                else before._replace(events=before.events + 1))
    return tuple(sorted(broken.values(), key=lambda one: one.time))


def _series(log: RunLog) -> tuple[tuple[str, Series | None], ...]:
    """Return the columns that events are made of, in the order of cause and effect."""
    odom = log.odom
    return ((SPEED, None if odom is None else Series(odom.time, odom.twist)),
            (PASSED, log.cmd_vel), (TORQUE, log.wheel_effort))


def _events(log: RunLog, robot: CasterRobot) -> Iterator[StopEvent]:
    """Yield what the bag shows, by time; of equal stamps joints first, torques last."""
    times = [log.joints.time]
    values = [_driving(log, robot)]
    kinds = [MOTOR]
    for name, series in _series(log):
        if series is not None:
            kinds.append(name)
            times.append(series.time)
            values.append(_torques(series.value, robot) if name == TORQUE
                          else np.hypot(series.value[:, 0], series.value[:, 1]))
    kind = np.repeat(np.arange(len(times)), [len(t) for t in times])
    time = np.concatenate(times)
    value = np.concatenate(values)
    for k in np.lexsort((kind, time)).tolist():
        if math.isfinite(value[k]) or kinds[kind[k]] == TORQUE:
            yield StopEvent(kinds[kind[k]], float(time[k]), '', float(value[k]))


def _torques(torque: Array, robot: CasterRobot) -> Array:
    """Return the largest commanded torque (k,), as a fraction of its limit."""
    limit = robot.effort_limit[:torque.shape[1]]
    return np.abs(torque / np.where(limit > 0.0, limit, np.inf)).max(axis=1)


def _driving(log: RunLog, robot: CasterRobot) -> Array:
    """Return the largest torque (k,) that drives a wheel, as a fraction of its limit."""
    joints = log.joints
    torque = joints.wheel_torque[:, :robot.count]
    limit = robot.effort_limit[:robot.count]
    share = np.sign(joints.wheel_rate) * torque / np.where(limit > 0.0, limit, np.inf)
    drives = (np.abs(joints.wheel_rate) > RATE_NOISE) & (share > TORQUE_NOISE)
    return np.minimum(np.where(drives, share, 0.0).max(axis=1), 1.0)
