# SPDX-License-Identifier: Apache-2.0
"""The command ``c3p`` in a process of its own, and what its drive of 4 m must come to."""

import os
import subprocess
import sys
from contextlib import contextmanager

ERRORS = ['path_error_max_m', 'path_error_rms_m', 'final_error_m', 'final_yaw_error_rad']
KEYS = {'reached', 'time_s', 'align_time_s', 'max_wheel_torque_nm', 'latency_ms', 'cycles',
        'overruns', *ERRORS, *(f'ground_truth_{name}' for name in ERRORS)}


def c3p(*arguments, timeout=300):
    """Run the command line; return the finished process."""
    return subprocess.run([sys.executable, '-m', 'c3p_bringup', *map(str, arguments)],
                          capture_output=True, text=True, timeout=timeout, env=os.environ.copy())


class Command:
    """A command line that runs beside the test; its text is in the file `log`."""

    def __init__(self, log, *arguments):
        self._log = log
        with open(log, 'wb') as output:
            self._process = subprocess.Popen(
                [sys.executable, '-m', 'c3p_bringup', *map(str, arguments)], stderr=output,
                stdout=subprocess.DEVNULL, env=os.environ.copy())

    @property
    def returncode(self):
        """Exit code, None while it runs."""
        return self._process.poll()

    @property
    def stderr(self):
        """Text so far."""
        return self._log.read_text(errors='replace')

    def end(self):
        """End it if it still runs."""
        if self.returncode is None:
            self._process.kill()
        self._process.wait()


@contextmanager
def started(log, *arguments):
    """Run a `Command` within the context."""
    command = Command(log, *arguments)
    try:
        yield command
    finally:
        command.end()


def check_figures(figures):
    """What the goal 4 0 0 from steering 0 must come to."""
    assert KEYS <= set(figures), KEYS - set(figures)
    assert set(figures['latency_ms']) == {'p50', 'p99', 'max'}
    assert figures['reached'] is True and figures['failures'] == []
    assert 0.0 < figures['align_time_s'] < figures['time_s'] <= 20.0
    for prefix in ('', 'ground_truth_'):
        assert 0.0 < figures[f'{prefix}path_error_rms_m'] < figures[f'{prefix}path_error_max_m']
        assert figures[f'{prefix}path_error_max_m'] <= 0.10
        assert figures[f'{prefix}final_error_m'] <= 0.05
        assert abs(figures[f'{prefix}final_yaw_error_rad']) <= 0.15
    assert figures['max_wheel_torque_nm'] <= 1.2
    assert figures['cycles'] >= 200 * figures['time_s']
