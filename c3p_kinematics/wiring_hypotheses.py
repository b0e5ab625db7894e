# SPDX-License-Identifier: Apache-2.0
"""
Hypotheses of a wrong description of the wiring: orders, signs and zeros of the joints.

A joint that is plugged at another place, counts backwards or has its zero elsewhere is a fixed map
of the measured angles,

    true_k = sign_k · measured[of_k] + turn_k,

so that each hypothesis states what the joints would really have done.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import NamedTuple

from c3p_description.model import Array

# parts of a `Wiring`
WHEELS = 'wheels'
ENCODERS = 'encoders'
MODULES = 'modules'

# changes of a `Wiring`
EXCHANGED = 'exchanged'
REVERSED = 'reversed'
TURNED = 'turned'

# robots with more casters have pairs and rings as orders, not all permutations: those of five
# casters are 119
ALL_ORDERS = 4

# words of the parts in a text
WORDS = {WHEELS: ('wheel encoder', 'wheel encoders'),
         ENCODERS: ('steering encoder', 'steering encoders')}


class Wiring(NamedTuple):
    """
    Wrong description of joints.

    Attributes
    ----------
    parts : str
        ``wheels``, ``encoders`` (of steering), or ``modules`` for both of a caster.
    change : str
        ``exchanged``, ``reversed``, or ``turned`` for a zero.
    casters : tuple of int
        Those concerned, from 0; empty for all.
    steering_of, wheel_of : tuple of int
        Caster whose channel has the steering and the wheel angle of each caster.
    steering_sign, wheel_sign : tuple of float
        Factors of the angles.
    turn : tuple of float, rad
        Added to the steering angles.
    """

    parts: str
    change: str
    casters: tuple[int, ...]
    steering_of: tuple[int, ...]
    wheel_of: tuple[int, ...]
    steering_sign: tuple[float, ...]
    wheel_sign: tuple[float, ...]
    turn: tuple[float, ...]

    @property
    def rings(self) -> list[tuple[int, ...]]:
        """Casters that are exchanged among each other; those of a ring in the order of plugs."""
        order = self.wheel_of if self.parts == WHEELS else self.steering_of
        rings: list[tuple[int, ...]] = []
        for first in range(len(order)):
            ring = [first]
            while order[ring[-1]] != first:
                ring.append(order[ring[-1]])
            if len(ring) > 1 and first == min(ring):
                rings.append(tuple(ring))
        return rings

    def of_steering(self, measured: Array) -> Array:
        """Return turns (k, n) of the steering of each caster; to angles add `turn`."""
        return measured[:, self.steering_of] * self.steering_sign

    def of_wheels(self, measured: Array) -> Array:
        """Return angles or turns (k, n) of the casters' wheels by the measured ones."""
        return measured[:, self.wheel_of] * self.wheel_sign

    def text(self) -> str:
        """
        Return the hypothesis in words, with casters from 1.

        Examples
        --------
        >>> for wiring in wirings(3)[2:5]:
        ...     print(wiring.text())
        steering encoders of casters 2 and 3 exchanged
        casters 1 and 2 exchanged
        wheel encoders of casters 1 and 2 exchanged
        """
        one, many = WORDS.get(self.parts, ('', ''))
        if self.change == EXCHANGED:
            of = f'{many} of casters' if many else 'casters'
            return f'{of} {", and ".join(_ring_text(ring) for ring in self.rings)}'
        if self.change == TURNED:
            degrees = round(math.degrees(self.turn[self.casters[0] if self.casters else 0]))
            what = f'is {abs(degrees)}° off'
            return (f'steering zero of caster {self.casters[0] + 1} {what}' if self.casters else
                    f'all steering zeros are {abs(degrees)}° off')
        if not self.casters:
            return f'all {many or "encoders"} reversed'
        of = f'caster {self.casters[0] + 1}'
        return f'{one} of {of} reversed' if one else f'both encoders of {of} reversed'


def _ring_text(ring: Sequence[int]) -> str:
    """Return casters that are exchanged, in words."""
    names = [str(caster + 1) for caster in ring]
    if len(ring) == 2:
        return f'{names[0]} and {names[1]} exchanged'
    return f'{", ".join(names[:-1])} and {names[-1]} exchanged in a ring'


def orders(count: int) -> Iterator[tuple[int, ...]]:
    """
    Iterate over the wrong orders of `count` channels.

    Examples
    --------
    >>> list(orders(3))
    [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    >>> len(list(orders(4))), len(list(orders(6)))  # of 6: pairs, and one plug further
    (23, 17)
    """
    right = tuple(range(count))
    if count <= ALL_ORDERS:
        yield from (order for order in permutations(right) if order != right)
        return
    for i, k in combinations(right, 2):
        order = list(right)
        order[i], order[k] = k, i
        yield tuple(order)
    yield right[1:] + right[:1]
    yield right[-1:] + right[:-1]


def wirings(count: int) -> list[Wiring]:
    """
    Return the wrong descriptions of the wiring of a robot with `count` casters.

    Examples
    --------
    >>> [len(wirings(count)) for count in (2, 3, 4, 6)]
    [21, 39, 99, 93]
    """
    ones = (1.0,) * count
    same = tuple(range(count))
    right = Wiring('', '', (), same, same, ones, ones, (0.0,) * count)
    found = []
    for order in orders(count):
        moved = tuple(i for i in same if order[i] != i)
        order_of = right._replace(change=EXCHANGED, casters=moved)
        found += [order_of._replace(parts=MODULES, steering_of=order, wheel_of=order),
                  order_of._replace(parts=WHEELS, wheel_of=order),
                  order_of._replace(parts=ENCODERS, steering_of=order)]
    for casters in (*((i,) for i in same), ()):
        chosen = casters or same
        sign = tuple(-1.0 if i in chosen else 1.0 for i in same)
        reverse = right._replace(change=REVERSED, casters=casters)
        found += [reverse._replace(parts=WHEELS, wheel_sign=sign),
                  reverse._replace(parts=ENCODERS, steering_sign=sign),
                  reverse._replace(parts=MODULES, wheel_sign=sign, steering_sign=sign)]
        for quarter in (1, -1, 2):
            turn = tuple(0.5 * math.pi * quarter * (i in chosen) for i in same)
            found.append(right._replace(parts=ENCODERS, change=TURNED, casters=casters, turn=turn))
    return found
