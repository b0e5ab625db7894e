# SPDX-License-Identifier: Apache-2.0
"""
Every command refuses what it cannot do in one line of its own, with exit code 2.

The fast part of the sweep: what the parser and the first checks of a command decide, in this
process. command_sweep.py runs all of it, with Ctrl-C, a full disk and no display.
"""

import pytest
from command_sweep import FORBIDDEN, Call
from sweep_cases import (
    GOLDEN_BAG,
    QUICK,
    Case,
    changed,
    leaves,
    options,
    usage_cases,
    words,
    write_files,
)

from c3p_bringup.cli.main import main

# the parsers are built once, and each names its command
LEAVES = leaves()


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp('files')
    write_files(folder)
    return folder


def refused(case, capsys):
    """Run a case; return why it did not end in one line that begins with the command."""
    try:
        code = main(case.words)
    except SystemExit as end:
        code = end.code
    errors = capsys.readouterr().err
    if code != 2 or len(errors.splitlines()) != 1 or any(word in errors for word in FORBIDDEN):
        return f'c3p {" ".join(case.words)}: exit code {code}: {errors}'
    if not errors.startswith(f'c3p {case.command}: '):
        return f'c3p {" ".join(case.words)}: not the line of the command: {errors}'
    return ''


def test_every_command_is_in_the_sweep():
    assert set(LEAVES) == set(QUICK), 'a new command needs arguments in QUICK of sweep_cases.py'


@pytest.mark.parametrize('command', LEAVES)
def test_wrong_values_and_options_are_refused_in_one_line(command, tmp_path, capsys):
    cases = list(usage_cases(command, GOLDEN_BAG, tmp_path / 'out'))
    assert cases and not list(filter(None, (refused(case, capsys) for case in cases)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize('command', LEAVES)
def test_results_that_cannot_be_written_are_refused_before_anything_runs(
        command, files, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    leaf = dict(options(LEAVES[command]))
    if '--json' not in leaf:
        pytest.skip('writes no JSON')
    # a file for a directory, a directory for a file, and a file system that takes no files
    for place in (files / 'file' / 'x.json', files, '/proc/x.json'):
        given = changed(command, '--json', leaf['--json'], f'{place}',
                        words(command, GOLDEN_BAG, tmp_path / 'out'))
        assert not refused(Case(command, 'place', given, True), capsys)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize('command', [name for name, leaf in LEAVES.items()
                                     if '--params-file' in dict(options(leaf))
                                     and name not in ('doctor', 'tune')])
def test_parameter_files_that_cannot_be_read_are_refused_by_name(command, files, tmp_path, capsys):
    for file in [files / 'none.yaml', *sorted((files / 'parameters').iterdir())]:
        if file.name.startswith('odd_'):
            continue
        given = [*words(command, GOLDEN_BAG, tmp_path / 'out'), '--params-file', f'{file}']
        try:
            assert main(given) == 2
        except SystemExit as end:
            assert end.code == 2
        line, = capsys.readouterr().err.splitlines()
        assert line.startswith(f'c3p {command}: ') and str(file) in line


@pytest.mark.real_time
def test_ctrl_c_while_everything_is_imported_ends_in_silence_or_one_line(tmp_path):
    call = Call(Case('report', 'Ctrl-C', words('report', GOLDEN_BAG, tmp_path), False), tmp_path,
                0.3)
    while (ended := call.ended()) is None:
        pass
    assert ended.code in (130, -2) or 'c3p_bringup' not in ended.errors
    assert not ended.left and len(ended.errors.splitlines()) <= 1 or (
        'c3p_bringup' not in ended.errors)
