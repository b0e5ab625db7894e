# SPDX-License-Identifier: Apache-2.0
"""
Angle and rate of each joint, compared with each other: wrong rates, and boards that restart.

Both are channels of one sensor. Over a window of motion the turn by the rates must be that by the
angles, up to a lag of the rates. A lasting contradiction is one of units, sign or configuration:
rates are then not used. Angles of several casters that leap in one sample, by more than any rate,
belong to a board that has restarted: the angles before the leap are continued.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics._channel_kernels import LAG, watch_channels
from c3p_kinematics.odometry_states import Channels

# ratios of wrong rates to angles, and what they may be; of each, within CLOSE
CAUSES = ((0.5 / math.pi, 'turns/s?'), (180.0 / math.pi, 'degrees/s?'),
          (30.0 / math.pi, 'turns/min?'), (-1.0, 'sign?'), (0.5, 'half?'), (2.0, 'twice?'),
          (2.0 * math.pi, 'multiplied by 2π?'))
CLOSE = 0.06
ZERO = 0.02
# from which on it may be that of a gear
GEARED = 2.5

# deviation from which on a lag is known, relative to that before a drive
LAG_KNOWN = 0.5

# rate of a wheel without a stated limit, rad/s
FASTEST = 100.0


class ChannelReport(NamedTuple):
    """
    Contradictions between the channels of the joints; rows of steering axes and of wheels.

    Attributes
    ----------
    wrong : (2, n) bool array
        Rates that contradict the angles, and are not used.
    ratio : (2, n) array
        Of the turn by the rates to that by the angles; inf for angles that stand.
    restarted : (2, n) bool array
        Encoders whose angles leapt together with those of other casters.
    offset : (n,) array, rad
        Steering angles after the leap less those before, by which they are corrected.
    """

    wrong: Array
    ratio: Array
    restarted: Array
    offset: Array

    def rates_text(self, steering: Sequence[str], wheels: Sequence[str]) -> str:
        """
        Return the wrong rates in words, empty without one.

        Parameters
        ----------
        steering, wheels : sequence of str
            Names of the joints.
        """
        names = (*steering, *wheels)
        wrong = self.wrong.ravel()
        if not wrong.any():
            return ''
        ratio = self.ratio.ravel()
        found = {text: [names[k] for k in np.flatnonzero(wrong) if _words(ratio[k]) == text]
                 for text in dict.fromkeys(_words(ratio[k]) for k in np.flatnonzero(wrong))}
        return ('the rates of ' + '; of '.join(f'{", ".join(joints)} are {text}'
                                               for text, joints in found.items())
                + '; they are not used')

    def restart_text(self, steering: Sequence[str], wheels: Sequence[str]) -> str:
        """Return the leaps of several encoders in words, empty without; names of the joints."""
        axes, turned = self.restarted
        if not (axes.any() or turned.any()):
            return ''
        angles = [f'{joint} {offset:+.2f} rad' for joint, offset, leapt in zip(
            steering, self.offset, axes, strict=True) if leapt]
        counts = [joint for joint, leapt in zip(wheels, turned, strict=True) if leapt]
        moved = [', '.join(angles)] if angles else []
        moved += [f'counts of {", ".join(counts)}'] if counts else []
        return (f'encoders have jumped in one sample: {"; ".join(moved)}; did their board '
                'restart? ' + ('The angles before the jump are continued: set the zeros, and call '
                   '~/reset_odometry' if angles else 'The pose is continued'))


class RateLag(NamedTuple):
    """
    Lag of the rates behind the angles, and what the twist is carried on by.

    Attributes
    ----------
    lag, deviation : float, s
        The larger of those of steering axes and wheels, and of their standard deviations: that of
        the longest lag until one of both is `known`.
    known : bool
        The deviation has become half of that before a drive, of steering axes or wheels.
    change : float, m/s² and rad/s²
        Root mean square change of the twist over the last tenth of a second, largest component.
    """

    lag: float
    deviation: float
    known: bool
    change: float


def _words(ratio: float) -> str:
    if math.isinf(ratio):
        return 'not 0 while the angles stand'
    if not abs(ratio) > ZERO:
        return '0 while the angles change'
    cause = next((f' ({words})' for value, words in CAUSES
                  if abs(ratio / value - 1.0) < CLOSE), '')
    if not cause and abs(ratio) > GEARED:
        cause = ' (of the motor, before its gear?)'
    return f'{ratio:.3g} times those of the angles{cause}'


def describe(state: Channels, robot: CasterRobot, max_gap: float, wheel_step: float,
             steering_step: float, lag: float = 0.0) -> Channels:
    """
    Return the state in the block of `state` with its constants.

    Parameters
    ----------
    state : Channels
    robot : CasterRobot
    max_gap : float, s
        Longest time between two samples that are compared.
    wheel_step, steering_step : float, rad
        Encoder steps.
    lag : float, s
        Deviation of the lag of the rates before a drive; 0: it is not measured.
    """
    state = Channels.of(state.block, robot.count, max_gap=max_gap, lag_prior=lag)
    state.step[:] = steering_step, wheel_step
    state.limit[:] = np.minimum(robot.wheel_rate_limit, FASTEST)
    state.length[:] = robot.caster_offset, robot.wheel_radius
    state.zero[:] = robot.steering_zero
    return state


def forget(state: Channels) -> None:
    """Clear the memory."""
    for array in (state.known, state.usual, state.span, state.turned, state.rated, state.swept,
                  state.last, state.most, state.has_rates, state.rate, state.recent, state.gained,
                  state.change, state.carried, state.lag_evidence, state.lag, state.swing,
                  state.held, state.wrong, state.proved, state.excess, state.leapt, state.leap,
                  state.offset, state.restarted):
        array[:] = 0.0
    state.ratio[:] = 1.0
    state.lag_deviation[:] = state.lag_prior
    state.since[:] = math.inf


def known_lags(state: Channels) -> Array:
    """Return of steering axes and wheels (2,) whether the lag of their rates is known."""
    return state.lag_deviation < LAG_KNOWN * state.lag_prior


def rate_lag(state: Channels, changes: Array) -> RateLag:
    """Return the lag of the rates; `changes` (3, 3) is the mean square change of the twist."""
    known = state.lag_prior == 0.0 or bool(known_lags(state).any())
    deviation = float(state.lag_deviation.max()) if known else LAG
    return RateLag(float(state.lag.max()), deviation, known,
                   math.sqrt(float(np.diag(changes).max())))


def report(state: Channels) -> ChannelReport | None:
    """Return the contradictions, None without one."""
    # `any` of an array costs ten times as much
    if not (np.count_nonzero(state.wrong) or np.count_nonzero(state.restarted)):
        return None
    return ChannelReport(state.wrong != 0.0, state.ratio.copy(), state.restarted != 0.0,
                         state.offset.copy())


class JointChannels:
    """
    Comparison of the channels of a robot's joints, for a component without odometry.

    Parameters
    ----------
    robot : CasterRobot
    max_gap : float, s
        Longest time between two samples that are compared.
    wheel_step, steering_step : float, rad
        Encoder steps; 0 for continuous angles.

    Attributes
    ----------
    sample : (4, n) array
        Last sample: angles of steering axes and wheels, without leaps of several casters, and
        their rates: those given or, where they contradict the angles, those of the angles,
        low-passed.
    leapt : bool
        Angles of several casters leapt in it.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> channels, still = JointChannels(robot), np.zeros(3)
    >>> for k in range(200):  # 0.2 m/s, and rates in turns/s
    ...     usable = channels.step(0.005, still, still + 0.025 * k, still, still + 0.796)
    >>> usable, channels.report().ratio[1].round(3).tolist()
    (False, [0.159, 0.159, 0.159])
    """

    def __init__(self, robot: CasterRobot, max_gap: float = 0.25, wheel_step: float = 0.0,
                 steering_step: float = 0.0) -> None:
        n = robot.count
        self._state = describe(Channels.new(n), robot, max_gap, wheel_step, steering_step)
        forget(self._state)
        self._latch = np.zeros((3, n))
        self.sample = np.zeros((4, n))
        self.leapt = False
        # compiled before the first message, which would wait for seconds
        block, sample = self._state.block.copy(), self.sample.copy()
        watch_channels(block, self._latch.copy(), sample, 0.0)

    def forget(self) -> None:
        """Clear the memory: the next sample is the first one."""
        forget(self._state)

    def step(self, dt: float, steering: Array, wheel_angle: Array, steering_rate: Array,
             wheel_rate: Array) -> bool:
        """
        Process one sample; return whether its rates can be used.

        Parameters
        ----------
        dt : float, s
            Time since the last sample.
        steering, wheel_angle : (n,) array, rad
        steering_rate, wheel_rate : (n,) array, rad/s
            nan if unknown.
        """
        sample = self.sample
        sample[0], sample[1] = steering, wheel_angle
        sample[2], sample[3] = steering_rate, wheel_rate
        usable = bool(watch_channels(self._state.block, self._latch, sample, float(dt)))
        self.leapt = bool(self._state.leapt[0])
        if not usable:
            sample[2:] = self._state.recent
        return usable

    def report(self) -> ChannelReport | None:
        """Return the contradictions, None without one."""
        return report(self._state)
