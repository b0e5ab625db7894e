# SPDX-License-Identifier: Apache-2.0
"""Error of the pose of odometry by a wrong encoder, with and without the fault monitor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_bags.runs.run_log import Joints
from c3p_description.model import Array
from c3p_experiments.loop.conditions import Bench
from c3p_experiments.slip_faults.injected import with_encoder_fault, without_rate
from c3p_experiments.slip_faults.scenes import Scene, drive
from c3p_experiments.slip_faults.scoring import odometry_settings
from c3p_kinematics.faults import FaultSettings
from c3p_kinematics.odometry import Odometry
from c3p_simulation.plants.timing import SampleTiming

# time before and after the begin of a drift, s; the drift, rad/s, and its duration, s
DRIFT_SPAN = (1.0, 6.0)
DRIFT = 2.0
DRIFTING = 2.0

# time before and after a wheel encoder has stuck, s
STUCK_SPAN = (2.0, 24.0)

# a fault monitor that never raises an alarm
SILENT = FaultSettings(persistence=1e9)


class PoseErrors(NamedTuple):
    """Errors of pose (m, k), m, over time (k,) [s], without and with the fault monitor."""

    time: Array
    before: Array
    after: Array

    def summary(self) -> dict[str, dict[str, float]]:
        """Return median and largest error at the end, m."""
        return {name: {'median': float(np.median(errors[:, -1])),
                       'largest': float(errors[:, -1].max())}
                for name, errors in (('before', self.before), ('after', self.after))}


def drifted(scene: Scene, steps: tuple[float, float], timing: SampleTiming, seed: int,
            count: int) -> PoseErrors:
    """
    Return the errors of parts of a scene in which a steering encoder drifts.

    Parameters
    ----------
    scene : Scene
    steps : (2,) tuple, rad
        Of wheel and steering encoders.
    timing : SampleTiming
        Of the sensors.
    seed, count : int
        Of the random parts, and their number.
    """
    dt = float(np.median(np.diff(scene.joints.time)))
    before = round(DRIFT_SPAN[0] / dt)
    length = round(DRIFT_SPAN[1] / dt)
    samples = np.arange(before + length)
    ramp = DRIFT * dt * np.clip(samples - before, 0, round(DRIFTING / dt))
    cases = []
    for k in range(count):
        rng = np.random.default_rng([seed, 55, k])
        first = int(rng.integers(0, len(scene.joints.time) - before - length))
        part = Joints(*(column[first:first + before + length] for column in scene.joints))
        steering = part.steering.copy()
        sense = rng.choice([-1.0, 1.0])
        steering[:, rng.integers(scene.robot.count)] += steps[1] * np.round(
            sense * ramp / steps[1])
        shown = without_rate(part._replace(steering=steering), before)
        cases.append(pose_errors(scene, shown, first, steps, timing))
    return PoseErrors(dt * (samples - before), *np.stack(cases, 1))


def stuck_drives(bench: Bench, steps: tuple[float, float], seed: int, count: int,
          span: tuple[float, float] = STUCK_SPAN) -> PoseErrors:
    """
    Return the errors of distinct drives in which a wheel encoder sticks; the wheels take turns.

    Parameters
    ----------
    bench : Bench
        Its robot is driven under its conditions.
    steps : (2,) tuple, rad
        Of wheel and steering encoders.
    seed, count : int
        Of the first drive, and the number of drives.
    span : (2,) tuple, s
        Time before and after the encoder has stuck.
    """
    cases = []
    c = bench.conditions
    for k in range(count):
        scene = drive(bench.robot, 'clean', seed + k, sum(span), c.plant, sensors=c.sensors,
                      rate=c.rate)
        dt = float(np.median(np.diff(scene.joints.time)))
        wheel = k % scene.robot.count
        rng = np.random.default_rng([seed, 66, k])
        levers = (float(scene.robot.wheel_radius[wheel]), float(scene.robot.caster_offset[wheel]))
        at = round(span[0] / dt)
        shown = with_encoder_fault(scene.joints, 'wheel encoder stuck', wheel, at, steps, levers,
                                   rng)
        cases.append(pose_errors(scene, shown, 0, steps, c.sensors.timing))
        bench.done()
    length = min(errors.shape[1] for errors in cases)
    return PoseErrors(dt * (np.arange(length) - at),
                      *np.stack([errors[:, :length] for errors in cases], 1))


def pose_errors(scene: Scene, joints: Joints, first: int, steps: tuple[float, float],
                timing: SampleTiming) -> Array:
    """
    Return the distance (2, k) [m] of odometry from the truth, without and with fault monitor.

    Parameters
    ----------
    scene : Scene
    joints : Joints
        What the encoders show, from sample `first` of the scene on.
    first : int
    steps : (2,) tuple, rad
    timing : SampleTiming
        Of the sensors.
    """
    true = scene.log.ground_truth.pose[first:]
    samples = list(zip(joints.time, joints.steering, joints.wheel_angle, joints.wheel_rate,
                       joints.steering_rate, strict=True))
    errors = []
    for faults in (SILENT, FaultSettings()):
        odometry = Odometry(scene.robot, odometry_settings(steps, timing, faults=faults))
        odometry.reset(true[0])
        poses = np.array([odometry.step(*sample).pose for sample in samples])
        errors.append(np.hypot(*(poses - true[:len(poses)])[:, :2].T))
    return np.stack(errors)
