# SPDX-License-Identifier: Apache-2.0
"""
A caster robot simulated on the floor from positions alone: the oracle of the caster tests.

The pivot moves on a given path; the contact point is towed by a stiff rod of length d and may
move only along the rod (a tractrix): ``Ċ = e (e·Ṗ)`` with e = (P − C)/d. The wheel rolls
``∫ e·Ċ dt / r``. No steering angle, Jacobian or twist of the package is used: angles are read off
the positions.
"""

import cmath

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
        return self.drift * t + (self.size * np.sin(self.frequency * t + self.phase)).sum(axis=1)

    def rate(self, t):
        return self.drift + (self.size * self.frequency
                             * np.cos(self.frequency * t + self.phase)).sum(axis=1)

    def body_twist(self, t):
        c, s = np.cos(self.pose(t)[2]), np.sin(self.pose(t)[2])
        vx, vy, w = self.rate(t)
        return np.array([c * vx + s * vy, c * vy - s * vx, w])


def drive(robot, path, times, steering0, tolerance=1e-11):
    """Return steering (T, n), wheel angle (T, n), poses (T, 3), and contact points (T, n, 2)."""
    # points of the floor are complex numbers
    n, d, hips = robot.count, robot.caster_offset, robot.hip_position @ [1.0, 1.0j]

    def pivots(x, y, yaw):
        return x + 1j * y + hips * np.exp(1j * yaw)

    def flow(t, state):
        x, y, yaw = path.pose(t)
        vx, vy, turn = path.rate(t)
        arm = hips * cmath.exp(1j * yaw)
        rod = (complex(x, y) + arm - state[:2 * n].view(complex)) / d
        velocity = complex(vx, vy) + 1j * turn * arm
        # towed along the rod only; the pull back to length d removes integration drift
        along = (rod.conj() * velocity).real
        pull = 20.0 * ((rod * rod.conj()).real - 1.0)
        return np.concatenate([(rod * (along + pull * d)).view(float), along / robot.wheel_radius])

    yaw0 = path.pose(times[0])[2]
    heading = np.asarray(steering0) + yaw0
    start = np.concatenate([(pivots(*path.pose(times[0])) - 1j * d * np.exp(1j * heading)
                             ).view(float), np.zeros(n)])
    out = solve_ivp(flow, (times[0], times[-1]), start, 'DOP853', times, rtol=tolerance,
                    atol=0.1 * tolerance)
    contact = np.ascontiguousarray(out.y[:2 * n].T)
    poses = np.array([path.pose(t) for t in times])
    rod = pivots(*poses.T[..., None]) - contact.view(complex)
    steering = np.arctan2(-rod.real, rod.imag) - poses[:, 2:]
    return steering, out.y[2 * n:].T, poses, contact.reshape(-1, n, 2)
