# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C before, in and after the work of a command, and why a drive missed; off the clock."""

import os
import signal
import sys
from types import ModuleType

import pytest

from c3p_bringup.cli import main as cli
from c3p_bringup.cli.common import INTERRUPTED, until_ctrl_c
from c3p_bringup.cli.report import drive_summary
from c3p_bringup.drive_story import DriveStory
from c3p_dynamics.identification.excitation import Excitation


@pytest.fixture
def commands(monkeypatch):
    """A module in the place of command_line.py that notes who gets SIGINT, and when."""
    module, seen = ModuleType('c3p_bringup.cli.command_line'), {}

    class Parser:
        def __init__(self, names):
            assert names == ['drive']

        def parse_args(self, args):
            seen['parsing'] = signal.getsignal(signal.SIGINT)
            if args == ['drive', 'wrong']:
                raise SystemExit(2)
            return args

    def run(arguments):
        seen['running'] = signal.getsignal(signal.SIGINT)
        return 7

    module.parser, module.run = Parser, run
    monkeypatch.setitem(sys.modules, 'c3p_bringup.cli.command_line', module)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield seen
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_what_only_imports_and_parses_at_once(commands, monkeypatch, capfd):
    assert cli.INTERRUPTED == INTERRUPTED
    assert cli.main(['drive']) == 7
    assert commands == {'parsing': cli._end_at_once, 'running': signal.default_int_handler}
    ended = []
    monkeypatch.setattr(os, '_exit', ended.append)
    cli._end_at_once(signal.SIGINT, None)
    assert ended == [INTERRUPTED] and capfd.readouterr().err == 'c3p: interrupted\n'


def test_arguments_that_cannot_be_give_the_signal_back(commands):
    with pytest.raises(SystemExit):
        cli.main(['drive', 'wrong'])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_program_with_its_own_handler_keeps_it(commands):
    def own(*_):
        raise AssertionError

    signal.signal(signal.SIGINT, own)
    assert cli.main(['drive']) == 7
    assert commands == {'parsing': own, 'running': own}


def test_nothing_cuts_the_last_words_of_a_process(commands, monkeypatch):
    monkeypatch.setattr(sys, 'argv', ['c3p', 'drive'])
    assert cli.command() == 7
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_the_first_ctrl_c_asks_and_the_second_interrupts():
    before = signal.getsignal(signal.SIGINT)
    with until_ctrl_c() as stop:
        assert not stop()
        signal.raise_signal(signal.SIGINT)
        assert stop()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupted_excitation_writes_what_was_driven(tmp_path):
    from synthetic import topics_of

    from c3p_experiments.identification.excite import simulate_excitation

    cycles = iter(range(200))
    simulate_excitation(tmp_path / 'bag', excitation=Excitation(20.0),
                        stop=lambda: next(cycles) >= 150)
    assert 140 <= topics_of(tmp_path / 'bag')['/joint_states'][1] <= 160


@pytest.mark.parametrize('wanted', [True, False])
def test_the_bag_of_a_drive_is_kept_whole_also_over_an_old_one(tmp_path, wanted):
    pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
    from c3p_bringup.drive import keep_bag
    from c3p_bringup.options import DriveOptions

    bag, out = tmp_path / 'recorded', tmp_path / 'out'
    options = DriveOptions(goal=(1.0, 0.0, 0.0), out=out, keep_bag=wanted)
    assert keep_bag(options, bag) is None
    for text in ('first', 'second'):
        bag.mkdir(exist_ok=True)
        (bag / 'metadata.yaml').write_text(text)
        kept = keep_bag(options, bag)
        assert (kept is not None) == wanted
    if wanted:
        assert (kept / 'metadata.yaml').read_text() == 'second'
        assert sorted(path.name for path in out.iterdir()) == ['bag']


def test_a_missed_drive_says_why_and_when():
    story = DriveStory()
    story.goal(100.0)
    assert story.missed({}, 60.0, None) == 'not held within 60 s of robot time (--timeout)'
    story.lock(102.0, 'no odom')
    story.lock(103.0, '')
    story.lock(104.0, 'no odom')
    assert story.missed({'overruns': 12}, 60.0, 1.5) == (
        'not held within 60 s of robot time (--timeout), 1.500 m away; locked 2 times, first '
        'after 2.0 s: no odom; 12 overruns')
    story.end(105.0, 'reached', 'reached: 0.01 m')
    assert not story.ended
    story.end(106.0, 'no odometry', 'no odometry: no odometry for 1.52 s (odom_patience)')
    assert story.missed({}, 60.0, None).startswith(
        'no odometry for 1.52 s (odom_patience), 6.0 s after the goal; locked 2')
    # the next goal has a story of its own
    story.goal(200.0)
    assert 'locked' not in story.missed({}, 60.0, None)


@pytest.mark.parametrize('factor, words', [
    (0.25, '0.25, 4.0 times slower than real time'), (1.0, '1.00'), (None, None)])
def test_the_slowdown_stands_in_the_table(factor, words):
    text = drive_summary({'reached': True, 'realtime_factor_achieved': factor})
    lines = [line for line in text.splitlines() if 'robot time per real time' in line]
    assert [line.split('real time', 1)[1].strip() for line in lines] == ([words] if words else [])
