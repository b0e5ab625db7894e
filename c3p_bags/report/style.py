# SPDX-License-Identifier: Apache-2.0
"""Colours, sizes and axes of the reports' figures, without matplotlib's global state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from c3p_description.model import Array

# Okabe and Ito's palette, which colour-blind readers can tell apart; casters in the papers' order
CASTERS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#56B4E9', '#E69F00')
REFERENCE, SENSED, TRUE = '#000000', '#0072B2', '#E69F00'
GREY, GOAL, ALERT = '#7f7f7f', '#009E73', '#D55E00'

# label of every axis of time
TIME = 'time since the goal [s]'

TITLE, LABEL, SMALL = 9.0, 8.0, 7.0
LINE = 1.1

# more samples than this per line cannot be seen and make the PDF slow
SAMPLES = 4000

# of a page as PNG, pixels per inch
DPI = 300


def caster_colour(index: int) -> str:
    """Return the colour of a caster."""
    return CASTERS[index % len(CASTERS)]


def figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, with a canvas of its own."""
    page = Figure(figsize=(width, height), facecolor='white')
    FigureCanvasAgg(page)
    return page


def dress(axes: Axes, title: str, x: str, y: str) -> None:
    """Give a panel its letter and title, labels with units, and a light grid."""
    axes.set_title(title, fontsize=TITLE, loc='left', fontweight='bold', pad=4)
    axes.set_xlabel(x, fontsize=LABEL, labelpad=2)
    axes.set_ylabel(y, fontsize=LABEL, labelpad=2)
    axes.tick_params(labelsize=SMALL, length=2.5, pad=2)
    axes.grid(True, color='#e6e6e6', linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)
    if axes.get_yscale() == 'linear':
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))


def headroom(axes: Axes, above: float = 0.0, below: float = 0.0) -> None:
    """Widen the y range by parts of itself, so that a legend fits above or below the lines."""
    low, high = axes.transScale.transform([(1.0, y) for y in axes.get_ylim()])[:, 1]
    ends = [(0.0, low - below * (high - low)), (0.0, high + above * (high - low))]
    axes.set_ylim(*axes.transScale.inverted().transform(ends)[:, 1])


def thin(*arrays: ArrayLike) -> list[Array]:
    """Return every k-th sample of arrays of one length, at most `SAMPLES` of them."""
    step = max(1, len(np.asarray(arrays[0])) // SAMPLES)
    return [np.asarray(a)[::step] for a in arrays]


def legend(axes: Axes, **options: Any) -> None:
    """Draw a small legend where there is most room, over the lines but not hiding them."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(handles, labels, **{
            'fontsize': SMALL, 'frameon': True, 'framealpha': 0.85, 'edgecolor': 'none',
            'handlelength': 1.6, 'borderpad': 0.2, 'labelspacing': 0.25, 'columnspacing': 1.0,
            'loc': 'best', **options})


def absent(axes: Axes, topic: str) -> None:
    """Say in an empty panel which topic the bag does not have."""
    axes.text(0.5, 0.5, f'{topic} was not recorded', transform=axes.transAxes, ha='center',
              va='center', fontsize=LABEL, color=GREY)


def save(page: Figure, path: str | Path) -> list[Path]:
    """
    Write a figure as PNG (`DPI`) and PDF.

    Parameters
    ----------
    page : Figure
    path : str or Path
        With or without the suffix ``.png`` or ``.pdf``; missing directories are made.

    Returns
    -------
    list of Path
        The two files.
    """
    base = Path(path)
    base = base.with_suffix('') if base.suffix in ('.png', '.pdf') else base
    base.parent.mkdir(parents=True, exist_ok=True)
    files = [base.with_name(f'{base.name}{suffix}') for suffix in ('.png', '.pdf')]
    for file in files:
        page.savefig(file, dpi=DPI)
    return files
