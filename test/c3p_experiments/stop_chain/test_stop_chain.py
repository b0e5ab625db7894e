# SPDX-License-Identifier: Apache-2.0
"""States of the stop chain near its start, against the promises, which notice broken parts."""

from pathlib import Path

import pytest

from c3p_controller import stop_promises
from c3p_controller.command_interlock import CommandInterlock
from c3p_controller.command_lock import LATCHED, LockState
from c3p_controller.motion_promises import ALL
from c3p_controller.twist_mux import TwistMux
from c3p_description import load
from c3p_experiments.stop_chain.explore import explore
from c3p_experiments.stop_chain.hand_machine import HandMachine, hand_promises
from c3p_experiments.stop_chain.mux_machine import COMMANDS, LOCKS, TIMES, MuxMachine, mux_promises
from c3p_experiments.stop_chain.wheel_machine import WheelMachine, wheel_promises
from c3p_hardware.wheel_gate import WheelGate
from c3p_viewers.dashboard.hand_drive import HandDrive

# some seconds of processor time in all; scripts/stop_chain.py enumerates all
PAIRS = 20_000

ROBOT = load('c3p')


@pytest.mark.parametrize(('machine', 'promises'), [
    (MuxMachine, mux_promises), (lambda: MuxMachine(LATCHED), mux_promises),
    (lambda: WheelMachine(ROBOT), wheel_promises)])
def test_no_promise_is_broken_near_the_start(machine, promises):
    found = explore(machine(), promises(), PAIRS)
    assert found.counterexample is None, str(found.counterexample)
    assert found.pairs >= PAIRS and found.states > 1000


def test_no_order_of_events_moves_a_robot_by_hand_that_nobody_holds():
    found = explore(HandMachine(), hand_promises(), 10**6)
    assert found.counterexample is None, str(found.counterexample)
    assert found.complete


@pytest.mark.parametrize('machine', [MuxMachine, lambda: WheelMachine(ROBOT), HandMachine])
def test_a_state_that_is_restored_is_the_same(machine):
    """Otherwise the enumeration would step states that no order of events reaches."""
    one = machine()
    one.begin()
    seen = [one.state()]
    for name in one.events * 3:
        one.step(name)
        seen.append(one.state())
    for state in seen:
        one.restore(state)
        assert one.state() == state


def armed_through_a_lock(self, now):
    """Let no source be released again after a lock."""
    self._newest = now


def still_open(self, now):
    return self.pressed or self.unheard or self.unknown


def opened_at_once(self, given):
    start(self, given)
    self.unknown = False


def unlocked_at_once(self, now):
    self.lock = ''
    self._unlocked = now


def never_opening(self, now):
    return False


def never_stale(self, now):
    return False


def open_to_any(self, torque, now):
    self.open = not self.held
    take(self, torque, now)


def taken_over(self, body, now):
    if self.press and body['press'] != self.press:
        self.end(now)
    return move(self, body, now)


def held_for_ever(self, now):
    return self._twist if self.press else None


def stays_open(self, locked, now):
    self.received = now
    self.pressed = False
    self.unknown = False


start = LockState.__init__
take = WheelGate.command
move = HandDrive.move


def small_mux():
    """Return a mux without latched and best-effort messages: a deep fault is found in no time."""
    machine = MuxMachine()
    machine.events = (*COMMANDS, *LOCKS[:2], *TIMES[:1])
    return machine


MUX, WHEELS, HAND = MuxMachine, lambda: WheelMachine(ROBOT), HandMachine


@pytest.mark.parametrize(('part', 'name', 'broken', 'machine', 'promises', 'identity'), [
    (TwistMux, 'look', armed_through_a_lock, small_mux, mux_promises, 'no-resume'),
    (LockState, 'locked', still_open, MUX, mux_promises, 'silence-closes'),
    (LockState, '__init__', opened_at_once, MUX, mux_promises, 'unknown-closes'),
    (LockState, 'take', stays_open, MUX, mux_promises, 'lock-stops'),
    (CommandInterlock, 'rearm', unlocked_at_once, WHEELS, wheel_promises,
     'locked-until-released'),
    (CommandInterlock, 'opening', never_opening, WHEELS, wheel_promises, 'zero-first'),
    (CommandInterlock, 'stale', never_stale, WHEELS, wheel_promises, 'command-timeout'),
    (WheelGate, 'command', open_to_any, WHEELS, wheel_promises, 'gate-opens-by-zero'),
    (HandDrive, 'twist', held_for_ever, HAND, hand_promises, 'held-by-hand')],
    ids=lambda value: value if isinstance(value, str) else '')
def test_a_broken_part_is_found_with_the_shortest_way(monkeypatch, part, name, broken, machine,
                                                      promises, identity):
    monkeypatch.setattr(part, name, broken)
    found = explore(machine(), promises(), 10 * PAIRS).counterexample
    assert found is not None and found.promise == identity, str(found)
    assert len(found.events) <= 8
    assert '\n' in str(found)


def test_a_page_that_was_refused_does_not_take_over_without_a_touch():
    """Two pages are held; when the first lets go the second one must be touched again."""
    hand = HandDrive()
    one = {'press': 'one', 'vx': 0.1, 'vy': 0.0, 'omega': 0.0}
    two = {**one, 'press': 'two'}
    hand.move(one, 0.0)
    with pytest.raises(ValueError, match='another page'):
        hand.move(two, 0.1)
    hand.end(0.2, 'one')
    with pytest.raises(ValueError, match='press again'):
        hand.move(two, 0.3)
    assert not hand.twist(0.3).any()
    assert hand.move({**two, 'press': 'three'}, 0.4)


def test_each_promise_stands_in_the_safety_page_with_its_words():
    page = (Path(__file__).parents[3] / 'docs/safety.md').read_text(encoding='utf-8')
    rows = {line.split('|')[1].strip() for line in page.splitlines() if line.startswith('| ')}
    assert [promise.identity for promise in ALL if promise.text not in rows] == []
    assert len({promise.identity for promise in ALL}) == len(ALL)
    kinds = {value for name, value in vars(stop_promises).items() if name.isupper()
             and isinstance(value, str)}
    assert all(set(promise.needs) <= kinds for promise in ALL)
