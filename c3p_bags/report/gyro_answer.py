# SPDX-License-Identifier: Apache-2.0
"""Answer of a report on the gyro of the odometry."""

from __future__ import annotations

from c3p_bags.report.run import AnalysedRun
from c3p_bags.report.slip_answer import Answer
from c3p_kinematics.gyro_report import BIAS, SCALE, SPANS, USE, USED


def gyro_answer(run: AnalysedRun) -> list[Answer]:
    """Return the answer by the diagnostics of the odometry, empty without a gyro."""
    found = [health for health in run.log.diagnostics if USE in health.values]
    if not found:
        return []
    last = found[-1].values
    states = list(dict.fromkeys(health.values[USE] for health in found))
    trouble = [state for state in states if 'left out' in state or 'by the joints' in state]
    shown = ', '.join(f'{name} {last[key]}' for name, key in (
        ('bias [°/s]', BIAS), ('scale', SCALE), ('spans of 0.1 s used', SPANS)) if key in last)
    detail = f'At the end: {shown}.'
    if trouble:
        detail += f' {trouble[-1][0].upper()}{trouble[-1][1:]}.'
    answer = 'Yes' if last[USE] == USED else 'No'
    if trouble and answer == 'Yes':
        answer = 'Not always'
    return [Answer('Was the gyro used?', answer, detail,
                   'note' if trouble else 'good' if answer == 'Yes' else 'none', 'nodes')]
