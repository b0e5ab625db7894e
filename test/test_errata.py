# SPDX-License-Identifier: Apache-2.0
"""Tables of errata: each row has a verdict, and what is called wrong has a test that shows it."""

import re

import pytest
from source_tree import EVERYTHING, ROOT, name_of, tree_of

VERDICTS = ('wrong', 'undefined, read as', 'misprint or scan')
PAGES = sorted((ROOT / 'docs/papers').glob('*.md'))
TESTS = {node.name for path in EVERYTHING if name_of(path).startswith('test/')
         for node in tree_of(path).body if hasattr(node, 'name')}


def rows(page):
    """Return verdict and cells of each row of the table of errata of a page."""
    text = page.read_text(encoding='utf-8').split('\n## Errata\n')[1].split('\n## ')[0]
    lines = [line for line in text.split('\nNotes:\n')[0].splitlines() if line.startswith('|')]
    cells = [[cell.strip() for cell in re.split(r'(?<!\\)\|', line)[1:-1]] for line in lines]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_every_row_has_a_verdict_and_what_is_wrong_a_test(page):
    found = rows(page)
    assert found
    for row in found:
        assert row['verdict'] in VERDICTS, row['location']
        if row['verdict'] == 'wrong':
            assert '`test_' in row['test'], row['location']


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_every_test_that_a_page_names_exists(page):
    text = page.read_text(encoding='utf-8')
    missing = set(re.findall(r'`(test_\w+)`', text)) - TESTS
    assert not missing
