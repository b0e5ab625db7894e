# SPDX-License-Identifier: Apache-2.0
"""
Measure every scripted fault on emulated cards and write the table of docs/hardware.md.

Run from the root of the repository on an idle computer: ``python scripts/write_fault_table.py``.
Exit code 1 when a promise is missed; the page is written nevertheless. Words select trials, which
are then printed only.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tqdm import tqdm

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs' / 'hardware.md'
sys.path.insert(0, str(ROOT / 'test'))

from card_faults.laboratory import run_trials  # noqa: E402
from card_faults.table import selected, table, written  # noqa: E402
from card_faults.trials import TRIALS  # noqa: E402


def main() -> int:
    """Run the trials; return the exit code."""
    parser = argparse.ArgumentParser(description='Measure faults of emulated motor cards.')
    parser.add_argument('only', nargs='*', metavar='WORD', help='select trials by name or script')
    words = parser.parse_args().only
    trials = selected(TRIALS, words)
    outcomes = list(tqdm(run_trials(trials), total=len(trials), unit='fault', disable=None))
    print(table(outcomes), end='')
    if not words:
        PAGE.write_text(written(PAGE.read_text(encoding='utf-8'), table(outcomes)),
                        encoding='utf-8')
    missed = [f'{o.trial.fault}: {o.missed}' for o in outcomes if o.missed]
    for line in missed:
        print(f'MISSED {line}', file=sys.stderr)
    return 1 if missed else 0


if __name__ == '__main__':
    raise SystemExit(main())
