# SPDX-License-Identifier: Apache-2.0
"""One tree, two builds: ``pip install .[jazzy]`` and ``colcon build`` (docs/architecture.md)."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from setuptools import find_packages, setup

# of ROS: package.xml, `ros2 run`, share and lib folders. On the Python package index that name is
# of a project of other authors, so that the distribution has one of its own
PACKAGE = 'c3p'
DISTRIBUTION = 'c3p-robots'
# address of the public repository, without a slash at its end; empty until there is one. The page
# of the package index and the links of the metadata lead there (docs/releasing.md)
REPOSITORY = ''
# c3p_bringup/programs.py
PROGRAMS = (
    'sensed_kinematics_node',
    'inverse_dynamics_node',
    'velocity_controller_node',
    'position_controller_node',
    'module_controller_node',
    'twist_mux_node',
    'simulation_node',
    'rough_ground_node',
    'emulated_cards_node',
    'marker_node',
    'recorder_node',
    'player_node',
    'safety_monitor_node',
    'ros2_control_bridge_node',
    'hardware_interface_node',
    'robot_nodes',
    'c3p',
)

# c3p_controller/__init__.py, for tools that list entry points; the suite reads that file
LAWS = {
    'paper': 'c3p_controller.paper.velocity:PaperLaw',
    'mpc': 'c3p_controller.predictive.controller:PredictiveController',
    'modules': 'c3p_controller.module_law:ModuleLaw',
}

# tested; scripts/environment.sh, `c3p doctor` and the jobs of CI have the same
PYTHONS = ('3.10', '3.11', '3.12', '3.13', '3.14')

# the versions of the two distributions whose wheels are on the package registry; the meta-packages
# pin nothing, so the distribution's own rclpy decides which message packages fit
MESSAGES = ('builtin-interfaces', 'diagnostic-msgs', 'geometry-msgs', 'lifecycle-msgs',
            'nav-msgs', 'rcl-interfaces', 'rosgraph-msgs', 'sensor-msgs', 'std-msgs', 'std-srvs',
            'trajectory-msgs', 'visualization-msgs')
VERSIONS = {
    'jazzy': {'rclpy[fastrtps]': '7.1.6', 'common': '5.3.6', 'interfaces': '2.0.3'},
    'kilted': {'rclpy[fastrtps]': '9.1.2', 'common': '5.5.1', 'interfaces': '2.3.0'},
}
CORE_INTERFACES = ('builtin-interfaces', 'lifecycle-msgs', 'rcl-interfaces', 'rosgraph-msgs')


def distribution(name: str) -> list[str]:
    """Return the wheels of a distribution, for an extra: an installed ROS 2 is never shadowed."""
    pins = VERSIONS[name]
    wheels = [f'ros-rclpy[fastrtps]=={pins["rclpy[fastrtps]"]}']
    for message in MESSAGES:
        version = pins['interfaces' if message in CORE_INTERFACES else 'common']
        wheels.append(f'ros-{message}=={version}')
    return wheels + ['xacro>=2']


def tree(source: str, target: str | None = None) -> list[tuple[str, list[str]]]:
    """Return data_files entries that keep the folders below `source`."""
    entries = []
    for folder, subfolders, files in os.walk(source):
        subfolders[:] = sorted(s for s in subfolders if s != '__pycache__')
        wanted = [os.path.join(folder, f) for f in sorted(files) if not f.endswith(('.py', '.pyc'))
                  or source == 'launch']
        if wanted:
            place = os.path.relpath(folder, source)
            entries.append((os.path.normpath(os.path.join(target or source, place)), wanted))
    return entries


def for_index(text: str, repository: str = REPOSITORY) -> str:
    """
    Return README.md as a package index shows it, where no files are beside it.

    Links to files lead to the repository. Without its address they are text, and pictures their
    description.
    """
    def changed(found: re.Match[str]) -> str:
        picture, label, target = found.groups()
        if target.startswith(('https:', 'http:', 'mailto:', '#')):
            return found.group()
        if repository:
            return f'{picture}[{label}]({repository}/{"raw" if picture else "blob"}/main/{target})'
        return f'*[{label}]*' if picture else label

    return re.sub(r'(!?)\[([^\]]*)\]\(([^)\s]+)\)', changed, text)


def project_urls(repository: str = REPOSITORY) -> dict[str, str]:
    """Return the links of the metadata; none without a public repository."""
    if not repository:
        return {}
    return {'Source': repository,
            'Issues': f'{repository}/issues',
            'Documentation': f'{repository}/tree/main/docs',
            'Changelog': f'{repository}/blob/main/CHANGELOG.rst'}


share = f'share/{PACKAGE}'
data_files = [
    ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
    (share, ['package.xml']),
    # `ros2 run` and launch look here; pip puts its own scripts into bin/
    (f'lib/{PACKAGE}', [f'scripts/{node}' for node in sorted(PROGRAMS)]),
]
# colcon and a Debian package install console scripts below lib/ (setup.cfg), which is not on PATH
if not any(command.endswith('wheel') for command in sys.argv):
    data_files.append(('bin', ['scripts/c3p']))
for room in ('launch', 'config'):
    data_files += tree(room, f'{share}/{room}')
# mesh URIs are package://c3p/c3p_description/..., so the installed tree repeats that folder
for room in ('robots', 'vehicles', 'terrains', 'urdf', 'meshes', 'rviz', 'worlds'):
    data_files += tree(f'c3p_description/{room}', f'{share}/c3p_description/{room}')

# the simulation needs the core of MuJoCo alone; pictures and its window need what draws, too. For
# Python 3.10 there is the undivided package only. 4.0.0 solves sparse systems wrongly
undivided = 'mujoco>=3.10,!=4.0.0; python_version < "3.11"'
sim = ['mujoco-core>=4.0.1; python_version >= "3.11"', undivided, 'xacro>=2']
drawing = ['mujoco-core[rendering]>=4.0.1; python_version >= "3.11"', undivided]
film = [*drawing, 'imageio[ffmpeg]>=2.31']
view = [*drawing, 'trimesh>=4', 'pycollada>=0.8', 'rerun-sdk>=0.33', 'foxglove-sdk>=0.25']
hardware = ['canopen>=2.3', 'python-can>=4.3', 'pyserial>=3.5']
campaign = ['dask[distributed]>=2023.12.1', 'pandas>=2.1', 'pyarrow>=14', 'cma>=3.3']
docs = ['sphinx>=8.1', 'furo>=2024.8.6', 'myst-parser>=4', 'sphinx-copybutton>=0.5.2']
test = ['pytest>=8.2,<9', 'pytest-timeout>=2.2', 'pytest-xdist>=3.5', 'hypothesis>=6.98',
        'coverage>=7.10', 'sympy>=1.12', 'transforms3d>=0.4.2', 'pin>=3', 'casadi>=3.6', *drawing,
        'yourdfpy>=0.0.56', 'ruff>=0.15',
        'mypy>=1.13', 'types-PyYAML>=6',
        'websockets>=15', 'setuptools>=64,<80', 'wheel>=0.42',
        'colcon-common-extensions>=0.3', *docs]

setup(
    name=DISTRIBUTION,
    version='0.1.0',
    description='Kinematics, odometry, dynamics and control of passively steered caster robots',
    # colcon build --symlink-install runs a link to this file
    long_description=for_index(
        Path(__file__).resolve().with_name('README.md').read_text(encoding='utf-8')),
    long_description_content_type='text/markdown',
    author='The C3P authors',
    author_email='c3p@example.org',
    maintainer='The C3P authors',
    maintainer_email='c3p@example.org',
    license='Apache-2.0',
    license_files=['LICENSE', 'AUTHORS'],
    url=REPOSITORY or None,
    project_urls=project_urls(),
    keywords=['ROS 2', 'mobile robot', 'caster', 'holonomic', 'odometry', 'closed-chain dynamics',
              'model-predictive control', 'traction control', 'CANopen', 'simulation'],
    classifiers=[
        'Development Status :: 4 - Beta',
        'Intended Audience :: Developers',
        'Intended Audience :: Science/Research',
        'License :: OSI Approved :: Apache Software License',
        'Natural Language :: English',
        'Operating System :: POSIX :: Linux',
        'Programming Language :: Python :: 3',
        *(f'Programming Language :: Python :: {version}' for version in PYTHONS),
        'Programming Language :: Python :: 3 :: Only',
        'Topic :: Scientific/Engineering',
        'Topic :: Scientific/Engineering :: Physics',
        'Topic :: Software Development :: Libraries :: Python Modules',
        'Typing :: Typed',
    ],
    packages=find_packages(include=['c3p', 'c3p_*', 'c3p_*.*']),
    package_data={
        '': ['*.yaml', '*.css', '*.js', '*.html', '*.LICENSE', 'py.typed'],
        'c3p_hardware': ['eds/*.eds'],
        'c3p_description': ['robots/*.yaml', 'vehicles/*.yaml', 'terrains/*', 'urdf/*',
                            'meshes/*.stl', 'rviz/*',
                            'worlds/*.sdf', 'worlds/*/*'],
    },
    data_files=data_files,
    python_requires=f'>={PYTHONS[0]}',
    # Numba: the range of c3p_kernels/compiled.py, which uses parts that are not public
    install_requires=['setuptools>=64', 'numpy>=1.26', 'scipy>=1.11', 'numba>=0.58.1,<0.69',
                      'PyYAML>=6', 'matplotlib>=3.6', 'tqdm>=4.60', 'rosbags>=0.11.7',
                      'tornado>=6.1'],
    extras_require={
        'jazzy': distribution('jazzy'),
        'kilted': distribution('kilted'),
        'sim': sim,
        'film': sim + film,
        'hardware': hardware,
        'view': view,
        'campaign': campaign,
        'docs': docs,
        'test': test,
        'all': distribution('jazzy') + sim + film + view + campaign + hardware,
    },
    entry_points={
        'console_scripts': [f'{name} = {PACKAGE}_bringup.programs:{name}' for name in PROGRAMS],
        'c3p.controllers': [f'{name} = {law}' for name, law in LAWS.items()]},
    zip_safe=False,
)
