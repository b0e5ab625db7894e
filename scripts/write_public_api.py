# SPDX-License-Identifier: Apache-2.0
"""
Write docs/public_api.txt, the record of the public API: one name with its signature a line.

Run from the root of the repository: ``python scripts/write_public_api.py``. With ``--check``
nothing is written: differences are printed, and the exit code is 1 if there are any. With
``--since REF`` the record is compared with that of a tag or commit, and the release that the
differences require by docs/versions.md is printed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
RECORD = ROOT / 'docs' / 'public_api.txt'
# the suite itself, wherever it is called from
sys.path.insert(0, str(ROOT))

HEAD = """\
# The public API: Python names, then commands, files, launch arguments, nodes and programs.
# Written by scripts/write_public_api.py; rules: docs/versions.md.
"""
# the name at the beginning of a line of Python
PYTHON = re.compile(r'c3p[_.][\w.]+')
REMEDY = ('a public name is deprecated for one release before it vanishes or changes '
          '(docs/versions.md); record what is intended: python scripts/write_public_api.py')


class Differences(NamedTuple):
    """Lines that vanished, pairs of old and new line of the same name, and new lines."""

    gone: list[str]
    changed: list[tuple[str, str]]
    new: list[str]

    def report(self) -> Iterator[str]:
        """Yield one line for each difference."""
        yield from (f'gone: {line}' for line in self.gone)
        yield from (f'changed: {old}\n     to: {new}' for old, new in self.changed)
        yield from (f'new: {line}' for line in self.new)

    @property
    def release(self) -> str:
        """Kind of release that semantic versioning requires for these differences."""
        if self.gone or self.changed:
            return 'major (before 1.0.0: minor), unless each change below is compatible'
        return 'minor' if self.new else 'patch'


def name_of(line: str) -> str:
    """Return the name that a line of the record describes."""
    found = PYTHON.match(line)
    return found.group() if found else line.partition(': ')[0]


def compare(old: Iterable[str], new: Iterable[str]) -> Differences:
    """
    Return the differences between two records.

    Examples
    --------
    >>> found = compare(['c3p_a.f(x)', 'c3p_a.g'], ['c3p_a.f(x, y)', 'c3p_a.h'])
    >>> found.gone, found.changed, found.new
    (['c3p_a.g'], [('c3p_a.f(x)', 'c3p_a.f(x, y)')], ['c3p_a.h'])
    """
    before = {name_of(line): line for line in old}
    after = {name_of(line): line for line in new}
    return Differences(
        [line for name, line in before.items() if name not in after],
        [(line, after[name]) for name, line in before.items()
         if name in after and after[name] != line],
        [line for name, line in after.items() if name not in before])


def lines(text: str) -> list[str]:
    """Return the lines of a record without its heading."""
    return [line for line in text.splitlines() if line and not line.startswith('#')]


def present() -> list[str]:
    """Return the lines of this version."""
    from public_interfaces import interface_lines
    from public_python import public_lines

    return public_lines() + interface_lines()


def recorded(ref: str | None = None) -> list[str]:
    """Return the lines of the record, of a tag or commit if it is given."""
    if ref is None:
        return lines(RECORD.read_text(encoding='utf-8'))
    place = f'{ref}:{RECORD.relative_to(ROOT).as_posix()}'
    return lines(subprocess.run(['git', 'show', place], cwd=ROOT, check=True, text=True,
                                capture_output=True).stdout)


def main(given: list[str] | None = None) -> int:
    """Write or compare the record; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument('--check', action='store_true', help='compare and write nothing')
    choice.add_argument('--since', metavar='REF', help='compare with the record of a tag')
    arguments = parser.parse_args(given)
    if arguments.since:
        found = compare(recorded(arguments.since), recorded())
        print(f'least release since {arguments.since}: {found.release}', *found.report(), sep='\n')
        return 0
    if arguments.check:
        found = compare(recorded(), present())
        print(*found.report(), sep='\n', end='\n' if any(found) else '')
        if any(found):
            print(REMEDY, file=sys.stderr)
        return 1 if any(found) else 0
    RECORD.write_text(HEAD + '\n'.join(present()) + '\n', encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
