# SPDX-License-Identifier: Apache-2.0
"""Drives with sensors of real robots: true errors, alarms and held twists of each."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from c3p_experiments.el_shenawy.goals import DWELL, TRIANGLE
from c3p_experiments.loop.closed_loop import Held, LoopLog, sensed_odometry
from c3p_experiments.loop.command_sources import GoalSource
from c3p_experiments.loop.conditions import FRICTION, Bench, Conditions
from c3p_kinematics.odometry import Odometry, OdometryEstimate
from c3p_kinematics.sensed_kinematics_parameters import GyroFusionSettings
from c3p_simulation.make_plant import PlantOptions, make_plant
from c3p_simulation.plants.sensors import SensorSettings

# goals of each task and longest duration, s
TASKS: dict[str, tuple[tuple[tuple[float, ...], ...], float]] = {
    'line': (((4.0, 0.0, 0.0),), 40.0), 'triangle': (TRIANGLE[1:], 100.0)}

# standstill at a goal before the next one, s
PAUSE = 0.2


class TimedCase(NamedTuple):
    """
    Arguments of `timed_drive`.

    Attributes
    ----------
    conditions : Conditions
    robot : str
    name : str
        Of the property.
    sensors : SensorSettings
    task : str
        Of `TASKS`.
    seed : int
        Of the sensors.
    """

    conditions: Conditions
    robot: str
    name: str
    sensors: SensorSettings
    task: str
    seed: int


class TimedDrive(NamedTuple):
    """
    One drive.

    Attributes
    ----------
    name, task : str
        As of the case.
    seed : int
    true_error : float, m
        From the goal to the true end of the drive.
    odometry_error : float, m
        From the true end to that of the odometry.
    duration : float, s
        Robot time.
    slip_alarms, fault_alarms : int
        Begins of alarms. No wheel slips on the analytic plant.
    held : int
        Samples with a held twist.
    reached : bool
        The goal was held in time, without a fault of the law.
    """

    name: str
    task: str
    seed: int
    true_error: float
    odometry_error: float
    duration: float
    slip_alarms: int
    fault_alarms: int
    held: int
    reached: bool


class WatchedOdometry(Odometry):
    """Odometry that counts alarms and held twists: `slips`, `faults` and `held`."""

    def __init__(self, *arguments: Any) -> None:
        """Count from zero."""
        self.slips = 0
        self.faults = 0
        self.held = 0
        self._slipping = False
        self._alarm = False
        super().__init__(*arguments)

    def step(self, *sample: Any) -> OdometryEstimate:
        """Process a sample as `Odometry.step`."""
        estimate = super().step(*sample)
        self.slips += estimate.slip.slipping and not self._slipping
        self.faults += estimate.faults.alarm and not self._alarm
        self.held += estimate.grip.held > 0.0
        self._slipping = estimate.slip.slipping
        self._alarm = estimate.faults.alarm
        return estimate


def timed_drive(*case: Any) -> TimedDrive:
    """Drive the task of a `TimedCase` once; equal arguments give equal bits."""
    given = TimedCase(*case)
    goals = TASKS[given.task][0]
    log, odometry = driven(given)
    end = log.ground_truth.pose[-1]
    return TimedDrive(
        given.name, given.task, given.seed,
        true_error=float(np.hypot(*(end - np.array(goals[-1]))[:2])),
        odometry_error=float(np.hypot(*(end - log.odom.pose[-1])[:2])),
        duration=float(log.ground_truth.time[-1]), slip_alarms=int(odometry.slips),
        fault_alarms=int(odometry.faults), held=int(odometry.held),
        reached=log.ended and not log.fault)


def driven(case: TimedCase) -> tuple[LoopLog, WatchedOdometry]:
    """Return the log of the drive of a `case`, and its odometry."""
    bench = _bench(case.conditions, case.robot)
    goals, duration = TASKS[case.task]
    c = case.conditions
    plant = make_plant(c.plant, bench.robot, PlantOptions(
        friction=FRICTION if c.friction is None else c.friction, sensors=case.sensors,
        seed=case.seed), bench.robot_name)
    odometry = WatchedOdometry(bench.robot, sensed_odometry(
        (case.sensors.wheel_counts, case.sensors.steering_counts), case.sensors.timing,
        gyro=GyroFusionSettings(enabled=case.sensors.gyro.rate > 0)))
    controller = bench.controller()
    source = GoalSource(controller.position(), list(goals), dwell=PAUSE)
    log = bench.run(controller, source, duration=duration, plant=plant, odometry=odometry,
                    stop=Held(DWELL))
    return log, odometry


@lru_cache(maxsize=2)
def _bench(conditions: Conditions, robot: str) -> Bench:
    """Return a bench, compiled once for each process."""
    return Bench(conditions, robot)
