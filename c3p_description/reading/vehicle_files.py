# SPDX-License-Identifier: Apache-2.0
"""
Files of vehicles for rough ground: ``vehicles/*.yaml`` by name, or a path.

A file lists joints and wheels::

    kind: vehicle
    name: cart
    joints:
      left: {axis: [0, 1, 0], origin: [0, 0.5, 0]}
      ...
    wheels:
      left: {joints: [left], torus: [0.25, 0.05]}
      ...

with the optional lists ``settling``, ``camber``, ``steering``, ``passive`` and the limits
``steering_rate_limit``, ``drive_rate_limit``.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from c3p_description.model import ModelError
from c3p_description.reading.files import share_file
from c3p_description.reading.parameters import VEHICLES
from c3p_description.reading.yaml_files import YamlFileError, read_yaml
from c3p_description.texts import brief
from c3p_description.vehicle_model import SURFACES, RoughVehicle, VehicleJoint, VehicleWheel

KIND = 'vehicle'
LISTS = ('settling', 'camber', 'steering', 'passive')
LIMITS = ('steering_rate_limit', 'drive_rate_limit')
KEYS = ('kind', 'name', 'joints', 'wheels', *LISTS, *LIMITS)
JOINT_KEYS = tuple(part.name for part in fields(VehicleJoint))


def vehicle_names() -> list[str]:
    """Return the names of the vehicles in vehicles/."""
    return sorted(path.stem for path in share_file(VEHICLES).glob('*.yaml'))


def is_vehicle(name_or_path: str | Path) -> bool:
    """
    Return whether a name or path is that of a vehicle file; False for anything unreadable.

    Examples
    --------
    >>> is_vehicle('rover'), is_vehicle('c3p')
    (True, False)
    """
    if str(name_or_path) in vehicle_names():
        return True
    path = Path(name_or_path)
    if path.suffix not in ('.yaml', '.yml') or not path.is_file():
        return False
    try:
        content = read_yaml(path)
    except (YamlFileError, OSError):
        return False
    return isinstance(content, dict) and content.get('kind') == KIND


def load_vehicle(name_or_path: str | Path) -> RoughVehicle:
    """
    Return the vehicle of a name in vehicles/ or of a file.

    Raises
    ------
    ModelError
        A missing file, an unknown name or key, an invalid value; the text names file, key, value
        and remedy. Whether joints form a tree is checked with the kinematics.

    Examples
    --------
    >>> load_vehicle('rover').steering
    ('front_left_steering', 'front_right_steering')
    """
    path = Path(name_or_path)
    if path.suffix not in ('.yaml', '.yml'):
        name = str(name_or_path)
        if name not in vehicle_names():
            near = difflib.get_close_matches(name, vehicle_names(), 1)
            raise ModelError(f'vehicle {brief(name)} is unknown: '
                             + (f'do you mean {near[0]}? ' if near else '')
                             + f'give one of {", ".join(vehicle_names())}, or a .yaml file')
        path = share_file(f'{VEHICLES}/{name}.yaml')
    try:
        content = read_yaml(path)
    except FileNotFoundError:
        raise ModelError(f'{path}: no such file') from None
    except (YamlFileError, OSError) as error:
        raise ModelError(f'{path}: not readable as YAML: {error}') from None
    try:
        return _vehicle(content, str(path))
    except ModelError as error:
        raise ModelError(f'{path}: {error}') from None


def _vehicle(content: Any, source: str) -> RoughVehicle:
    if not isinstance(content, dict) or content.get('kind') != KIND:
        raise ModelError(f'kind: expected `kind: {KIND}` with joints: and wheels:')
    _known('', content, KEYS)
    for key in ('name', 'joints', 'wheels'):
        if key not in content:
            raise ModelError(f'{key} is missing: a vehicle has name, joints and wheels')
    name = content['name']
    if not isinstance(name, str) or not name:
        raise ModelError(f'name = {brief(name)}: expected a text')
    joints = {key: _joint(f'joints.{key}', value)
              for key, value in _section(content, 'joints').items()}
    wheels = {key: _wheel(f'wheels.{key}', value, joints)
              for key, value in _section(content, 'wheels').items()}
    lists: dict[str, Any] = {
        key: _names(key, content.get(key, []), joints) for key in LISTS}
    limits: dict[str, Any] = {
        key: _number(key, content.get(key, math.inf), True) for key in LIMITS}
    for key, value in limits.items():
        if not value > 0.0:
            raise ModelError(f'{key} = {value}: must be greater than zero')
    return RoughVehicle(name, joints, wheels, **lists, **limits, source=source)


def _section(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = content[key]
    if (not isinstance(value, dict) or not value
            or not all(isinstance(name, str) for name in value)):
        raise ModelError(f'{key} = {brief(value)}: expected one entry per name')
    return value


def _known(prefix: str, values: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in values:
        if key not in keys:
            raise ModelError(f'{prefix}{brief(key)}: unknown key; expected one of '
                             f'{", ".join(keys)}')


def _joint(name: str, value: Any) -> VehicleJoint:
    if not isinstance(value, dict) or 'axis' not in value:
        raise ModelError(f'{name} = {brief(value)}: expected a joint such as '
                         '{axis: [0, 1, 0], origin: [0, 0.5, 0]}')
    _known(f'{name}.', value, JOINT_KEYS)
    found: dict[str, Any] = {}
    for key, part in value.items():
        if key in ('axis', 'origin', 'rpy'):
            found[key] = _numbers(f'{name}.{key}', part, 3)
        elif key in ('lower', 'upper'):
            found[key] = _number(f'{name}.{key}', part, True)
        elif part not in ('revolute', 'prismatic'):
            raise ModelError(f'{name}.kind = {brief(part)}: must be revolute or prismatic')
        else:
            found[key] = part
    return VehicleJoint(**found)


def _wheel(name: str, value: Any, joints: Mapping[str, VehicleJoint]) -> VehicleWheel:
    surfaces = [key for key in SURFACES if isinstance(value, dict) and key in value]
    if len(surfaces) != 1 or 'joints' not in value:
        raise ModelError(f'{name} = {brief(value)}: expected joints and one surface of '
                         f'{", ".join(SURFACES)}, such as {{joints: [spin], torus: [0.25, 0.05]}}')
    surface, = surfaces
    _known(f'{name}.', value, ('joints', surface))
    numbers = _numbers(f'{name}.{surface}', value[surface], len(SURFACES[surface]))
    if min(numbers) <= 0.0:
        raise ModelError(f'{name}.{surface} = {list(numbers)}: {", ".join(SURFACES[surface])} '
                         'must be greater than zero')
    return VehicleWheel(_names(f'{name}.joints', value['joints'], joints), surface, numbers)


def _names(name: str, value: Any, joints: Mapping[str, VehicleJoint]) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise ModelError(f'{name} = {brief(value)}: expected a list of joints')
    for entry in value:
        if entry not in joints:
            raise ModelError(f'{name}: joint {brief(entry)} does not exist; available: '
                             f'{", ".join(joints)}')
    return tuple(value)


def _numbers(name: str, value: Any, count: int) -> tuple[float, ...]:
    if not isinstance(value, list) or len(value) != count:
        raise ModelError(f'{name} = {brief(value)}: expected a list of {count} numbers')
    return tuple(_number(f'{name}[{i}]', entry) for i, entry in enumerate(value))


def _number(name: str, value: Any, infinite: bool = False) -> float:
    if (isinstance(value, bool) or not isinstance(value, (int, float))
            or math.isnan(value) or (math.isinf(value) and not infinite)):
        raise ModelError(f'{name} = {brief(value)}: expected a finite number'
                         + (', or .inf for no limit' if infinite else ''))
    return float(value)
