# SPDX-License-Identifier: Apache-2.0
"""Common panels of the pages of constrained motion: head, energy account, outlines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec

from c3p_description.model import Array
from c3p_multibody.constraints import Record
from c3p_plots import style

TIME = 'time [s]'
# smaller values are rounding and not drawn
ZERO = 1e-18


def head(title: str, source: str, lines: Sequence[str], reached: bool, rows: int = 3,
         columns: int = 3) -> tuple[Figure, GridSpec]:
    """
    Return a page with `rows` × `columns` panels.

    Its head has `title` and whether its checks passed (`reached`), the `source`, and below the
    `lines`.
    """
    return style.page(title + ('' if reached else ': checks FAILED'), lines, source, good=reached,
                      rows=rows, columns=columns, left=0.06, wspace=0.24)


def energies(axes: Axes, letter: str, title: str, record: Record,
             work: str = 'work of the motors') -> None:
    """
    Draw the energy account of a `record`: mechanical energy, work, friction, losses in impacts.

    Into the panel `axes` with `letter` and `title`; `work` labels the work of the torques.
    """
    style.dress(axes, f'({letter}) {title}', TIME, 'energy [J]')
    start = record.kinetic[0] + record.potential[0]
    time = record.time
    for name, value, colour, width in (
            ('kinetic + potential', record.kinetic + record.potential - start, style.CASTERS[0],
             1.3),
            (work, record.work, style.CASTERS[2], style.LINE),
            ('− friction', -record.friction, style.CASTERS[3], style.LINE),
            ('− lost in impacts', -record.loss, style.ALERT, 1.3)):
        if np.any(value):
            axes.plot(*style.thin(time, value), color=colour, linewidth=width, label=name)
    style.headroom(axes, above=0.35)
    style.legend(axes, loc='upper right', ncols=2)


def stairs(axes: Axes, letter: str, records: Mapping[str, Record], title: str = 'lost in impacts'
           ) -> None:
    """
    Draw the cumulative losses in impacts of `records` (name → record).

    Into the panel `axes` with `letter` and `title`.
    """
    style.dress(axes, f'({letter}) {title}', TIME, 'energy [mJ]')
    for k, (name, record) in enumerate(records.items()):
        axes.step(record.time, 1e3 * record.loss, color=style.CASTERS[k], linewidth=1.3,
                  where='post', label=name)
    if len(records) > 1:
        style.legend(axes)


def closures(axes: Axes, letter: str, curves: Mapping[str, tuple[Array, Array]], title: str,
             label: str) -> None:
    """
    Draw residuals on a logarithmic axis: `curves` (name → times and values).

    Into the panel `axes` with `letter`, `title` and the `label` of its values.
    """
    axes.set_yscale('log')
    style.dress(axes, f'({letter}) {title}', TIME, label)
    for k, (name, (time, value)) in enumerate(curves.items()):
        shown = np.where(np.abs(value) > ZERO, np.abs(value), np.nan)
        axes.plot(*style.thin(time, shown), color=style.CASTERS[k], linewidth=0.8, label=name)
    style.legend(axes)


def outline(axes: Axes, points: Array, colour: str, strength: float = 1.0, width: float = 1.4,
            joints: bool = True) -> None:
    """
    Draw a chain of `points` (k, 2) into `axes` in a `colour` of `strength` 0 to 1.

    `width` is that of its line; `joints` marks the points.
    """
    axes.plot(points[:, 0], points[:, 1], color=colour, linewidth=width, alpha=strength,
              marker='o' if joints else None, markersize=2.2, solid_joinstyle='round')


def lines_at(record: Record, times: Sequence[float]) -> list[int]:
    """Return the rows of a `record` nearest to some `times`, s."""
    return [int(np.argmin(np.abs(record.time - time))) for time in times]


def marks(axes: Axes, times: Mapping[str, float]) -> None:
    """Mark instants `times` (name → s) in a panel `axes` with vertical lines and their names."""
    for name, time in times.items():
        axes.axvline(time, color=style.GREY, linewidth=0.6, linestyle=':')
        axes.text(time, 1.0, f' {name}', transform=axes.get_xaxis_transform(), fontsize=6,
                  color=style.GREY, va='top')
