# SPDX-License-Identifier: Apache-2.0
"""Commissioning without a hand: small motions, the search, and pushes that settle the rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from c3p_bringup.commission.angles import AngleSource
from c3p_bringup.commission.motors import MotionError, record_of
from c3p_description.model import CasterRobot
from c3p_experiments.commissioning.small_drive import SmallDrive, torque_needed
from c3p_kinematics.commissioning.assignment import FoundWiring, WiringRecord
from c3p_kinematics.commissioning.motions import WiringMotions
from c3p_kinematics.commissioning.search import find_wiring, settle
from c3p_kinematics.commissioning.single_motors import find_motors
from c3p_kinematics.commissioning.ties import separated

# additions to the motions until the wiring is known
MOST_ADDED = 3

# turn of a joint below which a robot was not pushed, rad
STANDS = 0.05

# directions of pushes, and words
DIRECTIONS = (((0.0, 1.0), '+Y'), ((1.0, 0.0), '+X'))


class Motors(NamedTuple):
    """
    The robot.

    Attributes
    ----------
    move : callable
        Carries out a `WiringMotions` or a `SmallDrive`; MotionError when it ends before.
    show : callable
        Prints a line.
    """

    move: Callable[[WiringMotions | SmallDrive], None]
    show: Callable[[str], None]


def commission_by_itself(robot: CasterRobot, motions: WiringMotions, motors: Motors
                         ) -> FoundWiring:
    """
    Move, search, and move more while that distinguishes more; return the wiring.

    Of wheels below their pivots the motors alone are found, by encoders as described.

    Raises
    ------
    MotionError
        The motions ended before anything could be concluded.
    WiringError
        Nothing explains the motions.
    """
    seed = 0
    motors.move(motions)
    record = record_of(motions)
    motors.show(f'  {len(record.time)} samples in {record.time[-1] - record.time[0]:.0f} s; '
               'searching ...')
    if not np.any(robot.caster_offset > 0.0):
        return find_motors(robot, record)
    found = find_wiring(robot, record)
    while not separated(found) and seed < MOST_ADDED and not motions.spent:
        seed += 1
        motors.show(f'  not decided yet ({len(found.undecided)}): another motion')
        motions.extend(seed)
        motors.move(motions)
        found = find_wiring(robot, record_of(motions))
    return found


def drive_by_itself(robot: CasterRobot, motions: WiringMotions, found: FoundWiring,
                    motors: Motors) -> list[WiringRecord]:
    """
    Drive slowly on the spot with a wiring that was found; return records for a calibration.

    They are those of motions and drive; empty, with the reason shown, where it cannot drive.

    Parameters
    ----------
    robot : CasterRobot
    motions : WiringMotions
        Carried out.
    found : FoundWiring
    motors : Motors
    """
    if not separated(found):
        motors.show('  no drive on the spot: the wiring is not known well enough')
        return []
    record = record_of(motions)
    drive = SmallDrive(robot, found.assignment, torque_needed(record))
    motors.show('  drive on the spot, for lengths, zeros, masses and friction')
    try:
        motors.move(drive)
    except MotionError as error:
        motors.show(f'  the drive on the spot has ended: {error}; nothing but the wiring is '
                    'written')
        return []
    return [record, drive.record()]


def settle_by_pushes(robot: CasterRobot, found: FoundWiring, source: AngleSource,
                     enter: Callable[[str, int], Callable[[], bool]], show: Callable[[str], None]
                     ) -> FoundWiring:
    """
    Prompt for pushes where the wiring is the same in other axes of the robot; return what is left.

    Parameters
    ----------
    robot : CasterRobot
    found : FoundWiring
    source : AngleSource
    enter : callable
        As of `commission_by_hand`.
    show : callable
        Prints a line.

    Raises
    ------
    WiringError
        No wiring moves in these directions.
    """
    for direction, words in DIRECTIONS:
        if not found.others or not found.undecided:
            break
        show(f'  the motions do not determine where {words} of the robot is:')
        show(f'  push it straight along its {words} by 0.5 m, without turning it, and press Enter')
        pushed = source.until(partial(enter, 'ahead' if direction[1] else 'aside', -1))
        if not np.isfinite(pushed).all():
            raise MotionError('a channel did not answer during the push')
        if np.abs(pushed - pushed[0]).max() < STANDS:
            show('  nothing has moved: the wirings that are left stay undecided')
            break
        found = settle(robot, found, pushed, direction)
    return found
