# SPDX-License-Identifier: Apache-2.0
"""From the counts of a cycle to the joints of the model, and what no sensor can have seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_hardware.canopen.cia406 import AbsoluteAngle
from c3p_hardware.canopen.units import RateTracker, WheelAngle
from c3p_hardware.devices import RECOVER, Drive, Encoder, Problem
from c3p_hardware.settings import CardSettings
from c3p_kinematics.joint_watch import Finding, JointWatch

# counts that an angle may move in a cycle besides the turning itself: rounding and noise
JITTER = 4


class Joints(NamedTuple):
    """
    The joints of a cycle, in the model's signs and zeros.

    Attributes
    ----------
    steering, steering_rate : (n,) array, rad and rad/s
        Not wrapped.
    wheel_angle, wheel_rate : (n,) array, rad and rad/s
        Not wrapped; 0 where the drives were switched on.
    wheel_torque : (n,) array, N·m
        As the cards say.
    """

    steering: Array
    steering_rate: Array
    wheel_angle: Array
    wheel_rate: Array
    wheel_torque: Array


class JointSensing:
    """
    The memory is the unwrapped angles, the tracking loops and what a `JointWatch` knows.

    Parameters
    ----------
    robot : CasterRobot
    settings : CardSettings
    drives : sequence of Drive
    encoders : sequence of Encoder
        Whose samples are read.
    """

    def __init__(self, robot: CasterRobot, settings: CardSettings, drives: Sequence[Drive],
                 encoders: Sequence[Encoder]) -> None:
        """Start without a past."""
        self._robot, self._settings = robot, settings
        self._drives, self._encoders = drives, encoders
        self._angles = [AbsoluteAngle(e.settings.counts, e.settings.range, e.settings.direction,
                                      e.settings.zero) for e in encoders]
        self._wheels = [WheelAngle(d.settings.units) for d in drives]
        self.resume()

    def resume(self) -> None:
        """
        Begin anew after a pause in which devices may have started again.

        Angles go on where they were, so that nobody who adds up their steps sees a motion that
        never was; what a wheel turned meanwhile is not known. Rates begin at rest.
        """
        self._tracker = RateTracker(self._settings.rate_bandwidth, 2 * self._robot.count)
        self._time: float | None = None
        self._watch = JointWatch(self._robot, 2 * math.pi * JITTER / np.array(
            [e.settings.counts for e in self._encoders]))

    def step(self, now: float) -> tuple[Joints, list[Problem]]:
        """
        Read the samples of a cycle that is complete.

        Parameters
        ----------
        now : float, s
            When they were taken.

        Returns
        -------
        Joints
        list of Problem
            Sensors that jumped, or that the other casters contradict.

        Raises
        ------
        ValueError
            An encoder tells a position that it cannot have.
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
            # an angle that is wrong makes the other casters look wrong
            self._watch.forget()
        else:
            found = self._watch.step(joints.steering, joints.wheel_angle)
            problems = [self._contradicted(found, joints)] if found else []
        return joints, problems

    def _jumps(self, moved: Sequence[int], rolled: Sequence[int], dt: float) -> list[Problem]:
        """Return the sensors that moved further than a caster or a wheel can turn in `dt`."""
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
        """Return what is wrong with a sensor that the other casters contradict."""
        i = found.caster
        if found.kind == 'wheel':
            return Problem(
                self._drives[i].name, 'counts', 'its position (6064h) contradicts the motion of '
                f'the other casters (it gives {joints.wheel_rate[i]:.1f} rad/s)', 'check the '
                'motor encoder, its cable and drives.directions, and whether the wheel is blocked '
                f'or slides, {RECOVER}')
        angle = math.degrees(joints.steering[i])
        if found.kind == 'stuck':
            return Problem(
                self._encoders[i].name, 'stuck', f'it stands at {angle:.0f}°, while the other '
                'casters say that its own turns', f'check its shaft coupling, {RECOVER}')
        return Problem(
            self._encoders[i].name, 'drift', f'its angle, {angle:.0f}°, drifts against the motion '
            'of the other casters', 'check its shaft coupling, its supply and encoders.zeros, '
            f'{RECOVER}')
