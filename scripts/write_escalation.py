# SPDX-License-Identifier: Apache-2.0
"""
Write the stages of a stop into docs/safety.md, from c3p_hardware/escalation.py.

Run from the root of the repository: ``python scripts/write_escalation.py``. With ``--check``
nothing is written, and the exit code is 1 if the page is not up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# the suite itself, wherever it is called from
sys.path.insert(0, str(ROOT))

from c3p_hardware.escalation import escalation_table  # noqa: E402

PAGE = ROOT / 'docs' / 'safety.md'
BEGIN, END = '<!-- escalation -->\n', '\n<!-- end -->'


def rewritten(page: str) -> str:
    """Return the page with the present table; ValueError without its place."""
    if BEGIN not in page:
        raise ValueError(f'docs/safety.md: no line {BEGIN.strip()}')
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f'{before}{BEGIN}{escalation_table()}{END}{after}'


def main() -> int:
    """Write the page."""
    page = PAGE.read_text(encoding='utf-8')
    new = rewritten(page)
    if '--check' in sys.argv:
        return int(new != page)
    PAGE.write_text(new, encoding='utf-8')
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
