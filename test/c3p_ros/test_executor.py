# SPDX-License-Identifier: Apache-2.0
"""How processes of the suite end: on signals, and when they cannot start."""

import itertools
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from rclpy.node import Node  # noqa: E402
from virtual_time import RealTime  # noqa: E402

from c3p_bringup.doctor import ros as doctor  # noqa: E402
from c3p_bringup.doctor.check import Level  # noqa: E402
from c3p_ros.executor import (  # noqa: E402
    SLOWER,
    UPDATE,
    make_executor,
    spin,
    why_without_events,
)

MODULES = {
    'sensed_kinematics': 'c3p_kinematics.sensed_kinematics_node',
    'position_controller': 'c3p_controller.position_controller_node',
    'velocity_controller': 'c3p_controller.velocity_controller_node',
    'inverse_dynamics': 'c3p_dynamics.inverse_dynamics_node',
    'simulation': 'c3p_simulation.simulation_node',
    'recorder': 'c3p_bags.recorder.recorder_node',
}

# a process that is still there after this time ignores the signal, s
ENDS_WITHIN = 60.0


def start(module, *arguments):
    return subprocess.Popen([sys.executable, '-m', module, *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=os.environ.copy())


@pytest.fixture
def processes():
    started = []
    yield started
    for process in started:
        process.kill()
        process.communicate()


def ended_after(process):
    """Return the exit code; fails when the process does not end in time."""
    try:
        process.wait(ENDS_WITHIN)
    except subprocess.TimeoutExpired:
        pytest.fail(f'{process.args} still runs {ENDS_WITHIN} s after the signal')
    return process.returncode


@pytest.mark.real_time
def test_every_node_ends_cleanly_on_a_signal(open_bench, processes, tmp_path):
    running, signals = {}, itertools.cycle([signal.SIGINT, signal.SIGTERM])
    for name, module in MODULES.items():
        extra = ['-p', f'bag:={tmp_path / "bag"}'] if name == 'recorder' else []
        running[name] = start(module, '--ros-args', '-r', '__ns:=/signals', *extra)
        processes.append(running[name])
    open_bench.wait_for(lambda: {f'signals/{name}' for name in MODULES} <= set(open_bench.health),
                        'diagnostics of every node')
    for name, process in running.items():
        process.send_signal(next(signals))
        assert ended_after(process) == 0, f'{name}: {process.communicate()}'
        assert 'Traceback' not in process.communicate()[1]


@pytest.mark.real_time
def test_the_robot_in_one_process_ends_cleanly_too(open_bench, processes):
    process = start('c3p_bringup.robot_nodes', '--sim', '--ros-args', '-r', '__ns:=/signals')
    processes.append(process)
    open_bench.wait_for(lambda: 'signals/simulation' in open_bench.health, 'diagnostics')
    process.send_signal(signal.SIGINT)
    assert ended_after(process) == 0
    assert 'Traceback' not in process.communicate()[1]


@pytest.mark.real_time
@pytest.mark.parametrize('name, parameter, words', [
    ('velocity_controller', 'linear_gain:=-3.0', 'linear_gain = -3.0'),
    ('velocity_controller', 'linaer_gain:=3.0', "unknown parameter 'linaer_gain'"),
    ('position_controller', 'path.stop_distance:=0.5', 'path.stop_distance = 0.5'),
    ('sensed_kinematics', 'robot:=no_such_robot', 'no_such_robot'),
    ('inverse_dynamics', 'acceleration_limit:=fast', "'fast': must be a double"),
    ('simulation', 'start_steering:=[0.1, 0.2]', 'start_steering has 2 values'),
    ('simulation', 'lockstep:=true', 'publish_clock'),
    ('simulation', '--params-file=no_such_file.yaml', 'no_such_file.yaml'),
])
def test_what_cannot_start_ends_with_code_1_and_one_clear_line(name, parameter, words):
    given = parameter.split('=') if parameter.startswith('--') else ['-p', parameter]
    process = start(MODULES[name], '--ros-args', *given)
    _, text = process.communicate(timeout=RealTime.patience)
    # rcl itself logs before it gives up
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith('[')]
    assert process.returncode == 1, text
    assert len(lines) == 1 and words in lines[0], text


def test_both_executors_deliver_and_an_unknown_one_is_refused():
    with pytest.raises(ValueError, match="'events' or 'single'"):
        make_executor('multi')
    for kind in ('events', 'single'):
        assert ticks_of(kind) >= 5


class Broken:
    """Finder of modules that fails for rclpy's executor with an error."""

    def __init__(self, error):
        self._error = error

    def find_spec(self, name, path=None, target=None):
        if name.startswith('rclpy.experimental'):
            raise self._error


@pytest.mark.parametrize('error', [
    ModuleNotFoundError("No module named 'rclpy.experimental'", name='rclpy.experimental'),
    ImportError('libevents.so: cannot open shared object file'),
    AttributeError("module 'rclpy._rclpy' has no attribute 'EventsExecutor'")])
def test_an_executor_that_is_not_installed_is_reported(error, monkeypatch, context):
    assert why_without_events() == ''
    for name in [name for name in sys.modules if name.startswith('rclpy.experimental')]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(rclpy, 'experimental', raising=False)
    monkeypatch.setattr(sys, 'meta_path', [Broken(error), *sys.meta_path])
    logged = []
    monkeypatch.setattr('c3p_ros.executor.get_logger', lambda name: SimpleNamespace(
        warning=logged.append))
    executor = make_executor('events')
    assert isinstance(executor, rclpy.executors.SingleThreadedExecutor)
    executor.shutdown()
    (text,) = logged
    assert f'has no EventsExecutor: {error}' in text and SLOWER in text and UPDATE in text
    # who chooses the slow one knows it
    make_executor('single').shutdown()
    assert len(logged) == 1
    check = doctor.executor()
    assert check.level is Level.WARN and SLOWER in check.text and check.remedy == UPDATE


def test_the_installed_executor_is_named_by_the_doctor():
    assert f'{doctor.executor()}'.split() == ['OK', 'executor', 'EventsExecutor']


@pytest.fixture
def context():
    """The default context of ROS, in which executors are made."""
    rclpy.init()
    yield
    rclpy.try_shutdown()


def ticks_of(kind):
    """Return how often an executor has called a timer until it was five times."""
    rclpy.init()
    try:
        executor, node, ticks = make_executor(kind), Node('ticker'), []
        executor.add_node(node)
        # a timer callback with a parameter receives a TimerInfo from Kilted on
        node.create_timer(0.005, lambda: ticks.append(time.monotonic()))
        spin(executor, lambda: len(ticks) >= 5, period=0.02)
        executor.shutdown()
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
    return len(ticks)
