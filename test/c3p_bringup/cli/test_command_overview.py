# SPDX-License-Identifier: Apache-2.0
"""The overview of ``c3p``, misspelt commands, completion, and what help does not import."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from source_tree import python_path

from c3p_bringup import choices
from c3p_bringup.cli.commands import COMMANDS, TASKS
from c3p_bringup.cli.main import main, parser
from c3p_experiments import catalogue

ROOT = Path(__file__).parents[3]

# packages that take a tenth of a second and more to import
SLOW = {'numpy', 'scipy', 'numba', 'matplotlib', 'mujoco', 'rclpy', 'tqdm', 'yaml'}

# commands whose defaults are numbers of the suite import NumPy and more for their help
LIGHT = sorted(set(COMMANDS) - {'campaign', 'tune', 'identify'})


def imported(code):
    """Return which of `SLOW` a new interpreter has imported after `code`."""
    text = f'{code}\nimport sys\nprint("SLOW", *sorted({SLOW!r} & set(sys.modules)))'
    done = subprocess.run([sys.executable, '-c', text], capture_output=True, text=True,
                          cwd=ROOT, check=True,
                          env={**os.environ, 'PYTHONPATH': python_path(ROOT)})
    return done.stdout.rsplit('SLOW', 1)[1].split()


@pytest.mark.parametrize('arguments', [[], ['--help'], ['-h']])
def test_the_overview_names_every_command_under_its_task(arguments, capsys):
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert all(f'\n  {name} ' in text for name in COMMANDS)
    assert all(f'\n{task}:\n' in text for task in TASKS)


def test_help_and_errors_of_usage_import_nothing_slow():
    assert imported("from c3p_bringup.cli.main import main\n"
                    "main(['--help']); main(['--version']); main(['drvie'])") == []


def test_the_parsers_of_most_commands_import_nothing_slow():
    assert imported('from c3p_bringup.cli.command_line import parser\n'
                    f'parser({LIGHT!r})') == []


def test_every_command_is_in_the_whole_parser_with_its_help():
    text = parser().format_help()
    assert all(command.help.split(':')[0] in ' '.join(text.split())
               for command in COMMANDS.values())


def test_the_version_is_that_of_the_package(capsys):
    assert main(['--version']) == 0
    version = ElementTree.parse(ROOT / 'package.xml').find('version').text
    assert capsys.readouterr().out.split() in (['c3p', version],
                                               'c3p not installed: run from its sources'.split())


@pytest.mark.parametrize(('name', 'says'), [
    ('drvie', 'did you mean drive'), ('reprot', 'did you mean report'),
    ('xyz', 'one of drive, sim, ')])
def test_misspelt_commands_get_a_suggestion_in_one_line(name, says, capsys):
    assert main([name]) == 2
    error, = capsys.readouterr().err.splitlines()
    assert error.startswith(f'c3p: {name}: no such command; ') and says in error


@pytest.mark.parametrize(('line', 'found'), [
    ('c3p re', ['record', 'report', 'recompute', 'repair']),
    ('c3p drive --plant ', ['analytic', 'mujoco']), ('c3p drive --real', ['--realtime']),
    ('c3p experiment fl', ['flip', 'flexible']), ('c3p drive --robot c3p', ['c3p_25kg']),
    ('c3p drive --robot set', ['setup.py'])])
def test_shells_complete_commands_and_options(line, found, tmp_path):
    pytest.importorskip('argcomplete')
    out = tmp_path / 'words'
    environment = {**os.environ, 'PYTHONPATH': python_path(ROOT), '_ARGCOMPLETE': '1',
                   '_ARGCOMPLETE_IFS': '\n', 'COMP_LINE': line, 'COMP_POINT': str(len(line)),
                   '_ARGCOMPLETE_STDOUT_FILENAME': str(out)}
    subprocess.run([sys.executable, '-m', 'c3p_bringup'], env=environment, check=True, cwd=ROOT)
    words = [word.strip() for word in out.read_text().split('\n')]
    assert set(found) <= set(words)
    assert all(word.startswith(line.split()[-1]) or line.endswith(' ') for word in words)


def test_shells_complete_the_experiments_that_there_are():
    assert choices.EXPERIMENTS == (*catalogue.EXPERIMENTS, 'all')


def test_help_is_a_command(capsys):
    assert main(['help']) == 0
    assert 'usage: c3p COMMAND' in capsys.readouterr().out
    with pytest.raises(SystemExit) as end:
        main(['help', 'report'])
    assert end.value.code == 0 and 'usage: c3p report' in capsys.readouterr().out


@pytest.mark.parametrize(('words', 'named', 'never'), [
    (['report', 'out'], 'did you mean', 'repair'),
    (['report', 'drive.png'], 'not a bag', 'repair'),
    (['calibrate', 'out'], 'bag?', 'repair'), (['report', 'empty'], 'without metadata', 'repair'),
    (['report', 'cut'], 'c3p repair', 'did you mean'),
    (['experiment', 'lin'], 'did you mean line', 'berthing'),
    (['experiment', '--paper', 'auchter'], 'such as figure9', 'None')])
def test_a_name_that_is_nearly_right_is_answered_with_what_was_meant(
        tmp_path, monkeypatch, capsys, words, named, never):
    for folder in ('out/bag', 'empty', 'cut'):
        (tmp_path / folder).mkdir(parents=True)
    for file in ('out/bag/metadata.yaml', 'out/drive.png', 'drive.png', 'cut/cut_0.mcap'):
        (tmp_path / file).write_bytes(b'')
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    error = capsys.readouterr().err
    assert named in error and never not in error
