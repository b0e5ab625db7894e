# SPDX-License-Identifier: Apache-2.0
"""Stops that were made by hand, whose measures are known."""

import pytest

from c3p_experiments.card_faults.measures import Stop, measured
from c3p_experiments.card_faults.table import BEGIN, END, cells_of, selected, table, written
from c3p_experiments.card_faults.trials import TRIALS, Trial, TrialOutcome
from c3p_hardware.canopen.process_data import DRIVE_COMMAND, SYNC_ID, rpdo


def record(zeros, driven_until, stands_at, moves_at=None):
    """Return 1 s of a robot whose wheels get zero from the cycles `zeros` on; fault at 0.1 s."""
    frames, steps = [], []
    for cycle in range(200):
        now = 0.005 * cycle
        frames.append((now, SYNC_ID, ''))
        for i, first in enumerate(zeros):
            torque = 0 if first is not None and cycle >= first else 200
            frames.append((now + 1e-3 + 1e-4 * i, rpdo(1, i + 1),
                           DRIVE_COMMAND.pack(15, torque).hex()))
    for k in range(1000):
        now = 1e-3 * k
        speed = 0.3 if now < stands_at or moves_at is not None and now > moves_at else 0.0
        steps.append((now, 0.0, 0.3 * min(now, stands_at), speed, 0.0,
                      [0.2 if now < driven_until else -0.2] * 3, [speed / 0.04] * 3))
    return {'frames': frames, 'steps': steps}


PUSH = (0.2, 0.2, 0.2)


def test_the_slowest_wheel_counts():
    stop = measured(record((21, 22, 21), 0.112, 0.3), 0.1, 1.0, PUSH)
    # cycle 22 begins at 0.110; the second wheel has its order 1.1 ms later; cycles 21 and 22
    assert stop.zero == pytest.approx(0.0111) and stop.cycles == 2
    assert stop.driven == pytest.approx(0.011) and stop.stand == pytest.approx(0.2)
    assert stop.distance == pytest.approx(0.3 * 0.2) and stop.moved == 0.0
    assert stop.stall == pytest.approx(1e-3)


def test_a_wheel_that_is_commanded_to_drive_again_was_never_stopped():
    seen = record((21, 21, 21), 0.106, 0.3)
    seen['frames'] += [(0.9, rpdo(1, 2), DRIVE_COMMAND.pack(15, 5).hex())]
    stop = measured(seen, 0.1, 1.0, PUSH)
    assert stop.zero > 0.8 and stop.cycles > 150


def test_a_motion_after_the_stop_is_seen():
    stop = measured(record((21, 21, 21), 0.106, 0.3, moves_at=0.8), 0.1, 1.0, PUSH)
    assert stop.stand == pytest.approx(0.2) and stop.moved == pytest.approx(0.3)


def test_without_orders_there_is_no_zero_and_a_robot_that_rolls_does_not_stand():
    seen = record((None,) * 3, 0.9, 2.0)
    seen['frames'] = [f for f in seen['frames'] if f[0] < 0.1]
    stop = measured(seen, 0.1, 1.0, PUSH)
    assert stop.zero is None and stop.stand is None and stop.driven == pytest.approx(0.799)


GOOD = Stop(0.004, 1, 0.005, 0.3, 0.05, 0.0, 0.001)


@pytest.mark.parametrize(('changes', 'moved', 'back', 'message', 'says'), [
    ({}, False, True, 'two', ''),
    ({'cycles': 3}, False, True, 'two', 'at most 2'),
    ({'zero': None}, False, True, 'two', 'at most 2'),
    ({'driven': 0.2}, False, True, 'two', 'motors drove for 0.200 s'),
    ({'stand': None}, False, True, 'two', 'standstill'),
    ({}, True, True, 'two', 'moved before it was armed'),
    ({}, False, False, 'two', 'did not come back'),
    ({}, False, True, 'one', "does not contain 'two'"),
])
def test_every_promise_can_be_missed(changes, moved, back, message, says):
    trial = Trial('fault', 'script', 'bound', 2, 0.1, message='two')
    missed = TrialOutcome(trial, Stop(**{**vars(GOOD), **changes}), message, moved, back).missed
    assert says in missed and bool(says) == bool(missed)


def test_a_table_goes_between_its_markers_and_comes_back():
    outcome = TrialOutcome(TRIALS[0], GOOD, 'silent for 0.05 s; check', False, True)
    page = written(f'before\n{BEGIN}\na stale row\n{END}\nafter\n', table([outcome]))
    assert page.startswith('before\n') and page.endswith(f'{END}\nafter\n')
    assert 'stale' not in page
    cells = cells_of(page)[TRIALS[0].fault]
    assert cells[2:] == ['4 (1)', '5', '0.30', '5', 'no', 'yes', 'silent for … s; check']
    with pytest.raises(ValueError, match='must have one line'):
        written('no markers', '')


def test_trials_are_chosen_by_words():
    assert selected(TRIALS, []) == TRIALS
    chosen = selected(TRIALS, ['SIGKILL', 'kill bus'])
    assert [t.script for t in chosen] == ['kill master', 'kill bus']
    with pytest.raises(ValueError, match="no trial matches 'meteor'"):
        selected(TRIALS, ['meteor'])
