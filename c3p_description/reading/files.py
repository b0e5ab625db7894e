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
    # source tree and site-packages: the rooms lie side by side, as in the share directory
    yield HERE.parent
    # colcon and a full ROS 2: every prefix on the path
    for prefix in filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)):
        yield Path(prefix) / 'share' / PACKAGE
    # pip puts the share directory below the root of the environment
    yield Path(sys.prefix) / 'share' / PACKAGE


def share_file(relative: str) -> Path:
    """
    Return the absolute path of a file of the package.

    Parameters
    ----------
    relative : str
        Path below the share directory, with forward slashes.

    Returns
    -------
    Path
        The file in the source tree or beside the installed modules, else in the share directory
        of a prefix on ``AMENT_PREFIX_PATH`` or of the Python environment.

    Raises
    ------
    FileNotFoundError
        With the places searched.

    Examples
    --------
    >>> share_file('c3p_description/robots/c3p.yaml').name
    'c3p.yaml'
    """
    searched = []
    for root in roots():
        path = root / relative
        if path.exists():
            return path
        searched.append(str(path))
    raise FileNotFoundError(f'{relative} is not part of the installed package {PACKAGE}; looked '
                            f'for {", ".join(searched)}. Install the package again, or add its '
                            'prefix to AMENT_PREFIX_PATH')


def resolve_uri(uri: str) -> Path:
    """
    Return the file behind ``package://c3p/...``, ``file://...`` or a plain path.

    Parameters
    ----------
    uri : str
        As in the ``filename`` of a URDF mesh.

    Raises
    ------
    FileNotFoundError
        For a file of this package which is not there.
    ValueError
        For a file of another package, which needs ROS 2's own lookup.

    Examples
    --------
    >>> resolve_uri('package://c3p/c3p_description/meshes/tyre.stl').name
    'tyre.stl'
    """
    scheme, separator, rest = uri.partition('://')
    if not separator:
        return Path(uri)
    if scheme == 'package':
        package, _, relative = rest.partition('/')
        if package == PACKAGE:
            return share_file(relative)
        raise ValueError(f'{uri}: only files of package {PACKAGE} are found without ROS 2; '
                         'look it up with ament_index_python')
    if scheme == 'file':
        return Path(rest)
    raise ValueError(f'{uri}: unknown scheme {scheme}, expected package:// or file://')
