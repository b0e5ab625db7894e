# SPDX-License-Identifier: Apache-2.0
"""Drives of robots on any wheels: joint angles of a motion over the floor, exact or with slip."""

from typing import NamedTuple

import numpy as np

# steps of the integration in a sample
FINE = 20


class WheelDrive(NamedTuple):
    """Times (k,), steering and wheel angles (k, n), and true poses (k, 3)."""

    time: np.ndarray
    steering: np.ndarray
    wheel: np.ndarray
    pose: np.ndarray


def drive(robot, twist_at, duration, rate=50.0, begin=None):
    """
    Return the joints of a robot that moves with ``twist_at(t)`` in base_link and does not slip.

    Steered wheels below their pivots stand along their paths, casters trail; both begin at the
    angles `begin`, in whose direction a wheel below its pivot rolls forward.
    """
    n = robot.count
    dt = 1.0 / (rate * FINE)
    pivots = robot.hip_position @ [1.0, 1.0j]
    angle = np.where(robot.fixed, robot.steering_zero,
                     0.0 if begin is None else np.broadcast_to(begin, n)).astype(float)
    wheel = np.zeros(n)
    pose = np.zeros(3)
    rows = []
    swings = ~robot.fixed & (robot.caster_offset == 0.0)
    trails = ~robot.fixed & (robot.caster_offset > 0.0)
    for k in range(int(duration * rate * FINE) + 1):
        if k % FINE == 0:
            rows.append((k * dt, angle.copy(), wheel.copy(), pose.copy()))
        vx, vy, w = twist_at((k + 0.5) * dt)
        velocity = complex(vx, vy) + 1j * w * pivots
        before = angle
        # direction of the pivot's path, on the side on which the wheel stands already
        along = np.angle(velocity) - 0.5 * np.pi
        turn = np.mod(along - angle + 0.5 * np.pi, np.pi) - 0.5 * np.pi
        angle = np.where(swings & (np.abs(velocity) > 1e-9), angle + turn, angle)
        middle = angle
        if trails.any():
            rate_of = -(velocity / np.exp(1j * angle)).real / np.where(
                trails, robot.caster_offset, 1.0) - w
            middle = angle + np.where(trails, 0.5 * dt * rate_of, 0.0)
            rate_of = -(velocity / np.exp(1j * middle)).real / np.where(
                trails, robot.caster_offset, 1.0) - w
            angle = angle + np.where(trails, dt * rate_of, 0.0)
        rolled = dt * (velocity / (1j * np.exp(1j * middle))).real
        # a wheel beside its pivot also rolls where it turns
        rolled = rolled + robot.lateral_offset * (angle - before + w * dt)
        wheel = wheel + rolled / robot.wheel_radius
        heading = pose[2] + 0.5 * dt * w
        moved = complex(vx, vy) * np.exp(1j * heading) * dt
        pose = pose + [moved.real, moved.imag, w * dt]
    return WheelDrive(*(np.array(column) for column in zip(*rows, strict=True)))


def wander(seed, speed=0.3, turn=0.8, sideways=0.0):
    """Return a smooth twist of time; it begins and ends slowly with a period of 20 s."""
    rng = np.random.default_rng(seed)
    phase = rng.uniform(0.0, 2 * np.pi, (3, 3))
    scale = np.array([speed, sideways, turn])

    def twist_at(t):
        waves = np.sin(phase + 2 * np.pi * t / 20.0 * np.array([1.0, 2.0, 3.0]))
        return scale * (np.array([1.0, 0.0, 0.0]) + 0.4 * waves.sum(axis=1) / 1.5)

    return twist_at
