# SPDX-License-Identifier: Apache-2.0
"""The tree as pip and colcon install it, and the metadata of both."""

import ast
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
import yaml
from source_tree import python_path

from c3p_description.reading.how_to_install import DISTRIBUTION

ROOT = Path(__file__).resolve().parents[1]
ROOMS = sorted(path.parent for path in ROOT.glob('c3p_*/__init__.py'))

# import name → keys of package.xml that bring it
PROVIDED = {
    'numpy': 'python3-numpy', 'scipy': 'python3-scipy', 'numba': 'python3-numba',
    'yaml': 'python3-yaml', 'matplotlib': 'python3-matplotlib',
    'mpl_toolkits': 'python3-matplotlib', 'tqdm': 'python3-tqdm', 'tornado': 'python3-tornado',
    'rosbags': 'python3-rosbags-pip', 'tf2_ros': 'tf2_ros', 'can': 'python3-can',
    'canopen': 'canopen-pip', 'serial': 'python3-serial',
    # what rosbags itself undoes compressions with
    'lz4': 'python3-rosbags-pip', 'backports': 'python3-rosbags-pip',
    'compression': 'python3-rosbags-pip',
}

# imported only where installed; extras of setup.py bring them
OPTIONAL = {'mujoco', 'rerun', 'foxglove', 'yourdfpy', 'trimesh',
            'pinocchio', 'casadi', 'cv2', 'PIL', 'mcap', 'imageio', 'dask', 'setuptools',
            'llvmlite', 'pandas', 'pyarrow', 'cma', 'nav2_msgs',
            # of ros2cli, for completion
            'argcomplete'}


# started by ros2_control.launch.py alone, which names what is missing; nobody else needs Gazebo
CHOSEN = {'controller_manager', 'ros_gz_sim', 'ros_gz_bridge'}


# keys of rosdep (rosdep/python.yaml of ros/rosdistro) and packages released in Jazzy, Kilted and
# Lyrical (their distribution.yaml), looked up there; package.xml has no others
ROSDEP = {
    'canopen-pip', 'python3-can', 'python3-hypothesis', 'python3-matplotlib', 'python3-numba',
    'python3-numpy', 'python3-pil', 'python3-pytest', 'python3-pytest-timeout',
    'python3-rosbags-pip', 'python3-scipy', 'python3-serial', 'python3-sympy',
    'python3-tornado', 'python3-tqdm',
    'python3-yaml'}
RELEASED = {
    'action_msgs', 'ament_index_python', 'builtin_interfaces', 'control_msgs', 'diagnostic_msgs',
    'geometry_msgs', 'joint_state_publisher_gui', 'launch', 'launch_ros', 'launch_testing',
    'lifecycle_msgs', 'nav_msgs', 'rcl_interfaces', 'rclpy', 'robot_state_publisher',
    'ros2launch', 'rosgraph_msgs', 'rviz2', 'sensor_msgs', 'std_msgs', 'std_srvs', 'tf2_msgs',
    'tf2_ros', 'tf_transformations', 'trajectory_msgs', 'visualization_msgs', 'xacro'}

# import name → test dependency that brings it
FOR_TESTS = {'pytest': 'python3-pytest', 'hypothesis': 'python3-hypothesis',
             'sympy': 'python3-sympy', 'PIL': 'python3-pil',
             # SymPy requires it
             'mpmath': 'python3-sympy',
             # tf_transformations does
             'transforms3d': 'tf_transformations'}


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
    packages = {path.parent.name for path in ROOT.glob('c3p_*/__init__.py')}
    assert len(packages) == 11
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


def imports(path):
    """Yield the top-level modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split('.')[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split('.')[0]


@pytest.fixture(scope='module')
def manifest():
    return ET.parse(ROOT / 'package.xml').getroot()


def test_manifest_names_what_the_code_imports(manifest):
    declared = {element.text for element in manifest if element.tag.endswith('depend')}
    files = [path for room in ROOMS for path in room.rglob('*.py')] + list(
        (ROOT / 'launch').glob('*.py'))
    used = {name for path in files for name in imports(path)}
    used -= set(sys.stdlib_module_names) | OPTIONAL | {room.name for room in ROOMS}
    missing = {name for name in used if PROVIDED.get(name, name) not in declared}
    assert not missing, f'add an exec_depend, or a row in this test: {sorted(missing)}'


def test_dependencies_are_keys_of_rosdep(manifest):
    declared = [element.text for element in manifest if element.tag.endswith('depend')]
    assert not set(declared) - ROSDEP - RELEASED, 'look the key up in ros/rosdistro, add it here'
    assert sorted(set(declared)) == sorted(declared)


def test_tests_collect_with_the_declared_dependencies_alone(manifest):
    declared = {element.text for element in manifest if element.tag.endswith('depend')}
    # modules of the tests' own folders, which conftest.py and pytest put on the path
    own = {path.stem for folder in ('test', 'scripts', 'docs')
           for path in ROOT.glob(f'{folder}/**/*.py')}
    own |= {room.name for room in ROOMS}
    for path in sorted((ROOT / 'test').rglob('*.py')):
        text = path.read_text(encoding='utf-8')
        named = set(re.findall(r"importorskip\(\s*'(\w+)", text))
        used = {name.split('.')[0] for name in at_import(path)}
        used -= set(sys.stdlib_module_names) | own | named
        missing = {name for name in used
                   if {**PROVIDED, **FOR_TESTS}.get(name, name) not in declared}
        assert not missing, (f'{path.relative_to(ROOT)}: pytest.importorskip, or a test_depend: '
                             f'{sorted(missing)}')


def at_import(path):
    """Yield the modules that a file imports while it is imported, except optional ones."""
    for node in ast.parse(path.read_text(encoding='utf-8')).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_strict_markers_and_options_of_plugins_have_their_plugin(manifest):
    # `timeout` of pyproject.toml, and the marker, come with pytest-timeout
    declared = {element.text for element in manifest.findall('test_depend')}
    assert {'python3-pytest', 'python3-pytest-timeout'} <= declared


def test_bloom_reads_changelog_and_licence():
    changelog = pytest.importorskip('catkin_pkg.changelog', reason='pip install catkin_pkg')
    pytest.importorskip('docutils', reason='pip install docutils')
    text = (ROOT / 'CHANGELOG.rst').read_text(encoding='utf-8')
    assert '\nForthcoming\n-----------\n' in text
    # as catkin_prepare_release heads the section
    title = '0.1.0 (2026-01-01)'
    released = text.replace('Forthcoming\n-----------\n', f'{title}\n{"-" * len(title)}\n')
    found = changelog.populate_changelog_from_rst(changelog.Changelog('c3p'), released)
    (version, _, content), = found.foreach_version()
    assert version == '0.1.0' and len(content[0].bullets) == text.count('\n* ')
    assert 'Apache License' in (ROOT / 'LICENSE').read_text(encoding='utf-8')


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


def test_manifest_is_format_3_and_agrees_with_setup(manifest, distribution):
    setup = distribution.metadata
    assert manifest.tag == 'package' and manifest.get('format') == '3'
    assert manifest.findtext('name') == 'c3p' and setup.name == DISTRIBUTION
    assert manifest.findtext('version') == setup.version
    citation = yaml.safe_load((ROOT / 'CITATION.cff').read_text(encoding='utf-8'))
    assert str(citation['version']) == setup.version
    assert manifest.findtext('license') == setup.license == 'Apache-2.0'
    assert manifest.find('maintainer').get('email') == setup.maintainer_email
    assert manifest.findtext('maintainer') == setup.maintainer
    assert setup.long_description.startswith('# c3p: ')
    assert setup.long_description_content_type == 'text/markdown'
    assert 'Typing :: Typed' in setup.classifiers
    assert manifest.findtext('export/build_type') == 'ament_python'
    # launch files start these
    text = ''.join(p.read_text() for p in [*(ROOT / 'launch').glob('*.py'),
                                           ROOT / 'c3p_bringup/launch_parts/actions.py'])
    started = set(re.findall(r"package='(\w+)'", text)) - {'c3p'} - CHOSEN
    assert started and started <= {e.text for e in manifest.findall('exec_depend')}


def test_catkin_pkg_accepts_the_manifest():
    package = pytest.importorskip('catkin_pkg.package', reason='pip install catkin_pkg')
    assert package.parse_package(str(ROOT / 'package.xml')).get_build_type() == 'ament_python'


def test_ros_wheels_stay_in_extras(distribution):
    # as requirements they would shadow the rclpy of a ROS 2 installation
    setup = distribution
    assert not [name for name in setup.install_requires if name.startswith('ros-')]
    for name in ('jazzy', 'kilted', 'test'):
        assert setup.extras_require[name]


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


# functions that NumPy has since 2.0 to 2.2; setup.py and Ubuntu 24.04 allow 1.26
OF_NUMPY_2 = r'np\.(trapezoid|concat|astype|permute_dims|matrix_transpose|vecdot|unstack|' \
    r'cumulative_sum|cumulative_prod|unique_\w+|bitwise_count|pow|acos|asin|atan2?|acosh|asinh|' \
    r'atanh|isdtype|matvec|vecmat)\('


def test_numpy_is_used_as_its_oldest_version_has_it(distribution):
    assert 'numpy>=1.26' in distribution.install_requires
    sources = [path for room in ROOMS for path in room.rglob('*.py')]
    newer = [f'{path.relative_to(ROOT)}: {found[0]}' for path in sources
             for found in re.finditer(OF_NUMPY_2, path.read_text(encoding='utf-8'))]
    assert not newer, '\n'.join(newer)
