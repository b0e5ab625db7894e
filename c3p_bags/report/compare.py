# SPDX-License-Identifier: Apache-2.0
"""Comparison of two bags by their numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from c3p_bags.report.markup import Markup
from c3p_bags.report.tables import percent, table


class Compared(NamedTuple):
    """A compared number: name, unit, factor to this unit, and function that finds it."""

    name: str
    unit: str
    scale: float
    find: Callable[[Mapping[str, Any]], float | None]


def _path(*keys: str) -> Callable[[Mapping[str, Any]], float | None]:
    def find(numbers: Mapping[str, Any]) -> float | None:
        value: Any = numbers
        for key in keys:
            value = None if value is None else value.get(key)
        return value
    return find


COMPARED = (
    Compared('duration', 's', 1.0, _path('duration_s')),
    Compared('distance driven', 'm', 1.0, _path('distance_m')),
    Compared('goals reached', '', 1.0,
             lambda n: sum(bool(g['reached']) for g in n['goals']) if n['goals'] else None),
    Compared('last goal: time', 's', 1.0, _path('time_s')),
    Compared('last goal: largest path error', 'mm', 1e3, _path('path_error_max_m')),
    Compared('last goal: final error', 'mm', 1e3, _path('final_error_m')),
    Compared('odometry error at the end', 'mm', 1e3, _path('odometry', 'error_final_m')),
    Compared('slips', '', 1.0, lambda n: len(n['slip']['events'])),
    Compared('slip distance, all wheels', 'mm', 1e3,
             lambda n: sum(e['distance_m'] for e in n['slip']['events'])),
    Compared('fastest slip', 'm/s', 1.0,
             lambda n: max((w['largest_mps'] for w in n['slip']['by_wheel']), default=0.0)),
    Compared('largest speed', 'm/s', 1.0, _path('max_speed_mps')),
    Compared('largest wheel torque', 'N·m', 1.0, _path('max_wheel_torque_nm')),
    Compared('near a singularity', '% of the time', 1e2, _path('singularity', 'near_share')),
    Compared('samples missing', '', 1.0, _path('timing', 'samples_lost')),
    Compared('samples not recorded', '', 1.0, _path('timing', 'samples_unrecorded')),
    Compared('longest gap', 'ms', 1e3, _path('timing', 'longest_gap_s')),
    Compared('latency p50', 'ms', 1e3, _path('timing', 'latency_s', 'p50')),
    Compared('latency p99', 'ms', 1e3, _path('timing', 'latency_s', 'p99')),
    Compared('latency max', 'ms', 1e3, _path('timing', 'latency_s', 'max')),
    Compared('warnings and errors of nodes', '', 1.0, lambda n: sum(
        not c['while_starting'] for c in n['complaints'])),
)


def differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """
    Return the compared numbers of `a` and `b`, both of `run_numbers`, in SI units.

    Name → ``a``, ``b`` and ``difference`` (b − a); None where a bag lacks the number.
    """
    found = {}
    for what in COMPARED:
        one = what.find(a)
        other = what.find(b)
        gap = None if one is None or other is None else other - one
        found[what.name] = {'a': one, 'b': other, 'difference': gap}
    return found


def difference_table(numbers: Sequence[Mapping[str, Any]]) -> Markup:
    """Return the comparison of two bags as HTML."""
    found = differences(*numbers)
    rows = []
    for what in COMPARED:
        values = found[what.name]
        if values['a'] is None and values['b'] is None:
            continue
        gap = values['difference']
        rows.append((what.name + (f' [{what.unit}]' if what.unit else ''),
                     *('–' if value is None else _plain(what.scale * value)
                       for value in (values['a'], values['b'])),
                     '–' if gap is None else '0' if gap == 0 else
                     _plain(what.scale * gap, '+')))
    return table(('', 'A', 'B', 'B − A'), rows)


# numbers of the table are written without exponents from the first to the second
SMALLEST = 1e-4
MOST_DIGITS = 1e4
# a difference in words: more than this fraction of the larger value, and this many of them at most
NOTABLE = 0.1
MOST_SENTENCES = 6
# smaller differences are noise, in SI units of a unit of `COMPARED`
NOISE = {'s': 0.1, 'm': 0.02, 'mm': 5e-4, 'm/s': 0.02, 'N·m': 0.05, '% of the time': 0.01,
         'ms': 5e-4, '': 0.5}


def difference_sentences(numbers: Sequence[Mapping[str, Any]]) -> list[str]:
    """
    Return the notable differences of two bags in words, the largest first.

    `numbers` are those of `run_numbers`, of A and B.
    """
    a, b = numbers
    found: list[tuple[float, str]] = []
    if a['robot'] != b['robot']:
        found.append((3.0, f'The robots differ: {a["robot"]} in A, {b["robot"]} in B.'))
    if None not in (a['reached'], b['reached']) and a['reached'] != b['reached']:
        missed, why = ('B', b) if a['reached'] else ('A', a)
        reason = why['goals'][-1].get('missed') if why['goals'] else None
        found.append((2.5, f'{missed} missed its last goal'
                      + (f' ({reason}).' if reason else '.')))
    for what in COMPARED:
        one = what.find(a)
        other = what.find(b)
        if one is None or other is None:
            if one is not None or other is not None:
                found.append((0.05, f'{_capital(what.name)}: not known of '
                              f'{"A" if one is None else "B"}.'))
            continue
        gap = other - one
        size = max(abs(one), abs(other))
        if abs(gap) <= max(NOTABLE * size, NOISE[what.unit]):
            continue
        found.append((abs(gap) / size, f'{_capital(what.name)}: {_said(what, other)} in B, '
                      f'{_said(what, one)} in A.'))
    found.sort(key=lambda item: -item[0])
    return [text for _, text in found[:MOST_SENTENCES]] or [
        f'No value of the table differs by more than {percent(NOTABLE)}.']


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plain(value: float, sign: str = '') -> str:
    """Return four digits without an exponent, from 1e-4 on."""
    size = abs(value)
    if 0 < size < SMALLEST:
        return f'{sign and ("+" if value > 0 else "−")}< {SMALLEST:g}'
    return format(value, f'{sign}.0f') if size >= MOST_DIGITS else format(value, f'{sign}.4g')


def _said(what: Compared, value: float) -> str:
    """Return a value with three digits and its unit; long lengths in metres."""
    if what.unit == 'mm' and abs(value) >= 1.0:
        return f'{value:.3g} m'
    unit = f' {what.unit}' if what.unit else ''
    return _plain(float(f'{what.scale * value:.3g}')) + unit
