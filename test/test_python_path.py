# SPDX-License-Identifier: Apache-2.0
"""Processes that tests start find ROS 2, also where its installation is found by PYTHONPATH."""

import ast
import os
import subprocess
import sys

import pytest
from source_tree import EVERYTHING, ROOT, name_of, nodes_of, python_path

VARIABLE = 'PYTHONPATH'
# its process must find nothing but its workspace
ALONE = {'test/test_installation.py': ["''"]}


def values_of(path):
    """Yield what a file gives the variable in the environment of a process, or in its own."""
    for node in nodes_of(path):
        if isinstance(node, ast.Dict):
            yield from (value for key, value in zip(node.keys, node.values, strict=True)
                        if getattr(key, 'value', None) == VARIABLE)
        elif (isinstance(node, ast.Call) and getattr(node.func, 'attr', '') == 'setenv'
                and getattr(node.args[0], 'value', None) == VARIABLE):
            yield node.args[1]


def test_no_test_replaces_the_path_of_an_installation():
    found = {}
    for path in EVERYTHING:
        if not name_of(path).startswith('test/'):
            continue
        for value in values_of(path):
            if getattr(getattr(value, 'func', None), 'id', '') != 'python_path':
                found.setdefault(name_of(path), []).append(ast.unparse(value))
    # this file writes the variable to look at it
    found.pop(name_of(ROOT / 'test/test_python_path.py'), None)
    assert found == ALONE


@pytest.mark.parametrize('sourced', [None, '/opt/ros/lib', '/opt/ros/lib:/opt/ros/more'])
def test_folders_come_before_those_of_an_installation(sourced, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    if sourced:
        monkeypatch.setenv(VARIABLE, sourced)
    shown = subprocess.run(
        [sys.executable, '-c', 'import sys; print(*sys.path, sep="\\n")'], text=True, check=True,
        capture_output=True, env={**os.environ, VARIABLE: python_path(ROOT, ROOT / 'test')})
    after = (sourced or '').split(':') if sourced else []
    assert shown.stdout.splitlines()[1:3 + len(after)] == [f'{ROOT}', f'{ROOT / "test"}', *after]
