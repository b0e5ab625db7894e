# SPDX-License-Identifier: Apache-2.0
"""A caster robot in Rerun: a recorded run, or the live robot, with its scene and plots."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from c3p_bags.recorder.transforms import Transform
from c3p_description.model import Array, CasterRobot
from c3p_description.reading.loader import robot_description
from c3p_kinematics.singularity import shown_singularity
from c3p_viewers.mujoco.caption import AIM, DRIVEN
from c3p_viewers.rerun.layout import blueprint, series, titles
from c3p_viewers.rerun.robot_log import SAMPLES, RobotLog, as_bytes
from c3p_viewers.rerun.show import MOST_MOMENTS, RATE, spawn
from c3p_viewers.scene.shapes import raised
from c3p_viewers.sources.bag_source import BagSource
from c3p_viewers.sources.moment import Moment, joint_positions, scene_of

# height of paths above the floor, m
LIFT = 0.003
# time and values of a topic that was not recorded
UNKNOWN = None, None

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


def lines(robot: CasterRobot, *, command: Array | None = None, twist: Array | None = None,
          steering: Array | None = None, torque: Array | None = None,
          residual: Array | None = None, turning: Array | None = None
          ) -> dict[tuple[str, str], Array]:
    """
    Return ``{(plot, line): value}`` of the known values, of one moment or of many (k, …).

    `robot` gives the measure of singularities of `steering`; `command`, `twist`, `torque` and
    `residual` are as in `Moment`, `turning` is the torque of the steering axes there.
    """
    slip = None if residual is None else np.linalg.norm(residual, axis=-1)
    degrees = None if steering is None else np.degrees(steering)
    state = None if steering is None else shown_singularity(robot, steering)
    sigma = None if state is None else np.abs(state.sigma_min)[..., None]
    axes = ('vx', 'vy', 'omega')
    numbers = range(1, robot.count + 1)
    casters, wheels = ([f'{word}_{i}' for i in numbers] for word in ('caster', 'wheel'))
    return {(plot, name): values[..., k] for plot, names, values in (
        ('twist', [f'{axis}_command' for axis in axes], command), ('twist', axes, twist),
        ('steering', casters, degrees), ('torque', wheels, torque), ('slip', wheels, slip),
        ('turning', casters, turning), ('singularity', ['sigma_min'], sigma))
        if values is not None for k, name in enumerate(names)}


def log_run(log: CasterLog, source: BagSource) -> None:
    """Log a whole run."""
    log.line('driven', raised(source.path, LIFT), DRIVEN, log.BROAD)
    if source.apart:
        log.line('truth', raised(source.truth, LIFT), TRUE_PATH, log.BROAD)
    run = source.log
    count = source.log.joints.steering.shape[1]
    for name, time, values in (
            ('command', *(run.cmd_vel or UNKNOWN)), ('steering', *run.joints[:2]),
            ('twist', *((run.odom.time, run.odom.twist) if run.odom else UNKNOWN)),
            ('torque', run.torque.time, run.torque.value[:, :count]),
            ('turning', *((run.torque.time, run.torque.value[:, count:])
                          if run.torque.value.shape[1] > count else UNKNOWN)),
            ('residual', *(run.slip[:2] if run.slip else UNKNOWN))):
        if values is not None:
            step = 1 + len(time) // SAMPLES
            log.columns(time[::step], lines(log.robot, **{name: values[::step]}))
    length = max(source.end - source.start, 1.0 / RATE)
    for moment in source.moments(min(RATE, MOST_MOMENTS / length)):
        log.moment(moment)


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
    log = CasterLog(spawn(blueprint(titles(robot))), robot, description)
    while going():
        moment = moments()
        if moment is not None:
            log.moment(moment)
            live_numbers(log, moment)


def live_numbers(log: CasterLog, moment: Moment) -> None:
    """Log the lines of all plots and the path driven at a moment."""
    log.live(lines(log.robot, command=moment.command, twist=moment.twist,
                   steering=moment.steering, torque=moment.torque, residual=moment.residual,
                   turning=moment.steering_torque),
             raised(moment.place[:2], LIFT))
