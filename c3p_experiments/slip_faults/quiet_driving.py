# SPDX-License-Identifier: Apache-2.0
"""
Driving without faults, no drive like another: alarms that nothing truly happened for.

A contact that truly slips faster than `scoring.SLIPPING` is slip, here as among the faults: its
time counts neither as driving without faults nor its alarm as a false one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from c3p_bags.runs.run_log import Joints
from c3p_description.model import Array, CasterRobot
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.robots.random_robots import random_robot
from c3p_experiments.slip_faults.scenes import HARMLESS, Scene, drive
from c3p_experiments.slip_faults.scoring import SLIPPING, false_alarms, watch
from c3p_kinematics.calibration.parameters import calibrated, parameters_of
from c3p_simulation.plants.checks import FallenError
from c3p_simulation.plants.parameter_errors import ParameterErrors, perturbed

# errors of the descriptions: uniform, with deviations of r 0.3 %, d 2 %, hip 1.7 mm, zero 0.3°
ERRORS = ParameterErrors(mass=0.0, com=0.0, wheel_radius=0.0052, caster_offset=0.035,
                         hip_position=0.003, steering_zero=math.radians(0.52))

# duration of one drive, s
SPAN = 30.0

# time after the end of a true slip in which an alarm may still be of it, s: both monitors filter
# for up to 0.1 s
AFTER_SLIP = 0.5

# every third drive is on carpet, every second one by a random robot of its own
ON_CARPET = 3
OWN_ROBOT = 2

# thresholds of the curves, per the alarm limit
LIMITS = np.geomspace(0.02, 100.0, 60)


class QuietDrive(NamedTuple):
    """
    One drive without faults.

    Attributes
    ----------
    time : float, s
        Without true slip.
    alarms, before : (60,) int arrays
        Alarms at each of `LIMITS`, and those of the slip monitor.
    false_alarms, slip_alarms : int
        Alarms at the limit in use: without and with true slip.
    largest : float
        Largest statistic without true slip, per the alarm limit.
    of_slip : int
        Alarms of the slip monitor without true slip.
    largest_of_slip : float
        Its largest statistic without true slip, per the alarm limit.
    fallen : bool
        The robot has fallen over; the drive counts for nothing.
    """

    time: float
    alarms: Array
    before: Array
    false_alarms: int
    slip_alarms: int
    largest: float
    of_slip: int = 0
    largest_of_slip: float = 0.0
    fallen: bool = False


class QuietCase(NamedTuple):
    """Arguments of `quiet_drive`."""

    robot: CasterRobot
    kind: str
    seed: int
    duration: float
    conditions: Conditions


def all_driven(robot: CasterRobot) -> CasterRobot:
    """Return the robot with a motor at each wheel."""
    return replace(robot, driven=np.ones(robot.count, bool))


def encoder_steps(conditions: Conditions) -> tuple[float, float]:
    """Return the steps of wheel and steering encoders, rad."""
    return (2.0 * np.pi / max(conditions.wheel_counts, 1),
            2.0 * np.pi / max(conditions.steering_counts, 1))


def wrong(scene: Scene, seed: int) -> tuple[CasterRobot, Joints]:
    """Return a wrong description of the robot of a scene, and the joints by its zeros."""
    off = perturbed(scene.robot, seed, ERRORS)
    zero = off.steering_zero - scene.robot.steering_zero
    return (calibrated(scene.robot, parameters_of(off)),
            scene.joints._replace(steering=scene.joints.steering + zero))


def quiet_drives(robots: Sequence[CasterRobot], conditions: Conditions, seed: int, hours: float
                 ) -> Iterator[QuietCase]:
    """
    Yield distinct drives, each with commands, start steering and wrong description of its own.

    Parameters
    ----------
    robots : sequence of CasterRobot
        They take turns with random robots of at least three casters, since two isolate nothing.
    conditions : Conditions
    seed : int
        Of the first drive.
    hours : float
        Duration of all drives together.
    """
    kinds = HARMLESS if conditions.plant == 'mujoco' else HARMLESS[:1]
    drawn = seed
    for number in range(math.ceil(3600.0 * hours / SPAN)):
        robot = robots[number // OWN_ROBOT % len(robots)]
        if number % OWN_ROBOT:
            robot = random_robot(drawn)
            while robot.count < 3:
                drawn += 1
                robot = random_robot(drawn)
            drawn += 1
        kind = kinds[-1] if number % ON_CARPET == 0 else kinds[0]
        yield QuietCase(all_driven(robot), kind, seed + number, SPAN, conditions)


def quiet_drive(robot: CasterRobot, kind: str, seed: int, duration: float,
                conditions: Conditions) -> QuietDrive:
    """
    Drive once, and count the alarms by a wrong description.

    Parameters
    ----------
    robot : CasterRobot
    kind : str
        Of `scenes.HARMLESS`.
    seed : int
    duration : float, s
    conditions : Conditions
    """
    try:
        scene = drive(robot, kind, seed, duration, conditions.plant, sensors=conditions.sensors,
                      rate=conditions.rate)
    except FallenError:
        # some of the random robots have their weight near the edge of their wheels
        none = np.zeros(len(LIMITS), int)
        return QuietDrive(0.0, none, none, 0, 0, 0.0, fallen=True)
    dt = float(np.median(np.diff(scene.joints.time)))
    seen = watch(*wrong(scene, seed), encoder_steps(conditions),
                 conditions.sensors.timing)
    slipping = lasting_slip(scene.slip, dt)
    statistic = np.where(slipping, 0.0, seen.statistic)
    before = np.where(slipping, 0.0, seen.before)
    begins = begun(seen.alarm)
    return QuietDrive(
        time=dt * float(np.count_nonzero(~slipping)),
        alarms=false_alarms(statistic, dt, LIMITS),
        before=false_alarms(before, dt, LIMITS, 5),
        false_alarms=int(np.count_nonzero(~slipping[begins])),
        slip_alarms=int(np.count_nonzero(slipping[begins])),
        largest=float(statistic.max()),
        of_slip=int(np.count_nonzero(~slipping[begun(seen.slipping)])),
        largest_of_slip=float(before.max()))


def begun(alarm: Array) -> Array:
    """
    Return the samples at which an `alarm` (k,) begins.

    Examples
    --------
    >>> begun(np.array([True, True, False, True])).tolist()
    [0, 3]
    """
    return np.flatnonzero(np.diff(alarm.astype(int), prepend=0) > 0)


def lasting_slip(slip: Array, dt: float) -> Array:
    """
    Return the samples (k,) during or up to `AFTER_SLIP` after a true slip of any contact.

    Parameters
    ----------
    slip : (k, n, 2) array, m/s
    dt : float, s

    Examples
    --------
    >>> slip = np.zeros((400, 3, 2))
    >>> slip[100:110, 1, 0] = 0.2
    >>> np.flatnonzero(lasting_slip(slip, 0.005))[[0, -1]].tolist()
    [100, 209]
    """
    fast = np.hypot(slip[..., 0], slip[..., 1]).max(1) > SLIPPING
    last = np.maximum.accumulate(np.where(fast, np.arange(len(fast)), -len(fast)))
    return np.arange(len(fast)) - last <= round(AFTER_SLIP / dt)
