# SPDX-License-Identifier: Apache-2.0
"""
Installation commands for missing packages, as the errors of the suite name them.

The distribution is called `DISTRIBUTION`: ``c3p`` on the Python package index is a project of
other authors, so that no text of the suite advises to install a package of that name.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from c3p_description.reading.files import HERE, PACKAGE

DISTRIBUTION = 'c3p-robots'

# extras that rosdep installs in a workspace, from package.xml; '' is what the suite always needs
BY_ROSDEP = ('', 'hardware')
ROSDEP = '`rosdep install --from-paths src --ignore-src -y` in the workspace'

# in the condition of a requirement
EXTRA = re.compile(r'extra\s*==\s*["\']([\w-]+)["\']')
PYTHON = re.compile(r'python_version\s*(>=|<)\s*["\'](\d+)\.(\d+)')


def how_to_install(extra: str = '') -> str:
    """
    Return the command that brings an `extra` of setup.py into this installation.

    In a sourced workspace of colcon that is rosdep, or pip with the packages of the extra by name;
    in a checkout and after ``pip install`` of a folder, pip with its path; after an installation
    from a package index, pip with the name of the distribution.

    In a checkout of ``~/caster_robots`` that of ``view`` is
    ``pip install -e '/home/me/caster_robots[view]'``, in backquotes.
    """
    if in_workspace(os.environ):
        return ROSDEP if extra in BY_ROSDEP else _by_name(extra)
    if (HERE.parent / 'setup.py').is_file():
        return in_environment([with_extra(f'{HERE.parent}', extra)], '-e ')
    installed = _installed()
    origin = _origin(installed)
    if origin is not None and origin.exists():
        return in_environment([with_extra(f'{origin}', extra)])
    if origin is None and _by_pip(installed):
        return in_environment([with_extra(DISTRIBUTION, extra)])
    return _by_name(extra)


def _by_name(extra: str) -> str:
    """Return the command that installs the packages of an extra without the suite itself."""
    packages = requirements(extra)
    # without metadata nothing names them
    return in_environment(packages) if packages else f'install the suite again with {extra}'


def in_environment(packages: list[str], options: str = '') -> str:
    """Return the command of pip for `packages`, quoted for the shell; `options` end in a space."""
    words = ' '.join(shlex.quote(package) for package in packages)
    managed = Path(sysconfig.get_path('stdlib')) / 'EXTERNALLY-MANAGED'
    # Debian and Ubuntu refuse to let pip change the Python of the system
    note = ('' if sys.prefix != sys.base_prefix or not managed.exists() else
            ' in a virtual environment with --system-site-packages')
    return f'`{_pip()} install {options}{words}`{note}'


def with_extra(what: str, extra: str) -> str:
    """
    Return a requirement of `what` with an extra, if any.

    Examples
    --------
    >>> with_extra('.', 'view'), with_extra('.', '')
    ('.[view]', '.')
    """
    return f'{what}[{extra}]' if extra else what


def _pip() -> str:
    """Return the command that is pip of this Python, whichever is first on the path."""
    found = shutil.which('pip')
    own = found is not None and Path(found).parent == Path(sys.executable).parent
    return 'pip' if own else f'{shlex.quote(sys.executable)} -m pip'


def in_workspace(environment: Mapping[str, str]) -> bool:
    """Return whether the setup file of a ROS 2 workspace with the suite is sourced."""
    prefixes = filter(None, environment.get('AMENT_PREFIX_PATH', '').split(os.pathsep))
    # the root of a virtual environment may be on that path as well: pip installed it
    return any((Path(prefix) / 'share/ament_index/resource_index/packages' / PACKAGE).is_file()
               for prefix in prefixes if Path(prefix).resolve() != Path(sys.prefix).resolve())


def _installed() -> Distribution | None:
    try:
        return distribution(DISTRIBUTION)
    except PackageNotFoundError:
        return None


def _by_pip(installed: Distribution | None) -> bool:
    """Return whether pip, or a program that takes its place, installed the distribution."""
    return installed is not None and bool((installed.read_text('INSTALLER') or '').strip())


def _origin(installed: Distribution | None) -> Path | None:
    """Return the folder or file that pip installed from; None for a package index."""
    text = installed.read_text('direct_url.json') if installed is not None else None
    if not text:
        return None
    url = urlsplit(json.loads(text)['url'])
    # of a repository of version control, which `Path` does not find
    return Path(unquote(url.path)) if url.scheme == 'file' else Path(url.geturl())


def requirements(extra: str = '') -> list[str]:
    """
    Return the packages of an extra by their own names, for this version of Python.

    They are those of the metadata of the distribution; empty without them.
    """
    installed = _installed()
    given = (installed.requires or []) if installed is not None else []
    return list(dict.fromkeys(_holding(given, extra)))


def _holding(given: list[str], extra: str) -> Iterator[str]:
    """Yield the requirements of an extra that hold in this Python, with their versions."""
    for line in given:
        requirement, _, condition = line.partition(';')
        of_extra = EXTRA.findall(condition)
        if of_extra == ([extra] if extra else []) and _holds(condition):
            # older builders write "name (>=1)"
            yield re.sub(r'[\s()]', '', requirement)


def _holds(condition: str) -> bool:
    """Return whether the version of Python in a condition, the only one that is used, holds."""
    found = PYTHON.search(condition)
    if found is None:
        return True
    newer = sys.version_info[:2] >= (int(found[2]), int(found[3]))
    return newer == (found[1] == '>=')
