# SPDX-License-Identifier: Apache-2.0
"""ROS session of a process: context, executor, nodes and signals, from start to clean end."""

from __future__ import annotations

import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any, TypeVar

import rclpy
from rclpy.logging import LoggingSeverity, get_logger, set_logger_level
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions

from c3p_ros.exchange import Exchange
from c3p_ros.executor import make_executor, spin, steady_process
from c3p_ros.log_files import WITHOUT_FILES, why_without
from c3p_ros.real_time import RealTime, apply
from c3p_ros.usage import usage, wants_help

SIGNALS = (signal.SIGINT, signal.SIGTERM)
# topics of tf2 that follow the namespace of a robot
FRAME_REMAPPINGS = ('--ros-args', '-r', '/tf:=tf', '-r', '/tf_static:=tf_static')

# where in its sources rcl raised an error
OF_SOURCES = re.compile(r',? at /[^ ,]+\.c(pp)?:\d+')

AnyNode = TypeVar('AnyNode', bound=Node)


@contextmanager
def logged_warnings() -> Iterator[None]:
    """Log warnings of libraries, such as of kernels that are compiled again, in one line each."""
    def log(message: Warning | str, *_: Any, **__: Any) -> None:
        get_logger('c3p').warning(' '.join(f'{message}'.split()))

    before = warnings.showwarning
    warnings.showwarning = log
    try:
        yield
    finally:
        warnings.showwarning = before


class Session:
    """
    Context manager that initialises rclpy, spins nodes in this thread and ends all in order.

    It takes SIGINT and SIGTERM, because rclpy's handlers invalidate the context at once and raise
    in the middle of a callback. Before the first spin a signal raises KeyboardInterrupt at once.
    Later the callback in progress finishes first; then `until` and `wait` raise, so that nodes can
    still publish and a bag can be closed. A second signal does not cut the clean-up.

    Parameters
    ----------
    args : sequence of str, optional
        Command line for ``rclpy.init``; None is ``sys.argv``.
    namespace : str
        Namespace of every node.
    remap_frames : bool
        Whether ``/tf`` and ``/tf_static`` are remapped into the namespace.
    executor : str
        As for `make_executor`.

    Raises
    ------
    ValueError
        ROS cannot read the arguments or a parameter file, or is initialised already; raised on
        entering.

    Examples
    --------
    >>> with Session() as session:
    ...     node = session.add(rclpy.create_node, node_name='listener')
    ...     session.wait(0.01)
    """

    def __init__(self, args: Sequence[str] | None = (), namespace: str = '',
                 remap_frames: bool = True, executor: str = 'events') -> None:
        """Store the arguments; nothing starts before the context is entered."""
        self._namespace = namespace
        args = sys.argv if args is None else args
        self._args = [*args, *(FRAME_REMAPPINGS if namespace and remap_frames else ())]
        self._stack, self._nodes = ExitStack(), ExitStack()
        self._spun = False
        self._interrupted = False
        self._early = False
        self._exchange = Exchange()
        self._kind = executor

    def __enter__(self) -> Session:
        """Initialise rclpy, create the executor and take the signals."""
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def _start(self) -> None:
        # only the main thread may set handlers
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                before = signal.signal(number, self._on_signal)
                self._stack.callback(signal.signal, number, before)
        if rclpy.ok():
            raise ValueError('rclpy is initialised already in this process: call '
                             'rclpy.shutdown() before a session')
        # before: rclpy keeps a context whose initialisation failed half-way, and refuses the next
        self._stack.callback(rclpy.try_shutdown)
        # the error has the text of the log, without places in the sources of rcl
        set_logger_level('rcl', LoggingSeverity.FATAL)
        try:
            without = why_without()
            rclpy.init(args=[*self._args, *(WITHOUT_FILES if without else ())],
                       signal_handler_options=SignalHandlerOptions.NO)
        except RuntimeError as error:
            raise ValueError(OF_SOURCES.sub('', ' '.join(f'{error}'.split()))) from error
        finally:
            set_logger_level('rcl', LoggingSeverity.UNSET)
        self._stack.enter_context(logged_warnings())
        if without:
            get_logger('c3p').warning(without)
        self._stack.callback(self._nodes.close)
        self.executor = make_executor(self._kind)
        # first of all, so that no callback runs in a node that is being destroyed
        self._stack.callback(self.executor.shutdown, timeout_sec=1.0)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """End the executor, destroy the nodes, end the context, return the signals."""
        self._spun = True
        self._stack.close()

    def add(self, factory: Callable[..., AnyNode], values: Mapping[str, Any] | None = None,
            **options: Any) -> AnyNode:
        """
        Create a node and spin it with the others; it is destroyed at the end of the session.

        Parameters
        ----------
        factory : callable
            Class of the node.
        values : mapping, optional
            Parameter overrides.
        **options
            Passed to `factory`.

        Raises
        ------
        KeyboardInterrupt
            A signal during `factory`, also where the exception of its handler was discarded.
        """
        if values:
            options['parameter_overrides'] = [
                Parameter(name, value=value) for name, value in values.items()]
        if self._namespace:
            options['namespace'] = self._namespace
        node = factory(**options)
        self.at_end(node.destroy_node)
        if self._early:
            self._early = False
            raise KeyboardInterrupt
        # nodes of others have no listeners
        if join := getattr(node, 'join', None):
            join(self._exchange)
        self.executor.add_node(node)
        return node

    def at_end(self, action: Callable[[], Any]) -> None:
        """Run `action` at the end of the session: before the nodes that were added earlier."""
        self._nodes.callback(action)

    def until(self, condition: Callable[[], bool], period: float = 0.05) -> None:
        """
        Spin until `condition` holds, evaluated every `period` seconds.

        Raises
        ------
        KeyboardInterrupt
            SIGINT or SIGTERM; once for each signal, so that the clean-up may spin again.
        """
        self._spun = True
        with self._exchange.spun(self.executor):
            spin(self.executor, lambda: self._interrupted or condition(), period=period)
        if self._interrupted:
            self._interrupted = False
            raise KeyboardInterrupt

    def wait(self, seconds: float, period: float = 0.05) -> None:
        """Spin for `seconds`; raises as `until`."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() >= end, period=period)

    def _on_signal(self, *_: Any) -> None:
        self._interrupted = self._spun
        if not self._spun:
            # callbacks of the kernel compiler discard it: `add` raises it again
            self._early = True
            raise KeyboardInterrupt


def run(*factories: Callable[[], Node], args: Sequence[str] | None = None,
        real_time: RealTime | None = None, until: Callable[[], bool] = lambda: False) -> int:
    """
    Run nodes in this process until SIGINT, SIGTERM or `until`; return the exit code.

    A node that cannot start (bad parameter or file, unknown robot), or an option of `real_time`
    that is not permitted, ends the process with its one-line reason and code 1, so that a launch
    file or a service manager reports it. ``--help`` in `args` prints the `usage` of the first node
    and starts nothing.

    Parameters
    ----------
    *factories : callable
        Each makes a node.
    args : sequence of str, optional
        Command line for ``rclpy.init``; None is ``sys.argv``.
    real_time : RealTime, optional
        Holds from the start of the last node.
    until : callable
        True at the end; evaluated in this thread, five times a second. A node or its thread must
        not shut ROS down: from Kilted on that destroys the nodes in the calling thread.
    """
    if wants_help(args):
        print(usage(factories[0]))
        return 0
    starting = True
    try:
        with Session(args) as session:
            for factory in factories:
                session.add(factory)
            steady_process()
            # not before: start-up at high priority would stop the rest of the robot
            apply(real_time or RealTime())
            starting = False
            session.until(until, period=0.2)
    except KeyboardInterrupt:
        pass
    except ValueError as error:
        if not starting:  # a fault of the program: its traceback is needed
            raise
        print(f'{error}', file=sys.stderr)
        return 1
    return 0
