# SPDX-License-Identifier: Apache-2.0
"""Types: all packages are clean, and so is what README and documentation write."""

import ast
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from c3p_description import load

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / 'docs' / '_ext'))

import public_names  # noqa: E402

PAGES = [ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md'))]
CODE = re.compile(r'```python\n(.*?)```', re.DOTALL)
PACKAGES = sorted(path.parent.name for path in ROOT.glob('c3p*/__init__.py'))
# the package c3p only passes on names of others
OWN_NAMES = [package for package in PACKAGES if package != 'c3p']


def mypy(*arguments):
    """Return exit code and output of mypy, with the settings of the suite."""
    pytest.importorskip('mypy', reason='needs mypy: pip install .[test]')
    done = subprocess.run([sys.executable, '-m', 'mypy', *map(str, arguments)],
                          cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def lacking(name, node):
    """Yield parameters of a function without a type, and 'return'; `name` is for the message."""
    takes = node.args
    given = [*takes.posonlyargs, *takes.args, *takes.kwonlyargs,
             *filter(None, [takes.vararg, takes.kwarg])]
    yield from (f'{name}: {one.arg}' for one in given
                if one.annotation is None and one.arg not in ('self', 'cls'))
    if node.returns is None:
        yield f'{name}: return'


def public_functions(module):
    """Yield (name, node) of the public functions, methods and special methods of a file."""
    for node in public_names.members(module.tree):
        if isinstance(node, ast.FunctionDef):
            yield f'{module.name}.{node.name}', node
            continue
        for inner in node.body:
            special = isinstance(inner, ast.FunctionDef) and inner.name.startswith('__')
            if special or inner in public_names.members(node):
                if isinstance(inner, ast.FunctionDef):
                    yield f'{module.name}.{node.name}.{inner.name}', inner


def test_every_package_says_that_it_has_types():
    assert len(PACKAGES) == 16
    assert all((ROOT / package / 'py.typed').exists() for package in PACKAGES)


def test_every_package_is_checked():
    settings = (ROOT / 'pyproject.toml').read_text(encoding='utf-8')
    listed = re.search(r'\[tool\.mypy\]\nfiles = \[(.*?)\]', settings, re.DOTALL).group(1)
    assert sorted(re.findall(r'"(\w+)"', listed)) == PACKAGES
    # of which a wheel of rclpy does not import any
    assert '"launch/*.launch.py"' in listed


@pytest.mark.parametrize('package', OWN_NAMES)
def test_every_public_name_has_all_its_types(package):
    functions = [found for name, module in public_names.modules().items()
                 if name.partition('.')[0] == package for found in public_functions(module)]
    assert len(functions) >= 10
    missing = [text for name, node in functions for text in lacking(name, node)]
    assert not missing, '\n'.join(missing)


def test_every_name_that_a_package_lists_is_defined():
    listed = [(name, one.value) for name, module in public_names.modules().items()
              if module.is_package for line in module.tree.body if isinstance(line, ast.Assign)
              and isinstance(line.targets[0], ast.Name) and line.targets[0].id == '__all__'
              for one in line.value.elts]
    assert len(listed) >= 60
    assert not [f'{name}.{one}' for name, one in listed
                if public_names.resolved(name, one) is None
                and one not in public_names.modules()[name].imported]


@pytest.mark.slow
def test_all_packages_have_no_errors_of_type():
    # the cache of the checker: scripts/run_tests.sh has filled it
    code, text = mypy()
    assert code == 0, text


@pytest.mark.slow
def test_the_code_of_all_pages_has_no_errors_of_type(tmp_path):
    pages = []
    for page in PAGES:
        blocks = CODE.findall(page.read_text(encoding='utf-8'))
        # parts of a page that begin with imports stand for themselves
        for number, code in enumerate(blocks):
            if not code.startswith(('>>>', 'import', 'from')):
                continue
            if page.stem == 'library':
                code = '\n'.join(blocks[:number + 1])
            place = tmp_path / f'{page.stem}_{number}.py'
            # a function of its own, so that pages may use one name for several things
            place.write_text('def page() -> None:\n' + textwrap.indent(code, '    '))
            pages.append(place)
    assert len(pages) >= 6
    # each robot of the installation has its own type
    names = sorted(path.stem for path in (ROOT / 'c3p_description/robots').glob('*.yaml'))
    kinds = {name: type(load(name)).__name__ for name in names}
    pages.append(tmp_path / 'robots.py')
    pages[-1].write_text('from c3p_description import Agv, CasterRobot, PvcTricycle, load\n' + '\n'
                         .join(f'{name}: {kind} = load({name!r})' for name, kind in kinds.items()))
    # errors within the packages are not those of a user; some pages begin with what the reader
    # has, and a log has the odometry that its run recorded
    code, text = mypy('--cache-dir', '/dev/null', '--follow-imports', 'silent',
                      '--allow-redefinition', '--no-strict-optional', '--disable-error-code',
                      'name-defined', *pages)
    assert code == 0, text
