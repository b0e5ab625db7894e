# SPDX-License-Identifier: Apache-2.0
"""The description in a bag, kept beside the results that extend it."""

from __future__ import annotations

from pathlib import Path

from c3p_description.reading.loader import DESCRIPTIONS, robot_description


def kept_description(robot: str, out: Path, recorded: bool) -> str:
    """
    Return the name or path of the `robot` that a file in `out` extends.

    A URDF that was `recorded` in a bag is written to ``robot.urdf`` in `out`: its own file is
    temporary. Any other robot is returned as it is.
    """
    if not (recorded and Path(robot).suffix in DESCRIPTIONS):
        return robot
    kept = out / 'robot.urdf'
    kept.write_text(robot_description(robot), encoding='utf-8')
    return str(kept)
