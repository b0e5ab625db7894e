# SPDX-License-Identifier: Apache-2.0
"""
Rerun's viewer as a process that only this computer reaches.

The SDK's own ``spawn`` lets the viewer listen on every network, open to reading and writing. Here
it is bound to the loopback address, on a free port.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time as clock
from pathlib import Path
from typing import Any

from c3p_description.reading.how_to_install import how_to_install
from c3p_ros.child_process import ChildProcess
from c3p_viewers.screen import PictureError

ADDRESS = '127.0.0.1'
# time limit of the start: about a second, on a busy computer longer, s
PATIENCE = 60.0
# period of checking that it runs, s
LOOK = 0.5


class RerunProcess(ChildProcess):
    """
    A running viewer.

    Parameters
    ----------
    headless : bool
        Without a window; it then ends with `close`. Else it stays when this program ends.

    Attributes
    ----------
    url : str
        To which recordings and clients connect.

    Raises
    ------
    PictureError
        The viewer is not installed, or ends at once; with its last word.
    """

    def __init__(self, headless: bool = False) -> None:
        """Start it and wait until it listens."""
        port = _free_port()
        self.url = f'rerun+http://{ADDRESS}:{port}/proxy'
        self._output = tempfile.TemporaryFile()
        command = [_program(), '--bind', ADDRESS, '--port', str(port), '--expect-data-soon',
                   '--hide-welcome-screen', *(['--headless'] if headless else [])]
        # the first is what the SDK sets; the second keeps the viewer quiet
        environment = {'RERUN_APP_ONLY': 'true', 'RUST_LOG': 'error', **os.environ}
        # Ctrl-C ends this program, and not a window on what it has shown
        super().__init__(command, stdin=subprocess.DEVNULL, stdout=self._output,
                         stderr=self._output, env=environment)
        end = clock.monotonic() + PATIENCE
        while not _listens(port):
            self.check()
            if clock.monotonic() > end:
                self.close()
                raise PictureError(f'Rerun does not listen after {PATIENCE:.0f} s')
            clock.sleep(0.05)

    def check(self) -> None:
        """
        Do nothing while the viewer runs.

        Raises
        ------
        PictureError
            It has ended by an error; with its last word.
        """
        if self.code:
            self._output.seek(0)
            lines = self._output.read().decode('utf-8', 'replace').strip().splitlines()
            raise PictureError(f'Rerun does not start ({" ".join(lines[-1:])[:200]})')

    def close(self) -> None:
        """End the viewer, and the process that its script starts."""
        self.end(signal.SIGTERM, 10.0)


class ShownRecording:
    """A recording that goes to a viewer, and waits for it only while it runs."""

    def __init__(self, recording: Any, viewer: RerunProcess) -> None:
        """Take both."""
        self._recording = recording
        self.viewer = viewer

    def __getattr__(self, name: str) -> Any:
        """Return what the recording has."""
        return getattr(self._recording, name)

    def flush(self, limit: float = PATIENCE) -> None:
        """
        Wait until the viewer has everything; Ctrl-C ends the wait.

        Parameters
        ----------
        limit : float, s

        Raises
        ------
        PictureError
            The viewer has ended by an error, or does not take the data within `limit`.
        """
        end = clock.monotonic() + limit
        while True:
            self.viewer.check()
            if not self.viewer.running:
                return
            if clock.monotonic() > end:
                raise PictureError(f'Rerun has not taken the data within {limit:.0f} s; '
                                   '--save FILE.rrd writes it to a file for Rerun')
            try:
                self._recording.flush(timeout_sec=LOOK)
                return
            # of the SDK's own kinds: it has not sent everything in time, or cannot
            except (RuntimeError, ValueError):
                clock.sleep(0.0)


def _program() -> str:
    """Return the viewer of this Python environment, else the one on the path."""
    here = Path(sys.executable).parent
    found = shutil.which('rerun', path=os.pathsep.join([str(here), os.environ.get('PATH', '')]))
    if found is None:
        raise PictureError("Rerun's viewer is not installed; install it with "
                           f'{how_to_install("view")}')
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(LOOK)
        return probe.connect_ex((ADDRESS, port)) == 0
