# SPDX-License-Identifier: Apache-2.0
"""The real command in a pseudo terminal: keys in, commands out, the terminal as it was."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from geometry_msgs.msg import Twist, TwistStamped  # noqa: E402
from source_tree import ROOT  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402

from c3p_bringup.cli.main import main  # noqa: E402
from c3p_ros.node import LATCHED  # noqa: E402

# the start of a process on a busy machine, s
PATIENCE = 120.0


class Window:
    """``c3p teleop`` in a terminal of its own, and a bench that hears it."""

    def __init__(self, bench, *arguments):
        self.bench, self.shown = bench, ''
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 100, 0, 0))
        self.before = termios.tcgetattr(self.theirs)
        self.process = subprocess.Popen(
            [sys.executable, '-m', 'c3p_bringup', 'teleop', *arguments], cwd=ROOT,
            stdin=self.theirs, stdout=self.theirs, stderr=self.theirs, start_new_session=True)

    def read(self):
        """Read what is shown; return all of it since the start."""
        while select.select([self.ours], [], [], 0)[0]:
            self.shown += os.read(self.ours, 65536).decode('utf-8', 'replace')
        return self.shown

    def screen(self):
        """Return the last picture that is whole."""
        return self.read().rpartition('\x1b[J')[0].rpartition('\x1b[H')[2]

    def type(self, keys):
        """Press keys once."""
        os.write(self.ours, keys)

    def wait(self, condition, what):
        """Wait, while the terminal is read, until `condition`."""
        def holds():
            self.read()
            return condition()
        try:
            return self.bench.wait_for(holds, what, PATIENCE)
        except AssertionError as error:
            raise AssertionError(f'{error}\n{self.screen()}') from error

    def hold(self, key, condition, what):
        """Keep `key` pressed, as a terminal repeats it, until `condition`."""
        due = [0.0]

        def press():
            if time.monotonic() >= due[0]:
                due[0] = time.monotonic() + 0.03
                self.type(key)
            return condition()
        return self.wait(press, what)

    def end(self):
        """Wait for the end; return the exit code."""
        self.wait(lambda: self.process.poll() is not None, 'the end')
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def window(open_bench):
    windows = []

    def start(*arguments):
        windows.append(Window(open_bench, *arguments))
        return windows[-1]
    yield start
    for one in windows:
        one.close()


@pytest.mark.real_time
def test_keys_drive_and_the_e_stop_holds(open_bench, window, tmp_path):
    heard = open_bench.collect(TwistStamped, 'robot1/cmd_vel_keyboard')
    past = open_bench.collect(TwistStamped, 'robot1/cmd_vel')
    pressed = open_bench.collect(Bool, 'robot1/e_stop')
    locked = open_bench.talker.create_publisher(Bool, 'robot1/twist_mux/locked', LATCHED)
    one = window('--namespace', 'robot1', '--speed', '0.3', '--json', str(tmp_path / 'run.json'))
    one.wait(lambda: 'to cmd_vel_keyboard' in one.screen(), 'the mux is found')

    def last():
        return heard[-1].twist if heard else Twist()

    def resting():
        return last() == Twist()

    one.hold(b'I', lambda: last().linear.x == 0.3, 'ahead')
    assert heard[-1].header.frame_id == 'base_link' and heard[-1].header.stamp.sec > 0
    one.wait(resting, 'a stop, since the key is not held')
    # the e-stop goes out, and is said again for whoever comes later
    one.type(b'e')
    one.wait(lambda: len(pressed) >= 2 and all(message.data for message in pressed), 'the e-stop')
    since = len(heard)
    one.hold(b'I', lambda: len(heard) > since + 5, 'commands')
    assert all(message.twist == Twist() for message in heard[since:])
    one.wait(lambda: 'PRESSED here; r releases' in one.screen(), 'the e-stop on the screen')
    one.type(b'r')
    one.wait(lambda: not pressed[-1].data, 'the release')
    # somebody else locks the mux
    locked.publish(Bool(data=True))
    one.wait(lambda: 'PRESSED; r releases' in one.screen(), 'the lock on the screen')
    locked.publish(Bool(data=False))
    # a key that has not been let go since then would not count
    one.wait(lambda: 'released\x1b' in one.screen() and 'release all keys' not in one.screen(),
             'the lock has gone')
    one.hold(b'\x1b[D', lambda: last().linear.y == 0.3, 'to the left, after the release')
    one.type(b'\x03')
    assert one.end() == 0 and resting()
    assert termios.tcgetattr(one.theirs) == one.before
    assert one.read().rstrip().endswith('s') and '\x1b[?1049l' in one.shown
    figures = json.loads((tmp_path / 'run.json').read_text())
    assert figures['topic'] == 'cmd_vel_keyboard' and not figures['e_stop_held']
    assert figures['e_stops'] == 1 and figures['commands'] >= len(heard) > 0 and not past


@pytest.mark.real_time
def test_a_signal_stops_the_robot_and_gives_the_terminal_back(open_bench, window):
    heard = open_bench.collect(Twist, 'mine')
    one = window('--plain', '--topic', 'mine')
    one.wait(lambda: 'nobody takes' not in one.screen() and 'to mine' in one.screen(), 'a start')
    one.hold(b'j', lambda: heard and heard[-1].angular.z > 0.0, 'a turn')
    one.process.send_signal(signal.SIGTERM)
    assert one.end() == 0 and heard[-1] == Twist()
    assert termios.tcgetattr(one.theirs) == one.before


def test_without_a_terminal_it_says_what_to_do(capsys, monkeypatch):
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, 'stdin', nothing)
        assert main(['teleop']) == 2
    assert 'ssh -t' in capsys.readouterr().err
