# SPDX-License-Identifier: Apache-2.0
"""
Schemas of parameters: read, and held against values. Needs no ROS.

The files have generate_parameter_library's syntax, so that its generator can take over where it is
installed: ``type``, ``default_value``, ``description``, ``read_only`` and ``validation`` with
``bounds<>``, ``gt<>``, ``gt_eq<>``, ``lt<>``, ``lt_eq<>``, ``one_of<>``, ``fixed_size<>``,
``not_empty<>``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

TYPES = tuple(kind + form for form in ('', '_array')
              for kind in ('bool', 'int', 'double', 'string'))


class ParameterError(ValueError):
    """A parameter that cannot be used; the text names it, its value and what is allowed."""


def read_schema(path: str | Path) -> dict[str, dict[str, Any]]:
    """
    Return ``{dotted name: entry}`` of a schema file.

    Raises
    ------
    ParameterError
        The file is not a schema, or an entry has no known type.
    """
    content = yaml.safe_load(Path(path).read_text(encoding='utf-8'))
    if not isinstance(content, dict) or len(content) != 1:
        raise ParameterError(f'{path}: must have one top key, the name of the node')
    try:
        entries = dict(_flatten(next(iter(content.values())), ''))
    except ParameterError as error:
        raise ParameterError(f'{path}: {error}') from error
    for name, entry in entries.items():
        if entry['type'] not in TYPES:
            raise ParameterError(f'{path}: {name} has type {entry["type"]!r}; known are '
                                 f'{sorted(TYPES)}')
    return entries


def _flatten(node: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(node, dict):
        raise ParameterError(f'{prefix or "the top key"} holds {node!r}; must hold parameters')
    for key, value in node.items():
        # YAML reads on, off, yes and no as truth values
        if not isinstance(key, str) or not isinstance(value, dict):
            raise ParameterError(f'{prefix}{key}: {value!r}: must be a name with a type')
        if 'type' in value and not isinstance(value['type'], dict):
            yield prefix + key, value
        else:
            yield from _flatten(value, f'{prefix}{key}.')


# rules for single values: what they ask, and how a user reads it
_RULES = {
    'bounds<>': (lambda v, low, high: low <= v <= high, '{} to {}'),
    'gt<>': (lambda v, low: v > low, 'more than {}'),
    'gt_eq<>': (lambda v, low: v >= low, '{} or more'),
    'lt<>': (lambda v, high: v < high, 'less than {}'),
    'lt_eq<>': (lambda v, high: v <= high, '{} or less'),
    'one_of<>': (lambda v, names: v in names, 'one of {}'),
}


def violation(name: str, entry: Mapping[str, Any], value: Any) -> str:
    """Return why `value` must not be used for the schema entry, or an empty string."""
    rules = entry.get('validation', {})
    items = list(value) if isinstance(value, (list, tuple)) or hasattr(value, 'typecode') else [
        value]
    # nan is this family's way to say "no limit"; only entries that allow it may have it
    for item in items:
        if isinstance(item, float) and not math.isfinite(item) and not entry.get('allow_nan'):
            return f'{name} = {value}: must be finite'
    for rule, argument in rules.items():
        arguments = argument if isinstance(argument, list) else [argument]
        if rule == 'fixed_size<>':
            if len(items) != arguments[0]:
                return f'{name} = {value}: must have {arguments[0]} values'
        elif rule == 'not_empty<>':
            if not value:
                return f'{name}: must not be empty'
        elif rule not in _RULES:
            return f'{name}: the schema has an unknown rule {rule}'
        else:
            fits, allowed = _RULES[rule]
            for item in items:
                if not (isinstance(item, float) and math.isnan(item)) and not fits(
                        item, *arguments):
                    return f'{name} = {value}: must be {allowed.format(*arguments)}'
    return ''
