# SPDX-License-Identifier: Apache-2.0
"""
Simulate each interpretation of paper I on the analytic plant: two tables of docs/papers.

One option at a time is changed. Three drives: 4 m along X from transverse casters; the triangle of
Fig. 10, 2 s in each zone; and, for the fusion, reversal: a setpoint of -0.4 m/s at +0.4 m/s along
Y. Run from the root of the repository: ``python scripts/paper_ambiguities.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from paper_runs import (
    DT,
    Law,
    Position,
    aligned_at,
    drive,
    off_line,
    our_law,
    our_position,
    paper_position,
    printed_law,
    seconds,
)

from c3p_controller.paper.fusion import FusionOptions
from c3p_controller.paper.position import BOTH_AXES, PaperPositionGains
from c3p_controller.paper.velocity import PaperLaw, PaperSettings
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_description import load
from c3p_description.model import Friction
from c3p_kinematics.se2 import compose, exp
from c3p_simulation.plants.plant import AnalyticPlant

LINE = np.array([[4.0, 0.0, 0.0]])
TRIANGLE = np.array([[0.0, 3.5, 0.0], [3.0, 3.5, 0.0], [0.0, 0.0, 0.0]])

# at most for each leg, and in each zone, s
MOST, DWELL = 40.0, 2.0

# K_w of the fusion's table, N·m·s/rad: strong enough to be seen
WHEEL_GAIN = 0.1

# speed before and, negative, after turning back, m/s, what it may take, s, and K_w: with the
# papers' velocity loop, so that the wheel loop is more than a correction
BACK_SPEED, BACK_TIME, BACK_WHEEL_GAIN = 0.4, 10.0, 0.5

# every letter of eqs (14)-(16); see c3p_controller.paper.position.AS_PRINTED
LETTERS = {'frame': 'as_printed', 'line': 'as_printed', 'arctangent': 'one_argument',
           'angles': 'as_printed', 'undefined': 'stop'}


class Straight(NamedTuple):
    """4 m from a singular start; times in s, None: never; lengths in m."""

    aligned: float | None
    path_error: float
    arrived: float | None
    final_error: float


class Triangle(NamedTuple):
    """
    The triangle of Fig. 10.

    Attributes
    ----------
    legs : int
        How many zones were entered.
    path_error : float, m
        Largest distance from the leg under way.
    closing_error : float or None, m
        Distance from the start at the end; None when a leg is missing.
    heading : float or None, rad
        Mean rolling direction of the casters over the floor early on leg 3, an angle like
        θ_s in (−2π, 0]; None when the leg is not driven to its end.
    """

    legs: int
    path_error: float
    closing_error: float | None
    heading: float | None


def straight(law: Law) -> Straight:
    """Drive 4 m along X from steering angles that are exactly 0."""
    found = drive(law, LINE, np.zeros(3), MOST, DWELL)
    off = found.pose[-1, :2] - LINE[0, :2]
    return Straight(aligned_at(found, LINE[0]),
                    float(off_line(found.pose, np.zeros(3), LINE[0]).max()),
                    found.entered[0] if found.entered else None, math.hypot(*off))


def triangle(law: Law) -> Triangle:
    """Drive along the triangle, from steering angles 0 like the paper."""
    found = drive(law, TRIANGLE, np.zeros(3), MOST, DWELL)
    error = max(float(off_line(found.pose[found.leg == k], TRIANGLE[k - 1] * (k > 0), goal).max())
                for k, goal in enumerate(TRIANGLE) if (found.leg == k).any())
    legs, last, heading = len(found.entered), np.flatnonzero(found.leg == 2), None
    if legs == 3:
        early = last[len(last) // 5:len(last) // 3]
        over_floor = np.exp(1j * (found.steering[early] + found.pose[early, 2:]))
        heading = -float(np.angle(over_floor.mean().conj()) % (2.0 * math.pi))
    return Triangle(legs, error, math.hypot(*found.pose[-1, :2]) if legs == 3 else None, heading)


def ideal_triangle(controller: Position) -> tuple[int, float]:
    """Return zones entered and path error [m] of a robot that tracks setpoints without delay."""
    pose, error = np.zeros(3), 0.0
    for leg, goal in enumerate(TRIANGLE):
        # from the corner itself, not from the border of its zone
        start = TRIANGLE[leg - 1] * (leg > 0)
        pose = np.array([*start[:2], pose[2]])
        controller.set_goal(goal, pose)
        way = [pose]
        while not (command := controller.step(pose)).reached and len(way) < MOST / 0.02:
            pose = compose(pose, exp(command.twist * 0.02))
            way.append(pose)
        error = max(error, float(off_line(np.array(way), start, goal).max()))
        if not command.reached:
            return leg, error
    return len(TRIANGLE), error


def turn_back(law: Law) -> float | None:
    """Return the distance until reversal after a reversed setpoint, m; None: no stop."""
    robot = replace(load('c3p'), friction=Friction())
    plant, moving = AnalyticPlant(robot), np.array([0.0, BACK_SPEED, 0.0])
    # no ramp, as the paper has none: with one the robot hardly deviates from its command
    paper = printed_law(BACK_WHEEL_GAIN)
    gains = replace(paper.gains, lambda_1=law.gains.lambda_1, lambda_2=law.gains.lambda_2)
    torque_law = PaperLaw(robot, PaperSettings(gains, paper.limits, paper.weight, law.fusion))
    torque_law.reset(Sensed(0.0, np.zeros(3), np.zeros(3), np.zeros(3), -moving))
    sample = plant.reset(twist=moving)
    while sample.time < BACK_TIME:
        truth = plant.truth()
        if truth.twist[1] <= 0.0:
            return float(truth.pose[1])
        sensed = Sensed(sample.time, sample.steering, sample.wheel_rate, truth.pose, truth.twist)
        sample = plant.step(torque_law.step(sensed, Setpoint(-moving), DT), DT)
    return None


def fusion_laws() -> list[Law]:
    """Return the interpretations of eq. (13), with the default velocity loop and WHEEL_GAIN."""
    def law(name: str, exponents: tuple[float, float] = (1.0, 1.0), **options: Any) -> Law:
        return replace(our_law(name, friction=False, wheel_gain=WHEEL_GAIN, lambda_1=exponents[0],
                               lambda_2=exponents[1]), fusion=FusionOptions(**options))

    half = (0.5, 0.5)
    return [
        law('λ = 0, 0 (Table I)', (0.0, 0.0)), law('λ = 0, 1', (0.0, 1.0)),
        law('λ = 1, 1'), law('λ = 0.5, 0.5', half),
        law('cosine as printed', cosine='as_printed'),
        law('cosine as printed, λ = 0.5, 0.5, stop', half, cosine='as_printed'),
        law('cosine as printed, λ = 0.5, 0.5, real part', half, cosine='as_printed',
            complex_power='real_part'),
        law('Ψ at rest: zero', at_rest='zero'), law('Ψ at rest: hold last', at_rest='hold_last'),
        law('Ψ at rest: computed', at_rest='computed'),
        law('Ψ at rest: computed, one argument', at_rest='computed', arctangent='one_argument'),
        law('one argument', arctangent='one_argument'),
        law('one argument, cosine as printed', arctangent='one_argument', cosine='as_printed'),
        law('clockwise', sense='clockwise'), law('yaw included', yaw='included'),
    ]


def position_laws() -> list[Law]:
    """Return the interpretations of eqs (14)-(16), with the default velocity loop."""
    both = PaperPositionGains(axis_gain=BOTH_AXES)
    free = PaperPositionGains(axis_gain=BOTH_AXES, line_yaw_gain=0.0)

    def law(name: str, gains: PaperPositionGains | None = both, friction: bool = False,
            **options: str) -> Law:
        return replace(our_law(name, friction=friction), zone_yaw=math.inf,
                       position=paper_position(gains, **options))

    return [
        law('Table I, K_y = 0', None), law('K_y = 0.5'), law('K_y = 0.5, K_er = 0', free),
        law('counter-clockwise', sense='counter_clockwise'),
        law('without R', frame='as_printed'),
        law('without R, counter-clockwise', frame='as_printed', sense='counter_clockwise'),
        law('without R, K_er = 0', free, frame='as_printed'),
        law('ϑ of the goal itself', line='as_printed'),
        law('one argument', arctangent='one_argument'),
        law('ϑ of the goal itself, one argument, stop', line='as_printed',
            arctangent='one_argument', undefined='stop'),
        law('angles not wrapped', angles='as_printed'), law('zone latched', zone='latched'),
        law('every letter', **LETTERS), law('every letter, K_y = 0', None, **LETTERS),
        replace(our_law('our line form', friction=False), position=our_position,
                zone_yaw=math.inf),
        law('Table I, K_y = 0, with friction', None, friction=True),
        law('K_y = 0.5, with friction', friction=True),
        law('every letter, with friction', friction=True, **LETTERS),
        replace(printed_law(WHEEL_GAIN, position=paper_position(both, **LETTERS)),
                name='every letter, and the velocity loop as printed'),
    ]


def centimetres(value: float | None) -> str:
    """Return a length as formatted in the tables."""
    return 'never' if value is None else f'{100 * value + 0.0:.1f}'


def columns(line: Straight, way: Triangle) -> list[str]:
    """Return the common columns of both tables."""
    return [seconds(line.aligned), centimetres(line.path_error), seconds(line.arrived),
            centimetres(line.final_error), f'{way.legs} of 3', centimetres(way.path_error),
            '-' if way.closing_error is None else centimetres(way.closing_error)]


HEAD = ['4 m: aligned [s]', 'path error [cm]', 'in the zone [s]', 'end [cm]', 'triangle: legs',
        'path error [cm]', 'closing error [cm]']


def fusion_rows() -> Iterator[list[str]]:
    """Yield the table of the fusion."""
    yield ['reading of (13)', *HEAD, 'turning back: goes on [cm]']
    for law in fusion_laws():
        yield [law.name, *columns(straight(law), triangle(law)), centimetres(turn_back(law))]


def position_rows() -> Iterator[list[str]]:
    """Yield the table of the position law."""
    yield ['reading of (14)-(16)', *HEAD, 'casters on leg 3 [°]', 'ideal robot: legs',
           'path error [cm]']
    for law in position_laws():
        way, (legs, error) = triangle(law), ideal_triangle(law.position())
        heading = '-' if way.heading is None else f'{math.degrees(way.heading):.0f}'
        yield [law.name, *columns(straight(law), way), heading, f'{legs} of 3',
               centimetres(error)]


def main() -> None:
    """Print both tables."""
    for rows in (fusion_rows(), position_rows()):
        for k, row in enumerate(rows):
            print(f'| {" | ".join(row)} |', flush=True)
            if k == 0:
                print('|' + '---|' * len(row))
        print()


if __name__ == '__main__':
    main()
