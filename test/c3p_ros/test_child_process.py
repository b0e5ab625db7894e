# SPDX-License-Identifier: Apache-2.0
"""Programs in processes of their own end in time, with all that they have started."""

import os
import signal
import subprocess
import sys

import pytest

from c3p_ros.child_process import ChildProcess

pytestmark = pytest.mark.real_time

# ignores SIGINT and SIGTERM, starts a program in its session, and prints the number of that
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
inner = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
print(inner.pid, flush=True)
time.sleep(600)
"""
# ends when its input ends
ECHO = 'import sys; sys.stdin.read(); sys.exit(3)'


def started(program, **options):
    return ChildProcess([sys.executable, '-c', program], stdout=subprocess.PIPE, text=True,
                        **options)


def exists(pid):
    """Return whether a process runs, and is not only left to be waited for."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8') as stat:
            return stat.read().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False


def test_a_program_that_ignores_the_signal_is_killed_with_all_of_its_session():
    child = started(STUBBORN)
    inner = int(child.stdout.readline())
    assert child.running and child.code is None and exists(inner)
    assert child.end(signal.SIGTERM, patience=0.05) == -signal.SIGKILL
    assert not child.running and child.code == -signal.SIGKILL
    while exists(inner):
        pass


def test_a_program_in_the_session_of_its_parent_is_signalled_alone():
    child = started(STUBBORN, session=False)
    inner = int(child.stdout.readline())
    assert os.getpgid(child.pid) == os.getpgid(0)
    assert child.kill() == -signal.SIGKILL
    assert exists(inner)
    os.kill(inner, signal.SIGKILL)


def test_the_end_of_its_input_ends_a_program_before_any_signal():
    child = started(ECHO, stdin=subprocess.PIPE)
    assert child.end(patience=60.0) == 3
    # the second time nothing is left to end
    assert child.end(signal.SIGINT) == 3 and child.kill() == 3
    assert child.stdin.closed and child.stdout.closed


def test_a_program_that_has_ended_gets_no_signal():
    child = started('raise SystemExit(5)')
    while child.running:
        pass
    child.signal(signal.SIGKILL)
    assert child.end(signal.SIGTERM) == 5
