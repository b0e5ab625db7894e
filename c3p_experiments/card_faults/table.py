# SPDX-License-Identifier: Apache-2.0
"""Outcomes of fault trials as a Markdown table between markers of a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from c3p_experiments.card_faults.trials import Trial, TrialOutcome

BEGIN = '<!-- faults -->'
END = '<!-- end faults -->'

HEAD = ('fault', 'guaranteed', 'last driving command [ms (cycles)]', 'last motor torque [ms]',
        'standstill [s]', 'distance [cm]', 'moves before re-arm', 'recovers', 'message')

# numbers and paths in messages differ from run to run
_VARYING = re.compile(r'-?\d+\.\d+|-?\d+(?=°| counts\b| times\b)|/\S+/can\b')


def steady(message: str) -> str:
    """
    Return a message with … in place of what differs from run to run.

    >>> steady('silent for 0.05 s in FAULT (2310h)')
    'silent for … s in FAULT (2310h)'
    """
    return _VARYING.sub('…', message)


def row(outcome: TrialOutcome) -> list[str]:
    """Return the cells of one trial."""
    stop = outcome.stop
    trial = outcome.trial
    orders = ('-' if trial.goes_on else 'no orders' if trial.quiet
              else '-' if stop.zero is None else f'{1e3 * stop.zero:.0f} ({stop.cycles})')
    drives = ['-', '-', '-'] if trial.goes_on else [
        f'{1e3 * stop.driven:.0f}', '-' if stop.stand is None else f'{stop.stand:.2f}',
        f'{1e2 * stop.distance:.0f}']
    return [trial.fault, trial.bound, orders, *drives, _moves(outcome), _back(outcome),
            steady(outcome.message)]


def _moves(outcome: TrialOutcome) -> str:
    if outcome.trial.goes_on:
        return 'goes on'
    return 'YES' if outcome.moved else 'no'


def _back(outcome: TrialOutcome) -> str:
    if outcome.trial.goes_on:
        return '-'
    if not outcome.back:
        return 'NO'
    return 'after a zero command' if outcome.trial.script == 'silence controller' else 'yes'


def table(outcomes: Iterable[TrialOutcome]) -> str:
    """Return all trials as a Markdown table."""
    lines = [f'| {" | ".join(cells)} |' for cells in (HEAD, *(row(o) for o in outcomes))]
    return '\n'.join([lines[0], '|---' * len(HEAD) + '|', *lines[1:]]) + '\n'


def results(outcome: TrialOutcome) -> dict[str, Any]:
    """Return one trial as plain numbers and text."""
    stop = outcome.stop
    return {'fault': outcome.trial.fault, 'script': outcome.trial.script, 'zero_s': stop.zero,
            'cycles': stop.cycles, 'driven_s': stop.driven, 'stand_s': stop.stand,
            'distance_m': stop.distance, 'moved_before_armed': outcome.moved,
            'came_back': outcome.back, 'message': outcome.message, 'missed': outcome.missed}


def written(page: str, text: str) -> str:
    """
    Return a page with `text` between its markers.

    Raises
    ------
    ValueError
        The page has no markers.
    """
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise ValueError(f'the page must have one line {BEGIN} and one line {END}')
    before, rest = page.split(BEGIN)
    return f'{before}{BEGIN}\n{text}{END}{rest.split(END)[1]}'


def cells_of(page: str) -> Mapping[str, list[str]]:
    """Return the table between the markers: the cells of each row by its first."""
    lines = page.split(BEGIN)[1].split(END)[0].strip().splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip('|').split(' | ')] for line in lines]
    return {cells[0]: cells for cells in rows}


def selected(trials: Iterable[Trial], words: Iterable[str]) -> tuple[Trial, ...]:
    """
    Return the trials whose script or name contains one of the words; all without words.

    Raises
    ------
    ValueError
        A word without a trial.
    """
    trials = tuple(trials)
    words = tuple(words)
    for word in words:
        if not any(word in t.script or word in t.fault for t in trials):
            raise ValueError(f'no trial matches {word!r}; available: '
                             f'{", ".join(repr(t.script) for t in trials)}')
    return tuple(t for t in trials if not words or any(
        w in t.script or w in t.fault for w in words))
