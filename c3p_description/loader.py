# SPDX-License-Identifier: Apache-2.0
"""Robots by name or file: parameters (YAML) or description (URDF, xacro) → model, and → URDF."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from c3p_description.files import share_file
from c3p_description.model import CasterRobot, Friction, ModelError
from c3p_description.parameters import Parameters, parameter_file, read_parameters
from c3p_description.urdf import from_urdf

XACRO_FILE = 'c3p_description/urdf/c3p.urdf.xacro'
DESCRIPTIONS = ('.urdf', '.xacro')


def load(name_or_path: str | Path) -> CasterRobot:
    """
    Return the model of a robot.

    Parameters
    ----------
    name_or_path : str or Path
        The name of a file in ``robots/`` (``'c3p'``, ``'c3p_25kg'``), or the path of a ``.yaml``,
        ``.urdf`` or ``.xacro`` file.

    Returns
    -------
    CasterRobot
        In SI units and radians.

    Raises
    ------
    ModelError
        A file or robot that is not there, or a value that cannot be; the text names file, key,
        value and remedy.

    Examples
    --------
    >>> load('c3p').hip_position.shape
    (3, 2)
    >>> load('c3p_25kg').platform_mass
    25.0
    """
    path = Path(name_or_path)
    if path.suffix in DESCRIPTIONS:
        try:
            return from_urdf(robot_description(path))
        except ModelError as error:
            raise _of_file(path, error) from None
    path = parameter_file(name_or_path)
    parameters = read_parameters(path)
    try:
        return BUILDERS[parameters['kind']](parameters)
    except ModelError as error:
        raise _of_file(path, error) from None


def robot_description(name_or_path: str | Path, arguments: Mapping[str, str] | None = None) -> str:
    """
    Return the URDF text of a robot, as for the topic and parameter ``robot_description``.

    Parameters
    ----------
    name_or_path : str or Path
        As for `load`. A ``.urdf`` file is returned as it is.
    arguments : mapping of str, optional
        xacro arguments, such as ``{'prefix': 'left_'}``.

    Returns
    -------
    str
        XML.

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
        if path.suffix == '.urdf':
            return path.read_text(encoding='utf-8')
        return _run_xacro(path, mappings)
    parameters = parameter_file(name_or_path)
    # xacro itself would say less about a wrong key or number
    load(parameters)
    return _run_xacro(share_file(XACRO_FILE), {'robot': str(parameters), **mappings})


def _of_file(path: Path, error: ModelError) -> ModelError:
    """Return `error` with the file's name before its text, once."""
    text = str(error)
    return error if text.startswith(str(path)) else ModelError(f'{path}: {text}')


def _run_xacro(path: Path, mappings: dict[str, str]) -> str:
    try:
        import xacro
    except ImportError:
        raise ModelError(f'{path}: xacro is not installed; `pip install xacro`, or install '
                         'ros-<distribution>-xacro and source its setup file') from None
    try:
        return xacro.process_file(str(path), mappings=mappings).toprettyxml(indent='  ')
    except Exception as error:  # xacro raises bare exceptions of many types
        raise ModelError(f'{path}: xacro failed: {error}') from error


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
        driven=casters['driven'], torque_limit=casters['torque_limit'])


# what each `kind:` of parameter file becomes
BUILDERS: dict[str, Callable[[Parameters], CasterRobot]] = {'caster_robot': _caster_robot}
