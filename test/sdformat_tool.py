# SPDX-License-Identifier: Apache-2.0
"""The command of sdformat, where it is installed."""

import shutil
import subprocess
from functools import lru_cache

import pytest


@lru_cache
def sdformat():
    """Return the command that reads SDF and URDF as Gazebo does."""
    for tool in ('gz', 'ign'):
        # the tools exist without sdformat, too
        if shutil.which(tool) and subprocess.run([tool, 'sdf', '--versions'], text=True,
                                                 capture_output=True).stdout.strip():
            return [tool, 'sdf']
    pytest.skip('needs the command of sdformat: gz, which comes with Gazebo, or ign of the Debian '
                'packages ignition-tools and libsdformat-dev')
