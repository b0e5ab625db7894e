# SPDX-License-Identifier: Apache-2.0
"""Shared test set-up: its place puts this folder, with robots.py, on the path of every test."""

import fcntl
import gc
import importlib.util
import os
import socket
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# the first call of a kernel compiles it, which no deadline should count; the same examples in
# every run, so that what a change did is told from what nobody had tried before
settings.register_profile('suite', deadline=None, max_examples=10, derandomize=True)
settings.register_profile('explore', deadline=None, max_examples=500)
settings.load_profile('suite')

# kept open, and with it locked, until the test process ends
_domain_locks = []


def _free_domain():
    """
    Return a ROS domain that no other test process and no running node of this machine uses.

    It is one of those that people seldom choose: who starts a robot at the machine while the tests
    run would be heard by them.
    """
    for k in range(41):
        domain = 61 + (os.getpid() + k) % 41
        lock = open(Path(tempfile.gettempdir()) / f'c3p_test_domain_{domain}.lock', 'w')
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                # where DDS puts the first participant of a domain
                probe.bind(('', 7410 + 250 * domain))
        except OSError:
            lock.close()
            continue
        _domain_locks.append(lock)
        return domain
    raise RuntimeError('no free ROS domain from 61 to 101')


def pytest_configure():
    """Keep the tests' topics on this machine and away from every other robot and test run."""
    # modules and tests live until the end: to search them for garbage takes a fifth of collection
    gc.disable()
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    os.environ['ROS_DOMAIN_ID'] = str(_free_domain())
    # test/c3p_viewers, on the path for its own modules, has folders of these names: without the
    # package they would be imported in its place, as if it were installed
    for name in ('mujoco', 'rerun', 'foxglove'):
        found = importlib.util.find_spec(name)
        # a folder alone has no file of its own
        if found is None or found.origin is None:
            sys.modules[name] = None


def pytest_collection_finish():
    """Collect garbage of what the tests make, not among all that was collected."""
    gc.freeze()
    gc.enable()


def pytest_runtest_teardown(item, nextitem):
    """Search what a file leaves behind for garbage once, not again with every later file."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


def pytest_ignore_collect(collection_path, config):
    """Leave files without tests in real time unread when only those are wanted."""
    if collection_path.suffix == '.py' and config.option.markexpr == 'real_time':
        return 'mark.real_time' not in collection_path.read_text(encoding='utf-8') or None
    return None


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makemodule(module_path, parent):
    """Collect a module that skips itself, whoever has looked into it before."""
    try:
        return (yield)
    except pytest.skip.Exception:
        # launch_testing, which a ROS 2 installation loads, imports every module to see whether it
        # is a launch test; a skip at that time would skip the folder with all that is in it
        return pytest.Module.from_parent(parent, path=module_path)


@pytest.fixture(scope='module')
def studio():
    """A studio for small pictures of the C3P."""
    from c3p_viewers.mujoco.pictures import CasterStudio
    from c3p_viewers.screen import PictureError

    try:
        with CasterStudio('c3p', (320, 180)) as opened:
            yield opened
    except PictureError as error:
        pytest.skip(f'no OpenGL here: {error}')


@pytest.fixture
def virtual_time():
    """A virtual clock in the place of the real one (virtual_time.VirtualTime)."""
    from virtual_time import VirtualTime

    with VirtualTime().installed() as clock:
        yield clock


@pytest.fixture
def bench():
    """Nodes of the suite in this process, with a node that talks to them (ros_bench.Bench)."""
    pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
    from ros_bench import Bench

    bench = Bench()
    yield bench
    bench.close()


@pytest.fixture
def open_bench():
    """A bench on the real clock, to which other processes, sockets and terminals talk."""
    pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
    from ros_bench import Bench
    from virtual_time import RealTime

    bench = Bench(RealTime())
    yield bench
    bench.close()


@pytest.fixture
def in_process_robot(bench):
    """The whole robot, simulation included, running in this process; unlocked and at rest."""
    bench.add_robot()
    bench.wait_until_unlocked()
    return bench


@pytest.fixture(scope='session')
def distribution():
    """Return what setup.py hands to setuptools."""
    from setuptools import Distribution  # noqa: F401, brings distutils along
    core = pytest.importorskip('distutils.core', reason='pip install setuptools')
    before = Path.cwd()
    os.chdir(Path(__file__).resolve().parents[1])
    try:
        return core.run_setup('setup.py', stop_after='init')
    finally:
        os.chdir(before)
