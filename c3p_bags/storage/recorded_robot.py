# SPDX-License-Identifier: Apache-2.0
"""
Robot of a bag, from the evidence in the bag.

A bag is data from elsewhere. A name in it is used only as the plain name of a file in ``robots/``,
and a description only as URDF text. A path in a bag is never opened, and xacro, which runs code,
never runs on the content of a bag.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from c3p_description.model import CasterRobot, ModelError
from c3p_description.reading.loader import load_casters
from c3p_description.reading.parameters import is_robot_name
from c3p_description.reading.urdf import from_urdf
from c3p_description.texts import brief

# the node whose parameters define the robot of a namespace
NODE = 'sensed_kinematics'


class RecordedRobot(NamedTuple):
    """The robot of a bag: name of a file in ``robots/``, or URDF text; the other one is empty."""

    name: str = ''
    urdf: str = ''

    def casters(self) -> CasterRobot:
        """Return the model; ModelError for a vehicle of another kind."""
        return load_casters(self.name) if self.name else from_urdf(self.urdf)

    @contextmanager
    def description(self) -> Iterator[str]:
        """
        Yield the argument of `loader.load`: a name, or the path of a URDF file.

        The file is alone in a temporary folder, which is deleted at the end of the context.
        """
        if self.name:
            yield self.name
            return
        with tempfile.TemporaryDirectory(prefix='c3p_robot_') as folder:
            file = Path(folder) / 'robot.urdf'
            # surrogates cannot be encoded; no usable number or name contains one
            file.write_text(self.urdf, encoding='utf-8', errors='replace')
            yield str(file)


def choose_robot(parameters: Mapping[str, Any], notes: Mapping[str, str],
                 described: Callable[[], str | None]) -> RecordedRobot:
    """
    Return the robot by the strongest evidence.

    In this order: the parameter ``robot_description`` of the node `NODE`; the parameter ``robot``
    of this node, then the recorder's note ``c3p_robot``, where it names a file in ``robots/``; the
    URDF text on ``robot_description``.

    Parameters
    ----------
    parameters : mapping
        Of the node `NODE`.
    notes : mapping
        Custom data in the metadata of the bag.
    described : callable
        Returns the URDF text on ``robot_description``, or None.

    Raises
    ------
    ModelError
        No evidence, or not a description of a caster robot.
    """
    # the odometry was computed with this description: the strongest evidence
    if parameters.get('robot_description'):
        return RecordedRobot(urdf=_checked(parameters['robot_description']))
    names = [name for name in (parameters.get('robot'), notes.get('c3p_robot')) if name]
    # a name before the URDF: it also finds vehicles of other kinds, and their settings
    for name in names:
        if is_robot_name(name):
            return RecordedRobot(name=name)
    unknown = f'robot {brief(names[0])} is not one of this installation, and ' if names else ''
    text = described()
    if not text:
        raise ModelError(f'{unknown}the bag has no robot_description')
    try:
        return RecordedRobot(urdf=_checked(text))
    except ModelError as error:
        raise ModelError(f'{unknown}{error}') from None


def _checked(urdf: Any) -> str:
    """Return a description from which a model can be built."""
    try:
        if not isinstance(urdf, str):
            raise ModelError(f'robot_description = {brief(urdf)}: expected a text')
        from_urdf(urdf)
    except ModelError as error:
        raise ModelError(f'its description cannot be used ({error})') from None
    return urdf
