# SPDX-License-Identifier: Apache-2.0
"""Colours of plots, pages and scenes; a caster has the same colour everywhere."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's palette, distinguishable for colour-blind readers; casters in the papers' order
BLUE = '#0072B2'
VERMILION = '#D55E00'
GREEN = '#009E73'
PURPLE = '#CC79A7'
SKY = '#56B4E9'
ORANGE = '#E69F00'
YELLOW = '#F0E442'
CASTERS = (BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE)

REFERENCE = '#000000'
SENSED = BLUE
TRUE = ORANGE
GREY = '#7f7f7f'
GOAL = GREEN
ALERT = VERMILION

# text, labels and rules; in SVG the page replaces them by its own, for light and dark screens
INK = '#1b1f24'
MUTED = '#6a737d'
RULE = '#e1e4e8'


# dashes and markers of casters, distinguishable without colours
DASHES = ('-', (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 1, 1, 1, 1, 1)), (0, (2, 2)))
MARKERS = ('o', 's', '^', 'D', 'v', 'P')


def caster_dash(index: int) -> object:
    """Return the line style of a caster, counted from 0."""
    return DASHES[index % len(DASHES)]


def marker(index: int) -> str:
    """Return the marker of a caster, counted from 0."""
    return MARKERS[index % len(MARKERS)]


def caster_marks(index: int) -> dict[str, Any]:
    """
    Return colour and sparse markers of a caster, counted from 0, for lines too dense for dashes.

    `marks.place_marks` puts the markers where the lines cross when a figure is written.
    """
    return {'color': caster_colour(index), 'marker': marker(index),
            'markersize': 3.2, 'markerfacecolor': 'white', 'markeredgewidth': 0.8,
            'markevery': (0.02 + 0.03 * index, 0.2)}


def caster_colour(index: int) -> str:
    """Return the colour of a caster, counted from 0."""
    return CASTERS[index % len(CASTERS)]
