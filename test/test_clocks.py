# SPDX-License-Identifier: Apache-2.0
"""Tests do not look at the clock on the wall: a few marked ones may, and none is repeated."""

import ast

import pytest
from source_tree import ROOT, name_of, nodes_of, tree_of
from wall_clock import TestFile, WallClock

TESTS = sorted(p for p in ROOT.glob('test/**/*.py') if '__pycache__' not in p.parts)
MARK, MOST = 'real_time', 83
# these need a ROS 2 installation, where `colcon test` runs all tests one after the other
LAUNCHED = 'test/launch/'
# the clock itself and its test; programs of their own: a browser, commands that are interrupted
CLOCKS = ('test/virtual_time.py', 'test/test_virtual_time.py', 'test/headless_browser.py',
          'test/c3p_bringup/cli/command_sweep.py')


def marks(node):
    """Return the names of the pytest marks of a function."""
    return {part.attr for mark in node.decorator_list for part in ast.walk(mark)
            if isinstance(part, ast.Attribute)}


def functions(path):
    """Return the functions and classes of a file."""
    return [node for node in nodes_of(path)
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))]


def test_few_tests_run_by_the_clock_on_the_wall_and_each_is_one():
    marked = {f'{name_of(path)}::{node.name}': marks(node) for path in TESTS
              for node in functions(path) if MARK in marks(node)}
    assert 0 < len(marked) <= MOST, sorted(marked)
    # nor by file or folder
    assert not [name_of(path) for path in TESTS if f'pytestmark = pytest.mark.{MARK}'
                in path.read_text(encoding='utf-8') and path.name != 'test_clocks.py']


def test_every_test_that_uses_the_clock_on_the_wall_bears_its_mark():
    clock = WallClock(TESTS)
    found = {f'{name_of(path)}::{node.name}': sorted(uses) for path, node in clock.tests()
             if MARK not in marks(node) and not name_of(path).startswith(LAUNCHED)
             and name_of(path) not in CLOCKS and (uses := clock.uses(path, node.name))}
    # beside the other tests it would be disturbed, and disturb them: @pytest.mark.real_time
    assert not found, '\n'.join(f'{name}: {uses}' for name, uses in found.items())


@pytest.mark.parametrize('body, used', [
    ('def test_a(bench):\n    bench.run(1.0)', set()),
    ('def test_a(open_bench):\n    open_bench.run(1.0)', {'RealTime'}),
    ('from virtual_time import RealTime\ndef test_a():\n    RealTime()', {'RealTime'}),
    ('import virtual_time as v\ndef test_a():\n    v.RealTime()', {'RealTime'}),
    ('from virtual_time import RealTime as Wall\nCLOCK = Wall()\n'
     'def test_a():\n    CLOCK.advance(1.0)', {'RealTime'}),
    # options of a process have the same name
    ('from c3p_ros.real_time import RealTime\ndef test_a():\n    RealTime()', set()),
    ('import subprocess\ndef test_a():\n    subprocess.run(["true"])', set()),
    ('import subprocess\ndef test_a():\n    subprocess.Popen(["true"])', {'Popen'}),
    ('from subprocess import Popen as start\ndef test_a():\n    start(["true"])', {'Popen'}),
    ('import subprocess as s\ndef robot():\n    return s.Popen([])\n'
     'def test_a():\n    robot()', {'Popen'}),
    ('import subprocess, pytest\n@pytest.fixture\ndef robot():\n    yield subprocess.Popen([])\n'
     '@pytest.fixture\ndef place(robot):\n    return robot\n'
     'def test_a(place):\n    assert place', {'Popen'}),
    ('from multiprocessing import Process\ndef test_a():\n    Process().start()', {'Process'}),
    ('import os\ndef test_a():\n    os.fork()', {'fork'}),
    ('def test_a(robot):\n    robot.fork(1)', set()),
    ('from drive_process import started\ndef test_a():\n    started()', {'Popen'}),
    ('from drive_process import c3p\ndef test_a():\n    c3p("drive", 1, 0, 0)', {'drive'}),
    ('from drive_process import c3p\ndef test_a():\n'
     '    c3p("drive", 1, 0, 0, "--realtime-factor", 0)', set()),
    ('import drive_process\ndef test_a():\n    drive_process.started()', {'Popen'})])
def test_the_clock_on_the_wall_is_found_in_every_form(tmp_path, monkeypatch, body, used):
    place = ROOT / 'test' / 'test_written.py'
    clock = WallClock(TESTS)
    monkeypatch.setattr('wall_clock.tree_of', lambda path: ast.parse(body) if path == place
                        else tree_of(path))
    clock.files[place] = TestFile(place)
    assert clock.uses(place, 'test_a') == used


def sleeps(path):
    """Yield the lines where a file sleeps, but for tests that are marked."""
    timed = {id(part) for node in functions(path) if MARK in marks(node)
             for part in ast.walk(node)}
    for node in nodes_of(path):
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
