# SPDX-License-Identifier: Apache-2.0
"""
Mesh files that a description may refer to.

A description can come from anywhere, also from a bag of another lab. Of the files that it names
only meshes are read, by their suffix, and only those below the package's own folder or below the
folder of the robot's file that the user gave. ``..`` and symbolic links are followed before that
is checked.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

from c3p_description.model import ModelError
from c3p_description.reading.files import PACKAGE, roots
from c3p_description.reading.ros_packages import package_name
from c3p_description.texts import brief

# of what is read as a mesh or handed out as one
SUFFIXES = ('.stl', '.obj', '.dae', '.ply', '.glb', '.gltf')
# of a file; a larger one takes minutes and gigabytes to prepare
MOST_BYTES = 32_000_000
# where the package keeps its meshes
FOLDER = 'c3p_description'
# folders above the robot's file in which a package.xml is looked for
HIGHEST = 3


def mesh_file(uri: str, robot: str | Path = '') -> Path:
    """
    Return the file of a mesh.

    `uri` is ``package://…``, ``file://…``, or a path relative to the robot's file. `robot` is its
    name or path as the user gave it; below the folder of a path, or of the ROS package that it is
    in, meshes may be read.

    Raises
    ------
    ModelError
        Another suffix, another place, no such file, or one of more than 32 MB.

    Examples
    --------
    >>> mesh_file('package://c3p/c3p_description/meshes/tyre.stl').name
    'tyre.stl'
    """
    if Path(uri.lower()).suffix not in SUFFIXES:
        raise ModelError(f'mesh {brief(uri)}: only {", ".join(SUFFIXES)} files are read')
    own = _own_folder(robot)
    allowed = [(root / FOLDER).resolve() for root in roots()] + ([own] if own else [])
    try:
        for path in _places(uri, robot, own):
            real = path.resolve()
            if not any(real.is_relative_to(folder) for folder in allowed):
                continue
            if real.is_file() and real.suffix.lower() in SUFFIXES:
                if real.stat().st_size > MOST_BYTES:
                    raise ModelError(f'mesh {brief(uri)}: {real.stat().st_size} bytes, at most '
                                     f'{MOST_BYTES} are read; reduce it')
                return real
    # characters that no path can have, names that are too long
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f'mesh {brief(uri)}: {error}') from None
    raise ModelError(f'mesh {brief(uri)}: not a file below {", ".join(map(str, allowed))}; put '
                     'it beside the file of the robot and give that as --robot FILE')


def _places(uri: str, robot: str | Path, own: Path | None) -> Iterator[Path]:
    """Yield where a mesh may be."""
    scheme, separator, rest = uri.partition('://')
    if not separator:
        yield Path(robot).resolve().parent / uri if own else Path(uri)
    elif scheme == 'file':
        yield Path(rest)
    elif scheme == 'package':
        package, _, relative = rest.partition('/')
        if package == PACKAGE:
            yield from (root / relative for root in roots())
        if own is not None and package in (own.name, package_name(own)):
            yield own / relative


def _own_folder(robot: str | Path) -> Path | None:
    """Return the folder whose meshes belong to the robot's file; None for a name."""
    path = Path(robot)
    if not path.suffix or not path.is_file():
        return None
    folder = path.resolve().parent
    for above in [folder, *folder.parents][:HIGHEST + 1]:
        # in /tmp and the like any user can put a package.xml
        if (above / 'package.xml').is_file() and not above.stat().st_mode & stat.S_IWOTH:
            return above
    return folder
