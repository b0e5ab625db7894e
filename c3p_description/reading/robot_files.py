# SPDX-License-Identifier: Apache-2.0
"""
Files of robots with options: one path stands for a robot and its options.

The nodes, the workers of a campaign and the commands that a page prints know a robot by one name
or path. Options of a command line or a launch file become a robot's file in the user's cache
directory, named by its content: equal options are the same file, today and tomorrow.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from c3p_description.model import ModelError
from c3p_description.reading.parameters import DESCRIPTIONS, is_robot_name, parameter_file
from c3p_description.reading.robot_options import nested


def base_of(robot: str | Path, file: str | Path) -> dict[str, str]:
    """
    Return the entry ``extends`` or ``urdf`` of a new robot `file` that extends `robot`.

    A name stays, and a path becomes relative to the new file, so that both can be moved together.

    Examples
    --------
    >>> base_of('c3p', 'out/new.yaml'), base_of('robots/my.urdf', 'out/new.yaml')
    ({'extends': 'c3p'}, {'urdf': '../robots/my.urdf'})
    """
    if is_robot_name(robot):
        return {'extends': str(robot)}
    key = 'urdf' if Path(robot).suffix in DESCRIPTIONS else 'extends'
    return {key: os.path.relpath(Path(robot).resolve(), Path(file).resolve().parent)}


def robot_file(robot: str | Path, options: Mapping[str, Any]) -> str:
    """
    Return the robot with `options` as a name or path for `loader.load`; `robot` without options.

    Parameters
    ----------
    robot : str or Path
        As for `loader.load`.
    options : mapping
        As of `loader.load`; fields may be dotted.

    Raises
    ------
    ModelError
        The robot does not exist, or no file can be written.
    """
    if not options:
        return str(robot)
    path = Path(robot)
    if path.suffix in DESCRIPTIONS:
        if not path.is_file():
            raise ModelError(f'{path}: no such file')
        base = {'urdf': str(path.resolve())}
    else:
        file = parameter_file(robot)
        base = {'extends': str(file) if path.suffix in ('.yaml', '.yml') else str(robot)}
    text = yaml.safe_dump({**base, **nested(options)}, sort_keys=False, allow_unicode=True)
    name = f'{path.stem}_{hashlib.sha256(text.encode()).hexdigest()[:12]}.yaml'
    made = _folder() / name
    # another process may write or read the same file
    with tempfile.NamedTemporaryFile('w', dir=made.parent, delete=False, encoding='utf-8') as new:
        new.write(f'# options of a command line or launch file, laid over {path.name}\n{text}')
    os.replace(new.name, made)
    return str(made)


def _folder() -> Path:
    """Return the folder of such files: of the user alone, and kept; else a temporary one."""
    cache = os.environ.get('XDG_CACHE_HOME', '')
    try:
        # its specification requires a relative XDG_CACHE_HOME to be ignored
        base = Path(cache) if os.path.isabs(cache) else Path.home() / '.cache'
        folder = base / 'c3p' / 'robots'
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    except (OSError, RuntimeError):  # no home
        pass
    return Path(tempfile.mkdtemp(prefix='c3p_robots_'))
