# SPDX-License-Identifier: Apache-2.0
"""
Run the commands of the tutorials, and write their output into them.

Blocks of ``bash`` are run in order, in one folder that is new for each page; the block of ``text``
that follows one becomes its standard output. Blocks of ``sh`` need a real robot and are not run.
From the root of the repository: ``python scripts/run_tutorials.py [PAGE ...]``.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ROOT / 'docs' / 'tutorials'

BLOCK = re.compile(r'```bash\n(?P<code>.*?)```\n(?:\n```text\n(?P<text>.*?)```\n)?', re.DOTALL)
# between the outputs of two blocks
MARK = '\x1e'


def commands(page: str) -> list[str]:
    """Return the blocks that are run."""
    return [found['code'] for found in BLOCK.finditer(page)]


def outputs(blocks: list[str], folder: str) -> list[str]:
    """
    Run blocks in one shell that ends with the first that fails; return what each printed.

    Raises
    ------
    RuntimeError
        A command failed.
    """
    # what a block starts in the background must not outlive the page
    script = ['set -eo pipefail', "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT",
              f'ln -sfn {ROOT}/test test', f'ln -sfn {ROOT}/docs docs']
    for block in blocks:
        script += [block, f"printf '{MARK}'"]
    done = subprocess.run(['bash', '-c', '\n'.join(script)], cwd=folder, text=True,
                          stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise RuntimeError(f'exit code {done.returncode} after: {done.stdout}')
    return done.stdout.split(MARK)[:-1]


def filled(page: str, printed: list[str]) -> str:
    """Return a page with these outputs in its blocks of text."""
    following = iter(printed)

    def fill(found: re.Match[str]) -> str:
        text = next(following)
        if found['text'] is None:
            return found.group(0)
        shown = '\n'.join(line.rstrip() for line in text.splitlines())
        return f'```bash\n{found["code"]}```\n\n```text\n{shown}\n```\n'

    return BLOCK.sub(fill, page)


def main(names: list[str]) -> int:
    """Run the named pages, all without a name."""
    for path in [PAGES / f'{name}.md' for name in names] or sorted(PAGES.glob('*.md')):
        page = path.read_text(encoding='utf-8')
        with tempfile.TemporaryDirectory() as folder:
            path.write_text(filled(page, outputs(commands(page), folder)), encoding='utf-8')
        print(path.relative_to(ROOT))
    return 0


if __name__ == '__main__':
    raise SystemExit(main(sys.argv[1:]))
