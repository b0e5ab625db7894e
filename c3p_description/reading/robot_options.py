# SPDX-License-Identifier: Apache-2.0
"""
Options of the reader of a URDF, by one name everywhere.

An option is a key beside ``urdf:`` in a robot's file, ``--robot-option NAME=VALUE`` on the command
line, a key of the launch argument ``robot_options`` and an argument of `from_urdf`. In the same
places any field of the robot, such as ``casters.torque_limit``, takes precedence over the URDF.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from c3p_description.model import ModelError
from c3p_description.reading.yaml_files import YamlFileError, parse_yaml
from c3p_description.texts import brief

# m; smaller lateral and caster offsets count as zero: files are written to 0.1 mm
LENGTH_TOLERANCE = 1e-4

# option and its meaning
OPTIONS = {
    'tolerance': 'lateral offset of wheels and centres of mass that is neglected, m',
    'ignore': 'movable joints that resemble joints of a caster but are not',
    'wheel_radius': 'radius of the wheels, one for all or one per caster, m',
    'base_link': 'link whose frame is base_link of the model',
    'driven': 'driven wheels: their joints, or true or false per caster',
    'steered': 'steering joints with a motor: their names, or true or false per caster',
    'twins': 'two wheels on a pivot: middle, one wheel of a caster, or apart',
}
# two wheels on one axle behind a pivot are one in their middle, or two
TWINS = ('middle', 'apart')


@dataclass(frozen=True)
class UrdfOptions:
    """
    Options of the reader of a URDF, checked.

    Attributes
    ----------
    base_link : str, optional
    driven, steered : bool, or tuple of bool or of str, optional
    wheel_radius : float or tuple of float, m, optional
    ignore : tuple of str
    tolerance : float, m
    twins : str, optional
        One of `TWINS`; by default ``'middle'`` where the robot is then driven.
    """

    base_link: str | None = None
    driven: bool | tuple[bool, ...] | tuple[str, ...] | None = None
    steered: bool | tuple[bool, ...] | tuple[str, ...] | None = None
    wheel_radius: float | tuple[float, ...] | None = None
    ignore: tuple[str, ...] = ()
    tolerance: float = LENGTH_TOLERANCE
    twins: str | None = None


def remedy(name: str, example: str) -> str:
    """
    Return how an option is given, for errors.

    Examples
    --------
    >>> remedy('tolerance', '0.03')
    "give the robot option tolerance: --robot-option tolerance=0.03, at launch \
robot_options:='{tolerance: 0.03}', in a robot file tolerance: 0.03"
    """
    return (f'give the robot option {name}: --robot-option {name}={example}, at launch '
            f"robot_options:='{{{name}: {example}}}', in a robot file {name}: {example}")


def checked_options(values: Mapping[str, Any]) -> UrdfOptions:
    """
    Return the options in `values`.

    Raises
    ------
    ModelError
        An unknown option or a wrong value; the text names option, value and expectation.

    Examples
    --------
    >>> checked_options({'wheel_radius': 0.05, 'ignore': 'arm_joint'})
    UrdfOptions(base_link=None, driven=None, steered=None, wheel_radius=0.05, \
ignore=('arm_joint',), tolerance=0.0001, twins=None)
    """
    checks: dict[str, Callable[[Any], Any]] = {
        'tolerance': _tolerance, 'ignore': _names, 'wheel_radius': _radius, 'base_link': _link,
        'twins': _twins,
        'driven': partial(_motors, 'driven'), 'steered': partial(_motors, 'steered')}
    for name in values:
        if name not in OPTIONS:
            raise ModelError(f'{brief(name)[1:-1]} = {brief(values[name])}: unknown robot option; '
                             f'expected one of {", ".join(OPTIONS)}')
    return UrdfOptions(**{name: checks[name](value) for name, value in values.items()
                          if value is not None})


def parse_option(text: str) -> tuple[str, Any]:
    """
    Return name and value of ``NAME=VALUE``; the value is YAML, commas separate a list.

    Examples
    --------
    >>> parse_option('wheel_radius=0.05'), parse_option('ignore=arm,lift')
    (('wheel_radius', 0.05), ('ignore', ['arm', 'lift']))

    Raises
    ------
    ModelError
        No such form.
    """
    name, sign, value = text.partition('=')
    if not (sign and name.strip() and value.strip()):
        raise ModelError(f'robot option {brief(text)}: expected NAME=VALUE, such as '
                         f'wheel_radius=0.05; names are {", ".join(OPTIONS)} and fields of a '
                         'robot file such as casters.torque_limit')
    value = value.strip()
    if ',' in value and value[0] not in '[{"\'':
        value = f'[{value}]'
    try:
        return name.strip(), parse_yaml(value)
    except YamlFileError as error:
        raise ModelError(f'robot option {brief(text)}: {error}') from None


def parse_options(text: str) -> dict[str, Any]:
    """
    Return the options of a launch argument, a YAML mapping; none in an empty text.

    Examples
    --------
    >>> parse_options('{wheel_radius: 0.05, casters.torque_limit: 4.0}')
    {'wheel_radius': 0.05, 'casters.torque_limit': 4.0}

    Raises
    ------
    ModelError
        Not YAML, or no mapping.
    """
    try:
        content = parse_yaml(text)
    except YamlFileError as error:
        raise ModelError(f'robot_options = {brief(text)}: {error}') from None
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise ModelError(f'robot_options = {brief(text)}: expected a mapping such as '
                         '{wheel_radius: 0.05, ignore: [arm_joint]}')
    return content


def nested(options: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return options with dotted names as sections, as in a robot file.

    Examples
    --------
    >>> nested({'tolerance': 0.01, 'casters.torque_limit': 4.0})
    {'tolerance': 0.01, 'casters': {'torque_limit': 4.0}}
    """
    result: dict[str, Any] = {}
    for name, value in options.items():
        section, dot, key = f'{name}'.partition('.')
        if not dot:
            result[section] = value
            continue
        inner = result.setdefault(section, {})
        if not isinstance(inner, dict):
            raise ModelError(f'robot option {name}: {section} is given as {brief(inner)} as well; '
                             'keep one of them')
        inner[key] = value
    return result


def _tolerance(value: Any) -> float:
    return _length('tolerance', value)


def _length(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) \
            or not 0 <= float(value) < math.inf:
        raise ModelError(f'{name} = {brief(value)}: expected a length in m, such as 0.03')
    return float(value)


def _radius(value: Any) -> Any:
    """Return one radius as float, several as tuple."""
    if not isinstance(value, str) and hasattr(value, '__len__'):
        return tuple(_radius(entry) for entry in _plain(value))
    if _length('wheel_radius', value) == 0.0:
        raise ModelError('wheel_radius = 0: expected a length in m, such as 0.05')
    return float(value)


def _link(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ModelError(f'base_link = {brief(value)}: expected the name of a link')
    return value


def _twins(value: Any) -> str:
    if value not in TWINS:
        raise ModelError(f'twins = {brief(value)}: expected one of {", ".join(TWINS)}')
    return f'{value}'


def _names(value: Any) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else tuple(value) \
        if isinstance(value, (Sequence, set, frozenset)) else (value,)
    if not all(isinstance(name, str) for name in names):
        raise ModelError(f'ignore = {brief(value)}: expected the names of joints')
    return names


def _motors(name: str, value: Any) -> Any:
    if isinstance(value, (bool, str)):
        return (value,) if isinstance(value, str) else value
    entries = _plain(value) if hasattr(value, '__len__') else [value]
    if entries and (all(isinstance(entry, bool) for entry in entries)
                    or all(isinstance(entry, str) for entry in entries)):
        return tuple(entries)
    raise ModelError(f'{name} = {brief(value)}: expected the names of joints with a motor, or '
                     'true or false for each caster')


def _plain(values: Any) -> list[Any]:
    """Return a list of Python's own types; arrays have others."""
    return values.tolist() if hasattr(values, 'tolist') else list(values)
