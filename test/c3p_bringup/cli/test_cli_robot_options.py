# SPDX-License-Identifier: Apache-2.0
"""--robot-option: one form for every command that takes --robot."""

import argparse

import pytest

from c3p_bringup.cli.command_line import parser
from c3p_bringup.cli.common import apply_robot_options
from c3p_bringup.cli.main import main
from c3p_description import load, robot_description


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))


@pytest.fixture
def lateral(tmp_path):
    """URDF whose second wheel stands 2 cm beside its pivot."""
    path = tmp_path / 'lateral.urdf'
    text, old = robot_description('c3p'), '<joint name="wheel_joint_2"'
    at = text.index(old)
    path.write_text(text[:at] + text[at:].replace('xyz="0 -0.04', 'xyz="0.02 -0.04', 1),
                    encoding='utf-8')
    return path


def commands():
    """Return the parsers of all commands by name."""
    return next(action for action in parser()._actions
                if isinstance(action, argparse._SubParsersAction)).choices


def test_every_command_with_a_robot_takes_its_options():
    given = {name: {flag for action in command._actions for flag in action.option_strings}
             for name, command in commands().items()}
    with_robot = {name for name, flags in given.items() if '--robot' in flags}
    assert {'drive', 'sim', 'experiment', 'report', 'identify', 'tune', 'campaign', 'view', 'film',
            'recompute', 'teleop', 'doctor', 'record'} <= with_robot
    # the command robot has its robot as an argument
    assert {name for name, flags in given.items()
            if '--robot-option' in flags} == with_robot | {'robot'}


@pytest.mark.parametrize(('words', 'says'), [
    (['--robot', '{}', '--robot-option', 'tolerance'], "robot option 'tolerance': expected NAME="),
    (['--robot', '{}', '--robot-option', 'tolerances=1'], 'tolerances = 1: unknown key beside a'),
    (['--robot-option', 'tolerance=1'], 'options of which robot? Give --robot'),
])
def test_what_cannot_be_is_one_line(words, says, lateral, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(['experiment', 'line', *(word.format(lateral) for word in words)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and says.format(lateral) in lines[0]


def test_a_wheel_beside_its_pivot_is_refused_after_its_remedy(lateral, capsys):
    assert main(['experiment', 'line', '--robot', str(lateral), '--controller', 'mpc']) == 2
    warning, refusal = capsys.readouterr().err.splitlines()
    assert 'joint wheel_joint_2: the wheel stands 0.02 m beside its pivot' in warning
    assert '--robot-option tolerance=0.02,' in warning
    assert 'wheel 2 is beside the pivot (b ≠ 0); choose the controller modules' in refusal


def test_the_remedy_in_the_warning_is_accepted(lateral):
    arguments = parser().parse_args(['drive', '1', '0', '0', '--robot', str(lateral),
                                     '--robot-option', 'tolerance=0.02',
                                     '--robot-option', 'casters.torque_limit=0.9'])
    apply_robot_options(arguments)
    robot = load(arguments.robot)
    assert robot.torque_limit.tolist() == [0.9] * 3
    assert robot.caster_offset.tolist() == pytest.approx([0.04] * 3)


@pytest.mark.parametrize(('command', 'lines'), [('drive', 0), ('view', 1)])
def test_a_warning_is_stated_once_by_the_command_or_by_its_nodes(command, lines, lateral, capsys):
    words = {'drive': ['drive', '1', '0', '0'], 'view': ['view']}[command]
    apply_robot_options(parser().parse_args([*words, '--robot', str(lateral)]))
    assert len(capsys.readouterr().err.splitlines()) == lines
