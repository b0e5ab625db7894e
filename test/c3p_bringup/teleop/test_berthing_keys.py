# SPDX-License-Identifier: Apache-2.0
"""A pilot at a pseudo terminal, who sees the status line only, berths the satellite by keys."""

import os
import pty
import re
import select

import numpy as np
import pytest

from c3p_bringup.cli.main import main
from c3p_bringup.teleop.berthing import drive
from c3p_bringup.teleop.screen import Terminal
from c3p_experiments.kelly.by_hand import GRAPPLE, Berthing

NUMBER = r' +([+-][\d.]+)'
SEEN = re.compile(rf'hand to (\w+): x{NUMBER} m  y{NUMBER} m  turn{NUMBER}°[^\n]*\n([^\r]*)')

# repetitions of a held key, s
REPEAT = 0.04


class Seat(Terminal):
    """A terminal whose time passes only while it waits, with a pilot at its other end."""

    def __init__(self, pilot):
        self.ours, theirs = pty.openpty()
        self._source = os.fdopen(theirs, 'r')
        super().__init__(self._source, self._source)
        self.now, self._pilot, self.shown = 0.0, pilot, ''

    def read(self, timeout):
        """Let time pass to the next key of the pilot, or `timeout`; return the keys."""
        self.now += max(timeout, 0.0)
        while select.select([self.ours], [], [], 0)[0]:
            self.shown = (self.shown + os.read(self.ours, 65536).decode())[-8000:]
        os.write(self.ours, self._pilot(self.now, self.shown))
        return super().read(0.0)

    def close(self):
        """Close both ends."""
        self._source.close()
        os.close(self.ours)


class Pilot:
    """Presses the key against the largest error that the screen shows."""

    def __init__(self):
        self._due, self._rests, self.phases = 0.0, False, []

    def __call__(self, now, shown):
        found = SEEN.findall(shown)
        if not found or now < self._due:
            return b''
        self._due = now + REPEAT
        target, x, y, turn, state = found[-1]
        x, y, turn = float(x), float(y), np.radians(float(turn))
        for words, key in (('e closes', b'e'), ('releases', b'r')):
            if words in state and not self._rests:
                # come to rest first: what closes in motion is an impact
                self._due, self._rests = now + 1.5, True
                return b''
            if words in state:
                self._due, self._rests = now + 0.5, False
                self.phases.append(words)
                return key
        self._rests = False
        if now > 200.0:
            return b'\x03'
        # a turn of 0.1 rad counts as much as 0.4 m
        errors = {b'\x1b[A': x, b'\x1b[B': -x, b'\x1b[D': y, b'\x1b[C': -y, b'j': 4 * turn,
                  b'l': -4 * turn}
        return max(errors, key=errors.get) if max(errors.values()) > 0.02 else b''


@pytest.fixture
def seat():
    seats = []

    def sit(pilot):
        seats.append(Seat(pilot))
        return seats[-1]
    yield sit
    for one in seats:
        one.close()


def test_a_pilot_at_the_keys_berths_the_satellite_in_real_time(seat, tmp_path):
    pilot, scene = Pilot(), Berthing()
    with seat(pilot) as terminal:
        drive(scene, terminal, lambda: terminal.now)
        took = terminal.now
    found = scene.finish(tmp_path)
    assert pilot.phases == ['e closes', 'e closes', 'releases']
    assert found['reached'] and found['berth_error_m'] < 0.05
    # motion and clock are in step
    assert scene.motion.time == pytest.approx(took, abs=0.2)
    # errors of the integration over 100 s, of up to 10 J and 75 N·s
    assert found['energy_error_j'] < 1e-8 and found['momentum_error_ns'] < 1e-7
    assert found['drift_max_m'] < 1e-12 and found['capture_loss_j'] > 0.0
    assert all(file.stat().st_size > 1000 for file in found['files'])


def test_without_keys_the_arm_holds_and_constraints_stay_open(seat):
    scene = Berthing()
    before = scene.motion.q[scene._plan.arm]
    with seat(lambda now, shown: b'er'[:1 if now < 1 else 2] if now < 2 else b'\x03') as terminal:
        drive(scene, terminal, lambda: terminal.now)
    # the satellite is too far for the grapple, and there is nothing to release
    assert not (scene.grappled or scene.latched or scene.released)
    assert np.hypot(*scene.miss[:2]) > GRAPPLE[0]
    np.testing.assert_allclose(scene.motion.q[scene._plan.arm], before, atol=1e-9)
    assert 'nothing to release' in terminal.shown


def test_a_satellite_that_is_released_before_the_latch_drifts_away():
    scene = Berthing()
    scene.advance(20.0)
    assert scene.make() and scene.grappled
    scene.advance(1.0)
    assert scene.release() and not scene.released and not scene.release()
    scene.advance(1.0)
    assert not scene.motion.constraints


def test_keys_are_for_the_berthing_and_need_a_terminal(tmp_path, capsys):
    assert main(['experiment', 'agv', '--keys', '--out', str(tmp_path)]) == 2
    assert '--keys: for the experiment berthing' in capsys.readouterr().err
    assert main(['experiment', 'berthing', '--keys', '--out', str(tmp_path)]) == 2
    assert 'is not a terminal' in capsys.readouterr().err
