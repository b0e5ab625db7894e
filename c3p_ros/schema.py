# SPDX-License-Identifier: Apache-2.0
"""
Parameter schemas: reading of the files, and values as frozen dataclasses. Needs no ROS.

`c3p_description.settings.violation` validates the values.

The files have generate_parameter_library's syntax, so that its generator can take over where it is
installed: ``type``, ``default_value``, ``description``, ``read_only`` and ``validation`` with
``bounds<>``, ``gt<>``, ``gt_eq<>``, ``lt<>``, ``lt_eq<>``, ``one_of<>``, ``fixed_size<>``,
``not_empty<>``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, make_dataclass
from pathlib import Path
from typing import Any

from c3p_description.reading.yaml_files import read_yaml

# schema of the parameters that every node has
COMMON = Path(__file__).with_name('common_parameters.yaml')

# Python type of the values of each parameter type
TYPES: dict[str, Any] = {
    'bool': bool, 'int': int, 'double': float, 'string': str, 'bool_array': list[bool],
    'int_array': list[int], 'double_array': list[float], 'string_array': list[str]}

Entries = Mapping[str, dict[str, Any]]


class ParameterError(ValueError):
    """A rejected parameter; the text has its name, its value and the allowed range."""


def read_schema(*paths: str | Path) -> dict[str, dict[str, Any]]:
    """
    Return ``{dotted name: entry}`` of schema files; later files add to earlier ones.

    Raises
    ------
    ParameterError
        The file is not a schema, or an entry has an unknown type.
    """
    entries: dict[str, dict[str, Any]] = {}
    for path in paths:
        content = read_yaml(path)
        if not isinstance(content, dict) or len(content) != 1:
            raise ParameterError(f'{path}: must have one top key, the name of the node')
        try:
            entries.update(_flatten(next(iter(content.values())), ''))
        except ParameterError as error:
            raise ParameterError(f'{path}: {error}') from error
    return entries


def _flatten(node: Any, prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(node, dict):
        raise ParameterError(f'{prefix or "the top key"} holds {node!r}; must hold parameters')
    for key, value in node.items():
        # YAML reads on, off, yes and no as truth values
        if not isinstance(key, str) or not isinstance(value, dict):
            raise ParameterError(f'{prefix}{key}: {value!r}: must be a name with a type')
        # a group may have a parameter of the name type
        if 'type' not in value or isinstance(value['type'], dict):
            yield from _flatten(value, f'{prefix}{key}.')
        elif value['type'] not in TYPES:
            raise ParameterError(f'{prefix}{key} has type {value["type"]!r}; must be one of '
                                 f'{sorted(TYPES)}')
        else:
            yield prefix + key, value


def values_class(entries: Entries, name: str = 'Parameters') -> type:
    """
    Return a frozen dataclass with a typed field for each parameter, groups as dataclasses.

    Examples
    --------
    >>> kind = values_class({'speed': {'type': 'double'}, 'mpc.steps': {'type': 'int'}})
    >>> typed(kind, {'speed': 1, 'mpc.steps': 20})
    Parameters(speed=1.0, mpc=Parameters_mpc(steps=20))
    """
    leaves: dict[str, Any] = {}
    groups: dict[str, dict[str, dict[str, Any]]] = {}
    for dotted, entry in entries.items():
        head, _, rest = dotted.partition('.')
        if rest:
            groups.setdefault(head, {})[rest] = entry
        else:
            leaves[head] = TYPES[entry['type']]
    leaves |= {group: values_class(inner, f'{name}_{group}') for group, inner in groups.items()}
    return make_dataclass(name, leaves.items(), frozen=True)


def typed(kind: type, values: Mapping[str, Any], prefix: str = '') -> Any:
    """
    Return an instance of a `values_class`; whole numbers become real ones where these are due.

    Parameters
    ----------
    kind : type
    values : mapping
        By dotted name; others than those of `kind` are left out.
    prefix : str
        Of the names, with its dot.
    """
    return kind(**{
        field.name: typed(field.type, values, f'{prefix}{field.name}.')
        if isinstance(field.type, type) and is_dataclass(field.type)
        else _converted(field.type, values[prefix + field.name])
        for field in fields(kind)})


def converted(entry: Mapping[str, Any], value: Any) -> Any:
    """Return a value of a schema entry, whole numbers as real ones where these are due."""
    return _converted(TYPES[entry['type']], value)


def _converted(kind: Any, value: Any) -> Any:
    if kind is float:
        return float(value)
    # rclpy returns array.array
    return list(map(float, value)) if kind == list[float] else (
        list(value) if hasattr(value, 'typecode') else value)
