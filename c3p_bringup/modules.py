# SPDX-License-Identifier: Apache-2.0
"""Modules that the suite imports, and how an installation that lacks one gets it."""

from __future__ import annotations

import sys

# module → extra of setup.py that brings it; other packages than these have the names of some
EXTRAS = {
    **dict.fromkeys(('mujoco', 'xacro'), 'sim'),
    **dict.fromkeys(('OpenGL', 'glfw', 'imageio', 'imageio_ffmpeg'), 'film'),
    **dict.fromkeys(('rerun', 'foxglove', 'trimesh', 'collada'), 'view'),
    **dict.fromkeys(('can', 'canopen', 'serial'), 'hardware'),
    **dict.fromkeys(('dask', 'distributed', 'pandas', 'pyarrow', 'cma'), 'campaign'),
}


def how_to_have(module: str) -> str:
    """Return the remedy for a missing `module`; one that is in no extra is always required."""
    # its package imports NumPy, for which the help of a command need not wait
    from c3p_description.reading.how_to_install import how_to_install

    if module == 'rclpy':
        return f'install ROS 2 and source its setup file, or {how_to_install("jazzy")}'
    return how_to_install(EXTRAS.get(module, ''))


def why_missing(module: str) -> str:
    """
    Return the error text for a module that is not found, with the remedy.

    A package that is installed without that part of it is another version than the suite was
    written for, or another package of the same name.
    """
    from importlib.metadata import packages_distributions, version
    from importlib.util import find_spec

    package = module.partition('.')[0]
    if package == module or find_spec(package) is None:
        return f'{package} is missing: {how_to_have(package)}'
    if package == 'rclpy':
        # where ROS 2 is installed, pip does not choose its version
        from c3p_ros.distribution import named, supported

        python = '.'.join(map(str, sys.version_info[:2]))
        return (f'{named()} has no module {module} for Python {python}: update the ROS 2 '
                f'packages, or use {supported()} for this Python')
    found = ', '.join(f'{name} {version(name)}'
                      for name in dict.fromkeys(packages_distributions().get(package, [])))
    return (f'{package} ({found or "of unknown version"}) has no module {module}: '
            f'{how_to_have(package)}')


def of_suite(error: ImportError) -> bool:
    """Return whether a part of the suite itself is missing, which is a fault of the program."""
    return isinstance(error, ModuleNotFoundError) and f'{error.name}'.startswith('c3p_')


def import_reason(error: ImportError) -> str:
    """Return the error of an import in one line, with the remedy where a module is missing."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return why_missing(error.name)
    # of an installation whose parts do not fit together
    return ' '.join(f'{error}'.split())
