# SPDX-License-Identifier: Apache-2.0
"""
Write the tables of docs/fault_codes.md from the table of the suite (c3p_ros/fault_codes).

The page is the record of the published codes. A code that would vanish, or get another condition
or cause, is an error; ``--reword CODE`` allows other words for the same cause. Run from the root
of the repository: ``python scripts/write_fault_codes.py``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection
from pathlib import Path

from c3p_ros.fault_codes.table import TABLE, TITLES

PAGE = Path(__file__).parents[1] / 'docs' / 'fault_codes.md'
BEGIN = '<!-- codes -->'
END = '<!-- end -->'
HEAD = '| code | condition | text contains | cause | remedy |\n|---|---|---|---|---|'
ROW = re.compile(r'^\| (C3P-\w+-\d{4}) \| `(.*?)` \| .*? \| (.*?) \| .*? \|$', re.M)


class RecordError(ValueError):
    """The table would change the meaning of a published code."""


def tables() -> str:
    """Return the tables, one for each component."""
    parts = []
    for component, title in TITLES.items():
        rows = [f'| {one.code} | `{one.condition}` | '
                f'{", ".join(f"“{phrase}”" for phrase in one.phrases) or "any other"} | '
                f'{one.cause} | {one.remedy} |' for one in TABLE if one.component == component]
        parts.append('\n'.join([f'### {title}\n', HEAD, *rows]))
    return '\n\n'.join(parts)


def recorded(page: str) -> dict[str, tuple[str, str]]:
    """Return condition and cause of each code in a page."""
    return {code: (condition, cause) for code, condition, cause in ROW.findall(page)}


def rewritten(page: str, reword: Collection[str] = ()) -> str:
    """
    Return a page with the present tables.

    Raises
    ------
    RecordError
        A code of the page has vanished, or its condition or cause has changed; codes of `reword`
        may have another cause.
    """
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    new = f'{before}{BEGIN}\n\n{tables()}\n\n{END}{after}'
    now = recorded(new)
    for code, (condition, cause) in recorded(page).items():
        if code not in now:
            raise RecordError(f'{code}: published as "{cause}", but not in the table: a code is '
                              'never removed; keep its entry')
        if now[code][0] != condition or (now[code][1] != cause and code not in reword):
            raise RecordError(f'{code}: published as {condition}, "{cause}", now {now[code][0]}, '
                              f'"{now[code][1]}": take a new code, or --reword {code} for other '
                              'words of the same cause')
    return new


def main() -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--reword', nargs='*', default=(), metavar='CODE')
    page = rewritten(PAGE.read_text('utf-8'), parser.parse_args().reword)
    PAGE.write_text(page, 'utf-8')
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
