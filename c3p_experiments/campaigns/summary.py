# SPDX-License-Identifier: Apache-2.0
"""Statistics of a campaign: success rate, quantiles and correlations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import binomtest, spearmanr

from c3p_experiments.campaigns.table import Table

# outcomes with quantiles: label, factor from SI and unit
OUTCOMES = {
    'time_s': ('time to the goal zone', 1.0, 's'),
    'settled_time_s': ('time to within 5 mm', 1.0, 's'),
    'align_time_s': ('casters aligned after', 1.0, 's'),
    'ground_truth_path_error_max_m': ('path error, largest, true', 100.0, 'cm'),
    'ground_truth_path_error_rms_m': ('path error, rms, true', 100.0, 'cm'),
    'final_error_m': ('final error, own odometry', 100.0, 'cm'),
    'ground_truth_final_error_m': ('final error, true', 100.0, 'cm'),
    'final_yaw_error_rad': ('final yaw error, own odometry', 180.0 / math.pi, '°'),
    'ground_truth_final_yaw_error_rad': ('final yaw error, true', 180.0 / math.pi, '°'),
    'rms_wheel_torque_nm': ('wheel torques, rms', 1.0, 'N·m'),
    'max_wheel_torque_nm': ('largest wheel torque', 1.0, 'N·m'),
    'solve_ms_p99': ('step of the law, p99 of a drive', 1.0, 'ms'),
    'solve_cpu_ms_p99': ('the same in time of the core', 1.0, 'ms'),
}

# outcomes that are correlated with the parameters
EFFECTS = ('final_error_m', 'ground_truth_final_error_m', 'ground_truth_path_error_max_m',
           'align_time_s')

LEVELS = {'p50': 0.5, 'p90': 0.9, 'p99': 0.99, 'max': 1.0}

# least number of draws for correlations
LEAST_DRAWS = 8

# number of worst draws listed
WORST = 5


def quantiles(table: Table, name: str) -> dict[str, float | None] | None:
    """
    Return p50, p90, p99 and maximum of the column `name` of `table`; None where no draw has it.

    Missing values count as infinite, so that failures do not improve a quantile; an infinite
    quantile is None. Quantiles are observed values (inverted CDF).
    """
    values = table.column(name, math.inf)
    if not np.isfinite(values).any():
        return None
    found = {level: float(np.quantile(values, part, method='inverted_cdf'))
             for level, part in LEVELS.items()}
    return {level: value if math.isfinite(value) else None for level, value in found.items()}


def correlations(table: Table, parameters: Sequence[str], effect: str) -> dict[str, float]:
    """
    Return Spearman's ρ of each drawn parameter of `table` with an effect, strongest first.

    Constant `parameters` are omitted. Empty for fewer than LEAST_DRAWS draws with the `effect`, or
    a constant effect.
    """
    every = table.column(effect)
    whole = np.isfinite(every)
    values = every[whole]
    if len(values) < LEAST_DRAWS or np.ptp(values) == 0.0:
        return {}
    found = {}
    for name in parameters:
        cause = table.column(name)[whole]
        if np.isfinite(cause).all() and np.ptp(cause) > 0.0:
            found[name] = float(spearmanr(cause, values).statistic)
    return dict(sorted(found.items(), key=lambda pair: -abs(pair[1])))


def chance(count: int) -> float:
    """Return the 1 % significance limit of |ρ| for `count` draws, ``2.58/√(N − 1)``."""
    return 2.58 / math.sqrt(max(count - 1, 1))


def worst(table: Table, name: str, count: int = WORST) -> list[dict[str, Any]]:
    """
    Return index and value of the `count` worst draws of `table`.

    Missed goals are worse than others, then missing and large values of `name`.
    """
    index = table.column('index')
    values = table.column(name, math.inf)
    order = np.lexsort((index, -values, table.column('reached') > 0.0))[:count]
    return [{'index': int(index[k]), name: None if math.isinf(values[k]) else float(values[k])}
            for k in order]


def summarise(table: Table, parameters: Sequence[str]) -> dict[str, Any]:
    """
    Return the statistics of a campaign for JSON.

    Parameters
    ----------
    table : Table
        At least one draw.
    parameters : sequence of str
        Names of the drawn quantities.

    Returns
    -------
    dict
        ``draws``, ``reached`` (count), ``reached_fraction`` with its exact (Clopper-Pearson)
        ``reached_interval`` of 95 %, ``quantiles`` by outcome, ``correlations`` by effect and
        parameter, ``correlation_by_chance``, ``worst`` by effect, ``failures`` by index.
    """
    count = len(table)
    reached = int(np.sum(table.column('reached') > 0.0))
    interval = binomtest(reached, count).proportion_ci(0.95, 'exact')
    found = {name: quantiles(table, name) for name in OUTCOMES}
    return {
        'draws': count, 'reached': reached, 'reached_fraction': reached / count,
        'reached_interval': [float(interval.low), float(interval.high)],
        'quantiles': {name: value for name, value in found.items() if value is not None},
        'correlations': {effect: correlations(table, parameters, effect) for effect in EFFECTS},
        'correlation_by_chance': chance(count),
        'worst': {effect: worst(table, effect) for effect in EFFECTS
                  if np.isfinite(table.column(effect)).any()},
        'failures': {str(index): reason for index, reason in table.failures.items()},
    }


def text(summary: dict[str, Any]) -> str:
    """Return the summary for a terminal."""
    low, high = summary['reached_interval']
    lines = [f'  reached {summary["reached"]} of {summary["draws"]} '
             f'({100 * summary["reached_fraction"]:.1f} %, 95 % interval {100 * low:.1f} to '
             f'{100 * high:.1f} %)', f'  {"":34}' + ''.join(f'{level:>9}' for level in LEVELS)]
    for name, values in summary['quantiles'].items():
        title, scale, unit = OUTCOMES[name]
        cells = ''.join(f'{"-" if v is None else format(scale * v, ".2f"):>9}'
                        for v in values.values())
        lines.append(f'  {title:34}{cells} {unit}')
    for effect, found in summary['correlations'].items():
        strong = [f'{name} {rho:+.2f}' for name, rho in found.items()
                  if abs(rho) > summary['correlation_by_chance']][:4]
        if strong:
            lines.append(f'  {OUTCOMES[effect][0]} depends on: {", ".join(strong)}')
    return '\n'.join(lines)
