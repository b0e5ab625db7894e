# SPDX-License-Identifier: Apache-2.0
"""
Parameter files of the hardware interface, without ROS: read as by the node, edited in place.

A block is matched by the name of the node, without namespaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from c3p_description.reading.yaml_files import YamlFileError, check_yaml, read_yaml
from c3p_description.settings import violation
from c3p_description.texts import brief, one_line
from c3p_hardware.settings import CardError
from c3p_ros.schema import COMMON as COMMON_SCHEMA
from c3p_ros.schema import read_schema, typed, values_class

NODE = 'hardware_interface'
SCHEMA = Path(__file__).parents[1] / f'{NODE}_parameters.yaml'
PARAMETERS = 'ros__parameters'

# names of blocks for any node
ANY = ('*', '**')

# parameters outside the schema: those of every node of the suite, and of rclpy
COMMON = ('robot', 'robot_description', 'use_sim_time', 'qos_overrides',
          'start_type_description_service')

# those that select the robot
NAMES = ('robot', 'robot_description')


def schema() -> dict[str, dict[str, Any]]:
    """Return ``{dotted name: entry}`` of the hardware interface's schema."""
    return read_schema(SCHEMA)


def hardware_values(files: Sequence[Path] = (), **given: Any) -> Any:
    """
    Return the parameters of a hardware interface with these files, later ones with priority.

    Values `given` by dotted name, such as ``bus.channel``, have priority over files; None is
    ignored. CardError for an invalid file, an unknown parameter, or a value of another type.
    """
    entries = schema()
    every = read_schema(COMMON_SCHEMA, SCHEMA)
    values = {name: entry['default_value'] for name, entry in every.items()}
    for path in files:
        values |= _of_file(path, entries)
    values |= {name: value for name, value in given.items() if value is not None}
    return typed(values_class(every), values)


def blocks(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """
    Yield (node or wildcard, parameters by dotted name) of a ROS 2 parameter file.

    CardError for invalid YAML, or without names of nodes.
    """
    for name, parameters in _blocks(_load(path), ''):
        yield name, dict(_flat(parameters, ''))


def _of_file(path: Path, entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, parameters in blocks(path):
        if name != NODE and name not in ANY:
            continue
        for key, value in parameters.items():
            if key in entries:
                _check(path, key, entries[key], value)
                found[key] = value
            elif key in NAMES:
                if not isinstance(value, str):
                    raise CardError(f'{path}: {key} = {brief(value)}: must be a text')
                found[key] = value
            elif key.split('.')[0] in COMMON and key.split('.')[0] not in NAMES:
                continue
            elif name == NODE:
                close = get_close_matches(key, entries)
                raise CardError(f'{path}: {NODE} has no parameter {key!r}; did you mean '
                                f'{close or sorted(entries)}?')
    return found


def _load(path: Path) -> dict[str, Any]:
    try:
        content = read_yaml(path)
    except YamlFileError as error:
        raise CardError(f'{path}: cannot be read as YAML: {error}') from error
    if content is not None and not isinstance(content, dict):
        raise CardError(f'{path}: must have names of nodes with {PARAMETERS} under them')
    return content or {}


def _blocks(content: Mapping[str, Any], name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (node or wildcard, its parameters)."""
    for key, value in content.items():
        if not isinstance(value, dict):
            continue
        if key == PARAMETERS:
            yield name, value
        else:
            yield from _blocks(value, f'{key}'.rstrip('/').split('/')[-1])


def _flat(parameters: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in parameters.items():
        if isinstance(value, dict):
            yield from _flat(value, f'{prefix}{key}.')
        else:
            yield f'{prefix}{key}', value


def _check(path: Path, name: str, entry: Mapping[str, Any], value: Any) -> None:
    """Reject a value of another type or out of its bounds."""
    if wrong := violation(name, entry, value):
        raise CardError(f'{path}: {wrong}')


def merged(text: str, values: Mapping[str, Any]) -> str:
    r"""
    Return a parameter file with `values` by dotted name for the hardware interface.

    Only the text of these values changes, or lines are added to `text`, which may be empty;
    comments stay. CardError for an invalid parameter file, or a block in braces.

    Examples
    --------
    >>> print(merged('hardware_interface:  # left\n  ros__parameters:\n    rate: 400.0\n',
    ...              {'encoders.zeros': [1, 2, 3]}), end='')
    hardware_interface:  # left
      ros__parameters:
        encoders.zeros: [1, 2, 3]
        rate: 400.0
    """
    for name, value in values.items():
        text = _with_value(text, name, yaml.safe_dump(value, default_flow_style=True,
                                                      width=10**6).strip())
    return text


def _with_value(text: str, name: str, value: str) -> str:
    try:
        check_yaml(text)
        root = yaml.compose(text)
    except (yaml.YAMLError, ValueError) as error:
        raise CardError(f'the parameter file cannot be read as YAML: {one_line(error)}'
                        ) from error
    if root is not None and not isinstance(root, yaml.MappingNode):
        raise CardError(f'the parameter file must have names of nodes with {PARAMETERS}')
    block = None if root is None else _find_block(root, '')
    if block is None:
        start = '' if not text or text.endswith('\n') else '\n'
        return f'{text}{start}{NODE}:\n  {PARAMETERS}:\n    {name}: {value}\n'
    # as one dotted name, or group by group
    while True:
        for key, node in block.value:
            if key.value == name:
                return text[:node.start_mark.index] + value + _after(text, node)
            if name.startswith(f'{key.value}.') and isinstance(node, yaml.MappingNode):
                block = node
                name = name[len(key.value) + 1:]
                break
        else:
            break
    if block.flow_style or not block.value:
        raise CardError(f'{NODE} is in braces or empty in the parameter file: write one '
                        'parameter per line')
    first = block.value[0][0].start_mark
    return f'{text[:first.index]}{name}: {value}\n{" " * first.column}{text[first.index:]}'


def _after(text: str, node: yaml.Node) -> str:
    """Return the text after a value; a block sequence ends with the line of its last item."""
    end = node.end_mark.index
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return text[node.value[-1].end_mark.index:]
    return text[end:]


def _find_block(node: yaml.MappingNode, name: str) -> yaml.MappingNode | None:
    for key, value in node.value:
        if not isinstance(value, yaml.MappingNode) or not isinstance(key, yaml.ScalarNode):
            continue
        if key.value == PARAMETERS and name == NODE:
            return value
        if key.value != PARAMETERS and (
                found := _find_block(value, key.value.rstrip('/').split('/')[-1])) is not None:
            return found
    return None
