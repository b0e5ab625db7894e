# SPDX-License-Identifier: Apache-2.0
"""A wiring in words: what differs from the description, one line for each thing to be mended."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from c3p_description.caster_labels import caster_labels
from c3p_description.model import Array, CasterRobot
from c3p_kinematics.calibration.words import INTERVAL
from c3p_kinematics.commissioning.assignment import NONE, Assignment, joint_of_motors

# zeros and gears that differ by less are as described, rad and relative
SAME_ZERO = math.radians(1.0)
SAME_GEAR = 0.01


def differences(robot: CasterRobot, assignment: Assignment, deviation: Assignment | None = None
                ) -> list[str]:
    """
    Return what differs from the description, in words; empty where nothing does.

    Parameters
    ----------
    robot : CasterRobot
    assignment : Assignment
    deviation : Assignment, optional
        Standard deviations of gears and zeros, as in `FoundWiring`.

    Examples
    --------
    >>> from c3p_description import load
    >>> robot = load('c3p')
    >>> wiring = Assignment(np.array([1, 0, 2, 4, 3, 5]), np.array([1, 1, 1, 1, -1, 1.1]),
    ...                     np.array([0, 0, 1.57, 0, 0, 0]), np.array([NONE] * 3 + [1, 0, 2]),
    ...                     np.array([1, 1, 1, 1, -1, 1]))
    >>> for line in differences(robot, wiring):
    ...     print(line)
    modules of casters 1 and 2 exchanged
    motor of caster 2 reversed, with its encoder
    steering zero of caster 3: 90.0° to be added
    wheel of caster 3 turns by 1.100 of what is measured: gear or counts
    """
    n = robot.count
    labels = caster_labels(robot)
    known = assignment.encoder_of != NONE
    steering = np.where(known[:n], assignment.encoder_of[:n], np.arange(n))
    wheels = np.where(known[n:], assignment.encoder_of[n:] - n, np.arange(n))
    lines = _orders(robot, assignment, steering, wheels, labels)
    lines += [f'{_joint(robot, k, labels)} is measured by no channel: dead, or not connected'
              for k in np.flatnonzero(~known).tolist()]
    for k in range(2 * n):
        where = labels[k % n]
        if k < n:
            if known[k] and assignment.gear[k] < 0.0:
                lines.append(f'steering encoder of caster {where} reversed')
            continue
        counted = bool(known[k] and assignment.gear[k] < 0.0)
        driven = bool(assignment.motor_of[k] != NONE and assignment.leads[k] < 0.0)
        if counted and driven:
            lines.append(f'motor of caster {where} reversed, with its encoder')
        elif counted:
            lines.append(f'encoder of the wheel of caster {where} reversed')
        elif driven:
            lines.append(f'leads of the motor of caster {where} exchanged')
    lines += [f'leads of the steering motor of caster {labels[k]} exchanged' for k in range(n)
              if assignment.motor_of[k] != NONE and assignment.leads[k] < 0.0]
    for k in range(n):
        if known[k] and abs(assignment.zero[k]) > SAME_ZERO:
            lines.append(f'steering zero of caster {labels[k]}: '
                         f'{math.degrees(assignment.zero[k]):.1f}°'
                         f'{_interval(deviation and deviation.zero[k], 180 / math.pi, 1, "°")} to '
                         'be added')
    for k in range(2 * n):
        size = abs(assignment.gear[k])
        if known[k] and abs(size - 1.0) > SAME_GEAR:
            lines.append(f'{_joint(robot, k, labels)} turns by {size:.3f}'
                         f'{_interval(deviation and deviation.gear[k], 1.0, 3, "")} of what is '
                         'measured: gear or counts')
    return lines


def _orders(robot: CasterRobot, assignment: Assignment, steering: Array, wheels: Array,
            labels: Sequence[str]) -> list[str]:
    """Return exchanged parts in words, whole modules first."""
    n = robot.count
    casters = joint_of_motors(robot) % n
    motors = np.arange(n)
    turning = np.arange(n)
    for k in range(n):
        for row, place in ((motors, n + k), (turning, k)):
            if assignment.motor_of[place] != NONE:
                row[k] = casters[assignment.motor_of[place]]
    parts = [(motors, 'motors'), (wheels, 'wheel encoders'), (steering, 'steering encoders')]
    if robot.efforts > n:
        parts.append((turning, 'steering motors'))
    lines = []
    if all((order == steering).all() for order, _ in parts):
        return [f'modules of casters {_ring_words(ring, labels)}' for ring in _rings(steering)]
    if (motors == wheels).all():
        lines = [f'drives of casters {_ring_words(ring, labels)}' for ring in _rings(wheels)]
        parts = parts[2:]
    for order, words in parts:
        lines += [f'{words} of casters {_ring_words(ring, labels)}' for ring in _rings(order)]
    return lines


def _rings(order: Array) -> list[list[int]]:
    """Return the rings of an order: each is measured by the channel of the next."""
    rings = []
    seen: set[int] = set()
    for first in range(len(order)):
        ring = [first]
        while int(order[ring[-1]]) not in (first, *ring):
            ring.append(int(order[ring[-1]]))
        if len(ring) > 1 and not seen & set(ring):
            rings.append(ring)
        seen |= set(ring)
    return rings


def _ring_words(ring: Sequence[int], labels: Sequence[str]) -> str:
    names = [labels[k] for k in ring]
    if len(names) == 2:
        return f'{names[0]} and {names[1]} exchanged'
    return (f'{", ".join(names[:-1])} and {names[-1]} exchanged in a ring: '
            + ', '.join(f'what is taken for {b} is {a}'
                        for a, b in zip(names, [*names[1:], names[0]], strict=True)))


def _joint(robot: CasterRobot, k: int, labels: Sequence[str]) -> str:
    n = robot.count
    return f'{"steering" if k < n else "wheel"} of caster {labels[k % n]}'


def _interval(deviation: float | None, factor: float, digits: int, unit: str) -> str:
    return '' if deviation is None else f' ± {INTERVAL * factor * deviation:.{digits}f}{unit}'
