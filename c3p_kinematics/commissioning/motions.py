# SPDX-License-Identifier: Apache-2.0
"""
Small motions from which the wiring of a robot is found, without knowledge of that wiring.

A motion is a pattern of torques, times a factor that grows slowly until an encoder moves and then
keeps the fastest one at a low speed. It ends when one has travelled its length; the torques are
zero until the robot stands. First each motor pushes alone, there and back; then all together.

The speed of a channel is that of the wheel or caster which it may belong to, r |Δx| and d |Δθ|:
the largest over all channels bounds the speed of every pivot under any wiring, up to the gears.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.commissioning.assignment import (
    WiringRecord,
    channels_of,
    joint_of_motors,
    require_following,
)
from c3p_kinematics.commissioning.patterns import (
    arms_of,
    drawn_motions,
    planned_motions,
)


@dataclass(frozen=True)
class WiringMotionSettings:
    """
    Sizes of the motions.

    Attributes
    ----------
    speed : float, m/s
        Of the fastest pivot by the encoders of wheels and steering axes that turn fastest; with a
        gear 20 % wrong it is up to 1.25 times as fast.
    stop_speed : float, m/s
        At which a motion ends; everything stops if the robot stays as fast without torque.
    length : float, m
        Of a motion, by the encoder that travels farthest.
    whole_length : float, m
        Of all motions together.
    together : int
        Motions of all motors together, each there and back.
    growth_time : float, s
        In which the torque grows from zero to its limit.
    motion_time, rest_time, whole_time : float, s
        Longest motion, pause between two, and the end of all.
    speed_window : float, s
        In which a speed is measured.
    """

    speed: float = 0.04
    stop_speed: float = 0.12
    length: float = 0.035
    whole_length: float = 0.9
    together: int = 4
    growth_time: float = 2.5
    motion_time: float = 6.0
    rest_time: float = 0.4
    whole_time: float = 88.0
    speed_window: float = 0.04


class MotionStep(NamedTuple):
    """
    Orders of a step.

    Attributes
    ----------
    torque : (m,) ndarray, N·m
        Of the motor channels.
    done : bool
        All motions are over.
    stopped : str
        Reason of a stop; empty without one.
    label : str
        The present motion in words.
    """

    torque: Array
    done: bool
    stopped: str
    label: str


# torque over that at which motion begins, at most
MOST_OVER_BREAKAWAY = 2.0

# torque at the begin of its growth, and what a speed takes from it, by that of the breakaway
LEAST_FACTOR = 0.02
GAIN = 0.7

# time in which a standing robot adds the torque of the breakaway to it, s
HOLD_TIME = 1.0

# speed without torque, by that of a motion
TOO_FAST = 1.4

# encoder travel that is motion and not rounding, m
LEAST_TRAVEL = 1e-3

# time in which a robot without torque becomes slow, and stands, s
BRAKE_TIME = 0.4
UNREST = 4.0

# after this time at its largest torque nothing will move, s
PATIENCE = 0.3

# longest step that is taken as one of the loop, s
LONGEST_STEP = 0.1


def not_finite(channels: Sequence[str], angles: Array) -> str:
    """Return the encoder channel whose angle is not finite, with the remedy; '' without one."""
    bad = ~np.isfinite(angles)
    if not bad.any():
        return ''
    return (f'encoder channel {channels[int(np.argmax(bad))]} states {angles.tolist()}: must be '
            'finite; check its cable')


class WiringMotions:
    """
    State machine of the motions.

    Parameters
    ----------
    robot : CasterRobot
        As described: torque limits, radii and offsets are used, the wiring is not.
    settings : WiringMotionSettings, optional
    seed : int
        Of the drawn torques.

    Raises
    ------
    ValueError
        A robot whose wiring is not found so (`channels_of`), or a motor without a torque limit.
    """

    def __init__(self, robot: CasterRobot, settings: WiringMotionSettings | None = None,
                 seed: int = 0) -> None:
        """Plan the motions."""
        self._settings = settings or WiringMotionSettings()
        self._channels = channels_of(robot)
        if np.any(robot.caster_offset > 0.0):
            require_following(robot)
        self._limit = robot.effort_limit[robot.actuated]
        if not np.all(np.isfinite(self._limit)):
            joint = self._channels.motors[int(np.argmax(~np.isfinite(self._limit)))]
            raise ValueError(f'torque limit of {joint}: must be finite, because the torque grows '
                             'to it while nothing moves; give torque_limit in the description')
        self._arm = arms_of(robot)
        self._robot = robot
        self._blocked: list[str] = []
        self._motions = planned_motions(robot, self._settings.together, seed)
        self._index = 0
        self._begin: float | None = None
        self._recent: deque[tuple[float, Array]] = deque()
        self._times: list[float] = []
        self._measured: list[Array] = []
        self._ordered: list[Array] = []
        self._still = np.zeros(len(self._limit))
        self._torque = self._still.copy()
        self._whole = 0.0
        self._pushed = -np.inf
        self._stopped = ''
        self._done = False
        self._rest(0.0)

    def _rest(self, time: float) -> None:
        """Begin the pause before a motion."""
        self._resting: float | None = time
        self._started = time
        self._factor = 0.0
        self._breakaway = 0.0
        self._full = time
        self._anchor: Array | None = None

    @property
    def blocked(self) -> tuple[str, ...]:
        """Motions in which no encoder moved at the torque limit."""
        return tuple(self._blocked)

    @property
    def spent(self) -> bool:
        """True when the time or the path is used up."""
        s = self._settings
        passed = 0.0 if self._begin is None or not self._times else self._times[-1] - self._begin
        return passed > s.whole_time - s.motion_time or self._whole > s.whole_length

    def extend(self, seed: int) -> None:
        """Add a motion of all motors and the reversed one; `step` is then not done."""
        arm = self._arm[joint_of_motors(self._robot)]
        self._motions = self._motions[:self._index + 1] + drawn_motions(
            arm, self._limit, np.ones(len(arm), bool), f'addition {seed}', seed)
        if self._done:
            self._done = False
            self._index += 1
            self._rest(self._times[-1])

    def record(self) -> WiringRecord:
        """Return what was measured and ordered until now."""
        return WiringRecord(np.array(self._times), np.array(self._measured),
                            np.array(self._ordered))

    def step(self, time: float, measured: ArrayLike, held: bool = True) -> MotionStep:
        """
        Take the angles of the encoder channels; return the torques of the motor channels.

        Parameters
        ----------
        time : float, s
            Of the angles; with an earlier one than before the step is left out.
        measured : (k,) array_like, rad
            In the order of `channels_of`.
        held : bool
            The operator's key is held; if not, the torques are zero and the motion begins again.
        """
        angles = np.array(measured, float)
        if reason := not_finite(self._channels.encoders, angles):
            self._stop(reason)
        if self._begin is None:
            self._begin = time
            self._rest(time)
        new = not self._times or time > self._times[-1]
        if new and not self._stopped and not self._done:
            self._advance(time, angles, held)
            self._times.append(time)
            self._measured.append(angles)
            self._ordered.append(self._torque.copy())
        label = '' if self._done else self._motions[self._index].label
        return MotionStep(self._torque.copy(), self._done, self._stopped, label)

    def _stop(self, reason: str) -> None:
        self._stopped = self._stopped or reason
        self._torque = self._still

    def _speeds(self, time: float, angles: Array) -> Array:
        """Return the speeds (k,) of the channels over the last window, m/s."""
        recent = self._recent
        recent.append((time, angles))
        while len(recent) > 2 and time - recent[1][0] >= self._settings.speed_window:
            recent.popleft()
        passed = time - recent[0][0]
        # stamps of one batch do not measure a speed
        if passed < 0.5 * self._settings.speed_window:
            return np.zeros(len(angles))
        return np.abs(angles - recent[0][1]) * self._arm / passed

    def _advance(self, time: float, angles: Array, held: bool) -> None:
        s = self._settings
        speeds = self._speeds(time, angles)
        # a caster rolls and turns at once
        n = self._robot.count
        speed = float(np.hypot(speeds[:n].max(), speeds[n:].max()))
        passed = min(time - self._times[-1], LONGEST_STEP) if self._times else 0.0
        assert self._begin is not None
        if np.any(self._torque):
            self._pushed = time
        if speed > s.stop_speed and time - self._pushed < BRAKE_TIME and speed < 2 * s.stop_speed:
            # too fast for a moment: the motion ends
            if self._resting is None:
                self._next(time)
            return
        if speed > s.stop_speed:
            channel = self._channels.encoders[int(np.argmax(speeds))]
            self._stop(f'encoder {channel} moves at {speeds.max():.2f} m/s, faster than '
                       f'{s.stop_speed:g}: its counts per turn are wrong, or the robot is pushed')
            return
        if time - self._begin > s.whole_time or self._whole > s.whole_length:
            self._finish()
            return
        if not held:
            self._torque = self._still
            self._rest(time)
            return
        if self._resting is not None:
            self._torque = self._still
            still = speed < 0.1 * s.speed
            if not still:
                self._resting = max(self._resting, time - 0.5 * s.rest_time)
            if not still and time - self._started > UNREST:
                channel = self._channels.encoders[int(np.argmax(speeds))]
                self._stop(f'encoder {channel} moves without an order for {UNREST:g} s: a motor '
                           'that does not obey, or the robot is pushed')
                return
            if time - self._resting >= s.rest_time and still:
                self._resting = None
                self._started = time
                self._anchor = angles
            return
        self._push(time, angles, speed, passed)

    def _push(self, time: float, angles: Array, speed: float, passed: float) -> None:
        s = self._settings
        assert self._anchor is not None
        motion = self._motions[self._index]
        travel = float((np.abs(angles - self._anchor) * self._arm).max())
        hopeless = travel < LEAST_TRAVEL and self._factor == 1.0 and time - self._full > PATIENCE
        if travel >= s.length or time - self._started > s.motion_time or hopeless:
            if travel < LEAST_TRAVEL:
                self._blocked.append(motion.label)
                # it will not move back either
                self._index += motion.returns
            self._whole += travel
            self._next(time)
            return
        if travel < LEAST_TRAVEL:
            # nothing moves yet
            if self._factor < 1.0:
                self._full = time
            # by the same ratio each time, so that it exceeds the friction by the same fraction
            grown = LEAST_FACTOR ** (-passed / s.growth_time)
            self._factor = min(1.0, max(LEAST_FACTOR, self._factor * grown))
            self._breakaway = self._factor
            factor = self._factor
        else:
            # hold the speed, by the torque that friction has needed
            lack = 1.0 - speed / s.speed
            grown = self._factor + self._breakaway * lack * passed / HOLD_TIME
            most = min(1.0, MOST_OVER_BREAKAWAY * self._breakaway)
            self._factor = float(np.clip(grown, 0.0, most))
            factor = float(np.clip(
                self._factor - GAIN * self._breakaway * speed / s.speed, 0.0, 1.0))
        self._torque = factor * motion.pattern if speed < TOO_FAST * s.speed else self._still

    def _next(self, time: float) -> None:
        self._torque = self._still
        self._index += 1
        if self._index == len(self._motions):
            self._finish()
            return
        self._rest(time)

    def _finish(self) -> None:
        self._torque = self._still
        self._index = min(self._index, len(self._motions) - 1)
        self._done = True
