# SPDX-License-Identifier: Apache-2.0
"""Types: the lowest packages are clean, and so is what README and documentation write."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip('mypy', reason='needs mypy: pip install .[test]')

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md'))]
CODE = re.compile(r'```python\n(.*?)```', re.DOTALL)


def mypy(*arguments):
    """Return exit code and output of mypy, with the settings of the suite."""
    done = subprocess.run(
        [sys.executable, '-m', 'mypy', '--cache-dir', '/dev/null', *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_every_package_says_that_it_has_types():
    assert all((path.parent / 'py.typed').exists() for path in ROOT.glob('c3p_*/__init__.py'))


@pytest.mark.slow
def test_the_lowest_packages_and_the_code_of_all_pages_have_no_errors_of_type(tmp_path):
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
    code, text = mypy()
    assert code == 0, text
    # errors within the packages are not those of a user; some pages begin with what the reader
    # has, and a log has the odometry that its run recorded
    code, text = mypy('--follow-imports', 'silent', '--allow-redefinition',
                      '--no-strict-optional', '--disable-error-code', 'name-defined', *pages)
    assert code == 0, text
