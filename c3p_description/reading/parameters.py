# SPDX-License-Identifier: Apache-2.0
"""
Parameter files of robots: read, completed from the file they extend, and checked key by key.

A file has sections of keys and nothing deeper, so that xacro completes it in the same way
(``urdf/parameters.xacro``).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from c3p_description.model import ModelError
from c3p_description.reading.files import share_file
from c3p_description.reading.ros_packages import package_folders
from c3p_description.reading.yaml_files import PLAIN, YamlFileError, read_yaml
from c3p_description.texts import brief

Parameters = dict[str, Any]

# what each key of a caster robot must be; see checked
CASTER_ROBOT: dict[str, dict[str, str]] = {
    'casters': {
        'hip_radius': 'number', 'hip_angles': 'numbers', 'hip_position': 'points',
        'caster_offset': 'per caster', 'wheel_radius': 'per caster', 'driven': 'flags',
        'torque_limit': 'limit per caster', 'tyre_friction': 'number',
        'traction_margin': 'number', 'steered': 'flags',
        'steering_torque_limit': 'limit per caster', 'steering_rate_limit': 'limit per caster',
        'steering_zero': 'per caster', 'fixed': 'flags', 'steering_encoder': 'flags',
        'wheel_encoder': 'flags', 'slip_angle': 'per caster', 'lateral_offset': 'per caster',
        'steering_lower': 'limit per caster', 'steering_upper': 'limit per caster',
    },
    'platform': {'mass': 'number', 'inertia': 'number', 'com': 'number pair',
                 'com_height': 'number', 'tilt_inertia': 'number'},
    'link': {name: 'per caster'
             for name in ('mass', 'com', 'inertia', 'com_height', 'tilt_inertia')},
    'wheel': {name: 'per caster'
              for name in ('mass', 'width', 'spin_inertia', 'yaw_inertia')}
    | {'rate_limit': 'limit per caster'},
    'friction': {
        **{name: 'per caster' for name in ('pivot_viscous', 'pivot_coulomb', 'rolling_viscous',
                                           'rolling_coulomb', 'scrub_coulomb')},
        'smoothing': 'number'},
    'visual': {
        'platform_mesh': 'text', 'electronics': 'number triple',
        **{name: 'number' for name in (
            'platform_thickness', 'ground_clearance', 'crown_clearance', 'fork_gap',
            'fork_thickness', 'fork_breadth', 'pivot_radius', 'encoder_height', 'tyre_thickness',
            'motor_radius', 'motor_length')}},
}
# what each key of a tricycle with passive variable camber must be
PVC_TRICYCLE: dict[str, dict[str, str]] = {
    'geometry': {name: 'number' for name in (
        'wheelbase', 'half_track', 'camber_offset', 'wheel_radius', 'tube_radius')},
    'limits': {
        'steering': 'number', 'camber': 'number', 'steering_rate': 'limit',
        'drive_rate': 'limit', 'steering_torque': 'number', 'drive_torque': 'number'},
    'platform': {'mass': 'number', 'com': 'number triple', 'inertia': 'number triple'},
    'fork': {'mass': 'number'}, 'camber_arm': {'mass': 'number'}, 'wheel': {'mass': 'number'},
    'visual': {
        'wheel_mesh': 'text', 'box': 'number triple',
        **{name: 'number' for name in (
            'wheel_mesh_tube', 'deck_back', 'deck_front', 'deck_width', 'deck_thickness',
            'deck_height', 'beam', 'hinge_radius', 'fork_gap', 'fork_thickness',
            'fork_breadth')}},
}
# what each key of a vehicle with two driven wheels and one caster must be
AGV: dict[str, dict[str, str]] = {
    'geometry': {name: 'number' for name in (
        'track', 'wheel_radius', 'axle_distance', 'pivot_distance', 'caster_offset',
        'platform_height')},
    'platform': {'mass': 'number', 'inertia': 'number triple'},
    'wheel': {'mass': 'number', 'spin_inertia': 'number', 'yaw_inertia': 'number'},
    'link': {'mass': 'number', 'com': 'number', 'inertia': 'number'},
    'friction': {'drive': 'number', 'caster_wheel': 'number', 'caster_pivot': 'number'},
    'limits': {'drive_torque': 'limit', 'drive_rate': 'limit'},
    'visual': {name: 'number' for name in (
        'wheel_width', 'fork_thickness', 'fork_breadth', 'fork_gap', 'arm')},
}
SCHEMAS = {'caster_robot': CASTER_ROBOT, 'pvc_tricycle': PVC_TRICYCLE, 'agv': AGV}
# the file of each kind that others extend
COMPLETE = {'caster_robot': 'c3p', 'pvc_tricycle': 'pvc_tricycle', 'agv': 'agv'}
ROBOTS = 'c3p_description/robots'
VEHICLES = 'c3p_description/vehicles'
# shorter names of files in robots/
ALIASES = {'pvc': 'pvc_tricycle'}
# of a robot; xacro goes as deep into its macros as there are casters
MOST_CASTERS = 64
# of a number that is not zero, in SI units: no mass, length or friction of a vehicle is beyond
SMALLEST = 1e-12
LARGEST = 1e9
# fields of wheels that are fixed, beside their pivots, or without offset or encoders
OF_WHEELS = ('fixed', 'steering_encoder', 'wheel_encoder', 'slip_angle', 'lateral_offset',
             'steering_lower', 'steering_upper')
# the pivots are given in one of two ways; zeros are of calibrated robots
OPTIONAL = ('hip_radius', 'hip_angles', 'hip_position', 'steering_zero', *OF_WHEELS)
# descriptions that a file may name with urdf:
DESCRIPTIONS = ('.urdf', '.xacro')


class _ParameterLoader(PLAIN):
    """YAML with xacro's angle tags, and without keys given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        """Reject equal keys, of which YAML would use the last."""
        keys = Counter(f'{key.value}' for key, _ in node.value)
        for key, times in keys.items():
            if times > 1:
                raise ModelError(f'{_word(key)} is given {times} times in one section; '
                                 'keep one of them')
        return super().construct_mapping(node, deep)


def _radians(loader: Any, node: Any) -> float:
    return float(loader.construct_scalar(node))


_ParameterLoader.add_constructor('!degrees', lambda loader,
                                 node: math.radians(_radians(loader, node)))
_ParameterLoader.add_constructor('!radians', _radians)


def robot_names() -> list[str]:
    """Return the names of the robots in robots/, without the short ones."""
    return sorted(p.stem for p in share_file(ROBOTS).glob('*.yaml'))


def is_robot_name(value: Any) -> bool:
    """
    Return whether a value is the name of a robot in robots/, and not a path.

    Examples
    --------
    >>> is_robot_name('c3p'), is_robot_name('pvc'), is_robot_name('../robots/c3p')
    (True, True, False)
    """
    return isinstance(value, str) and (value in ALIASES or value in robot_names())


def parameter_file(name_or_path: str | Path) -> Path:
    """
    Return the parameter file of a robot: ``c3p`` is a file in robots/, ``x/y.yaml`` a path.

    Raises
    ------
    ModelError
        With the names there are.
    """
    path = Path(name_or_path)
    if path.suffix in ('.yaml', '.yml'):
        if not path.is_file():
            raise ModelError(f'{path}: no such file')
        return path.resolve()
    name = str(name_or_path)
    if path.name != name:
        raise ModelError(f'{brief(name)[1:-1]}: no such file, or not a .yaml file')
    if not is_robot_name(name):
        if name in {path.stem for path in share_file(VEHICLES).glob('*.yaml')}:
            raise ModelError(f'robot {name!r} is a vehicle for rough ground and no caster robot; '
                             '`c3p sim` and rough_ground_node drive it')
        raise ModelError(f'robot {brief(name)} is unknown: give one of '
                         f'{", ".join(robot_names())}, or the path of a .yaml, .urdf or .xacro '
                         'file')
    return share_file(f'{ROBOTS}/{ALIASES.get(name, name)}.yaml')


def read_content(path: Path) -> Parameters:
    """
    Return the content of a robot's file laid over those it extends, unchecked.

    A file with ``urdf:`` describes its robot by that file, whose path is made absolute here; else
    the content is that of a parameter file.

    Raises
    ------
    ModelError
        Malformed YAML, or files that cannot extend each other.
    """
    try:
        return _merged(path, ())
    except ModelError as error:
        raise ModelError(f'{path}: {error}') from None


def read_parameters(path: Path, over: Mapping[str, Any] | None = None) -> Parameters:
    """
    Return the checked content of a parameter file, completed from the files it extends.

    It has ``kind``, ``name`` and one dict per section; numbers are floats. `path` is as from
    `parameter_file`; `over` are sections laid over the file's.

    Raises
    ------
    ModelError
        Malformed YAML, an unknown kind, an unknown or missing key, a value that is not a finite
        number or has the wrong size; the text names file, key, value and remedy.
    """
    try:
        content = overridden(_merged(path, ()), over or {})
        if 'urdf' in content:
            raise ModelError(f'urdf = {brief(content["urdf"])}: not a complete parameter file; '
                             'the numbers are in the URDF')
        kind = content.get('kind')
        if not isinstance(kind, str) or kind not in SCHEMAS:
            raise ModelError(f'kind = {brief(kind)}: ' + (
                'a vehicle for rough ground; `c3p sim` and rough_ground_node drive it'
                if kind == 'vehicle' else f'expected one of {", ".join(SCHEMAS)}'))
        _check(content, SCHEMAS[kind])
    except ModelError as error:
        raise ModelError(f'{path}: {error}') from None
    return content


def _merged(path: Path, above: tuple[Path, ...]) -> Parameters:
    """Return the content of `path` laid over what it extends."""
    if path in above:
        raise ModelError(f'extends: {" extends ".join(p.name for p in (*above, path))}; '
                         'a file cannot extend itself')
    try:
        content = read_yaml(path, _ParameterLoader)
    except (YamlFileError, OSError) as error:
        raise ModelError(f'not readable as YAML: {error}') from None
    if not isinstance(content, dict):
        raise ModelError(f'content = {brief(content)}: expected sections such as casters: and '
                         'wheel:')
    base = content.pop('extends', None)
    if 'urdf' in content:
        content['urdf'] = _urdf_path(content['urdf'], path)
    # where there is no URDF the key is unknown, as any other one
    if 'packages' in content and ('urdf' in content or base is not None):
        content['packages'] = package_folders(content['packages'], path.parent)
    if base is None:
        return content
    if not isinstance(base, str):
        raise ModelError(f'extends = {brief(base)}: expected the name of a robot, or the path '
                         'of a .yaml file')
    # a path is relative to the file that names it
    name = path.parent / base if base.endswith(('.yaml', '.yml')) else base
    below = _merged(parameter_file(name), (*above, path))
    if 'urdf' in content and 'urdf' not in below:
        raise ModelError(f'urdf and extends: {base} exclude each other, because {base} has every '
                         'number; remove one of them')
    return overridden(below, content)


def _urdf_path(value: Any, path: Path) -> str:
    """Return the absolute path of a description, relative to the file at `path` that names it."""
    if not isinstance(value, str) or Path(value).suffix not in DESCRIPTIONS:
        raise ModelError(f'urdf = {brief(value)}: expected the path of a .urdf or .xacro file')
    return str((path.parent / Path(value).expanduser()).resolve())


def overridden(base: Mapping[str, Any], over: Mapping[str, Any]) -> Parameters:
    """Return `base` with the sections of `over` laid over its own."""
    result = {**base, **over}
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            result[key] = {**base[key], **value}
    return result


def _check(content: Parameters, schema: dict[str, dict[str, str]]) -> None:
    """Check all keys of a file and turn its numbers into floats."""
    base = COMPLETE[content['kind']]
    _check_keys('', content, [*schema, 'kind', 'name'], base)
    if not isinstance(content['name'], str) or not content['name']:
        raise ModelError(f'name = {brief(content["name"])}: expected a text')
    for section, keys in schema.items():
        values = content[section]
        if not isinstance(values, dict):
            raise ModelError(f'{section} = {brief(values)}: expected the keys {", ".join(keys)}')
        _check_keys(f'{section}.', values, keys, base)
    count = _caster_count(content['casters']) if 'casters' in schema else 0
    for section, keys in schema.items():
        for key, value in content[section].items():
            content[section][key] = checked(f'{section}.{key}', value, keys[key], count)


def _check_keys(prefix: str, values: Parameters, keys: list[str] | dict[str, str],
                base: str) -> None:
    for key in values:
        if key not in keys:
            raise ModelError(f'{prefix}{_word(key)} = {brief(values[key])}: unknown key; '
                             f'expected one of {", ".join(keys)}')
    for key in keys:
        if key not in values and key not in OPTIONAL:
            raise ModelError(f'{prefix}{key} is missing: add it, or start the file with '
                             f'`extends: {base}` to take what is not given from there')


def _word(key: Any) -> str:
    """Return a key as written in a file, shortened."""
    return brief(key)[1:-1] if isinstance(key, str) else brief(key)


def _caster_count(casters: Parameters) -> int:
    """Return the number of pivots; positions count more than radius and angles."""
    for key in ('hip_position', 'hip_angles'):
        if key in casters:
            if not isinstance(casters[key], list) or not casters[key]:
                raise ModelError(f'casters.{key} = {brief(casters[key])}: expected a list with '
                                 'one entry per caster')
            if key == 'hip_angles' and 'hip_radius' not in casters:
                break
            if len(casters[key]) > MOST_CASTERS:
                raise ModelError(f'casters.{key} has {len(casters[key])} entries: at most '
                                 f'{MOST_CASTERS} casters are read')
            return len(casters[key])
    raise ModelError('casters.hip_position is missing: give it, or hip_radius and hip_angles')


def checked(name: str, value: Any, kind: str, count: int) -> Any:
    """
    Return `value`, checked against `kind`, with numbers as floats.

    `name` is for the error; a list per caster must have `count` entries.
    """
    if kind == 'text':
        if isinstance(value, str):
            return value
        raise ModelError(f'{name} = {brief(value)}: expected a text')
    if kind in ('number', 'limit'):
        return _number(name, value, kind == 'limit')
    if kind == 'flags':
        entries = _sized(name, value, count) if isinstance(value, list) else [value]
        if all(isinstance(entry, bool) for entry in entries):
            return value
        raise ModelError(f'{name} = {brief(value)}: expected true or false, or a list of them')
    if kind in ('per caster', 'limit per caster'):
        if not isinstance(value, list):
            return _number(name, value, kind.startswith('limit'))
        return [_number(f'{name}[{i}]', entry, kind.startswith('limit'))
                for i, entry in enumerate(_sized(name, value, count))]
    if kind == 'points':
        return [checked(f'{name}[{i}]', entry, 'number pair', count)
                for i, entry in enumerate(_sized(name, value, count or None))]
    sizes = {'number pair': 2, 'number triple': 3}
    return [_number(f'{name}[{i}]', entry)
            for i, entry in enumerate(_sized(name, value, sizes.get(kind)))]


def _sized(name: str, value: Any, size: int | None) -> list:
    if not isinstance(value, list) or (size is not None and len(value) != size):
        raise ModelError(f'{name} = {brief(value)}: expected a list of {size or "one or more"} '
                         'values')
    return value


def _number(name: str, value: Any, infinite: bool = False) -> float:
    """Return a finite float; an integer is one, a text and a truth value are not."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ModelError(f'{name} = {brief(value)}: expected a number, such as 0.04 or 1.0e-3 '
                         '(YAML reads 1e-3, without a point, as text)')
    try:
        number = float(value)
    except OverflowError:
        number = math.nan
    if not (math.isfinite(number) or (infinite and not math.isnan(number))):
        raise ModelError(f'{name} = {brief(value)}: expected a finite number'
                         + (' or .inf for no limit' if infinite else ''))
    if math.isfinite(number) and number and not SMALLEST <= abs(number) <= LARGEST:
        raise ModelError(f'{name} = {number}: expected a number that a vehicle can have, 0 or '
                         f'from {SMALLEST:g} to {LARGEST:g}'
                         + (' or .inf for no limit' if infinite else ''))
    return number
