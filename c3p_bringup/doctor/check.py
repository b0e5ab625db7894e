# SPDX-License-Identifier: Apache-2.0
"""Result of one check of ``c3p doctor``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import PackageNotFoundError, version

from c3p_ros.fault_codes.table import check_code


class Level(Enum):
    """Result level; FAIL: a function of the suite does not work."""

    OK = 'OK'
    WARN = 'WARN'
    FAIL = 'FAIL'


@dataclass(frozen=True)
class Check:
    """Result of one check."""

    name: str           # checked item
    level: Level
    text: str           # finding
    remedy: str = ''    # unless the level is OK

    def __str__(self) -> str:
        """Return the result as a line."""
        remedy = f'; {self.remedy}' if self.remedy else ''
        code = f' [{self.code}]' if self.code else ''
        return f'{self.level.value:5}{self.name:22}{self.text}{remedy}{code}'

    @property
    def code(self) -> str:
        """Fault code, empty unless the level is WARN or FAIL."""
        return '' if self.level is Level.OK else check_code(self.name, self.text)


def ok(name: str, text: str) -> Check:
    """Return a result of level OK."""
    return Check(name, Level.OK, text)


def warn(name: str, text: str, remedy: str) -> Check:
    """Return a warning with its remedy."""
    return Check(name, Level.WARN, text, remedy)


def fail(name: str, text: str, remedy: str) -> Check:
    """Return a failure with its remedy."""
    return Check(name, Level.FAIL, text, remedy)


def version_of(distribution: str) -> str:
    """Return the version of an installed distribution; empty without its metadata."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ''


def counted(checks: Iterable[Check]) -> dict[str, int]:
    """Return the number of results of each level."""
    levels = [check.level for check in checks]
    return {level.value.lower(): levels.count(level) for level in Level}
