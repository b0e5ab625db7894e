# SPDX-License-Identifier: Apache-2.0
"""Figures of a report: panels in rows, one column for each bag, as SVG and PNG."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.ndimage import median_filter

from c3p_bags.report.markup import Markup, html
from c3p_bags.report.run import AnalysedRun
from c3p_description.model import Array
from c3p_plots import style
from c3p_plots.marks import place_marks
from c3p_plots.palette import INK, MUTED, RULE

# the page's own colours replace these in the SVG, for light and dark screens
THEME = {INK: 'var(--ink)', MUTED: 'var(--muted)', RULE: 'var(--rule)'}

# bins of a line across a panel: each keeps its largest and its smallest sample, so that a single
# cycle of ten minutes remains visible
BINS = 900

# width of a page with one bag and with two, inches; resolution of the PNG, pixels per inch
WIDE = 10.0
WIDER = 14.0
DPI = 130

# larger than on paper: the page shows a figure smaller
LABEL = 8.5
TICK = 8.0
SIZES = style.Sizes(LABEL, TICK, 4.0, 7)

# distances of labels from their axes, inches
LABEL_AT = 0.43
BELOW_AT = 0.26

# drawn points of which a spike is fewer than half, the part of all that are rare at each end, the
# factor by which they may extend a range, and the room beyond the others, fraction of their range
NEIGHBOURS = 9
RARE = 0.005
SPIKE = 4.0
ROOM = 0.6

# label of axes over time, before the number of their run
TIMED = 'time of run '


class Panel(NamedTuple):
    """
    One row of a figure: drawing function and height [inch].

    The x axis of a timed row is the time of the run, equal in all rows. Columns have equal ranges
    of both axes, which hold the lines of all runs, unless they are not `shared`.
    """

    draw: Callable[[Axes, AnalysedRun], None]
    height: float
    timed: bool = True
    shared: bool = True


def envelope(time: Array, value: Array, bins: int = BINS) -> tuple[Array, Array]:
    """
    Return the extremes of a line in equal bins of samples, in their order.

    Time and value have at most 2 `bins` samples; shorter lines are unchanged.

    Examples
    --------
    >>> spike = np.zeros(100_000)
    >>> spike[31_415] = 1.0
    >>> time, value = envelope(np.arange(100_000.0), spike, bins=50)
    >>> len(value), float(time[value.argmax()])
    (100, 31415.0)
    """
    if len(time) <= 2 * bins:
        return time, value
    edges = np.linspace(0, len(time), bins + 1).astype(int)
    kept = []
    for a, b in zip(edges[:-1], edges[1:], strict=True):
        part = value[a:b]
        low = int(np.argmin(part))
        high = int(np.argmax(part))
        kept += [a + min(low, high), a + max(low, high)]
    return time[kept], value[kept]


def peaks(time: Array, value: Array, bins: int = BINS) -> tuple[Array, Array]:
    """Return the largest sample of each of some equal bins, all where there are fewer."""
    if len(time) <= bins:
        return time, value
    edges = np.linspace(0, len(time), bins + 1).astype(int)
    kept = [a + int(np.argmax(value[a:b])) for a, b in zip(edges[:-1], edges[1:], strict=True)]
    return time[kept], value[kept]


# samples of drawn lines, of which the picture has fewer: for the interactive plots
_samples: WeakKeyDictionary[Line2D, tuple[Array, Array]] = WeakKeyDictionary()


def line(axes: Axes, time: Array, value: Array,
         reduce: Callable[[Array, Array], tuple[Array, Array]] = envelope,
         **options: Any) -> None:
    """
    Draw a line of any length with all its peaks; `options` are those of ``Axes.plot``.

    `reduce` returns the drawn part of `time` and `value`: `envelope`, or `peaks`.
    """
    (drawn,) = axes.plot(*reduce(time, value), **{'linewidth': 1.1, **options})
    _samples[drawn] = time, value


def samples_of(drawn: Line2D) -> tuple[Array, Array]:
    """Return time and value of a line of `line`, all of them, else its points."""
    return _samples.get(drawn) or (np.asarray(drawn.get_xdata(), float),
                                   np.asarray(drawn.get_ydata(), float))


def dress(axes: Axes, label: str) -> None:
    """Apply the style of a report's panel."""
    style.dress(axes, '', '', label, SIZES)


def legend(axes: Axes, **options: object) -> None:
    """Draw a legend above the panel, where it covers no line."""
    style.legend(axes, **{
        'loc': 'lower right', 'bbox_to_anchor': (1.0, 1.0), 'ncols': 8, 'frameon': False,
        'fontsize': TICK, 'handlelength': 1.4, 'borderpad': 0.1, 'columnspacing': 1.2,
        'borderaxespad': 0.1, **options})


def at_least(axes: Axes, span: float) -> None:
    """Extend the y range to at least `span`, so that noise at standstill looks small."""
    low, high = axes.get_ylim()
    if high - low < span:
        middle = 0.5 * (low + high)
        axes.set_ylim(middle - span / 2, middle + span / 2)


def leave_out_spikes(axes: Axes) -> None:
    """
    Limit the y range to what the lines show, if single samples extend it more than `SPIKE` times.

    What is outside is marked at the edge, with its value and time. The lines keep it.
    """
    lines = []
    for drawn in axes.get_lines():
        points = np.array([drawn.get_xdata(), drawn.get_ydata()], float)
        lines.append(points[:, np.isfinite(points[1])])
    time, value = np.concatenate(lines, axis=1) if lines else np.zeros((2, 0))
    if not value.size:
        return
    # a motion that is short in a long drive has neighbours, a spike has none; the quantiles hold
    # noise, of which the medians have little
    steady = np.concatenate([median_filter(points[1], NEIGHBOURS) for points in lines])
    low, high = np.quantile(value, [RARE, 1.0 - RARE])
    low, high = min(low, steady.min()), max(high, steady.max())
    ends = value.min(), value.max()
    if not ends[1] - ends[0] > SPIKE * (high - low) > 0.0:
        return
    room = ROOM * (high - low)
    axes.set_ylim(max(low - room, ends[0]), min(high + room, ends[1]))
    for end, edge, sign, mark in ((ends[0], low, -1, '▼'), (ends[1], high, 1, '▲')):
        if sign * (end - edge) > room:
            at = time[int(np.argmax(sign * value))]
            # beside it, on the side that has more room
            left = at < 0.5 * (time[0] + time[-1])
            axes.annotate(f'{mark} {end:.3g} at {at:.2f} s', (at, 0.5 * (1 + sign)),
                          (5 if left else -5, -9 * sign), xycoords=('data', 'axes fraction'),
                          textcoords='offset points', ha='left' if left else 'right',
                          va='center', fontsize=TICK, color=style.ALERT)


def figure(panels: Sequence[Panel], runs: Sequence[AnalysedRun], margin: float = 0.72) -> Figure:
    """Return the figure of some panels, a column for each run; `margin` [inch] holds labels."""
    width = WIDE if len(runs) == 1 else WIDER
    top = 0.26 if len(runs) == 1 else 0.55
    bottom = 0.48
    gap = 0.42
    height = sum(p.height for p in panels) + gap * (len(panels) - 1) + top + bottom
    page = style.figure(width, height)
    left = margin / width
    right = 1.0 - 0.12 / width
    column = (right - left - 0.045 * (len(runs) - 1)) / len(runs)
    above = height - top
    for panel in panels:
        # from top to bottom, in fractions of the page
        above -= panel.height
        row: list[Axes] = []
        for k, run in enumerate(runs):
            box = (left + k * (column + 0.045), above / height, column, panel.height / height)
            axes = page.add_axes(box)
            row.append(axes)
            panel.draw(axes, run)
            if panel.timed:
                # the interactive plots find their panel by it
                axes.set_label(f'{TIMED}{k}')
                axes.set_xlim(0.0, max(max(r.log.joints.time[-1] for r in runs), 1e-3))
                last = panel is [p for p in panels if p.timed][-1]
                axes.tick_params(labelbottom=last)
                axes.set_xlabel('time since the first joint states [s]' if last else '',
                                fontsize=LABEL, color=INK)
            if k:
                axes.set_ylabel('')
            style.only_decades(axes)
            # fixed places: to find free ones matplotlib measures all numbers at every axis
            axes.yaxis.set_label_coords(-LABEL_AT / (column * width), 0.5)
            axes.xaxis.set_label_coords(0.5, -BELOW_AT / panel.height)
        if panel.shared:
            _join(row)
        above -= gap
    if len(runs) > 1:
        for k, run in enumerate(runs):
            page.text(left + k * (column + 0.045), 1.0 - 0.2 / height, f'{"AB"[k]}: {run.name}',
                      fontsize=11, fontweight='bold', color=INK, va='center', parse_math=False)
    return page


def _join(row: Sequence[Axes]) -> None:
    """Give the axes of several runs equal ranges that hold all of their lines."""
    for limits, set_limits in ((Axes.get_xlim, Axes.set_xlim), (Axes.get_ylim, Axes.set_ylim)):
        ends = np.array([limits(axes) for axes in row])
        for axes in row if len(row) > 1 else ():
            set_limits(axes, ends[:, 0].min(), ends[:, 1].max())


def svg(page: Figure, salt: str, description: str) -> Markup:
    """
    Return a figure as self-contained SVG with the colours and fonts of the page.

    The `salt` is distinct for each figure of a page, so that identifiers do not collide; the
    `description` is for screen readers.
    """
    place_marks(page)
    stream = io.StringIO()
    with matplotlib.rc_context({'svg.fonttype': 'none', 'svg.hashsalt': salt}):
        page.savefig(stream, format='svg', transparent=True, metadata={'Date': None})
    text = stream.getvalue()
    # from the root element on, without the metadata of a separate file
    text = re.sub(r'<metadata>.*?</metadata>', '', text[text.index('<svg'):], flags=re.DOTALL)
    for colour, name in THEME.items():
        text = text.replace(colour, name)
    # a hundredth of a point is finer than any screen
    text = re.sub(r'(\d+\.\d{2})\d+', r'\1', text)
    # identifiers of groups, such as axes_1, repeat from figure to figure; nothing refers to them
    text = re.sub(r' id="[a-zA-Z0-9.]+_\d+"', '', text)
    text = re.sub(r' (?:width|height)="[\d.]+pt"', '', text, count=2)
    # matplotlib has escaped the texts of the figure
    return html('<svg role="img" aria-label="$description" $rest', description=description,
                rest=Markup(text.removeprefix('<svg ')))


def png(page: Figure, path: Path) -> Path:
    """Write a figure on white."""
    place_marks(page)
    page.savefig(path, dpi=DPI, facecolor='white', pil_kwargs=style.FAST)
    return path
