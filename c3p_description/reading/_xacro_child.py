# SPDX-License-Identifier: Apache-2.0
"""
A process that expands one xacro file: ``FILE PACKAGES NAME:=VALUE …`` → JSON on standard output.

xacro runs what a file has between ``${`` and ``}``. Here it has limited processor time and memory.
PACKAGES is JSON: ``given`` and ``near``, folders of ROS packages by name (`ros_packages`).
"""

import json
import os
import signal
import sys
from types import ModuleType
from typing import Any

# processor time [s] and address space [bytes] of the process, characters of the result
SECONDS = 2.0
MEMORY = 500_000_000
RESULT = 4_000_000


def main() -> None:
    """Expand the file."""
    # beside this file are modules whose names xacro's own imports could meet
    sys.path.pop(0)
    # what a file prints must not be taken for the result
    result = os.fdopen(os.dup(1), 'w', encoding='utf-8')
    os.dup2(2, 1)
    import xacro

    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    # systems without these limits have that of the time by the clock
    except (ImportError, AttributeError, ValueError, OSError):
        pass
    path, packages, *arguments = sys.argv[1:]
    try:
        offer_packages(**json.loads(packages))
        text = xacro.process_file(
            path, mappings=dict(a.split(':=', 1) for a in arguments)).toprettyxml(indent='  ')
        if len(text) > RESULT:
            raise ValueError(f'the result has {len(text)} characters, at most {RESULT} are read')
        told = {'text': text}
    # xacro raises bare exceptions of many types
    except BaseException as error:
        told = {'error': (f'{error}' or type(error).__name__)[:2000],
                'package': missing_package(error)}
    json.dump(told, result)
    result.close()


class PackageMissing(Exception):
    """A package that neither the user, nor ROS, nor the place of the file has."""

    def __init__(self, name: str) -> None:
        """Store the name of the package."""
        super().__init__(f'package {name} is not found')
        self.name = name


def offer_packages(given: dict[str, str], near: dict[str, str]) -> None:
    """Let xacro find packages: those `given`, those of a ROS installation, those `near`."""
    index: Any
    try:
        from ament_index_python import packages as index
        installed = index.get_package_share_directory
    # xacro alone, from the package registry
    except ImportError:
        sys.modules['ament_index_python'] = ModuleType('ament_index_python')
        index = sys.modules['ament_index_python.packages'] = ModuleType('packages')
        installed = None

    def find(name: str, *_: object) -> str:
        if name in given:
            return given[name]
        try:
            if installed is not None:
                return f'{installed(name)}'
        # not found, no index, or no name of a package
        except (LookupError, OSError, ValueError):
            pass
        if name in near:
            return near[name]
        raise PackageMissing(name)

    index.get_package_share_directory = find


def missing_package(error: BaseException | None) -> str:
    """Return the name of the package whose absence caused an error; empty for another cause."""
    while error is not None:
        if isinstance(error, PackageMissing):
            return error.name
        error = getattr(error, 'exc', None) or error.__cause__ or error.__context__
    return ''


if __name__ == '__main__':
    main()
