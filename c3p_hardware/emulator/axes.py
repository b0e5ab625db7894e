# SPDX-License-Identifier: Apache-2.0
"""Emulated cards of a robot's joints, from their settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from c3p_description.model import CasterRobot
from c3p_description.wheels import steering_names
from c3p_hardware.emulator.absolute_encoder import EncoderCard
from c3p_hardware.emulator.drive_device import DriveDevice
from c3p_hardware.emulator.motor_drive import DriveCard
from c3p_hardware.emulator.profiles import EncoderDevice

Send = Callable[[int, bytes], None]

# fields of `EmulatedDevices` with one value per drive or encoder, and those of their cards
DRIVE_VALUES = {'rated_torque': 'rated_torque', 'gear_ratio': 'gear_ratio',
                'efficiency': 'efficiency', 'wheel_counts': 'counts',
                'wheel_direction': 'direction', 'motor_leads': 'leads',
                'drive_polarity': 'polarity', 'velocity_gain': 'velocity_gain',
                'brake_torque': 'brake_torque'}
ENCODER_VALUES = {'steering_counts': 'counts', 'steering_turns': 'turns',
                  'steering_direction': 'direction', 'steering_zero_counts': 'zero_counts',
                  'encoder_gear_ratio': 'gear_ratio'}


@dataclass(frozen=True)
class EmulatedDevices:
    """
    Devices of a robot.

    Attributes
    ----------
    drive : DriveCard
    encoder : EncoderCard
        Values that no list gives.
    drive_joints, encoder_joints : tuple of str
        Joints of the channels of drives and of the encoders; empty for all wheels without an
        encoder and the steering joints with a motor, and for all steering joints.
    drive_ids, encoder_ids : tuple of int
        One per joint; empty for 1, 2, 3 … and 11, 12, 13 ….
    motor_joints : tuple of str
        Joints on which the motors act, one per drive; empty for `drive_joints`, whose angles the
        drives count.
    drive_channels : tuple of int
        Channel on the card; cards with several have equal node ids.
    drive_serials, encoder_serials : tuple of int
        Empty for 1001 … and 2001 ….
    rated_torque, gear_ratio, efficiency, wheel_counts, wheel_direction, motor_leads, \
drive_polarity, velocity_gain, brake_torque : tuple
        Of the drives, as in `DriveCard`: one for all or one per joint; empty for that of `drive`.
    steering_counts, steering_turns, steering_direction, steering_zero_counts, \
encoder_gear_ratio : tuple
        Of the encoders, as in `EncoderCard`.
    """

    drive: DriveCard = field(default_factory=DriveCard)
    encoder: EncoderCard = field(default_factory=EncoderCard)
    drive_joints: tuple[str, ...] = ()
    encoder_joints: tuple[str, ...] = ()
    motor_joints: tuple[str, ...] = ()
    drive_ids: tuple[int, ...] = ()
    encoder_ids: tuple[int, ...] = ()
    drive_channels: tuple[int, ...] = (1,)
    drive_serials: tuple[int, ...] = ()
    encoder_serials: tuple[int, ...] = ()
    rated_torque: tuple[float, ...] = ()
    gear_ratio: tuple[float, ...] = ()
    efficiency: tuple[float, ...] = ()
    wheel_counts: tuple[int, ...] = ()
    wheel_direction: tuple[int, ...] = ()
    motor_leads: tuple[int, ...] = ()
    drive_polarity: tuple[int, ...] = ()
    velocity_gain: tuple[float, ...] = ()
    brake_torque: tuple[float, ...] = ()
    steering_counts: tuple[int, ...] = ()
    steering_turns: tuple[int, ...] = ()
    steering_direction: tuple[int, ...] = ()
    steering_zero_counts: tuple[int, ...] = ()
    encoder_gear_ratio: tuple[float, ...] = ()

    def of(self, name: str, joints: Sequence[str], first: int = 0) -> tuple[Any, ...]:
        """
        Return an attribute with one value per joint; missing ids and serials count from `first`.

        ValueError for another number of values than none, one or one per joint.
        """
        values = tuple(getattr(self, name))
        count = len(joints)
        numbered = name.endswith(('ids', 'serials'))
        if not values and numbered:
            values = tuple(range(first, first + count))
        if len(values) == 1 and not numbered:
            values *= count
        if len(values) != count:
            raise ValueError(f'{name} = {list(values)}: must have {count} values, one per joint '
                             f'of {", ".join(joints)}')
        return values

    def cards(self, card: Any, columns: dict[str, str], joints: Sequence[str]) -> list[Any]:
        """Return a `card` for each joint, with the values that lists give."""
        given = {field: self.of(name, joints) for name, field in columns.items()
                 if getattr(self, name)}
        return [replace(card, **{field: values[i] for field, values in given.items()})
                for i in range(len(joints))]


class DriveOfJoint(NamedTuple):
    """
    Channel of a drive on a joint.

    Attributes
    ----------
    joint : int
        Place among the wheels, then the steering joints, of the joint that is counted.
    drive : DriveDevice
    channel : int
    motor : int
        Place of the joint on which the motor acts.
    """

    joint: int
    drive: DriveDevice
    channel: int
    motor: int


def drive_joints(settings: EmulatedDevices, robot: CasterRobot) -> tuple[str, ...]:
    """Return the joints with a channel of a drive."""
    encoded = settings.encoder_joints
    return settings.drive_joints or (
        *(j for j in robot.wheel_joints if j not in encoded), *_steered(robot))


def encoder_joints(settings: EmulatedDevices, robot: CasterRobot) -> tuple[str, ...]:
    """Return the joints with an encoder of their own."""
    return settings.encoder_joints or steering_names(robot)


def make_drives(settings: EmulatedDevices, robot: CasterRobot, send: Send
                ) -> tuple[list[DriveDevice], list[DriveOfJoint]]:
    """Return the cards with drives, and their channels."""
    joints = drive_joints(settings, robot)
    places = _places(robot, joints)
    motors = _places(robot, settings.of('motor_joints', joints) if settings.motor_joints
                     else joints)
    cards = settings.cards(settings.drive, DRIVE_VALUES, joints)
    channels = settings.of('drive_channels', joints)
    serials = settings.of('drive_serials', joints, 1001)
    by_node: dict[int, dict[int, int]] = {}
    for i, node_id in enumerate(settings.of('drive_ids', joints, 1)):
        if channels[i] in by_node.setdefault(node_id, {}):
            raise ValueError(f'node ids of {joints[by_node[node_id][channels[i]]]} and '
                             f'{joints[i]}: {node_id}: must be different, or their channels')
        by_node[node_id][channels[i]] = i
    drives = []
    axes = []
    for number, (node_id, used) in enumerate(by_node.items(), 1):
        some = next(iter(used.values()))
        # a channel without a joint exists all the same
        first, *more = (cards[used.get(channel, some)] for channel in range(1, max(used) + 1))
        drive = DriveDevice(f'drive{number}', node_id, first, serials[some], send, more)
        drives.append(drive)
        axes += [DriveOfJoint(places[i], drive, channel, motors[i])
                 for channel, i in used.items()]
    return drives, axes


def make_encoders(settings: EmulatedDevices, robot: CasterRobot, send: Send
                  ) -> tuple[list[EncoderDevice], list[int]]:
    """Return the encoders, and the places of their joints as in `DriveOfJoint`."""
    joints = encoder_joints(settings, robot)
    drives = len(settings.drive_joints) or robot.count + len(_steered(robot))
    cards = settings.cards(settings.encoder, ENCODER_VALUES, joints)
    ids = settings.of('encoder_ids', joints, max(11, drives + 1))
    serials = settings.of('encoder_serials', joints, 2001)
    return [EncoderDevice(f'encoder{i + 1}', ids[i], cards[i], serials[i], send)
            for i in range(len(joints))], _places(robot, joints)


def _steered(robot: CasterRobot) -> tuple[str, ...]:
    """Return the steering joints with a motor."""
    return tuple(joint for joint, place in robot.effort_places.items()
                 if place >= robot.count and robot.actuated[place])


def _places(robot: CasterRobot, joints: Sequence[str]) -> list[int]:
    """Return the places of joints among the wheels, then the steering joints."""
    # steering axes are before the wheels there
    known = {joint: (place + robot.count) % (2 * robot.count)
             for joint, place in robot.joint_places.items()}
    for joint in joints:
        if joint not in known:
            raise ValueError(f'joint {joint!r}: {robot.name} has only '
                             f'{", ".join(sorted(known, key=known.__getitem__))}')
    return [known[joint] for joint in joints]
