# SPDX-License-Identifier: Apache-2.0
"""Dialogue of commissioning by hand: a person turns each joint and pushes the robot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from c3p_bringup.commission.angles import AngleSource
from c3p_description.caster_labels import caster_labels
from c3p_description.model import CasterRobot
from c3p_kinematics.commissioning.assignment import FoundWiring, channels_of
from c3p_kinematics.commissioning.by_hand import STANDS, Pushed, Turned, find_by_hand

INTRODUCTION = """\
Motors off (emergency stop pressed), wheels off the floor. After each prompt turn the joint, by a
full turn where it can, and press Enter when it stands; nothing else may turn. Ctrl-C ends."""

ON_THE_FLOOR = """\
Now put the robot on the floor, all wheels down, motors still off. +X and +Y are those of
base_link; the casters trail behind each push."""

PUSHES = {
    'ahead': 'push the robot straight along its +Y by 1 m or more, and do not roll back',
    'aside': 'push it along its +X by 1 m',
    'turn': 'turn it counterclockwise (seen from above) by half a turn'}

# wheels below their pivots do not trail: kind and prompt of setting them, before each push
SET = {
    'ahead': ('straight', 'set all wheels parallel to +Y, either way round, with a straight edge '
                          'along each pair'),
    'aside': ('quarter', 'turn all steering axes to the left by a quarter turn from there')}
BELOW = """\
Now put the robot on the floor, all wheels down, motors still off. +X and +Y are those of
base_link; the wheels keep the direction in which they are set."""


def commission_by_hand(robot: CasterRobot, source: AngleSource, turn: float,
                       enter: Callable[[str, int], Callable[[], bool]],
                       show: Callable[[str], None], pushes: bool = True) -> FoundWiring:
    """
    Prompt for each motion, listen, and return the wiring.

    Parameters
    ----------
    robot : CasterRobot
    source : AngleSource
    turn : float, rad
        By which each joint is turned.
    enter : callable
        Takes the kind of a motion (``turned`` or a direction) and the joint, from -1; returns a
        function that is true once the person has finished. Wheels below their pivots are set
        before a push: ``straight``, or ``quarter`` for all turned to the left by 90°.
    show : callable
        Prints a line.
    pushes : bool
        Prompt for pushes, which give the zeros.

    Raises
    ------
    ByHandError
        What was turned does not determine the wiring.
    """
    channels = channels_of(robot)
    for name, reason in source.silent.items():
        show(f'  no answer of {name}: {reason}')
    show(INTRODUCTION)
    turned = []
    for joint in range(2 * robot.count):
        show(f'  {_prompt(robot, joint, turn)}')
        samples = source.until(partial(enter, 'turned', joint))
        moved = samples[-1] - samples[0]
        turned.append(Turned(joint, turn, moved))
        show(f'      {_seen(channels.encoders, moved)}')
    pushed = []
    if pushes:
        # contradictions are reported before the robot is pushed
        find_by_hand(robot, channels, turned)
        pushed = _pushes(robot, source, enter, show)
    return find_by_hand(robot, channels, turned, pushed)


def _pushes(robot: CasterRobot, source: AngleSource,
            enter: Callable[[str, int], Callable[[], bool]], show: Callable[[str], None]
            ) -> list[Pushed]:
    """Prompt for the pushes; return what was measured."""
    trails = bool(np.all(robot.caster_offset > 0.0))
    show(ON_THE_FLOOR if trails else BELOW)
    pushed = []
    for direction, prompt in PUSHES.items():
        if not trails and direction not in SET:
            continue
        if not trails:
            kind, words = SET[direction]
            show(f'  {words}')
            # what moves meanwhile is not rolling
            source.until(partial(enter, kind, -1))
        show(f'  {prompt}')
        pushed.append(Pushed(direction, source.until(partial(enter, direction, -1))))
    return pushed


def _prompt(robot: CasterRobot, joint: int, turn: float) -> str:
    label = caster_labels(robot)[joint % robot.count]
    amount = f'{math.degrees(turn):.0f}°'
    if joint < robot.count:
        return f'turn caster {label} to the left (counterclockwise seen from above) by {amount}'
    return f'roll wheel {label} ahead (as the robot rolls along +Y) by {amount}'


def _seen(names: Sequence[str], moved: np.ndarray) -> str:
    """Return the channels that moved, in words, the largest first."""
    size = np.abs(np.nan_to_num(moved))
    order = [k for k in np.argsort(-size) if size[k] > STANDS]
    if not order:
        return 'nothing moved'
    shown = [f'{names[k]} {math.degrees(moved[k]):+.0f}°' for k in order[:3]]
    return f'moved: {", ".join(shown)}'
