# SPDX-License-Identifier: Apache-2.0
"""ROS 2 parameter files: results of a search, and its start."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from c3p_description.reading.yaml_files import YamlFileError, read_yaml
from c3p_description.texts import brief
from c3p_experiments.tuning.parameters import NODES, Values, schemas


def parameter_text(controller: str, values: Mapping[str, float], remark: str) -> str:
    """
    Return a ROS 2 parameter file, for ``--params-file``, that selects the `controller`.

    `values` are by full name; `remark` becomes the comment of the first lines.
    """
    nodes: dict[str, dict[str, Any]] = {f'/**/{node}': {'controller': controller}
                                        for node in NODES}
    for name, value in values.items():
        node, *groups, leaf = name.split('.')
        places = [f'/**/{node}']
        # both nodes that allocate forces have this parameter
        if leaf == 'virtual_steering_weight':
            places.append('/**/inverse_dynamics')
        for key in places:
            place = nodes.setdefault(key, {})
            for group in groups:
                place = place.setdefault(group, {})
            place[leaf] = float(value)
    head = ''.join(f'# {line}\n' for line in remark.splitlines())
    return head + yaml.safe_dump({node: {'ros__parameters': parameters}
                                  for node, parameters in nodes.items()}, sort_keys=False)


def read_parameters(paths: Sequence[Path], controller: str = '') -> Values:
    """
    Return the numeric parameters of the control nodes in ROS 2 parameter files, by full name.

    Later files override earlier ones. The settings of a `controller` of another package are read
    too.

    Raises
    ------
    ValueError
        Not a parameter file, or a parameter without a schema.
    """
    known = schemas(controller)
    found = {}
    for path in paths:
        for key, parameters in _nodes(path):
            for node in NODES:
                if key.strip('/').split('/')[-1] not in (node, '**'):
                    continue
                for name, value in _leaves(parameters):
                    full = f'{node}.{name}'
                    if full in known:
                        if (number := _number(path, full, known[full], value)) is not None:
                            found[full] = number
                    # parameters under ** may belong to other nodes
                    elif key.strip('/') != '**':
                        raise ValueError(f'{path}: {full}: {node} has no such parameter')
    return found


def _nodes(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and parameters of each node in a file."""
    try:
        content = read_yaml(path)
    except YamlFileError as error:
        raise ValueError(f'{path}: cannot be read as YAML: {error}') from None
    shape = 'a ROS 2 parameter file has nodes, and in each ros__parameters with names and values'
    if not isinstance(content, dict):
        raise ValueError(f'{path}: {shape}')
    for key, entry in content.items():
        parameters = entry.get('ros__parameters') if isinstance(entry, dict) else None
        if not isinstance(parameters, dict):
            raise ValueError(f'{path}: {key} has no ros__parameters; {shape}')
        yield str(key), parameters


def _number(path: Path, name: str, entry: Mapping[str, Any], value: Any) -> float | None:
    """Return the value of a numeric parameter; None for other types."""
    if entry['type'] not in ('double', 'int'):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not (
            abs(value) < math.inf):
        shown = brief(value)[1:-1] if isinstance(value, str) else brief(value)
        raise ValueError(f'{path}: {name} = {shown}: must be a number')
    return value


def _leaves(group: Mapping[str, Any], prefix: str = '') -> Iterator[tuple[str, Any]]:
    for name, value in group.items():
        if isinstance(value, dict):
            yield from _leaves(value, f'{prefix}{name}.')
        else:
            yield f'{prefix}{name}', value
