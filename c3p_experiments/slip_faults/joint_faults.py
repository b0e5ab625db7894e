# SPDX-License-Identifier: Apache-2.0
"""Faults of one wheel put into a tape, before sensors read its joints, and their right kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_experiments.slip_faults.tapes import PERIOD, Tape

# jumps: least path at the contact, m, and angle, and largest angle, rad
LEAST_JUMP = (0.006, 0.15)
LARGEST_JUMP = 3.0

# a fast drift of a steering encoder ends after this time, s: that from which it is fast, rad/s
FAST_DRIFT, FAST_DRIFTING = 1.0, 2.0

# time for which an encoder holds its value again and again, and between two such, s
HELD, BETWEEN = (0.03, 0.08), (0.1, 0.6)

# speed and duration of a slip, m/s and s, and time in which it may still be named, s
SLIP_SPEED, SLIP_TIME, AFTER_SLIP = 0.1, 0.4, 0.1

STEERING, WHEEL = 0, 2


class FaultPlace(NamedTuple):
    """Robot, caster, instant of the tape from which it is at fault, and random numbers."""

    robot: CasterRobot
    caster: int
    begin: int
    rng: np.random.Generator

    def sense(self) -> float:
        """Return −1 or 1."""
        return float(self.rng.choice([-1.0, 1.0]))


class JointFault(NamedTuple):
    """
    A fault.

    Attributes
    ----------
    put : function of Tape and FaultPlace
        Changes the columns of the caster of a copy of a tape.
    kinds : sequence of str
        Of `fault_report.KINDS`, those that are right: those that residuals do not distinguish are
        both right; empty if the monitor does not have this kind.
    lasts : float, s
        Time in which it must be found; default: to the end.
    """

    put: Callable[[Tape, FaultPlace], None]
    kinds: Sequence[str]
    lasts: float = np.inf


def put_fault(fault: JointFault, tape: Tape, place: FaultPlace) -> Tape:
    """Return a copy of the tape with the fault."""
    copy = Tape(*(column.copy() for column in tape))
    fault.put(copy, place)
    return copy


def _columns(joint: int, tape: Tape, place: FaultPlace) -> tuple[Array, Array]:
    """Return angle and rate of a joint of the caster from the fault on, to be changed."""
    return (tape[joint][place.begin:, place.caster], tape[joint + 1][place.begin:, place.caster])


def _stuck(joint: int, tape: Tape, place: FaultPlace) -> None:
    """Hold the first value."""
    angle, rate = _columns(joint, tape, place)
    angle[:] = angle[0]
    rate[:] = 0.0


def _jump(joint: int, tape: Tape, place: FaultPlace) -> None:
    """Add a constant."""
    robot = place.robot
    lever = (robot.wheel_radius if joint == WHEEL else robot.caster_offset)[place.caster]
    least = max(LEAST_JUMP[0] / lever, LEAST_JUMP[1])
    angle, _ = _columns(joint, tape, place)
    angle += place.sense() * place.rng.uniform(least, LARGEST_JUMP)


def _drift(joint: int, speed: float, tape: Tape, place: FaultPlace) -> None:
    """Add a constant rate, rad/s."""
    angle, rate = _columns(joint, tape, place)
    time = PERIOD * np.arange(len(angle))
    ends = FAST_DRIFTING if joint == STEERING and speed > FAST_DRIFT else np.inf
    drift = place.sense() * speed
    angle += drift * np.minimum(time, ends)
    rate += drift * (time < ends)


def _ratio(joint: int, ratio: float, tape: Tape, place: FaultPlace) -> None:
    """Turn by a ratio of what is true."""
    angle, rate = _columns(joint, tape, place)
    angle[:] = angle[0] + ratio * (angle - angle[0])
    rate *= ratio


def _dropouts(joint: int, tape: Tape, place: FaultPlace) -> None:
    """Hold a value again and again."""
    angle, rate = _columns(joint, tape, place)
    at = 0
    while at < len(angle):
        until = at + int(place.rng.uniform(*HELD) / PERIOD)
        angle[at:until] = angle[at]
        rate[at:until] = 0.0
        at = until + int(place.rng.uniform(*BETWEEN) / PERIOD)


def _play(joint: int, degrees: float, tape: Tape, place: FaultPlace) -> None:
    """Follow within a play."""
    angle, _ = _columns(joint, tape, place)
    half = 0.5 * np.radians(degrees)
    held = angle[0]
    for k, value in enumerate(angle):
        held = min(max(held, value - half), value + half)
        angle[k] = held


def _noise(degrees: float, tape: Tape, place: FaultPlace) -> None:
    """Add white noise to the steering encoder."""
    angle, _ = _columns(STEERING, tape, place)
    angle += np.radians(degrees) * place.rng.standard_normal(len(angle))


def _spin(tape: Tape, place: FaultPlace) -> None:
    """Let the tyre slip along the wheel."""
    angle, rate = _columns(WHEEL, tape, place)
    time = PERIOD * np.arange(len(angle))
    slip = place.sense() * SLIP_SPEED / place.robot.wheel_radius[place.caster]
    angle += slip * np.minimum(time, SLIP_TIME)
    rate += slip * (time < SLIP_TIME)


def _side_slip(tape: Tape, place: FaultPlace) -> None:
    """Let the contact slip across the wheel, whose angles follow from the true motion."""
    robot = place.robot
    caster = place.caster
    x, y = robot.hip_position[caster]
    steering, steering_rate = _columns(STEERING, tape, place)
    wheel, wheel_rate = _columns(WHEEL, tape, place)
    twist = tape.twist[place.begin:]
    pivot = twist[:, :2] + twist[:, 2:] * np.array([-y, x])
    slip = place.sense() * SLIP_SPEED
    for k in range(len(steering) - 1):
        cos, sin = np.cos(steering[k]), np.sin(steering[k])
        across = cos * pivot[k, 0] + sin * pivot[k, 1]
        along = cos * pivot[k, 1] - sin * pivot[k, 0]
        slips = slip if PERIOD * k < SLIP_TIME else 0.0
        steering_rate[k] = -(across + slips) / robot.caster_offset[caster] - twist[k, 2]
        wheel_rate[k] = along / robot.wheel_radius[caster]
        steering[k + 1] = steering[k] + PERIOD * steering_rate[k]
        wheel[k + 1] = wheel[k] + PERIOD * wheel_rate[k]
    steering_rate[-1] = steering_rate[-2]
    wheel_rate[-1] = wheel_rate[-2]


def _faults() -> dict[str, JointFault]:
    """Return the faults by their name."""
    drift = ('steering encoder drift',)
    along = ('wheel encoder drift', 'rolling slip')
    more = ('wheel ratio',)
    less = ('wheel encoder loses counts', 'wheel ratio')
    slipping = SLIP_TIME + AFTER_SLIP
    return {
        'steering encoder stuck': JointFault(partial(_stuck, STEERING),
                                             ('steering encoder stuck',)),
        'wheel encoder stuck': JointFault(partial(_stuck, WHEEL),
                                          ('wheel encoder stuck', 'rolling slip')),
        'jump of a wheel encoder': JointFault(partial(_jump, WHEEL), ('wheel encoder jump',)),
        'jump of a steering encoder': JointFault(partial(_jump, STEERING),
                                                 ('steering encoder jump',)),
        **{f'steering drift of {speed:g} rad/s': JointFault(
            partial(_drift, STEERING, speed), drift) for speed in (2.0, 0.2, 0.05, 0.02)},
        **{f'wheel drift of {speed:g} rad/s': JointFault(
            partial(_drift, WHEEL, speed), along) for speed in (5.0, 0.3)},
        **{f'wheel × {ratio:g}': JointFault(partial(_ratio, WHEEL, ratio),
                                            more if ratio > 1.0 else less)
           for ratio in (1.05, 1.02, 0.97, 2.0)},
        **{f'tyre {change:+.0f} %': JointFault(
            partial(_ratio, WHEEL, 1.0 / (1.0 + change / 100.0)), more if change < 0.0 else less)
           for change in (-3.0, -10.0, 3.0)},
        **{f'{lost} % of the counts lost': JointFault(
            partial(_ratio, WHEEL, 1.0 - lost / 100.0), less) for lost in (5, 15)},
        **{f'steering × {ratio:g}': JointFault(partial(_ratio, STEERING, ratio), drift)
           for ratio in (1.02, 0.5)},
        'dropouts of a wheel encoder': JointFault(partial(_dropouts, WHEEL),
                                                  ('wheel encoder jump',)),
        'dropouts of a steering encoder': JointFault(
            partial(_dropouts, STEERING), ('steering encoder jump', 'steering encoder stuck')),
        **{f'steering backlash of {play:g}°': JointFault(
            partial(_play, STEERING, play), ('steering backlash',)) for play in (1.0, 3.0)},
        'wheel backlash of 3°': JointFault(partial(_play, WHEEL, 3.0), ()),
        'steering noise of 1.1°': JointFault(partial(_noise, 1.1), ('steering encoder noise',)),
        'spin of 0.1 m/s': JointFault(_spin, along[::-1], slipping),
        'side slip of 0.1 m/s': JointFault(_side_slip, ('side slip',), slipping)}


FAULTS = _faults()
