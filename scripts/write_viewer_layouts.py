# SPDX-License-Identifier: Apache-2.0
"""
Write the layouts of Foxglove and PlotJuggler from the list in c3p_viewers/foxglove/layouts.py.

Run from the root of the repository: ``python scripts/write_viewer_layouts.py``.
"""

from __future__ import annotations

from pathlib import Path

from c3p_description.reading.loader import load_casters
from c3p_viewers.foxglove.layouts import foxglove_layout, plotjuggler_layout, plots

ROOT = Path(__file__).parents[1]


def layouts() -> dict[Path, str]:
    """Return the text of each file."""
    shown = plots(load_casters('c3p'))
    return {ROOT / 'config/foxglove/c3p.json': foxglove_layout(shown),
            ROOT / 'config/plotjuggler/c3p.xml': plotjuggler_layout(shown)}


if __name__ == '__main__':
    for path, text in layouts().items():
        path.write_text(text, encoding='utf-8')
        print(path.relative_to(ROOT))
