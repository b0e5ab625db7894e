# SPDX-License-Identifier: Apache-2.0
"""Drives of a rolling robot with a gyro, from the twist alone: no plant, no tyres, no dynamics."""

import math
from typing import NamedTuple

import numpy as np

from c3p_description.model import CasterRobot
from c3p_kinematics.casters import inverse
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.sensed_kinematics_parameters import GyroFusionSettings

C3P = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
GYRO = GyroFusionSettings(enabled=True)
STAND = 3.0


class Gyro(NamedTuple):
    """Errors of a gyro: its rate is (1 + scale) ω(t − latency) + bias + noise."""

    rate: float = 200.0
    bias: float = 0.0
    scale: float = 0.0
    latency: float = 0.0
    noise: float = 0.0          # rad/√s
    walk: float = 0.0           # rad/s/√s
    seed: int = 0


class Drive(NamedTuple):
    """Joints by encoders and the true pose, one row per sample."""

    time: np.ndarray
    steering: np.ndarray
    steering_rate: np.ndarray
    wheel: np.ndarray
    wheel_rate: np.ndarray
    pose: np.ndarray
    twist: np.ndarray


def twists(seconds, seed, speed=0.5, turn=0.8, rate=200.0, stand=STAND):
    """Return times and smooth random twists (k, 3), from and to a standstill."""
    rng = np.random.default_rng(seed)
    time = np.arange(0.0, seconds, 1.0 / rate)
    waves = rng.uniform(0.1, 0.5, (3, 4)) * 2.0 * np.pi
    phase = rng.uniform(0.0, 2.0 * np.pi, (3, 4))
    value = np.sin(waves * time[:, None, None] + phase).sum(axis=2) / 2.0
    soft = np.clip((time - stand) / 0.5, 0.0, 1.0) * np.clip((seconds - 0.5 - time) / 0.5, 0, 1)
    return time, value * np.array([speed, speed, turn]) * (3 * soft**2 - 2 * soft**3)[:, None]


def roll(robot, time, twist, start=0.3, counts=(2000, 4096), parts=4):
    """Return the drive of a robot that rolls with these twists, mean values between samples."""
    n = robot.count
    steering = np.zeros(n) + start
    wheel = np.zeros(n)
    pose = np.zeros(3)
    rows = []
    for k, now in enumerate(time):
        rate, steering_rate, _ = inverse(robot, steering, twist[k])
        rows.append((steering.copy(), np.array(steering_rate), wheel.copy(), np.array(rate),
                     pose.copy()))
        if k + 1 == len(time):
            break
        dt = time[k + 1] - now
        for j in range(parts):
            v = twist[k] + (twist[k + 1] - twist[k]) * (j + 0.5) / parts
            _, first, _ = inverse(robot, steering, v)
            half = steering + 0.5 * dt / parts * np.array(first)
            rate, second, _ = inverse(robot, half, v)
            steering = steering + dt / parts * np.array(second)
            wheel = wheel + dt / parts * np.array(rate)
            yaw = pose[2] + 0.5 * dt / parts * v[2]
            c, s = math.cos(yaw), math.sin(yaw)
            pose = pose + dt / parts * np.array([c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]])
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    for number, count in ((0, counts[1]), (2, counts[0])):
        if count:
            step = 2.0 * np.pi / count
            columns[number] = np.round(columns[number] / step) * step
    steering, steering_rate, wheel, wheel_rate, pose = columns
    return Drive(time, steering, steering_rate, wheel, wheel_rate, pose, twist)


def gyro_samples(drive, gyro):
    """Return stamps in ns and rates of a gyro along a drive."""
    rng = np.random.default_rng([7, gyro.seed])
    end = drive.time[-1]
    time = np.arange(0.0, end, 1.0 / gyro.rate)
    true = np.interp(time - gyro.latency, drive.time, drive.twist[:, 2])
    walk = np.cumsum(rng.normal(size=len(time))) * gyro.walk / math.sqrt(gyro.rate)
    noise = rng.normal(size=len(time)) * gyro.noise * math.sqrt(gyro.rate)
    return (np.round(time * 1e9).astype(np.int64),
            (1.0 + gyro.scale) * true + gyro.bias + walk + noise)


def replay(odometry, drive, samples=None, late=0.0, each=lambda k, estimate: None):
    """Return all estimates; samples of the gyro arrive `late` [s] after their stamps."""
    estimates = []
    coming = 0
    stamps, rates = samples if samples is not None else ((), ())
    for k, now in enumerate(drive.time):
        while coming < len(stamps) and stamps[coming] * 1e-9 + late <= now + 1e-9:
            odometry.gyro.measure(int(stamps[coming]), float(rates[coming]))
            coming += 1
        estimate = odometry.step(now, drive.steering[k], drive.wheel[k], drive.wheel_rate[k],
                                 drive.steering_rate[k])
        estimates.append(estimate)
        each(k, estimate)
    return estimates


def odometry(robot=C3P, **settings):
    """Return odometry with a gyro."""
    return Odometry(robot, OdometrySettings(**{'gyro': GYRO, 'stamp_jitter': 0.0,
                                               'sample_skew': 0.0, **settings}))
