# SPDX-License-Identifier: Apache-2.0
"""Metadata of the package: package.xml, setup.py, CHANGELOG.rst and CITATION.cff agree."""

import ast
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from c3p_description.reading.how_to_install import DISTRIBUTION

ROOT = Path(__file__).resolve().parents[1]
ROOMS = sorted(path.parent for path in ROOT.glob('c3p*/__init__.py'))

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
