# SPDX-License-Identifier: Apache-2.0
"""Joint states from the counts of a cycle, with plausibility checks of every sensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_hardware.canopen.process_data import DriveUnits
from c3p_hardware.devices import RECOVER, Drive, Encoder, Problem
from c3p_hardware.settings import CardSettings, EncoderSettings
from c3p_kinematics.joint_watch import Finding, JointWatch

# counts by which an angle may change in a cycle at rest: rounding and noise
JITTER = 4


class _Counter:
    """Position of a counter that wraps after `span` counts, followed by the shortest path."""

    def __init__(self, span: int) -> None:
        self._span, self._position = span, None
        self.angle = 0.0

    def difference(self, raw: int) -> int:
        """Return the counts from the last sample to `raw`; 0 before the first sample."""
        return 0 if self._position is None else self._shortest(raw - self._position)

    def _shortest(self, difference: int) -> int:
        """Return the representative of `difference` from -span/2, included, to span/2."""
        half = self._span // 2
        return (difference + half) % self._span - half


class AbsoluteAngle(_Counter):
    """
    Angle of a continuous axis from the counts of an absolute encoder.

    With p the unwrapped position,

        angle = direction · 2π (p − zero) / counts

    The first sample is taken on the side nearest to the zero. Between two samples the axis may
    turn by less than half the range; the counts do not reveal a larger motion.

    >>> axis = AbsoluteAngle(EncoderSettings(11, 'steering_joint_1', zero=4000))
    >>> [round(axis.step(raw), 6) for raw in (4000, 4095, 928)]
    [0.0, 0.145728, 1.570796]

    Parameters
    ----------
    settings : EncoderSettings

    Attributes
    ----------
    angle : float, rad
        Angle at the last sample, not wrapped.
    """

    def __init__(self, settings: EncoderSettings) -> None:
        """Start without a sample."""
        super().__init__(settings.range)
        self._zero = settings.zero
        self._per_count = settings.direction * 2 * math.pi / settings.counts

    def difference(self, raw: int) -> int:
        """
        Return the counts from the last sample to `raw`; 0 before the first sample.

        Raises
        ------
        ValueError
            As `step`.
        """
        self._check(raw)
        return super().difference(raw)

    def step(self, raw: int) -> float:
        """
        Take a position (6004h) and return the angle in rad.

        Raises
        ------
        ValueError
            A position out of the range; the angle stays.
        """
        self._check(raw)
        if self._position is None:
            # the zero need not be a whole count
            self._position = math.floor(self._zero)
        self._position += self._shortest(raw - self._position)
        self.angle = self._per_count * (self._position - self._zero)
        return self.angle

    def _check(self, raw: int) -> None:
        if not 0 <= raw < self._span:
            raise ValueError(f'position = {raw}: must be 0 to {self._span - 1}; the encoder has '
                             'other counts than configured, read 6001h and 6002h')


class WheelAngle(_Counter):
    """
    Angle of a wheel from a position (6064h) that wraps after 2³² counts.

    Attributes
    ----------
    angle : float, rad
        Angle at the last sample; 0 before the first.
    """

    def __init__(self, units: DriveUnits) -> None:
        """Start without a sample."""
        super().__init__(1 << 32)
        self._units, self._shift = units, 0

    def step(self, raw: int) -> float:
        """Take a position, a signed 32-bit number of counts, and return the angle in rad."""
        self._position = raw if self._position is None else self._position + self.difference(raw)
        self.angle = self._units.angle(self._position + self._shift)
        return self.angle

    def resume(self, raw: int) -> float:
        """
        Take the first position of a restarted drive, and return the angle.

        An incremental encoder begins at 0 at power-on. The angle stays where it was, as the motion
        in between is unknown.
        """
        if self._position is not None:
            self._shift += self._position - raw
        self._position = raw
        return self.step(raw)


class RateTracker:
    """
    Rates of several joints from their angles, by critically damped tracking loops.

    With ``z = exp(−2π f dt)``, for every joint

        e = θ − (θ̂ + dt·ω̂),   θ̂ ← θ̂ + dt·ω̂ + (1 − z²) e,   ω̂ ← ω̂ + (1 − z)² e/dt

    as in `c3p_simulation.plants.sensors.SensedPlant` and many motor cards: no error at constant
    rate, a lag of ``1/(πf)`` times the acceleration. Cycles may differ in length; after a long
    pause the rate is the mean rate of the pause.

    Parameters
    ----------
    bandwidth : float, Hz
        f.
    count : int
        Number of joints.

    Attributes
    ----------
    rate : (count,) array, rad/s
    """

    def __init__(self, bandwidth: float, count: int) -> None:
        """Start at rest, without an angle."""
        if not (math.isfinite(bandwidth) and bandwidth > 0):
            raise ValueError(f'bandwidth = {bandwidth}: must be a positive number of Hz')
        self._decay = -2 * math.pi * bandwidth
        self._angle: Array | None = None
        self.rate = np.zeros(count)

    def step(self, angle: ArrayLike, dt: float | None) -> Array:
        """
        Take the angles (count,), rad, `dt` seconds after the last ones, and return the rates.

        `dt` of the first angles is ignored.

        Raises
        ------
        ValueError
            Another number of angles; a `dt` that is not positive.
        """
        angle = np.array(angle, float)
        if angle.shape != self.rate.shape:
            raise ValueError(f'angle has shape {angle.shape}: must be {self.rate.shape}')
        if self._angle is None:
            self._angle = angle
            return self.rate
        if dt is None or not 0 < dt < math.inf:
            raise ValueError(f'dt = {dt}: must be a positive number of seconds')
        z = math.exp(self._decay * dt)
        expected = self._angle + dt * self.rate
        error = angle - expected
        self._angle = expected + (1 - z * z) * error
        # a new array, as callers keep the last one
        self.rate = self.rate + (1 - z) ** 2 / dt * error
        return self.rate


class Joints(NamedTuple):
    """
    Joints of a cycle, in the model's signs and zeros.

    Attributes
    ----------
    steering, steering_rate : (n,) array, rad and rad/s
        Not wrapped.
    wheel_angle, wheel_rate : (n,) array, rad and rad/s
        Not wrapped; 0 where the drives were switched on.
    wheel_torque : (n,) array, N·m
        As reported by the drives.
    """

    steering: Array
    steering_rate: Array
    wheel_angle: Array
    wheel_rate: Array
    wheel_torque: Array


class JointSensing:
    """
    Samples to joints; memory are the unwrapped angles, the tracking loops and a `JointWatch`.

    Parameters
    ----------
    robot : CasterRobot
    settings : CardSettings
    drives : sequence of Drive
    encoders : sequence of Encoder
        Sources of the samples.
    """

    def __init__(self, robot: CasterRobot, settings: CardSettings, drives: Sequence[Drive],
                 encoders: Sequence[Encoder]) -> None:
        """Start without samples."""
        self._robot, self._settings = robot, settings
        self._drives, self._encoders = drives, encoders
        self._angles = [AbsoluteAngle(e.settings) for e in encoders]
        self._wheels = [WheelAngle(d.settings.units) for d in drives]
        self.resume()

    def resume(self) -> None:
        """
        Restart after a pause in which devices may have restarted.

        Wheel angles continue where they were, so that odometry integrates no false motion; the
        motion of a wheel meanwhile is unknown. Rates begin at rest.
        """
        self._tracker = RateTracker(self._settings.rate_bandwidth, 2 * self._robot.count)
        self._time: float | None = None
        self._watch = JointWatch(self._robot, 2 * math.pi * JITTER / np.array(
            [e.settings.counts for e in self._encoders]))

    def step(self, now: float) -> tuple[Joints, list[Problem]]:
        """
        Convert the samples of a complete cycle.

        Parameters
        ----------
        now : float, s
            Time of the samples.

        Returns
        -------
        Joints
        list of Problem
            Sensors that jumped, or that contradict the other casters.

        Raises
        ------
        ValueError
            A position of an encoder out of its range.
        """
        first = self._time is None
        dt = self._settings.period if first else now - self._time
        moved = [a.difference(e.position)
                 for a, e in zip(self._angles, self._encoders, strict=True)]
        rolled = [w.difference(d.position)
                  for w, d in zip(self._wheels, self._drives, strict=True)]
        problems = [] if first else self._jumps(moved, rolled, dt)
        angles = np.array([*(a.step(e.position) for a, e in zip(
            self._angles, self._encoders, strict=True)), *(
            w.resume(d.position) if first else w.step(d.position)
            for w, d in zip(self._wheels, self._drives, strict=True))])
        rates = self._tracker.step(angles, dt)
        n = self._robot.count
        joints = Joints(angles[:n], rates[:n], angles[n:], rates[n:],
                        np.array([d.settings.units.torque(d.torque) for d in self._drives]))
        self._time = now
        if problems:
            # a wrong angle makes the other casters look wrong
            self._watch.forget()
        else:
            found = self._watch.step(joints.steering, joints.wheel_angle)
            problems = [self._contradicted(found, joints)] if found else []
        return joints, problems

    def _jumps(self, moved: Sequence[int], rolled: Sequence[int], dt: float) -> list[Problem]:
        """Return the sensors that moved beyond the plausible rates in `dt`."""
        problems = []
        for counts, encoder in zip(moved, self._encoders, strict=True):
            per_turn = encoder.settings.counts
            most = self._settings.max_steering_rate * dt * per_turn / (2 * math.pi) + JITTER
            if abs(counts) > most:
                problems.append(Problem(
                    encoder.name, 'jump', f'it jumped by {360 * counts / per_turn:.1f}° in '
                    f'{1e3 * dt:.1f} ms', f'check its cable, its shaft and encoders.zeros, '
                    f'{RECOVER}'))
        for counts, drive in zip(rolled, self._drives, strict=True):
            units = drive.settings.units
            if abs(counts) * units.angle_resolution > self._settings.max_wheel_rate * dt + (
                    JITTER * units.angle_resolution):
                problems.append(Problem(
                    drive.name, 'jump', f'its position jumped by {counts} counts, '
                    f'{math.degrees(units.angle(counts)):.1f}° of the wheel, in '
                    f'{1e3 * dt:.1f} ms', f'check the motor encoder and its cable, {RECOVER}'))
        return problems

    def _contradicted(self, found: Finding, joints: Joints) -> Problem:
        """Return the problem of a sensor that contradicts the other casters."""
        i = found.caster
        if found.kind == 'wheel':
            return Problem(
                self._drives[i].name, 'counts', 'its position (6064h) contradicts the motion of '
                f'the other casters (it gives {joints.wheel_rate[i]:.1f} rad/s)', 'check the '
                'motor encoder, its cable and drives.directions, and that the wheel is neither '
                f'blocked nor sliding, {RECOVER}')
        angle = math.degrees(joints.steering[i])
        if found.kind == 'stuck':
            return Problem(
                self._encoders[i].name, 'stuck', f'its angle is stuck at {angle:.0f}°, while the '
                f'other casters imply that it turns', f'check its shaft coupling, {RECOVER}')
        return Problem(
            self._encoders[i].name, 'drift', f'its angle, {angle:.0f}°, drifts against the motion '
            'of the other casters', 'check its shaft coupling, its supply and encoders.zeros, '
            f'{RECOVER}')
