# SPDX-License-Identifier: Apache-2.0
"""The loop between terminal and robot, with a clock of its own, and a terminal that goes away."""

import os
import pty
import termios

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from c3p_bringup.teleop import teleop as module  # noqa: E402
from c3p_bringup.teleop.keys import KeyDrive  # noqa: E402
from c3p_bringup.teleop.screen import Terminal  # noqa: E402
from c3p_bringup.teleop.teleop import Teleop, e_stop_text  # noqa: E402


class Clock:
    """Time that passes when somebody waits."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


class Script:
    """A terminal that types what is due: {time: bytes, or a number of seconds to stand still}."""

    def __init__(self, clock, script, end):
        self.clock, self.script, self.last = clock, dict(script), end
        self.shown, self.forgotten = '', 0

    def read(self, timeout):
        self.clock.now += max(timeout, 0.001)
        if self.clock.now > 100.0 + self.last:
            return None
        for due in sorted(self.script):
            if self.clock.now >= 100.0 + due:
                typed = self.script.pop(due)
                if isinstance(typed, bytes):
                    return typed
                self.clock.now += typed
        return b''

    def forget(self):
        self.forgotten += 1

    def size(self):
        return 80, 24

    def write(self, text):
        self.shown = text


class Link:
    """A robot that writes down what it is told."""

    def __init__(self, clock, ready=0.0):
        self.clock, self.sent, self.said = clock, [], []
        self.locked, self.muxed, self.connected, self.limits = False, True, True, None
        self.place, self.begins = 'cmd_vel_keyboard', 100.0 + ready

    @property
    def ready(self):
        return self.clock.now >= self.begins

    def send(self, twist):
        self.sent.append((self.clock.now - 100.0, list(twist)))

    def set_e_stop(self, locked):
        self.said.append(locked)

    def show(self, view):
        view.robot = 'c3p'

    def flush(self, seconds):
        self.sent.append('flushed')


def play(monkeypatch, script, end, **options):
    """Run the loop; return link, terminal and metrics."""
    clock = Clock()
    monkeypatch.setattr(module, 'time', clock)
    link, terminal = Link(clock, **options), Script(clock, script, end)
    teleop = Teleop(link, KeyDrive(0.2, 0.5, 0.8, 2.0), terminal)
    teleop.run()
    return link, terminal, teleop.metrics


def moving(link):
    """Return the times at which the robot was told to move."""
    return [t for t, twist in link.sent[:-1] if any(twist)]


def test_a_key_that_is_held_gives_twenty_commands_a_second_and_then_zeros(monkeypatch):
    held = {0.0: b'i', **{0.4 + 0.1 * k: b'i' for k in range(12)}}
    link, _, metrics = play(monkeypatch, held, 3.0)
    told = moving(link)
    assert min(told) < 0.1 and 1.5 + 0.2 < max(told) < 1.5 + 0.35
    assert max(b - a for a, b in zip(told, told[1:], strict=False)) < 0.06
    # zeros for a while, then silence until the last ones
    quiet = [t for t, twist in link.sent[:-1] if not any(twist)]
    assert quiet[-1] > 2.9 and max(b - a for a, b in zip(quiet, quiet[1:], strict=False)) > 0.5
    assert link.sent[-1] == 'flushed' and metrics['stops'] == 1


def test_a_program_that_stood_still_does_not_go_on(monkeypatch):
    link, terminal, metrics = play(monkeypatch, {0.0: b'i', 0.1: 2.0}, 4.0)
    assert metrics['pauses'] == 1 and terminal.forgotten == 1
    assert max(moving(link)) < 0.2


def test_nothing_moves_until_it_is_known_who_takes_the_commands(monkeypatch):
    held = {0.03 * k: b'i' for k in range(100)}
    link, _, _ = play(monkeypatch, held, 3.0, ready=1.0)
    assert min(moving(link)) >= 1.0
    # a stop does not wait
    link, _, _ = play(monkeypatch, {0.1: b'e'}, 2.0, ready=9.0)
    assert link.said[0] is True


def test_a_pressed_e_stop_is_said_again_until_it_is_released(monkeypatch):
    link, _, metrics = play(monkeypatch, {0.1: b'e', 2.2: b'r'}, 4.0)
    assert link.said[-1] is False
    assert link.said.count(True) >= 4 and link.said.count(False) == 1
    assert metrics['e_stops'] == 1 and not metrics['e_stop_held']


def test_limits_of_the_robot_are_taken_when_they_come(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, 'time', clock)
    link, drive = Link(clock), KeyDrive(0.2, 0.5, 0.8, 2.0)
    link.limits = (0.1, 0.3)
    Teleop(link, drive, Script(clock, {0.5: b'i'}, 1.0)).run()
    assert (drive.speed, drive.yaw_rate) == (0.1, 0.3)
    assert max(twist[0] for _, twist in link.sent[:-1]) == 0.1


def test_words_of_the_e_stop():
    assert e_stop_text(False, False, True) == 'released'
    assert e_stop_text(True, True, True).startswith('PRESSED here;')
    assert 'this keyboard only' in e_stop_text(True, True, False)


def test_a_terminal_that_goes_away_ends_quietly():
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, 'r+b', buffering=0) as stream:
        before = termios.tcgetattr(theirs)
        with Terminal(stream, stream) as terminal:
            assert termios.tcgetattr(theirs) != before and terminal.read(0.0) == b''
            os.write(ours, b'\x03')
            assert terminal.read(10.0) == b'\x03'
            assert terminal.size() == (80, 24)
            os.close(ours)
            assert terminal.read(10.0) is None
            terminal.write('nobody sees it')


def test_a_terminal_is_given_back_after_an_error():
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, 'r+b', buffering=0) as stream:
        before = termios.tcgetattr(theirs)
        with pytest.raises(ZeroDivisionError), Terminal(stream, stream):
            raise ZeroDivisionError
        assert termios.tcgetattr(theirs) == before
        shown = b''
        # in as many pieces as the kernel likes
        while not shown.endswith(b'\x1b[?1049l'):
            shown += os.read(ours, 4096)
    os.close(ours)
