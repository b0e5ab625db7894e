# SPDX-License-Identifier: Apache-2.0
"""Every program of the installation has a help, which starts nothing and exits with 0."""

import subprocess
import sys

import pytest

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from c3p_bringup.nodes import NODES, module_of  # noqa: E402
from c3p_bringup.programs import PROGRAMS, run  # noqa: E402
from c3p_ros.usage import wants_help  # noqa: E402

LINES = {
    'alone': ['--help'], 'short': ['-h'],
    'before ROS arguments': ['--help', '--ros-args', '-p', 'nothing:=1'],
    'after ROS arguments': ['--ros-args', '-p', 'nothing:=1', '--', '--help']}


@pytest.fixture(autouse=True)
def no_ros(monkeypatch):
    """Fail where a program initialises ROS."""
    def refuse(*_, **__):
        raise AssertionError('help initialises ROS')

    monkeypatch.setattr(rclpy, 'init', refuse)
    monkeypatch.setattr('c3p_ros.session.Session.__enter__', refuse)


def outcome(function):
    """Return the exit code of a program, returned or raised."""
    try:
        return function()
    except SystemExit as end:
        return end.code


@pytest.mark.parametrize('line', LINES)
@pytest.mark.parametrize('name', PROGRAMS)
def test_every_program_prints_its_usage_and_ends_with_0(name, line, monkeypatch, capsys):
    if name == 'c3p' and 'ROS' in line:
        pytest.skip('the command has no ROS arguments')
    monkeypatch.setattr(sys, 'argv', [f'/usr/bin/{name}', *LINES[line]])
    assert not outcome(lambda: run(*PROGRAMS[name]))
    shown = capsys.readouterr().out
    assert shown.startswith(f'usage: {name}') and len(shown.splitlines()) > 5
    if name.endswith('_node'):
        assert 'Parameters:' in shown and 'robot (string' in shown and '(double' in shown


@pytest.mark.parametrize('name', ['twist_mux', 'player'])
def test_a_module_that_python_runs_has_the_same_help(name):
    done = subprocess.run([sys.executable, '-m', module_of(name), '--help'], capture_output=True,
                          text=True, timeout=60.0, check=True)
    assert done.stdout.startswith(f'usage: {name}_node')


@pytest.mark.parametrize('arguments', [['--help'], ['drive', '--help'], ['experiment', '--list']])
def test_a_reader_that_ends_first_ends_the_command_in_silence(arguments):
    # `true` ends before Python has started
    done = subprocess.run(['bash', '-c', 'set -o pipefail; "$@" | true', 'bash', sys.executable,
                           '-m', 'c3p_bringup', *arguments], capture_output=True, text=True,
                          timeout=60.0)
    assert done.returncode == 0 and done.stderr == ''


def test_help_among_the_arguments_of_ros_is_not_ours():
    for name in NODES:
        assert not wants_help([name, '--ros-args', '-p', 'robot:=--help', '--help'])
        assert not wants_help([name])
