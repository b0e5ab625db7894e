# SPDX-License-Identifier: Apache-2.0
"""
Settings of laws as parameters of nodes: a frozen dataclass declares name, type, bounds and text.

The parameters of the laws of the suite are described in the schema files of the nodes. Those of
laws of other packages are made from the dataclass, and validated in the same way.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

from c3p_description.settings import (
    DECLARED,
    KINDS,
    CheckedSettings,
    Entries,
    SettingsError,
    entries_of,
    setting,
)

__all__ = ['DECLARED', 'KINDS', 'Entries', 'CheckedSettings', 'Parametrised', 'SettingsError',
           'entries_of', 'setting']


class Parametrised:
    """
    Base of laws whose settings are parameters of a node.

    Attributes
    ----------
    Settings : dataclass
        Frozen, each field with a default; the argument of the constructor.
    group : str
        Group of the parameters; empty: that of the name of the law.
    shared : tuple of str
        Fields that are parameters of the node itself, used by every law.
    """

    Settings: ClassVar[type[Any]]
    group: ClassVar[str] = ''
    shared: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def read(cls, values: Any, name: str) -> Any:
        """
        Return the settings from the parameters `values` of the node, for the law called `name`.

        ValueError: a combination that the settings reject.
        """
        found = {}
        for item in fields(cls.Settings):
            place = values if item.name in cls.shared else getattr(values, cls.group or name)
            value = getattr(place, item.name)
            # parameters hold arrays as lists
            found[item.name] = tuple(value) if isinstance(value, list) else value
        return cls.Settings(**found)

    @classmethod
    def parameters(cls, name: str) -> tuple[str, ...]:
        """Return the names of the parameters that `c3p tune` may vary, without the node's."""
        return tuple(item.name if item.name in cls.shared else f'{cls.group or name}.{item.name}'
                     for item in fields(cls.Settings))

    @classmethod
    def entries(cls, name: str) -> Entries:
        """Return the schema entries that the node must add for the law; SettingsError."""
        if cls.group:  # described in the schema file
            return {}
        own = [item.name for item in fields(cls.Settings) if item.name not in cls.shared] if (
            is_dataclass(cls.Settings)) else None
        return entries_of(cls.Settings, name, own)
