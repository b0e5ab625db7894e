# SPDX-License-Identifier: Apache-2.0
"""
One trial: a robot wired at random moves on its own, its wiring is searched and compared.

Afterwards it is pushed by hand, ahead and then to the left, which settles what encoders cannot
distinguish: which side is the front, and which is the left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_experiments.commissioning.small_drive import SmallDrive
from c3p_experiments.commissioning.wired import everything, few, robot_named
from c3p_kinematics.commissioning.assignment import NONE, Assignment, FoundWiring
from c3p_kinematics.commissioning.motions import WiringMotions
from c3p_kinematics.commissioning.search import WiringError, find_wiring, settle
from c3p_kinematics.commissioning.ties import separated
from c3p_simulation.make_plant import PlantOptions, make_plant
from c3p_simulation.plants.plant import Plant
from c3p_simulation.plants.sensors import SensorSettings
from c3p_simulation.plants.wired_plant import channels_measured, efforts_of

# period of the loop, s
PERIOD = 0.01

# verdicts
EXACT = 'exact'
UNDECIDED = 'undecided'
WRONG = 'wrong'
REFUSED = 'refused'

# errors within which a gear and a zero are named: a fifth of the least wrong gear that is drawn is
# 1 %, and 3 to 4 standard deviations of the search are these
GEAR_ERROR = 0.05
ZERO_ERROR = np.radians(3.0)

# a push by hand: distance, speed, and a hand as spring and damper on the place that it goes to
PUSH = 0.08
PUSH_SPEED = 0.05
HAND = 3000.0, 300.0
AHEAD = np.array([0.0, 1.0])
LEFT = np.array([-1.0, 0.0])

# motions that are added while wirings are not separated
MOST_ADDED = 6


class WiringTrial(NamedTuple):
    """
    Result of a trial.

    Attributes
    ----------
    robot : str
    seed : int
    drawn : str
        ``few`` or ``everything``.
    verdict : str
        After the pushes: `EXACT`, `UNDECIDED` (the truth is one of those listed), `WRONG`,
        or `REFUSED`.
    before : str
        The same before the pushes.
    probability : float
        Of what was found, after the pushes.
    gear_error, zero_error : float, 1 and rad
        Largest, where the orders and signs are right; nan elsewhere.
    fastest : float, m/s
        Of the pivots.
    way : float, m
        Largest distance of the centre from its start.
    time : float, s
        Of the motions.
    added : int
        Motions that were added.
    text : str
        Reason of a stop or a refusal.
    """

    robot: str
    seed: int
    drawn: str
    verdict: str
    before: str
    probability: float
    gear_error: float
    zero_error: float
    fastest: float
    way: float
    time: float
    added: int
    text: str


class WiringBench:
    """
    Plant behind a wiring, with the truth that is watched.

    Parameters
    ----------
    robot : CasterRobot
    wiring : Assignment
    plant : Plant

    Attributes
    ----------
    fastest : float, m/s
        Of the pivots in the motions.
    farthest : float, m
        Distance of the centre from its start.
    """

    def __init__(self, robot: CasterRobot, wiring: Assignment, plant: Plant) -> None:
        """Start with the plant as it stands."""
        self.robot = robot
        self.wiring = wiring
        self.plant = plant
        self.sample = plant.sense()
        self.fastest = 0.0
        self.farthest = 0.0

    def measured(self) -> Array:
        """Return the angles of the encoder channels."""
        return channels_measured(self.wiring, np.concatenate(
            [self.sample.steering, self.sample.wheel_angle]))

    def step(self, ordered: Array) -> None:
        """Hold the torques of the motor channels for a period."""
        sample = self.plant.step(efforts_of(self.robot, self.wiring, ordered), PERIOD)
        if sample is not None:
            self.sample = sample

    def watch(self) -> None:
        """Keep the largest speed and distance."""
        truth = self.plant.truth()
        vx, vy, turn = truth.twist
        hips = self.robot.hip_position
        self.fastest = max(self.fastest, float(np.hypot(vx - turn * hips[:, 1],
                                                        vy + turn * hips[:, 0]).max()))
        self.farthest = max(self.farthest, float(np.hypot(*truth.pose[:2])))

    def move(self, motions: WiringMotions | SmallDrive) -> str:
        """Carry the motions out; return the reason of a stop."""
        while True:
            orders = motions.step(self.sample.time, self.measured())
            if orders.done or orders.stopped:
                return orders.stopped
            self.step(orders.torque)
            self.watch()

    def push(self, direction: Array) -> Array:
        """Push by hand in a direction of ``base_link``; return what the channels measured."""
        still = np.zeros(int(np.sum(self.robot.actuated)))
        begin = self.plant.truth().pose.copy()
        c, s = np.cos(begin[2]), np.sin(begin[2])
        way = np.array([c * direction[0] - s * direction[1], s * direction[0] + c * direction[1]])
        rows = []
        duration = PUSH / PUSH_SPEED
        for k in range(int((duration + 0.5) / PERIOD)):
            target = begin[:2] + way * min(PUSH, PUSH_SPEED * k * PERIOD)
            truth = self.plant.truth()
            c, s = np.cos(truth.pose[2]), np.sin(truth.pose[2])
            off = target - truth.pose[:2]
            spring, damper = HAND
            force = spring * np.array([c * off[0] + s * off[1], c * off[1] - s * off[0]])
            force -= damper * truth.twist[:2]
            # hands at the pivots also hold the heading
            arm = float((self.robot.hip_position ** 2).sum(1).mean())
            moment = arm * (spring * (begin[2] - truth.pose[2]) - damper * truth.twist[2])
            self.plant.push(force, moment, PERIOD)
            self.step(still)
            rows.append(self.measured())
        return np.array(rows)


def same(first: Assignment, second: Assignment) -> bool:
    """Return whether orders and signs of two wirings are equal."""
    driven = first.motor_of != NONE
    return bool(np.array_equal(first.encoder_of, second.encoder_of)
                and np.array_equal(np.sign(first.gear), np.sign(second.gear))
                and np.array_equal(first.motor_of, second.motor_of)
                and np.array_equal(first.leads[driven], second.leads[driven]))


def errors(true: Assignment, found: Assignment) -> tuple[float, float]:
    """Return the largest errors of gears and zeros; nan where orders or signs differ."""
    if not same(true, found):
        return float('nan'), float('nan')
    return (float(np.abs(np.log(found.gear / true.gear)).max()),
            float(np.abs(np.angle(np.exp(1j * (found.zero - true.zero)))).max()))


def judged(true: Assignment, found: FoundWiring) -> str:
    """Return the verdict on what was found."""
    # by the deviations that are stated
    limits = (max(GEAR_ERROR, 4.0 * float(found.deviation.gear.max())),
              max(ZERO_ERROR, 4.0 * float(found.deviation.zero.max())))
    if np.all(np.array(errors(true, found.assignment)) < limits) and not found.undecided:
        return EXACT
    told = (found.assignment, *(w for w, _ in found.others))
    if found.undecided and any(np.all(np.array(errors(true, w)) < limits) for w in told):
        return UNDECIDED
    return WRONG


def searched(bench: WiringBench, seed: int) -> tuple[FoundWiring, WiringMotions, str, int]:
    """
    Return the wiring, its motions, the reason of a stop, and the number of added motions.

    WiringError: nothing explains the motions.
    """
    motions = WiringMotions(bench.robot, seed=seed)
    text = bench.move(motions)
    added = 0
    found = find_wiring(bench.robot, motions.record())
    while not separated(found) and added < MOST_ADDED and not motions.spent and not text:
        motions.extend(seed + 1000 * (1 + added))
        added += 1
        text = bench.move(motions)
        found = find_wiring(bench.robot, motions.record())
    return found, motions, text, added


def trial(name: str, seed: int) -> WiringTrial:
    """Carry out one trial: even seeds draw few wrong parts, odd ones everything."""
    robot = robot_named(name)
    rng = np.random.default_rng([seed, robot.count])
    drawn = 'everything' if seed % 2 else 'few'
    true = (everything if seed % 2 else few)(robot, rng)
    # two casters do not stand on the ground
    plant = make_plant('analytic' if robot.count == 2 else 'mujoco', robot,
                       PlantOptions(sensors=SensorSettings.real(), seed=seed))
    plant.reset(steering=rng.uniform(-np.pi, np.pi, robot.count))
    bench = WiringBench(robot, true, plant)
    try:
        found, _, text, added = searched(bench, seed)
    except WiringError as error:
        return _result(name, seed, drawn, bench, (REFUSED, REFUSED), 0, str(error))
    before = judged(true, found)
    time = bench.plant.time
    moved = bench.fastest, bench.farthest
    try:
        for direction in (AHEAD, LEFT):
            found = settle(robot, found, bench.push(direction), direction)
    except WiringError as error:
        return _result(name, seed, drawn, bench, (REFUSED, before), added=added, text=str(error))
    bench.fastest, bench.farthest = moved
    result = _result(name, seed, drawn, bench, (judged(true, found), before), added, text)
    gear, zero = errors(true, found.assignment)
    return result._replace(probability=found.probability, gear_error=gear, zero_error=zero,
                           time=time)


def _result(name: str, seed: int, drawn: str, bench: WiringBench, verdicts: tuple[str, str],
            added: int, text: str) -> WiringTrial:
    nan = float('nan')
    return WiringTrial(name, seed, drawn, *verdicts, nan, nan, nan, bench.fastest, bench.farthest,
                 bench.plant.time, added, text)


def failed_trial(case: tuple[str, int], reason: str) -> WiringTrial:
    """Return the result of a trial whose worker was lost."""
    name, seed = case
    nan = float('nan')
    return WiringTrial(name, seed, '', REFUSED, REFUSED, nan, nan, nan, 0.0, 0.0, 0.0, 0, reason)
