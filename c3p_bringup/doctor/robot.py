# SPDX-License-Identifier: Apache-2.0
"""The robot's description and the parameter files of its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from c3p_bringup.doctor.check import Check, fail, ok, warn
from c3p_controller.reading.law_parameters import ENTRIES
from c3p_controller.reading.laws import LawError
from c3p_description.reading.loader import load_casters
from c3p_description.settings import violation
from c3p_hardware.axes import card_settings
from c3p_hardware.tools.parameter_file import COMMON, NODE, blocks, hardware_values

ROOT = Path(__file__).parents[2]
# nodes with a second schema
SHARED = {'simulation': ('plant',), 'emulated_cards': ('plant',)}


def description(robot: str) -> Check:
    """Return the check of the description of a robot."""
    try:
        found = load_casters(robot)
    except (ValueError, OSError, ModuleNotFoundError) as error:
        return fail('robot', f'{robot}: {" ".join(f"{error}".split())}', 'correct the file, or '
                    'name another robot')
    wheels = getattr(found, 'wheel_joints', None)
    if wheels is None:
        return warn('robot', f'{robot} is not a caster robot',
                    'the control chain drives caster robots only')
    return ok('robot', f'{found.name}, {found.count} casters')


def parameter_files(files: Sequence[Path], robot: str) -> Iterator[Check]:
    """Yield the check of each parameter file against the schemas of the nodes."""
    for path in files:
        wrong = list(parameter_faults(path))
        yield (fail('parameters', f'{path}: {"; ".join(wrong)}', 'correct the file') if wrong
               else ok('parameters', f'{path}'))
    try:
        values = hardware_values(files)
        card_settings(load_casters(values.robot if values.robot != 'c3p' else robot), values)
    except (ValueError, OSError) as error:
        yield fail('motor cards', f'{error}', f'correct the parameters of {NODE}')


def parameter_faults(path: Path) -> Iterator[str]:
    """Yield the errors of the ROS 2 parameter file at `path`, by the schemas of the nodes."""
    try:
        found = list(blocks(path))
    except (ValueError, OSError) as error:
        yield f'{error}'
        return
    if not found:
        yield 'no ros__parameters in it'
    for node, values in found:
        entries = schema_of(node)
        if not entries:
            continue
        try:
            entries |= ENTRIES[node](entries, values) if node in ENTRIES else {}
        except LawError as error:
            yield f'{node}: {error}'
        for name, value in values.items():
            if name.split('.')[0] in COMMON:
                continue
            if name not in entries:
                close = get_close_matches(name, entries)
                yield f'{node} has no parameter {name!r}' + (
                    f', did you mean {close[0]}?' if close else '')
            elif reason := violation(name, entries[name], value):
                yield f'{node}: {reason}'


def schema_of(node: str) -> dict[str, dict[str, Any]]:
    """Return ``{dotted name: entry}`` of a node, empty for a node of another package."""
    from c3p_ros.schema import read_schema

    entries: dict[str, dict[str, Any]] = {}
    # a wildcard is for several nodes; each validates it when it starts
    if not node.isidentifier():
        return entries
    for name in (*SHARED.get(node, ()), node):
        for path in ROOT.glob(f'c3p_*/**/{name}_parameters.yaml'):
            entries |= read_schema(path)
    return entries


