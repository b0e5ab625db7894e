# SPDX-License-Identifier: Apache-2.0
"""`c3p sim`: robots that run for a while and say where they got."""

import json

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from c3p_bringup.cli.main import main  # noqa: E402

# the first of these tests on a computer compiles the kernels: a minute of work, more when shared
pytestmark = pytest.mark.timeout(400)


def figures(capfd, *arguments):
    """Return exit code, figures and what was said to people."""
    code = main(['sim', *arguments, '--json', '-'])
    said = capfd.readouterr()
    return code, json.loads(said.out), said.err


def test_the_tricycle_drives_for_a_while(capfd):
    code, found, said = figures(capfd, '--robot', 'pvc', '--terrain', 'flat', '--duration', '2',
                                '--realtime-factor', '4', '--start', '1', '2', '0',
                                '--drive-rate', '2')
    assert code == 0 and found['terrain'] == 'flat' and not found['ended']
    # a process that waits may run on; 2 rad/s on 0.3 m
    assert found['robot_time_s'] >= 2.0
    np.testing.assert_allclose(found['position_m'], [1 + 0.6 * found['robot_time_s'], 2.0, 0.3],
                               rtol=0, atol=1e-9)
    assert found['distance_m'] == pytest.approx(0.6 * found['robot_time_s'], abs=1e-9)
    assert found['closure_max'] < 1e-9
    assert 'rviz2 -d' in said and 'pvc.rviz' in said and 'rough_ground/terrain' in said


def test_a_model_that_ends_is_told_by_the_exit_code(capfd, tmp_path):
    path = tmp_path / 'narrow.yaml'
    path.write_text('extends: pvc\nname: narrow\nlimits: {camber: 0.01}\n')
    code, found, said = figures(capfd, '--robot', str(path), '--terrain', 'plateau_20deg',
                                '--start', '1.5', '0', '0', '--drive-rate', '3', '--duration',
                                '60')
    assert code == 1 and 'camber_joint' in found['ended'] and 'joint limit' in said
    assert found['robot_time_s'] < 60


def test_the_caster_robot_runs_with_its_chain(capfd):
    code, found, _ = figures(capfd, '--duration', '1.5', '--realtime-factor', '0.5',
                             '--start', '1', '2', '0.5')
    assert code == 0 and found['robot'] == 'c3p' and found['robot_time_s'] >= 1.5
    np.testing.assert_allclose(found['pose'], [1.0, 2.0, 0.5], atol=1e-9)
    assert found['answered'] > 0


def test_sim_takes_the_robot_options_of_drive(capfd):
    code, found, said = figures(capfd, '--plant', 'mujoco', '--controller', 'paper', '--rate',
                                '100', '--start-steering', '90', '0', '-45', '--duration', '0.3')
    assert code == 0, said
    # a cycle each 10 ms, from the first to the one that ends it
    assert found['cycles'] == pytest.approx(100 * found['robot_time_s'], abs=2)


@pytest.mark.parametrize('arguments, says', [
    (['--robot', 'pvc', '--plant', 'mujoco'], '--plant: only for caster robots'),
    (['--start-steering', '1', '2'], '--start-steering: 2 angles; c3p takes 1 or 3'),
    (['--terrain', 'flat'], '--terrain: only for a tricycle; add --robot pvc_tricycle'),
    (['--drive-rate', '1'], '--drive-rate: only for a tricycle'),
    (['--robot', 'pvc', '--terrain', 'sea'], "terrain 'sea': it must be one of flat, "),
    (['--robot', 'nobody'], "robot 'nobody' is unknown"),
    (['--robot', 'pvc', '--params-file', 'no.yaml'],
     'no.yaml: no such file')])
def test_what_cannot_be_is_one_line_that_names_it(arguments, says, capfd):
    assert main(['sim', *arguments, '--duration', '1']) == 2
    said = capfd.readouterr().err
    assert said.startswith('c3p sim: ') and says in said and said.count('\n') == 1
