# SPDX-License-Identifier: Apache-2.0
"""Joint states from the counts of a cycle, with plausibility checks of every sensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_hardware.canopen.process_data import DriveUnits
from c3p_hardware.devices import Drive, Encoder
from c3p_hardware.joint_angles import AbsoluteAngle, RateTracker, WheelAngle
from c3p_hardware.problem import RECOVER, Problem
from c3p_hardware.settings import CardSettings, EncoderSettings
from c3p_kinematics.derived_casters import DerivedCasters, part_of
from c3p_kinematics.joint_watch import Finding, JointWatch
from c3p_kinematics.wiring import Increments, explanations
from c3p_kinematics.wiring_hypotheses import Wiring

# counts by which an angle may change in a cycle at rest: rounding and noise
JITTER = 4

# path after arming within which a contradiction is wrong wiring rather than a worn part, m
FIRST_PATH = 1.0

# most explanations in a message
MOST_EXPLAINED = 3

STEPS = 'find the wiring with `c3p commission` (docs/hardware.md, Bring-up)'


class SensedJoints(NamedTuple):
    """
    Joints of a cycle, in the model's signs and zeros.

    Attributes
    ----------
    steering, steering_rate : (n,) array, rad and rad/s
        Not wrapped.
    wheel_angle, wheel_rate : (n,) array, rad and rad/s
        Not wrapped; 0 where the drives were switched on.
    wheel_torque : (robot.efforts,) array, N·m
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
        Sources of the samples, in any order. Angles of casters without sensors are derived from
        the others.
    """

    def __init__(self, robot: CasterRobot, settings: CardSettings, drives: Sequence[Drive],
                 encoders: Sequence[Encoder]) -> None:
        """Start without samples."""
        self._robot = robot
        self._settings = settings
        drive_of = {d.joint: d for d in drives}
        encoder_of = {e.joint: e for e in encoders}
        # of each caster, None without a sensor; a wheel is counted by its drive or an encoder
        steering = [encoder_of.get(joint) for joint in robot.steering_joints]
        wheels = [drive_of.get(joint) or encoder_of.get(joint) for joint in robot.wheel_joints]
        self._drives: list[Drive | None] = [None] * robot.efforts
        for joint, place in robot.effort_places.items():
            self._drives[place] = drive_of.get(joint)
        self._steering = [_Sensor(i, device, AbsoluteAngle(device.settings))
                          for i, device in enumerate(steering) if device is not None]
        self._wheels = [_WheelSensor(i, device, WheelAngle(_units(device)))
                        for i, device in enumerate(wheels) if device is not None]
        self._sensed = np.array([[s is not None for s in steering],
                                 [w is not None for w in wheels]])
        self._both = np.flatnonzero(self._sensed.all(0))
        self._angle = np.zeros((2, robot.count))
        self._derived = (None if self._sensed.all() else DerivedCasters(robot, *self._sensed))
        self.resume()

    def resume(self) -> None:
        """
        Restart after a pause in which devices may have restarted.

        Wheel angles continue where they were, so that odometry integrates no false motion; the
        motion of a wheel meanwhile is unknown. Rates begin at rest.
        """
        self._tracker = RateTracker(self._settings.rate_bandwidth, 2 * self._robot.count)
        self._time: float | None = None
        resolution = {s.caster: s.counter.resolution for s in self._steering}
        self._path = 0.0
        self._watch = JointWatch(part_of(self._robot, self._both), JITTER * np.array(
            [resolution[int(i)] for i in self._both]))

    def begin_path(self) -> None:
        """Begin the first path after arming, on which wrong wiring shows."""
        self._path = 0.0

    def step(self, now: float) -> tuple[SensedJoints, list[Problem]]:
        """
        Convert the samples of a complete cycle.

        Parameters
        ----------
        now : float, s
            Time of the samples.

        Returns
        -------
        SensedJoints
        list of Problem
            Sensors that jumped, or that contradict the other casters.

        Raises
        ------
        ValueError
            A position of an encoder out of its range.
        """
        first = self._time is None
        dt = self._settings.period if self._time is None else now - self._time
        sensors: tuple[_Sensor | _WheelSensor, ...] = (*self._steering, *self._wheels)
        moved = [s.counter.difference(s.device.position) for s in sensors]
        problems = [] if first else self._jumps(sensors, moved, dt)
        angle = self._angle.copy()
        for row, sensor in ((0, s) for s in self._steering):
            angle[row, sensor.caster] = sensor.counter.step(sensor.device.position)
        for wheel in self._wheels:
            take = wheel.counter.resume if first else wheel.counter.step
            angle[1, wheel.caster] = take(wheel.device.position)
        if self._derived is not None:
            # without a motion yet, the angles of casters without sensors stay
            self._derived.complete(angle if first else self._angle, angle)
        if not first:
            self._path += float(np.max(abs(angle[1] - self._angle[1]) * self._robot.wheel_radius))
        self._angle = angle
        rates = self._tracker.step(angle.reshape(-1), dt)
        n = self._robot.count
        joints = SensedJoints(angle[0], rates[:n], angle[1], rates[n:], np.array([
            0.0 if d is None else d.settings.units.torque(d.torque) for d in self._drives]))
        self._time = now
        if problems or not self._settings.known_wiring:
            # a wrong angle makes the other casters look wrong
            self._watch.forget()
        else:
            found = self._watch.step(joints.steering[self._both], joints.wheel_angle[self._both])
            problems = [self._wiring(found) or self._contradicted(found, joints)] if found else []
        return joints, problems

    def _jumps(self, sensors: Sequence[_Sensor | _WheelSensor], moved: Sequence[int], dt: float
               ) -> list[Problem]:
        """Return the sensors that moved beyond the plausible rates in `dt`."""
        problems = []
        for sensor, counts in zip(sensors, moved, strict=True):
            steering = isinstance(sensor.counter, AbsoluteAngle)
            limit = (self._settings.max_steering_rate if steering
                     else self._settings.max_wheel_rate)
            resolution = sensor.counter.resolution
            if abs(counts) * resolution <= limit * dt + JITTER * resolution:
                continue
            turned = f'{math.degrees(counts * resolution):.1f}°'
            if steering:
                what = f'it jumped by {turned}'
                remedy = 'check its cable, its shaft and encoders.zeros'
            else:
                what = f'its position jumped by {counts} counts, {turned} of the wheel,'
                remedy = 'check the motor encoder and its cable'
            problems.append(Problem(sensor.device.name, 'jump', f'{what} in {1e3 * dt:.1f} ms',
                                    f'{remedy}, {RECOVER}'))
        return problems

    def _wiring(self, found: Finding) -> Problem | None:
        """Return the problem of exchanged or reversed joints, None where one sensor is wrong."""
        window = Increments(*np.moveaxis(np.array(self._watch.window), 1, 0))
        known = explanations(part_of(self._robot, self._both), window, *found)
        if not known or (self._path > FIRST_PATH and len(known[0].casters) == 1):
            return None
        texts = list(dict.fromkeys(self._explained(e) for e in known))
        return Problem(
            'wiring', 'wiring', f'the joints contradict each other {self._path:.2f} m after '
            f'arming: {", or ".join(texts[:MOST_EXPLAINED])}', f'{STEPS}, {RECOVER}')

    def _explained(self, wiring: Wiring) -> str:
        """Return a wrong wiring as text, with joints and parameters."""
        parts = wiring.parts
        change = wiring.change
        casters = wiring.casters
        wheels = [self._robot.wheel_joints[int(self._both[i])] for i in casters]
        encoders = [self._robot.steering_joints[int(self._both[i])] for i in casters]
        names = ' and '.join({'wheels': wheels, 'encoders': encoders}.get(
            parts, [f'{w} with {e}' for w, e in zip(wheels, encoders, strict=True)]))
        group = 'encoders' if parts == 'encoders' else 'drives'
        if change == 'exchanged':
            both = ' and encoders' if parts == 'modules' else ''
            return f'{names} are exchanged ({group}{both}.node_ids)'
        if change == 'turned':
            if not casters:
                return 'all steering zeros are off by a quarter or half turn (encoders.zeros)'
            return f'the zero of {names} is off by a quarter or half turn (encoders.zeros)'
        if not casters:
            every = {'wheels': 'all wheels', 'encoders': 'all steering encoders'}.get(
                parts, 'all wheels and steering encoders')
            return f'{every} are reversed (directions)'
        return f'{names} is reversed ({group}.directions)'

    def _contradicted(self, found: Finding, joints: SensedJoints) -> Problem:
        """Return the problem of a sensor that contradicts the other casters."""
        i = int(self._both[found.caster])
        wheel = next(s.device for s in self._wheels if s.caster == i)
        encoder = next(s.device for s in self._steering if s.caster == i)
        if found.kind == 'wheel':
            number = '6064h' if isinstance(wheel, Drive) else '6004h'
            return Problem(
                wheel.name, 'counts', f'its position ({number}) contradicts the motion of '
                f'the other casters (it gives {joints.wheel_rate[i]:.1f} rad/s)', 'check the '
                'motor encoder, its cable and drives.directions, and that the wheel is neither '
                f'blocked nor sliding, {RECOVER}')
        angle = math.degrees(joints.steering[i])
        if found.kind == 'stuck':
            return Problem(
                encoder.name, 'stuck', f'its angle is stuck at {angle:.0f}°, while the '
                f'other casters imply that it turns', f'check its shaft coupling, {RECOVER}')
        if self._path <= FIRST_PATH:
            return Problem(
                'wiring', 'drift', f'the joints contradict each other {self._path:.2f} m after '
                f'arming, most of all the angle of {encoder.joint}, {angle:.0f}°, which drifts '
                'against the motion of the other casters', f'{STEPS}: directions, node ids and '
                f'zeros; then its shaft coupling, {RECOVER}')
        return Problem(
            encoder.name, 'drift', f'its angle, {angle:.0f}°, drifts against the motion '
            'of the other casters', 'check its shaft coupling, its supply and encoders.zeros, '
            f'{RECOVER}')


class _Sensor(NamedTuple):
    """Counter of a steering joint and the encoder that samples it."""

    caster: int
    device: Encoder
    counter: AbsoluteAngle


class _WheelSensor(NamedTuple):
    """Counter of a wheel joint and the device that samples it."""

    caster: int
    device: Drive | Encoder
    counter: WheelAngle


def _units(device: Drive | Encoder) -> DriveUnits | EncoderSettings:
    """Return what converts the counts of a wheel."""
    return device.settings.units if isinstance(device, Drive) else device.settings
