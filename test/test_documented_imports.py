# SPDX-License-Identifier: Apache-2.0
"""Every import of the suite in README and documentation works and is on the page of its API."""

import ast
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / 'docs' / '_ext'))

import public_names  # noqa: E402

PAGES = [ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md'))]
CODE = re.compile(r'```(?:python|\{code-block\} python)\n(.*?)```', re.DOTALL)


def imports(text):
    """Yield (module, name) of each import of the suite in the code of a page."""
    for code in CODE.findall(text):
        # as in a console, or as in a file
        if code.lstrip().startswith('>>>'):
            code = '\n'.join(line[4:] for line in code.splitlines()
                             if line.startswith(('>>> ', '... ')))
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and f'{node.module}'.startswith('c3p_'):
                yield from ((node.module, alias.name) for alias in node.names)
            elif isinstance(node, ast.Import):
                yield from ((alias.name, '') for alias in node.names
                            if alias.name.startswith('c3p_'))


FOUND = sorted({found for page in PAGES for found in imports(page.read_text(encoding='utf-8'))})


def test_the_pages_show_imports():
    assert len(FOUND) >= 15


@pytest.mark.parametrize(('module', 'name'), FOUND)
def test_documented_imports_work_and_are_in_the_api(module, name):
    imported = import_module(module)
    where = public_names.modules()[module]
    # the pages of the API are filled from these names, one page for each folder
    package = module if where.is_package else module.rpartition('.')[0]
    assert (ROOT / 'docs' / 'api' / f'{package}.rst').exists()
    if not name:
        return
    assert hasattr(imported, name)
    full = public_names.resolved(module, name)
    assert full in public_names.defined()
    # what a package hands on is in its list of names
    if where.is_package:
        assert name in imported.__all__
