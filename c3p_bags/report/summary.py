# SPDX-License-Identifier: Apache-2.0
"""Answers at the top of a report to the first questions about a bag from the field."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from c3p_bags.report.gyro_answer import gyro_answer
from c3p_bags.report.motion_panels import NEAR
from c3p_bags.report.promise_answer import promise_answer
from c3p_bags.report.run import AnalysedRun
from c3p_bags.report.slip_answer import Answer, length, percent, slip_answer
from c3p_bags.report.times_answer import times_answer
from c3p_bags.runs.losses import absent

# fractions of all cycles: least answered and most late ones of a loop that kept time
ANSWERED = 0.999
LATE = 0.001

# time without force in the commanded direction that is worth a note, s: every start across the
# casters has some tenths
BLOCKED = 1.0

# what differs between two messages on the same matter
VALUE = re.compile(r'[-+]?\d[\d.]*')

# steps of a clock that are stated one by one
MOST_STEPS = 5


def _small(part: float) -> str:
    """Return a small fraction as a percentage."""
    return f'{100 * part:.2g} %' if part >= 1e-4 else 'less than 0.01 %'


def _incomplete(run: AnalysedRun) -> list[Answer]:
    """Return the answer on messages that are not in the bag, empty without any."""
    joints = run.timing.unrecorded
    odometry = run.odometry_lost
    texts = [*run.remarks]
    if joints.lost:
        texts.append(joints.text('joint state', 'odometry'))
    if odometry:
        texts.append(absent(odometry, 'odometry message', 'joint_states'))
    if not texts:
        return []
    lost = joints.lost + odometry
    answer = (f'{lost} message{"s are" if lost > 1 else " is"} missing' if lost else
              'It is not as it was recorded')
    return [Answer('Is the bag complete?', answer, f'{". ".join(texts)}. All answers are based '
                   'on what is in the bag.', 'note', 'loop')]


def _clock(run: AnalysedRun) -> list[Answer]:
    """Return the answer on a clock that was set, empty for one that was not."""
    steps = run.log.clock_steps
    if not steps:
        return []
    texts = '; '.join(step.text() for step in steps[:MOST_STEPS])
    more = f'; {len(steps) - MOST_STEPS} more' if len(steps) > MOST_STEPS else ''
    times = 'Once' if len(steps) == 1 else f'{len(steps)} times'
    return [Answer('Was the clock set?', times, f'{texts[0].upper()}{texts[1:]}{more}. All times '
                   'are without these steps: what is after one follows what is before it.',
                   'note', 'loop')]


def _not_finite(run: AnalysedRun) -> list[Answer]:
    """Return the answer on messages with numbers that are not finite, empty without any."""
    found = run.log.not_finite
    if not found:
        return []
    count = sum(found.values())
    topics = ', '.join(f'{topic} ({number})' for topic, number in found.items())
    return [Answer('Are all numbers finite?', f'{count} message{"s are" if count > 1 else " is"} '
                   'not', f'inf or nan in {topics}. They are left out; a result without a finite '
                   'value is null in the JSON file. Check what published them.', 'bad', 'nodes')]


def _kept_time(run: AnalysedRun, numbers: Mapping[str, Any]) -> Answer:
    question = 'Did the loop keep time?'
    t = run.timing
    rate = f'{1.0 / t.period:.4g} Hz' if t.period else 'a single sample'
    gap = (f'{t.lost} samples are missing, longest gap {1000 * t.longest_gap:.3g} ms at '
           f'{t.longest_gap_time:.2f} s' if t.lost else
           f'no sample is missing, longest gap {1000 * t.longest_gap:.3g} ms')
    if not t.cycles:
        return Answer(question, rate, f'{gap[0].upper()}{gap[1:]}. No wheel commands in this bag, '
                      'so only the samples are checked.', 'note' if t.lost else 'good', 'loop')
    answered = t.answered / t.cycles
    late = t.late / t.cycles
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


def _arrived(run: AnalysedRun, numbers: Mapping[str, Any]) -> Answer:
    question = 'Did it arrive?'
    goals = run.goals
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
               f'{length(error)} and {np.degrees(last["final_yaw_error_rad"]):.2f}° off at '
               'the end by odometry')
    if last['ground_truth_final_error_m'] is not None:
        detail += f', {length(last["ground_truth_final_error_m"])} in truth'
    return Answer(question, answer, f'{detail}. It drove {drove}.',
                  'good' if len(reached) == len(goals) else 'bad', 'way')


def _odometry(run: AnalysedRun, numbers: Mapping[str, Any]) -> Answer:
    question = 'Is the odometry right?'
    found = numbers['odometry']
    where = '' if run.odom_recorded else 'No odom in this bag; computed from the joint states. '
    if found['error_final_m'] is None:
        return Answer(question, 'Not known', where + 'No ground truth in this bag to compare '
                      'with.', 'none', 'errors')
    part = found['error_final_m'] / max(numbers['distance_m'], 1e-3)
    return Answer(question, f'{length(found["error_final_m"])} off',
                  f'{where}At the end, {_small(part)} of the distance driven; '
                  f'{length(found["error_max_m"])} at most.',
                  'good' if part < 0.02 else 'note', 'errors')


def _singular(run: AnalysedRun, numbers: Mapping[str, Any]) -> Answer:
    question = 'Blocked by a singularity?'
    found = numbers['singularity']
    blocked = found['blocked_s']
    if found['freedoms'] is None:
        return Answer(question, 'Not known', 'The measure is of casters with all encoders; here '
                      f'{run.robot.other_wheels}.', 'none', 'wheels')
    if found['freedoms'] < 3:
        return Answer(question, 'Always', f'The motors accelerate {found["freedoms"]} of 3 '
                      'freedoms at an instant, so that one direction has no force in any posture.',
                      'none', 'wheels')
    if not found['near_share']:
        return Answer(question, 'No', f'σ_min was never below {NEAR}.', 'good', 'wheels')
    near = f'σ_min was below {NEAR} for {percent(found["near_share"])} of the time'
    if blocked is None:
        return Answer(question, 'Not known', f'{near}; this bag has no velocity commands.',
                      'none', 'wheels')
    if not blocked:
        return Answer(question, 'No', f'{near}, but no command pointed into the direction that is '
                      'lost there.', 'good', 'wheels')
    return Answer(question, f'For {blocked:.2f} s', 'During this time the commands pointed mainly '
                  f'into the direction without force. {near}.',
                  'note' if blocked > BLOCKED else 'good', 'wheels')


def _complaints(run: AnalysedRun, numbers: Mapping[str, Any]) -> Answer:
    question = 'What did the nodes report?'
    found = numbers['complaints']
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
    grave = errors or found
    same = _longest(grave)
    shown = same[0]
    kind = 'error' if errors else 'warning'
    lasted = sum(c['end_s'] - c['begin_s'] for c in same)
    when = (f'At {shown["begin_s"]:.2f} s' if len(grave) == 1 else
            f'The longest, {lasted:.2f} s in all from {shown["begin_s"]:.2f} s on')
    return Answer(question, f'{len(grave)} {kind}{"s" if len(grave) > 1 else ""}',
                  f'{when}, {shown["name"].removesuffix(": state")}: {shown["message"]}.',
                  'bad' if errors else 'note', 'nodes')


def _longest(found: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return those of a node with the same words that lasted longest; their values may differ."""
    alike: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for one in found:
        alike.setdefault((one['name'], VALUE.sub('', one['message'])), []).append(one)
    return max(alike.values(), key=lambda same: sum(c['end_s'] - c['begin_s'] for c in same))


QUESTIONS: tuple[Callable[[AnalysedRun, Mapping[str, Any]], Answer], ...] = (
    slip_answer, _kept_time, _arrived, _odometry, _singular, _complaints)


def answers(run: AnalysedRun, numbers: Mapping[str, Any]) -> list[Answer]:
    """
    Return the answers of a run, those on missing and on broken messages first.

    `numbers` are those of `run_numbers`.
    """
    return promise_answer(numbers) + _clock(run) + _incomplete(run) + _not_finite(run) + [
        question(run, numbers) for question in QUESTIONS] + times_answer(run) + gyro_answer(run)
