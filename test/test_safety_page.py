# SPDX-License-Identifier: Apache-2.0
"""docs/safety.md: every test that it names exists, and every default that it names is one."""

import ast
import importlib.util
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / 'docs/safety.md').read_text(encoding='utf-8')
TEST = re.compile(r'`(test/[\w/]+\.py)(?:::(\w+))?`')
VALUE = re.compile(r'`(\w+)\.(\w+)` ([\d.]+)')
HEAD = '| promise | value | where | test |'


@cache
def names_in(path):
    """Return the names of the tests of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding='utf-8'))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
            and node.name.startswith('test_')}


def missing(page):
    """Return what a page says of tests that do not exist."""
    found = []
    for path, name in TEST.findall(page):
        if not (ROOT / path).is_file():
            found.append(path)
        elif name and name not in names_in(path):
            found.append(f'{path}::{name}')
    return found


def rows(page):
    """Return the rows of the tables of promises, as cells."""
    found = []
    for part in page.split(HEAD)[1:]:
        for line in part.splitlines()[2:]:
            if not line.startswith('|'):
                break
            found.append([cell.strip() for cell in line.strip('|').split('|')])
    return found


def schemas():
    """Return {node: {parameter: entry}}."""
    spec = importlib.util.spec_from_file_location(
        'write_node_docs', ROOT / 'scripts/write_node_docs.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.schemas()


def test_every_test_that_is_named_exists():
    assert missing(PAGE) == []


def test_every_promise_names_a_test():
    promises = rows(PAGE)
    assert len(promises) > 20
    for row in promises:
        assert len(row) == 4, f'{row[0]}: a row has four cells'
        assert row[0] and row[2], row
        assert all(name for _, name in TEST.findall(row[3])) and TEST.search(row[3]), (
            f'{row[0]}: names no test as `test/FILE.py::NAME`')


def test_every_promise_stands_once():
    promises = [row[0] for row in rows(PAGE)]
    assert len(promises) == len(set(promises))


def test_defaults_are_those_of_the_schemas():
    known, found = schemas(), VALUE.findall(PAGE)
    assert len(found) > 10
    for node, parameter, value in found:
        assert parameter in known.get(node, {}), f'{node}.{parameter} is not in a schema'
        assert float(value) == pytest.approx(known[node][parameter]['default_value'], abs=0.0), (
            f'{node}.{parameter} {value}')


def test_a_test_that_is_gone_is_named():
    page = '`test/test_safety_page.py::test_of_nothing` `test/nobody.py` `test/test_floors.py`'
    assert missing(page) == ['test/test_safety_page.py::test_of_nothing', 'test/nobody.py']


@pytest.mark.parametrize('page', ['docs/index.md', 'README.md', 'docs/architecture.md'])
def test_the_pages_are_linked(page):
    text = (ROOT / page).read_text(encoding='utf-8')
    for name in ('safety', 'security'):
        assert f'{name}.md' in text or f'\n{name}\n' in text, f'{page} does not link {name}.md'
