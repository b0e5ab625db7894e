# SPDX-License-Identifier: Apache-2.0
"""The tree as pip and colcon install it."""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import pytest
from source_tree import python_path

from c3p_description.reading.how_to_install import DISTRIBUTION

ROOT = Path(__file__).resolve().parents[1]
ROOMS = sorted(path.parent for path in ROOT.glob('c3p*/__init__.py'))

@pytest.fixture(scope='session')
def copied(tmp_path_factory):
    """Return a copy of the tree, for builds leave traces."""
    place = tmp_path_factory.mktemp('source') / 'c3p'
    shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(
        '.*', '__pycache__', 'build', 'install', 'log', 'out', '*.egg-info', '*.nbi', '*.nbc'))
    return place


@pytest.fixture(scope='session')
def pip_prefix(copied, tmp_path_factory):
    """Return the prefix into which pip has installed the package."""
    pytest.importorskip('setuptools', reason='pip install "setuptools<80" wheel')
    place = tmp_path_factory.mktemp('pip')
    done = subprocess.run(
        [sys.executable, '-m', 'pip', 'install', '--no-deps', '--no-build-isolation', '--quiet',
         '--ignore-installed', '--prefix', str(place), str(copied)],
        capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture(scope='session')
def colcon_prefix(copied, tmp_path_factory):
    """Return the prefix into which colcon has installed the package."""
    pytest.importorskip('colcon_core', reason='pip install colcon-common-extensions')
    pytest.importorskip('colcon_ros', reason='pip install colcon-common-extensions')
    place = tmp_path_factory.mktemp('workspace')
    shutil.copytree(copied, place / 'src/c3p')
    done = subprocess.run([sys.executable, '-m', 'colcon', 'build'], cwd=place, text=True,
                          capture_output=True, timeout=300, env=colcon_environment())
    assert done.returncode == 0, done.stdout + done.stderr
    return place / 'install/c3p'


def colcon_environment():
    """Return an environment in which colcon builds with this Python."""
    path = f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}'
    return {**os.environ, 'PATH': path, 'COLCON_LOG_PATH': os.devnull,
            'COLCON_DEFAULTS_FILE': os.devnull}


def test_the_wheel_of_the_source_archive_is_that_of_the_tree(copied, tmp_path):
    pytest.importorskip('wheel', reason='pip install "setuptools<80" wheel')
    tree = shutil.copytree(copied, tmp_path / 'tree')
    built(tree, 'sdist', 'bdist_wheel')
    archive, = tree.glob('dist/*.tar.gz')
    shutil.unpack_archive(archive, tmp_path / 'unpacked')
    unpacked, = (tmp_path / 'unpacked').iterdir()
    built(unpacked, 'bdist_wheel')
    contents = [set(zipfile.ZipFile(wheel).namelist())
                for place in (tree, unpacked) for wheel in place.glob('dist/*.whl')]
    assert len(contents) == 2 and contents[0] == contents[1]
    assert any(name.endswith('dist-info/LICENSE') or name.endswith('licenses/LICENSE')
               for name in contents[0])
    beside = {path.name for path in unpacked.iterdir()}
    assert {'LICENSE', 'AUTHORS', 'CHANGELOG.rst', 'SECURITY.md'} <= beside
    assert 'test' not in beside


def built(tree, *commands):
    """Run commands of setup.py in a copy of the tree."""
    done = subprocess.run([sys.executable, 'setup.py', '--quiet', *commands], cwd=tree, text=True,
                          capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.fixture(params=['pip_prefix', 'colcon_prefix'])
def prefix(request):
    return request.getfixturevalue(request.param)


def test_every_file_of_the_share_tree_is_installed(prefix):
    share = prefix / 'share/c3p'
    wanted = [ROOT / 'package.xml', *(ROOT / 'launch').glob('*.launch.py'),
              *(ROOT / 'config').rglob('*.yaml')]
    for room in ('robots', 'urdf', 'meshes', 'rviz'):
        wanted += [path for path in (ROOT / 'c3p_description' / room).iterdir()
                   if path.is_file() and path.suffix != '.py']
    assert len(wanted) > 15
    for path in wanted:
        assert (share / path.relative_to(ROOT)).is_file(), path
    assert (prefix / 'share/ament_index/resource_index/packages/c3p').is_file()


def test_every_mesh_of_the_description_is_installed(prefix):
    # the parameter file and the xacro of the installation, not of the tree
    xacro = pytest.importorskip('xacro', reason='pip install xacro')
    share = prefix / 'share/c3p'
    text = xacro.process_file(str(share / 'c3p_description/urdf/c3p.urdf.xacro')).toxml()
    uris = set(re.findall(r'filename="package://c3p/([^"]+)"', text))
    assert len(uris) >= 3
    for uri in uris:
        assert (share / uri).is_file(), uri


def test_every_program_is_where_ros2_run_looks(prefix, distribution):
    programs = prefix / 'lib/c3p'
    names = {path.name for path in (ROOT / 'scripts').iterdir()
             if path.is_file() and path.suffix == ''}
    assert names == {entry.split(' =')[0]
                     for entry in distribution.entry_points['console_scripts']}
    for name in names:
        assert os.access(programs / name, os.X_OK), name


def test_parameter_schemas_are_installed_beside_their_nodes(prefix):
    schemas = [path for room in ROOMS for path in room.rglob('*_parameters.yaml')]
    assert len(schemas) >= 6
    for path in schemas:
        assert list(prefix.glob(f'l*/**/{path.relative_to(ROOT)}')), path


def test_every_package_is_installed_with_the_marker_of_its_types(prefix):
    packages = {path.parent.name for path in ROOT.glob('c3p*/__init__.py')}
    assert len(packages) == 16
    assert {path.parent.name for path in prefix.glob('l*/**/py.typed')} >= packages


def test_program_of_the_installation_starts(pip_prefix):
    pytest.importorskip('rclpy', reason='pip install .[jazzy]')
    module = next(pip_prefix.glob('l*/**/c3p_ros')).parent
    done = subprocess.run(
        [sys.executable, str(pip_prefix / 'lib/c3p/robot_nodes'), '--help'], text=True,
        cwd=pip_prefix, env={**os.environ, 'PYTHONPATH': python_path(module)},
        capture_output=True, timeout=300)
    assert done.returncode == 0 and '--sim' in done.stdout, done.stderr


def test_scripts_call_the_function_of_their_entry_point(distribution):
    for entry in distribution.entry_points['console_scripts']:
        name, module, function = re.match(r'(\S+) = ([\w.]+):(\w+)', entry).groups()
        text = (ROOT / 'scripts' / name).read_text()
        assert text.startswith('#!/usr/bin/env python3\n# SPDX')
        assert f'from {module} import {function}\n' in text and function == name
        assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.real_time
def test_a_program_that_still_imports_ends_without_a_traceback():
    """As when Ctrl-C follows a launch at once."""
    pytest.importorskip('rclpy', reason='pip install .[jazzy]')
    program = subprocess.Popen(
        [sys.executable, '-X', 'importtime', str(ROOT / 'scripts/robot_nodes')],
        env={**os.environ, 'PYTHONPATH': python_path(ROOT)}, stderr=subprocess.PIPE, text=True)
    for line in program.stderr:
        if line.rstrip().endswith('numpy'):
            break
    program.send_signal(signal.SIGINT)
    left = program.stderr.read()
    assert program.wait(60) == 0 and 'Traceback' not in left, left


def test_the_command_is_on_the_path_of_a_workspace(colcon_prefix):
    if os.name != 'posix' or shutil.which('bash') is None:
        pytest.skip('needs bash')
    done = subprocess.run(
        ['bash', '-c', f'source {colcon_prefix.parent}/local_setup.bash && command -v c3p && '
         'cd / && c3p report --help'], capture_output=True, text=True, timeout=300,
        env=colcon_environment())
    assert done.stdout.startswith(f'{colcon_prefix}/bin/c3p\n'), done.stderr
    assert 'BAG' in done.stdout, done.stderr


def test_a_workspace_of_links_runs_from_the_sources_with_advice_for_a_workspace(
        copied, tmp_path):
    pytest.importorskip('colcon_ros', reason='pip install colcon-common-extensions')
    source = tmp_path / 'src/c3p'
    shutil.copytree(copied, source)
    built = subprocess.run([sys.executable, '-m', 'colcon', 'build', '--symlink-install'],
                           cwd=tmp_path, capture_output=True, text=True, timeout=300,
                           env=colcon_environment())
    assert built.returncode == 0, built.stderr
    assert (tmp_path / 'install/c3p/lib/c3p/robot_nodes').exists()
    script = ('import c3p_description.reading.how_to_install as h\n'
              'print(h.HERE.parent.resolve(), h.how_to_install("view"), h.how_to_install(), '
              'sep="\\n")')
    ran = subprocess.run(
        ['bash', '-c', f'source install/local_setup.bash && cd / && c3p --version && '
         f"python -c '{script}'"], cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env={**colcon_environment(), 'PYTHONPATH': ''})
    version, place, view, needed = ran.stdout.strip().splitlines()
    assert version == 'c3p 0.1.0' and Path(place) in (source, tmp_path / 'build/c3p')
    assert 'rerun-sdk>=' in view and f'{DISTRIBUTION}[' not in view and 'rosdep' in needed


def test_pip_keeps_its_own_script_of_the_command(pip_prefix):
    # that of data_files starts with the python of the shell, not with that of the installation
    script, = pip_prefix.rglob('bin/c3p')
    assert f'{sys.prefix}/bin' in script.read_text(encoding='utf-8').partition('\n')[0]


@pytest.mark.skipif(importlib.util.find_spec('colcon_core') is None,
                    reason='pip install colcon-common-extensions')
def test_colcon_test_runs_tests(colcon_prefix):
    workspace = colcon_prefix.parents[1]
    done = subprocess.run(
        [sys.executable, '-m', 'colcon', 'test', '--pytest-args', '-k', 'reading.files or se2',
         'test/test_examples.py'],
        cwd=workspace, capture_output=True, text=True, timeout=300, env=colcon_environment())
    assert done.returncode == 0, done.stdout + done.stderr
    suite = ET.parse(workspace / 'build/c3p/pytest.xml').getroot().find('testsuite')
    assert int(suite.get('tests')) > 0 and suite.get('failures') == suite.get('errors') == '0'


# nodes that need what only pip installs, which a Debian package may lack (docs/releasing.md)
NEED_PIP = {'canopen': {'hardware_interface', 'emulated_cards'},
            'rosbags': {'recorder', 'player', 'marker'}}


@pytest.mark.parametrize('missing', NEED_PIP)
def test_the_other_nodes_need_no_package_that_only_pip_installs(missing):
    pytest.importorskip('rclpy', reason='pip install .[jazzy]')
    script = f"""
        import sys
        sys.modules[{missing!r}] = None
        from importlib import import_module
        from c3p_bringup.nodes import NODES, module_of
        for name in NODES:
            try:
                import_module(module_of(name))
            except ModuleNotFoundError:
                print(name)
        """
    ran = subprocess.run([sys.executable, '-c', textwrap.dedent(script)], cwd=ROOT, text=True,
                         capture_output=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    assert set(ran.stdout.split()) == NEED_PIP[missing], ran.stderr
