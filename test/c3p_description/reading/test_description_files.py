# SPDX-License-Identifier: Apache-2.0
"""Every file of the description is found, small, installed and what its script makes."""

import fnmatch
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from c3p_description import ModelError, robot_description
from c3p_description.reading import files
from c3p_description.reading.mesh_files import mesh_file

ROOT = Path(__file__).resolve().parents[3]
ROOM = ROOT / 'c3p_description'
FOLDERS = ('robots', 'terrains', 'urdf', 'meshes', 'rviz', 'worlds')
KEPT = sorted(str(p.relative_to(ROOM)) for folder in FOLDERS
              for p in (ROOM / folder).rglob('*') if p.is_file() and p.suffix != '.py')


@pytest.mark.parametrize('name', KEPT)
def test_file_is_installed_beside_the_module_and_in_share(name, distribution):
    patterns = distribution.package_data['c3p_description'] + distribution.package_data['']
    assert any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
    shared = {f'{folder}/{os.path.basename(f)}' for folder, group in distribution.data_files
              for f in group}
    assert f'share/c3p/c3p_description/{name}' in shared


def test_every_mesh_resolves_and_is_small():
    pytest.importorskip('xacro', reason='the URDF is made by xacro: pip install xacro')
    uris = {uri for robot in ('c3p', 'pvc_tricycle') for uri in re.findall(
        r'filename="([^"]+)"', robot_description(robot))}
    assert {uri.rsplit('/', 1)[-1] for uri in uris} == {p.name for p in ROOM.glob('meshes/*.stl')}
    for uri in uris:
        assert uri.startswith('package://c3p/c3p_description/meshes/')
        assert mesh_file(uri).stat().st_size < 200_000


def test_meshes_are_what_the_script_makes(tmp_path):
    script = runpy.run_path(str(ROOT / 'scripts/write_meshes.py'))
    trimesh = pytest.importorskip('trimesh', reason='pip install .[view]')
    for name, make in script['MESHES'].items():
        script['write_stl'](tmp_path / name, make())
        # sines differ in the last bit between processors
        made, kept = (trimesh.load_mesh(folder / name) for folder in (tmp_path, ROOM / 'meshes'))
        assert abs(made.triangles - kept.triangles).max() < 1e-6, f'{name}: run write_meshes.py'
        # closed, and seen from outside
        assert kept.is_watertight and kept.volume > 0, name


def test_file_is_found_in_a_prefix(tmp_path, monkeypatch):
    place = tmp_path / 'share/c3p/config/some.yaml'
    place.parent.mkdir(parents=True)
    place.write_text('')
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'/nowhere{os.pathsep}{tmp_path}')
    assert files.share_file('config/some.yaml') == place


def test_missing_files_and_foreign_packages_are_named():
    with pytest.raises(FileNotFoundError, match='AMENT_PREFIX_PATH'):
        files.share_file('c3p_description/no.yaml')
    for uri in ('package://other/mesh.stl', 'http://a/b.stl', 'file:///a/b.stl'):
        with pytest.raises(ModelError, match='not a file below'):
            mesh_file(uri)


def test_model_needs_neither_ros_nor_xacro():
    code = ('import sys, c3p_description.model; '
            'print([m for m in ("rclpy", "xacro", "mujoco") if m in sys.modules])')
    done = subprocess.run([sys.executable, '-c', code], cwd=ROOT, capture_output=True, text=True,
                          timeout=30)
    assert done.stdout.strip() == '[]', done.stderr
