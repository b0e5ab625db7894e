# SPDX-License-Identifier: Apache-2.0
"""Stops of joints of a URDF: positions between which a revolute joint turns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from c3p_description.model import Array
from c3p_description.reading.loader import describes_urdf, robot_description
from c3p_description.reading.urdf_xml import read_tree


def joint_stops(xml_text: str, names: Sequence[str]) -> tuple[Array, Array]:
    """
    Return the lower and upper stops of joints, (m,) rad; ∓inf of a joint without stops.

    Parameters
    ----------
    xml_text : str
        URDF; empty for a robot without one.
    names : sequence of str
        Joints; of one that the URDF does not have nothing is known.

    Raises
    ------
    ModelError
        Malformed XML.
    """
    lower = np.full(len(names), -np.inf)
    upper = np.full(len(names), np.inf)
    joints = {joint.name: joint for joint in read_tree(xml_text).joints} if xml_text else {}
    for k, name in enumerate(names):
        joint = joints.get(name)
        if joint is not None and joint.kind == 'revolute' and not joint.turns_freely():
            lower[k], upper[k] = (stop or 0.0 for stop in joint.stops)
    return lower, upper


def urdf_of(name_or_path: str | Path) -> str:
    """Return the text of a robot that a URDF describes; empty for one of a YAML file alone."""
    return robot_description(name_or_path) if describes_urdf(name_or_path) else ''
