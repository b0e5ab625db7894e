# SPDX-License-Identifier: Apache-2.0
"""
Wrong wiring of emulated cards: what is wired, against what the hardware interface expects.

Devices are named by the joint, or caster, that the interface takes them for. A device that is
exchanged sits on another joint, with its gear, its counts and its zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from c3p_description.caster_labels import caster_labels, caster_named, did_you_mean
from c3p_description.model import CasterRobot
from c3p_kinematics.commissioning.assignment import NONE, Assignment, channels_of
from c3p_kinematics.se2 import wrap

if TYPE_CHECKING:  # needs the library of the protocol
    from c3p_hardware.emulator.axes import EmulatedDevices

# word for every device
ALL = 'all'

# between the names of a ring
BETWEEN = ('<->', '->', ',')


class CardWiringError(ValueError):
    """Impossible wiring; the text names parameter, value and remedy."""


@dataclass(frozen=True)
class CardWiring:
    """
    Wiring of emulated cards, as in the parameters ``wiring`` of the node.

    Attributes
    ----------
    exchanged_modules : tuple of str
        Rings of casters, ``fl fr``: what is taken for each sits on the next one.
    exchanged_drives : tuple of str
        The same of drives with their encoders, by joint or caster.
    exchanged_motors, exchanged_encoders : tuple of str
        The same of the cables of motors alone, and of encoders alone.
    reversed_drives : tuple of str
        Motors that are mounted in the other sense, with their encoders.
    reversed_motors, reversed_encoders : tuple of str
        Motors with exchanged leads; encoders that count in the other sense.
    zeros : tuple of str
        ``fl 90``: the steering encoder gives 90° at angle 0.
    gears : tuple of str
        ``fl 1.1``: true gear ratio of the wheel's drive per expected one.
    """

    exchanged_modules: tuple[str, ...] = ()
    exchanged_drives: tuple[str, ...] = ()
    exchanged_motors: tuple[str, ...] = ()
    exchanged_encoders: tuple[str, ...] = ()
    reversed_drives: tuple[str, ...] = ()
    reversed_motors: tuple[str, ...] = ()
    reversed_encoders: tuple[str, ...] = ()
    zeros: tuple[str, ...] = ()
    gears: tuple[str, ...] = ()

    @staticmethod
    def of(values: Any) -> CardWiring:
        """Return the wiring of parameters, in which a single empty text means nothing."""
        return CardWiring(**{name: tuple(text for text in getattr(values, name) if text.strip())
                             for name in CardWiring.__dataclass_fields__})

    def __bool__(self) -> bool:
        """Return whether anything differs."""
        return self != CardWiring()


class _Names:
    """Names of the devices of a robot on its cards."""

    def __init__(self, robot: CasterRobot, drives: Sequence[str], encoders: Sequence[str]) -> None:
        self.robot = robot
        self.drives = list(drives)
        self.encoders = list(encoders)
        self.pairs = list(zip(robot.wheel_joints, robot.steering_joints, strict=True))

    def caster(self, parameter: str, name: str) -> int:
        """Return a caster, from 0."""
        for i, pair in enumerate(self.pairs):
            if name in pair:
                return i
        try:
            return caster_named(self.robot, name)
        except ValueError as error:
            raise CardWiringError(f'wiring.{parameter}: {error}') from None

    def joints(self, parameter: str, name: str, kind: str) -> list[str]:
        """Return the joints of a name with a device of this kind: ``drive`` or ``encoder``."""
        here = self.drives if kind == 'drive' else [*self.encoders, *self.drives]
        if name == ALL:
            return self.drives if kind == 'drive' else self.encoders
        if name in here:
            return [name]
        if any(name in pair for pair in self.pairs):
            raise CardWiringError(f'wiring.{parameter}: {name!r} has no {kind}; these have: '
                              f'{", ".join(here)}')
        try:
            pair = self.pairs[caster_named(self.robot, name)]
        except ValueError:
            known = [*here, *caster_labels(self.robot), ALL]
            raise CardWiringError(f'wiring.{parameter}: {self.robot.name} has no joint or caster '
                              f'{name!r}{did_you_mean(name, known)}') from None
        found = [joint for joint in pair if joint in (
            self.drives if kind == 'drive' else self.encoders)]
        if not found:
            raise CardWiringError(f'wiring.{parameter}: caster {name} has no {kind}; these have: '
                              f'{", ".join(here)}')
        return found

    def ring(self, parameter: str, names: Sequence[str], kind: str) -> list[dict[str, str]]:
        """Return ``{joint: joint of the device}`` for each kind of joint in a ring."""
        each = [self.joints(parameter, name, kind) for name in names]
        if len({len(joints) for joints in each}) != 1:
            raise CardWiringError(f'wiring.{parameter} = {" ".join(names)}: they have different '
                              'devices; name joints')
        rings = [list(ring) for ring in zip(*each, strict=True)]
        for ring in rings:
            if len({joint in self.encoders for joint in ring}) != 1 and kind == 'encoder':
                raise CardWiringError(f'wiring.{parameter} = {" ".join(names)}: encoders of '
                                      'motors and absolute encoders cannot be exchanged')
        return [dict(zip(ring, [*ring[1:], ring[0]], strict=True)) for ring in rings]


def rings(parameter: str, texts: Sequence[str]) -> list[list[str]]:
    """
    Return the rings of names in `texts`: one ring of single names, or one in each text.

    Examples
    --------
    >>> rings('drives', ['fl', 'fr']), rings('drives', ['fl fr', 'rl <-> rr'])
    ([['fl', 'fr']], [['fl', 'fr'], ['rl', 'rr']])
    """
    parts = [_words(text) for text in texts]
    if parts and all(len(words) == 1 for words in parts):
        parts = [[words[0] for words in parts]]
    for names in parts:
        if len(names) < 2 or len(set(names)) != len(names):
            raise CardWiringError(f'wiring.{parameter} = {list(texts)}: each entry must name two '
                                  'or more different ones that are exchanged, such as fl fr')
    return parts


def _words(text: str) -> list[str]:
    for sign in BETWEEN:
        text = text.replace(sign, ' ')
    return text.split()


def numbers(parameter: str, texts: Sequence[str], example: str) -> list[tuple[str, float]]:
    """
    Return (name, number) of `texts` such as ``fl 90``.

    Examples
    --------
    >>> numbers('zeros', ['fl 90', 'fr: -20°'], 'fl 90')
    [('fl', 90.0), ('fr', -20.0)]
    """
    found = []
    for text in texts:
        name, *rest = text.replace(':', ' ').replace('°', ' ').split() or ['']
        try:
            (number,) = map(float, rest)
        except ValueError:
            raise CardWiringError(f'wiring.{parameter} = {text!r}: must be a name and a number, '
                                  f'such as {example}') from None
        found.append((name, number))
    return found


def wired(devices: EmulatedDevices, wiring: CardWiring, robot: CasterRobot) -> EmulatedDevices:
    """
    Return the devices as they are wired.

    Parameters
    ----------
    devices : EmulatedDevices
        As the hardware interface expects them.
    wiring : CardWiring
    robot : CasterRobot

    Raises
    ------
    CardWiringError
        Unknown joints, and rings of devices of different kinds.
    """
    from c3p_hardware.emulator.axes import (
        DRIVE_VALUES,
        ENCODER_VALUES,
        drive_joints,
        encoder_joints,
    )

    if not wiring:
        return devices
    drives = drive_joints(devices, robot)
    encoders = encoder_joints(devices, robot)
    names = _Names(robot, drives, encoders)
    drive_cards = devices.cards(devices.drive, DRIVE_VALUES, drives)
    encoder_cards = devices.cards(devices.encoder, ENCODER_VALUES, encoders)
    for i, joint in enumerate(drives):
        card = drive_cards[i]
        flips = {name: _times(names, f'reversed_{name}s', getattr(wiring, f'reversed_{name}s'),
                              joint, kind) for name, kind in (
            ('drive', 'drive'), ('motor', 'drive'), ('encoder', 'encoder'))}
        gear = _gear(names, wiring.gears, joint)
        drive_cards[i] = replace(
            card, direction=card.direction * flips['drive'], leads=card.leads * flips['motor'],
            polarity=card.polarity * flips['encoder'], gear_ratio=card.gear_ratio * gear)
    turns = [(names.joints('zeros', name, 'encoder'), number)
             for name, number in numbers('zeros', wiring.zeros, 'fl 90')]
    for i, joint in enumerate(encoders):
        card = encoder_cards[i]
        degrees = sum(number for joints, number in turns if joint in joints)
        counts = card.direction * card.counts * card.gear_ratio * degrees / 360.0
        flip = _times(names, 'reversed_encoders', wiring.reversed_encoders, joint, 'encoder')
        encoder_cards[i] = replace(
            card, zero_counts=round(card.zero_counts + counts) % (card.counts * card.turns),
            direction=card.direction * flip,
            gear_ratio=card.gear_ratio * _gear(names, wiring.gears, joint))
    counted, driving, encoded = _places(names, wiring)
    values: dict[str, Any] = {
        **{name: tuple(getattr(card, field) for card in drive_cards)
           for name, field in DRIVE_VALUES.items()},
        **{name: tuple(getattr(card, field) for card in encoder_cards)
           for name, field in ENCODER_VALUES.items()}}
    return replace(
        devices, drive_joints=tuple(counted[joint] for joint in drives),
        motor_joints=tuple(driving[joint] for joint in drives),
        encoder_joints=tuple(encoded[joint] for joint in encoders),
        drive_ids=devices.of('drive_ids', drives, 1),
        encoder_ids=devices.of('encoder_ids', encoders, max(11, len(drives) + 1)), **values)


def true_assignment(expected: EmulatedDevices, there: EmulatedDevices, robot: CasterRobot
                    ) -> Assignment:
    """
    Return how the channels are wired to the joints: the truth of a search.

    Parameters
    ----------
    expected, there : EmulatedDevices
        What the hardware interface expects, and what `wired` returns for it.
    robot : CasterRobot

    Returns
    -------
    Assignment
        Of steering joints, then wheels; encoder channels in the same order, motor channels as in
        an effort vector.
    """
    from c3p_hardware.emulator.axes import (
        DRIVE_VALUES,
        ENCODER_VALUES,
        drive_joints,
        encoder_joints,
    )

    joints = [*robot.steering_joints, *robot.wheel_joints]
    motors = [joint for joint, place in robot.effort_places.items() if robot.actuated[place]]
    encoder_of, motor_of = np.full((2, len(joints)), NONE)
    gear, leads = np.ones((2, len(joints)))
    zero = np.zeros(len(joints))
    names = drive_joints(expected, robot)
    encoded = encoder_joints(expected, robot)
    places = drive_joints(there, robot)
    driving = there.motor_joints or places
    for i, (before, now) in enumerate(zip(
            expected.cards(expected.drive, DRIVE_VALUES, names),
            there.cards(there.drive, DRIVE_VALUES, names), strict=True)):
        joint = joints.index(places[i])
        # the steering axis of a swerve module is measured by its encoder
        if names[i] not in encoded:
            encoder_of[joint] = joints.index(names[i])
            gear[joint] = before.counts_per_radian / now.counts_per_radian
        if names[i] in motors:
            motor = joints.index(driving[i])
            motor_of[motor] = motors.index(names[i])
            leads[motor] = math.copysign(1.0, now.permille_torque / before.permille_torque)
    for i, (before, now) in enumerate(zip(
            expected.cards(expected.encoder, ENCODER_VALUES, encoded),
            there.cards(there.encoder, ENCODER_VALUES, encoded), strict=True)):
        joint = joints.index(encoder_joints(there, robot)[i])
        encoder_of[joint] = joints.index(encoded[i])
        counts = before.direction * before.counts * before.gear_ratio
        gear[joint] = counts / (now.direction * now.counts * now.gear_ratio)
        if joint < robot.count:
            shift = 2 * math.pi * (now.zero_counts - before.zero_counts) / counts
            zero[joint] = wrap(-gear[joint] * shift)
    return Assignment(encoder_of, gear, zero, motor_of, leads)


def wired_channels(robot: CasterRobot, wiring: CardWiring) -> Assignment | None:
    """
    Return how the channels of a robot on topics are wired; None where all are as described.

    Parameters
    ----------
    robot : CasterRobot
    wiring : CardWiring
        Of drives at all motors and encoders at all steering axes.

    Raises
    ------
    CardWiringError
        As `wired`, or a robot whose channels are not those of casters with encoders.
    """
    if not wiring:
        return None
    # needs the library of CANopen, which robots on topics are without
    from c3p_hardware.emulator.axes import EmulatedDevices

    try:
        channels_of(robot)
    except ValueError as error:
        raise CardWiringError(f'wiring: {error}') from None
    expected = EmulatedDevices()
    return true_assignment(expected, wired(expected, wiring, robot), robot)


def _times(names: _Names, parameter: str, texts: Sequence[str], joint: str, kind: str) -> int:
    """Return −1 for a joint that the `texts` name, else 1."""
    named = [one for text in texts for name in _words(text)
             for one in names.joints(parameter, name, kind)]
    return -1 if joint in named else 1


def _gear(names: _Names, texts: Sequence[str], joint: str) -> float:
    """Return the true gear per expected one of the device of a joint; a caster is its wheel."""
    gear = 1.0
    for name, number in numbers('gears', texts, 'fl 1.1'):
        if not number > 0:
            raise CardWiringError(f'wiring.gears = {name} {number}: must be greater than zero')
        if name == ALL:
            here = [wheel for wheel, _ in names.pairs]
        elif any(name in pair for pair in names.pairs):
            here = [name]
        else:
            here = [names.pairs[names.caster('gears', name)][0]]
        gear *= number if joint in here else 1.0
    return gear


def _places(names: _Names, wiring: CardWiring
            ) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return the joint that each drive counts, that it drives, and that of each encoder."""
    counted = {joint: joint for joint in names.drives}
    driving = dict(counted)
    encoded = {joint: joint for joint in names.encoders}

    def exchange(ring: dict[str, str], *maps: dict[str, str]) -> None:
        for places in maps:
            places |= {joint: ring.get(place, place) for joint, place in places.items()}

    for ring in rings('exchanged_motors', wiring.exchanged_motors):
        for one in names.ring('exchanged_motors', ring, 'drive'):
            exchange(one, driving)
    for ring in rings('exchanged_encoders', wiring.exchanged_encoders):
        for one in names.ring('exchanged_encoders', ring, 'encoder'):
            exchange(one, encoded if next(iter(one)) in encoded else counted)
    for ring in rings('exchanged_drives', wiring.exchanged_drives):
        for one in names.ring('exchanged_drives', ring, 'drive'):
            exchange(one, counted, driving)
    for ring in rings('exchanged_modules', wiring.exchanged_modules):
        casters = [names.caster('exchanged_modules', name) for name in ring]
        # of wheels, then of steering joints
        for column in zip(*(names.pairs[i] for i in casters), strict=True):
            one = dict(zip(column, [*column[1:], column[0]], strict=True))
            exchange(one, counted, driving, encoded)
    return counted, driving, encoded
