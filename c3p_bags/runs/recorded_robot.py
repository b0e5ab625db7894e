# SPDX-License-Identifier: Apache-2.0
"""
The robot that a bag is of, also where its files are not on this computer.

A bag is data from elsewhere. What it names is used only as a plain name of a file in ``robots/``,
and what it describes only as URDF text. A path in a bag is never opened, and xacro, which runs
code, never runs on anything in a bag.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from c3p_bags.runs.log_reader import namespace_of, read_description
from c3p_bags.storage.bag_contents import notes_of
from c3p_bags.storage.bag_parameters import EVENT, read_parameters
from c3p_bags.storage.bags import BagError, topics_of
from c3p_description.model import CasterRobot, ModelError
from c3p_description.reading.loader import load_casters
from c3p_description.reading.parameters import is_robot_name
from c3p_description.reading.urdf import from_urdf
from c3p_description.texts import brief

# of a bag that neither names nor describes a robot
DEFAULT = 'c3p'
# the node whose parameters tell the robot of a namespace
NODE = 'sensed_kinematics'


class RecordedRobot(NamedTuple):
    """
    The robot of a bag; one of the two is empty.

    Attributes
    ----------
    name : str
        Of a file in ``robots/``.
    urdf : str
        XML text.
    """

    name: str = ''
    urdf: str = ''


def robot_of(bag: str | Path, namespace: str | None = None) -> RecordedRobot:
    """
    Return the robot of a bag.

    In this order: the parameter ``robot_description`` of the node sensed_kinematics; the robot
    that this node or the recorder names, where the name is one in ``robots/``; the description on
    ``robot_description``; ``c3p`` where the bag has neither a name nor a description.

    Parameters
    ----------
    bag : str or Path
    namespace : str, optional
        Of the robot; default the only one in the bag.

    Raises
    ------
    BagError
        The bag cannot be read, or its description is not that of a caster robot.
    """
    found = topics_of(bag)
    space = namespace_of(found, bag) if namespace is None else namespace.strip('/')
    space = f'/{space.strip("/")}' if space else ''
    told: dict[str, Any] = {}
    if any(kind == EVENT for kind, _ in found.values()):
        told = read_parameters(bag).get(f'{space}/{NODE}', {})
    if told.get('robot_description'):
        return RecordedRobot(urdf=_checked(bag, told['robot_description'], ''))
    names = [name for name in (told.get('robot'), notes_of(bag).get('c3p_robot')) if name]
    for name in names:
        if is_robot_name(name):
            return RecordedRobot(name=name)
    urdf = read_description(bag, space)
    if not (urdf or names):
        return RecordedRobot(name=DEFAULT)
    return RecordedRobot(urdf=_checked(bag, urdf or '', names[0] if names else ''))


def _checked(bag: str | Path, urdf: Any, name: Any) -> str:
    """Return a description that a model can be made of."""
    try:
        if not urdf:
            raise ModelError('the bag has no robot_description')
        if not isinstance(urdf, str):
            raise ModelError(f'robot_description = {brief(urdf)}: expected a text')
        from_urdf(urdf)
    except ModelError as error:
        named = f'robot {brief(name)} is not one of this installation, and ' if name else ''
        raise BagError(f'bag {bag}: {named}its description cannot be used ({error}); name the '
                       'robot: --robot NAME or --robot FILE') from None
    return urdf


@contextmanager
def recorded_robot(bag: str | Path, namespace: str | None = None) -> Iterator[str]:
    """
    Give the robot of a bag as `loader.load` takes it: a name, or the path of a URDF file.

    The file has the description in the bag, stands alone in a folder of its own, and is gone at
    the end of the context.

    Parameters
    ----------
    bag, namespace
        As for `robot_of`.

    Raises
    ------
    BagError
        As `robot_of`.
    """
    found = robot_of(bag, namespace)
    if found.name:
        yield found.name
        return
    with tempfile.TemporaryDirectory(prefix='c3p_robot_') as folder:
        file = Path(folder) / 'robot.urdf'
        # surrogates cannot be written; they stand in no number and no name that can be used
        file.write_text(found.urdf, encoding='utf-8', errors='replace')
        yield str(file)


def recorded_casters(bag: str | Path, robot: str | None = None, namespace: str | None = None
                     ) -> CasterRobot:
    """
    Return the model of the caster robot of a bag.

    Parameters
    ----------
    bag : str or Path
    robot : str, optional
        Name or path as the user gave it; default that of the bag, by `robot_of`.
    namespace : str, optional
        As for `robot_of`.

    Raises
    ------
    BagError
        As `robot_of`.
    ModelError
        Of the robot that the user gave, or of a vehicle of another kind.
    """
    if robot:
        return load_casters(robot)
    found = robot_of(bag, namespace)
    return load_casters(found.name) if found.name else from_urdf(found.urdf)
