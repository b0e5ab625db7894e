# SPDX-License-Identifier: Apache-2.0
"""Small files that stand for much are refused in one line, with little memory and time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from source_tree import python_path

pytest.importorskip('xacro', reason='pip install .[sim]')
pytest.importorskip('trimesh', reason='pip install .[view]')

from bombs import BOMBS  # noqa: E402

HERE = Path(__file__).parent
REFUSALS = ('ModelError', 'TerrainError', 'BagError')

if not sys.platform.startswith('linux'):
    pytest.skip('limits of a process as Linux has them', allow_module_level=True)


@pytest.fixture(scope='module')
def refusals(tmp_path_factory):
    """Return what became of each bomb in a process of its own, and how that ended."""
    done = subprocess.run(
        [sys.executable, str(HERE / 'bombs.py'), str(tmp_path_factory.mktemp('bombs'))],
        capture_output=True, text=True,
        env={**os.environ, 'PYTHONPATH': python_path(HERE.parents[1]),
             'OPENBLAS_NUM_THREADS': '1'})
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('[')]
    return dict(lines), f'exit code {done.returncode}: {done.stderr[-2000:]}'


@pytest.mark.parametrize('name', BOMBS)
def test_it_is_refused_within_500_mb_and_5_s_of_processor_time(name, refusals):
    told, end = refusals
    assert name in told, end
    assert told[name].split(':')[0] in REFUSALS, told[name]
    assert len(told[name]) < 600 and '\n' not in told[name]
