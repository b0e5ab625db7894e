# SPDX-License-Identifier: Apache-2.0
"""
Write the notebook docs/tutorials/library.ipynb from the page library.md beside it.

Blocks of ``python`` become cells of code, the text between them cells of text. What the page shows
as output is left out: a notebook prints its own. ``python scripts/write_notebook.py``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / 'docs' / 'tutorials' / 'library.md'
BLOCK = re.compile(r'```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<text>.*?)```\n)?', re.DOTALL)


def cells(page: str) -> list[tuple[str, str]]:
    """Return kind and text of the cells of a `page`: ``markdown`` and ``code`` in turn."""
    found, at = [], 0
    for block in BLOCK.finditer(page):
        found += [('markdown', page[at:block.start()]), ('code', block['code'])]
        at = block.end()
    found.append(('markdown', page[at:]))
    return [(kind, text.strip()) for kind, text in found if text.strip()]


def outputs(page: str) -> list[str]:
    """Return what the `page` shows below each block of code; empty where it shows nothing."""
    return [block['text'] or '' for block in BLOCK.finditer(page)]


def notebook(page: str) -> dict[str, Any]:
    """Return the notebook of a `page`, in version 4.5 of its format."""
    made = []
    for number, (kind, text) in enumerate(cells(page)):
        cell: dict[str, Any] = {'cell_type': kind, 'id': f'cell-{number}', 'metadata': {},
                                'source': text.splitlines(keepends=True)}
        if kind == 'code':
            cell |= {'execution_count': None, 'outputs': []}
        made.append(cell)
    return {'cells': made, 'metadata': {
        'kernelspec': {'display_name': 'Python 3', 'language': 'python', 'name': 'python3'},
        'language_info': {'name': 'python'}}, 'nbformat': 4, 'nbformat_minor': 5}


def main() -> None:
    """Write the notebook."""
    made = notebook(PAGE.read_text(encoding='utf-8'))
    PAGE.with_suffix('.ipynb').write_text(
        json.dumps(made, indent=1, ensure_ascii=False) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
