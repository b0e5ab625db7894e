# SPDX-License-Identifier: Apache-2.0
"""ROS 2 distribution of the installed rclpy, and the distributions that the suite supports."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

# first part of rclpy's version; a sourced setup file may be of another distribution than a wheel
DISTRIBUTIONS = {'3': 'humble', '4': 'iron', '7': 'jazzy', '9': 'kilted', '10': 'lyrical'}
# on which the tests of the nodes run, oldest first
SUPPORTED = ('jazzy', 'kilted', 'lyrical')

# of a wheel, and of a ROS 2 installation
PACKAGES = ('ros-rclpy', 'rclpy')


def rclpy_version() -> str:
    """Return the version of rclpy; empty where it is not installed, or without its metadata."""
    for package in PACKAGES:
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return ''


def distribution_of(found: str, environment: Mapping[str, str] = os.environ) -> str:
    """
    Return the distribution of a version of rclpy, ``unknown`` for one of no known distribution.

    Without a version it is that of the sourced setup file, by `environment`.

    Examples
    --------
    >>> distribution_of('10.0.10', {})
    'lyrical'
    >>> distribution_of('99.0.0', {'ROS_DISTRO': 'jazzy'})
    'unknown'
    >>> distribution_of('', {'ROS_DISTRO': 'jazzy'})
    'jazzy'
    """
    if not found:
        return environment.get('ROS_DISTRO', '') or 'unknown'
    return DISTRIBUTIONS.get(found.split('.')[0], 'unknown')


def too_old(found: str) -> bool:
    """
    Return whether a version of rclpy is older than those of the supported distributions.

    Examples
    --------
    >>> too_old('3.3.16'), too_old('7.1.6'), too_old('11.0.2'), too_old('')
    (True, False, False, False)
    """
    major = found.split('.')[0]
    oldest = min(int(first) for first, name in DISTRIBUTIONS.items() if name in SUPPORTED)
    return major.isdigit() and int(major) < oldest


def named() -> str:
    """Return rclpy with its version and distribution, such as ``rclpy 10.0.10 (lyrical)``."""
    found = rclpy_version()
    return f'rclpy {found or "of unknown version"} ({distribution_of(found)})'


def supported() -> str:
    """
    Return the names of the supported distributions in a text.

    Examples
    --------
    >>> supported()
    'jazzy, kilted or lyrical'
    """
    return f'{", ".join(SUPPORTED[:-1])} or {SUPPORTED[-1]}'
