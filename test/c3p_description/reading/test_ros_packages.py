# SPDX-License-Identifier: Apache-2.0
"""Packages of $(find NAME), without a ROS installation."""

import sys

import pytest

from c3p_bringup.cli.main import main
from c3p_description import load, robot_description
from c3p_description.model import ModelError
from c3p_description.reading.ros_packages import packages_near

pytest.importorskip('xacro', reason='pip install xacro')


def package(folder, name):
    folder.mkdir(parents=True)
    (folder / 'package.xml').write_text(f'<package><name>{name}</name></package>')
    return folder


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """Sources of two packages side by side, and one elsewhere; the first includes both."""
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    # its name is not that of its folder
    shapes = package(tmp_path / 'src' / 'shapes-main', 'mule_shapes')
    elsewhere = package(tmp_path / 'elsewhere' / 'wheels', 'mule_wheels')
    for place in (shapes, elsewhere):
        (place / 'part.urdf').write_text(robot_description('c3p'))
    mule = package(tmp_path / 'src' / 'mule', 'mule')
    (mule / 'urdf').mkdir()
    for name in ('mule', 'mule_shapes', 'mule_wheels'):
        (mule / 'urdf' / f'{name}.urdf.xacro').write_text(
            '<robot name="mule" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'
            f'<xacro:include filename="$(find {name})/part.urdf"/></robot>')
    (mule / 'part.urdf').write_text(robot_description('c3p'))
    return tmp_path


@pytest.mark.parametrize('name', ['mule', 'mule_shapes'])
@pytest.mark.parametrize('index', [True, False], ids=['index', 'xacro_alone'])
def test_own_package_and_its_neighbours_are_found(workspace, monkeypatch, name, index):
    if not index:
        # the process of xacro finds no such module
        (workspace / 'without' / 'ament_index_python').mkdir(parents=True)
        (workspace / 'without' / 'ament_index_python' / '__init__.py').write_text(
            'raise ImportError')
        monkeypatch.syspath_prepend(workspace / 'without')
    robot = load(workspace / 'src' / 'mule' / 'urdf' / f'{name}.urdf.xacro')
    assert robot.count == 3


def test_a_missing_package_is_named_with_the_option_that_gives_it(workspace):
    path = workspace / 'src' / 'mule' / 'urdf' / 'mule_wheels.urdf.xacro'
    with pytest.raises(ModelError, match='ROS package mule_wheels is not found: .* as --package '
                                         'mule_wheels=DIR'):
        load(path)


def test_a_given_package_is_used_by_commands_files_and_python(workspace, capsys, monkeypatch):
    path = workspace / 'src' / 'mule' / 'urdf' / 'mule_wheels.urdf.xacro'
    folder = workspace / 'elsewhere' / 'wheels'
    assert load(path, {'packages.mule_wheels': str(folder)}).count == 3
    file = workspace / 'src' / 'mule.yaml'
    file.write_text('urdf: mule/urdf/mule_wheels.urdf.xacro\n'
                    'packages: {mule_wheels: ../elsewhere/wheels}\n')
    assert load(file).count == 3 and 'packages' not in robot_description(file)
    monkeypatch.chdir(workspace)
    given = ['--package', 'mule_wheels=elsewhere/wheels']
    assert main(['robot', str(path), '--no-battery', *given, '--write', 'written.yaml']) == 0
    assert main(['robot', 'written.yaml', '--no-battery']) == 0
    assert main(['experiment', 'line', '--robot', str(path), *given, '--duration', '1']) == 2
    # the robot was read: what is refused is the option of another experiment
    assert '--duration' in capsys.readouterr().err


@pytest.mark.parametrize(('words', 'says'), [
    (['--package', 'mule_wheels'], 'expected NAME=DIR'),
    (['--package', 'mule_wheels=nowhere'], "packages.mule_wheels = 'nowhere': no such folder")])
def test_what_cannot_be_is_one_line(workspace, capsys, words, says):
    path = workspace / 'src' / 'mule' / 'urdf' / 'mule_wheels.urdf.xacro'
    assert main(['robot', str(path), '--no-battery', *words]) == 2
    line, = capsys.readouterr().err.splitlines()
    assert says in line


@pytest.mark.skipif(sys.platform == 'win32', reason='POSIX permissions')
def test_folders_that_any_user_can_write_have_no_packages(workspace):
    path = workspace / 'src' / 'mule' / 'urdf' / 'mule.urdf.xacro'
    assert set(packages_near(path)) == {'mule', 'mule_shapes'}
    (workspace / 'src').chmod(0o777)
    assert set(packages_near(path)) == {'mule'}
    (workspace / 'src' / 'mule').chmod(0o777)
    assert packages_near(path) == {}
