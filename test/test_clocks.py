# SPDX-License-Identifier: Apache-2.0
"""Tests do not look at the clock on the wall: a few marked ones may, and none is repeated."""

import ast

from source_tree import ROOT, name_of, tree_of

TESTS = sorted(p for p in ROOT.glob('test/**/*.py') if '__pycache__' not in p.parts)
MARK, MOST = 'real_time', 10
# the clock itself and its test; programs of their own: a browser, commands that are interrupted
CLOCKS = ('test/virtual_time.py', 'test/test_virtual_time.py', 'test/headless_browser.py',
          'test/c3p_bringup/cli/command_sweep.py')


def marks(node):
    """Return the names of the pytest marks of a function."""
    return {part.attr for mark in node.decorator_list for part in ast.walk(mark)
            if isinstance(part, ast.Attribute)}


def functions(path):
    """Return the functions and classes of a file."""
    return [node for node in ast.walk(tree_of(path))
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))]


def test_few_tests_run_by_the_clock_on_the_wall_and_each_is_one():
    marked = {f'{name_of(path)}::{node.name}': marks(node) for path in TESTS
              for node in functions(path) if MARK in marks(node)}
    assert 0 < len(marked) <= MOST, sorted(marked)
    assert not [name for name, found in marked.items() if 'parametrize' in found]
    # nor by file or folder
    assert not [name_of(path) for path in TESTS if f'pytestmark = pytest.mark.{MARK}'
                in path.read_text(encoding='utf-8') and path.name != 'test_clocks.py']


def sleeps(path):
    """Yield the lines where a file sleeps, but for tests that are marked."""
    timed = {id(part) for node in functions(path) if MARK in marks(node)
             for part in ast.walk(node)}
    for node in ast.walk(tree_of(path)):
        if id(node) not in timed and (
                isinstance(node, ast.Attribute) and node.attr == 'sleep'
                and isinstance(node.value, ast.Name) and node.value.id == 'time'
                or isinstance(node, ast.ImportFrom) and node.module == 'time'
                and any(name.name == 'sleep' for name in node.names)):
            yield f'{name_of(path)}:{node.lineno}'


def test_no_test_sleeps_by_the_clock_on_the_wall():
    found = [line for path in TESTS if name_of(path) not in CLOCKS for line in sleeps(path)]
    # bench.run, bench.pause and the fixture virtual_time let time pass
    assert not found, '\n'.join(found)


def test_no_test_is_repeated_until_it_passes():
    text = {name: (ROOT / name).read_text(encoding='utf-8') for name in (
        'setup.py', 'pyproject.toml', 'scripts/run_tests.sh', '.ci/run')}
    assert not [name for name, content in text.items() if 'rerunfailures' in content]
    for path in TESTS:
        assert not [node.name for node in functions(path) if 'flaky' in marks(node)], path
