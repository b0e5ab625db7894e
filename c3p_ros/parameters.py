# SPDX-License-Identifier: Apache-2.0
"""
Parameters of a node from one schema file that declares, checks and documents them.

The files have generate_parameter_library's syntax, so that its generator can take over where it is
installed: ``type``, ``default_value``, ``description``, ``read_only`` and ``validation`` with
``bounds<>``, ``gt<>``, ``gt_eq<>``, ``lt<>``, ``lt_eq<>``, ``one_of<>``, ``fixed_size<>``,
``not_empty<>``. A value that does not pass is rejected with its name, value and range; a parameter
that the schema does not know is an error, because a misspelt gain must not be silently ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

TYPES = {
    'bool': Parameter.Type.BOOL, 'int': Parameter.Type.INTEGER, 'double': Parameter.Type.DOUBLE,
    'string': Parameter.Type.STRING, 'bool_array': Parameter.Type.BOOL_ARRAY,
    'int_array': Parameter.Type.INTEGER_ARRAY, 'double_array': Parameter.Type.DOUBLE_ARRAY,
    'string_array': Parameter.Type.STRING_ARRAY,
}

# parameters that rclpy itself declares
FOREIGN = ('use_sim_time', 'qos_overrides', 'start_type_description_service')


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


def violation(name: str, entry: Mapping[str, Any], value: Any) -> str:
    """Return why `value` must not be used for the schema entry, or an empty string."""
    rules = entry.get('validation', {})
    items = list(value) if isinstance(value, (list, tuple)) or hasattr(value, 'typecode') else [
        value]
    # nan is this family's way to say "no limit"; only entries that allow it may have it
    for item in items:
        if isinstance(item, float) and not math.isfinite(item) and not entry.get('allow_nan'):
            return f'{name} = {value}: must be finite'
    checks = {
        'bounds<>': lambda v, a: a[0] <= v <= a[1], 'gt<>': lambda v, a: v > a[0],
        'gt_eq<>': lambda v, a: v >= a[0], 'lt<>': lambda v, a: v < a[0],
        'lt_eq<>': lambda v, a: v <= a[0], 'one_of<>': lambda v, a: v in a[0],
    }
    for rule, argument in rules.items():
        arguments = argument if isinstance(argument, list) else [argument]
        if rule == 'fixed_size<>':
            if len(items) != arguments[0]:
                return f'{name} = {value}: must have {arguments[0]} values'
        elif rule == 'not_empty<>':
            if not value:
                return f'{name}: must not be empty'
        elif rule not in checks:
            return f'{name}: the schema has an unknown rule {rule}'
        else:
            for item in items:
                if not (isinstance(item, float) and math.isnan(item)) and not checks[rule](
                        item, arguments):
                    allowed = ' to '.join(str(a) for a in arguments)
                    return f'{name} = {value}: must be {rule.replace("<>", "")} {allowed}'
    return ''


def _descriptor(entry: Mapping[str, Any]) -> ParameterDescriptor:
    descriptor = ParameterDescriptor(description=str(entry.get('description', '')).strip(),
                                     read_only=bool(entry.get('read_only', False)))
    rules = entry.get('validation', {})
    if 'bounds<>' in rules:
        low, high = rules['bounds<>']
        descriptor.additional_constraints = f'{low} to {high}'
        if entry['type'] == 'double' and not entry.get('allow_nan'):
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=float(low), to_value=float(high))]
        elif entry['type'] == 'int':
            descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high),
                                                     step=1)]
    elif rules:
        descriptor.additional_constraints = ', '.join(f'{k} {v}' for k, v in rules.items())
    return descriptor


class Parameters:
    """
    Declares the schema's parameters on a node; their values are attributes of `value`.

    Parameters
    ----------
    node : Node
    schemas : paths
        Later files add to earlier ones.
    changed : callable, optional
        Called with no argument after a dynamic parameter has been accepted.

    Raises
    ------
    ParameterError
        A value out of range, or a parameter that no schema knows.
    """

    def __init__(self, node: Node, *schemas: Path,
                 changed: Callable[[], None] = lambda: None) -> None:
        """Declare, check and read every parameter."""
        self._node = node
        self._entries: dict[str, dict[str, Any]] = {}
        for path in schemas:
            self._entries.update(read_schema(path))
        self.changed = changed
        self._refuse_unknown()
        for name, entry in self._entries.items():
            self._declare(name, entry)
        self.value = self._namespace({n: node.get_parameter(n).value for n in self._entries})
        node.add_on_set_parameters_callback(self._on_set)

    def _refuse_unknown(self) -> None:
        for name in self._node._parameter_overrides:
            if name not in self._entries and name.split('.')[0] not in FOREIGN:
                close = [known for known in self._entries if known.split('.')[-1] in name
                         or name in known]
                raise ParameterError(
                    f'{self._node.get_name()}: unknown parameter {name!r}; '
                    + (f'did you mean {close}?' if close
                       else f'known are {sorted(self._entries)}'))

    def _declare(self, name: str, entry: dict[str, Any]) -> None:
        default = entry.get('default_value')
        if entry['type'] == 'double' and default is not None:
            default = float(default)
        elif entry['type'] == 'double_array' and default is not None:
            default = [float(v) for v in default]
        given = self._node._parameter_overrides.get(name)
        if given is not None:
            self._check_given(name, entry, given)
        try:
            self._node.declare_parameter(name, default, _descriptor(entry))
        except Exception as error:
            raise ParameterError(f'{self._node.get_name()}: {name}: {error}') from error

    def _check_given(self, name: str, entry: dict[str, Any], given: Parameter) -> None:
        wanted = TYPES[entry['type']]
        # a whole number in a parameter file is meant as a real one
        if wanted == Parameter.Type.DOUBLE and given.type_ == Parameter.Type.INTEGER:
            given = Parameter(name, wanted, float(given.value))
            self._node._parameter_overrides[name] = given
        elif wanted == Parameter.Type.DOUBLE_ARRAY and given.type_ == Parameter.Type.INTEGER_ARRAY:
            given = Parameter(name, wanted, [float(v) for v in given.value])
            self._node._parameter_overrides[name] = given
        if given.type_ != wanted:
            raise ParameterError(f'{self._node.get_name()}: {name} = {given.value!r} is a '
                                 f'{given.type_.name.lower()}; it must be a {entry["type"]}')
        reason = violation(name, entry, given.value)
        if reason:
            raise ParameterError(f'{self._node.get_name()}: {reason}')

    def _on_set(self, parameters: list[Parameter]) -> SetParametersResult:
        accepted = {}
        for parameter in parameters:
            entry = self._entries.get(parameter.name)
            if entry is None:
                continue
            reason = violation(parameter.name, entry, parameter.value)
            if reason:
                return SetParametersResult(successful=False, reason=reason)
            accepted[parameter.name] = parameter.value
        values = {name: self._node.get_parameter(name).value for name in self._entries}
        before = self.value
        self.value = self._namespace({**values, **accepted})
        try:
            self.changed()
        except ValueError as error:  # a combination that the node itself refuses
            self.value = before
            self.changed()
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    @staticmethod
    def _namespace(values: Mapping[str, Any]) -> SimpleNamespace:
        root = SimpleNamespace()
        for name, value in values.items():
            *groups, leaf = name.split('.')
            place = root
            for group in groups:
                if not hasattr(place, group):
                    setattr(place, group, SimpleNamespace())
                place = getattr(place, group)
            setattr(place, leaf, list(value) if hasattr(value, 'typecode') else value)
        return root
