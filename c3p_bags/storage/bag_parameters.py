# SPDX-License-Identifier: Apache-2.0
"""
Parameters of nodes and version of the suite in bags; needs no ROS 2 installation.

The recorder requests the parameters of each node and writes them as a ParameterEvent on its
latched topic ``~/parameters``; later changes are on ``/parameter_events``.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from c3p_description.reading.files import share_file

EVENT = 'rcl_interfaces/msg/ParameterEvent'

# fields of a ParameterValue by its type
FIELDS = {1: 'bool_value', 2: 'integer_value', 3: 'double_value', 4: 'string_value',
          5: 'byte_array_value', 6: 'bool_array_value', 7: 'integer_array_value',
          8: 'double_array_value', 9: 'string_array_value'}
ARRAYS = {'bool_array_value': bool, 'integer_array_value': np.int64, 'double_array_value': float}


def notes(robot: str) -> dict[str, str]:
    """Return the custom data in the metadata of every bag."""
    return {'c3p_version': suite_version(), 'c3p_robot': robot}


def suite_version() -> str:
    """Return the version of the running suite."""
    return ElementTree.parse(share_file('package.xml')).findtext('version') or ''


def value_of(value: Any) -> Any:
    """Return the value in a ParameterValue; None where it is not set."""
    field = FIELDS.get(value.type)
    found = None if field is None else getattr(value, field)
    return found.tolist() if found is not None and hasattr(found, 'tolist') else found


def event(types: Mapping[str, type], time: int, node: str, values: Mapping[str, Any]) -> Any:
    """
    Return a ParameterEvent made of the classes in `types`.

    Parameters
    ----------
    types : mapping
        Of a typestore.
    time : int, ns
    node : str
        Full name.
    values : mapping
        ParameterValue of each parameter, of any library's class.
    """
    def copy(value: Any) -> Any:
        return types['rcl_interfaces/msg/ParameterValue'](value.type, *(
            np.asarray([b[0] for b in getattr(value, field)], np.int8)
            if field == 'byte_array_value' else np.asarray(getattr(value, field), ARRAYS[field])
            if field in ARRAYS else getattr(value, field) for field in FIELDS.values()))

    return types[EVENT](
        types['builtin_interfaces/msg/Time'](*divmod(time, 1_000_000_000)), node,
        [types['rcl_interfaces/msg/Parameter'](name, copy(value))
         for name, value in values.items()], [], [])


def last_values(events: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Return ``{full name of the node: {parameter: value}}`` after a series of ParameterEvents."""
    found: dict[str, dict[str, Any]] = {}
    for change in events:
        node = found.setdefault(change.node, {})
        for parameter in (*change.new_parameters, *change.changed_parameters):
            node[parameter.name] = value_of(parameter.value)
        for parameter in change.deleted_parameters:
            node.pop(parameter.name, None)
    return found
