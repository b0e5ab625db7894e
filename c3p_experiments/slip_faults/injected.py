# SPDX-License-Identifier: Apache-2.0
"""Faults put into recorded drives: wrong encoders, and casters that slip in any direction."""

from __future__ import annotations

import numpy as np

from c3p_bags.runs.run_log import Joints
from c3p_description.model import Array
from c3p_experiments.slip_faults.scenes import Scene

# encoder faults, as in `fault_report.KINDS`
ENCODERS = ('wheel encoder stuck', 'wheel encoder jump', 'wheel encoder drift',
            'steering encoder stuck', 'steering encoder jump', 'steering encoder drift')

# drift of a steering encoder, rad/s, and its duration, s: the first is that of the page
DRIFTS = (2.0, 0.5, 1.0, 5.0)
DRIFTING = 2.0

# duration of a slip, s; steps of the integration of a slipping caster per sample
SLIPPING = 0.3
PARTS = 10


def with_encoder_fault(joints: Joints, kind: str, caster: int, at: int, steps: tuple[float, float],
                       levers: tuple[float, float], rng: np.random.Generator) -> Joints:
    """
    Return joints whose encoder is wrong from sample `at` on, and its rate unknown.

    Parameters
    ----------
    joints : Joints
    kind : str
        Of `ENCODERS`.
    caster, at : int
    steps : (2,) tuple, rad
        Of wheel and steering encoders.
    levers : (2,) tuple, m
        Wheel radius and caster offset.
    rng : Generator
    """
    steering = joints.steering.copy()
    wheel = joints.wheel_angle.copy()
    time = joints.time[at:] - joints.time[at]
    sense = rng.choice([-1.0, 1.0])
    angle, step = (wheel, steps[0]) if kind.startswith('wheel') else (steering, steps[1])
    shown = angle[at:, caster]
    if kind.endswith('stuck'):
        shown[:] = shown[0]
    elif kind.endswith('jump'):
        # at least 6 mm at the contact
        shown += sense * rng.uniform(max(0.15, 0.006 / levers[kind.startswith('steering')]), 3.0)
    elif kind == 'steering encoder drift':
        shown += step * np.round(sense * rng.choice(DRIFTS) * np.minimum(time, DRIFTING) / step)
    elif rng.random() < 0.5:
        shown += step * np.round(sense * rng.uniform(0.1, 0.3) / levers[0] * time / step)
    else:
        # lost counts
        shown -= step * np.round(rng.uniform(0.2, 0.9) * (shown - shown[0]) / step)
    return without_rate(joints._replace(steering=steering, wheel_angle=wheel), at)


def without_rate(joints: Joints, at: int) -> Joints:
    """Return joints without rates from sample `at` on: those of a wrong encoder are wrong."""
    wheel_rate = joints.wheel_rate.copy()
    steering_rate = joints.steering_rate.copy()
    wheel_rate[at:] = np.nan
    steering_rate[at:] = np.nan
    return joints._replace(wheel_rate=wheel_rate, steering_rate=steering_rate)


def with_slip(scene: Scene, caster: int, at: int, slip: Array, steps: tuple[float, float]
              ) -> Joints:
    """
    Return the joints of a `scene` in which a `caster` slips for `SLIPPING` seconds.

    `slip` is its velocity [along, across], m/s. Its angles are integrated anew along the true
    motion of the platform from sample `at` on, and rounded to the encoder `steps`, rad.
    """
    robot = scene.robot
    joints = scene.joints
    truth = scene.log.ground_truth
    steering = joints.steering.copy()
    wheel = joints.wheel_angle.copy()
    (x, y), d, r = (robot.hip_position[caster], robot.caster_offset[caster],
                    robot.wheel_radius[caster])
    theta = steering[at, caster]
    angle = wheel[at, caster]

    def rates(theta: float, twist: Array, slips: bool) -> tuple[float, float]:
        e = np.array([-np.sin(theta), np.cos(theta)])
        a = np.array([np.cos(theta), np.sin(theta)])
        pivot = twist[:2] + twist[2] * np.array([-y, x])
        return (-(a @ pivot + slips * slip[1]) / d - twist[2], (e @ pivot + slips * slip[0]) / r)

    last = min(len(joints.time), at + 400)
    for k in range(at, last - 1):
        h = (joints.time[k + 1] - joints.time[k]) / PARTS
        for part in range(PARTS):
            weight = (part + 0.5) / PARTS
            twist = (1 - weight) * truth.twist[k] + weight * truth.twist[k + 1]
            slips = joints.time[k] - joints.time[at] < SLIPPING
            half, _ = rates(theta, twist, slips)
            turn, roll = rates(theta + 0.5 * h * half, twist, slips)
            theta = theta + h * turn
            angle = angle + h * roll
        steering[k + 1, caster] = steps[1] * np.round(theta / steps[1])
        wheel[k + 1, caster] = steps[0] * np.round(angle / steps[0])
    cut = slice(0, last)
    shown = without_rate(joints._replace(steering=steering, wheel_angle=wheel), at)
    return Joints(*(column[cut] for column in shown))
