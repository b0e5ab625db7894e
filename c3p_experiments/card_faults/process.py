# SPDX-License-Identifier: Apache-2.0
"""Child processes with requests and responses as lines of JSON on standard input and output."""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import os
import select
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

from c3p_ros.child_process import ChildProcess

# the first answer waits for imports and compiled kernels, s
START_WITHIN = 120.0
ANSWER_WITHIN = 30.0
SERVERS = 'c3p_experiments.card_faults.servers'
# nice value of the processes
PRIORITY = -15
# switch interval of the interpreter, s
SWITCH_INTERVAL = 5e-4


class TrialError(RuntimeError):
    """A process of a trial ended, did not respond, or could not serve a request."""


class TrialProcess(ChildProcess):
    """
    A server of `servers`, ``bus``, ``cards`` or ``master``; use as a context.

    Parameters
    ----------
    name : str
    """

    def __init__(self, name: str) -> None:
        """Start it in a session of its own; `call` waits until it is ready."""
        self.name = name
        self._ready = False
        super().__init__([sys.executable, '-m', SERVERS, name], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True, bufsize=1)

    def __enter__(self) -> TrialProcess:
        """Return the process itself."""
        return self

    def __exit__(self, *_: Any) -> None:
        """Kill it."""
        self.kill()

    def call(self, do: str, **arguments: Any) -> dict[str, Any]:
        """
        Send the request `do` and return the response.

        Raises
        ------
        TrialError
            No response in time, the process has ended, or the request failed.
        """
        try:
            self.stdin.write(json.dumps({'do': do, **arguments}) + '\n')
            self.stdin.flush()
        except OSError as error:
            raise TrialError(f'{self.name} has ended: {error}') from error
        patience = ANSWER_WITHIN if self._ready else START_WITHIN
        if not select.select([self.stdout], [], [], patience)[0]:
            raise TrialError(f'{self.name} did not respond to {do!r} within {patience:.0f} s')
        line = self.stdout.readline()
        if not line:
            raise TrialError(f'{self.name} has ended with exit code {self._process.wait()}')
        self._ready = True
        answer = json.loads(line)
        if 'failed' in answer:
            raise TrialError(f'{self.name}, {do}: {answer["failed"]}')
        return answer


def serve(requests: Mapping[str, Callable[..., Any]]) -> None:
    """
    Respond to requests from standard input until it ends.

    Parameters
    ----------
    requests : mapping of str to callable
        Called with the arguments of a request by name; returns what JSON can hold, or None.
    """
    # the load of the computer must not disturb the measures; only some users may set a priority
    gc.disable()
    sys.setswitchinterval(SWITCH_INTERVAL)
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
    logging.getLogger('canopen').setLevel(logging.CRITICAL)
    # output of libraries must not mix with responses
    answers = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        try:
            found = requests[request.pop('do')](**request)
            answer = found if isinstance(found, dict) else {'value': found}
        except (ValueError, OSError, KeyError) as error:
            answer = {'failed': f'{type(error).__name__}: {error}'}
        answers.write(json.dumps(answer) + '\n')
        answers.flush()
