# SPDX-License-Identifier: Apache-2.0
"""From the counts of a cycle to the joints of the model, and what an encoder cannot have seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_hardware.cia406 import AbsoluteAngle
from c3p_hardware.devices import RECOVER, Drive, Encoder, Problem
from c3p_hardware.settings import CardSettings
from c3p_hardware.units import RateTracker, WheelAngle
from c3p_kinematics.casters import steering_jacobian, wheel_jacobian

# an encoder is stuck when it does not move while the other casters say that its contact point has
# moved by this angle about the pivot, rad, beyond what slipping wheels can make them say
STUCK_ANGLE = 0.5

# parts of the way of the fastest wheel: by which the others may be wrong about a contact point,
# for radii are wrong and wheels slip a little; and by which a wheel may slip itself, along
OTHERS_SLIP, OWN_SLIP = 0.1, 0.5

# how much more the others may be wrong about a contact point than they disagree among themselves:
# of a slip only the part along the line between two contact points shows
DISAGREEMENT = 3.0

# how much of what the others disagreed is remembered from one look to the next
MEMORY = 0.9

# a look has to have something to see: cycles, and turn of the fastest wheel, rad
LOOK_EVERY, LOOK_TURN = 5, 0.1

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
    The memory is the unwrapped angles, the tracking loops and what a `StuckWatch` knows.

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
        self._watch = StuckWatch(self._robot, 2 * math.pi * JITTER / np.array(
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
            Encoders that jumped, or stand though their caster turns.

        Raises
        ------
        ValueError
            An encoder tells a position that it cannot have.
        """
        first = self._time is None
        dt = self._settings.period if first else now - self._time
        moved = [a.difference(e.position)
                 for a, e in zip(self._angles, self._encoders, strict=True)]
        problems = [] if first else self._jumps(moved, dt)
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
            problems = self._stuck(joints)
        return joints, problems

    def _jumps(self, moved: Sequence[int], dt: float) -> list[Problem]:
        """Return the encoders that moved further than a caster can turn in `dt`."""
        problems = []
        for counts, encoder in zip(moved, self._encoders, strict=True):
            per_turn = encoder.settings.counts
            most = self._settings.max_steering_rate * dt * per_turn / (2 * math.pi) + JITTER
            if abs(counts) > most:
                problems.append(Problem(
                    encoder.name, 'jump', f'it jumped by {360 * counts / per_turn:.1f}° in '
                    f'{1e3 * dt:.1f} ms', f'check its cable, its shaft and encoders.zeros, '
                    f'{RECOVER}'))
        return problems

    def _stuck(self, joints: Joints) -> list[Problem]:
        """Return the encoders that stand while the other casters say that theirs turns."""
        return [Problem(self._encoders[i].name, 'stuck', 'it stands at '
                        f'{math.degrees(joints.steering[i]):.0f}°, while the other casters say '
                        'that its own turns', f'check its shaft coupling, {RECOVER}')
                for i in self._watch.step(joints.steering, joints.wheel_angle)]


class StuckWatch:
    """
    Finds encoders that stand although their casters turn; the memory is how long each has stood.

    Wheels and steering axes of all other casters give the displacement of the platform, and that
    the displacement of the contact point of the caster whose encoder stands. Across its wheel it
    must be that of a caster which does not turn; along, it must be what the wheel has rolled: a
    caster that has turned round unseen rolls the wrong way. What slip and wrong radii can make of
    the difference is taken off, the rest is added up in each sense by itself. Named is the one
    without which the others agree best. Driving straight on casters that trail, an encoder stands
    rightly for any time; a stuck one shows when the robot turns: on the C3P in random driving its
    caster has turned by 0.6 rad then, in the worst of 160 drives by 2.5 rad. Wheel radii that are
    wrong by 5 %, and wheels that spin 20 % too fast for 0.3 s, raise no alarm.

    Parameters
    ----------
    robot : CasterRobot
        With two casters nothing is found: one other says too little.
    jitter : (n,) array, rad
        What an encoder that stands may move.
    """

    def __init__(self, robot: CasterRobot, jitter: Array) -> None:
        """Know nothing yet."""
        self._robot, self._jitter = robot, jitter
        self._others = [np.arange(robot.count) != i for i in range(robot.count)]
        self.forget()
        # compiled before the first cycle, which must not wait
        rest = np.zeros(robot.count)
        wheel_jacobian(robot, rest), steering_jacobian(robot, rest)

    def forget(self) -> None:
        """Know nothing any more."""
        self._cycles = 0
        self._steering: Array | None = None

    def step(self, steering: Array, wheel_angle: Array) -> list[int]:
        """
        Look at a cycle.

        Parameters
        ----------
        steering, wheel_angle : (n,) arrays, rad
            Not wrapped.

        Returns
        -------
        list of int
            The caster whose encoder is stuck, if one is. All is then forgotten, and looked at
            afresh.
        """
        if self._steering is None:
            self._steering, self._wheel_angle = steering, wheel_angle
            # where each encoder was when it last moved; the difference since, rad: across one way
            # and the other, along one way and the other
            self._mark, self._apart = steering.copy(), np.zeros((4, len(steering)))
            # how far all but this one have disagreed lately, m
            self._disagreed = np.zeros(len(steering))
        self._cycles += 1
        rolled = wheel_angle - self._wheel_angle
        if self._cycles < LOOK_EVERY or np.abs(rolled).max() < LOOK_TURN:
            return []
        moved = np.abs(steering - self._mark) > self._jitter
        self._mark[moved], self._apart[:, moved] = steering[moved], 0.0
        steered, middle = steering - self._steering, 0.5 * (steering + self._steering)
        self._cycles, self._steering, self._wheel_angle = 0, steering, wheel_angle
        return self._look(np.flatnonzero(~moved), middle, steered, rolled)

    def _look(self, standing: Array, steering: Array, steered: Array, rolled: Array
              ) -> list[int]:
        """Return those of `standing` that have come too far apart, after adding up this look."""
        if not len(standing) or self._robot.count < 3:
            return []
        radius, offset = self._robot.wheel_radius, self._robot.caster_offset
        # displacement of each contact point, [across, along], in metres: all weigh alike
        rows = np.stack([steering_jacobian(self._robot, steering) * offset[:, None],
                         wheel_jacobian(self._robot, steering) * radius[:, None]], 1)
        ways = np.stack([steered * offset, rolled * radius], 1)
        travel = np.abs(ways[:, 1]).max()
        for i in range(self._robot.count):
            j, way = rows[self._others[i]].reshape(-1, 3), ways[self._others[i]].reshape(-1)
            displacement = np.linalg.lstsq(j, way, rcond=None)[0]
            residual = np.linalg.norm(way - j @ displacement)
            self._disagreed[i] = MEMORY * self._disagreed[i] + residual
            if i not in standing:
                continue
            doubt = OTHERS_SLIP * travel + DISAGREEMENT * residual
            across, along = rows[i] @ displacement - ways[i]
            most = doubt + OWN_SLIP * travel
            apart = np.array([across - doubt, -across - doubt, along - most, -along - most])
            self._apart[:, i] = np.maximum(0.0, self._apart[:, i] + apart / offset[i])
        far = np.flatnonzero(self._apart.max(0) > STUCK_ANGLE)
        if not len(far):
            return []
        # without the one that is stuck, the others agree; what speaks against one of those was
        # found with it among the witnesses
        self._apart[:, far] = 0.0
        worst = standing[np.argmin(self._disagreed[standing])]
        return [int(worst)] if worst in far else []
