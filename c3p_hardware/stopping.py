# SPDX-License-Identifier: Apache-2.0
"""
Stopping distance of a robot whose parts fail, by a formula, and the stop category.

    d = v T  +  k (v²/(2 a)  +  v τ  +  s τ (v/a + τ ln((v − s τ)/(v_c − s τ))))

with the speed v, the reaction time T until the reaction begins, the deceleration a that motors and
tyres allow, the response time τ = m/Σ(b/r²) of a brake that is proportional to the speed, and the
part s = g sin φ − f/m of gravity that rolling friction f does not take (0 if it takes all). The
factor k covers wheels that brake unequally, which turns the robot. The robot counts as stopped
below v_c. A brake whose speed on the slope, s τ, is not below v_c, or with a ≤ 0, does not stop
the robot. The wheels are parallel; until the reaction the speed is held.

Stop categories are those of IEC 60204-1: 0, the power is removed; 1, a controlled stop, then the
power is removed; 2, a controlled stop with power.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_description.model import GRAVITY, Array, CasterRobot
from c3p_dynamics.traction import least_loads, traction_torque
from c3p_hardware.hardware_interface_parameters import CardParameters

# speed below which a robot counts as stopped, m/s
STOPPED = 0.05

# of the emulated drives: deceleration of a quick stop (6085h), rad/s², and the largest gain of its
# loop at the wheel, N·m·s/rad; a real drive has its own
RAMP = 50.0
RAMP_GAIN = 0.3
# response time for which the loop of a drive is tuned where that takes a smaller gain, s
TUNED = 0.05

# cycles until an order reaches the drives: the sample that shows a fault, the next order
ORDER_CYCLES = 2

# least grip of a tyre by its static load: load transfer at a stop
TRANSFER = 0.8

# factor of the braking distance: wheels with unequal loads reach their limits one after the other,
# and the robot turns when they brake on one side
UNEQUAL = 1.2

# kinds of brakes
QUICK_STOP = 'quick stop'
DAMPING = 'braking torque'
COAST = 'no torque'

CATEGORY = {COAST: 0, QUICK_STOP: 1, DAMPING: 2}


class Reaction(NamedTuple):
    """
    Reaction to the failure of a part.

    Attributes
    ----------
    part : str
        Part that fails.
    time : float, s
        Longest time until the reaction begins.
    brake : str
        QUICK_STOP, DAMPING or COAST.
    lost : int
        Motors that do not brake.
    """

    part: str
    time: float
    brake: str
    lost: int = 0

    @property
    def category(self) -> int:
        """Stop category of IEC 60204-1."""
        return CATEGORY[self.brake]


def reactions(cards: CardParameters | None = None) -> tuple[Reaction, ...]:
    """
    Return the reaction to the failure of each part, by the parameters of the hardware interface.

    Examples
    --------
    >>> [(r.part, round(r.time, 3), r.category) for r in reactions()][:2]
    [('motor', 0.01, 1), ('encoder', 0.06, 1)]
    """
    cards = cards or CardParameters()
    order = ORDER_CYCLES / cards.rate
    # drives with fault_reaction coast: the row of the failed brake
    quick = QUICK_STOP
    alone = cards.heartbeat_timeout + 1.0 / cards.rate
    return (Reaction('motor', order, quick, lost=1),
            Reaction('encoder', cards.silence_timeout + order, quick),
            Reaction('bus', alone, quick),
            Reaction('node', cards.command_timeout + order, DAMPING),
            Reaction('process', alone, quick),
            Reaction('computer', alone, quick),
            Reaction('brake', cards.stop_margin + order, COAST))


def drive_gain(robot: CasterRobot) -> Array:
    """Return the gain of the quick stop of each wheel, (n,) N·m·s/rad: tuned to its inertia."""
    driven = max(1, int(robot.driven.sum()))
    return np.minimum(RAMP_GAIN, robot.total_mass / driven * robot.wheel_radius ** 2 / TUNED)


class StopCase(NamedTuple):
    """
    Conditions of a stop.

    Attributes
    ----------
    speed : float, m/s
    load : float, kg
        Payload above the centre of mass of the platform.
    slope : float, rad
        Downhill in the direction of motion.
    friction : float
        µ between tyres and floor.
    """

    speed: float
    load: float = 0.0
    slope: float = 0.0
    friction: float = 0.6


def stopping_distance(robot: CasterRobot, case: StopCase, reaction: Reaction,
                      stop_damping: float = CardParameters().stop_damping) -> float:
    """
    Return the stopping distance by the formula, m; inf if the reaction does not stop the robot.

    Parameters
    ----------
    robot : CasterRobot
    case : StopCase
    reaction : Reaction
    stop_damping : float, N·m·s/rad
        Of the braking torque.

    Examples
    --------
    >>> from c3p_description import load
    >>> robot, motor = load('c3p'), reactions()[0]
    >>> round(stopping_distance(robot, StopCase(0.5), motor), 2)
    0.15
    """
    mass = robot.total_mass + case.load
    radius = robot.wheel_radius
    moved = mass + float(np.sum(robot.wheel_spin_inertia / radius ** 2))
    rolling = float(np.sum(robot.losses[:, 3] / radius))
    grip = (TRANSFER * case.friction * least_loads(robot) * mass / robot.total_mass
            * math.cos(case.slope))
    pull = (mass * GRAVITY * math.sin(case.slope) - rolling) / moved
    wheels = _braking(robot, grip, reaction.lost)
    if reaction.brake == COAST or not wheels.any():
        return (case.speed * reaction.time - case.speed ** 2 / (2.0 * pull) if pull < 0.0
                else math.inf)
    if reaction.brake == DAMPING:
        # the gate clips to what the tyres of the description transmit
        grip = np.minimum(grip, traction_torque(robot) / radius)
    force = np.minimum(robot.torque_limit / radius, grip)[wheels].sum()
    gain = (drive_gain(robot) if reaction.brake == QUICK_STOP
            else np.full(robot.count, stop_damping))
    if not gain.all():
        return math.inf
    response = moved / float(np.sum((gain / radius ** 2)[wheels]))
    slips = max(pull, 0.0)
    # of motors and tyres, against the slope
    deceleration = float(force) / moved - slips
    if reaction.brake == QUICK_STOP:
        deceleration = min(deceleration, RAMP * float(radius[wheels].min()))
    creep = slips * response
    if deceleration <= 0.0 or creep >= STOPPED:
        return math.inf
    v = case.speed
    lasts = v / deceleration
    if slips and v > STOPPED:
        lasts += response * math.log((v - creep) / (STOPPED - creep))
    return v * reaction.time + UNEQUAL * (
        v * v / (2.0 * deceleration) + v * response + creep * lasts)


def _braking(robot: CasterRobot, grip: Array, lost: int) -> Array:
    """Return which wheels brake: the driven ones without the `lost` strongest."""
    force = np.where(robot.driven, np.minimum(robot.torque_limit / robot.wheel_radius, grip), -1.0)
    wheels = robot.driven.copy()
    for _ in range(lost):
        strongest = int(np.argmax(np.where(wheels, force, -1.0)))
        wheels[strongest] = False
    return wheels


class StopRow(NamedTuple):
    """Row of the table by the formula: reaction, and distances [m] at the cases of the columns."""

    reaction: Reaction
    distances: tuple[float, ...]


def stopping_table(robot: CasterRobot, cases: tuple[StopCase, ...],
                   cards: CardParameters | None = None) -> tuple[StopRow, ...]:
    """Return the stopping distances of a robot, a row for each part that fails."""
    cards = cards or CardParameters()
    return tuple(StopRow(reaction, tuple(
        stopping_distance(robot, case, reaction, cards.stop_damping) for case in cases))
        for reaction in reactions(cards))
