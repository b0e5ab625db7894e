# SPDX-License-Identifier: Apache-2.0
"""Node in a process of its own: start, exit code and end."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from c3p_ros.child_process import ChildProcess


class NodeProcess(ChildProcess):
    """
    ``python -m module --ros-args …`` with its output in the file `log`.

    `name` is that of the node, for messages; `module` has its ``main``; `arguments` are ROS's.
    """

    def __init__(self, name: str, module: str, arguments: Sequence[str], log: Path) -> None:
        """Start the process in a session of its own, so that Ctrl-C does not reach it directly."""
        self.name = name
        self.log = log
        with open(log, 'wb') as output:
            super().__init__([sys.executable, '-m', module, '--ros-args', *arguments],
                             stdout=output, stderr=subprocess.STDOUT)

    def ended(self) -> str:
        """Return the end of the process as text, empty while it runs."""
        code = self.code
        if code is None:
            return ''
        last = self.log.read_text(errors='replace').strip().splitlines()[-1:]
        how = f'killed by {signal.Signals(-code).name}' if code < 0 else f'exit code {code}'
        return f'{self.name} ended ({how})' + (f': {last[0]}' if last else '')

    def stop(self) -> None:
        """End the process: SIGINT, then SIGKILL after a time limit."""
        self.end(signal.SIGINT)
