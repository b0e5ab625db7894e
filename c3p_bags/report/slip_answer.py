# SPDX-License-Identifier: Apache-2.0
"""Answer of a report on slip and wrong encoders, with the kinds that its table has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.report.motion_panels import wheel_name
from c3p_bags.report.numbers import PLAIN_SLIP
from c3p_bags.report.run import AnalysedRun
from c3p_bags.report.slip_events import SURE, SlipEvent
from c3p_bags.report.slip_panels import confidence
from c3p_kinematics.fault_report import KINDS

# fractions of the time in motion in which a slip leaves no trace: worth a note, and most of it
UNSEEN = 0.02
MOSTLY = 0.5

# what the events of a run are: the question that the headline answers
SLIP = 'Which wheel slipped?'
WRONG_ENCODER = 'Which encoder is wrong?'
EITHER = 'Which wheel slipped, or has a wrong encoder?'

# tyres of another radius, gears with play and encoders: no tyre slips
NO_SLIP = {kind for kind in KINDS if not kind.endswith(' slip')}

# remedy of a wrong encoder
CHECK = 'check the coupling, supply, direction and zero of the encoder before the tyre'

# remedy of a wheel that turns in another ratio than described
RECALIBRATE = 'recalibrate, or check its tyre, its gear and its counts per turn'


class Answer(NamedTuple):
    """
    One answer, and the section of the page that shows it.

    The verdict is 'good', 'note', 'bad' or 'none' (not in the bag).
    """

    question: str
    answer: str
    detail: str
    verdict: str
    anchor: str


def question_of(events: Sequence[SlipEvent]) -> str:
    """
    Return the question that events answer: SLIP, WRONG_ENCODER or EITHER.

    Two kinds of one event that are not distinguishable may be of both. Without a kind a single
    wheel slips, as the watch for slip found it; of several wheels encoders may be exchanged.
    """
    wrong = set()
    for event in events:
        kinds = event.kind.split(' or ') if event.kind else []
        wrong |= {kind in NO_SLIP for kind in kinds}
        if not kinds:
            wrong |= {False} if event.wheel >= 0 else {False, True}
    return EITHER if len(wrong) == 2 else WRONG_ENCODER if True in wrong else SLIP


def length(metres: float) -> str:
    """Return a length with a unit that suits it."""
    if abs(metres) >= 1.0:
        return f'{metres:.2f} m'
    return f'{100 * metres:.1f} cm' if abs(metres) >= 0.01 else f'{1000 * metres:.1f} mm'


def slip_answer(run: AnalysedRun, numbers: Mapping[str, Any]) -> Answer:
    """Return the answer on slip and encoders; `numbers` are those of `run_numbers`."""
    events = list(run.events)
    if not events:
        return _no_slip(run, numbers['slip'])
    question = question_of(events)
    by_wheel = sorted({e.wheel for e in events},
                      key=lambda w: -sum(e.distance for e in events if e.wheel == w))
    of_wheel = {w: [e for e in events if e.wheel == w] for w in by_wheel}
    names = [_named(w, of_wheel[w], run.robot.count, question) for w in by_wheel]
    mine = of_wheel[by_wheel[0]]
    times = 'once' if len(mine) == 1 else f'{len(mine)} times'
    lasted = sum(e.end - e.begin for e in mine)
    first = wheel_name(by_wheel[0], run.robot.count)
    whose = f'{first.capitalize()} {times}' if len(names) > 1 else times.capitalize()
    detail = (f'{whose}, {lasted:.2f} s in all, first at {mine[0].begin:.2f} s; {_worst(mine)}; '
              f'{_distance(mine)}. ')
    sure = [e.confidence for e in mine]
    if run.robot.count == 2:
        return Answer(question, names[0].capitalize(), f'{detail}Which of the two is not '
                      'distinguishable: two casters have one redundant equation.', 'bad', 'slip')
    detail += (f'Confidence {confidence(min(sure))}' + (' at least' if len(mine) > 1 else '')
               if min(sure) >= SURE else
               f'Uncertain: confidence {confidence(min(sure))}; another wheel explains it nearly '
               'as well') + '.'
    if question != SLIP:
        detail += f' {_advice(events)}'
    if len(names) > 1:
        detail += f' Also {", ".join(names[1:])}.'
    reported = [e.reported for e in mine if e.reported is not None]
    if reported:
        detail += (' The robot reported it while driving.' if all(reported) else
                   f' The robot reported {sum(reported)} of {len(reported)}.')
    return Answer(question, ', '.join(names[:3]).capitalize(), detail, 'bad', 'slip')


def _named(wheel: int, events: Sequence[SlipEvent], count: int, question: str) -> str:
    """Return the name of a wheel, with its kinds of faults unless all of the run is slip."""
    name = wheel_name(wheel, count)
    if question == SLIP:
        return name
    kinds = sorted({e.kind for e in events if e.kind},
                   key=lambda kind: -sum(e.distance for e in events if e.kind == kind))
    return f'{name} ({"; ".join(kinds)})' if kinds else name


def _advice(events: Sequence[SlipEvent]) -> str:
    """Return what to check where encoders may be wrong."""
    if all(e.wheel < 0 for e in events):
        return ('Encoders or casters that are exchanged look like this, too: check the wiring '
                '(`c3p calibrate` names exchanged encoders).')
    check = RECALIBRATE if all('wheel ratio' in e.kind for e in events) else CHECK
    if question_of(events) == EITHER:
        return f'Where an encoder is wrong no tyre has slipped: {check}.'
    return f'No tyre has slipped: {check}.'


def _distance(events: Sequence[SlipEvent]) -> str:
    """Return the distance of the events of one wheel, as slip or as a contradiction."""
    distance = length(sum(e.distance for e in events))
    question = question_of(events)
    return (f'{distance} of slip' if question == SLIP else
            f'contradicts the other wheels by {distance}' if question == WRONG_ENCODER else
            f'{distance} of slip or contradiction')


def _worst(events: Sequence[SlipEvent]) -> str:
    worst = max(events, key=lambda e: abs(e.along) + abs(e.across))
    across = abs(worst.across) > abs(worst.along)
    way = 'across its rolling direction' if across else (
        'faster than the platform moves' if worst.along > 0 else 'slower than the platform moves')
    return (f'fastest {np.hypot(worst.along, worst.across):.2f} m/s, {way}, '
            f'at {worst.peak_time:.2f} s')


def _no_slip(run: AnalysedRun, found: Mapping[str, Any]) -> Answer:
    """Return the answer without a slip event: none, or that slip would not have been seen."""
    near = found['largest_evidence']
    evidence = ('The evidence stayed below 1 % of the alarm’s limit' if near < 0.01 else
                f'The evidence never passed {100 * near:.0f} % of the alarm’s limit')
    unseen = found['unseen_share']
    by_wheel = found['unseen_by_wheel']
    if unseen is None:
        return Answer(SLIP, 'None', f'The robot did not move. {evidence}.', 'good', 'slip')
    if unseen < UNSEEN:
        return Answer(SLIP, 'None', f'{evidence}.', 'good', 'slip')
    wheels = [f'{k + 1}' for k, part in enumerate(by_wheel) if part >= UNSEEN]
    names = f'wheel{"s" if len(wheels) > 1 else ""} {", ".join(wheels)}' if wheels else 'in turn'
    why = ('Two casters show slip along the line between their contact points only.'
           if run.robot.count == 2 else 'It looks like a motion of the platform there.')
    detail = (f'{evidence}, but for {percent(unseen)} of the time in motion a slip of '
              f'{PLAIN_SLIP:g} m/s leaves no trace ({names}). {why}')
    return Answer(SLIP, 'Not observable' if unseen > MOSTLY else 'None seen', detail, 'note',
                  'slip')


def percent(part: float) -> str:
    """Return a fraction as a percentage that is neither 0 nor 100 unless it is exactly."""
    if 0 < part < 0.01:
        return 'less than 1 %'
    if 0.99 < part < 1:
        return 'more than 99 %'
    return f'{100 * part:.0f} %'
