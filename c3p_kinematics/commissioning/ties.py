# SPDX-License-Identifier: Apache-2.0
"""
Wirings that move alike, in words, and the parts in which a wiring differs from the description.

Two wirings with the same residuals are the same robot, turned or mirrored: pivots, zeros and
senses of one are those of the other in other axes. What separates them is seen from outside only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.commissioning.assignment import NONE, Assignment, FoundWiring, as_described

# a smaller zero is within what assembly leaves, and so is a smaller change of a gear
SMALL_ZERO = np.radians(6.0)
SMALL_GEAR = 0.03

# residual of an isometry between pivots, relative to their spread
ISOMETRY = 0.02


# standard deviation of a gear that is known: calibration continues from there
KNOWN_GEAR = 0.01

# of wirings that are not the same robot in other axes
OTHERS = 'other wirings explain'


class Isometry(NamedTuple):
    """
    Map of the robot of one wiring to that of another: turn by `angle`, after mirroring if so.

    Attributes
    ----------
    angle : float, rad
    mirrored : bool
    """

    angle: float
    mirrored: bool


def parts_wrong(robot: CasterRobot, wiring: Assignment) -> int:
    """
    Return the number of parts in which a wiring differs from the description.

    A whole module at another place is one part, as are a motor and its encoder that are reversed
    together, and zeros or gears that are all wrong by the same.
    """
    n = robot.count
    described = as_described(robot)
    parts = 0
    for k in range(n):
        places = []
        signs = []
        for joint in (k, n + k):
            places.append((int(wiring.encoder_of[joint]) - k) % n)
            signs.append(wiring.gear[joint] < 0)
            if wiring.motor_of[joint] != NONE:
                own = described.motor_of[joint]
                # a place among the motors of its kind
                places.append((int(wiring.motor_of[joint]) - int(own)) % n)
                signs.append(wiring.leads[joint] < 0)
        away = [p for p in places if p]
        parts += 1 if away and len(set(places)) == 1 else len(away)
        wheel = [wiring.gear[n + k] < 0] + (
            [wiring.leads[n + k] < 0] if wiring.motor_of[n + k] != NONE else [])
        axis = [wiring.gear[k] < 0] + (
            [wiring.leads[k] < 0] if wiring.motor_of[k] != NONE else [])
        parts += sum(1 if all(group) else sum(group) for group in (wheel, axis))
    parts += _of_values(np.angle(np.exp(1j * wiring.zero[:n])), SMALL_ZERO)
    return parts + _of_values(np.log(np.abs(wiring.gear[n:])), SMALL_GEAR)


def _of_values(values: Array, small: float) -> int:
    """Return the number of values that are not small, 1 if all are equal."""
    wrong = int(np.sum(np.abs(values) > small))
    return min(wrong, 1) if np.ptp(values) < small else wrong


def isometry(robot: CasterRobot, first: Assignment, second: Assignment) -> Isometry | None:
    """Return the map between the robots of two wirings, None if they differ otherwise."""
    n = robot.count
    hips = robot.hip_position
    pivot = hips[:, 0] + 1j * hips[:, 1]
    pivot = pivot - pivot.mean()
    # casters that have the same channels
    partner = [np.flatnonzero(second.encoder_of[:n] == c) for c in first.encoder_of[:n]]
    if any(len(p) != 1 for p in partner):
        return None
    there = np.array([int(p[0]) for p in partner])
    same_wheels = np.array_equal(second.encoder_of[n:][there], first.encoder_of[n:])
    ratio = second.gear[:n][there] * first.gear[:n]
    if not same_wheels or len(set(np.sign(ratio))) != 1:
        return None
    mirrored = bool(ratio[0] < 0)
    source = pivot.conj() if mirrored else pivot
    turn = np.vdot(source, pivot[there])
    angle = float(np.angle(turn)) if abs(turn) > 0 else 0.0
    left = np.abs(source * np.exp(1j * angle) - pivot[there]).max()
    # motors that are joined to other casters, or the same robot in the same axes
    same_motors = (_same_motors(first, second, there + n, n)
                   and _same_motors(first, second, there, 0, -1.0 if mirrored else 1.0))
    same_axes = not mirrored and abs(angle) < ISOMETRY
    if left > ISOMETRY * np.abs(pivot).max() or not same_motors or same_axes:
        return None
    return Isometry(angle, mirrored)


def _same_motors(first: Assignment, second: Assignment, there: Array, begin: int,
                 sense: float = 1.0) -> bool:
    """Return whether the motors of joints from `begin` are at the places `there` of another."""
    own = slice(begin, begin + len(there))
    driven = first.motor_of[own] != NONE
    return bool(np.array_equal(second.motor_of[there], first.motor_of[own]) and np.array_equal(
        sense * second.leads[there][driven], first.leads[own][driven]))


def undecided(robot: CasterRobot, best: Assignment, alike: Sequence[Assignment]
              ) -> tuple[str, ...]:
    """Return what these motions do not decide, each with the measurement that settles it."""
    maps = [isometry(robot, best, wiring) for wiring in alike]
    turned = sorted({round(float(np.degrees(m.angle))) % 360 for m in maps
                     if m is not None and not m.mirrored})
    texts = []
    if turned:
        angles = ', '.join(f'{angle}°' for angle in turned)
        texts.append(f'which side is the front: the robot turned by {angles} moves alike; push it '
                     'ahead by hand and state it')
    if any(m is not None and m.mirrored for m in maps):
        texts.append('which side is the left: the robot mirrored, with all steering encoders '
                     'reversed, moves alike; push it ahead and then to the left by hand and '
                     'state it')
    if any(m is None for m in maps):
        number = sum(m is None for m in maps)
        texts.append(f'{number} {OTHERS} these motions as well; let it move on, or '
                     'turn and roll its casters by hand, one by one')
    return tuple(texts)



def separated(found: FoundWiring) -> bool:
    """
    Return whether more motions would decide nothing new.

    Only wirings of the same robot in other axes are left, and the gears are known.
    """
    return (not any(OTHERS in text for text in found.undecided)
            and float(found.deviation.gear.max()) < KNOWN_GEAR)
