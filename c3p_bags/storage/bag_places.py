# SPDX-License-Identifier: Apache-2.0
"""Paths without a bag: what they are, and the bag that was meant."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

METADATA = 'metadata.yaml'

# of the files of a bag
SUFFIXES = ('.mcap', '.db3', '.bag')

# of logs that can be imported
LOGS = ('.csv', '.wpilog', '.tsv')


def not_a_bag(path: Path) -> str:
    """
    Return why an existing `path` is not a bag at all, '' if it is one or the rest of one.

    A directory of results names the bags in it.
    """
    if path.is_file():
        known = any(suffix in SUFFIXES for suffix in path.suffixes)
        if not known and any(suffix in LOGS for suffix in path.suffixes):
            return (f'a {path.suffix} file is not a bag; `c3p import {path} --mapping FILE` makes '
                    'one of it')
        return '' if known or path.name == METADATA or not path.suffix else (
            f'a {path.suffix} file is not a bag; give the directory of a bag, or a file '
            f'{" or ".join(SUFFIXES)}')
    inside = sorted(path.iterdir())
    if _has_parts(inside):
        return ''
    near = [str(one) for one in inside if one.is_dir() and _has_parts(one.iterdir())]
    return (f'is a directory without a bag; did you mean {" or ".join(near[:3])}?' if near else
            f'is a directory without {METADATA} and without files {" or ".join(SUFFIXES)}')


def _has_parts(files: Iterable[Path]) -> bool:
    """Return whether one of `files` is part of a bag."""
    return any(file.name == METADATA or any(suffix in SUFFIXES for suffix in file.suffixes)
               for file in files)
