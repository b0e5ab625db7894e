# SPDX-License-Identifier: Apache-2.0
"""The curves of a page as CSV beside its picture, to plot or to compare them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from c3p_plots import style

# names of the files in the metrics
KINDS = 'picture', 'picture_pdf', 'curves'

COLUMNS = 'panel', 'curve', 'x_label', 'y_label', 'x', 'y'


def save_page(sheet: Figure, path: str | Path, curves: str = '.csv') -> list[Path]:
    """
    Write a page as PNG and PDF, and its curves as CSV; return the three files.

    Parameters
    ----------
    sheet : Figure
    path : str or Path
        Without suffix.
    curves : str
        Appended to `path` for the CSV.
    """
    files = style.save(sheet, path)
    table = Path(f'{path}{curves}')
    with open(table, 'w', encoding='utf-8', newline='') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerow(COLUMNS)
        writer.writerows(page_rows(sheet))
    return [*files, table]


def by_kind(files: Iterable[str | Path]) -> dict[str, str]:
    """Return the `files` of `save_page` by their `KINDS`."""
    return dict(zip(KINDS, map(str, files), strict=False))


def page_rows(sheet: Figure) -> Iterator[tuple[str, ...]]:
    """
    Yield the rows of `COLUMNS`: a point of a line each, in the units of its axes.

    Lines across a whole panel, such as limits and marks of instants, are left out. A panel without
    title and a line without label have their number from 1.
    """
    for k, axes in enumerate(sheet.axes, 1):
        panel = axes.get_title(loc='left') or axes.get_title() or str(k)
        lines = [line for line in axes.get_lines() if line.get_transform() == axes.transData]
        for i, line in enumerate(lines, 1):
            label = str(line.get_label())
            name = str(i) if label.startswith('_') else label
            about = panel, name, axes.get_xlabel(), axes.get_ylabel()
            for x, y in zip(*(np.asarray(line.get_data(orig=False)[d], float) for d in (0, 1)),
                            strict=True):
                yield (*about, f'{x:.9g}', f'{y:.9g}')
