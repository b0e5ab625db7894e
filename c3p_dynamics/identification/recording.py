# SPDX-License-Identifier: Apache-2.0
"""
Recorded motions: validation, and segments for multiple shooting.

A caster that is pushed backwards is unstable like an inverted pendulum: a deviation grows by e per
caster offset travelled. Segments end before the prediction diverges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot


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
    torque : (m, robot.efforts) array, N·m
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
    for name, clock in (('steering', 'time'), ('wheel_angle', 'time'), ('torque', 'torque_time')):
        n = robot.efforts if name == 'torque' else robot.count
        value = getattr(recording, name)
        time = getattr(recording, clock)
        if time.ndim != 1:
            raise IdentificationError(f'{clock} has shape {time.shape}: must have one dimension')
        if value.shape != (len(time), n):
            raise IdentificationError(f'{name} has shape {value.shape}: must be ({len(time)}, '
                                      f'{n}), one row per {clock} and one column per '
                                      + ('motor' if n > robot.count else 'caster'))
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
    begin = []
    end = []
    b = 0
    while b < len(time):
        e = b
        furthest = rolled[b]
        while (e < len(time) and known[e] and time[e] - time[b] <= settings.segment
               and (e == b or time[e] - time[e - 1] <= settings.gap)):
            furthest = np.maximum(furthest, rolled[e])
            if np.any(furthest - rolled[e] > settings.growth * robot.caster_offset):
                break
            e += 1
        # this number of samples gives two equations for each unknown of an initial state
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
    chosen = spaced(len(begin), settings.most_segments)
    return np.array(begin)[chosen], np.array(end)[chosen]


def spaced(count: int, most: int) -> Array:
    """Return indices of at most `most` of `count`, evenly spaced."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def _torque_known(recording: Recording, settings: ShootingSettings) -> Array:
    """Return for each sample if the torque is known for every delay within the bounds."""
    time = recording.time
    change = recording.torque_time
    known = (time >= change[0] + settings.most_delay) & (time <= change[-1] + settings.gap)
    for i in np.flatnonzero(np.diff(change) > settings.gap):
        known &= ~((time > change[i] + settings.gap) & (time < change[i + 1]
                                                        + settings.most_delay))
    return known
