# SPDX-License-Identifier: Apache-2.0
"""Session: nodes and signals from the start of a process to its clean end."""

import os
import signal
import threading

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

import rclpy  # noqa: E402
from rclpy.node import Node  # noqa: E402

from c3p_ros import session as module  # noqa: E402
from c3p_ros.session import Session, run  # noqa: E402


class Closing(Node):
    """Reports its end; `log` is shared by the nodes of a test."""

    log = []

    def __init__(self, name='closing', **options):
        super().__init__(name, **options)
        self.declare_parameter('speed', 0.0)

    def destroy_node(self):
        self.log.append((self.get_name(), self.context.ok()))
        super().destroy_node()


@pytest.fixture(autouse=True)
def log():
    Closing.log = []
    return Closing.log


@pytest.fixture
def callback(monkeypatch):
    """Replace spinning by calls of a function that the test sets; return the calls."""
    calls = []

    def spin(executor, until, period):
        while not until():
            calls[0]()
            calls.append(period)

    monkeypatch.setattr(module, 'spin', spin)
    return calls


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_the_callback_finish_and_interrupts_once(callback, number):
    before, finished = signal.getsignal(number), []

    def interrupted():
        os.kill(os.getpid(), number)
        finished.append(rclpy.ok())

    callback.append(interrupted)
    with Session() as session:
        with pytest.raises(KeyboardInterrupt):
            session.until(lambda: False)
        # the context is still valid in the callback
        assert finished == [True] and len(callback) == 2
        # the clean-up may spin again
        callback[0] = lambda: None
        session.wait(0.01)
    assert len(callback) > 2 and signal.getsignal(number) is before and not rclpy.ok()


def test_a_signal_before_the_first_spin_ends_the_start_at_once(log):
    with pytest.raises(KeyboardInterrupt):
        with Session() as session:
            session.add(Closing)
            os.kill(os.getpid(), signal.SIGINT)
            session.add(Closing, node_name='never')
    assert log == [('closing', True)] and not rclpy.ok()


def test_a_signal_whose_exception_was_discarded_ends_the_start_after_the_node(log):
    def compiling():
        # as in a callback of the kernel compiler, where Python prints the exception and goes on
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            pass
        return Closing()

    with pytest.raises(KeyboardInterrupt), Session() as session:
        session.add(compiling)
        pytest.fail('the start went on')
    # the node was created, so it is destroyed
    assert log == [('closing', True)]


def test_a_signal_during_the_end_does_not_cut_it(log):
    with Session() as session:
        session.add(Closing, name='first')
        session.add(Closing, name='second')
        session.at_end(lambda: os.kill(os.getpid(), signal.SIGINT))
    assert log == [('second', True), ('first', True)] and not rclpy.ok()


def test_nodes_have_their_parameters_and_the_namespace():
    with Session(namespace='robot1') as session:
        node = session.add(Closing, {'speed': 0.5})
        assert node.get_parameter('speed').value == 0.5
        assert node.get_fully_qualified_name() == '/robot1/closing'
        assert node.resolve_topic_name('/tf') == '/robot1/tf'


def test_arguments_that_ros_cannot_read_are_a_value_error():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match='no_such_file'):
        Session(['--ros-args', '--params-file', '/no_such_file.yaml']).__enter__()
    assert signal.getsignal(signal.SIGINT) is before and not rclpy.ok()


def test_it_spins_in_other_threads_without_taking_the_signals(callback):
    before = signal.getsignal(signal.SIGINT)
    callback.append(lambda: None)

    def three():
        with Session() as session:
            session.until(lambda: len(callback) > 3 and signal.getsignal(signal.SIGINT) is before)

    thread = threading.Thread(target=three)
    thread.start()
    thread.join(10.0)
    assert not thread.is_alive() and len(callback) == 4


def test_a_node_that_cannot_start_ends_the_process_with_one_line(capfd, log):
    def refused():
        raise ValueError('robot = 3: must be a name')

    assert run(Closing, refused, args=[]) == 1
    assert capfd.readouterr().err == 'robot = 3: must be a name\n'
    assert log == [('closing', True)] and not rclpy.ok()


def test_a_session_leaves_a_context_of_its_program_alone():
    rclpy.init()
    try:
        with pytest.raises(ValueError, match=r'initialised already .*: call rclpy\.shutdown'):
            with Session():
                pytest.fail('two owners of one context')
        assert rclpy.ok()
    finally:
        rclpy.try_shutdown()


def test_a_context_that_failed_half_way_does_not_stop_the_next_session(monkeypatch, log):
    """Without write permission rclpy has a context when it cannot begin its log file."""
    init = rclpy.init

    def fail(**options):
        init(**options)
        raise RuntimeError('Failed to configure logging')

    with monkeypatch.context() as patch:
        patch.setattr(rclpy, 'init', fail)
        with pytest.raises(ValueError, match='Failed to configure logging'):
            with Session():
                pytest.fail('without a log')
    assert not rclpy.ok()
    for name in ('first', 'second'):
        with Session() as session:
            session.add(Closing, name=name)
    assert log == [('first', True), ('second', True)]
