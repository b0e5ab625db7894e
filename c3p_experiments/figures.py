# SPDX-License-Identifier: Apache-2.0
"""Figures of the papers by their own numbers, and the experiments that reproduce them."""

from __future__ import annotations

import re

# paper → figure → experiment; 1 and 2 are El-Shenawy, Wagner and Badreddin
FIGURES = {
    '1': {4: 'postures', 5: 'structure', 6: 'structure', 7: 'structure', 8: 'structure',
          9: 'line', 10: 'triangle', 11: 'figure_eight'},
    '2': {2: 'postures', 6: 'feed_forward', 7: 'ramp_x', 9: 'flip'},
    'auchter': {4: 'hill', 5: 'hill', 6: 'random_terrain', 7: 'hill', 8: 'hill', 9: 'hill'},
    'kelly': {1: 'berthing'},
    'saha': {3: 'agv', 4: 'agv', 5: 'agv'},
}


def figure_number(name: str) -> int | None:
    """Return the number of ``figure9``, ``fig9`` or ``fig. 9``; None for another name."""
    found = re.fullmatch(r'fig(?:ure)?\.?[ _-]?(\d+)', name.lower())
    return int(found[1]) if found else None


def experiment_of_figure(number: int, paper: str | None) -> str:
    """
    Return the experiment of a figure of a paper, a key of `FIGURES`.

    Raises
    ------
    ValueError
        No paper, an unknown one, or a figure without experiment: with those that have one.
    """
    if paper is None:
        raise ValueError(f'figure{number}: of which paper? add --paper, one of '
                         f'{", ".join(FIGURES)}')
    if paper not in FIGURES:
        raise ValueError(f'--paper {paper}: must be one of {", ".join(FIGURES)}')
    if number not in FIGURES[paper]:
        have = ', '.join(f'figure{n} ({name})' for n, name in FIGURES[paper].items())
        raise ValueError(f'figure{number} of paper {paper} has no experiment; it has {have}')
    return FIGURES[paper][number]
