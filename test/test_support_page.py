# SPDX-License-Identifier: Apache-2.0
"""docs/support.md: every program has a version, how it was tried, and a command that exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / 'docs/support.md').read_text(encoding='utf-8')
ROWS = [[cell.strip() for cell in line[1:-1].split('|')]
        for line in PAGE.partition('## Programs')[2].partition('\n## ')[0].splitlines()
        if line.startswith('| ') and not line.startswith('| program')]
LAUNCH = {path.name.removesuffix('.launch.py') for path in (ROOT / 'launch').glob('*.launch.py')}


@pytest.mark.parametrize('row', ROWS, ids=lambda row: row[0])
def test_a_program_has_a_version_and_a_command_or_was_read(row):
    _, version, how, command, result = row
    assert how in ('run', 'stub', 'read') and result
    # of PyPI, or of a release
    assert re.search(r'\d+\.\d+|PyPI', version)
    assert command or how == 'read'


def test_commands_name_launch_files_of_this_package():
    commands = ' '.join(row[3] for row in ROWS)
    named = set(re.findall(r'(\w+)\.launch\.py', commands))
    assert named and named <= LAUNCH
