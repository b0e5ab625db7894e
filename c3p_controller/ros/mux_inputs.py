# SPDX-License-Identifier: Apache-2.0
"""
Sources and locks of the mux, from parameters in the format of the package twist_mux.

Enabling devices are a group of their own, which that package does not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node

from c3p_controller.command_lock import Lock
from c3p_controller.ros.enable_inputs import Enable
from c3p_controller.twist_mux import Input
from c3p_description.reading.files import share_file
from c3p_description.reading.yaml_files import read_yaml
from c3p_ros.parameters import overrides_of
from c3p_ros.schema import ParameterError

# groups of the parameter file, and required fields of their entries
TOPICS = 'topics'
LOCKS = 'locks'
ENABLES = 'enables'
FIELDS = {'topic': str, 'timeout': float, 'priority': int}
# optional field of a lock
START = {'start': str}
# fields of an enabling device
ENABLE_FIELDS = {'topic': str, 'timeout': float, 'source': str}
BUTTONS = {'button': int, 'panic': int}


def declared_inputs(node: Node) -> tuple[list[Input], list[Lock], list[Enable]]:
    """
    Declare and return sources, locks and enabling devices of a mux, the shipped ones by default.

    Raises
    ------
    ParameterError
        A missing or unknown field, or one of another type.
    """
    given: dict[str, dict[str, Any]] = {TOPICS: {}, LOCKS: {}, ENABLES: {}}
    for name, parameter in overrides_of(node).items():
        group, _, rest = name.partition('.')
        if group in given and parameter.value is not None:
            given[group][rest] = parameter.value
    if not (given[TOPICS] or given[LOCKS]):
        given |= shipped()
    fixed = ParameterDescriptor(read_only=True)
    for group, entries in given.items():
        for key, value in entries.items():
            node.declare_parameter(f'{group}.{key}', value, fixed)
    return sources_of(given[TOPICS]), locks_of(given[LOCKS]), enables_of(given[ENABLES])


def sources_of(entries: Mapping[str, Any]) -> list[Input]:
    """Return the sources of ``{'NAME.FIELD': value}``, in the order of their names."""
    return [Input(name, **fields) for name, fields in _read(entries, TOPICS, FIELDS)]


def locks_of(entries: Mapping[str, Any]) -> list[Lock]:
    """Return the locks of ``{'NAME.FIELD': value}``, in the order of their names."""
    return [Lock(name, **fields) for name, fields in _read(entries, LOCKS, FIELDS, START)]


def enables_of(entries: Mapping[str, Any]) -> list[Enable]:
    """Return the enabling devices of ``{'NAME.FIELD': value}``, in the order of their names."""
    return [Enable(name, **fields)
            for name, fields in _read(entries, ENABLES, ENABLE_FIELDS, BUTTONS)]


def _read(entries: Mapping[str, Any], where: str, required: Mapping[str, type],
          optional: Mapping[str, type] = MappingProxyType({})) -> list[tuple[str, dict[str, Any]]]:
    """Return the checked fields of each entry of a group."""
    found: dict[str, dict[str, Any]] = {}
    kinds = {**required, **optional}
    for key, value in entries.items():
        name, _, field = key.rpartition('.')
        kind = kinds.get(field)
        if not name or kind is None:
            raise ParameterError(f'{where}.{key}: unknown; an entry has {", ".join(kinds)}')
        # an integer is accepted for seconds
        value = float(value) if kind is float and type(value) is int else value
        if type(value) is not kind:
            raise ParameterError(f'{where}.{key} = {value!r}: must be of type {kind.__name__}')
        found.setdefault(name, {})[field] = value
    for name, fields in found.items():
        if missing := [field for field in required if field not in fields]:
            raise ParameterError(f'{where}.{name}: {", ".join(missing)} missing')
    return sorted(found.items())


def shipped() -> dict[str, dict[str, Any]]:
    """Return ``{group: {'NAME.FIELD': value}}`` of config/twist_mux.yaml."""
    content = read_yaml(share_file('config/twist_mux.yaml'))
    (node,) = content.values()
    return {group: {f'{name}.{field}': value for name, entry in
                    node['ros__parameters'][group].items() for field, value in entry.items()}
            for group in (TOPICS, LOCKS)}
