# SPDX-License-Identifier: Apache-2.0
"""Log files of ROS 2, which a process does without where it cannot write them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

# what rcl reads as its command line
WITHOUT_FILES = ('--ros-args', '--disable-external-lib-logs')


def log_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of log files, as rcl takes it from the `environment`."""
    folder = environment.get('ROS_LOG_DIR', '')
    home = environment.get('ROS_HOME', '') or '~/.ros'
    return Path(folder or f'{home}/log').expanduser()


def why_without(environment: Mapping[str, str] = os.environ) -> str:
    """
    Return why there are no log files, with the remedy; empty where they can be written.

    rcl itself would end the process.
    """
    try:
        folder = log_folder(environment)
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError) as error:  # the latter where there is no home
        reason = error.strerror if isinstance(error, OSError) else 'no home directory'
        place = environment.get('ROS_LOG_DIR') or environment.get('ROS_HOME') or '~/.ros'
        return (f'log files are off: {place} is not writable ({reason}); set ROS_LOG_DIR to a '
                'writable directory')
    return ''
