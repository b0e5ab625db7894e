# SPDX-License-Identifier: Apache-2.0
"""
With which parameters and which version a bag was made; read without a ROS 2 installation.

The recorder asks the nodes and writes each answer as a ParameterEvent on its latched topic
``~/parameters``; what changes later stands on ``/parameter_events``, as ``ros2 bag record`` writes
it, too.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from c3p_bags.storage.bags import read_topics, topics_of
from c3p_description.reading.files import share_file

EVENT = 'rcl_interfaces/msg/ParameterEvent'

# fields of a ParameterValue by its type
FIELDS = {1: 'bool_value', 2: 'integer_value', 3: 'double_value', 4: 'string_value',
          5: 'byte_array_value', 6: 'bool_array_value', 7: 'integer_array_value',
          8: 'double_array_value', 9: 'string_array_value'}
ARRAYS = {'bool_array_value': bool, 'integer_array_value': np.int64, 'double_array_value': float}


def notes(robot: str) -> dict[str, str]:
    """Return what goes into the metadata of every bag."""
    return {'c3p_version': suite_version(), 'c3p_robot': robot}


def suite_version() -> str:
    """Return the version of the suite that runs."""
    return ElementTree.parse(share_file('package.xml')).findtext('version') or ''


def value_of(value: Any) -> Any:
    """Return what a ParameterValue says; None where it is not set."""
    field = FIELDS.get(value.type)
    found = None if field is None else getattr(value, field)
    return found.tolist() if hasattr(found, 'tolist') else found


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


def read_parameters(bag: str | Path) -> dict[str, dict[str, Any]]:
    """
    Return ``{full name of the node: {parameter: value}}``, as they were at the end of a bag.

    Nodes of which nothing is recorded are left out; so is everything in a bag without a topic for
    it.

    Raises
    ------
    BagError
        It cannot be read.
    """
    topics = [name for name, (kind, _) in topics_of(bag).items() if kind == EVENT]
    found: dict[str, dict[str, Any]] = {}
    for entry in read_topics(bag, topics) if topics else ():
        said = entry.message
        node = found.setdefault(said.node, {})
        for parameter in (*said.new_parameters, *said.changed_parameters):
            node[parameter.name] = value_of(parameter.value)
        for parameter in said.deleted_parameters:
            node.pop(parameter.name, None)
    return found
