# SPDX-License-Identifier: Apache-2.0
"""
Axes of a robot's joints on its cards, from the parameters of the hardware interface.

A joint of a wheel is counted by an axis of a drive or by an encoder, a steering joint by an
absolute encoder. A driven joint has an axis of a drive besides. Parameters with one value hold for
all axes of their group; lists follow ``drives.joints`` and ``encoders.joints``.

Without sensors are allowed, for casters without a motor: the wheel, or both wheel and steering.
Their angles follow from the motion of the platform (`c3p_kinematics.derived_casters`), which two
casters with both sensors determine. A wheel that is counted while its caster's angle is unknown is
rejected: its counts would be compared with an angle that may still be wrong by half a turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from c3p_description.model import CasterRobot
from c3p_description.wheels import steering_names
from c3p_hardware.canopen.cia402 import MODE_CST, MODE_CSV
from c3p_hardware.canopen.process_data import RATED_PERMILLE, DriveUnits
from c3p_hardware.settings import CardError, CardSettings, DriveSettings, EncoderSettings

# values of drives.mode
MODES = {'torque': MODE_CST, 'velocity': MODE_CSV}

# node ids of drives and encoders that are numbered on their own
FIRST_DRIVE = 1
FIRST_ENCODER = 11

# fraction of a turn by which the range of a geared absolute encoder may miss whole turns
WHOLE_TURNS = 1e-9


def card_settings(robot: CasterRobot, values: Any) -> CardSettings:
    """
    Return the settings for `values` named as in ``hardware_interface_parameters.yaml``.

    Joint names, motors and torque limits are those of the `robot`. CardError names parameter,
    value and remedy.
    """
    if robot.fixed.any():
        fixed = ', '.join(robot.wheel_joints[i] for i in np.flatnonzero(robot.fixed))
        raise CardError(f'robot {robot.name}: {fixed} are fixed wheels: the hardware interface '
                        'derives and checks angles of wheels that all steer; drive this robot '
                        'through ros2_control, docs/ros2_control.md')
    encoded = _joints(robot, 'encoders', values.encoders.joints, steering_names(robot))
    steered = [joint for joint in driven_joints(robot) if joint in robot.steering_joints]
    counted = _joints(robot, 'drives', values.drives.joints, [
        *(joint for joint in robot.wheel_joints if joint not in encoded), *steered])
    drives = _drives(robot, values, counted)
    encoders = _encoders(values, encoded, len(drives))
    _check_sensors(robot, drives, encoders)
    return CardSettings.of(values, drives=drives, encoders=encoders,
                           quick_stop=values.fault_reaction == 'quick_stop')


def per_axis(name: str, values: Any, joints: Sequence[str]) -> list[Any]:
    """
    Return one value per axis; a single one stands for all.

    CardError for any other number of values of the parameter `name`.
    """
    values = list(values)
    if len(values) == 1:
        return values * len(joints)
    if len(values) != len(joints):
        group = name.partition('.')[0]
        raise CardError(f'{name} = {values}: must have one value for all or one for each of '
                        f'the {len(joints)} {group} ({", ".join(joints)}); other joints are '
                        f'chosen by {group}.joints')
    return values


def driven_joints(robot: CasterRobot) -> dict[str, tuple[float, float]]:
    """Return ``{joint: (torque limit [N·m], rate limit [rad/s])}`` of the joints with a motor."""
    return {joint: (float(torque), float(rate)) for joint, motor, torque, rate in zip(
        robot.effort_joints, robot.actuated, robot.effort_limit, robot.effort_rate_limit,
        strict=True) if motor}


def _joints(robot: CasterRobot, group: str, given: Sequence[str], usual: Sequence[str]
            ) -> list[str]:
    """Return the joints of a group: those given, or the usual ones."""
    known = [*robot.wheel_joints, *steering_names(robot)]
    joints = [joint for joint in given if joint] or list(usual)
    for joint in joints:
        if joint not in known:
            close = get_close_matches(joint, known, 1)
            raise CardError(f'{group}.joints = {joints}: {robot.name} has no joint {joint!r}; '
                            + (f'did you mean {close[0]}?' if close else
                               f'its joints are {", ".join(known)}'))
    twice = sorted({joint for joint in joints if joints.count(joint) > 1})
    if twice:
        raise CardError(f'{group}.joints = {joints}: {twice} are named more than once; one '
                        'axis per joint')
    return joints


def _node_ids(group: str, values: Any, joints: Sequence[str], first: int) -> list[int]:
    """Return the node ids; a single 0 numbers the devices from `first` on."""
    ids = list(values.node_ids)
    if ids == [0]:
        return list(range(first, first + len(joints)))
    # one id cannot stand for all, unless for the channels of one card
    return per_axis(f'{group}.node_ids', ids, joints)


def _drives(robot: CasterRobot, values: Any, joints: Sequence[str]) -> tuple[DriveSettings, ...]:
    group = values.drives
    motors = driven_joints(robot)
    ids = _node_ids('drives', group, joints, FIRST_DRIVE)
    columns = [per_axis(f'drives.{name}', getattr(group, name), joints) for name in (
        'serial_numbers', 'channels', 'directions', 'gear_ratio', 'efficiency', 'rated_torque',
        'encoder_counts', 'velocity_gain', 'brakes')]
    mode = MODES[group.mode]
    drives = []
    for (joint, node_id, serial, channel, direction, ratio, efficiency, rated, counts, gain,
         brake) in zip(joints, ids, *columns, strict=True):
        try:
            units = DriveUnits(rated, ratio, efficiency, counts, direction)
        except ValueError as error:
            raise CardError(f'drive of {joint} (node {node_id}): {error}; correct '
                            f'drives.{_parameter_of(error)}') from None
        torque, rate = motors.get(joint, (math.inf, math.inf))
        # without a limit in the description: the rated torque
        limit = torque if math.isfinite(torque) else RATED_PERMILLE * units.torque_resolution
        drives.append(DriveSettings(node_id, joint, units, limit, serial, group.temperature_index,
                                    group.temperature_subindex, rate, channel, joint in motors,
                                    mode, gain, brake))
    return tuple(drives)


def _parameter_of(error: ValueError) -> str:
    """Return the parameter of a value that `DriveUnits` rejects."""
    name = f'{error}'.partition(' ')[0]
    return {'counts': 'encoder_counts', 'direction': 'directions'}.get(name, name)


def _encoders(values: Any, joints: Sequence[str], drives: int) -> tuple[EncoderSettings, ...]:
    group = values.encoders
    ids = _node_ids('encoders', group, joints, max(FIRST_ENCODER, FIRST_DRIVE + drives))
    columns = [per_axis(f'encoders.{name}', getattr(group, name), joints) for name in (
        'counts', 'range', 'directions', 'zeros', 'serial_numbers', 'gear_ratio')]
    return tuple(EncoderSettings(node_id, joint, *rest) for joint, node_id, *rest in zip(
        joints, ids, *columns, strict=True))


def _check_sensors(robot: CasterRobot, drives: Sequence[DriveSettings],
                   encoders: Sequence[EncoderSettings]) -> None:
    """Reject joints without a motor's drive, and casters whose angles cannot be known."""
    drive_of = {drive.joint for drive in drives}
    encoded = {encoder.joint for encoder in encoders}
    lacking = [joint for joint in driven_joints(robot) if joint not in drive_of]
    if lacking:
        raise CardError(
            f'drives.joints = {[d.joint for d in drives]}: {lacking} of {robot.name} have a motor '
            'but no drive; add them, or describe them as passive (casters.driven of a robot file; '
            'for a URDF the robot option driven, or <limit effort="0"> of the joint)')
    for encoder in encoders:
        if encoder.joint in drive_of and encoder.joint in robot.wheel_joints:
            raise CardError(f'encoders.joints: {encoder.joint} is counted by its drive (node '
                            f'{_node_of(drives, encoder.joint)}) already; remove it from '
                            'encoders.joints or drives.joints')
        turns = encoder.range / encoder.counts / encoder.gear_ratio
        if encoder.joint in robot.steering_joints and (
                abs(turns - max(1, round(turns))) > WHOLE_TURNS):
            raise CardError(
                f'{encoder.name}: its range of {encoder.range} counts is {turns:g} turns of the '
                'joint: must be whole turns, or the angle is ambiguous at power-up; correct '
                'encoders.range or encoders.gear_ratio, or mount the encoder on the joint')
    wheel = np.array([joint in drive_of | encoded for joint in robot.wheel_joints])
    steering = np.array([joint in encoded for joint in robot.steering_joints])
    _check_casters(robot, wheel, steering)


def _node_of(drives: Sequence[DriveSettings], joint: str) -> int:
    return next(drive.node_id for drive in drives if drive.joint == joint)


def _check_casters(robot: CasterRobot, wheel: np.ndarray, steering: np.ndarray) -> None:
    """Reject sensors, wheel (n,) and steering (n,), from which not every angle follows."""
    driven = driven_joints(robot)
    for i, (wheel_joint, steering_joint) in enumerate(zip(
            robot.wheel_joints, robot.steering_joints, strict=True)):
        if steering[i]:
            continue
        if wheel_joint in driven or steering_joint in driven:
            raise CardError(f'encoders.joints: {steering_joint} has no encoder, but its '
                            'caster is driven: without the angle the direction of its push '
                            'is unknown; add the joint to encoders.joints')
        if wheel[i]:
            raise CardError(
                f'encoders.joints: {steering_joint} has no encoder, but its wheel {wheel_joint} '
                'is counted: an unknown angle makes its counts contradict the other casters; add '
                'the steering joint to encoders.joints, or remove the wheel from drives.joints '
                'and encoders.joints')
    both = np.flatnonzero(wheel & steering)
    if len(both) < robot.count and not _determined(robot, both):
        raise CardError(
            f'drives.joints, encoders.joints: casters {[int(i) + 1 for i in both]} of '
            f'{robot.count} have both sensors: two or more are needed whose hips are further '
            'apart than the sum of their caster offsets, or the motion of the platform, and with '
            'it the angles of the other casters, is unknown; add encoders')


def _determined(robot: CasterRobot, both: np.ndarray) -> bool:
    """Return True when two of the casters `both` can never have one contact point."""
    hips = robot.hip_position
    offsets = robot.caster_offset
    return any(np.linalg.norm(hips[i] - hips[j]) > offsets[i] + offsets[j]
               for k, i in enumerate(both) for j in both[:k])
