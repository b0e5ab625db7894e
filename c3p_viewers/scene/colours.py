# SPDX-License-Identifier: Apache-2.0
"""Colours of the scene: the palette of the plots, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from c3p_plots.palette import CASTERS, GREEN, SKY, VERMILION, YELLOW

# red, green, blue, opacity, each 0 to 1
Colour = tuple[float, float, float, float]

# the ends of the measure's scale and its middle, the lost direction, slip and motion
GOOD = GREEN
FAIR = YELLOW
BAD = VERMILION
LOST = VERMILION
ALERT = '#E3182D'
MOTION = SKY
TEXT = '#FFFFFF'


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
