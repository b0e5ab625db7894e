# SPDX-License-Identifier: Apache-2.0
"""A caster robot and its scene in a recording of Rerun."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from c3p_bags.recorder.transforms import Transform
from c3p_description.model import Array, CasterRobot
from c3p_description.reading.loader import robot_description
from c3p_viewers.mujoco.caption import AIM, DRIVEN
from c3p_viewers.rerun.layout import series
from c3p_viewers.rerun.robot_log import RobotLog, as_bytes
from c3p_viewers.sources.moment import Moment, joint_positions, scene_of

# height of paths above the floor and their width, m
LIFT, BROAD = 0.003, 0.012

# the true path: black, as in the plots, would not be seen on Rerun's dark ground
TRUE_PATH = '#E8E8E8'


class CasterLog(RobotLog):
    """
    Logs one caster robot.

    Parameters
    ----------
    recording : rerun.RecordingStream
    robot : CasterRobot
    description : str or Path
        Name or path of the description, as for `loader.load`.
    """

    def __init__(self, recording: Any, robot: CasterRobot, description: str | Path) -> None:
        """Log the static parts."""
        super().__init__(recording, robot_description(description), series(robot), description)
        self.robot = robot
        self._goal: tuple[float, ...] | None = None

    def path(self, name: str, points: Array, static: bool = True) -> None:
        """
        Log a path.

        Parameters
        ----------
        name : str
            ``driven`` or ``truth``.
        points : (k, 2) array, m
        static : bool
            Not of one time.
        """
        self.line(name, np.column_stack([points, np.full(len(points), LIFT)]),
                  DRIVEN if name == 'driven' else TRUE_PATH, BROAD, static)

    def moment(self, moment: Moment) -> None:
        """Log a moment: pose, joints, goal and scene."""
        x, y, yaw = (float(v) for v in moment.place)
        self.place(moment.time, Transform(
            (x, y, 0.0), (0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))),
            joint_positions(self.robot, moment.steering, moment.wheel_angle))
        goal = None if moment.goal is None else tuple(float(v) for v in moment.goal)
        if goal is not None and goal != self._goal:
            self._goal = goal
            self._recording.log('odom/goal', self._rr.Arrows3D(
                origins=[[goal[0], goal[1], LIFT]],
                vectors=[[0.3 * math.cos(goal[2]), 0.3 * math.sin(goal[2]), 0.0]],
                colors=[as_bytes(AIM)], radii=[0.015], labels=['goal']))
        self.shapes(scene_of(self.robot, moment))
