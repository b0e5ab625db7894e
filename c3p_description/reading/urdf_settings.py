# SPDX-License-Identifier: Apache-2.0
"""
Settings of a URDF: options of its reader, and fields of the robot that replace those of the URDF.

They stand beside ``urdf:`` in a robot's file. In the text of the description, as on the topic
``robot_description`` and in bags, they are YAML in an element ``<c3p>`` of ``<robot>``, which
other readers of URDF pass over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

import yaml

from c3p_description.model import ModelError
from c3p_description.reading.parameters import CASTER_ROBOT, checked, overridden
from c3p_description.reading.robot_options import OPTIONS, UrdfOptions, checked_options
from c3p_description.reading.yaml_files import YamlFileError, parse_yaml
from c3p_description.texts import brief

# of a parameter file: shapes, and two ways to give the pivots of a robot that has no URDF
OF_FILES = ('com_height', 'tilt_inertia', 'width', 'hip_radius', 'hip_angles')
FIELDS = {section: {key: kind for key, kind in keys.items() if key not in OF_FILES}
          for section, keys in CASTER_ROBOT.items() if section != 'visual'}
ELEMENT = 'c3p'
# options of the reader that are fields of a robot, too
OF_CASTERS = ('wheel_radius', 'driven', 'steered')


def options_of(settings: Mapping[str, Any]) -> UrdfOptions:
    """
    Return the options of the reader in `settings`, with the radii and motors of `casters`.

    Raises
    ------
    ModelError
        An unknown key or a wrong value of an option.
    """
    for key, value in settings.items():
        if key not in (*OPTIONS, *FIELDS, 'name'):
            raise ModelError(f'{brief(key)[1:-1]} = {brief(value)}: unknown key beside a URDF; '
                             f'expected one of {", ".join((*OPTIONS, "name", *FIELDS))}')
    values = {name: settings[name] for name in OPTIONS if name in settings}
    casters = settings.get('casters')
    for name in OF_CASTERS:
        if isinstance(casters, Mapping) and name in casters:
            values[name] = casters[name]
    return checked_options(values)


def fields_of(settings: Mapping[str, Any], count: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """
    Return the given fields of a robot of `count` casters, and those of its friction.

    Raises
    ------
    ModelError
        An unknown key, or a value of wrong type or size.
    """
    robot: dict[str, Any] = {}
    friction: dict[str, Any] = {}
    if 'name' in settings:
        robot['name'] = checked('name', settings['name'], 'text', count)
        if not robot['name']:
            raise ModelError("name = '': expected a text")
    for section, keys in FIELDS.items():
        values = settings.get(section, {})
        if not isinstance(values, Mapping):
            raise ModelError(f'{section} = {brief(values)}: expected the keys {", ".join(keys)}')
        place = friction if section == 'friction' else robot
        for key, value in values.items():
            name = f'{section}.{key}'
            if key not in keys:
                raise ModelError(f'{brief(name)[1:-1]} = {brief(value)}: unknown key beside a '
                                 f'URDF; expected one of {", ".join(keys)}')
            if section != 'casters' or key not in OF_CASTERS:
                field = key if section in ('casters', 'friction') else f'{section}_{key}'
                place[field] = checked(name, value, keys[key], count)
    return robot, friction


def embedded(xml_text: str, settings: Mapping[str, Any]) -> str:
    r"""
    Return the URDF `xml_text` with `settings` in it, over those that it has.

    Examples
    --------
    >>> embedded('<robot name="r"/>', {})
    '<robot name="r"/>'
    >>> embedded('<robot name="r"></robot>', {'tolerance': 0.01})
    '<robot name="r"><c3p>tolerance: 0.01\n</c3p>\n</robot>'
    """
    place = xml_text.rfind('</robot>')
    if not settings or place < 0:
        return xml_text
    text = yaml.safe_dump(dict(settings), sort_keys=False, allow_unicode=True)
    return f'{xml_text[:place]}<{ELEMENT}>{escape(text)}</{ELEMENT}>\n{xml_text[place:]}'


def settings_in(robot: Any) -> dict[str, Any]:
    """
    Return the settings in the root element `robot` of a URDF; later elements take precedence.

    Raises
    ------
    ModelError
        They are not YAML, or no mapping.
    """
    result: dict[str, Any] = {}
    for element in robot.findall(ELEMENT):
        try:
            content = parse_yaml(element.text or '')
        except YamlFileError as error:
            raise ModelError(f'<{ELEMENT}>: not readable as YAML: {error}') from None
        if content is None:
            continue
        if not isinstance(content, dict):
            raise ModelError(f'<{ELEMENT}> = {brief(content)}: expected options such as '
                             'wheel_radius: 0.05')
        result = overridden(result, content)
    return result
