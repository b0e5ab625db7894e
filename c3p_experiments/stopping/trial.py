# SPDX-License-Identifier: Apache-2.0
"""One stop on the contact plant: a part fails while the robot drives straight ahead."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_experiments.robots.random_robots import random_robot
from c3p_hardware.hardware_interface_parameters import CardParameters
from c3p_hardware.stopping import (
    COAST,
    QUICK_STOP,
    RAMP,
    STOPPED,
    Reaction,
    StopCase,
    drive_gain,
    reactions,
    stopping_distance,
)
from c3p_hardware.wheel_gate import GateSettings, WheelGate
from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant
from c3p_simulation.plants.checks import FallenError

PERIOD = 0.005
# steps of the loop of a drive in a period, at least
DRIVE_STEPS = 5
# largest part of the deviation of a free wheel that a step of the loop takes away: beyond 1 it
# overshoots, and from 2 on a wheel that loses the floor swings up and drives the robot
FREE_PART = 1.0
# the robot drives before its part fails, s
BEFORE = 0.2
# longest time in which a robot is watched, s: one that ends by the formula (a heavy one with weak
# motors brakes for half a minute), and one that rolls on
LONGEST = 40.0
ROLLING = 8.0
# a robot that is faster than before, by this factor, rolls on
FASTER = 1.5
# part of the longest reaction time after which a reaction begins at the earliest
EARLIEST = 0.5

# robots by number: random ones begin with this name
RANDOM = 'random '


class StopTrial(NamedTuple):
    """
    Result of a stop.

    Attributes
    ----------
    robot, part : str
    case : StopCase
    distance : float, m
        Until standstill; inf for a robot that rolls on, nan for one that has fallen over.
    formula : float, m
    time : float, s
        Until standstill.
    """

    robot: str
    part: str
    case: StopCase
    distance: float
    formula: float
    time: float


def robot_of(name: str) -> CasterRobot:
    """Return the robot with a name, or the random one of ``random NUMBER``."""
    if name.startswith(RANDOM):
        return random_robot(int(name.removeprefix(RANDOM)))
    return load_casters(name)


def loaded(robot: CasterRobot, load: float) -> CasterRobot:
    """Return a robot with a payload of `load` kg at the centre of mass of its platform."""
    return replace(robot, platform_mass=robot.platform_mass + load)


class Brake:
    """
    Torque of the wheels after a reaction.

    Parameters
    ----------
    robot : CasterRobot
        As described: without payload.
    reaction : Reaction
    rate : (n,) array, rad/s
        Of the wheels when the reaction begins.
    lost : int
        Wheel whose motor has failed, −1 without one.

    Attributes
    ----------
    steps : int
        Steps of the loop of the brake in a period.
    """

    def __init__(self, robot: CasterRobot, reaction: Reaction, rate: Array, lost: int) -> None:
        """Begin at the present rates."""
        cards = CardParameters()
        self._robot = robot
        self._reaction = reaction
        self._reference = rate.copy()
        self._gain = drive_gain(robot)
        self._works = robot.driven & (np.arange(robot.count) != lost)
        self._gate = WheelGate(robot, GateSettings(cards.command_timeout, cards.stop_damping))
        # a sampled loop with the gain b is stable on a wheel without load below dt = 2 I/b
        free = float((self._gain / robot.wheel_spin_inertia).max()) * PERIOD / FREE_PART
        self.steps = (max(DRIVE_STEPS, math.ceil(free)) if reaction.brake == QUICK_STOP else 1)

    def torque(self, rate: Array, dt: float) -> Array:
        """Return the torques (n,), N·m, at wheel rates, rad/s, for the next `dt` s."""
        robot = self._robot
        if self._reaction.brake == COAST:
            return np.zeros(robot.efforts)
        if self._reaction.brake == QUICK_STOP:
            down = np.maximum(0.0, np.abs(self._reference) - RAMP * dt)
            self._reference = np.copysign(down, self._reference)
            found = np.zeros(robot.efforts)
            found[:robot.count] = self._gain * (self._reference - rate)
        else:
            # a closed gate brakes
            found = self._gate.torque_at(math.inf, rate)
        limit = robot.effort_limit
        found = np.clip(found, -limit, limit)
        found[:robot.count] *= self._works
        return found


class PartFailure(NamedTuple):
    """
    Failure of a part.

    Attributes
    ----------
    reaction : Reaction
    delay : float, s
        Until the reaction begins.
    lost : int
        Wheel whose motor has failed, −1 without one.
    longest : float, s
        Time until which the robot is watched.
    """

    reaction: Reaction
    delay: float
    lost: int
    longest: float


def stop(job: tuple[str, str, StopCase, int]) -> StopTrial:
    """Carry out a stop of (robot, part, case, seed)."""
    name, part, case, seed = job
    robot = robot_of(name)
    reaction = next(r for r in reactions() if r.part == part)
    formula = stopping_distance(robot, case, reaction)
    heavy = loaded(robot, case.load)
    plant = MujocoPlant(heavy, friction=case.friction, slope=case.slope,
                        slope_direction=math.pi / 2.0)
    draw = np.random.default_rng([39, seed])
    delay = reaction.time * draw.uniform(EARLIEST, 1.0)
    lost = int(draw.choice(np.flatnonzero(robot.driven))) if reaction.lost else -1
    plant.reset(steering=np.zeros(robot.count), twist=(0.0, case.speed, 0.0))
    try:
        longest = LONGEST if math.isfinite(formula) else ROLLING
        failure = PartFailure(reaction, delay, lost, longest)
        distance, time = _braked(plant, robot, failure)
    except FallenError:
        distance = time = math.nan
    return StopTrial(name, part, case, distance, formula, time)


def _braked(plant: MujocoPlant, robot: CasterRobot, failure: PartFailure) -> tuple[float, float]:
    """Return way [m] and time [s] from the failure to standstill."""
    lost = failure.lost
    hold = _holding(plant.robot, plant.model.opt.gravity[1])
    begin = np.zeros(2)
    brake: Brake | None = None
    start = float(np.hypot(*plant.truth().twist[:2]))
    for k in range(round((BEFORE + failure.longest) / PERIOD)):
        time = k * PERIOD - BEFORE
        truth = plant.truth()
        if time <= 0.0:
            begin = np.array(truth.pose[:2])
        elif (speed := float(np.hypot(*truth.twist[:2]))) > FASTER * start:
            break
        elif speed < STOPPED:
            return float(np.hypot(*(truth.pose[:2] - begin))), time
        rate = plant.sense().wheel_rate
        if brake is None and time >= failure.delay:
            brake = Brake(robot, failure.reaction, rate, lost)
        if brake is None:
            # a motor that has failed gives no torque at once
            failed = time > 0.0 and lost >= 0
            plant.step(np.where(np.arange(len(hold)) == lost, 0.0, hold) if failed else hold,
                       PERIOD)
            continue
        # drives close their loop faster than the control cycle
        dt = PERIOD / brake.steps
        for _ in range(brake.steps):
            plant.step(brake.torque(plant.sense().wheel_rate, dt), dt)
    return math.inf, math.inf


def _holding(robot: CasterRobot, along: float) -> Array:
    """Return the torques that hold the speed against friction and gravity `along`, m/s²."""
    friction = robot.losses[:, 3]
    force = float(np.sum(friction / robot.wheel_radius)) - robot.total_mass * along
    torque = np.zeros(robot.efforts)
    torque[:robot.count] = np.where(robot.driven, force * robot.wheel_radius
                                    / max(1, int(robot.driven.sum())), 0.0)
    return torque

