# SPDX-License-Identifier: Apache-2.0
"""Robot file of a checked robot: the values in use with their sources, as YAML."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from c3p_description.model import CasterRobot
from c3p_description.reading.notes import Note
from c3p_description.reading.robot_files import base_of
from c3p_description.reading.robot_options import nested

# fields that a laboratory measures or chooses; geometry and masses stay in the description
FIELDS = {
    'casters': {'driven': 'motor on the wheel', 'torque_limit': 'of the motor, at the wheel [N·m]',
                'tyre_friction': 'µ of tyre on floor that controllers rely on',
                'traction_margin': 'fraction of that grip which controllers use'},
    'wheel': {'rate_limit': 'of the motor, at the wheel [rad/s]'},
    'friction': {'pivot_viscous': 'steering axis [N·m·s/rad]',
                 'pivot_coulomb': 'steering axis [N·m]',
                 'rolling_viscous': 'wheel, bearing and gear [N·m·s/rad]',
                 'rolling_coulomb': 'wheel, bearing and gear [N·m]',
                 'scrub_coulomb': 'tyre that turns on the spot [N·m]',
                 'smoothing': 'rate over which dry friction changes its sign [rad/s]'}}

WIDTH = 98


def robot_text(robot: CasterRobot, notes: Sequence[Note], base: Mapping[str, Any],
               options: Mapping[str, Any]) -> str:
    """
    Return the text of a robot file.

    Parameters
    ----------
    robot : CasterRobot
        Model with the values in use.
    notes : sequence of Note
        Of the reader; they become comments.
    base : mapping
        ``{'urdf': path}`` or ``{'extends': name or path}``.
    options : mapping
        Options and fields that were given to the reader, dotted or not.
    """
    given = nested(options)
    about = {note.field: note for note in notes}
    lines = ['# SI units and radians. The rest is in the file named next; values below take',
             '# precedence over it. Written by c3p robot --write.', _mapping(base),
             f'name: {_dump(robot.name)}']
    sections = {name: dict(given[name]) for name in given if isinstance(given[name], Mapping)}
    lines += [_mapping({name: value}) for name, value in given.items()
              # the driven wheels in use are below
              if name not in sections and name not in ('name', 'driven')]
    for section in (*FIELDS, *(name for name in sections if name not in FIELDS)):
        lines += ['', f'{section}:']
        for key, meaning in FIELDS.get(section, {}).items():
            note = about.get(f'{section}.{key}') or about.get(key)
            lines += _comment(meaning if note is None else f'{meaning}; {note.kind}: {note.text}')
            lines.append(f'  {key}: {_dump(_value(robot, section, key))}')
        lines += [f'  {key}: {_dump(value)}' for key, value in sections.get(section, {}).items()
                  if key not in FIELDS.get(section, {})]
    return '\n'.join(lines) + '\n'


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent='  # ', subsequent_indent='  # ')


def _value(robot: CasterRobot, section: str, key: str) -> Any:
    """Return a field of the model: one value where all casters have the same."""
    if section == 'friction':
        found = getattr(robot.friction, key)
    else:
        found = getattr(robot, f'wheel_{key}' if section == 'wheel' else key)
    values = np.atleast_1d(np.asarray(found)).tolist()
    return values[0] if len(set(values)) == 1 else values


def _dump(value: Any) -> str:
    """Return a value as YAML that reads back to the same bits."""
    text = yaml.safe_dump(value, default_flow_style=None, width=1000, allow_unicode=True,
                          sort_keys=False)
    return text.removesuffix('...\n').rstrip('\n')


def _mapping(entries: Mapping[str, Any]) -> str:
    return '\n'.join(f'{key}: {_dump(value)}' for key, value in entries.items())


def write_robot(robot: CasterRobot, notes: Sequence[Note], source: str,
                options: Mapping[str, Any], path: Path) -> Path:
    """
    Write the robot file of `source`, read with `options`, at `path`; return `path`.

    Files are named relative to the new one, so that both can be moved together.

    Raises
    ------
    ValueError
        `path` is not a YAML file, or is the source.
    """
    if path.suffix not in ('.yaml', '.yml'):
        raise ValueError(f'--write {path}: a robot file ends in .yaml')
    if path.resolve() == Path(source).resolve():
        raise ValueError(f'--write {path}: is the robot that is checked; name another file')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(robot_text(robot, notes, base_of(source, path), options), encoding='utf-8')
    return path
