# SPDX-License-Identifier: Apache-2.0
"""The judge on planted breaks of the promises of a mux, and on messages in another order."""

import math

import pytest

from c3p_bags.promises.judged_parameters import JudgedParameters, StopTimes, mux_inputs
from c3p_bags.promises.promise_events import MASKED, in_order
from c3p_bags.promises.promise_judge import MUX_GRACE, PromiseJudge
from c3p_controller.stop_promises import COMMAND, LOCK, MOTOR, PASSED, TORQUE, StopEvent

MUX = {'start_silence': 3.0, 'resume': False,
       'topics.joystick.topic': 'joy', 'topics.joystick.timeout': 0.5,
       'topics.joystick.priority': 100, 'topics.plan.topic': 'plan', 'topics.plan.timeout': 0.5,
       'topics.plan.priority': 10, 'locks.stop.topic': 'stop', 'locks.stop.timeout': 0.0,
       'locks.stop.priority': 255, 'locks.pause.topic': 'pause', 'locks.pause.timeout': 0.5,
       'locks.pause.priority': 50}


def mux(**changed):
    """Return the mux of these parameters; None leaves one out."""
    given = {key: value for key, value in {**MUX, **changed}.items() if value is not None}
    return mux_inputs({'/twist_mux': given})


def broken(events, inputs=None):
    """Return the promises that events (kind, time, name, value) break."""
    judge = PromiseJudge(JudgedParameters(None, inputs or mux()), 0.0)
    for event in in_order(StopEvent(*event) for event in events):
        judge.see(event)
    return {name: round(one.time, 3) for name, one in judge.broken.items()}


def sent(name, begin, end, value=0.2):
    """Return commands of a source that the mux passes, each 0.1 s."""
    count = round((end - begin) / 0.1)
    return [(kind, begin + 0.1 * k, name, value) for k in range(count)
            for kind in (COMMAND, PASSED)]


def beats(begin, end):
    """Return messages of the lock with a timeout, open."""
    return [(LOCK, begin + 0.2 * k, 'pause', 0.0) for k in range(round((end - begin) / 0.2) + 1)]


ZERO = sent('joystick', 0.0, 0.3, 0.0)
PLAN = sent('plan', 0.0, 0.3, 0.0)


@pytest.mark.parametrize(('events', 'found'), [
    # pressed at 1 s, and commands pass on
    ([*ZERO, *sent('joystick', 0.3, 2.0), (LOCK, 1.0, 'stop', 1.0)], {'lock-stops': 1.3}),
    # past the mux, of nobody that it knows
    ([(LOCK, 1.0, 'stop', 1.0), (PASSED, 1.5, '', 0.2)], {'lock-stops': 1.5}),
    # the mux starts anew, states that all are masked, and a command passes
    ([*ZERO, (MASKED, 1.0, '', 1.0), (PASSED, 1.6, '', 0.2)], {'unknown-closes': 1.6}),
    # a lock with a timeout is silent from 1 s on
    ([*PLAN, *sent('plan', 0.3, 2.0), *beats(0.0, 1.0)], {'silence-closes': 1.7}),
    # released, and the source moves on at once, without a zero
    ([*ZERO, *sent('joystick', 0.3, 0.9), (LOCK, 1.0, 'stop', 1.0),
      *[(COMMAND, 1.0 + 0.1 * k, 'joystick', 0.2) for k in range(5)], (LOCK, 1.5, 'stop', 0.0),
      *sent('joystick', 1.6, 1.8)], {'no-resume': 1.6}),
    # the higher source falls silent, and the lower one moves on
    ([*beats(0.0, 3.0), *PLAN, *sent('plan', 0.3, 0.8), *sent('joystick', 0.85, 1.0, 0.2),
      *[(COMMAND, 0.8 + 0.1 * k, 'plan', 0.2) for k in range(8)], *sent('plan', 1.6, 1.8)],
     {'no-resume': 1.6})])
def test_a_planted_break_is_named_with_its_time(events, found):
    assert broken(events) == found


def test_a_drive_that_keeps_all_breaks_none():
    events = [*beats(0.0, 6.0), *ZERO, *sent('joystick', 0.3, 1.0), (LOCK, 1.0, 'stop', 1.0),
              (MASKED, 1.0, '', 1.0), (LOCK, 2.0, 'stop', 0.0), (MASKED, 2.01, '', 0.0),
              *sent('joystick', 2.1, 2.3, 0.0), *sent('joystick', 2.3, 3.0),
              # silence of 0.5 s releases the lower one
              *sent('plan', 3.6, 3.8, 0.0), *sent('plan', 3.8, 5.0)]
    assert broken(events) == {}


def test_messages_in_another_order_break_none():
    """A command that was under way, and a zero that arrives before the lock that it follows."""
    near = 0.5 * MUX_GRACE
    events = [*beats(0.0, 4.0), *ZERO, *sent('joystick', 0.3, 1.0), (LOCK, 1.0, 'stop', 1.0),
              (PASSED, 1.0 + near, 'joystick', 0.2), (COMMAND, 1.9, 'joystick', 0.0),
              (LOCK, 1.9 + near, 'stop', 0.0), *sent('joystick', 1.95 + near, 2.5)]
    assert broken(events) == {}


def test_what_is_seen_may_begin_in_a_drive():
    assert broken([(PASSED, 0.1, 'joystick', 0.2), (LOCK, 0.2, 'pause', 0.0)]) == {}
    gate = PromiseJudge(JudgedParameters(StopTimes()), 0.0)
    for event in ((MOTOR, 0.0, '', 0.5), (TORQUE, 0.5, '', 0.4), (MOTOR, 0.6, '', 0.5)):
        gate.see(StopEvent(*event))
    assert gate.broken == {} and gate.judged() == ('torque-limits', 'gate-opens-by-zero')


def test_a_release_by_service_is_what_the_mux_states():
    start = [(MASKED, 0.0, '', 1.0), (MASKED, 1.0, '', 0.0)]
    assert broken([*start, *sent('joystick', 1.1, 1.3, 0.0), *sent('joystick', 1.3, 2.0)]) == {}
    # a second mux, or the same once more
    again = [*start, (MASKED, 2.0, '', 1.0), (PASSED, 2.5, '', 0.2)]
    assert broken(again) == {'unknown-closes': 2.5}


def test_a_mux_that_masks_all_for_another_reason_breaks_none():
    # an enabling device that is not seen, such as a button of a Joy message
    pause = [(LOCK, 0.3 * k, 'pause', 0.0) for k in range(8)]
    again = [(MASKED, 1.0, '', 1.0), (MASKED, 1.1, '', 0.0), *sent('plan', 1.11, 1.3, 0.0),
             *sent('plan', 1.31, 2.0)]
    assert broken([*pause, *PLAN, *sent('plan', 0.3, 1.0), *again]) == {}


def test_only_what_a_mux_promises_is_judged():
    resumed = [*ZERO, *sent('joystick', 0.3, 0.9), (LOCK, 1.0, 'stop', 1.0),
               (LOCK, 1.5, 'stop', 0.0), (COMMAND, 1.4, 'joystick', 0.2),
               *sent('joystick', 1.6, 1.8)]
    assert broken(resumed, mux(resume=True)) == {}
    # the package twist_mux
    package = mux(start_silence=None, resume=None)
    assert not package.suite and broken(resumed, package) == {}
    assert broken([(MASKED, 1.0, '', 1.0), (PASSED, 1.6, '', 0.2)], package) == {}
    # a lower source is not masked by a lock below it
    assert broken([(LOCK, 1.0, 'pause', 1.0), (PASSED, 1.5, 'joystick', 0.2)]) == {}


def test_a_torque_that_is_not_a_number_is_named():
    judge = PromiseJudge(JudgedParameters(), 0.0)
    judge.see(StopEvent(TORQUE, 0.5, '', math.nan))
    judge.see(StopEvent(TORQUE, 0.6, '', 1.2))
    (found,) = judge.broken.values()
    assert (found.promise, found.time, found.events) == ('torque-limits', 0.5, 2)


def test_entries_that_are_not_whole_are_left_out():
    assert mux_inputs({}) is None and mux_inputs({'/twist_mux': {'use_stamped': True}}) is None
    some = mux(**{'topics.plan.timeout': None, 'locks.stop.priority': 'all'})
    assert [one.name for one in some.sources] == ['joystick']
    assert [one.name for one in some.locks] == ['pause']
