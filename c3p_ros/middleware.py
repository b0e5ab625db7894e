# SPDX-License-Identifier: Apache-2.0
"""
Middleware of this process, and the environment variables that its libraries read.

Which variable limits the ROS graph depends on the distribution: ``rcl`` reads
``ROS_LOCALHOST_ONLY`` up to Jazzy, Fast DDS 2 (Jazzy) reads ``FASTRTPS_DEFAULT_PROFILES_FILE`` and
Fast DDS 3 (Kilted, Lyrical) ``FASTDDS_DEFAULT_PROFILES_FILE``. The name of a distribution or a
version number would describe what should be installed; a wheel beside a sourced setup file, a
workspace built from source or a change that was taken over to an older release make it wrong. The
libraries themselves are searched instead: they contain each variable that they read as a string.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

RANGE = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
LOCAL_ONLY = 'ROS_LOCALHOST_ONLY'
# of Fast DDS 3, and of Fast DDS 2
PROFILES = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
VARIABLES = (RANGE, LOCAL_ONLY, *PROFILES)

# libraries of this process, as Linux lists them
MAPS = Path('/proc/self/maps')
LIBRARY = re.compile(r'/lib(rcl|rmw_\w+|fastrtps|fastdds)\.so[.\d]*$')

# what every supported distribution reads, where the libraries cannot be found
COMMON = frozenset(VARIABLES) - {LOCAL_ONLY}


@dataclass(frozen=True)
class Middleware:
    """
    Middleware of the nodes of one process.

    Examples
    --------
    >>> Middleware('rmw_fastrtps_cpp').fast_dds, Middleware('rmw_zenoh_cpp').zenoh
    (True, True)
    """

    identifier: str                       # such as rmw_fastrtps_cpp
    reads: frozenset[str] = COMMON        # those of `VARIABLES` that its libraries and rcl read

    @property
    def fast_dds(self) -> bool:
        """Test for Fast DDS."""
        return 'fastrtps' in self.identifier or 'fastdds' in self.identifier

    @property
    def cyclone(self) -> bool:
        """Test for Cyclone DDS."""
        return 'cyclonedds' in self.identifier

    @property
    def connext(self) -> bool:
        """Test for RTI Connext."""
        return 'connextdds' in self.identifier

    @property
    def known(self) -> bool:
        """Test for a middleware whose use of the discovery range was read in its sources."""
        return self.fast_dds or self.cyclone or self.connext or self.zenoh

    @property
    def zenoh(self) -> bool:
        """Test for Zenoh."""
        return 'zenoh' in self.identifier


def loaded_libraries(maps: Path = MAPS) -> list[Path]:
    """Return the files of the libraries of ROS that this process has loaded."""
    try:
        lines = maps.read_text(encoding='utf-8', errors='replace').splitlines()
    except OSError:
        # not Linux
        return []
    places = {line[line.index('/'):] for line in lines if '/' in line}
    return sorted(Path(place) for place in places if LIBRARY.search(place))


def variables_read(libraries: Iterable[Path]) -> frozenset[str]:
    """
    Return those of `VARIABLES` that a library contains; the common ones without libraries.

    Examples
    --------
    >>> 'ROS_LOCALHOST_ONLY' in variables_read([])
    False
    """
    found: set[str] = set()
    searched = False
    for library in libraries:
        try:
            with library.open('rb') as file, \
                    mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
                found.update(name for name in VARIABLES
                             if text.find(b'%b\0' % name.encode()) >= 0)
        except (OSError, ValueError):
            # replaced meanwhile, or empty
            continue
        searched = True
    return frozenset(found) if searched else COMMON


@cache
def of_this_process() -> Middleware:
    """
    Return the middleware of this process; loads it.

    Raises
    ------
    ImportError, RuntimeError
        rclpy or the middleware of ``RMW_IMPLEMENTATION`` is not installed.
    """
    from rclpy.utilities import get_rmw_implementation_identifier

    identifier = get_rmw_implementation_identifier()
    return Middleware(identifier, variables_read(loaded_libraries()))
