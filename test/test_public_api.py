# SPDX-License-Identifier: Apache-2.0
"""The public API is the recorded one, and what is recorded can be imported and called."""

import ast
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / 'scripts'), str(ROOT / 'docs' / '_ext')]

import public_interfaces  # noqa: E402
import public_names  # noqa: E402
import public_python  # noqa: E402
import write_public_api  # noqa: E402
from test_documented_imports import FOUND  # noqa: E402

RECORDED = write_public_api.recorded()
PYTHON = [line for line in RECORDED if line.startswith(('c3p_', 'c3p.'))]
INTERFACES = [line for line in RECORDED if line not in PYTHON]
PAGE = (ROOT / 'docs/versions.md').read_text(encoding='utf-8')


def check(recorded, present):
    differences = write_public_api.compare(recorded, present)
    assert not any(differences), '\n'.join([*differences.report(), write_public_api.REMEDY])


def test_the_names_and_signatures_of_python_are_those_recorded():
    check(PYTHON, public_python.public_lines())
    assert len(PYTHON) > 1000


def test_the_interfaces_of_nodes_launch_files_and_commands_are_those_recorded():
    check(INTERFACES, public_interfaces.interface_lines())
    kinds = {line.split()[0] for line in INTERFACES}
    assert kinds == {'command', 'file', 'launch', 'node', 'program'}


def test_a_name_is_recorded_once():
    names = [write_public_api.name_of(line) for line in RECORDED]
    assert len(names) == len(set(names))


def test_no_recorded_name_begins_with_an_underscore():
    names = [write_public_api.name_of(line) for line in PYTHON]
    assert not [name for name in names if any(part.startswith('_') for part in name.split('.'))]


@pytest.mark.parametrize('old, new, gone, changed, added', [
    ('c3p_a.f(x)', '', 1, 0, 0),
    ('c3p_a.f(x)', 'c3p_a.f(x, y=1)', 0, 1, 0),
    ('', 'c3p_a.f(x)', 0, 0, 1),
    ('node n parameter p: double = 1.0', 'node n parameter p: int = 1', 0, 1, 0),
    ('launch a.launch.py sim: none', 'launch a.launch.py simulator: none', 1, 0, 1),
    ('command c3p drive --bag', 'command c3p drive --bag: DIR', 0, 1, 0),
    ('c3p_a.f(x)', 'c3p_a.f(x)', 0, 0, 0)])
def test_differences_are_named_by_kind(old, new, gone, changed, added):
    found = write_public_api.compare(*([text] if text else [] for text in (old, new)))
    assert tuple(map(len, found)) == (gone, changed, added)
    assert found.release.split()[0] == ('major' if gone or changed else
                                        'minor' if added else 'patch')


def test_a_check_fails_with_the_remedy_and_writes_nothing(tmp_path, monkeypatch, capsys):
    record = tmp_path / 'public_api.txt'
    record.write_text('\n'.join(['# heading', *RECORDED[1:], 'command c3p gone']))
    monkeypatch.setattr(write_public_api, 'RECORD', record)
    monkeypatch.setattr(write_public_api, 'present', lambda: RECORDED)
    assert write_public_api.main(['--check']) == 1
    printed = capsys.readouterr()
    assert printed.out == f'gone: command c3p gone\nnew: {RECORDED[0]}\n'
    assert 'write_public_api.py' in printed.err and 'gone' in record.read_text()
    assert write_public_api.main([]) == 0 and write_public_api.main(['--check']) == 0


def test_a_changed_source_changes_the_lines(monkeypatch):
    module = public_names.modules()['c3p_kinematics.se2']
    text = ast.unparse(module.tree)
    name = next(public_names.members(module.tree)).name
    renamed = ast.parse(re.sub(rf'\b{name}\b', f'other_{name}', text))
    monkeypatch.setitem(public_names.modules(), module.name,
                        public_names.Module(module.name, module.path, renamed, module.imported))
    found = write_public_api.compare(PYTHON, public_python.public_lines())
    assert [line for line in found.gone if line.startswith(f'c3p_kinematics.se2.{name}(')]
    assert [line for line in found.new if line.startswith(f'c3p_kinematics.se2.other_{name}(')]


def table():
    """Return the public modules in the table of docs/versions.md."""
    for package, names in re.findall(r'^\| `(c3p\w*)` \| (.*) \|$', PAGE, re.MULTILINE):
        for italics, name in re.findall(r'(\*?)`([\w.]+)`', names):
            yield (name if name == package else f'{package}.{name}'), bool(italics)


def test_the_page_lists_the_public_modules_and_packages():
    listed = dict(table())
    assert sorted(listed) == sorted(public_python.PUBLIC)
    for name, is_package in listed.items():
        assert public_names.modules()[name].is_package == is_package, name


def test_what_the_documentation_imports_is_public():
    names = set(map(write_public_api.name_of, PYTHON))
    missing = [f'{module}.{name}' for module, name in FOUND
               if name and f'{module}.{name}' not in names]
    assert not missing, f'add them to PUBLIC of scripts/public_python.py: {missing}'


def functions():
    """Return {name: arguments} of the recorded functions."""
    for line in PYTHON:
        name, bracket, _ = line.partition('(')
        module, _, function = name.rpartition('.')
        if bracket and module in public_python.PUBLIC and function[0].islower():
            (node,) = ast.parse(f'def {line[len(module) + 1:]}: ...').body
            takes = node.args
            every = [*takes.posonlyargs, *takes.args, takes.vararg, *takes.kwonlyargs, takes.kwarg]
            yield module, function, [argument.arg for argument in every if argument]


# some need what an extra installs when they are imported
@pytest.mark.parametrize('module', public_python.PUBLIC)
def test_recorded_names_are_there_with_their_arguments(module):
    try:
        imported = import_module(module)
    except ModuleNotFoundError as error:
        if f'{error.name}'.startswith('c3p_'):
            raise
        pytest.skip(f'needs {error.name}')
    for line in PYTHON:
        name = re.match(r'[\w.]+', line).group()
        home, _, last = name.rpartition('.')
        if home == module:
            assert hasattr(imported, last), line
    for _, function, arguments in (found for found in functions() if found[0] == module):
        assert list(inspect.signature(getattr(imported, function)).parameters) == arguments
