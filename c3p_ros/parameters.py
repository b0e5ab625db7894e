# SPDX-License-Identifier: Apache-2.0
"""
Parameters of a node, declared, validated and documented by its schema files (schema.py).

A value out of range is rejected with name, value and range. A parameter that is not in a schema is
an error: a misspelt gain must not be silently ignored. Changes follow Nav2's rule: the on-set
callback only validates, the post-set callback applies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

from c3p_description.settings import type_words, violation
from c3p_description.texts import brief
from c3p_ros.rclpy_parts import overrides_of
from c3p_ros.schema import Entries, ParameterError, converted, read_schema, typed, values_class

__all__ = ['ParameterError', 'Parameters', 'read_schema', 'violation']

TYPES = {
    'bool': Parameter.Type.BOOL, 'int': Parameter.Type.INTEGER, 'double': Parameter.Type.DOUBLE,
    'string': Parameter.Type.STRING, 'bool_array': Parameter.Type.BOOL_ARRAY,
    'int_array': Parameter.Type.INTEGER_ARRAY, 'double_array': Parameter.Type.DOUBLE_ARRAY,
    'string_array': Parameter.Type.STRING_ARRAY,
}

MoreEntries = Callable[[Entries, Mapping[str, Any]], Entries]

# accepted in their place
WHOLE = {Parameter.Type.DOUBLE: Parameter.Type.INTEGER,
         Parameter.Type.DOUBLE_ARRAY: Parameter.Type.INTEGER_ARRAY}

# parameters that rclpy itself declares
FOREIGN = ('use_sim_time', 'qos_overrides', 'start_type_description_service')


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
    Declares the parameters of a node and holds their values.

    Parameters
    ----------
    node : Node
    schemas : paths
        Later files add to earlier ones.
    own : sequence of str
        Groups with user-defined names, which the node itself declares and validates.
    more : callable, optional
        Takes the entries of the files and ``{name: value}`` of the parameters that the node was
        started with; returns entries that depend on these.

    Attributes
    ----------
    value : frozen dataclass
        Values by name, groups as dataclasses, arrays as lists; a new instance after each change.
    check : callable
        Gets the values that a change would lead to; raises ValueError for a combination that
        must be rejected. Applies nothing.
    changed : callable
        Called with no argument after `value` has changed.

    Raises
    ------
    ParameterError
        A value out of range, or a parameter that is not in a schema.
    """

    def __init__(self, node: Node, *schemas: Path, own: Sequence[str] = (),
                 more: MoreEntries | None = None) -> None:
        """Declare and validate every parameter."""
        self._node = node
        given = overrides_of(node)
        self._entries = read_schema(*schemas)
        if more is not None:
            self._entries |= more(self._entries, {
                name: parameter.value for name, parameter in given.items()})
        self._kind = values_class(self._entries)
        self.check: Callable[[Any], None] = lambda values: None
        self.changed: Callable[[], None] = lambda: None
        self._reject_unknown(given, (*FOREIGN, *own))
        for name, entry in self._entries.items():
            self._declare(name, entry, given.get(name))
        self.value = self._values()
        node.add_on_set_parameters_callback(self._on_set)
        node.add_post_set_parameters_callback(self._on_changed)

    def _reject_unknown(self, given: Mapping[str, Parameter], foreign: Sequence[str]) -> None:
        for name in given:
            if name not in self._entries and name.split('.')[0] not in foreign:
                close = [known for known in self._entries if known.split('.')[-1] in name
                         or name in known] or get_close_matches(name, self._entries)
                raise ParameterError(
                    f'{self._node.get_name()}: unknown parameter {name!r}; '
                    + (f'did you mean {close}?' if close
                       else f'must be one of {sorted(self._entries)}'))

    def _declare(self, name: str, entry: dict[str, Any], given: Parameter | None) -> None:
        """Declare a parameter with the given value, or else its default."""
        wanted = TYPES[entry['type']]
        value = entry['default_value']
        if given is not None:
            value = given.value
            reason = violation(name, entry, value)
            # an empty list has no type; a whole number in a YAML file may mean a real one
            if not reason and given.type_ not in (wanted, WHOLE.get(wanted)):
                reason = f'{name} = {brief(value)}: must be {type_words(entry["type"])}'
            if reason:
                raise ParameterError(f'{self._node.get_name()}: {reason}')
        value = converted(entry, value)
        try:
            self._node.declare_parameter(name, value, _descriptor(entry), ignore_override=True)
        except Exception as error:
            raise ParameterError(f'{self._node.get_name()}: {name}: {error}') from error

    def _values(self, changes: Sequence[Parameter] = ()) -> Any:
        """Return the present values with some changes."""
        values = {name: self._node.get_parameter(name).value for name in self._entries}
        return typed(self._kind, values | {change.name: change.value for change in changes})

    def _on_set(self, changes: list[Parameter]) -> SetParametersResult:
        known = [change for change in changes if change.name in self._entries]
        reasons = (violation(change.name, self._entries[change.name], change.value)
                   for change in known)
        reason = next(filter(None, reasons), '')
        if known and not reason:
            try:
                self.check(self._values(known))
            except ValueError as error:
                reason = f'{error}'
        return SetParametersResult(successful=not reason, reason=reason)

    def _on_changed(self, changes: list[Parameter]) -> None:
        if any(change.name in self._entries for change in changes):
            self.value = self._values()
            self.changed()
