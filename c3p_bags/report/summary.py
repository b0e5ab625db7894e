# SPDX-License-Identifier: Apache-2.0
"""Answers at the top of a report to the first questions about a bag from the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.report.motion_panels import NEAR, wheel_name
from c3p_bags.report.numbers import PLAIN_SLIP
from c3p_bags.report.run import Run
from c3p_bags.report.slip_events import SURE, SlipEvent
from c3p_bags.report.slip_panels import confidence
from c3p_bags.runs.losses import absent

# fractions of all cycles: least answered and most late ones of a loop that kept time
ANSWERED, LATE = 0.999, 0.001

# fractions of the time in motion in which a slip leaves no trace: worth a note, and most of it
UNSEEN, MOSTLY = 0.02, 0.5


# time without force in the commanded direction that is worth a note, s: every start across the
# casters has some tenths
BLOCKED = 1.0


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


def _length(metres: float) -> str:
    if abs(metres) >= 1.0:
        return f'{metres:.2f} m'
    return f'{100 * metres:.1f} cm' if abs(metres) >= 0.01 else f'{1000 * metres:.1f} mm'


def _worst(events: list[SlipEvent]) -> str:
    worst = max(events, key=lambda e: abs(e.along) + abs(e.across))
    across = abs(worst.across) > abs(worst.along)
    way = 'across its rolling direction' if across else (
        'faster than the platform moves' if worst.along > 0 else 'slower than the platform moves')
    return (f'fastest {np.hypot(worst.along, worst.across):.2f} m/s, {way}, '
            f'at {worst.peak_time:.2f} s')


def _slipped(run: Run, numbers: Mapping[str, Any]) -> Answer:
    question, events = 'Which wheel slipped?', list(run.events)
    if not events:
        return _no_slip(run, numbers['slip'])
    by_wheel = sorted({e.wheel for e in events},
                      key=lambda w: -sum(e.distance for e in events if e.wheel == w))
    names = [wheel_name(w, run.robot.count) for w in by_wheel]
    mine = [e for e in events if e.wheel == by_wheel[0]]
    times = ('once' if len(mine) == 1 else f'{len(mine)} times')
    lasted = sum(e.end - e.begin for e in mine)
    whose = f'{names[0].capitalize()} {times}' if len(names) > 1 else times.capitalize()
    detail = (f'{whose}, {lasted:.2f} s in all, first at {mine[0].begin:.2f} s; {_worst(mine)}; '
              f'{_length(sum(e.distance for e in mine))} of slip. ')
    sure = [e.confidence for e in mine]
    if run.robot.count == 2:
        return Answer(question, names[0].capitalize(), f'{detail}Which of the two is not '
                      'distinguishable: two casters have one redundant equation.', 'bad', 'slip')
    detail += (f'Confidence {confidence(min(sure))}' + (' at least' if len(mine) > 1 else '')
               if min(sure) >= SURE else
               f'Uncertain: confidence {confidence(min(sure))}; another wheel explains it nearly '
               'as well') + '.'
    if len(names) > 1:
        detail += f' Also {", ".join(names[1:])}.'
    reported = [e.reported for e in mine if e.reported is not None]
    if reported:
        detail += (' The robot reported it while driving.' if all(reported) else
                   f' The robot reported {sum(reported)} of {len(reported)}.')
    return Answer(question, ', '.join(names[:3]).capitalize(), detail, 'bad', 'slip')


def _no_slip(run: Run, found: Mapping[str, Any]) -> Answer:
    """Return the answer without a slip event: none, or that slip would not have been seen."""
    question, near = 'Which wheel slipped?', found['largest_evidence']
    evidence = ('The evidence stayed below 1 % of the alarm’s limit' if near < 0.01 else
                f'The evidence never passed {100 * near:.0f} % of the alarm’s limit')
    unseen, by_wheel = found['unseen_share'], found['unseen_by_wheel']
    if unseen is None:
        return Answer(question, 'None', f'The robot did not move. {evidence}.', 'good', 'slip')
    if unseen < UNSEEN:
        return Answer(question, 'None', f'{evidence}.', 'good', 'slip')
    wheels = [f'{k + 1}' for k, part in enumerate(by_wheel) if part >= UNSEEN]
    names = f'wheel{"s" if len(wheels) > 1 else ""} {", ".join(wheels)}' if wheels else 'in turn'
    why = ('Two casters show slip along the line between their contact points only.'
           if run.robot.count == 2 else 'It looks like a motion of the platform there.')
    detail = (f'{evidence}, but for {_percent(unseen)} of the time in motion a slip of '
              f'{PLAIN_SLIP:g} m/s leaves no trace ({names}). {why}')
    if unseen > MOSTLY:
        return Answer(question, 'Not observable', detail, 'note', 'slip')
    return Answer(question, 'None seen', detail, 'note', 'slip')


def _small(part: float) -> str:
    """Return a small fraction as a percentage."""
    return f'{100 * part:.2g} %' if part >= 1e-4 else 'less than 0.01 %'


def _percent(part: float) -> str:
    """Return a fraction as a percentage that is neither 0 nor 100 unless it is exactly."""
    if 0 < part < 0.01:
        return 'less than 1 %'
    if 0.99 < part < 1:
        return 'more than 99 %'
    return f'{100 * part:.0f} %'


def _incomplete(run: Run) -> list[Answer]:
    """Return the answer on messages that are not in the bag, empty without any."""
    joints, odometry = run.timing.unrecorded, run.odometry_lost
    texts = [joints.text('joint state', 'odometry')] if joints.lost else []
    if odometry:
        texts.append(absent(odometry, 'odometry message', 'joint_states'))
    if not texts:
        return []
    lost = joints.lost + odometry
    return [Answer('Is the bag complete?', f'{lost} message{"s are" if lost > 1 else " is"} '
                   'missing', f'{". ".join(texts)}. All answers are based on what is in the bag.',
                   'note', 'loop')]


def _kept_time(run: Run, numbers: Mapping[str, Any]) -> Answer:
    question, t = 'Did the loop keep time?', run.timing
    rate = f'{1.0 / t.period:.4g} Hz' if t.period else 'a single sample'
    gap = (f'{t.lost} samples are missing, longest gap {1000 * t.longest_gap:.3g} ms at '
           f'{t.longest_gap_time:.2f} s' if t.lost else
           f'no sample is missing, longest gap {1000 * t.longest_gap:.3g} ms')
    if not t.cycles:
        return Answer(question, rate, f'{gap[0].upper()}{gap[1:]}. No wheel commands in this bag, '
                      'so only the samples are checked.', 'note' if t.lost else 'good', 'loop')
    answered, late = t.answered / t.cycles, t.late / t.cycles
    detail = f'{rate}; {t.answered} of {t.cycles} cycles answered, {gap}. '
    took = numbers['timing']['latency_s']
    if took is not None:
        detail += (f'Commands took {1e3 * took["p50"]:.2f} ms (median), {1e3 * took["p99"]:.2f} '
                   f'ms (p99), {1e3 * took["max"]:.3g} ms at most; {t.late} came later than a '
                   'period.')
    else:
        detail += 'The bag was recorded in simulated time, so the latency is unknown.'
    if t.unrecorded.lost and t.answered < t.cycles:
        detail += ' The recorder lost messages, so unanswered cycles may be recorded losses, too.'
    good = answered >= ANSWERED and late <= LATE and not t.lost
    # a command that was not recorded looks like one that was not sent
    lost_much = (answered < 0.99 and not t.unrecorded.lost) or late > 0.01 or (
        t.lost > 0.001 * len(t.interval))
    return Answer(question, 'Yes' if good else 'No' if lost_much else 'Nearly', detail,
                  'good' if good else 'bad' if lost_much else 'note', 'loop')


def _arrived(run: Run, numbers: Mapping[str, Any]) -> Answer:
    question, goals = 'Did it arrive?', run.goals
    drove = (f'{numbers["distance_m"]:.2f} m in {numbers["duration_s"]:.1f} s, '
             f'{numbers["moving_s"]:.1f} s of it in motion')
    if not goals:
        return Answer(question, 'No goal', f'No goal was sent. It drove {drove}.', 'none', 'way')
    reached = [g for g in goals if g['reached']]
    answer = (f'{len(reached)} of {len(goals)} goals' if len(goals) > 1
              else 'Yes' if reached else 'No')
    last = goals[-1]
    why = last.get('missed')
    detail = (f'Last goal: {last["time_s"]:.2f} s until it stayed in the goal zone, '
              if last['reached'] else f'Last goal: missed{": " if why else ""}{why or ""}, ')
    error = last['final_error_m']
    detail += ('no odometry after it' if error is None else
               f'{_length(error)} and {np.degrees(last["final_yaw_error_rad"]):.2f}° off at '
               'the end by odometry')
    if last['ground_truth_final_error_m'] is not None:
        detail += f', {_length(last["ground_truth_final_error_m"])} in truth'
    return Answer(question, answer, f'{detail}. It drove {drove}.',
                  'good' if len(reached) == len(goals) else 'bad', 'way')


def _odometry(run: Run, numbers: Mapping[str, Any]) -> Answer:
    question, found = 'Is the odometry right?', numbers['odometry']
    where = '' if run.odom_recorded else 'No odom in this bag; computed from the joint states. '
    if found['error_final_m'] is None:
        return Answer(question, 'Not known', where + 'No ground truth in this bag to compare '
                      'with.', 'none', 'errors')
    part = found['error_final_m'] / max(numbers['distance_m'], 1e-3)
    return Answer(question, f'{_length(found["error_final_m"])} off',
                  f'{where}At the end, {_small(part)} of the distance driven; '
                  f'{_length(found["error_max_m"])} at most.',
                  'good' if part < 0.02 else 'note', 'errors')


def _singular(run: Run, numbers: Mapping[str, Any]) -> Answer:
    question, found = 'Blocked by a singularity?', numbers['singularity']
    blocked = found['blocked_s']
    if found['freedoms'] < 3:
        return Answer(question, 'Always', f'The motors accelerate {found["freedoms"]} of 3 '
                      'freedoms at an instant, so that one direction has no force in any posture.',
                      'none', 'wheels')
    if not found['near_share']:
        return Answer(question, 'No', f'σ_min was never below {NEAR}.', 'good', 'wheels')
    near = f'σ_min was below {NEAR} for {_percent(found["near_share"])} of the time'
    if blocked is None:
        return Answer(question, 'Not known', f'{near}; this bag has no velocity commands.',
                      'none', 'wheels')
    if not blocked:
        return Answer(question, 'No', f'{near}, but no command pointed into the direction that is '
                      'lost there.', 'good', 'wheels')
    return Answer(question, f'For {blocked:.2f} s', 'During this time the commands pointed mainly '
                  f'into the direction without force. {near}.',
                  'note' if blocked > BLOCKED else 'good', 'wheels')


def _complaints(run: Run, numbers: Mapping[str, Any]) -> Answer:
    question, found = 'What did the nodes report?', numbers['complaints']
    if not run.states:
        return Answer(question, 'Nothing', 'No /diagnostics in this bag.', 'none', 'nodes')
    start = sum(c['while_starting'] for c in found)
    found = [c for c in found if not c['while_starting']]
    errors = [c for c in found if c['level'] == 'ERROR']
    if not found:
        since = (f' after {start} warning{"s" if start > 1 else ""} of the start' if start else
                 ' all the time')
        return Answer(question, 'All OK', f'{len({s.name for s in run.states})} states were OK'
                      f'{since}.', 'good', 'nodes')
    shown = (errors or found)[0]
    kind = 'error' if errors else 'warning'
    count = len(errors or found)
    return Answer(question, f'{count} {kind}{"s" if count > 1 else ""}',
                  f'{"The first at" if count > 1 else "At"} {shown["begin_s"]:.2f} s, '
                  f'{shown["name"].removesuffix(": state")}: {shown["message"]}.',
                  'bad' if errors else 'note', 'nodes')


QUESTIONS: tuple[Callable[[Run, Mapping[str, Any]], Answer], ...] = (
    _slipped, _kept_time, _arrived, _odometry, _singular, _complaints)


def answers(run: Run, numbers: Mapping[str, Any]) -> list[Answer]:
    """
    Return the answers of a run, that on missing messages first.

    `numbers` are those of `run_numbers`.
    """
    return _incomplete(run) + [question(run, numbers) for question in QUESTIONS]
