# SPDX-License-Identifier: Apache-2.0
"""Studies of robots on modules and fixed wheels: triangles, learning, reversals of commands."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from figure_study import Cell, Figures, Study, shown

from c3p_controller.module_law import ModuleLaw
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_controller.velocity_controller_parameters import ModuleGains
from c3p_description import load
from c3p_description.model import Array, CasterRobot
from c3p_experiments.el_shenawy.goals import triangle
from c3p_experiments.loop.command_sources import TwistSource
from c3p_experiments.loop.conditions import Bench, Conditions
from c3p_experiments.self_calibration.draws import taught_triangle
from c3p_kinematics.module_settings import ModuleSettings
from c3p_kinematics.wheel_following import GAIN
from c3p_simulation.plants.lagging_axes import LaggingAxes, reversal_swings

# first seed of the wrong descriptions: others served the development
FIRST = 61_000

# sensors of the study of learning
TAUGHT = 'encoders'

# robots of a seed of reversals, and reversals of each: 10 000 of 15 seeds
ROBOTS = 21
REVERSALS = 32

# difference of the wheels' time constants, gain of the feedback of their rates, words of the table
REVERSED = {'fed_back': (0.2, GAIN, '± 20 %', 'yes')}

# a drive ahead, back and ahead: command m/s, time of each part, its delay, s, rate of commands, Hz
SPEED = 0.4
PART = 3.0
LATE = 0.1
COMMAND_RATE = 20.0

# of a loop of wheel rates, over the inertia that a wheel drives: critically damped, 1/s and 1/s²
PROPORTIONAL = 20.0
INTEGRAL = 100.0

# law of a drive with reversals and its gains, and words of the table; None: loops of wheel rates
PUSHED: dict[str, tuple[ModuleGains | None, str]] = {
    'wheel_loops': (None, 'PI loops of the wheel rates, as of a diff-drive controller'),
    'modules': (ModuleGains(), '`modules`'),
    'stiff': (ModuleGains(gain=30.0, observer=50.0),
              '`modules` with `modules.gain` 30 and `modules.observer` 50')}

# sensors of a study: profile, and words of the table
SENSORS = {'encoders': 'encoders of 2000 and 4096 counts',
           'real': 'of [real robots](real_robots.md)'}


def swerve(profile: str, seed: int) -> Bench:
    """Return the bench of the swerve drive in contact."""
    return Bench(Conditions(plant='mujoco', controller='modules', seed=seed,
                            sensor_profile=profile), 'swerve')


def module_triangle(profile: str, seed: int) -> Figures:
    """Return the triangle of 11 m by the odometry of the robot."""
    found = triangle(swerve(profile, seed)).metrics
    return {'reached': float(found['reached']), **shown(
        found, final=('ground_truth_final_error_m', 100.0),
        path=('ground_truth_path_error_max_m', 100.0))}


MODULE_TRIANGLE = Study(
    {profile: partial(module_triangle, profile) for profile in SENSORS},
    ('sensors', 'reached', 'final error, true [cm]', 'p90', 'path error, true, largest [cm]',
     'p90', 'seeds'),
    [(words, Cell('module_triangle', profile, 'reached', 0, 'count'),
      *(Cell('module_triangle', profile, figure, 2, kind)
        for figure in ('final', 'path') for kind in ('middle', 'p90')),
      Cell('module_triangle', profile, 'final', 0, 'seeds'))
     for profile, words in SENSORS.items()])


def module_learning(profile: str, seed: int) -> Figures:
    """Return the triangle with a wrong description, before and after a minute of learning."""
    before, after = taught_triangle(swerve(profile, FIRST + seed), FIRST + seed)
    found = {'before': before.final, 'after': after.final, 'path': after.path}
    return {name: 100.0 * error if math.isfinite(error) else None
            for name, error in found.items()}


MODULE_LEARNING = Study(
    {TAUGHT: partial(module_learning, TAUGHT)},
    ('sensors', 'final error before, true [cm]', 'p90', 'after a minute [cm]', 'p90',
     'path error after, true, largest [cm]', 'p90', 'seeds'),
    [(SENSORS[TAUGHT], *(Cell('module_learning', TAUGHT, figure, 2, kind)
                         for figure in ('before', 'after', 'path') for kind in ('middle', 'p90')),
      Cell('module_learning', TAUGHT, 'after', 0, 'seeds'))], seeds=8)


def reversals(unequal: float, gain: float, seed: int) -> Figures:
    """Return the yaw swings of robots whose commands are reversed at random times."""
    robot = load('swerve')
    limits = ModuleSettings.of(robot)
    found = np.degrees([reversal_swings(LaggingAxes(robot, drawn, unequal), limits, REVERSALS,
                                        gain, drawn)
                        for drawn in range(FIRST + ROBOTS * seed, FIRST + ROBOTS * (seed + 1))])
    return {'count': float(found.size), 'swing': float(found.max()),
            'usual': float(np.percentile(found, 99.0))}


REVERSAL_STUDY = Study(
    {case: partial(reversals, unequal, gain) for case, (unequal, gain, *_) in REVERSED.items()},
    ("wheels' time constants", 'rates fed back', 'reversals', 'largest swing of yaw [°]',
     'p99 [°]'),
    [(unequal, fed, Cell('reversals', case, 'count', 0, 'sum'),
      Cell('reversals', case, 'swing'), Cell('reversals', case, 'usual'))
     for case, (*_, unequal, fed) in REVERSED.items()])


class WheelLoops:
    """PI loops of the rates of two fixed wheels, with the acceleration of `ModuleGains`."""

    latency = 0.01

    def __init__(self, robot: CasterRobot) -> None:
        """Start at rest."""
        self.limit = np.array(robot.effort_limit)
        self._robot = robot
        self._inertia = 0.5 * robot.total_mass * robot.wheel_radius[0]**2
        self.reset()

    def reset(self, sensed: Sensed | None = None) -> None:
        """Start at rest again."""
        self._sum = np.zeros(2)
        self._twist = np.zeros(3)

    def prepare(self) -> None:
        """Nothing is computed ahead."""

    def step(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> Array:
        """Return the torques, N·m."""
        most = dt * ModuleGains().acceleration
        self._twist = self._twist + np.clip(setpoint.twist - self._twist, -most, most)
        track = self._robot.hip_position[:2, 1]
        rate = (self._twist[0] - self._twist[2] * track) / self._robot.wheel_radius[:2]
        error = rate - sensed.wheel_rate[:2]
        self._sum = self._sum + dt * error
        torque = np.zeros(self._robot.efforts)
        torque[:2] = self._inertia * (PROPORTIONAL * error + INTEGRAL * self._sum)
        return torque


def ahead_and_back(time: float) -> tuple[float, float, float]:
    """Return the command at `time` [s]: ahead, back and ahead, after its delay."""
    part = math.floor((time - LATE) / PART)
    return (0.0 if part < 0 else SPEED * (-1.0)**part, 0.0, 0.0)


def pushed(gains: ModuleGains | None, seed: int) -> Figures:
    """Return the heading errors of a robot on two wheels and free casters in reversals."""
    bench = Bench(Conditions(plant='mujoco', controller='modules', seed=FIRST + seed,
                             command_rate=COMMAND_RATE), 'amr')
    law = WheelLoops(bench.robot) if gains is None else ModuleLaw(bench.robot, gains)
    steering = np.random.default_rng(FIRST + seed).uniform(-np.pi, np.pi, bench.robot.count)
    log = bench.run(bench.controller()._replace(law=law), TwistSource(ahead_and_back),
                    duration=3.0 * PART, steering=steering)
    yaw = np.degrees(log.ground_truth.pose[log.joints.time > PART, 2])
    return {'largest': float(np.abs(yaw).max()), 'rms': float(np.sqrt(np.mean(yaw**2))),
            'end': float(abs(yaw[-1]))}


PUSHED_STUDY = Study(
    {case: partial(pushed, gains) for case, (gains, _) in PUSHED.items()},
    ('law', 'heading error, true, largest [°]', 'rms [°]', 'at the end [°]', 'seeds'),
    [(words, *(Cell('pushed', case, figure) for figure in ('largest', 'rms', 'end')),
      Cell('pushed', case, 'end', 0, 'seeds')) for case, (_, words) in PUSHED.items()])
