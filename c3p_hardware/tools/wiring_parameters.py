# SPDX-License-Identifier: Apache-2.0
"""Parameters of the hardware interface for a wiring that was found."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from c3p_description.model import CasterRobot
from c3p_hardware.axes import card_settings
from c3p_hardware.settings import DriveSettings, EncoderSettings
from c3p_kinematics.commissioning.assignment import NONE, Assignment, ChannelNames
from c3p_kinematics.commissioning.words import SAME_GEAR

# columns of the drives and encoders, and how a device has them
DRIVE_COLUMNS: Mapping[str, Callable[[DriveSettings], Any]] = {
    'node_ids': lambda d: d.node_id, 'channels': lambda d: d.channel,
    'serial_numbers': lambda d: d.serial, 'directions': lambda d: d.units.direction,
    'gear_ratio': lambda d: d.units.gear_ratio, 'efficiency': lambda d: d.units.efficiency,
    'rated_torque': lambda d: d.units.rated_torque, 'encoder_counts': lambda d: d.units.counts,
    'velocity_gain': lambda d: d.velocity_gain}
ENCODER_COLUMNS: Mapping[str, Callable[[EncoderSettings], Any]] = {
    'node_ids': lambda e: e.node_id, 'counts': lambda e: e.counts, 'range': lambda e: e.span,
    'directions': lambda e: e.direction, 'zeros': lambda e: e.zero,
    'serial_numbers': lambda e: e.serial, 'gear_ratio': lambda e: e.gear_ratio}


class Corrections(NamedTuple):
    """
    Changes that make a wiring right.

    Attributes
    ----------
    parameters : dict
        Values by dotted name that differ from the present ones; empty for none.
    by_hand : list of str
        What no parameter can mend: cables, leads, dead encoders; each with its remedy.
    """

    parameters: dict[str, Any]
    by_hand: list[str]


def corrections(robot: CasterRobot, values: Any, channels: ChannelNames, assignment: Assignment
                ) -> Corrections:
    """
    Return the parameters of the hardware interface that make a wiring right.

    Parameters
    ----------
    robot : CasterRobot
    values : object
        Present parameters, as of `hardware_values`.
    channels : ChannelNames
        Of the steering joints, then the wheels.
    assignment : Assignment

    Raises
    ------
    CardError
        The present parameters do not fit the robot.
    """
    settings = card_settings(robot, values)
    drives = {drive.joint: drive for drive in settings.drives}
    encoders = {encoder.joint: encoder for encoder in settings.encoders}
    names = [*robot.steering_joints, *robot.wheel_joints]
    by_hand: list[str] = []
    drive_rows = [_drive_row(joint, names.index(joint), drives, encoders, channels, assignment,
                             by_hand) for joint in drives]
    encoder_rows = [_encoder_row(joint, names.index(joint), encoders, channels, assignment,
                                 by_hand) for joint in encoders]
    parameters = {}
    for name, drive_value in DRIVE_COLUMNS.items():
        wanted = [row[name] for row in drive_rows]
        if wanted != [drive_value(device) for device in settings.drives]:
            parameters[f'drives.{name}'] = wanted
    for name, encoder_value in ENCODER_COLUMNS.items():
        wanted = [row[name] for row in encoder_rows]
        if wanted != [encoder_value(device) for device in settings.encoders]:
            parameters[f'encoders.{name}'] = wanted
    return Corrections(parameters, list(dict.fromkeys(by_hand)))


def expressed(robot: CasterRobot, values: Any, channels: ChannelNames, assignment: Assignment
              ) -> Assignment:
    """
    Return the wiring as the corrected parameters express it.

    Gears within `SAME_GEAR` stay as they are, and zeros are whole counts: what is left is for a
    calibration.

    Parameters
    ----------
    robot, values, channels, assignment
        As for `corrections`.
    """
    settings = card_settings(robot, values)
    drives = {drive.joint: drive for drive in settings.drives}
    encoders = {encoder.joint: encoder for encoder in settings.encoders}
    gear = assignment.gear.copy()
    zero = assignment.zero.copy()
    for k, joint in enumerate([*robot.steering_joints, *robot.wheel_joints]):
        source = assignment.encoder_of[k]
        if source == NONE:
            continue
        name = channels.encoders[source]
        if joint in encoders and name in encoders:
            found = encoders[name]
            row = _encoder_row(joint, k, encoders, channels, assignment, [])
            gear[k] = _sign(assignment.gear[k]) * found.gear_ratio / row['gear_ratio']
            counts = row['directions'] * found.counts * row['gear_ratio'] / (2 * math.pi)
            # zeros of a range of several turns differ by whole turns
            zero[k] = math.remainder((found.zero - row['zeros']) / counts, 2 * math.pi)
        elif joint not in encoders and name in drives:
            ratio = drives[name].units.gear_ratio
            gear[k] = (_sign(assignment.gear[k]) * ratio
                       / _ratio(ratio, float(assignment.gear[k])))
    return assignment._replace(gear=gear, zero=zero)


def _sign(number: float) -> int:
    return -1 if number < 0.0 else 1


def _ratio(gear_ratio: float, gear: float) -> float:
    """Return a gear ratio for a factor of the measured angle, with six digits."""
    if abs(abs(gear) - 1.0) <= SAME_GEAR:
        return gear_ratio
    return float(f'{gear_ratio / abs(gear):.6g}')


def _drive_row(joint: str, k: int, drives: Mapping[str, DriveSettings],
               encoders: Mapping[str, EncoderSettings], channels: ChannelNames,
               assignment: Assignment, by_hand: list[str]) -> dict[str, Any]:
    """Return the columns of the drive on a joint; what they cannot express goes to `by_hand`."""
    own = drives[joint]
    source = assignment.encoder_of[k]
    motor = assignment.motor_of[k]
    driving = drives.get(channels.motors[motor]) if motor != NONE else None
    counting = drives.get(channels.encoders[source]) if source != NONE else None
    # a joint with an encoder of its own: the drive alone is chosen, by its motor
    if joint in encoders:
        counting = None
    elif source == NONE:
        by_hand.append(f'{joint}: no channel counts it: check the encoder of its motor, its cable '
                       'and its supply')
    elif counting is None:
        by_hand.append(f'{joint} is counted by {channels.encoders[source]}, an absolute encoder: '
                       'exchange their cables')
    chosen = counting or driving or own
    row = {name: value_of(chosen) for name, value_of in DRIVE_COLUMNS.items()}
    sense = assignment.gear[k] if counting else assignment.leads[k]
    row['directions'] = _sign(sense) * row['directions']
    if counting:
        row['gear_ratio'] = _ratio(row['gear_ratio'], assignment.gear[k])
    if counting and driving:
        if counting is not driving:
            by_hand.append(
                f'{joint} is counted by drive {counting.node_id} but driven by drive '
                f'{driving.node_id}: exchange the cables of the motors, or of their encoders, so '
                'that one drive has both')
        elif _sign(assignment.leads[k]) != _sign(assignment.gear[k]):
            by_hand.append(
                f'{joint}: the motor of drive {counting.node_id} turns against its counts: '
                'exchange two leads of the motor (or A and B of its encoder)')
    return row


def _encoder_row(joint: str, k: int, encoders: Mapping[str, EncoderSettings],
                 channels: ChannelNames, assignment: Assignment, by_hand: list[str]
                 ) -> dict[str, Any]:
    """Return the columns of the encoder on a joint; what they cannot express goes to `by_hand`."""
    source = assignment.encoder_of[k]
    found = encoders.get(channels.encoders[source]) if source != NONE else None
    if source == NONE:
        by_hand.append(f'{joint}: no channel measures it: check its encoder, cable and supply')
    elif found is None:
        by_hand.append(f'{joint} is measured by the encoder of the motor of '
                       f'{channels.encoders[source]}: exchange their cables')
    chosen = found or encoders[joint]
    row = {name: value_of(chosen) for name, value_of in ENCODER_COLUMNS.items()}
    if found is None:
        return row
    sense = _sign(assignment.gear[k])
    row['directions'] = sense * row['directions']
    row['gear_ratio'] = _ratio(row['gear_ratio'], assignment.gear[k])
    # q = g dir (p − p₀) 2π/(N G) + z: the position at which q = 0
    counts = row['directions'] * found.counts * row['gear_ratio'] / (2 * math.pi)
    zero = found.zero - float(assignment.zero[k]) * counts
    row['zeros'] = round(zero) % found.range if round(zero) != round(found.zero) else found.zero
    return row
