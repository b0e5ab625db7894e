# SPDX-License-Identifier: Apache-2.0
"""What a command cannot carry out is told in one line, before it computes, with exit code 2."""

import json
import sys
from pathlib import Path

import pytest

from c3p_bringup.cli.common import make_places, reason, write_json
from c3p_bringup.cli.main import main
from c3p_description.reading.how_to_install import how_to_install

ROOT = Path(__file__).parents[3]
EXPERIMENT, CAMPAIGN, TUNE = ['experiment', 'line'], ['campaign', '--plant', 'analytic'], ['tune']


def told(capsys, *arguments):
    """Run the command, which must fail; return its only line."""
    try:
        code = main(list(arguments))
    except SystemExit as end:  # what the parser refuses
        code = end.code
    lines = capsys.readouterr().err.splitlines()
    assert code == 2 and len(lines) == 1, lines
    return lines[0]


@pytest.mark.parametrize(('arguments', 'says'), [
    (['drive', 'nan', '0', '0'], 'X: nan: must be a finite number, at most 1e+09 in size; '
     'see c3p drive --help'),
    (['drive', 'east', '0', '0'], 'argument X: east: must be a finite number'),
    (['drive', '1', '0', '0', '--rate', '0'], '--rate: 0: must be a number greater than zero'),
    ([*EXPERIMENT, '--robot', 'nobody'], "robot 'nobody' is unknown: give one of agv, amr, "),
    (['experiment', 'round'], 'experiment round: must be one of line, '),
    (['experiment', 'slope'], 'experiment slope: plant = analytic: must be mujoco'),
    ([*EXPERIMENT, '--controller', 'pid'], 'controller = pid: must be one of paper, '),
    ([*EXPERIMENT, '--counts', '-1', '0'], 'wheel_counts = -1: must be 0 to 1000000000'),
    ([*EXPERIMENT, '--seed', '-1'], 'seed = -1: must be 0 or more'),
    ([*EXPERIMENT, '--friction', 'inf'], '--friction: inf: must be a finite number'),
    ([*CAMPAIGN, '--draws', '0'], '--draws: 0: must be a whole number, 1 or more'),
    ([*CAMPAIGN, '--draws', 'all'], '--draws: all: must be a whole number, 1 or more'),
    ([*CAMPAIGN, '--goal', 'nan', '0', '0'], '--goal: nan: must be a finite number'),
    ([*CAMPAIGN, '--experiment', 'slope'], 'experiment slope: plant = analytic: must be mujoco'),
    ([*CAMPAIGN, '--least-reached', '1.5'], '--least-reached: 1.5: must be a fraction from 0'),
    *((([*command, '--robot', robot]), f'robot {robot!r} is a {what}') for command in (
        EXPERIMENT, CAMPAIGN, TUNE, ['identify', '--excite'], ['drive', '1', '0', '0'])
      for robot, what in (('agv', 'vehicle with two driven wheels'),
                          ('pvc_tricycle', 'tricycle with passive variable camber'))),
    ([*TUNE, '--evaluations', '0'], '--evaluations: 0: must be a whole number, 1 or more'),
    (['film', 'bag', '--out', 'run.avi'], 'out = run.avi: its name must end in .mp4 or .gif or'),
    (['film', 'bag', '--span', '0', '1'], '--span: needs --scene'),
    (['film', 'bag', '--speed', '0'], '--speed: 0: must be a number greater than zero'),
    (['identify', 'bag', '--confidence', '1'], '--confidence: 1: must be between 0 and 1'),
    (['report', 'nowhere'], 'bag nowhere: no such file'),
])
def test_what_cannot_be_is_one_line_that_names_it(arguments, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert says in told(capsys, *arguments)


def test_motor_cards_that_do_not_fit_the_robot_end_a_drive_before_it_begins(tmp_path, capsys):
    cart, file = ROOT / 'docs/tutorials/cart.urdf.xacro', tmp_path / 'mine.yaml'
    file.write_text('hardware_interface: {ros__parameters: {drives.gear_ratio: [14.0, 20.0]}}')
    line = told(capsys, 'drive', '1', '0', '0', '--robot', str(cart), '--hardware', 'emulated',
                '--params-file', str(file), '--out', str(tmp_path))
    assert 'drives.gear_ratio = [14.0, 20.0]: must have one value for all or one' in line
    assert 'the 4 drives (front_left_wheel, ' in line and 'drives.joints' in line


@pytest.mark.parametrize('command', [EXPERIMENT, CAMPAIGN, TUNE])
def test_a_place_that_cannot_be_written_is_told_before_anything_is_computed(
        command, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr('c3p_experiments.loop.conditions.run_loop', None)
    (tmp_path / 'file').touch()
    for option, place in (('--out', 'file'), ('--out', 'file/in'), ('--json', 'file/a.json')):
        line = told(capsys, *command, '--out', str(tmp_path), option, str(tmp_path / place))
        assert str(tmp_path / 'file') in line and 'name another directory' in line
    line = told(capsys, *command, '--out', str(tmp_path), '--json', str(tmp_path))
    assert line.endswith(f'{tmp_path}: is a directory; name a file in it')


@pytest.mark.parametrize(('text', 'says'), [
    ('a: [1,\n', 'cannot be read as YAML'),
    ('5\n', 'a ROS 2 parameter file has nodes'),
    ('velocity_controller: [1, 2]\n', 'velocity_controller has no ros__parameters'),
    ('/**: {ros__parameters: 5}\n', '/** has no ros__parameters'),
    ('velocity_controller: {ros__parameters: {mpc: {across_weight: much}}}\n',
     'velocity_controller.mpc.across_weight = much: must be a number'),
    ('velocity_controller: {ros__parameters: {mpc: {across_weight: true}}}\n',
     'velocity_controller.mpc.across_weight = True: must be a number'),
])
def test_a_parameter_file_that_is_none_is_told_by_name(text, says, tmp_path, capsys):
    file = tmp_path / 'p.yaml'
    file.write_text(text)
    line = told(capsys, *TUNE, '--params-file', str(file), '--out', str(tmp_path))
    assert f'{file}: ' in line and says in line
    assert str(tmp_path / 'none.yaml') in told(
        capsys, *TUNE, '--params-file', str(tmp_path / 'none.yaml'), '--out', str(tmp_path))


@pytest.mark.parametrize(('module', 'arguments', 'extra'), [
    ('rclpy', ['drive', '1', '0', '0'], 'jazzy'),
    ('mujoco', [*EXPERIMENT, '--plant', 'mujoco'], 'sim'),
    ('mujoco', ['campaign'], 'sim'),
    ('dask', [*CAMPAIGN, '--backend', 'dask'], 'campaign'),
])
def test_what_is_not_installed_is_told_with_how_to_have_it(module, arguments, extra, tmp_path,
                                                           monkeypatch, capsys):
    for name in [name for name in sys.modules if name.split('.')[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    # None makes every import of it fail
    monkeypatch.setitem(sys.modules, module, None)
    if module == 'rclpy':
        monkeypatch.delitem(sys.modules, 'c3p_bringup.drive', raising=False)
    assert how_to_install(extra) in told(capsys, *arguments, '--out', str(tmp_path))


def test_a_part_of_the_suite_that_is_missing_is_no_fault_of_the_user(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, 'c3p_experiments.catalogue', raising=False)
    monkeypatch.setitem(sys.modules, 'c3p_experiments.catalogue', None)
    with pytest.raises(ModuleNotFoundError, match='c3p_experiments.catalogue'):
        main([*EXPERIMENT, '--out', str(tmp_path)])


def test_who_interrupts_is_told_that_a_campaign_goes_on(tmp_path, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr('c3p_experiments.campaigns.campaign.run_campaign', interrupted)
    assert main([*CAMPAIGN, '--out', str(tmp_path)]) == 130
    assert 'and the same command goes on' in capsys.readouterr().err
    monkeypatch.setattr('c3p_experiments.catalogue.run_experiment', interrupted)
    assert main([*EXPERIMENT, '--out', str(tmp_path)]) == 130
    assert 'c3p experiment: interrupted' in capsys.readouterr().err


def test_reasons_have_one_line():
    assert reason(ValueError('a\n   b')) == 'a b'
    full = OSError(28, 'No space left on device')
    assert reason(full) == ('results: no space left on device; free some space, or name another '
                            'directory')
    assert reason(FileNotFoundError(2, 'No such file', 'x.yaml')).startswith('x.yaml: no such')


def test_figures_go_where_they_are_asked_to_and_people_read_the_other_stream(tmp_path, capsys):
    figures, file = {'µ': 0.5}, tmp_path / 'deep' / 'a.json'
    make_places(tmp_path, file)
    assert write_json(figures, file) is sys.stdout and json.loads(file.read_text()) == figures
    assert write_json(figures, None) is sys.stdout and not capsys.readouterr().out
    assert write_json(figures, Path('-')) is sys.stderr
    assert json.loads(capsys.readouterr().out) == figures
