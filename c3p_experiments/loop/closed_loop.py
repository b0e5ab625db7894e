# SPDX-License-Identifier: Apache-2.0
"""
The control loop without ROS: the nodes' own objects called one after the other.

One cycle is one sample of the joints, as it is with nodes: odometry, law of torques, plant. A
command of the source counts from the cycle after the one whose odometry it answers, and a cycle
whose sample is lost does not take place. Nothing waits for anything, so that it is as fast as the
computer can, and equal inputs give the same bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_bags.runs.run_log import Goal, Joints, Motion, RunLog, Series, Slip
from c3p_controller.torque_law import Sensed, Setpoint, TorqueLaw
from c3p_description.model import Array
from c3p_experiments.loop.command_sources import Command, Source
from c3p_kinematics.odometry import Odometry, OdometryEstimate
from c3p_simulation.plants.plant import JointSample, Plant

# a period is over also when rounding says that a millionth of it is left
GRACE = 1e-6


class Push(NamedTuple):
    """A push of the platform: begin and duration s, force (2,) N and moment N·m, `base_link`."""

    time: float
    force: tuple[float, float]
    moment: float
    duration: float


class Cycle(NamedTuple):
    """
    One control cycle, for who decides when a run is over.

    Attributes
    ----------
    time : float, s
        Of the sample.
    sample : JointSample
    estimate : OdometryEstimate
    command : Command
        The newest of the source.
    torque : (n,) array, N·m
        Sent in this cycle.
    """

    time: float
    sample: JointSample
    estimate: OdometryEstimate
    command: Command
    torque: Array


@dataclass(frozen=True, eq=False)
class LoopLog(RunLog):
    """
    A `RunLog` with what only a loop in one process knows.

    Attributes
    ----------
    solve_time : (k,) array, s
        Time that each step of the law took.
    solve_cpu : (k,) array, s
        Of that, the time of the processor: the rest went to other programs.
    law_figures : dict
        Whatever `watch` of `run_loop` returned, name → (k, …) array.
    ended : bool
        `stop` said so, before the time was up.
    """

    solve_time: Array = field(default_factory=lambda: np.zeros(0))
    solve_cpu: Array = field(default_factory=lambda: np.zeros(0))
    law_figures: dict[str, Array] = field(default_factory=dict)
    ended: bool = False


def run_loop(plant: Plant, law: TorqueLaw, source: Source, *, duration: float,
             rate: float = 200.0, command_rate: float = 50.0, steering: ArrayLike = 0.0,
             pose: ArrayLike = (0.0, 0.0, 0.0), pushes: Sequence[Push] = (),
             stop: Callable[[Cycle], bool] | None = None, odometry: Odometry | None = None,
             watch: Callable[[], dict[str, Any]] | None = None,
             progress: Callable[[float], None] | None = None) -> LoopLog:
    """
    Reset `plant` and run the loop; the controller is fed by odometry only.

    Parameters
    ----------
    plant : Plant
        With `plant.SensedPlant` around it, it has encoders and a latency.
    law : TorqueLaw
        Is reset.
    source : Source
        Says what is asked: a goal, a path or a velocity over the floor; is started.
    duration : float, s
        When the run ends at the latest.
    rate, command_rate : float, Hz
        Cycles of the law and of the source, per second of robot time.
    steering : (n,) array_like or float, rad
        At the start.
    pose : (3,) array_like, m and rad
        At the start, also of the odometry.
    pushes : sequence of Push
        Begin with the cycle nearest to their time.
    stop : callable, optional
        Takes each `Cycle`; True ends the run.
    odometry : Odometry, optional
        Else one of ``plant.robot`` with default settings; is reset.
    watch : callable, optional
        Called after each step of the law; the numbers that it returns are kept.
    progress : callable, optional
        Takes the robot's time in each cycle, s.

    Returns
    -------
    LoopLog
        In the frame of the odometry; one row for each cycle.

    Raises
    ------
    ValueError
        A time or rate that is not positive, or what plant and law refuse.
    """
    for name, value in (('duration', duration), ('rate', rate), ('command_rate', command_rate)):
        if not 0.0 < value < np.inf:
            raise ValueError(f'{name} = {value}: must be a positive number')
    odometry = Odometry(plant.robot) if odometry is None else odometry
    odometry.reset(pose)
    record = _Record(plant)
    waiting = sorted(pushes, key=lambda push: push.time)
    period, command_period = 1.0 / rate, 1.0 / command_rate
    sample = plant.reset(pose=pose, steering=steering)
    command = Command(Setpoint(np.zeros(3)), False)
    begin, last, due = sample.time, sample.time - period, sample.time
    torque, ended = np.zeros(plant.robot.count), False
    for _ in range(int(round(duration * rate)) + 1):
        now = sample.time
        # a sample that was lost makes no cycle: the torque stays
        if now > last:
            estimate = odometry.step(now, sample.steering, sample.wheel_angle, sample.wheel_rate,
                                     sample.steering_rate)
            sensed = Sensed(now, sample.steering, sample.wheel_rate, estimate.pose,
                            estimate.twist)
            if not record.rows:
                law.reset(sensed)
                source.start(estimate)
            started, busy = time.perf_counter(), time.thread_time()
            torque = law.step(sensed, command.asked, now - last)
            spent = (time.perf_counter() - started, time.thread_time() - busy)
            record.add(sample, estimate, command.asked.twist, torque, spent,
                       watch() if watch else None)
            last = now
            if now >= due - GRACE * period:
                command = source.step(now, estimate)
                # the next is due by the clock, not by when this one came
                due = max(due + command_period, now + GRACE * period)
            ended = stop is not None and bool(stop(Cycle(now, sample, estimate, command,
                                                         torque)))
            if ended:
                break
            if progress is not None:
                progress(now - begin)
        while waiting and plant.time >= waiting[0].time - 0.5 * period:
            push = waiting.pop(0)
            plant.push(push.force, push.moment, push.duration)
        sample = plant.step(torque, period)
    return record.log(source, ended)


class _Record:
    """Rows of a run, and arrays from them."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant
        self.rows: list[tuple[Any, ...]] = []
        self._watched: list[dict[str, Any]] = []

    def add(self, sample: JointSample, estimate: OdometryEstimate, twist: Array, torque: Array,
            spent: tuple[float, float], watched: dict[str, Any] | None) -> None:
        """Keep one cycle."""
        truth, slip = self._plant.truth(), estimate.slip
        suspect = np.zeros(len(torque), bool)
        if slip.slipping and slip.suspect >= 0:
            suspect[slip.suspect] = True
        self.rows.append((
            sample.time, *sample[1:], estimate.pose, estimate.twist, estimate.pose_covariance,
            estimate.twist_covariance, truth.pose, truth.twist, twist, torque, estimate.residual,
            suspect, slip.likelihood, *spent))
        if watched is not None:
            self._watched.append(watched)

    def log(self, source: Source, ended: bool) -> LoopLog:
        """Return the run as arrays."""
        (when, steering, steering_rate, wheel, wheel_rate, applied, pose, twist, of_pose,
         of_twist, true_pose, true_twist, asked, torque, residual, suspect, likelihood,
         solve_time, solve_cpu) = (np.array(column) for column in zip(*self.rows, strict=True))
        pose[:, 2] = np.unwrap(pose[:, 2])
        # where the odometry's yaw is wrapped and the truth's is not they must not differ by turns
        true_pose[:, 2] += 2.0 * np.pi * np.rint((pose[0, 2] - true_pose[0, 2]) / (2.0 * np.pi))
        when = when - when[0]
        none = np.zeros((len(when), 3, 3))
        goal = source.goal
        return LoopLog(
            path=Path(), start_ns=0,
            joints=Joints(when, steering, steering_rate, wheel, wheel_rate, applied),
            odom=Motion(when, pose, twist, of_pose, of_twist, 'odom', 'base_link'),
            ground_truth=Motion(when, true_pose, true_twist, none, none, 'odom', 'base_link'),
            cmd_vel=Series(when, asked), wheel_effort=Series(when, torque),
            goals=() if goal is None else (Goal(0.0, tuple(map(float, goal)), 'odom'),),
            slip=Slip(when, residual, suspect, likelihood), solve_time=solve_time,
            solve_cpu=solve_cpu,
            law_figures={name: np.array([row[name] for row in self._watched])
                         for name in (self._watched[0] if self._watched else ())},
            ended=ended)


class Held:
    """
    Tells when a goal has been held: nothing more is asked, and the robot stands.

    Use as `stop` of `run_loop`.

    Parameters
    ----------
    dwell : float, s
        For so long.
    speed, yaw_rate : float, m/s and rad/s
        Below both, by odometry, the robot stands.
    patience : float, s
        A robot that has been in the goal zone for so long has held its goal, too: not every law
        comes closer, or to rest.
    """

    def __init__(self, dwell: float = 0.3, speed: float = 0.005, yaw_rate: float = 0.01,
                 patience: float = 5.0) -> None:
        """Start with nothing held."""
        self._speed, self._yaw_rate = speed, yaw_rate
        self._long = (dwell, patience)
        self._since: list[float] = [np.inf, np.inf]

    def __call__(self, cycle: Cycle) -> bool:
        """Return whether the goal is held long enough in this cycle."""
        vx, vy, turn = cycle.estimate.twist
        stands = np.hypot(vx, vy) < self._speed and abs(turn) < self._yaw_rate
        for k, held in enumerate((cycle.command.done and stands, cycle.command.in_zone)):
            self._since[k] = min(self._since[k], cycle.time) if held else np.inf
        return any(cycle.time - since >= long
                   for since, long in zip(self._since, self._long, strict=True))
