# SPDX-License-Identifier: Apache-2.0
"""
A caster robot simulated on the floor from positions alone: the oracle of the caster tests.

The pivot moves on a given path; the contact point is towed by a stiff rod of length d and may
move only along the rod (a tractrix): ``Ċ = e (e·Ṗ)`` with e = (P − C)/d. The wheel rolls
``∫ e·Ċ dt / r``. No steering angle, Jacobian or twist of the package is used: angles are read off
the positions.
"""

import numpy as np
from scipy.integrate import solve_ivp


class Path:
    """A smooth planar motion (x, y, yaw)(t), each a polynomial plus two sines."""

    def __init__(self, seed, speed=0.5, yaw_rate=0.8):
        rng = np.random.default_rng(seed)
        scale = np.array([speed, speed, yaw_rate])[:, None]
        self.frequency = rng.uniform(0.3, 1.5, (3, 2))
        self.size = scale * rng.uniform(0.2, 0.7, (3, 2)) / self.frequency
        self.phase = rng.uniform(0, 2 * np.pi, (3, 2))
        self.drift = scale[:, 0] * rng.uniform(-0.5, 0.5, 3)

    def pose(self, t):
        return self.drift * t + np.sum(
            self.size * np.sin(self.frequency * t + self.phase), axis=1)

    def rate(self, t):
        return self.drift + np.sum(
            self.size * self.frequency * np.cos(self.frequency * t + self.phase), axis=1)

    def body_twist(self, t):
        c, s = np.cos(self.pose(t)[2]), np.sin(self.pose(t)[2])
        vx, vy, w = self.rate(t)
        return np.array([c * vx + s * vy, c * vy - s * vx, w])


def drive(robot, path, times, steering0, tolerance=1e-11):
    """Return steering (T, n), wheel angle (T, n), poses (T, 3), and contact points (T, n, 2)."""
    n, d = robot.count, robot.caster_offset

    def pivots(t):
        x, y, yaw = path.pose(t)
        vx, vy, w = path.rate(t)
        c, s = np.cos(yaw), np.sin(yaw)
        arm = robot.hip_position @ np.array([[c, s], [-s, c]])
        return arm + [x, y], np.array([vx, vy]) + w * np.column_stack([-arm[:, 1], arm[:, 0]])

    def flow(t, state):
        contact = state[:2 * n].reshape(n, 2)
        pivot, velocity = pivots(t)
        rod = (pivot - contact) / d[:, None]
        # towed along the rod only; the pull back to length d removes integration drift
        along = np.sum(rod * velocity, axis=1)
        pull = 20.0 * (np.sum(rod**2, axis=1) - 1.0)
        return np.concatenate([(rod * (along + pull * d)[:, None]).ravel(),
                               along / robot.wheel_radius])

    yaw0 = path.pose(times[0])[2]
    heading = np.asarray(steering0) + yaw0
    towards = np.column_stack([-np.sin(heading), np.cos(heading)])
    start = np.concatenate([(pivots(times[0])[0] - d[:, None] * towards).ravel(), np.zeros(n)])
    out = solve_ivp(flow, (times[0], times[-1]), start, 'DOP853', times, rtol=tolerance,
                    atol=0.1 * tolerance)
    contact = out.y[:2 * n].T.reshape(-1, n, 2)
    poses = np.array([path.pose(t) for t in times])
    rod = np.array([pivots(t)[0] for t in times]) - contact
    steering = np.arctan2(-rod[..., 0], rod[..., 1]) - poses[:, 2:]
    return steering, out.y[2 * n:].T, poses, contact
