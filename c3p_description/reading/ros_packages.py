# SPDX-License-Identifier: Apache-2.0
"""
Folders of ROS packages for ``$(find NAME)`` in xacro files, also without a ROS installation.

Published descriptions include files of their own package and of its neighbours. The user names
folders (``--package NAME=DIR``, or ``packages:`` beside ``urdf:`` in a robot's file). Other names
are looked up in the index of a ROS installation, and then among the packages in whose sources the
file is: its own, and those beside it.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from c3p_description.model import ModelError
from c3p_description.texts import brief

# folders above a file in which its package.xml is looked for
HIGHEST = 4
# neighbours of a package that are looked at; a workspace has some hundreds at most
MOST_NEIGHBOURS = 1000


def package_folders(packages: Any, beside: Path | None = None) -> dict[str, str]:
    """
    Return checked folders of packages, absolute; relative ones are relative to `beside`.

    Parameters
    ----------
    packages : mapping of str to str
        Name → folder, such as ``{'mule_description': '/home/ann/mule_description'}``.
    beside : Path, optional
        Folder; by default the working directory.

    Raises
    ------
    ModelError
        No mapping, or a folder that does not exist.

    Examples
    --------
    >>> package_folders({})
    {}
    """
    if not isinstance(packages, Mapping):
        raise ModelError(f'packages = {brief(packages)}: expected names with their folders, such '
                         'as {mule_description: /home/ann/mule_description}')
    found = {}
    for name, place in packages.items():
        if not isinstance(place, str) or not place:
            raise ModelError(f'packages.{name} = {brief(place)}: expected the folder of that '
                             'package')
        folder = (beside or Path()) / Path(place).expanduser()
        if not folder.is_dir():
            raise ModelError(f'packages.{name} = {brief(place)}: no such folder; give the one '
                             'that has its package.xml')
        found[f'{name}'] = str(folder.resolve())
    return found


def packages_near(path: Path) -> dict[str, str]:
    """
    Return names and folders of the package that contains the file `path`, and of its neighbours.

    Folders that any user can write are left out, because a xacro file is a program.
    """
    for folder in list(path.resolve().parents)[:HIGHEST + 1]:
        if _open_to_all(folder):
            return {}
        if (folder / 'package.xml').is_file():
            beside = [] if _open_to_all(folder.parent) else sorted(
                one for one in folder.parent.iterdir() if one.is_dir())[:MOST_NEIGHBOURS]
            found = {package_name(one): str(one) for one in (*beside, folder)
                     if not _open_to_all(one)}
            return {name: place for name, place in found.items() if name}
    return {}


def package_name(folder: Path) -> str:
    """Return the name of the ROS package in `folder`; empty without one."""
    try:
        return (ElementTree.parse(folder / 'package.xml').findtext('name') or '').strip()
    except (OSError, ElementTree.ParseError, ValueError):
        return ''


def _open_to_all(folder: Path) -> bool:
    """Return whether any user can write in a folder, as in /tmp."""
    return bool(folder.stat().st_mode & stat.S_IWOTH)
