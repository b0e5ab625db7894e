# SPDX-License-Identifier: Apache-2.0
"""The notebook is that of its page, runs from begin to end, and prints what the page shows."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

from source_tree import python_path

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / 'docs' / 'tutorials' / 'library.ipynb'
# between the outputs of two cells
MARK = '\x1e'


def script():
    """Return scripts/write_notebook.py."""
    spec = importlib.util.spec_from_file_location('write_notebook',
                                                  ROOT / 'scripts/write_notebook.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_notebook_has_the_cells_of_its_page():
    page = NOTEBOOK.with_suffix('.md').read_text(encoding='utf-8')
    assert json.loads(NOTEBOOK.read_text(encoding='utf-8')) == script().notebook(page), (
        'run: python scripts/write_notebook.py')


def test_the_cells_run_and_print_what_the_page_shows(tmp_path):
    cells = [''.join(cell['source']) for cell in json.loads(
        NOTEBOOK.read_text(encoding='utf-8'))['cells'] if cell['cell_type'] == 'code']
    done = subprocess.run(
        [sys.executable, '-c', f'\nprint({MARK!r}, end="")\n'.join(cells)], cwd=tmp_path,
        capture_output=True, text=True,
        env={**os.environ, 'PYTHONPATH': python_path(ROOT), 'MPLBACKEND': 'Agg'})
    assert done.returncode == 0, done.stderr
    page = NOTEBOOK.with_suffix('.md').read_text(encoding='utf-8')
    assert done.stdout.split(MARK) == script().outputs(page)
    assert (tmp_path / 'drive.png').stat().st_size > 10_000
