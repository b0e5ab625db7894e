# SPDX-License-Identifier: Apache-2.0
"""
Paths of the files of the package: source tree, pip installation, colcon installation.

Files are named as in the share directory of the package, and as in ``package://c3p/...``:
``c3p_description/meshes/tyre.stl``, ``config/...``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = 'c3p'
HERE = Path(__file__).resolve().parent.parent


def roots() -> Iterator[Path]:
    """
    Yield the directories in which a file of ``share/c3p`` may be, nearest first.

    Examples
    --------
    >>> (next(roots()) / 'c3p_description').is_dir()
    True
    """
    # source tree and site-packages: the packages are side by side, as in the share directory
    yield HERE.parent
    # colcon and a full ROS 2: every prefix on the path
    for prefix in filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)):
        yield Path(prefix) / 'share' / PACKAGE
    # pip puts the share directory below the root of the environment
    yield Path(sys.prefix) / 'share' / PACKAGE


def share_file(relative: str) -> Path:
    """
    Return the absolute path of a file, `relative` to the share directory of the package.

    It is in the source tree or beside the installed modules, else in the share directory of a
    prefix on ``AMENT_PREFIX_PATH`` or of the Python environment.

    Raises
    ------
    FileNotFoundError
        With the places searched.

    Examples
    --------
    >>> share_file('c3p_description/robots/c3p.yaml').name
    'c3p.yaml'
    """
    places = [root / relative for root in roots()]
    for path in places:
        if path.exists():
            return path
    raise FileNotFoundError(f'{relative} is not part of the installed package {PACKAGE}; looked '
                            f'for {", ".join(map(str, places))}. Install the package again, or '
                            'add its prefix to AMENT_PREFIX_PATH')
