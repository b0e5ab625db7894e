# SPDX-License-Identifier: Apache-2.0
"""One answer of the doctor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """How good it is; FAIL means that something will not work."""

    OK = 'OK'
    WARN = 'WARN'
    FAIL = 'FAIL'


@dataclass(frozen=True)
class Check:
    """
    One answer.

    Attributes
    ----------
    name : str
        What was looked at.
    level : Level
    text : str
        What was found.
    remedy : str
        What to do; of everything that is not OK.
    """

    name: str
    level: Level
    text: str
    remedy: str = ''

    def __str__(self) -> str:
        """Return it as a line."""
        remedy = f'; {self.remedy}' if self.remedy else ''
        return f'{self.level.value:5}{self.name:22}{self.text}{remedy}'


def ok(name: str, text: str) -> Check:
    """Return an answer that is good."""
    return Check(name, Level.OK, text)


def warn(name: str, text: str, remedy: str) -> Check:
    """Return an answer that may be bad, with its remedy."""
    return Check(name, Level.WARN, text, remedy)


def fail(name: str, text: str, remedy: str) -> Check:
    """Return an answer that is bad, with its remedy."""
    return Check(name, Level.FAIL, text, remedy)


def counted(checks: Iterable[Check]) -> dict[str, int]:
    """Return how many answers there are of each level."""
    levels = [check.level for check in checks]
    return {level.value.lower(): levels.count(level) for level in Level}
