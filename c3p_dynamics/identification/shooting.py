# SPDX-License-Identifier: Apache-2.0
"""
Multiple shooting: a recorded motion predicted in short segments.

The equations of motion are integrated over each segment under the recorded torques, and joint
*positions* are compared: nothing is differentiated, so encoder noise is not amplified. The initial
twist and angles of a segment are unknown too; they are eliminated segment by segment (variable
projection: Golub and Pereyra, The differentiation of pseudo-inverses, 1973).
"""

from __future__ import annotations

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_dynamics._caster_equations import caster_model
from c3p_dynamics.identification._shooting_kernels import Segments, TimedTorque, shoot
from c3p_dynamics.identification.recording import Recording, ShootingSettings, spaced
from c3p_kinematics.casters import sensed_forward

# part of a segment from which its initial state is guessed, s
GUESSED_FROM = 0.1

# steps of the differences, m/s and rad: half the digits of a double, against values around 1
DIFFERENCE = 1e-6

# initial states have converged when a Gauss-Newton step promises to lower the sum of squares by
# less than this part: what remains after it is of the order of its square
SETTLED = 1e-3
MOST_STEPS = 12


class Shooting:
    """
    Predictions of the segments `begin` to `end` of `cut`; the memory is the initial state of each.

    Attributes
    ----------
    start : (S, 3 + 2n) array
        Initial states ``[ν, θ_s, θ_x]``; guessed by default.
    lever : (2n,) array, m
        ``[d…, r…]`` of the described `robot`: errors are in metres over ground.
    rows : list of slice
        Rows of the errors, one per segment.
    """

    def __init__(self, robot: CasterRobot, recording: Recording, begin: Array, end: Array,
                 settings: ShootingSettings, start: Array | None = None) -> None:
        """Take the segments."""
        self._robot = robot
        self.recording = recording
        self.settings = settings
        self.count = robot.count
        self.measured = np.hstack([recording.steering, recording.wheel_angle])
        self.lever = np.concatenate([robot.caster_offset, robot.wheel_radius])
        self.begin = begin
        self.end = end
        edge = np.concatenate([[0], np.cumsum(end - begin)])
        self.rows = [slice(a, b) for a, b in zip(edge[:-1], edge[1:], strict=True)]
        self.samples = np.concatenate([np.arange(b, e)
                                       for b, e in zip(begin, end, strict=True)])
        self.start = self._guessed() if start is None else start

    def _guessed(self) -> Array:
        """Return initial states by a parabola through the first samples of each segment."""
        n = self.count
        time = self.recording.time
        start = np.empty((len(self.begin), 3 + 2 * n))
        for s, (b, e) in enumerate(zip(self.begin, self.end, strict=True)):
            near = slice(b, max(b + 4, min(e, np.searchsorted(time, time[b] + GUESSED_FROM))))
            guess = np.polynomial.polynomial.polyfit(time[near] - time[b], self.measured[near], 2)
            start[s, :3] = sensed_forward(self._robot, guess[0, :n], guess[1, n:],
                                          guess[1, :n]).twist
            start[s, 3:] = guess[0]
        return start

    def part(self, chosen: Array | slice, settings: ShootingSettings | None = None) -> Shooting:
        """Return an independent Shooting of `chosen` segments: (S,) bool, indices or a slice."""
        return Shooting(self._robot, self.recording, self.begin[chosen], self.end[chosen],
                        settings or self.settings, self.start[chosen].copy())

    def few(self, most: int) -> Shooting:
        """Return a Shooting of at most `most` segments, evenly spaced."""
        return self.part(spaced(len(self.begin), most))

    def errors(self, robot: CasterRobot, delay: float, start: Array | None = None) -> Array:
        """Return measured minus predicted joints of all segments, (samples, 2n), in metres."""
        predicted = np.empty_like(self.measured)
        recording = self.recording
        segments = Segments(self.start if start is None else start, self.begin, self.end)
        inputs = TimedTorque(recording.time, recording.torque_time, recording.torque)
        shoot(caster_model(robot), segments, inputs, float(delay), self.settings.substep,
              predicted)
        # a trial far from the optimum may overflow; it is rejected by its cost
        with np.errstate(invalid='ignore', over='ignore'):
            return self.lever * (self.measured - predicted)[self.samples]

    def settle(self, robot: CasterRobot, delay: float, weight: Array) -> tuple[Array, list[Array]]:
        """
        Find the initial states with the least errors (Gauss-Newton, halved steps).

        With `weight` (2n,), 1/m, the inverse standard deviation of each joint's error. Returns the
        weighted errors (samples, 2n) and, for each segment, an orthonormal basis
        (2n · samples, 3 + 2n) of their changes with its initial state.
        """
        errors = weight * self.errors(robot, delay)
        cost = self._costs(errors)
        for _ in range(MOST_STEPS):
            bases, steps, promised = self._initial_states(robot, delay, weight, errors)
            before = cost.sum()
            cost = self._step(robot, delay, weight, steps, errors, cost)
            # not by the decrease achieved, which is small for halved steps
            if promised <= SETTLED * before:
                break
        return errors, bases

    def _step(self, robot: CasterRobot, delay: float, weight: Array, steps: Array, errors: Array,
              cost: Array) -> Array:
        """Take each segment's step, halved until its cost falls; return the new costs."""
        part = 1.0
        open_ = np.ones(len(cost), bool)
        for _ in range(4):
            trial = self.start + np.where(open_, part, 0.0)[:, None] * steps
            found = weight * self.errors(robot, delay, trial)
            new = self._costs(found)
            better = open_ & (new <= cost)
            for s in np.flatnonzero(better):
                self.start[s], errors[self.rows[s]] = trial[s], found[self.rows[s]]
            cost = np.where(better, new, cost)
            open_ &= ~better
            part *= 0.5
            if not open_.any():
                break
        return cost

    def _costs(self, errors: Array) -> Array:
        squares = (errors**2).sum(axis=1)
        # a prediction that has overflowed has an infinite cost
        total = np.add.reduceat(squares, [r.start for r in self.rows])
        return np.where(np.isfinite(total), total, np.inf)

    def _initial_states(self, robot: CasterRobot, delay: float, weight: Array, errors: Array
                    ) -> tuple[list[Array], Array, float]:
        """Return the bases of `settle`, the Gauss-Newton steps and their promised decrease."""
        n = self.count
        moved = np.zeros((*errors.shape, 3 + 2 * n))
        for j in range(3 + n):
            start = self.start.copy()
            start[:, j] += DIFFERENCE
            moved[:, :, j] = (errors - weight * self.errors(robot, delay, start)) / DIFFERENCE
        # no motion depends on a wheel's angle: it only shifts the measured one
        for i in range(n):
            moved[:, n + i, 3 + n + i] = (weight * self.lever)[n + i]
        bases = []
        steps = np.empty_like(self.start)
        promised = 0.0
        for s, rows in enumerate(self.rows):
            q, r = np.linalg.qr(moved[rows].reshape(-1, 3 + 2 * n))
            along = q.T @ errors[rows].ravel()
            bases.append(q)
            steps[s] = np.linalg.solve(r, along)
            promised += along @ along
        return bases, steps, promised

    def unexplained(self, changed: Array, bases: list[Array]) -> Array:
        """Return changes (samples · 2n, p) of errors, projected off the `bases` of `settle`."""
        left = np.empty((changed.shape[0] * changed.shape[1], changed.shape[2]))
        width = changed.shape[1]
        for rows, q in zip(self.rows, bases, strict=True):
            part = changed[rows].reshape(-1, changed.shape[2])
            left[rows.start * width:rows.stop * width] = part - q @ (q.T @ part)
        return left
