# SPDX-License-Identifier: Apache-2.0
"""Processes that are told what to do by one line of JSON after the other, and answer by one."""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, TextIO

# the first answer waits for imports and compiled kernels, s
START_WITHIN, ANSWER_WITHIN = 120.0, 30.0
# nice value of the processes
PRIORITY = -15
# how long a thread may keep the interpreter from another, s
SWITCH_INTERVAL = 5e-4


class TrialError(RuntimeError):
    """A process of a trial that ended, or did not answer."""


class TrialProcess:
    """
    ``python -m module`` that answers requests; use as a context.

    Parameters
    ----------
    module : str
        Its main program calls `serve`.

    Attributes
    ----------
    pid : int
    """

    def __init__(self, module: str) -> None:
        """Start it in a session of its own; `ask` waits until it is ready."""
        self.module, self._ready = module, False
        self._process = subprocess.Popen(
            [sys.executable, '-m', module], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            start_new_session=True, text=True, bufsize=1, env=os.environ.copy())
        self.pid = self._process.pid

    def __enter__(self) -> TrialProcess:
        """Nothing more to do."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """End it."""
        self.end()

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """
        Send a request and return the answer.

        Parameters
        ----------
        do : str
            Name of the request.
        **arguments
            Of the request.

        Raises
        ------
        TrialError
            No answer in time, the process has ended, or it could not do it.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({'do': do, **arguments}) + '\n')
            self._process.stdin.flush()
        except OSError as error:
            raise TrialError(f'{self.module} has ended: {error}') from error
        patience = ANSWER_WITHIN if self._ready else START_WITHIN
        if not select.select([self._process.stdout], [], [], patience)[0]:
            raise TrialError(f'{self.module} does not answer to {do!r} within {patience:.0f} s')
        line = self._process.stdout.readline()
        if not line:
            raise TrialError(f'{self.module} has ended with exit code {self._process.wait()}')
        self._ready = True
        answer = json.loads(line)
        if 'failed' in answer:
            raise TrialError(f'{self.module}, {do}: {answer["failed"]}')
        return answer

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def end(self) -> None:
        """Kill it; a process that has ended already is taken note of."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def serve(requests: Mapping[str, Callable[..., Any]], given: TextIO | None = None) -> None:
    """
    Answer requests from standard input until it ends.

    Parameters
    ----------
    requests : mapping of str to callable
        Called with the arguments of a request by name; returns what JSON can hold, or None.
    given : file, optional
        Instead of standard input.
    """
    # a busy computer is not what is being measured; only some users may ask for this
    gc.disable()
    sys.setswitchinterval(SWITCH_INTERVAL)
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
    logging.getLogger('canopen').setLevel(logging.CRITICAL)
    # what libraries print must not be taken for an answer
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in given or sys.stdin:
        request = json.loads(line)
        try:
            found = requests[request.pop('do')](**request)
            answer = found if isinstance(found, dict) else {'value': found}
        except (ValueError, OSError, KeyError) as error:
            answer = {'failed': f'{type(error).__name__}: {error}'}
        answers.write(json.dumps(answer) + '\n')
        answers.flush()
