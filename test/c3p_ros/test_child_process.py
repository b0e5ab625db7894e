# SPDX-License-Identifier: Apache-2.0
"""Programs in processes of their own end in time, with all that they have started."""

import io
import os
import signal
import subprocess

import pytest

from c3p_ros.child_process import ChildProcess


class Program:
    """Stands for `subprocess.Popen`: ends by a signal in `obeys`, or when its input ends."""

    def __init__(self, happened, obeys, code):
        self.happened = happened
        self.obeys = obeys
        self.code = code
        self.pid = 4711
        self.returncode = None
        self.stdin = None
        self.stdout = io.StringIO('said')

    def receive(self, to, number):
        assert self.returncode is None, 'a signal to a process that has been waited for'
        self.happened.append((to, signal.Signals(number).name))
        if number in self.obeys:
            self.returncode = -number

    def poll(self):
        if self.returncode is None and self.stdin is not None and self.stdin.closed:
            self.returncode = self.code
        return self.returncode

    def wait(self, timeout=None):
        self.happened.append(timeout)
        if self.poll() is None:
            raise subprocess.TimeoutExpired('program', timeout)
        return self.returncode


@pytest.fixture
def start(monkeypatch):
    """Return a function that starts a `ChildProcess` and returns it with what happens to it."""
    def started(obeys=(signal.SIGKILL,), code=0, stdin=None, **options):
        happened = []
        program = Program(happened, obeys, code)
        program.stdin = stdin

        def popen(command, **given):
            happened.append((command[0], given))
            return program

        monkeypatch.setattr(subprocess, 'Popen', popen)
        monkeypatch.setattr(os, 'killpg', lambda pid, number: program.receive('session', number))
        monkeypatch.setattr(os, 'kill', lambda pid, number: program.receive('process', number))
        return ChildProcess(['program'], **options), happened
    return started


def test_a_program_that_ignores_the_signal_is_killed_with_all_of_its_session(start):
    child, happened = start(cwd='/')
    assert child.running and child.code is None and child.pid == 4711
    assert child.end(signal.SIGTERM, patience=2.0) == -signal.SIGKILL
    assert happened == [('program', {'start_new_session': True, 'cwd': '/'}),
                        ('session', 'SIGTERM'), 2.0, ('session', 'SIGKILL'), None]
    assert not child.running and child.code == -signal.SIGKILL and child.stdout.closed


def test_a_program_in_the_session_of_its_parent_is_signalled_alone(start):
    child, happened = start(obeys=[signal.SIGINT], session=False)
    assert child.end(signal.SIGINT) == -signal.SIGINT
    assert happened == [('program', {'start_new_session': False}), ('process', 'SIGINT'), 5.0]


def test_the_end_of_its_input_ends_a_program_without_a_signal(start):
    stdin = io.StringIO()
    child, happened = start(code=3, stdin=stdin)
    assert child.end(patience=60.0) == 3
    assert stdin.closed and happened[1:] == [60.0]


def test_a_program_that_has_ended_gets_no_signal(start):
    child, happened = start()
    assert child.kill() == -signal.SIGKILL
    del happened[:]
    child.signal(signal.SIGINT)
    assert child.end(signal.SIGTERM) == child.kill() == -signal.SIGKILL
    assert happened == [5.0, 5.0]
