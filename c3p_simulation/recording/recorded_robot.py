# SPDX-License-Identifier: Apache-2.0
"""The robot that a bag is of, also where its files are not on this computer."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from c3p_description.loader import load
from c3p_description.model import ModelError
from c3p_simulation.recording.bag_contents import notes_of
from c3p_simulation.recording.log_reader import read_description

DEFAULT = 'c3p'


@contextmanager
def recorded_robot(bag: str | Path, namespace: str | None = None) -> Iterator[str]:
    """
    Give the name or the path of a bag's robot, as `loader.load` takes it.

    What the recorder noted, where it is known here; else a file with the description in the bag,
    which is gone at the end of the context; else ``c3p``.

    Parameters
    ----------
    bag : str or Path
    namespace : str, optional
        Of the robot; default the only one in the bag.

    Raises
    ------
    BagError
        The bag cannot be read.
    """
    name = notes_of(bag).get('c3p_robot', '')
    if name and _known(name):
        yield name
        return
    text = read_description(bag, namespace)
    with tempfile.TemporaryDirectory(prefix='c3p_robot_') as folder:
        file = Path(folder) / 'robot.urdf'
        file.write_text(text or '', encoding='utf-8')
        yield str(file) if text and _known(file) else DEFAULT


def _known(robot: str | Path) -> bool:
    try:
        load(robot)
    except ModelError:
        return False
    return True
