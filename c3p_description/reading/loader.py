# SPDX-License-Identifier: Apache-2.0
"""Robots by name or file: parameters (YAML) or description (URDF, xacro) → model, and → URDF."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from c3p_description.agv_model import Agv
from c3p_description.model import CasterRobot, Friction, ModelError
from c3p_description.pvc_model import PvcTricycle
from c3p_description.reading.files import share_file
from c3p_description.reading.notes import Reading
from c3p_description.reading.parameters import (
    DESCRIPTIONS,
    OF_WHEELS,
    Parameters,
    overridden,
    parameter_file,
    read_content,
    read_parameters,
)
from c3p_description.reading.robot_options import OPTIONS, nested
from c3p_description.reading.ros_packages import package_folders
from c3p_description.reading.urdf import read_urdf
from c3p_description.reading.urdf_settings import embedded
from c3p_description.reading.vehicle_files import is_vehicle, load_vehicle
from c3p_description.reading.vehicle_urdf import vehicle_urdf
from c3p_description.reading.xacro_files import expand_file, expand_own
from c3p_description.reading.xml_files import MOST_CHARACTERS
from c3p_description.texts import brief

# of a robot: its name or the path of its file
Place: TypeAlias = str | Path

# the xacro of each kind of parameter file
XACRO_FILES = {'caster_robot': 'c3p_description/urdf/c3p.urdf.xacro',
               'pvc_tricycle': 'c3p_description/urdf/pvc_tricycle.urdf.xacro',
               'agv': 'c3p_description/urdf/agv.urdf.xacro'}
# what each kind of robot is, and what runs it, for the error text of a wrong one
WHAT = {CasterRobot: 'stands on casters',
        PvcTricycle: 'is a tricycle with passive variable camber and no caster robot; `c3p sim` '
                     'and rough_ground_node drive it',
        Agv: 'is a vehicle with two driven wheels and one caster; `c3p experiment agv` runs it'}


def load(name_or_path: Place, options: Mapping[str, Any] | None = None
         ) -> CasterRobot | PvcTricycle | Agv:
    """
    Return the model of a robot.

    Parameters
    ----------
    name_or_path : str or Path
        The name of a file in ``robots/`` (``'c3p'``, ``'c3p_25kg'``, ``'pvc_tricycle'`` or short
        ``'pvc'``, ``'agv'``), or the path of a ``.yaml``, ``.urdf`` or ``.xacro`` file. A URDF is
        read as that of a caster robot; a YAML file may name one with ``urdf:``.
    options : mapping, optional
        Options of the reader of a URDF (`robot_options`), and fields of the robot such as
        ``{'casters.torque_limit': 4.0}``; they take precedence over the file.

    Returns
    -------
    CasterRobot, PvcTricycle or Agv
        Model of the ``kind`` in the file, in SI units and radians.

    Raises
    ------
    ModelError
        Missing file, unknown robot or invalid value; the text names file, key, value and remedy.

    Examples
    --------
    >>> load('c3p').hip_position.shape
    (3, 2)
    >>> load('c3p_25kg').platform_mass
    25.0
    >>> load('pvc').wheelbase
    1.2
    >>> load('c3p', {'platform.mass': 28.0}).platform_mass
    28.0
    """
    return describe(name_or_path, options).robot


def describe(name_or_path: Place, options: Mapping[str, Any] | None = None) -> Reading:
    """
    Return the model of a robot with the notes of the reader; arguments and errors as of `load`.

    The notes list values of a URDF that are interpreted (kind ``warning``) and values that it does
    not have (kind ``assumed``), each with field, value and text. A parameter file has
    every number, and so no notes.

    Examples
    --------
    >>> describe('c3p').notes
    ()
    """
    over = nested(options or {})
    path = Path(name_or_path)
    try:
        if path.suffix in DESCRIPTIONS:
            packages = over.pop('packages', None)
            return read_urdf(robot_description(path, packages=packages), over)
        path = parameter_file(name_or_path)
        content = read_content(path)
        if 'urdf' in content:
            content = overridden(content, over)
            urdf = Path(content.pop('urdf'))
            packages = content.pop('packages', None)
            return read_urdf(robot_description(urdf, packages=packages), content)
        if wrong := next((name for name in OPTIONS if name in over), None):
            raise ModelError(f'{wrong} = {brief(over[wrong])}: an option of a URDF, and '
                             f'{path.name} is a complete parameter file: give its fields, such as '
                             'casters.wheel_radius')
        parameters = read_parameters(path, over)
        return Reading(BUILDERS[parameters['kind']](parameters))
    except ModelError as error:
        raise _of_file(path, error) from None


def describes_urdf(name_or_path: str | Path) -> bool:
    """
    Return whether a robot is described by a URDF or xacro file, directly or through a YAML file.

    Examples
    --------
    >>> describes_urdf('c3p'), describes_urdf('mule.urdf')
    (False, True)
    """
    return (Path(name_or_path).suffix in DESCRIPTIONS
            or 'urdf' in read_content(parameter_file(name_or_path)))


def load_casters(name_or_path: str | Path) -> CasterRobot:
    """
    Return the model of a robot that must stand on casters; `name_or_path` as for `load`.

    Raises
    ------
    ModelError
        As in `load`; also for a vehicle of another kind, with the command that runs it.
    """
    return describe_casters(name_or_path).robot


def describe_casters(name_or_path: str | Path) -> Reading:
    """Return the model of a robot as `load_casters`, with the notes of `describe`."""
    return _of_kind(name_or_path, CasterRobot, "; here give 'c3p' or your caster robot")


def load_tricycle(name_or_path: str | Path) -> PvcTricycle:
    """
    Return the model of a tricycle with passive variable camber; `name_or_path` as for `load`.

    Raises
    ------
    ModelError
        As in `load`; also for a robot of another kind.
    """
    return _of_kind(name_or_path, PvcTricycle, ': give pvc_tricycle, or a .yaml file that starts '
                    'with `extends: pvc_tricycle`').robot


def _of_kind(name_or_path: str | Path, kind: type, remedy: str) -> Reading:
    reading = describe(name_or_path)
    if not isinstance(reading.robot, kind):
        raise ModelError(f'robot {str(name_or_path)!r} {WHAT[type(reading.robot)]}{remedy}')
    return reading


def robot_description(name_or_path: str | Path, arguments: Mapping[str, str] | None = None,
                      packages: Mapping[str, str] | None = None) -> str:
    """
    Return the URDF text of a robot, as for the topic and parameter ``robot_description``.

    `name_or_path` is as for `load`; a ``.urdf`` file is returned as it is, a ``.xacro`` file is a
    program and runs (`xacro_files`) with `arguments` such as ``{'prefix': 'left_'}``; `packages`
    are folders of ROS packages by name, for its ``$(find NAME)``. The text of a robot file with
    ``urdf:`` has the file's settings in it (`urdf_settings`), and so describes the same robot
    wherever it is read. A vehicle for rough ground has frames and shapes, no masses
    (`vehicle_urdf`).

    Raises
    ------
    ModelError
        As in `load`; also when xacro is not installed or fails.
    """
    path = Path(name_or_path)
    mappings = {key: str(value) for key, value in (arguments or {}).items()}
    if path.suffix in DESCRIPTIONS:
        if not path.is_file():
            raise ModelError(f'{path}: no such file')
        folders = package_folders(packages or {})
        return (_read_text(path) if path.suffix == '.urdf'
                else expand_file(path, mappings, folders))
    if is_vehicle(name_or_path):
        return vehicle_urdf(load_vehicle(name_or_path))
    parameters = parameter_file(name_or_path)
    settings = read_content(parameters)
    if 'urdf' in settings:
        folders = {**settings.pop('packages', {}), **(packages or {})}
        return embedded(robot_description(settings.pop('urdf'), arguments, folders), settings)
    # the error of xacro itself about a wrong key or number is less clear
    load(parameters)
    content = read_parameters(parameters)
    text = expand_own(share_file(XACRO_FILES[content['kind']]),
                      {'robot': str(parameters), **mappings})
    # joints of the text are at the zeros as built, steer, and have encoders: corrections are
    # settings of the reader
    casters = content.get('casters', {})
    more = {name: casters[name] for name in OF_WHEELS if name in casters}
    if np.any(casters.get('steering_zero', 0.0)):
        more = {'steering_zero': casters['steering_zero'], **more}
    apart = {'twins': 'apart'} if np.any(casters.get('lateral_offset', 0.0)) else {}
    return embedded(text, {**apart, 'casters': more}) if more else text


def _read_text(path: Path) -> str:
    """Return the text of a URDF file."""
    with path.open('rb') as file:
        data = file.read(MOST_CHARACTERS + 1)
    if len(data) > MOST_CHARACTERS:
        raise ModelError(f'{path}: more than {MOST_CHARACTERS} bytes, which is more than is read')
    try:
        return data.decode('utf-8')
    except UnicodeDecodeError as error:
        raise ModelError(f'{path}: not UTF-8: {error.reason} at byte {error.start}; save it as '
                         'UTF-8') from None


def _of_file(path: Path, error: ModelError) -> ModelError:
    """Return `error` with the file's name before its text, once."""
    text = str(error)
    return error if text.startswith(str(path)) else ModelError(f'{path}: {text}')


def _caster_robot(parameters: Parameters) -> CasterRobot:
    """Return the model of checked parameters of kind caster_robot."""
    casters, platform, link, wheel = (
        parameters[section] for section in ('casters', 'platform', 'link', 'wheel'))
    if 'hip_position' in casters:
        hips = np.array(casters['hip_position'])
    else:
        angles = np.array(casters['hip_angles'])
        hips = casters['hip_radius'] * np.column_stack([np.cos(angles), np.sin(angles)])
    return CasterRobot(
        name=parameters['name'], hip_position=hips,
        caster_offset=casters['caster_offset'], wheel_radius=casters['wheel_radius'],
        platform_mass=platform['mass'], platform_inertia=platform['inertia'],
        platform_com=platform['com'],
        link_mass=link['mass'], link_com=link['com'], link_inertia=link['inertia'],
        wheel_mass=wheel['mass'], wheel_spin_inertia=wheel['spin_inertia'],
        wheel_yaw_inertia=wheel['yaw_inertia'],
        friction=Friction(**parameters['friction']),
        driven=casters['driven'], torque_limit=casters['torque_limit'],
        tyre_friction=casters['tyre_friction'], traction_margin=casters['traction_margin'],
        wheel_rate_limit=wheel['rate_limit'], steered=casters['steered'],
        steering_torque_limit=casters['steering_torque_limit'],
        steering_rate_limit=casters['steering_rate_limit'],
        steering_zero=casters.get('steering_zero', 0.0),
        **{name: casters[name] for name in OF_WHEELS if name in casters})


def _pvc_tricycle(parameters: Parameters) -> PvcTricycle:
    """Return the model of checked parameters of kind pvc_tricycle."""
    limits = parameters['limits']
    platform = parameters['platform']
    for name in ('steering_torque', 'drive_torque'):
        if not limits[name] > 0:
            raise ModelError(f'limits.{name} = {limits[name]}: must be greater than zero')
    return PvcTricycle(
        name=parameters['name'], **parameters['geometry'],
        steering_limit=limits['steering'], camber_limit=limits['camber'],
        steering_rate_limit=limits['steering_rate'], drive_rate_limit=limits['drive_rate'],
        platform_mass=platform['mass'], platform_com=platform['com'],
        platform_inertia=platform['inertia'], fork_mass=parameters['fork']['mass'],
        camber_arm_mass=parameters['camber_arm']['mass'],
        wheel_mass=parameters['wheel']['mass'])


def _agv(parameters: Parameters) -> Agv:
    """Return the model of checked parameters of kind agv."""
    friction = parameters['friction']
    sections = {name: parameters[name] for name in ('platform', 'wheel', 'link')}
    return Agv(
        name=parameters['name'], **parameters['geometry'], **parameters['limits'],
        **{f'{section}_{key}': value for section, keys in sections.items()
           for key, value in keys.items()},
        viscous=[friction[key] for key in ('drive', 'drive', 'caster_wheel', 'caster_pivot')])


# what each `kind:` of parameter file becomes
BUILDERS: dict[str, Callable[[Parameters], CasterRobot | PvcTricycle | Agv]] = {
    'caster_robot': _caster_robot, 'pvc_tricycle': _pvc_tricycle, 'agv': _agv}
