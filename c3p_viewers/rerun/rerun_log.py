# SPDX-License-Identifier: Apache-2.0
"""A caster robot into a recording of Rerun, with what explains its motion."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from c3p_bags.recorder.transforms import Transform
from c3p_description.model import Array, CasterRobot
from c3p_description.reading.loader import robot_description
from c3p_viewers.mujoco.caption import AIM, DRIVEN
from c3p_viewers.rerun.rerun_layout import series
from c3p_viewers.rerun.rerun_robot import RobotLog, as_bytes
from c3p_viewers.sources.moment import Moment, joint_positions, scene_of

# height of ways above the floor and their width, m
LIFT, BROAD = 0.003, 0.012

# the true way: black, as in the figures, would not be seen on Rerun's dark ground
TRUE_WAY = '#E8E8E8'


class RerunLog(RobotLog):
    """
    Logs one caster robot.

    Parameters
    ----------
    recording : rerun.RecordingStream
    robot : CasterRobot
    description : str or Path
        How it looks, as for `loader.load`.
    """

    def __init__(self, recording: Any, robot: CasterRobot, description: str | Path) -> None:
        """Log what never changes."""
        super().__init__(recording, robot_description(description), series(robot), description)
        self.robot = robot
        self._goal: tuple[float, ...] | None = None

    def way(self, name: str, points: Array, static: bool = True) -> None:
        """
        Log a way.

        Parameters
        ----------
        name : str
            ``driven`` or ``truth``.
        points : (k, 2) array, m
        static : bool
            It does not depend on the time.
        """
        self.line(name, np.column_stack([points, np.full(len(points), LIFT)]),
                  DRIVEN if name == 'driven' else TRUE_WAY, BROAD, static)

    def moment(self, moment: Moment) -> None:
        """Log a moment: where the robot is, how its joints are, and what explains them."""
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
