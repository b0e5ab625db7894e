# SPDX-License-Identifier: Apache-2.0
"""The versions of Python and of libraries: those of setup.py everywhere, each with a bound."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from c3p_bringup.doctor import computer

ROOT = Path(__file__).resolve().parents[1]
CLASSIFIER = 'Programming Language :: Python :: 3.'
# what scripts/environment.sh calls before it has a Python
TOOLS = ('bash', 'dirname')
# a program that takes itself for another version; the answers are those of the Python that runs it
STUB = """#!/bin/bash
exec {python} -c 'import sys
code = sys.argv[2]
sys.version_info = (3, {minor}, 0, "final", 0)
exec(code)' "$@"
"""


@pytest.fixture(scope='module')
def tested(distribution):
    """Return the minor versions of Python that the metadata name."""
    return [int(line.removeprefix(CLASSIFIER)) for line in distribution.metadata.classifiers
            if line.startswith(CLASSIFIER)]


def read(name):
    """Return the text of a file of the tree."""
    return (ROOT / name).read_text(encoding='utf-8')


def find_python(place, names, chosen=''):
    """Call find_python of scripts/environment.sh with programs {name: minor version} alone."""
    place.mkdir()
    for tool in TOOLS:
        (place / tool).symlink_to(shutil.which(tool))
    for name, minor in names.items():
        (place / name).write_text(STUB.format(python=sys.executable, minor=minor))
        (place / name).chmod(0o755)
    return subprocess.run([place / 'bash', '-c', 'source scripts/environment.sh\nfind_python'],
                          cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, 'PATH': f'{place}', 'PYTHON': chosen})


def test_a_version_of_python_alone_on_the_path_is_found(tested, tmp_path):
    for minor in tested:
        found = find_python(tmp_path / f'{minor}', {f'python3.{minor}': minor})
        assert found.stdout == f'python3.{minor}\n', found.stderr


def test_versions_that_were_not_tested_are_refused_with_those_that_were(tested, tmp_path):
    for minor in (tested[0] - 1, tested[-1] + 1):
        found = find_python(tmp_path / f'{minor}', {'python3': minor, f'python3.{minor}': minor})
        assert found.returncode and not found.stdout
        assert f'Python 3.{tested[0]} to 3.{tested[-1]} is needed' in found.stderr


def test_the_newest_python_that_was_tested_is_taken_where_that_of_the_system_was_not(
        tested, tmp_path):
    names = {'python3': tested[-1] + 1, f'python3.{tested[0]}': tested[0],
             f'python3.{tested[-1]}': tested[-1]}
    assert find_python(tmp_path / 'path', names).stdout == f'python3.{tested[-1]}\n'
    chosen = find_python(tmp_path / 'chosen', names, f'python3.{tested[0]}')
    assert chosen.stdout == f'python3.{tested[0]}\n'


def test_scripts_and_doctor_accept_the_versions_of_the_metadata(tested, distribution):
    assert tested == list(range(tested[0], tested[-1] + 1))
    bounds = re.search(r'^oldest_python=(\d+) newest_python=(\d+)$',
                       read('scripts/environment.sh'), re.MULTILINE).groups()
    assert tuple(map(int, bounds)) == (tested[0], tested[-1])
    assert (computer.OLDEST, computer.NEWEST) == ((3, tested[0]), (3, tested[-1]))
    assert str(distribution.python_requires) == f'>=3.{tested[0]}'
    assert f'target-version = "py3{tested[0]}"' in read('pyproject.toml')


@pytest.mark.parametrize('page', ['README.md', 'CONTRIBUTING.md'])
def test_pages_name_the_versions_of_the_metadata(tested, page):
    named = re.findall(r'\b3\.(\d+) to 3\.(\d+)\b', read(page))
    assert named and {tuple(map(int, pair)) for pair in named} == {(tested[0], tested[-1])}


def test_ci_runs_the_oldest_and_the_newest_version_and_none_that_is_not_named(tested):
    jobs = yaml.safe_load(read('.github/workflows/ci.yml'))['jobs']
    for job in ('wheels', 'kilted'):
        python = jobs[job]['strategy']['matrix']['python']
        # a number would lose the zero of 3.10
        assert all(isinstance(version, str) for version in python)
        minors = [int(version.removeprefix('3.')) for version in python]
        assert minors[0] == tested[0] and minors[-1] == tested[-1] and set(minors) <= set(tested)
        assert uses(jobs[job], 'setup-python')['python-version'] == '${{ matrix.python }}'
    assert uses(jobs['oldest'], 'setup-python')['python-version'] == f'3.{tested[0]}'


def uses(job, action):
    """Return the settings of an action of a job."""
    step, = (step for step in job['steps'] if f'/{action}@' in step.get('uses', ''))
    return step['with']


def test_every_library_has_the_oldest_version_that_was_tried(distribution):
    required = [*distribution.install_requires, *sum(distribution.extras_require.values(), [])]
    assert len(required) > 40
    without = {line for line in required if not re.search(r'(>=|==)\d', line.partition(';')[0])}
    assert not without, 'bound it, and run `scripts/run_tests.sh --oldest`'


def test_libraries_that_the_scripts_install_first_have_the_bounds_of_the_metadata():
    first = re.search(r'^ +get (.*>=.*)$', read('scripts/environment.sh'), re.MULTILINE).group(1)
    names = shlex.split(first)
    # as written there: setuptools sorts the bounds
    metadata = read('setup.py')
    assert len(names) == 4 and all(f"'{name}'" in metadata for name in names)


def test_the_oldest_libraries_are_chosen_by_the_lower_bounds_of_the_metadata(distribution):
    script = read('scripts/run_tests.sh')
    assert 'resolution=(--resolution lowest-direct --override scripts/oldest.txt)' in script
    extras = re.search(r'set_up (\S+) .*\nelif', script).group(1).split(',')
    # setuptools writes those with a condition apart, as `sim:python_version < "3.11"`
    every = {extra.partition(':')[0] for extra in distribution.extras_require}
    # the viewers alone need a later NumPy
    assert every - set(extras) == {'kilted', 'view', 'docs', 'all'}
    left_out = [line.partition(';')[0] for line in read('scripts/oldest.txt').splitlines()
                if not line.startswith('#')]
    assert left_out == ['pin']
