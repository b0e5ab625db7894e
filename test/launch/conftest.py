# SPDX-License-Identifier: Apache-2.0
"""An installation to launch from, and the nodes that a launch file would start."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from source_tree import python_path

ROOT = Path(__file__).resolve().parents[2]
STUB = Path(__file__).with_name('stub')

# last: an installed package comes first, and without one the launch files are read all the same
sys.path.append(str(STUB))

# runs one launch file as `ros2 launch` does, without needing ros2cli
LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource
path, *given = sys.argv[1:]
service = LaunchService(argv=given)
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(
    AnyLaunchDescriptionSource(path), launch_arguments=[a.split(':=', 1) for a in given])]))
sys.exit(service.run())
"""

# stands for programs that are not ours: says how it was called, then waits for Ctrl-C
STAND_IN = """#!/usr/bin/env python3
import signal, sys
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
print('stand-in', *sys.argv, flush=True)
signal.pause()
"""


def add_package(prefix, name, executable=''):
    """Make a package known to the ament index, with a stand-in for its program."""
    index = prefix / 'share/ament_index/resource_index/packages' / name
    index.parent.mkdir(parents=True, exist_ok=True)
    index.touch()
    if executable:
        program = prefix / 'lib' / name / executable
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(STAND_IN)
        program.chmod(0o755)


@pytest.fixture(scope='session')
def installed(tmp_path_factory, distribution):
    """Return a prefix with what setup.py installs besides the Python modules."""
    prefix = tmp_path_factory.mktemp('prefix')
    for folder, files in distribution.data_files:
        (prefix / folder).mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy(ROOT / file, prefix / folder)
    return prefix


@pytest.fixture
def prefix(installed, tmp_path_factory, monkeypatch):
    """Put the installation on the path of this process and of those that it starts."""
    # launch_ros leaves its parameter files behind
    scratch = str(tmp_path_factory.mktemp('scratch'))
    monkeypatch.setenv('TMPDIR', scratch)
    monkeypatch.setattr('tempfile.tempdir', scratch)
    monkeypatch.setenv('AMENT_PREFIX_PATH', os.pathsep.join(
        [str(installed), *filter(None, [os.environ.get('AMENT_PREFIX_PATH')])]))
    monkeypatch.setenv('PYTHONPATH', python_path(ROOT))
    # the scripts begin with `env python3`
    monkeypatch.setenv('PATH', os.pathsep.join(
        [str(Path(sys.executable).parent), os.environ['PATH']]))
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    hide_packages(tmp_path_factory.getbasetemp(), monkeypatch)
    return installed


def hide_packages(folder, monkeypatch):
    """Let launch files find packages below `folder` only, whatever else is installed."""
    pytest.importorskip('ament_index_python',
                        reason='needs ROS 2: pip install .[jazzy], or a sourced one')
    from c3p_bringup.launch_parts import actions
    real = actions.get_package_prefix

    def found(name):
        place = real(name)
        if not Path(place).is_relative_to(folder):
            raise actions.PackageNotFoundError(name)
        return place
    monkeypatch.setattr(actions, 'get_package_prefix', found)


@pytest.fixture
def others(tmp_path, prefix, monkeypatch):
    """Stand-ins for RViz, robot_state_publisher and the sliders."""
    for name in ('rviz2', 'robot_state_publisher', 'joint_state_publisher_gui'):
        add_package(tmp_path, name, name)
    monkeypatch.setenv('AMENT_PREFIX_PATH',
                       f'{tmp_path}{os.pathsep}{os.environ["AMENT_PREFIX_PATH"]}')


class Running:
    """A launch file that runs in a process of its own."""

    def __init__(self, file, *arguments):
        """Start it."""
        self.process = subprocess.Popen(
            [sys.executable, '-c', LAUNCH, str(ROOT / 'launch' / file), *arguments], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    def end(self, timeout=300.0):
        """Wait for the end; return exit code and output."""
        try:
            output = self.process.communicate(timeout=timeout)[0]
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)
        children = [int(pid) for pid in re.findall(r'started with pid \[(\d+)\]', output)]
        left = [pid for pid in children if Path(f'/proc/{pid}').exists()]
        assert not left, f'still running: {left}\n{output}'
        return self.process.returncode, output

    def interrupt(self):
        """Press Ctrl-C, as a terminal sends it; return exit code and output."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.end()


@pytest.fixture
def real_launch():
    """Skip a test that starts processes where `launch` is the stand-in of the tests."""
    import launch
    if Path(launch.__file__).is_relative_to(STUB):
        pytest.skip('needs launch and launch_ros, which come with a ROS 2 installation')


@pytest.fixture
def launch_file(prefix, real_launch):
    """Return a function that launches a file; what still runs at the end is stopped."""
    running = []

    def start(file, *arguments):
        running.append(Running(file, *arguments))
        return running[-1]
    yield start
    for one in running:
        if one.process.poll() is None:
            os.killpg(one.process.pid, signal.SIGKILL)
            one.process.wait()
