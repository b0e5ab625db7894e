# SPDX-License-Identifier: Apache-2.0
"""docs/support.md: every program has a version, how it was tried, and a command that exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / 'docs/support.md').read_text(encoding='utf-8')


def rows(title):
    """Return the cells of the table below a title."""
    part = PAGE.partition(f'\n## {title}\n')[2].partition('\n## ')[0]
    lines = [line for line in part.splitlines() if line.startswith('|')]
    # without the head and the line below it
    return [[cell.strip() for cell in line[1:-1].split('|')] for line in lines[2:]]


ROWS, PLATFORMS = rows('Programs'), rows('Distributions, Python, systems')
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


def test_every_distribution_python_and_middleware_says_whether_it_was_run(distribution):
    for ros, middleware, system, python, how, what in PLATFORMS:
        assert how in ('run', 'read', 'not run') and ros and middleware
        # what was run has a version of Python and a result
        assert how != 'run' or (system and re.search(r'3\.\d\d', python) and what)
    named = ' '.join(' '.join(row) for row in PLATFORMS)
    for name in ('Jazzy', 'Kilted', 'Lyrical', 'Fast DDS', 'rmw_zenoh', 'rmw_cyclonedds'):
        assert name in named
    tested = [line.rpartition(' ')[2] for line in distribution.metadata.classifiers
              if re.search(r':: 3\.\d+$', line)]
    assert len(tested) >= 5 and all(
        any(python in row[3] for row in PLATFORMS if 'Jazzy' in row[0]) for python in tested)


def test_the_oldest_libraries_of_the_page_are_those_of_the_metadata(distribution):
    (row,) = (row for row in PLATFORMS if 'oldest' in row[3])
    for name in ('NumPy', 'SciPy', 'Numba'):
        least = next(re.search(r'>=([\d.]+)', line)[1] for line in distribution.install_requires
                     if line.startswith(name.lower()))
        assert f'{name} {least}' in row[3]
