# SPDX-License-Identifier: Apache-2.0
"""Notes of the readers of robots: doubtful and assumed values, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

# kinds of notes: the file probably means something else; the file has no value
WARNING = 'warning'
ASSUMED = 'assumed'


class Note(NamedTuple):
    """
    One finding of a reader.

    Attributes
    ----------
    kind : str
        ``'warning'``: the file has another value, which is interpreted. ``'assumed'``: the file
        has no value, and this one is used.
    field : str
        Key of a robot's file, such as ``casters.torque_limit``, or the name of an option.
    value : Any
        The value in use: numbers, texts and lists of them.
    text : str
        One sentence with the reason, and how to give another value.
    """

    kind: str
    field: str
    value: Any
    text: str


class Reading(NamedTuple):
    """A robot and the notes of its reader."""

    # CasterRobot, PvcTricycle or Agv: load_casters and load_tricycle check which
    robot: Any
    notes: tuple[Note, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Texts of the notes of kind ``warning``."""
        return tuple(note.text for note in self.notes if note.kind == WARNING)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Texts of the notes of kind ``assumed``."""
        return tuple(note.text for note in self.notes if note.kind == ASSUMED)


@dataclass
class Notes:
    """Collects the notes of one reading."""

    found: list[Note] = field(default_factory=list)

    def warn(self, field_name: str, value: Any, text: str) -> None:
        """Add a warning."""
        self.found.append(Note(WARNING, field_name, value, text))

    def assume(self, field_name: str, value: Any, text: str) -> None:
        """Add an assumption."""
        self.found.append(Note(ASSUMED, field_name, value, text))
