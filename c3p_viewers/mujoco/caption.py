# SPDX-License-Identifier: Apache-2.0
"""Texts over a picture of the scene: title, numbers, and a legend of the colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D

from c3p_description.model import Array
from c3p_plots.style import figure
from c3p_viewers.scene.colours import Colour

# pixels per inch, of which the sizes of letters are multiples
DPI = 100
INK = '#1b1f24'
PAPER = (1.0, 1.0, 1.0, 0.86)
RIM = '#c9ced6'
# of paths and goal
DRIVEN = '#E6521F'
AHEAD = '#4d5560'
TRUE = '#1b1f24'
AIM = '#009E73'

# meaning of each kind of shape and whether it is drawn as a ball, in the order of the legend
MEANINGS = (
    ('rolling_line', 'rolling lines, green far from a singularity and red in it', False),
    ('unactuated', 'motion that the motors can hardly drive', False),
    ('axle_line', 'axles, up to their closest point to the centre', False),
    ('icr', 'instantaneous centre of rotation (ICR)', True),
    ('twist', 'velocity: the path of the next second', False),
    ('torque', 'torques of the motors', False),
    ('slip', 'slip of the contacts', False),
    ('suspect', 'wheel that most likely slips', True),
    ('driven', 'path driven, by odometry', False),
    ('ahead', 'path ahead', False),
    ('truth', 'true path', False),
    ('goal', 'goal', True),
)


class Text(NamedTuple):
    """A text in a picture, with its middle in pixels from the upper left corner."""

    place: Array
    text: str


def caption(pixels: Array, title: str, numbers: Sequence[tuple[str, str]],
            shown: Mapping[str, Colour | str], texts: Sequence[Text] = ()) -> Array:
    """
    Return a picture with its texts.

    Parameters
    ----------
    pixels : (height, width, 3) array of uint8
    title : str
    numbers : sequence of (name, value)
        Listed below the title.
    shown : mapping
        Name → colour of the drawn shapes; the legend has only these.
    texts : sequence of Text
        Texts outside the picture are left out.

    Returns
    -------
    (height, width, 3) array of uint8
    """
    height, width = pixels.shape[:2]
    page = figure(width / DPI, height / DPI)
    page.set_dpi(DPI)
    page.figimage(pixels, resize=False)
    # letters grow with the picture
    letters = 10.5 * height / 720
    taken = [_numbers(page, title, numbers, letters), *_meanings(page, shown, letters)]
    page.canvas.draw()
    # texts of the scene stay out of the boxes
    boxes = [artist.get_window_extent().padded(3 * letters) for artist in taken]
    for text in texts:
        column, row = text.place
        if 0 < column < width and 0 < row < height and not any(
                box.contains(column, height - row) for box in boxes):
            page.text(column / width, 1 - row / height, text.text, color=INK, fontsize=letters,
                      ha='center', va='center', bbox=_box(0.25))
    canvas = page.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _box(pad: float) -> dict[str, Any]:
    return {'boxstyle': f'round,pad={pad}', 'facecolor': PAPER, 'edgecolor': RIM,
            'linewidth': 0.8}


def _numbers(page: Figure, title: str, numbers: Sequence[tuple[str, str]], letters: float
             ) -> Artist:
    """Write title and numbers into the upper left corner; return the box."""
    longest = max((len(name) for name, _ in numbers), default=0)
    lines = [title, *(f'{name:<{longest}}  {value}' for name, value in numbers)]
    return page.text(0.018, 0.968, '\n'.join(lines), color=INK, fontsize=letters, va='top',
                     ha='left', family='monospace', linespacing=1.45, bbox=_box(0.55))


def _meanings(page: Figure, shown: Mapping[str, Colour | str], letters: float
              ) -> list[Artist]:
    """Write the legend into the lower left corner; return the box."""
    handles: list[Any] = []
    labels: list[str] = []
    for kind, meaning, ball in MEANINGS:
        # of the casters each has its own, lines of one colour are shown once
        colours = list(dict.fromkeys(to_hex(colour) for name, colour in shown.items()
                                     if _is(name, kind)))
        if colours:
            style: dict[str, Any] = (
                {'linestyle': 'none', 'marker': 'o', 'markersize': 0.8 * letters}
                if ball else {'linewidth': 0.3 * letters, 'solid_capstyle': 'round'})
            handles.append(tuple(Line2D([], [], color=colour, **style) for colour in colours))
            labels.append(meaning)
    if not handles:
        return []
    return [page.legend(handles, labels, loc='lower left', bbox_to_anchor=(0.008, 0.012),
                        fontsize=0.9 * letters, framealpha=PAPER[3], edgecolor=RIM,
                        fancybox=True, labelcolor=INK, handlelength=2.4, labelspacing=0.45,
                        borderpad=0.7, handler_map={tuple: HandlerTuple(ndivide=None, pad=0.4)})]


def _is(name: str, kind: str) -> bool:
    """Return whether a shape of this name is of this kind: ``slip_2`` is of ``slip``."""
    return name == kind or name.startswith(f'{kind}_')
