# SPDX-License-Identifier: Apache-2.0
"""
Parameters of a node from one schema file (schema.py) that declares, checks and documents them.

A value that does not pass is rejected with its name, value and range; a parameter that the schema
does not know is an error, because a misspelt gain must not be silently ignored.
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

from c3p_ros.groups import grouped
from c3p_ros.schema import ParameterError, read_schema, violation

__all__ = ['ParameterError', 'Parameters', 'read_schema', 'violation']

TYPES = {
    'bool': Parameter.Type.BOOL, 'int': Parameter.Type.INTEGER, 'double': Parameter.Type.DOUBLE,
    'string': Parameter.Type.STRING, 'bool_array': Parameter.Type.BOOL_ARRAY,
    'int_array': Parameter.Type.INTEGER_ARRAY, 'double_array': Parameter.Type.DOUBLE_ARRAY,
    'string_array': Parameter.Type.STRING_ARRAY,
}

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
    Declares the schema's parameters on a node; their values are attributes of `value`.

    Parameters
    ----------
    node : Node
    schemas : paths
        Later files add to earlier ones.
    changed : callable, optional
        Called with no argument after a dynamic parameter has been accepted.
    own : sequence of str
        Groups with names of the user's, which the node itself reads and checks.

    Raises
    ------
    ParameterError
        A value out of range, or a parameter that no schema knows.
    """

    def __init__(self, node: Node, *schemas: Path,
                 changed: Callable[[], None] = lambda: None, own: Sequence[str] = ()) -> None:
        """Declare, check and read every parameter."""
        self._node = node
        self._entries: dict[str, dict[str, Any]] = {}
        for path in schemas:
            self._entries.update(read_schema(path))
        self.changed = changed
        self._foreign = (*FOREIGN, *own)
        self._refuse_unknown()
        for name, entry in self._entries.items():
            self._declare(name, entry)
        self.value = grouped({n: node.get_parameter(n).value for n in self._entries})
        node.add_on_set_parameters_callback(self._on_set)

    def _refuse_unknown(self) -> None:
        for name in self._node._parameter_overrides:
            if name not in self._entries and name.split('.')[0] not in self._foreign:
                close = [known for known in self._entries if known.split('.')[-1] in name
                         or name in known] or get_close_matches(name, self._entries)
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
        self.value = grouped({**values, **accepted})
        try:
            self.changed()
        except ValueError as error:  # a combination that the node itself refuses
            self.value = before
            self.changed()
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)
