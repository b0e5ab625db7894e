# SPDX-License-Identifier: Apache-2.0
"""A caster robot in Rerun: a recorded run, or the live robot, with its scene and plots."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from c3p_bags.recorder.transforms import Transform
from c3p_bags.runs.run_log import Series
from c3p_description.model import Array, CasterRobot
from c3p_description.reading.loader import robot_description
from c3p_kinematics.singularity import singularity
from c3p_viewers.mujoco.caption import AIM, DRIVEN
from c3p_viewers.rerun.layout import blueprint, series
from c3p_viewers.rerun.robot_log import RobotLog, as_bytes
from c3p_viewers.rerun.show import MOST_MOMENTS, RATE, SAMPLES, spawn
from c3p_viewers.sources.bag_source import BagSource
from c3p_viewers.sources.moment import Moment, joint_positions, scene_of

# points of the path that are nearer to each other cannot be told apart, m
SPACING = 0.02
# height of paths above the floor and their width, m
LIFT, BROAD = 0.003, 0.012

# the true path: black, as in the plots, would not be seen on Rerun's dark ground
TRUE_PATH = '#E8E8E8'


class CasterLog(RobotLog):
    """
    Logs one caster robot.

    `description`: name or path of the description, as for `loader.load`.
    """

    def __init__(self, recording: Any, robot: CasterRobot, description: str | Path) -> None:
        """Log the static parts."""
        super().__init__(recording, robot_description(description), series(robot), description)
        self.robot = robot
        self._goal: tuple[float, ...] | None = None

    def path(self, name: str, points: Array, static: bool = True) -> None:
        """
        Log a path.

        `name`: ``driven`` or ``truth``; `points` (k, 2) [m]; `static`: not of one time.
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


def log_run(log: CasterLog, source: BagSource) -> None:
    """Log a whole run."""
    log.path('driven', source.path)
    if source.apart:
        log.path('truth', source.truth)
    run, n = source.log, source.log.joints.steering.shape[1]
    for ending, twist in (('_command', run.cmd_vel), ('', None if run.odom is None else Series(
            run.odom.time, run.odom.twist))):
        _columns(log, 'twist', [f'{axis}{ending}' for axis in ('vx', 'vy', 'omega')], twist)
    joints = run.joints
    wheels = [f'wheel_{i + 1}' for i in range(n)]
    _columns(log, 'steering', [f'caster_{i + 1}' for i in range(n)],
             Series(joints.time, np.degrees(joints.steering)))
    _columns(log, 'torque', wheels, run.wheel_effort or Series(joints.time, joints.wheel_torque))
    if run.slip is not None:
        _columns(log, 'slip', wheels,
                 Series(run.slip.time, np.linalg.norm(run.slip.residual, axis=-1)))
    step = 1 + len(joints.time) // SAMPLES
    state = singularity(log.robot, joints.steering[::step])
    log.numbers('singularity', 'sigma_min', joints.time[::step], np.abs(state.sigma_min))
    length = max(source.end - source.start, 1.0 / RATE)
    for moment in source.moments(min(RATE, MOST_MOMENTS / length)):
        log.moment(moment)


def _columns(log: CasterLog, plot: str, lines: list[str], series: Series | None) -> None:
    """Log the columns of a series as lines of a plot."""
    if series is None:
        return
    step = 1 + len(series.time) // SAMPLES
    for k, line in enumerate(lines):
        log.numbers(plot, line, series.time[::step], np.asarray(series.value)[::step, k])


def follow(robot: CasterRobot, description: str | Path, moments: Callable[[], Moment | None],
           going: Callable[[], bool]) -> None:
    """
    Show a live robot in Rerun's viewer.

    Parameters
    ----------
    robot : CasterRobot
    description : str or Path
        Name or path of the description, as for `loader.load`.
    moments : callable
        Returns the newest moment, None without fresh messages.
    going : callable
        Returns whether to go on; may wait until the next moment.
    """
    log = CasterLog(spawn(blueprint()), robot, description)
    path: list[Array] = []
    while going():
        moment = moments()
        if moment is not None:
            log.moment(moment)
            live_numbers(log, moment)
            if not path or np.hypot(*(moment.place[:2] - path[-1])) > SPACING:
                path.append(np.array(moment.place[:2]))
                log.path('driven', np.array(path), static=False)


def live_numbers(log: CasterLog, moment: Moment) -> None:
    """Log the lines of all plots at a moment."""
    for ending, twist in (('_command', moment.command), ('', moment.twist)):
        if twist is not None:
            for axis, value in zip(('vx', 'vy', 'omega'), twist, strict=True):
                log.number('twist', f'{axis}{ending}', float(value))
    slip = None if moment.residual is None else np.linalg.norm(moment.residual, axis=-1)
    for plot, word, values in (('steering', 'caster', np.degrees(moment.steering)),
                               ('torque', 'wheel', moment.torque), ('slip', 'wheel', slip)):
        if values is not None:
            for k, value in enumerate(values):
                log.number(plot, f'{word}_{k + 1}', float(value))
    log.number('singularity', 'sigma_min',
               abs(float(singularity(log.robot, moment.steering).sigma_min)))
