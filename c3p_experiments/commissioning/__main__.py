# SPDX-License-Identifier: Apache-2.0
"""The experiment alone, on a computer without ROS: python -m c3p_experiments.commissioning."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from c3p_experiments.commissioning.experiment import ROWS, commissioning
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.loop.report import markdown_table, table_rows


def main() -> int:
    """Carry out the trials and write their metrics; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robot', help='one robot alone')
    parser.add_argument('--trials', type=int, default=4, help='of each robot')
    parser.add_argument('--workers', type=int, help='processes')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', type=Path, default=Path('out/experiment'))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    metrics = commissioning(given.out, Conditions(
        robot=given.robot, trials=given.trials, workers=given.workers, seed=given.seed))
    metrics |= {'files': [str(file) for file in metrics['files']],
                'table': table_rows(ROWS, metrics)}
    (given.out / 'commissioning.json').write_text(json.dumps(metrics, indent=1), 'utf-8')
    print(markdown_table(metrics['table']))
    return 0 if metrics['reached'] else 1


if __name__ == '__main__':
    raise SystemExit(main())
