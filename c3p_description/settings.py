# SPDX-License-Identifier: Apache-2.0
"""
Settings: frozen dataclasses whose fields are parameters, and the one check of their values.

A parameter is described by a *schema entry*, a mapping with ``type``, ``default_value``,
``description`` and ``validation`` (generate_parameter_library's syntax). Entries come from the
YAML schema of a node, or from the fields of a dataclass. The settings of the suite are generated
from the schemas (scripts/write_settings.py), so that default, bounds, unit and text have one
source. `violation` checks a value, whether it comes from ROS, from a file or from Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar, TypeVar, get_args, get_type_hints

from c3p_description.texts import brief

# type of a field, and the type of its parameter
KINDS: dict[Any, str] = {
    float: 'double', int: 'int', bool: 'bool', str: 'string',
    tuple[float, ...]: 'double_array', tuple[int, ...]: 'int_array',
    tuple[bool, ...]: 'bool_array', tuple[str, ...]: 'string_array'}

# metadata of a field that belong to its parameter
DECLARED = ('description', 'validation', 'read_only', 'unlimited')

# Python types that a parameter type accepts
ACCEPTED: dict[str, tuple[type, ...]] = {
    'double': (float, int), 'int': (int,), 'bool': (bool,), 'string': (str,)}

Entry = Mapping[str, Any]
Entries = dict[str, dict[str, Any]]
Kind = TypeVar('Kind', bound='CheckedSettings')


class SettingsError(ValueError):
    """Settings that cannot be used; the text has the name, the value and the remedy."""


def setting(default: Any, text: str = '', *, bounds: tuple[float, float] | None = None,
            above: float | None = None, least: float | None = None,
            one_of: Sequence[Any] | None = None, size: int | None = None,
            filled: bool = False, **more: Any) -> Any:
    """
    Return a dataclass field that is a parameter, with its bounds and its description.

    Parameters
    ----------
    default : float, int, bool, str or tuple of them
    text : str
        Description of the parameter, with its unit.
    bounds : (float, float), optional
        Smallest and largest value.
    above, least : float, optional
        Open or closed lower bound, where there is no upper one.
    one_of : sequence, optional
        All allowed values.
    size : int, optional
        Number of values of a tuple.
    filled : bool
        A text or tuple that must not be empty.
    **more
        ``read_only`` : bool, the parameter cannot change while the node runs. ``parameter`` : str,
        its dotted name in the node. ``unlimited`` : bool, inf means no limit.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class SwingSettings(CheckedSettings):
    ...     gain: float = setting(2.0, 'Gain of the yaw rate [1/s].', bounds=(0.0, 10.0))
    >>> SwingSettings()
    SwingSettings(gain=2.0)
    >>> SwingSettings(gain=11.0)
    Traceback (most recent call last):
        ...
    c3p_description.settings.SettingsError: gain = 11.0: must be 0.0 to 10.0
    >>> entries_of(SwingSettings, 'swing')['swing.gain']['validation']
    {'bounds<>': [0.0, 10.0]}
    """
    rules: dict[str, list[Any]] = {}
    for rule, argument in (('fixed_size<>', size), ('gt<>', above), ('gt_eq<>', least)):
        if argument is not None:
            rules[rule] = [argument]
    if filled:
        rules['not_empty<>'] = []
    if bounds is not None:
        rules['bounds<>'] = [*bounds]
    if one_of is not None:
        rules['one_of<>'] = [[*one_of]]
    if unknown := set(more) - {'read_only', 'parameter', 'unlimited'}:
        raise TypeError(f'setting() has no argument {", ".join(sorted(unknown))}')
    return field(default=default, metadata={
        'description': text, 'validation': rules,
        **{name: value for name, value in more.items() if value}})


@dataclass(frozen=True)
class CheckedSettings:
    """
    Base of settings: the fields made by `setting` are checked when an instance is made.

    A subclass is a frozen dataclass. One that has conditions on several values together extends
    ``__post_init__`` and calls this one first.

    Attributes
    ----------
    error : type of ValueError
        Raised for a value that cannot be used.
    """

    error: ClassVar[type[ValueError]] = SettingsError

    def __post_init__(self) -> None:
        """Reject values of a wrong type or out of range, by name, value and range."""
        for name, entry in self._entries().items():
            if reason := violation(name, entry, getattr(self, name)):
                raise self.error(reason)

    @classmethod
    def _entries(cls) -> Entries:
        """Return the entries of the fields that are made by `setting`, by field."""
        kind: Any = cls
        return _entries_of_fields(kind)

    @classmethod
    def parameters(cls) -> dict[str, str]:
        """Return ``{field: dotted name of its parameter}`` of the fields that have one."""
        return {item.name: item.metadata['parameter'] for item in fields(cls)
                if 'parameter' in item.metadata}

    @classmethod
    def choices(cls) -> dict[str, tuple[Any, ...]]:
        """Return the allowed values of each field that has a list of them."""
        return {name: tuple(entry['validation']['one_of<>'][0])
                for name, entry in cls._entries().items()
                if 'one_of<>' in entry.get('validation', {})}

    @classmethod
    def of(cls: type[Kind], values: Any, **more: Any) -> Kind:
        """
        Return the settings from the parameters of a node.

        Parameters
        ----------
        values : object
            Parameters by name, groups as objects (`c3p_ros.parameters.Parameters.value`). One that
            is missing is an AttributeError: schema and settings must match.
        **more
            Fields that are not parameters.
        """
        found = {name: attrgetter(parameter)(values)
                 for name, parameter in cls.parameters().items()}
        return cls(**{name: tuple(value) if isinstance(value, list) else value
                      for name, value in found.items()}, **more)

    @classmethod
    def given(cls: type[Kind], values: Mapping[str, Any], **more: Any) -> Kind:
        """
        Return the settings from some parameters by their dotted names; others have defaults.

        Parameters
        ----------
        values : mapping
            Other names than those of the parameters are ignored.
        **more
            Fields that are not parameters.

        Raises
        ------
        SettingsError
            A value of a wrong type or out of range; the text has the name of the parameter.
        """
        found = {}
        for name, parameter in cls.parameters().items():
            if parameter in values:
                value = values[parameter]
                if reason := violation(parameter, cls._entries()[name], value):
                    raise cls.error(reason)
                found[name] = tuple(value) if isinstance(value, list) else value
        return cls(**found, **more)


def computed(settings: Any, **values: Any) -> Any:
    """
    Return settings with values that a program has computed from those of a user or of the robot.

    The bounds of the parameters are those of a user's input and do not limit them. A dataclass
    that is not derived from `CheckedSettings` keeps its own check.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class SlowSettings(CheckedSettings):
    ...     speed: float = setting(0.5, bounds=(0.01, 3.0))
    >>> computed(SlowSettings(), speed=0.002)  # the wheels of this robot turn no faster
    SlowSettings(speed=0.002)
    """
    if not isinstance(settings, CheckedSettings):
        return replace(settings, **values)
    if unknown := values.keys() - {item.name for item in fields(settings)}:
        raise TypeError(f'{type(settings).__name__} has no field {", ".join(sorted(unknown))}')
    made = object.__new__(type(settings))
    vars(made).update(vars(settings) | values)
    return made


@cache
def _entries_of_fields(kind: type[Any]) -> Entries:
    hints = get_type_hints(kind)
    return {item.name: _entry(kind.__name__, '', item, hints[item.name])
            for item in fields(kind) if 'validation' in item.metadata}


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
    parts = get_args(wanted)
    # a tuple of a known length is an array as well
    wanted = tuple[parts[0], ...] if parts and len(set(parts)) == 1 else wanted  # type: ignore
    if wanted not in KINDS:
        raise SettingsError(f'{name} is of the type {wanted}: must be float, int, bool, str, or a '
                            'tuple of any number of one of them, tuple[float, ...]')
    default = item.default if item.default_factory is MISSING else item.default_factory()
    if default is MISSING:
        raise SettingsError(f'{name} has no default; give it one')
    entry = {'description': f'Setting {item.name} of {group}.',
             **{key: item.metadata[key] for key in DECLARED if item.metadata.get(key)},
             'type': KINDS[wanted],
             'default_value': [*default] if isinstance(default, tuple) else default}
    if wrong := wrong_type(entry['type'], entry['default_value']):
        raise SettingsError(f'{name} = {default!r}: the default must be {wrong}')
    return entry


def wrong_type(kind: str, value: Any) -> str:
    """
    Return what a value of the parameter type `kind` must be, or an empty text if it is that.

    A whole number is accepted for a real one.

    Examples
    --------
    >>> wrong_type('double', 3), wrong_type('double', True), wrong_type('int_array', [1, 2.5])
    ('', 'a double', 'an int_array')
    """
    # numbers and arrays of NumPy, and arrays of rclpy
    value = value.tolist() if hasattr(value, 'tolist') else value
    if kind.endswith('_array'):
        fits = isinstance(value, (list, tuple)) and all(_fits(kind, item) for item in value)
    else:
        fits = _fits(kind, value)
    return '' if fits else type_words(kind)


def _fits(kind: str, value: Any) -> bool:
    types = ACCEPTED[kind.removesuffix('_array')]
    # a truth value is an int in Python
    return isinstance(value, types) and (bool in types or not isinstance(value, bool))


def type_words(kind: str) -> str:
    """Return the name of a parameter type with its article."""
    return f'an {kind}' if kind.startswith('int') else f'a {kind}'


# condition on one number or text, and how the error text expresses it
_RULES: dict[str, tuple[Callable[..., bool], str]] = {
    'bounds<>': (lambda v, low, high: low <= v <= high, '{} to {}'),
    'gt<>': (lambda v, low: v > low, 'more than {}'),
    'gt_eq<>': (lambda v, low: v >= low, '{} or more'),
    'lt<>': (lambda v, high: v < high, 'less than {}'),
    'lt_eq<>': (lambda v, high: v <= high, '{} or less'),
    'one_of<>': (lambda v, names: v in names, 'one of {}'),
}


def violation(name: str, entry: Entry, value: Any) -> str:
    """
    Return the reason for which a value violates its schema entry, or an empty text.

    Examples
    --------
    >>> entry = {'type': 'double', 'validation': {'bounds<>': [0.0, 10.0]}}
    >>> violation('gain', entry, 11.0)
    'gain = 11.0: must be 0.0 to 10.0'
    >>> violation('gain', entry, 'fast')
    "gain = 'fast': must be a double"
    """
    if wanted := wrong_type(entry['type'], value):
        return f'{name} = {brief(value)}: must be {wanted}'
    items = [*value] if entry['type'].endswith('_array') else [value]
    rules = entry.get('validation', {})
    for rule, argument in rules.items():
        if rule == 'fixed_size<>' and len(items) != _arguments(argument)[0]:
            return f'{name} = {brief(value)}: must have {_arguments(argument)[0]} values'
        if rule == 'not_empty<>' and not value:
            return f'{name}: must not be empty'
        if rule not in (*_RULES, 'fixed_size<>', 'not_empty<>'):
            return f'{name}: the schema has an unknown rule {rule}'
    for item in items:
        if reason := _item_violation(entry, rules, item):
            unlimited = '; inf means no limit' if entry.get('unlimited') else ''
            return f'{name} = {brief(value)}: must be {reason}{unlimited}'
    return ''


def _item_violation(entry: Entry, rules: Mapping[str, Any], item: Any) -> str:
    """Return what a number or text must be, or an empty text if it is that."""
    if isinstance(item, float) and not math.isfinite(item):
        # inf may mean no limit, and nan in a parameter file as well
        unlimited = entry.get('unlimited') and item == math.inf
        if not unlimited and not entry.get('allow_nan'):
            return 'finite'
        if unlimited or math.isnan(item):
            return ''
    for rule, argument in rules.items():
        if rule not in _RULES:
            continue
        fits, allowed = _RULES[rule]
        if not fits(item, *_arguments(argument)):
            return allowed.format(*map(_shown, _arguments(argument)))
    return ''


def _shown(argument: Any) -> str:
    """Return the text of a bound or of several choices."""
    return ', '.join(map(str, argument)) if isinstance(argument, list) else f'{argument}'


def _arguments(argument: Any) -> list[Any]:
    """Return the arguments of a rule, which may be a single one."""
    return argument if isinstance(argument, list) else [argument]
