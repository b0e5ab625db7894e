# SPDX-License-Identifier: Apache-2.0
"""
Expansion of xacro files to URDF.

A xacro file is a program: expressions in ``${}`` run with all rights of the user. So only
files that the user names are expanded, in a process of limited time and memory, which bounds
mistakes but not malice. The suite's own files run here; they take numbers from parameter
files, which are data.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from c3p_description.model import ModelError
from c3p_description.reading.how_to_install import in_environment
from c3p_description.reading.ros_packages import packages_near

# for the whole process, by the clock; its processor time is limited first, s
PATIENCE = 30.0
# where the process was ended
ENDED = ('it ended after 2 s of processor time or 500 MB; expand the file with `xacro FILE > '
         'robot.urdf` and give that')
# in a path these would end the quotes in which the suite's own xacro files have it
CODE = '\'"\\${}\n'


def expand_file(path: Path, mappings: Mapping[str, str],
                packages: Mapping[str, str] | None = None) -> str:
    """
    Return the URDF text of the user's xacro file at `path`; `mappings` are xacro arguments.

    `packages` are folders of ROS packages by name, for ``$(find NAME)``. They take precedence over
    a ROS installation, and that over the packages in whose sources the file is.

    Raises
    ------
    ModelError
        xacro is not installed, fails, or takes more than 2 s of processor time or 500 MB; a
        package is not found.
    """
    _import_xacro(path)
    child = Path(__file__).with_name('_xacro_child.py')
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
    index = json.dumps({'given': dict(packages or {}), 'near': packages_near(path)})
    try:
        done = subprocess.run(
            [sys.executable, str(child), str(path), index,
             *(f'{k}:={v}' for k, v in mappings.items())],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment, timeout=PATIENCE,
            check=False)
        told = json.loads(done.stdout.decode('utf-8') or '{}')
    except subprocess.TimeoutExpired:
        told = {}
    except (OSError, ValueError) as error:
        raise ModelError(f'{path}: xacro failed: {error}') from None
    if 'text' in told:
        return told['text']
    if name := told.get('package'):
        raise ModelError(f'{path}: ROS package {name} is not found: give the folder that has its '
                         f'package.xml as --package {name}=DIR, in a robot file packages: '
                         f'{{{name}: DIR}}, or source the setup file of a workspace with {name}')
    raise ModelError(f'{path}: xacro failed: ' + ' '.join(f'{told.get("error", ENDED)}'.split()))


def expand_own(path: Path, mappings: Mapping[str, str]) -> str:
    """
    Return the URDF text of the package's xacro file at `path`.

    `mappings` are xacro arguments; ``robot`` is the path of a checked parameter file.

    Raises
    ------
    ModelError
        xacro is not installed or fails; a path that xacro would take for code.
    """
    xacro: Any = _import_xacro(path)
    robot = mappings.get('robot', '')
    if found := sorted(set(robot) & set(CODE)):
        raise ModelError(f'{robot}: a path with {" ".join(found)} cannot be given to xacro, which '
                         'takes these for code; rename the file or its folder')
    try:
        return xacro.process_file(str(path), mappings=dict(mappings)).toprettyxml(indent='  ')
    # xacro raises bare exceptions of many types
    except Exception as error:
        raise ModelError(f'{path}: xacro failed: {error}') from error


def _import_xacro(path: Path) -> object:
    try:
        import xacro
    except ImportError:
        raise ModelError(f'{path}: xacro is not installed; '
                         f'{in_environment(["xacro"])}, or install ros-<distribution>-xacro and '
                         'source its setup file') from None
    return xacro
