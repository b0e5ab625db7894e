# SPDX-License-Identifier: Apache-2.0
"""
Drives of robots that are wired wrongly and were not commissioned: what odometry names, and when.

A drive ends when the description is doubted, or at its goal. Paths are those of the true centre.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_description.model import CasterRobot
from c3p_experiments.loop.closed_loop import Cycle, Held, run_loop, sensed_odometry
from c3p_experiments.loop.command_sources import GoalSource
from c3p_experiments.loop.controllers import make_controller
from c3p_kinematics.commissioning.assignment import NONE, Assignment, as_described
from c3p_kinematics.odometry import Odometry
from c3p_kinematics.wiring_hypotheses import MODULES, Wiring, wirings
from c3p_simulation.make_plant import PlantOptions, make_plant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings
from c3p_simulation.plants.wired_plant import WiredPlant

# longest drive, s, and the speed of its controller, m/s
DURATION = 15.0
SPEED = 0.5

# goals in turn: a curve, a turn on the spot, a motion aside with a turn
GOALS = ((1.0, 0.5, 0.5), (0.0, 0.0, 1.5), (-0.8, 0.2, -0.6))

# probability from which a caster is accused: it is likelier than everything else
ACCUSED = 0.5


class WrongDrive(NamedTuple):
    """
    Result of a drive.

    Attributes
    ----------
    named : float, m
        Path of the centre until the wiring is doubted; nan if it is not.
    turned : float, rad
        Turn of the platform until then.
    right : bool
        The true wiring is among those that are named.
    accused : float
        Largest probability of a fault of a caster that is wired rightly, or of any one where all
        are wrong alike.
    reached : bool
        The goal was reached by the odometry.
    path : float, m
        Of the whole drive.
    error : float, m
        Of the pose by the odometry at the end.
    text : str
        Message of the doubt.
    """

    named: float
    turned: float
    right: bool
    accused: float
    reached: bool
    path: float
    error: float
    text: str


def wired_as(robot: CasterRobot, wiring: Wiring, motors: bool) -> Assignment:
    """Return the assignment of a hypothesis; with `motors` they are wired as their encoders."""
    n = robot.count
    right = as_described(robot)
    joints = np.concatenate([wiring.steering_of, n + np.array(wiring.wheel_of)])
    gear = np.concatenate([wiring.steering_sign, wiring.wheel_sign])
    assignment = right._replace(encoder_of=joints, gear=gear,
                                zero=np.append(wiring.turn, np.zeros(n)))
    if not motors:
        return assignment
    there = right.motor_of != NONE
    motor_of = np.where(there, right.motor_of[joints], NONE)
    return assignment._replace(motor_of=motor_of, leads=gear.copy())


def named_wiring(robot: CasterRobot, text: str) -> Wiring | None:
    """Return the hypothesis in these words, None if the robot has none."""
    return next((w for w in wirings(robot.count) if w.text() == text), None)


def drive_wrongly(robot: CasterRobot, wiring: Wiring, seed: int, motors: bool | None = None,
                  plant: str = 'mujoco') -> WrongDrive:
    """
    Drive to a goal with a wrong wiring and the sensors of real robots.

    Parameters
    ----------
    robot : CasterRobot
    wiring : Wiring
        What is wired.
    seed : int
        Of sensors and start angles; goals take turns.
    motors : bool, optional
        The motors are wired as their encoders; by default where whole modules are.
    plant : str
    """
    assignment = wired_as(robot, wiring, wiring.parts == MODULES if motors is None else motors)
    sensors = SensorSettings.real()
    inner = WiredPlant(make_plant(plant, robot, PlantOptions(seed=seed)), assignment)
    outer = SensedPlant(inner, sensors, seed)
    odometry = Odometry(robot, sensed_odometry(
        (sensors.wheel_counts, sensors.steering_counts), sensors.timing))
    controller = make_controller('mpc', robot, latency=0.0, speed=SPEED)
    watch = _NamingWatch(wiring, inner)
    rng = np.random.default_rng([seed, robot.count])
    log = run_loop(outer, controller.law, GoalSource(
        controller.position(), [np.array(GOALS[seed % len(GOALS)])]), duration=DURATION,
        steering=rng.uniform(-np.pi, np.pi, robot.count), odometry=odometry, stop=watch)
    reached = log.ended and not watch.doubted
    error = float(np.hypot(*(inner.truth().pose - odometry.pose)[:2]))
    return WrongDrive(watch.named, watch.turned, watch.right, watch.accused, reached, watch.path,
                      error, watch.text or log.fault)


class _NamingWatch:
    """Watches the estimates; true ends the drive."""

    def __init__(self, wiring: Wiring, plant: WiredPlant) -> None:
        """Start with nothing named."""
        self._wiring = wiring
        self._plant = plant
        self._held = Held()
        self._last = plant.truth().pose.copy()
        self._heading = 0.0
        self.path = 0.0
        self.named = self.turned = float('nan')
        self.text = ''
        self.right = False
        self.doubted = False
        self.accused = 0.0

    def __call__(self, cycle: Cycle) -> bool:
        """Take a cycle."""
        self._move()
        estimate = cycle.estimate
        report = estimate.wiring
        for found, caster in ((estimate.slip, estimate.slip.suspect),
                              (estimate.faults, estimate.faults.caster)):
            if caster >= 0 and caster not in self._wiring.casters:
                self.accused = max(self.accused, found.confidence)
        text = report.text() or report.side_text()
        if text and not self.text:
            self.named = self.path
            self.turned = abs(self._heading)
            self.text = text
        if report.doubted or report.side_text():
            names = [one.name for one in report.likely if one.wiring] + list(report.reversing)
            self.right = self.right or self._wiring.text() in names
        self.doubted = report.doubted
        return report.doubted or (not estimate.faults.several and self._held(cycle))

    def _move(self) -> None:
        """Add to the path since the last cycle; a cycle of a lost sample is in the next one."""
        pose = self._plant.truth().pose.copy()
        step = pose - self._last
        self.path += float(np.hypot(step[0], step[1]))
        self._heading += float(np.angle(np.exp(1j * step[2])))
        self._last = pose
