# SPDX-License-Identifier: Apache-2.0
"""Standard battery of drives, scaled to the size and the ability of a robot."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs.metrics import entry_time
from c3p_controller.goals.axle_path import AxlePath, no_goals
from c3p_controller.goals.path import TURN_LENGTH, Path, figure_eight
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.freedoms import departure, heading_is_free
from c3p_experiments.el_shenawy.goals import DWELL, ZONE, goal_metrics
from c3p_experiments.el_shenawy.measures import largest_and_rms, ring_error
from c3p_experiments.loop.closed_loop import Cycle, Held, LoopLog
from c3p_experiments.loop.command_sources import GoalSource, PathSource
from c3p_experiments.loop.outcome import ExperimentRun
from c3p_experiments.robots.bench import RobotBench
from c3p_experiments.robots.pace import Pace
from c3p_kinematics.fixed_axle import FixedAxle, fixed_axle
from c3p_kinematics.se2 import wrap

# start steerings, and the seed of their angles
STEERINGS = 12
SEED = 2007

# longest drive: times that without errors, and an addition for the casters, s
PATIENCE = 3.0
EXTRA = 10.0

# of a robot out of control: away from where it may be, times the length of the drive; yaw, rad
AWAY = 1.5
TURNED = 2.0 * math.pi

# time without 1 cm or 0.02 rad of progress that ends a drive to a goal, s
PROGRESS = 8.0
CLOSER = 0.01
TURNED_CLOSER = 0.02

# time in the goal zone that ends a drive which does not come to rest, s
LINGER = 2.0

# steering of casters after a drive along +X, rad
AFTER_X = -np.pi / 2


# gains of a robot with fewer motors than freedoms: it arrives with a heading of its own, rad
ANY_HEADING = {'yaw_tolerance': 4.0, 'stop_yaw': 4.0}

# reason of a start that two driven wheels cannot leave
CLOSED = ('the start cannot be left: all rolling lines of the driven wheels are one, and no '
          'motion along it turns the casters')
TURN = 'with fewer motors than freedoms a turn in place cannot be held'


class BatteryDrive(NamedTuple):
    """
    A drive of the battery.

    Attributes
    ----------
    name, title : str
    goal : (3,) array, m and rad
    steering : (n,) array, rad
        At the start.
    seconds : float, s
        Time of the drive without errors.
    radius : float, m
        Of the rings of a figure eight; 0 for a goal.
    """

    name: str
    title: str
    goal: Array
    steering: Array
    seconds: float
    radius: float = 0.0


@dataclass(frozen=True)
class DriveOutcome:
    """
    A drive that was done, or the reason for which it was not.

    Attributes
    ----------
    task : BatteryDrive
    plant : str
    metrics : dict
        Of `el_shenawy.goals.goal_metrics`, with ``runaway``; empty if not driven.
    run : ExperimentRun or None
    failure : str
        Reason of a drive that was not done or missed; '' when reached.
    possible : bool
        False of a drive that the wheels of the robot do not allow.
    """

    task: BatteryDrive
    plant: str
    metrics: dict[str, Any] = field(default_factory=dict)
    run: ExperimentRun | None = None
    failure: str = ''
    possible: bool = True

    @property
    def name(self) -> str:
        """Name in the results: that of the task, with the plant unless analytic."""
        return self.task.name + ('' if self.plant == 'analytic' else f'_{self.plant}')

    @property
    def reached(self) -> bool:
        """The goal was reached."""
        return bool(self.metrics.get('reached'))


def tasks(robot: CasterRobot, pace: Pace) -> list[BatteryDrive]:
    """Return the drives of `robot` at its `pace`."""
    n = robot.count
    reach = pace.length
    level = np.zeros(n)
    half_turn = pace._replace(**pace.turning()).seconds(TURN_LENGTH * math.pi)
    out = [
        BatteryDrive('line', f'{reach:.2g} m along X, casters across', np.array([reach, 0.0, 0.0]),
                     level, pace.seconds(reach)),
        BatteryDrive('sideways', f'{reach:.2g} m along Y, casters as after a drive along X',
                     np.array([0.0, reach, 0.0]), level + AFTER_X, pace.seconds(reach)),
        BatteryDrive('spin', 'half a turn in place', np.array([0.0, 0.0, math.pi]), level,
                     half_turn),
        BatteryDrive('figure_eight', f'figure eight along Y, rings of {pace.radius:.2g} m',
                     np.zeros(3), level, pace.seconds(4.0 * math.pi * pace.radius), pace.radius)]
    random = np.random.default_rng(SEED)
    for k in range(STEERINGS):
        angle = 2.0 * math.pi * k / STEERINGS
        goal = reach * np.array([math.cos(angle), math.sin(angle), 0.0])
        out.append(BatteryDrive(f'steering_{k + 1}',
                                f'{reach:.2g} m towards {math.degrees(angle):.0f}°, '
                                'random steering', goal, random.uniform(-np.pi, np.pi, n),
                                pace.seconds(reach)))
    # modules start between their stops
    return [task._replace(steering=np.clip(task.steering, robot.steering_lower,
                                           robot.steering_upper)) for task in out]


class _Watch:
    """Condition `stop`: the goal is held, or the robot is out of control."""

    def __init__(self, task: BatteryDrive) -> None:
        self._held = Held(DWELL, patience=LINGER)
        self.runaway = False
        self._far = AWAY * max(float(np.hypot(*task.goal[:2])), 4.0 * task.radius, 0.5)
        self._turned, self._last, self._eight = 0.0, None, task.radius > 0.0
        self._goal, self._nearest, self._since = task.goal, np.full(2, np.inf), 0.0

    def __call__(self, cycle: Cycle) -> bool:
        """Return whether the run ends."""
        pose = cycle.estimate.pose
        if self._last is not None:
            self._turned += float(wrap(pose[2] - self._last))
        self._last = pose[2]
        turned = 0.0 if self._eight else abs(self._turned)
        self.runaway = bool(math.hypot(pose[0], pose[1]) > self._far or turned > TURNED)
        return self.runaway or self._held(cycle) or self._stuck(cycle)

    def _stuck(self, cycle: Cycle) -> bool:
        """Return whether the robot has come no closer to its goal for `PROGRESS`."""
        x, y, turn = cycle.estimate.pose - self._goal
        error = np.array([math.hypot(x, y), abs(float(wrap(turn)))])
        if (error < self._nearest - [CLOSER, TURNED_CLOSER]).any():
            self._nearest = np.minimum(self._nearest, error)
            self._since = cycle.time
        return not self._eight and cycle.time - self._since > PROGRESS


def impossible(robot: CasterRobot, task: BatteryDrive) -> str:
    """Return why the wheels of a robot do not allow a drive, by its model alone; '' if they do."""
    axle = fixed_axle(robot)
    if task.radius == 0.0 and axle is not None and axle.radius > 0.0:
        return no_goals(axle.radius)
    if not heading_is_free(robot):
        return ''
    if task.radius == 0.0 and not task.goal[:2].any():
        return TURN
    return CLOSED if len(departure(robot, task.steering).closed) else ''


def drive(bench: RobotBench, task: BatteryDrive, pace: Pace) -> DriveOutcome:
    """
    Do one drive.

    With fewer motors than freedoms the heading is free, and a start that cannot be left is not
    driven. A drive that raises (a robot that has fallen over, a torque that is not finite) is a
    failure with the text of the error.
    """
    in_place = task.radius == 0.0 and not task.goal[:2].any()
    free = heading_is_free(bench.robot)
    if reason := impossible(bench.robot, task):
        return DriveOutcome(task, bench.conditions.plant, failure=reason, possible=False)
    bench.gains = {**(pace.turning() if in_place else pace.straight()),
                   **(ANY_HEADING if free else {})}
    controller = bench.controller()
    watch = _Watch(task)
    path = eight(bench.robot, task.radius) if task.radius else None
    source = (PathSource(controller.position(), path) if path is not None
              else GoalSource(controller.position(), [task.goal]))
    try:
        log = bench.run(controller, source, duration=PATIENCE * task.seconds + EXTRA,
                        stop=watch, steering=task.steering)
    except ValueError as error:
        return DriveOutcome(task, bench.conditions.plant, failure=f'{error}')
    metrics = goal_metrics(bench, log, task.goal)
    if free:
        metrics['reached'] = entry_time(log.odom, task.goal, 0.0, ZONE, np.inf) is not None
    facts: dict[str, Any] = {'points': [(0.0, 0.0, 0.0), task.goal]}
    if path is not None:
        centres = ring_centres(bench.robot, task.radius)
        _ring_errors(metrics, log, task.radius, centres, fixed_axle(bench.robot))
        metrics['reached'] = bool(metrics['reached'] and not watch.runaway)
        facts = {'curve': path.at(np.linspace(0.0, path.length, 400))[0],
                 'centres': centres, 'radius': task.radius}
    if in_place:
        for prefix, motion in (('', log.odom), ('ground_truth_', log.ground_truth)):
            moved = np.hypot(*(motion.pose[:, :2] - motion.pose[0, :2]).T)
            metrics[f'{prefix}path_error_max_m'] = float(moved.max())
    metrics['runaway'] = watch.runaway
    failure = '' if metrics['reached'] else log.fault or _missed(metrics)
    return DriveOutcome(task, bench.conditions.plant, metrics,
                        ExperimentRun(task.name, log, facts), failure)


def eight(robot: CasterRobot, radius: float) -> Path:
    """
    Return the figure eight of a robot from the origin, with rings of `radius`, m.

    It is along +Y. With fixed wheels it is that of the middle of their axle, in its direction:
    other points of the robot leave the rings.
    """
    axle = fixed_axle(robot)
    if axle is None:
        return figure_eight(np.zeros(3), radius)
    return AxlePath(axle, figure_eight(axle.pose(np.zeros(3)), radius, 0.0))


def ring_centres(robot: CasterRobot, radius: float) -> list[tuple[float, float]]:
    """
    Return the centres of the rings of `eight`, m.

    Examples
    --------
    >>> from c3p_description import load
    >>> ring_centres(load('c3p'), 2.0)
    [(-2.0, 0.0), (2.0, 0.0)]
    """
    axle = fixed_axle(robot)
    if axle is None:
        return [(-radius, 0.0), (radius, 0.0)]
    x, y, direction = axle.pose(np.zeros(3)).tolist()
    left_x = -radius * math.sin(direction)
    left_y = radius * math.cos(direction)
    return [(x + left_x, y + left_y), (x - left_x, y - left_y)]


def _ring_errors(metrics: dict[str, Any], log: LoopLog, radius: float,
                 centres: list[tuple[float, float]], axle: FixedAxle | None) -> None:
    for prefix, motion in (('', log.odom), ('ground_truth_', log.ground_truth)):
        if axle is not None:
            motion = motion._replace(pose=np.array([axle.pose(pose) for pose in motion.pose]))
        largest, rms = largest_and_rms(ring_error(motion, centres, radius))
        metrics[f'{prefix}path_error_max_m'] = largest
        metrics[f'{prefix}path_error_rms_m'] = rms


def _missed(metrics: dict[str, Any]) -> str:
    if metrics['runaway']:
        return 'out of control'
    return (f'ends {100 * metrics["final_error_m"]:.1f} cm and '
            f'{metrics["final_yaw_error_rad"]:.2f} rad from the goal')
