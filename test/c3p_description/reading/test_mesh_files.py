# SPDX-License-Identifier: Apache-2.0
"""Which files a description may name as its meshes."""

import os

import pytest

from c3p_description.model import ModelError
from c3p_description.reading import mesh_files
from c3p_description.reading.files import share_file
from c3p_description.reading.mesh_files import mesh_file

TYRE = 'package://c3p/c3p_description/meshes/tyre.stl'


@pytest.fixture
def lab(tmp_path):
    """Return a folder with a robot, a mesh, and what must not be read around them."""
    place = tmp_path / 'lab' / 'robot'
    (place / 'meshes').mkdir(parents=True)
    (place / 'robot.urdf').write_text('<robot name="r"/>')
    (place / 'meshes' / 'plate.stl').write_bytes(b'own')
    (place / 'notes.txt').write_text('own')
    (tmp_path / 'lab' / 'secret.stl').write_bytes(b'secret')
    os.symlink(tmp_path / 'lab' / 'secret.stl', place / 'meshes' / 'link.stl')
    os.symlink('/etc/passwd', place / 'meshes' / 'passwd.stl')
    return place


def test_meshes_of_the_package_are_found_by_name_and_by_path():
    assert mesh_file(TYRE) == share_file('c3p_description/meshes/tyre.stl').resolve()
    assert mesh_file(f'file://{mesh_file(TYRE)}') == mesh_file(TYRE)


def test_meshes_of_a_robot_stand_below_the_folder_of_its_file(lab):
    robot, mesh = lab / 'robot.urdf', lab / 'meshes' / 'plate.stl'
    for uri in ('meshes/plate.stl', './meshes/../meshes/plate.stl', f'file://{mesh}', str(mesh)):
        assert mesh_file(uri, robot) == mesh
        with pytest.raises(ModelError, match='plate.stl.*--robot FILE'):
            mesh_file(uri)


def test_in_a_package_they_stand_below_the_package(lab):
    (lab / 'package.xml').write_text('<package><name>lab_robot</name></package>')
    (lab / 'urdf').mkdir()
    robot = lab / 'urdf' / 'robot.urdf'
    robot.write_text('<robot name="r"/>')
    for uri in ('../meshes/plate.stl', 'package://lab_robot/meshes/plate.stl',
                'package://robot/meshes/plate.stl', f'file://{lab}/meshes/plate.stl'):
        assert mesh_file(uri, robot) == lab / 'meshes' / 'plate.stl'
    # a package.xml where anyone can put one says nothing
    lab.chmod(0o777)
    with pytest.raises(ModelError):
        mesh_file('../meshes/plate.stl', robot)


@pytest.mark.parametrize('uri', [
    'file:///etc/passwd', '/etc/passwd', 'package://c3p/../../../etc/hostname',
    'package://c3p/c3p_description/robots/c3p.yaml', '../secret.stl', 'meshes/link.stl',
    'meshes/passwd.stl', 'notes.txt', 'file://{lab}/../secret.stl', 'meshes', 'none.stl',
    'package://robot/../secret.stl', 'package://other/a.stl', 'http://a/b.stl', '', '\0.stl',
    'a' * 5000 + '.stl', 'package://c3p/c3p_description/../../secret.stl'])
def test_everything_else_is_refused(lab, uri):
    with pytest.raises(ModelError, match='mesh'):
        mesh_file(uri.replace('{lab}', str(lab)), lab / 'robot.urdf')


def test_a_mesh_that_is_too_large_is_refused(lab, monkeypatch):
    monkeypatch.setattr(mesh_files, 'MOST_BYTES', 2)
    with pytest.raises(ModelError, match='3 bytes, at most 2'):
        mesh_file('meshes/plate.stl', lab / 'robot.urdf')
