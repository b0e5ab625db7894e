# SPDX-License-Identifier: Apache-2.0
"""The key that must be held, on a terminal of its own and a clock that the test sets."""

import os
import pty

import pytest

from c3p_bringup.commission import held_key
from c3p_bringup.commission.held_key import AGAIN, FIRST


@pytest.fixture
def keyboard(monkeypatch):
    """Return what presses keys, and the time that is now, in a list."""
    master, slave = pty.openpty()
    now = [100.0]
    monkeypatch.setattr(held_key.time, 'monotonic', lambda: now[0])
    with os.fdopen(slave, 'r') as terminal:
        monkeypatch.setattr(held_key.sys, 'stdin', terminal)
        yield lambda keys: os.write(master, keys), now
    os.close(master)


def test_a_key_counts_as_held_until_the_terminal_repeats_it_no_more(keyboard):
    press, now = keyboard
    with held_key.held_key(True) as held:
        assert not held()
        press(b'x ')
        assert held()
        now[0] += 0.9 * FIRST
        assert held()
        # repeated while held: from now on a shorter silence ends it
        press(b'   ')
        assert held()
        now[0] += 1.1 * AGAIN
        assert not held()
        press(b'q\n')
        assert not held()


def test_without_a_terminal_no_key_can_be_held(monkeypatch, tmp_path):
    with (open(tmp_path / 'empty', 'w+') as file, monkeypatch.context() as patch):
        patch.setattr(held_key.sys, 'stdin', file)
        with pytest.raises(ValueError, match='standard input is not a terminal'):
            held_key.held_key(True).__enter__()
    with held_key.held_key(False) as held:
        assert held()
