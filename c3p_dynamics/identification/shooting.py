# SPDX-License-Identifier: Apache-2.0
"""
Multiple shooting: a recorded motion predicted in short segments.

The equations of motion are integrated over each segment under the recorded torques, and joint
*positions* are compared: nothing is differentiated, so encoder noise is not amplified. The initial
twist and angles of a segment are unknown too; they are eliminated segment by segment (variable
projection: Golub and Pereyra, The differentiation of pseudo-inverses, 1973).

A caster that is pushed backwards is unstable like an inverted pendulum: a deviation grows by e per
caster offset travelled. Segments end before the prediction diverges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_dynamics.identification._shooting_kernels import shoot
from c3p_kinematics.casters import sensed_forward

# part of a segment from which its initial state is guessed, s
GUESSED_FROM = 0.1

# steps of the differences, m/s and rad: half the digits of a double, against values around 1
DIFFERENCE = 1e-6

# initial states have converged when a Gauss-Newton step promises to lower the sum of squares by
# less than this part: what remains after it is of the order of its square
SETTLED, MOST_STEPS = 1e-3, 12


class IdentificationError(ValueError):
    """A recording that identifies nothing; the text names the reason and the remedy."""


class Recording(NamedTuple):
    """
    Measured joints and commanded torques.

    Attributes
    ----------
    time : (k,) array, s
        Increasing.
    steering, wheel_angle : (k, n) array, rad
        θ_s and θ_x in the model's convention, continuous over ±π.
    torque_time : (m,) array, s
        Increasing; when each torque was commanded.
    torque : (m, n) array, N·m
        Held until the next.
    """

    time: Array
    steering: Array
    wheel_angle: Array
    torque_time: Array
    torque: Array


@dataclass(frozen=True)
class ShootingSettings:
    """
    Segmentation and integration of a recording.

    Attributes
    ----------
    segment : float, s
        Longest segment. Longer ones are more informative, and more sensitive to model errors.
    growth : float
        A segment ends where a caster has rolled back by this many caster offsets.
    least_travel : float, m
        Segments in which every wheel rolls and turns less than this over ground are left out:
        encoder rounding and stiction dominate them.
    gap : float, s
        Longest time without a sample or a command.
    most_delay : float, s
        Upper bound of the delay of the torques.
    substep : float, s
        Longest integration step.
    least_smoothing : float, rad/s
        Lower bound of the smoothing of dry friction; a smaller one needs a smaller `substep`.
    most_segments : int
        More segments are thinned out evenly.
    """

    segment: float = 0.5
    growth: float = 4.0
    least_travel: float = 2e-3
    gap: float = 0.1
    most_delay: float = 0.15
    substep: float = 2.5e-3
    least_smoothing: float = 0.01
    most_segments: int = 240

    def __post_init__(self) -> None:
        """Check every number."""
        for name, value in vars(self).items():
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f'{name} = {value}: must be a positive number')

    def finer(self) -> ShootingSettings:
        """Return settings for dry friction that changes its sign faster."""
        return replace(self, substep=0.4 * self.substep,
                       least_smoothing=0.3 * self.least_smoothing)


def check(robot: CasterRobot, recording: Recording) -> None:
    """
    Check shapes, order and numbers of `recording`.

    Raises
    ------
    IdentificationError
        The text names the array and the first invalid value.
    """
    n = robot.count
    for name, clock in (('steering', 'time'), ('wheel_angle', 'time'), ('torque', 'torque_time')):
        value, time = getattr(recording, name), getattr(recording, clock)
        if time.ndim != 1:
            raise IdentificationError(f'{clock} has shape {time.shape}: must have one dimension')
        if value.shape != (len(time), n):
            raise IdentificationError(f'{name} has shape {value.shape}: must be ({len(time)}, '
                                      f'{n}), one row per {clock} and one column per caster')
        bad = ~np.isfinite(value).all(axis=1) | ~np.isfinite(time)
        if bad.any():
            raise IdentificationError(f'{name} at {clock} = {time[bad][0]:.3f} s: '
                                      f'{value[bad][0].tolist()}: must be finite; remove such '
                                      'rows')
        if len(time) < 2 or np.any(np.diff(time) <= 0):
            raise IdentificationError(f'{clock} has {len(time)} values: must be two or more, '
                                      'increasing')


def cut(robot: CasterRobot, recording: Recording, settings: ShootingSettings
        ) -> tuple[Array, Array]:
    """
    Return the rows at which segments begin (S,) and end (S,), the end not included.

    Raises
    ------
    IdentificationError
        No segment: the robot was at rest, or its torques are unknown.
    """
    time = recording.time
    rolled = recording.wheel_angle * robot.wheel_radius
    swung = recording.steering * robot.caster_offset
    known = _torque_known(recording, settings)
    begin, end = [], []
    b = 0
    while b < len(time):
        e, furthest = b, rolled[b]
        while (e < len(time) and known[e] and time[e] - time[b] <= settings.segment
               and (e == b or time[e] - time[e - 1] <= settings.gap)):
            furthest = np.maximum(furthest, rolled[e])
            if np.any(furthest - rolled[e] > settings.growth * robot.caster_offset):
                break
            e += 1
        # so many samples give two equations for each unknown of an initial state
        if e - b >= 4:
            travel = max(float(np.ptp(a[b:e], axis=0).max()) for a in (rolled, swung))
            if travel >= settings.least_travel:
                begin.append(b)
                end.append(e)
        b = max(e, b + 1)
    if not begin:
        most = max(float(np.ptp(a, axis=0).max()) for a in (rolled, swung))
        why = (f'the robot did not move: no wheel travelled more than {1e3 * most:.2g} mm'
               if most < settings.least_travel else
               'no command is within the time of the joint states' if not known.any() else
               f'no segment in {time[-1] - time[0]:.3g} s has motion, samples and commands '
               f'without gaps of more than {settings.gap} s')
        raise IdentificationError(f'no excitation: {why}')
    chosen = _spaced(len(begin), settings.most_segments)
    return np.array(begin)[chosen], np.array(end)[chosen]


def _spaced(count: int, most: int) -> Array:
    """Return indices of at most `most` of `count`, evenly spaced."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def _torque_known(recording: Recording, settings: ShootingSettings) -> Array:
    """Return for each sample if the torque is known for every delay within the bounds."""
    time, change = recording.time, recording.torque_time
    known = (time >= change[0] + settings.most_delay) & (time <= change[-1] + settings.gap)
    for i in np.flatnonzero(np.diff(change) > settings.gap):
        known &= ~((time > change[i] + settings.gap) & (time < change[i + 1]
                                                        + settings.most_delay))
    return known


class Shooting:
    """
    Predictions of all segments; the memory is the initial state of each.

    Parameters
    ----------
    robot : CasterRobot
        Joint geometry for the first guess and the unit of the errors.
    recording : Recording
    begin, end : (S,) array of int
        Of `cut`.
    settings : ShootingSettings
    start : (S, 3 + 2n) array, optional
        Initial states; guessed by default.

    Attributes
    ----------
    start : (S, 3 + 2n) array
        Rows ``[ν, θ_s, θ_x]``.
    lever : (2n,) array, m
        ``[d…, r…]``: errors are in metres that wheels roll or turn over ground.
    rows : list of slice
        Of the errors, one per segment.
    """

    def __init__(self, robot: CasterRobot, recording: Recording, begin: Array, end: Array,
                 settings: ShootingSettings, start: Array | None = None) -> None:
        """Take the segments."""
        self._robot, self.recording, self.settings = robot, recording, settings
        self.count = robot.count
        self.measured = np.hstack([recording.steering, recording.wheel_angle])
        self.lever = np.concatenate([robot.caster_offset, robot.wheel_radius])
        self.begin, self.end = begin, end
        edge = np.concatenate([[0], np.cumsum(end - begin)])
        self.rows = [slice(a, b) for a, b in zip(edge[:-1], edge[1:], strict=True)]
        self.samples = np.concatenate([np.arange(b, e)
                                       for b, e in zip(begin, end, strict=True)])
        self.start = self._guessed() if start is None else start

    def _guessed(self) -> Array:
        """Return initial states by a parabola through the first samples of each segment."""
        n, time = self.count, self.recording.time
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
        return self.part(_spaced(len(self.begin), most))

    def errors(self, robot: CasterRobot, delay: float, start: Array | None = None) -> Array:
        """Return measured minus predicted joints of all segments, (samples, 2n), in metres."""
        predicted = np.empty_like(self.measured)
        recording = self.recording
        shoot(robot.geometry, robot.caster_inertia, robot.platform, robot.losses, float(delay),
              self.start if start is None else start, self.begin, self.end, recording.time,
              recording.torque_time, recording.torque, self.settings.substep, predicted)
        # a trial far from the optimum may overflow; it is rejected by its cost
        with np.errstate(invalid='ignore', over='ignore'):
            return self.lever * (self.measured - predicted)[self.samples]

    def settle(self, robot: CasterRobot, delay: float, weight: Array) -> tuple[Array, list[Array]]:
        """
        Find the initial states with the least errors (Gauss-Newton, halved steps).

        Parameters
        ----------
        robot : CasterRobot
        delay : float, s
        weight : (2n,) array, 1/m
            Inverse standard deviation of each joint's error.

        Returns
        -------
        errors : (samples, 2n) array
            Weighted.
        bases : list of (2n · samples, 3 + 2n) arrays
            Orthonormal bases of the changes of the errors with the initial state.
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
        part, open_ = 1.0, np.ones(len(cost), bool)
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
        bases, steps, promised = [], np.empty_like(self.start), 0.0
        for s, rows in enumerate(self.rows):
            q, r = np.linalg.qr(moved[rows].reshape(-1, 3 + 2 * n))
            along = q.T @ errors[rows].ravel()
            bases.append(q)
            steps[s] = np.linalg.solve(r, along)
            promised += along @ along
        return bases, steps, promised

    def unexplained(self, changed: Array, bases: list[Array]) -> Array:
        """
        Return changes of the errors, projected off the bases of the initial states.

        Parameters
        ----------
        changed : (samples, 2n, p) array
        bases : list of arrays
            Of `settle`.

        Returns
        -------
        (samples · 2n, p) array
        """
        left = np.empty((changed.shape[0] * changed.shape[1], changed.shape[2]))
        width = changed.shape[1]
        for rows, q in zip(self.rows, bases, strict=True):
            part = changed[rows].reshape(-1, changed.shape[2])
            left[rows.start * width:rows.stop * width] = part - q @ (q.T @ part)
        return left
