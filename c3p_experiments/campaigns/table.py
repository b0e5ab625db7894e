# SPDX-License-Identifier: Apache-2.0
"""Numbers of a campaign by columns: eight bytes a cell, read part by part."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from c3p_description.model import Array
from c3p_experiments.campaigns.result_files import TEXTS, parts_of, read


@dataclass(frozen=True, eq=False)
class Table:
    """
    Columns of numbers of all draws, sorted by index.

    Attributes
    ----------
    columns : dict
        Array of each quantity by name, with ``index`` and ``reached``; NaN where a draw has none.
    failures : dict
        Reason by index, of the draws that failed.
    """

    columns: dict[str, Array]
    failures: dict[int, str]

    def __len__(self) -> int:
        """Return the number of draws."""
        return len(self.columns['index'])

    def column(self, name: str, missing: float = math.nan) -> Array:
        """Return a column by its `name`, `missing` for draws without a value."""
        found = self.columns.get(name)
        if found is None:
            return np.full(len(self), missing)
        return found if math.isnan(missing) else np.where(np.isnan(found), missing, found)

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Table:
        """Return the table of `rows`."""
        return _joined([_columns(list(rows))])

    @classmethod
    def from_parts(cls, path: Path, draws: int) -> Table:
        """
        Return the draws 0 to `draws` − 1 of the data set `path`; one part at a time has rows.

        Raises
        ------
        StoreError
            As `read`.
        """
        return _joined([_columns([row for row in read(part)[1] if row['index'] < draws])
                        for part in parts_of(path)])


def _columns(rows: list[Mapping[str, Any]]) -> Table:
    names = dict.fromkeys(name for row in rows for name, value in row.items()
                          if name not in TEXTS and not isinstance(value, str))
    return Table({name: np.array([math.nan if row.get(name) is None else float(row[name])
                                  for row in rows]) for name in names},
                 {row['index']: row['failure'] for row in rows if row.get('failure')})


def _joined(parts: list[Table]) -> Table:
    """Return the rows of all parts, sorted by index."""
    parts = [part for part in parts if part.columns]
    order = np.argsort(np.concatenate([part.columns['index'] for part in parts]), kind='stable')
    names = dict.fromkeys(name for part in parts for name in part.columns)
    columns = {name: np.concatenate([part.column(name) for part in parts])[order]
               for name in names}
    failures = {index: text for part in parts for index, text in part.failures.items()}
    return Table(columns, dict(sorted(failures.items())))
