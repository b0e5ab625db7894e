# SPDX-License-Identifier: Apache-2.0
"""Plot style of reports and pages, without matplotlib's global state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import LogFormatterSciNotation, LogLocator, MaxNLocator, NullLocator
from mpl_toolkits.axes_grid1 import make_axes_locatable
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_plots.marks import place_marks
from c3p_plots.palette import (  # noqa: F401
    ALERT,
    CASTERS,
    GOAL,
    GREY,
    INK,
    MARKERS,
    MUTED,
    REFERENCE,
    RULE,
    SENSED,
    TRUE,
    caster_colour,
    caster_dash,
    caster_marks,
    marker,
)

# label of every time axis
TIME = 'time since the goal [s]'

HEADLINE = 13.0
TITLE = 9.0
LABEL = 8.0
SMALL = 7.0
LINE = 1.1

# more samples per line are invisible and slow down the PDF
SAMPLES = 4000

# resolution of PNG files, pixels per inch
DPI = 300

# hatches of bars beside each other, and what a line without markers has
HATCHES = ('', '////', '...', 'xxx')
NO_MARKER = ('None', '', None, '|')

# compression of PNG files: a tenth larger, in a third of the time
FAST = {'compress_level': 3}

# distances from the upper edge of a page to its title, its facts and its panels, inches
TITLE_AT = 0.285
FACTS_AT = 0.575
PANELS_AT = 1.0


def figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, with a canvas of its own."""
    sheet = Figure(figsize=(width, height), facecolor='white')
    FigureCanvasAgg(sheet)
    return sheet


def page(title: str, facts: Sequence[str], source: str = '', *, good: bool = True,
         alert: bool = False, size: tuple[float, float] = (12.0, 8.6), rows: int = 3,
         columns: int = 3, **grid: Any) -> tuple[Figure, GridSpec]:
    """
    Return a page with its headline, and the grid of its panels.

    Parameters
    ----------
    title : str
    facts : sequence of str
        Numbers in words, below the title.
    source : str
        At the right of the title.
    good : bool
        False draws the title in the alert colour.
    alert : bool
        Draw the facts in the alert colour.
    size : (float, float), inches
    rows, columns : int
    **grid
        For ``Figure.add_gridspec``, such as other margins.
    """
    sheet = figure(*size)
    height = size[1]
    left = min(grid.get('left', 0.055), 0.055)
    panels = sheet.add_gridspec(rows, columns, **{
        'left': 0.055, 'right': 0.985, 'top': 1.0 - PANELS_AT / height, 'bottom': 0.48 / height,
        'hspace': 0.36, 'wspace': 0.22, **grid})
    sheet.text(left, 1.0 - TITLE_AT / height, title, fontsize=HEADLINE, fontweight='bold',
               va='center', color=INK if good else ALERT, parse_math=False)
    sheet.text(0.985, 1.0 - TITLE_AT / height, source, fontsize=TITLE - 0.5, va='center',
               ha='right', color=MUTED)
    sheet.text(left, 1.0 - FACTS_AT / height, '   |   '.join(facts), fontsize=TITLE - 0.5,
               va='center', color=ALERT if alert else MUTED)
    return sheet, panels


class Sizes(NamedTuple):
    """Sizes of labels and of numbers at the axes [points], gap to the labels, and most numbers."""

    label: float = LABEL
    tick: float = SMALL
    gap: float = 2.0
    most: int = 5


PAPER = Sizes()


def dress(axes: Axes, title: str, x: str, y: str, sizes: Sizes = PAPER) -> None:
    """Apply title, labels with units, and a light grid to a panel."""
    # a fixed height, also of an empty title: to find a free one matplotlib measures all labels
    axes.set_title(title, fontsize=TITLE, loc='left', fontweight='bold', pad=4, color=INK, y=1.0)
    axes.set_xlabel(x, fontsize=sizes.label, labelpad=sizes.gap, color=INK)
    axes.set_ylabel(y, fontsize=sizes.label, labelpad=sizes.gap, color=INK)
    axes.tick_params(which='both', labelsize=sizes.tick, length=0, pad=1.0 + sizes.gap,
                     colors=MUTED)
    axes.grid(True, color=RULE, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.set_facecolor('none')
    for side in ('top', 'right', 'left'):
        axes.spines[side].set_visible(False)
    axes.spines['bottom'].set_color(MUTED)
    if axes.get_yscale() == 'linear':
        axes.yaxis.set_major_locator(MaxNLocator(sizes.most, steps=[1, 2, 2.5, 5, 10]))


def only_decades(axes: Axes) -> None:
    """Leave out the invisible minor ticks of a logarithmic axis, which take most of its time."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == 'log' and high >= 10.0 * low:
        axes.yaxis.set_minor_locator(NullLocator())


class AtMost(LogFormatterSciNotation):
    """Numbers of a logarithmic axis whose lowest one stands for all values below it, too."""

    def __init__(self, low: float) -> None:
        """Mark the number `low`."""
        super().__init__()
        self.low = low

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the text of a number; `pos` is that of the tick."""
        text = str(super().__call__(x, pos))
        # limits of an axis are exact to a rounding error only
        return text.replace('{', r'{\leq ', 1) if x <= 1.001 * self.low else text


class FromLow(LogLocator):
    """At most six powers of ten, the lowest limit among them."""

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        """Return the numbers between two limits."""
        decades = math.log10(vmax / vmin)
        step = max(1, math.ceil(decades / 6.0))
        return [vmin * 10.0**power for power in range(0, math.floor(decades + 0.01) + 1, step)]


def clip_below(axes: Axes, low: float) -> None:
    """
    End a logarithmic y axis at `low`, a power of ten.

    Lines below are drawn there, and the lowest number gets a ≤ where there are any.
    """
    clipped = False
    for line in axes.lines:
        value = np.asarray(line.get_ydata(), float)
        if len(value) > 2 and np.any(value <= low):
            clipped = True
            line.set_ydata(np.where(value < low, low, value))
    axes.set_ylim(low, max(axes.get_ylim()[1], 10.0 * low))
    if clipped:
        axes.yaxis.set_major_formatter(AtMost(low))
        axes.yaxis.set_major_locator(FromLow())


def headroom(axes: Axes, above: float = 0.0, below: float = 0.0) -> None:
    """Extend the y range by fractions of itself, so that a legend fits beside the lines."""
    low, high = axes.transScale.transform([(1.0, y) for y in axes.get_ylim()])[:, 1]
    ends = [(0.0, low - below * (high - low)), (0.0, high + above * (high - low))]
    axes.set_ylim(*axes.transScale.inverted().transform(ends)[:, 1])


def thin(*arrays: ArrayLike) -> list[Array]:
    """Return every k-th sample of arrays of one length, at most `SAMPLES` of them."""
    step = max(1, len(np.asarray(arrays[0])) // SAMPLES)
    return [np.asarray(a)[::step] for a in arrays]


def tell_apart(axes: Axes) -> None:
    """
    Give what differs in colour alone dashes, markers or hatches, in the order of the labels.

    Lines with markers get other markers, solid ones dashes, bars hatches. Lines without a label
    follow the labelled one of their colour; other widths, dashes and markers are differences
    already.
    """
    seen: dict[tuple[Any, str], int] = {}
    # widths are alike up to a factor of about 1.5
    alike = [(line, (round(math.log2(max(float(line.get_linewidth()), 0.1))),
                     line.get_linestyle(), line.get_marker())) for line in axes.lines]
    for line, kind in alike:
        if not str(line.get_label()).startswith('_'):
            key = kind, to_hex(line.get_color())
            seen.setdefault(key, sum(other == kind for other, _ in seen))
    for line, kind in alike:
        order = seen.get((kind, to_hex(line.get_color())), 0)
        if order and kind[2] not in NO_MARKER:
            # a dot and a disc look the same
            others = [m for m in MARKERS if m != str(kind[2]).replace('.', 'o')]
            line.set_marker(others[(order - 1) % len(others)])
        elif order and kind[1] == '-':
            dash: Any = caster_dash(order)
            line.set_linestyle(dash)
    bars: dict[str, int] = {}
    for container in axes.containers:
        for bar in container if isinstance(container, BarContainer) else ():
            colour = to_hex(bar.get_facecolor())
            if not str(container.get_label()).startswith('_'):
                bars.setdefault(colour, len(bars))
            if bars.get(colour):
                bar.set_hatch(HATCHES[bars[colour] % len(HATCHES)])
                bar.set_edgecolor('white')


def legend(axes: Axes, **options: Any) -> None:
    """Draw a small legend over the lines, at the emptiest place; none without labels."""
    tell_apart(axes)
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(handles, labels, **{
            'fontsize': SMALL, 'frameon': True, 'framealpha': 0.85, 'edgecolor': 'none',
            'labelcolor': INK, 'handlelength': 1.6, 'borderpad': 0.2, 'labelspacing': 0.25,
            'columnspacing': 1.0, 'loc': 'best', **options})


def split(axes: Axes) -> Axes:
    """Return a panel in the lower half of `axes`, which keep the upper one and the time axis."""
    lower = make_axes_locatable(axes).append_axes('bottom', size='100%', pad=0.16, sharex=axes)
    axes.tick_params(labelbottom=False)
    return lower


def limits(axes: Axes, values: ArrayLike, **options: Any) -> None:
    """Draw the finite limits ±`values` as horizontal lines; `options` of ``Axes.axhline``."""
    values = np.atleast_1d(values)
    for k, value in enumerate(np.unique(values[np.isfinite(values)])):
        for sign in (1, -1):
            axes.axhline(sign * value, label='limit' if k == 0 and sign > 0 else None, **options)


def absent(axes: Axes, text: str) -> None:
    """Write in an empty panel why it is empty."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha='center', va='center', fontsize=LABEL,
              color=MUTED)
    axes.set_yticks([])


def save(sheet: Figure, path: str | Path) -> list[Path]:
    """
    Write a figure as PNG (`DPI`) and PDF; return the two files.

    The suffix of `path` is optional; missing directories are created.
    """
    base = Path(path)
    base = base.with_suffix('') if base.suffix in ('.png', '.pdf') else base
    base.parent.mkdir(parents=True, exist_ok=True)
    files = [base.with_name(f'{base.name}{suffix}') for suffix in ('.png', '.pdf')]
    for file in files:
        save_as(sheet, file)
    return files


def save_as(sheet: Figure, file: Path) -> None:
    """Write a figure as the PNG or PDF `file`."""
    place_marks(sheet)
    more: dict[str, Any] = {'pil_kwargs': FAST} if file.suffix == '.png' else {}
    sheet.savefig(file, dpi=DPI, **more)
