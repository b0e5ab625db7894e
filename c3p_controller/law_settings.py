# SPDX-License-Identifier: Apache-2.0
"""
Settings of laws as parameters of nodes: a frozen dataclass declares name, type, bounds and text.

The parameters of the laws of the suite are described in the schema files of the nodes. Those of
laws of other packages are made from the dataclass, and validated in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import MISSING, Field, field, fields, is_dataclass
from typing import Any, ClassVar, get_args, get_type_hints

# type of a field and of the parameter that is made from it
KINDS: dict[Any, str] = {
    float: 'double', int: 'int', bool: 'bool', str: 'string',
    tuple[float, ...]: 'double_array', tuple[int, ...]: 'int_array',
    tuple[bool, ...]: 'bool_array', tuple[str, ...]: 'string_array'}

# metadata of a field that belong to its parameter
DECLARED = ('description', 'validation', 'read_only')

Entries = dict[str, dict[str, Any]]


class SettingsError(ValueError):
    """Settings that cannot become parameters; the text has the field and the remedy."""


def setting(default: Any, text: str, *, bounds: tuple[float, float] | None = None,
            one_of: Sequence[Any] | None = None, read_only: bool = False) -> Any:
    """
    Return a dataclass field that becomes a parameter with bounds and description.

    Parameters
    ----------
    default : float, int, bool, str or tuple of them
    text : str
        Description of the parameter, with its unit.
    bounds : (float, float), optional
        Smallest and largest value.
    one_of : sequence, optional
        All allowed values.
    read_only : bool
        The parameter cannot change while the node runs.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Settings:
    ...     gain: float = setting(2.0, 'Gain of the yaw rate [1/s].', bounds=(0.0, 10.0))
    >>> Settings()
    Settings(gain=2.0)
    >>> entries_of(Settings, 'swing')['swing.gain']['validation']
    {'bounds<>': [0.0, 10.0]}
    """
    rules: dict[str, list[Any]] = {}
    if bounds is not None:
        rules['bounds<>'] = [*bounds]
    if one_of is not None:
        rules['one_of<>'] = [[*one_of]]
    return field(default=default, metadata={
        'description': text, 'validation': rules, 'read_only': read_only})


def entries_of(kind: type[Any], group: str, names: Iterable[str] | None = None) -> Entries:
    """
    Return the schema entries of the fields of a dataclass, by ``group.field``.

    Parameters
    ----------
    kind : dataclass
        Each field has one of the types of `KINDS` and a default. A field that is not made by
        `setting` has no bounds and a text of its name.
    group : str
        Group of the parameters.
    names : iterable of str, optional
        Only these fields.

    Raises
    ------
    SettingsError
        Not a dataclass, an unknown type, or a field without a default of its type.
    """
    if not (isinstance(kind, type) and is_dataclass(kind)):
        raise SettingsError(f'Settings = {kind!r}: must be a dataclass, each field with a default')
    try:
        types = get_type_hints(kind)
    except NameError as error:
        raise SettingsError(f'{kind.__name__}: a type is unknown ({error}); import it where the '
                            'class is defined') from None
    wanted = {item.name for item in fields(kind)} if names is None else set(names)
    return {f'{group}.{item.name}': _entry(kind.__name__, group, item, types[item.name])
            for item in fields(kind) if item.name in wanted}


def _entry(kind: str, group: str, item: Field[Any], wanted: Any) -> dict[str, Any]:
    """Return the schema entry of a field of the dataclass called `kind`."""
    name = f'{kind}.{item.name}'
    if wanted not in KINDS:
        raise SettingsError(f'{name} is of the type {wanted}: must be float, int, bool, str, or a '
                            'tuple of any number of one of them, tuple[float, ...]')
    default = item.default if item.default_factory is MISSING else item.default_factory()
    if default is MISSING:
        raise SettingsError(f'{name} has no default; give it one')
    if not _of_type(default, wanted):
        raise SettingsError(f'{name} = {default!r}: the default must be of the type '
                            f'{KINDS[wanted]}')
    declared = {key: item.metadata[key] for key in DECLARED if key in item.metadata}
    return {'description': f'Setting {item.name} of {group}.', **declared,
            'type': KINDS[wanted],
            'default_value': [*default] if isinstance(default, tuple) else default}


def _of_type(value: Any, wanted: Any) -> bool:
    """Return whether a value has the type of a field; a whole number may be a real one."""
    if inner := get_args(wanted):
        return isinstance(value, tuple) and all(_of_type(part, inner[0]) for part in value)
    if isinstance(value, bool):
        return wanted is bool
    return isinstance(value, (float, int) if wanted is float else wanted)


def fill(kind: type[Any], group: Any, names: Iterable[str] | None = None) -> Any:
    """
    Return the dataclass `kind` with its fields `names` (all when omitted) from `group`.

    A field that is not a parameter is an AttributeError: schema and dataclass must match.
    """
    return kind(**{name: getattr(group, name) for name in
                   names or [item.name for item in fields(kind)]})


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
