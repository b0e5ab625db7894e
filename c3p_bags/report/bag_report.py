# SPDX-License-Identifier: Apache-2.0
"""Figures and picture of a drive, from its bag alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from c3p_bags.report.drive_page import drive_figure
from c3p_bags.runs.log_reader import read_run
from c3p_bags.runs.metrics import drive_metrics
from c3p_description.reading.loader import load_casters


def bag_report(bag: Path, robot_name: str, goal_tolerance: float, out: Path,
               yaw_tolerance: float, goal: Sequence[float]) -> dict[str, Any]:
    """
    Write the picture of the run in `bag` to `out` and return its figures.

    Parameters
    ----------
    bag : Path
    robot_name : str
        Name or path of the robot's description.
    goal_tolerance, yaw_tolerance : float, m and rad
    out : Path
        Directory for ``drive.png`` and ``drive.pdf``.
    goal : (3,) sequence
        In the odometry frame.

    Raises
    ------
    BagError
        No bag, or no joint states in it.
    """
    robot = load_casters(robot_name)
    log = read_run(bag, robot)
    figures = drive_metrics(log, robot, goal, goal_tolerance, yaw_tolerance)
    out.mkdir(parents=True, exist_ok=True)
    picture = out / 'drive.png'
    drive_figure(log, robot, figures, picture)
    figures['files'] = {'picture': str(picture), 'picture_pdf': str(picture.with_suffix('.pdf'))}
    return figures
