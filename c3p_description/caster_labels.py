# SPDX-License-Identifier: Apache-2.0
"""Short names of the casters of a robot, from the names of their joints."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any


def caster_labels(robot: Any) -> tuple[str, ...]:
    """
    Return a short name for each caster: what its joints have in common and no other caster has.

    Where the names of the joints do not distinguish the casters, they are numbered from 1.

    Examples
    --------
    >>> from c3p_description import load
    >>> caster_labels(load('c3p'))
    ('1', '2', '3')
    >>> from types import SimpleNamespace
    >>> caster_labels(SimpleNamespace(count=2, wheel_joints=('fl_wheel_joint', 'fr_wheel_joint'),
    ...                               steering_joints=('fl_steer_joint', 'fr_steer_joint')))
    ('fl', 'fr')
    """
    pairs = zip(robot.wheel_joints, robot.steering_joints, strict=True)
    words = [[word for word in _words(wheel) if word in _words(steering)]
             for wheel, steering in pairs]
    everywhere = set(words[0]).intersection(*words)
    labels = tuple('_'.join(word for word in each if word not in everywhere) for each in words)
    if all(labels) and len(set(labels)) == robot.count:
        return labels
    return tuple(f'{i + 1}' for i in range(robot.count))


def _words(joint: str) -> list[str]:
    separated = ''.join(letter if letter.isalnum() else ' ' for letter in joint)
    return separated.split()


def caster_named(robot: Any, name: str) -> int:
    """
    Return the caster of a short name, or of its number from 1.

    ValueError names the casters of the robot.

    Examples
    --------
    >>> from c3p_description import load
    >>> caster_named(load('c3p'), '2')
    1
    """
    labels = caster_labels(robot)
    numbers = tuple(f'{i + 1}' for i in range(robot.count))
    for names in (labels, numbers):
        if name in names:
            return names.index(name)
    raise ValueError(f'{name!r}: {robot.name} has no such caster{did_you_mean(name, labels)}')


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """
    Return the end of an error text: the nearest of the `known` names, or all of them.

    Examples
    --------
    >>> did_you_mean('fll', ('fl', 'fr')), did_you_mean('x', ('fl', 'fr'))
    (', did you mean fl?', '; it has fl, fr')
    """
    close = get_close_matches(name, known, 1)
    return f', did you mean {close[0]}?' if close else f'; it has {", ".join(known)}'
