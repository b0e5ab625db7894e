# SPDX-License-Identifier: Apache-2.0
"""
Colours of the scene: Okabe and Ito's palette, which is distinct for colour-blind readers.

A caster has the same colour in the scene and in the plots of the reports
(c3p_bags/report/style.py); a test compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

# red, green, blue, opacity, each 0 to 1
Colour = tuple[float, float, float, float]

CASTERS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#56B4E9', '#E69F00')
# the ends of the measure's scale and its middle, the lost direction, slip and motion
GOOD, FAIR, BAD = '#009E73', '#F0E442', '#D55E00'
LOST, ALERT, MOTION, TEXT = '#D55E00', '#E3182D', '#56B4E9', '#FFFFFF'


@lru_cache
def colour(code: str, opacity: float = 1.0) -> Colour:
    """
    Return the colour of a code like ``#0072B2``.

    Examples
    --------
    >>> colour('#ff0000', 0.5)
    (1.0, 0.0, 0.0, 0.5)
    """
    red, green, blue = (int(code[k:k + 2], 16) / 255 for k in (1, 3, 5))
    return red, green, blue, float(opacity)


def caster_colour(index: int, opacity: float = 1.0) -> Colour:
    """Return the colour of a caster, counted from 0."""
    return colour(CASTERS[index % len(CASTERS)], opacity)


def scale(value: float, steps: Sequence[str] = (BAD, FAIR, GOOD), opacity: float = 1.0) -> Colour:
    """
    Return the colour of a value between 0 (the first of `steps`) and 1 (the last).

    Examples
    --------
    >>> scale(0.0) == colour(BAD), scale(7.0) == colour(GOOD)
    (True, True)
    """
    place = min(max(float(value), 0.0), 1.0) * (len(steps) - 1)
    low = min(int(place), len(steps) - 2)
    part = place - low
    red, green, blue = (a + part * (b - a) for a, b in zip(
        colour(steps[low])[:3], colour(steps[low + 1])[:3], strict=True))
    return red, green, blue, float(opacity)
