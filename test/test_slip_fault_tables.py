# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/slip_and_faults.md are medians and the worst of the seeds of its runs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / 'scripts'))
import write_slip_faults as write  # noqa: E402

from c3p_experiments.slip_faults.experiment import ROWS  # noqa: E402


def run(**values):
    """Return a run with these figures, and nothing else."""
    kinds = {'oil': {'faults': values.pop('oil', 0), 'found_in_time_ratio': 0.5,
                     'named_ratio': 0.5, 'right_wheel_ratio': values.pop('right', None),
                     'right_name_ratio': None}}
    return {**values, 'kinds': kinds}


def test_the_worst_is_the_smallest_where_large_is_good():
    runs = [run(found_p95_s=0.03, right_wheel_ratio=1.0, found_in_time_ratio=0.9),
            run(found_p95_s=0.12, right_wheel_ratio=0.98, found_in_time_ratio=0.8),
            run(found_p95_s=0.05, right_wheel_ratio=0.995, found_in_time_ratio=0.7)]
    names = {row.key: row.name for row in ROWS}
    cells = {line.split('|')[1].split(' [')[0].strip(): line.split('|')[2:5]
             for line in write.figures(runs)[2:]}
    shown = {key: [cell.strip() for cell in cells[names[key]]] for key in (
        'found_p95_s', 'right_wheel_ratio', 'found_in_time_ratio')}
    assert shown == {'found_p95_s': ['≤ 100', '**50**', '120'],
                     'right_wheel_ratio': ['≥ 99', '**99.5**', '98.0'],
                     'found_in_time_ratio': ['', '80.0', '70.0']}


def test_counts_of_a_kind_are_those_of_all_runs():
    """Weighted by the cases of each run; one without a named case has no say in the wheel."""
    found = write.kinds([run(oil=10, right=1.0), run(oil=30, right=0.8), run(oil=0)])
    assert found[2] == '| oil | 40 | 50.0 | 50.0 | 85.0 |  |'


def test_the_sentence_counts_faults_and_alarms_of_all_runs():
    runs = [run(conditions={'seed': seed}, faults=100, missed=seed, hours=0.5, quiet_drives=60,
                false_alarms_per_hour=2.0 * seed, fallen_drives=1) for seed in (2, 1)]
    assert write.sentence(runs) == (
        'Seeds 1, 2: 200 faults, 3 of them missed; 3 false alarms in 1.0 h without faults of 120 '
        'drives, not counting 2 in which a random robot fell over.')
    assert write.sentence(runs[1:]).startswith('Seed 1: 100 faults, 1 of them missed; 1 false')
