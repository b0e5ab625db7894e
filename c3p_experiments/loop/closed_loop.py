# SPDX-License-Identifier: Apache-2.0
"""
Closed control loop without ROS: the objects of the nodes, called one after the other.

A cycle is one sample of the joints, as with nodes: odometry, torque law, plant. A command takes
effect in the cycle after the odometry from which it was computed. A lost sample skips the cycle
and holds the torque; of several samples that arrive together, the older ones move the odometry
alone. All that a robot would compute follows the stamps of the samples, whatever the true time is.
Nothing waits: the loop runs as fast as possible, bit-reproducibly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from c3p_bags.runs.run_log import Goal, Joints, Motion, RunLog, Series, Slip
from c3p_controller.divergence import Divergence
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_description.model import Array
from c3p_experiments.loop.command_sources import Command, Source
from c3p_kinematics.odometry import Odometry, OdometryEstimate, OdometrySettings
from c3p_kinematics.odometry_data import SYNCHRONOUS
from c3p_kinematics.rolling import rolling_rates
from c3p_simulation.plants.plant import JointSample, Plant
from c3p_simulation.plants.sensors import Arrival, SensedPlant, arrivals, turns_measured
from c3p_simulation.plants.timing import SampleTiming

# time without torque at the end of a run whose law diverges, s
COASTING = 0.5

# a period is over also when rounding leaves a millionth of it
GRACE = 1e-6


class Push(NamedTuple):
    """A push of the platform: begin and duration s, force (2,) N and moment N·m, `base_link`."""

    time: float
    force: tuple[float, float]
    moment: float
    duration: float


class Cycle(NamedTuple):
    """
    One control cycle, the argument of `stop`.

    Attributes
    ----------
    time : float, s
        Stamp of the sample.
    sample : JointSample
    estimate : OdometryEstimate
    command : Command
        The latest of the source.
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
    A `RunLog` of a simulated run, with the computing times of the torque law.

    Attributes
    ----------
    odom, ground_truth, cmd_vel, wheel_effort, slip
        As of a `RunLog`, never None; at the true times of the samples. The time of the joints is
        that of their stamps.
    solve_time : (s,) array, s
        Wall time of each step of the law.
    solve_cpu : (s,) array, s
        Processor time of each step of the law, without other programs.
    ended : bool
        `stop` ended the run before its duration.
    fault : str
        Reason for which the law was stopped, with zero torque from then on; '' without one.
    """

    odom: Motion = field(kw_only=True)
    ground_truth: Motion = field(kw_only=True)
    cmd_vel: Series = field(kw_only=True)
    wheel_effort: Series = field(kw_only=True)
    slip: Slip = field(kw_only=True)
    solve_time: Array = field(default_factory=lambda: np.zeros(0))
    solve_cpu: Array = field(default_factory=lambda: np.zeros(0))
    ended: bool = False
    fault: str = ''


@dataclass(frozen=True)
class LoopOptions:
    """
    Options of a run that most runs leave as they are.

    Attributes
    ----------
    rate, command_rate : float, Hz
        Cycles of the law and of the source, per second of robot time.
    pose : (3,) array_like, m and rad
        At the start, also of the odometry.
    pushes : sequence of Push
        Each begins with the cycle nearest to its time.
    progress : callable, optional
        Takes the robot time of each cycle, s.

    Raises
    ------
    ValueError
        A rate is not positive.
    """

    rate: float = 200.0
    command_rate: float = 50.0
    pose: ArrayLike = (0.0, 0.0, 0.0)
    pushes: Sequence[Push] = ()
    progress: Callable[[float], None] | None = None

    def __post_init__(self) -> None:
        """Reject invalid rates."""
        _require_positive('rate', self.rate)
        _require_positive('command_rate', self.command_rate)


def _require_positive(name: str, value: float) -> None:
    """Raise ValueError for a value that is not positive and finite."""
    if not 0.0 < value < np.inf:
        raise ValueError(f'{name} = {value}: must be a positive number')


class LoopLaw(Protocol):
    """The part of a torque law that the loop calls."""

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past; start from `sensed` (at rest when omitted)."""

    def step(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> Array:
        """Return the wheel torques (n,) N·m for the next `dt` seconds."""

    def prepare(self) -> None:
        """Compute what the next step can use, after the torques of the last one were sent."""


def run_loop(plant: Plant, law: LoopLaw, source: Source, *, duration: float,
             steering: ArrayLike = 0.0, stop: Callable[[Cycle], bool] | None = None,
             odometry: Odometry | None = None, options: LoopOptions | None = None) -> LoopLog:
    """
    Reset `plant` and run the loop with odometry as the only feedback.

    Parameters
    ----------
    plant : Plant
        Wrapped in a `SensedPlant` it has encoders and a latency.
    law : LoopLaw
        Reset at the start.
    source : Source
        Commands towards a goal, along a path or of a velocity; started at the start.
    duration : float, s
        Longest duration of the run.
    steering : (n,) array_like or float, rad
        At the start.
    stop : callable, optional
        Takes each `Cycle`; True ends the run.
    odometry : Odometry, optional
        Default: that of ``plant.robot`` with the settings of `timed_odometry`. Reset at the
        start.
    options : LoopOptions, optional
        Rates, pose at the start, pushes and progress.

    Returns
    -------
    LoopLog
        In the frame of the odometry, one row per sample.

    Raises
    ------
    ValueError
        The duration is not positive; as plant and law.
    """
    _require_positive('duration', duration)
    options = options or LoopOptions()
    if odometry is None:
        timing = plant.settings.timing if isinstance(plant, SensedPlant) else None
        odometry = Odometry(plant.robot, OdometrySettings(**timed_odometry(timing)))
    odometry.reset(options.pose)
    record = _Record()
    waiting = sorted(options.pushes, key=lambda push: push.time)
    period = 1.0 / options.rate
    command_period = 1.0 / options.command_rate
    first = plant.reset(pose=options.pose, steering=steering)
    arrived = arrivals(plant, first)
    command = Command(Setpoint(np.zeros(3)), False)
    begin = first.time
    last = first.time - period
    due = first.time
    torque = np.zeros(plant.robot.efforts)
    ended = False
    fault = ''
    until = np.inf
    for _ in range(int(round(duration * options.rate)) + 1):
        measure_turns(odometry, plant)
        for older in arrived[:-1]:
            record.add(older, observed(odometry, older.sample), command.setpoint.twist, torque)
        # without a sample the cycle is skipped and the torque is held
        if arrived:
            sample = arrived[-1].sample
            now = sample.time
            estimate = observed(odometry, sample)
            sensed = Sensed(now, sample.steering, _known_rate(plant, sample, estimate),
                            estimate.pose, estimate.twist)
            if not record.rows:
                law.reset(sensed)
                source.start(estimate)
            started = time.perf_counter()
            busy = time.thread_time()
            if not fault:
                try:
                    torque = law.step(sensed, command.setpoint, now - last)
                except Divergence as error:
                    torque = np.zeros(plant.robot.efforts)
                    fault = f'the law {error}'
                    until = now + COASTING
            record.spent.append((time.perf_counter() - started, time.thread_time() - busy))
            if not fault:
                law.prepare()
            record.add(arrived[-1], estimate, command.setpoint.twist, torque)
            last = now
            if now >= due - GRACE * period:
                command = source.step(now, estimate)
                # due times follow the clock, so that one late cycle delays no later command
                due = max(due + command_period, now + GRACE * period)
            ended = stop is not None and bool(stop(Cycle(now, sample, estimate, command,
                                                         torque)))
            if ended or now >= until:
                break
            if options.progress is not None:
                options.progress(now - begin)
        while waiting and plant.time >= waiting[0].time - 0.5 * period:
            push = waiting.pop(0)
            plant.push(push.force, push.moment, push.duration)
        arrived = arrivals(plant, plant.step(torque, period))
    return record.log(source, ended, fault)


def timed_odometry(timing: SampleTiming | None) -> dict[str, Any]:
    """Return the settings of odometry for samples with this `timing`; None is an exact one."""
    return dict(SYNCHRONOUS) if timing is None or timing.synchronous else {}


def sensed_odometry(counts: tuple[int, int], timing: SampleTiming | None, **further: Any
                    ) -> OdometrySettings:
    """
    Return the settings of odometry for encoders with these `counts` a turn, and `timing`.

    `counts` are those of the wheels and of the steering axes, 0 for exact ones; `further` settings
    as in `OdometrySettings`.
    """
    wheel, steering = (2.0 * np.pi / n if n else 0.0 for n in counts)
    return OdometrySettings(wheel_resolution=wheel, steering_resolution=steering,
                            **timed_odometry(timing), **further)


def measure_turns(odometry: Odometry, plant: Plant) -> None:
    """Give `odometry` what the gyro of a `plant` has measured in the last step, if it uses one."""
    if odometry.gyro is not None:
        for sample in turns_measured(plant):
            odometry.gyro.measure(round(1e9 * sample.time), sample.rate)


def observed(odometry: Odometry, sample: JointSample) -> OdometryEstimate:
    """Return the estimate of `odometry` after a `sample`."""
    return odometry.step(sample.time, sample.steering, sample.wheel_angle, sample.wheel_rate,
                         sample.steering_rate)


def _known_rate(plant: Plant, sample: JointSample, estimate: OdometryEstimate) -> Array:
    """Return the wheel rates of a sample, by the twist where the robot states none, rad/s."""
    if np.isfinite(sample.wheel_rate).all():
        return sample.wheel_rate
    return rolling_rates(plant.robot, sample.steering, estimate.twist).wheel_rate


class _Record:
    """Rows of a run, and the durations of the steps of its law, wall and processor, s."""

    def __init__(self) -> None:
        self.rows: list[tuple] = []
        self.spent: list[tuple[float, float]] = []

    def add(self, arrival: Arrival, estimate: OdometryEstimate, twist: Array, torque: Array
            ) -> None:
        """Append one sample."""
        sample, truth = arrival
        slip = estimate.slip
        suspect = np.zeros(len(sample.steering), bool)
        if slip.slipping and slip.suspect >= 0:
            suspect[slip.suspect] = True
        self.rows.append((
            *sample, estimate.pose, estimate.twist, estimate.pose_covariance,
            estimate.twist_covariance, *truth, twist, torque, estimate.residual, suspect,
            slip.likelihood))

    def log(self, source: Source, ended: bool, fault: str) -> LoopLog:
        """Return the run as arrays."""
        (stamp, steering, steering_rate, wheel, wheel_rate, applied, pose, twist, of_pose,
         of_twist, when, true_pose, true_twist, commanded, torque, residual, suspect,
         likelihood) = (np.array(column) for column in zip(*self.rows, strict=True))
        solve_time, solve_cpu = np.array(self.spent).T
        pose[:, 2] = np.unwrap(pose[:, 2])
        # wrapped yaw of the odometry, unwrapped of the truth: remove whole turns between them
        true_pose[:, 2] += 2.0 * np.pi * np.rint((pose[0, 2] - true_pose[0, 2]) / (2.0 * np.pi))
        when = when - when[0]
        stamp = stamp - stamp[0]
        none = np.zeros((len(when), 3, 3))
        goals: tuple[Goal, ...] = ()
        if source.goal is not None:
            x, y, yaw = map(float, source.goal)
            goals = (Goal(0.0, (x, y, yaw), 'odom'),)
        return LoopLog(
            path=Path(), start_ns=0,
            joints=Joints(stamp, steering, steering_rate, wheel, wheel_rate, applied),
            odom=Motion(when, pose, twist, of_pose, of_twist, 'odom', 'base_link'),
            ground_truth=Motion(when, true_pose, true_twist, none, none, 'odom', 'base_link'),
            cmd_vel=Series(when, commanded), wheel_effort=Series(when, torque),
            goals=goals, slip=Slip(when, residual, suspect, likelihood), solve_time=solve_time,
            solve_cpu=solve_cpu,
            ended=ended, fault=fault)


class Held:
    """
    Condition `stop` of `run_loop`: the goal has been held, with zero command and at standstill.

    Parameters
    ----------
    dwell : float, s
        Required duration of standstill.
    speed, yaw_rate : float, m/s and rad/s
        Thresholds of standstill by odometry.
    patience : float, s
        Duration in the goal zone that also counts as held, for laws with a steady error.
    """

    def __init__(self, dwell: float = 0.3, speed: float = 0.005, yaw_rate: float = 0.01,
                 patience: float = 5.0) -> None:
        """Start with nothing held."""
        self._speed = speed
        self._yaw_rate = yaw_rate
        self._long = (dwell, patience)
        self._since: list[float] = [np.inf, np.inf]

    def __call__(self, cycle: Cycle) -> bool:
        """Return whether the goal has been held long enough."""
        vx, vy, turn = cycle.estimate.twist
        still = np.hypot(vx, vy) < self._speed and abs(turn) < self._yaw_rate
        for k, held in enumerate((cycle.command.done and still, cycle.command.in_zone)):
            self._since[k] = min(self._since[k], cycle.time) if held else np.inf
        return any(cycle.time - since >= long
                   for since, long in zip(self._since, self._long, strict=True))
