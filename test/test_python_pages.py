# SPDX-License-Identifier: Apache-2.0
"""Pages whose Python runs as it stands, and prints what stands below it."""

import contextlib
import io
import re
from pathlib import Path

import pytest

import c3p

DOCS = Path(__file__).parents[1] / 'docs'
BLOCK = re.compile(r'```(python|text)\n(.*?)```', re.DOTALL)


def first_blocks(page):
    """Return the first block of Python of a page and the text below it."""
    (kind, code), (below, text) = BLOCK.findall((DOCS / page).read_text(encoding='utf-8'))[:2]
    assert (kind, below) == ('python', 'text')
    return code, text


@pytest.mark.parametrize('page', ['papers/kelly.md', 'own_experiment.md', 'tutorials/library.md'])
def test_the_first_code_of_a_page_prints_what_is_written(page):
    code, text = first_blocks(page)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, page, 'exec'), {'__name__': 'page'})
    assert printed.getvalue() == text


def test_the_function_of_a_column_takes_drives_of_both_kinds(tmp_path):
    code = BLOCK.findall((DOCS / 'own_experiment.md').read_text(encoding='utf-8'))[2][1]
    names = {'__name__': 'page'}
    exec(compile(code, 'own_experiment.md', 'exec'), names)
    golden = Path(__file__).parent / 'data' / 'golden_bag'
    # wheels that spin on oil are faster than their limit: 1.2 N·m each, 25 rad/s
    assert 10.0 < names['largest_power'](golden) < 2.0 * 3 * 1.2 * 25.0
    drive = c3p.simulate('c3p', [(0.3, 0.0, 0.0)])
    assert {'joints', 'torque'} <= set(dir(drive))
