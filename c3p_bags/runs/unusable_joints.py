# SPDX-License-Identifier: Apache-2.0
"""Cause why no joint states of a bag can be used for a robot, by its first messages."""

from __future__ import annotations

from itertools import islice

from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_writer import BagError
from c3p_description.model import CasterRobot
from c3p_description.texts import brief

# messages in which joints are searched
FIRST = 100


def unusable_joints(bag: Bag, topic: str, robot: CasterRobot) -> BagError:
    """
    Return the error of a bag whose messages on `topic` cannot be used.

    It names what they lack, and the remedy: joints, joints that come in several messages, names
    that are not unique, or fields of another length than that of the names.
    """
    wanted = robot.sensed_joints
    seen: set[str] = set()
    reason = ''
    for entry in islice(bag.messages([topic]), FIRST):
        names = [f'{name}' for name in getattr(entry.message, 'name', ())]
        seen.update(names)
        if set(wanted) <= set(names):
            reason = reason or _wrong_fields(entry.message, names, wanted)
    missing = [name for name in wanted if name not in seen]
    if missing:
        reason = (f'no {", ".join(missing)} among {brief(sorted(seen))}; name the robot of the '
                  'bag: --robot')
    elif not reason:
        reason = ('its joints are in several messages; one that has all of them is needed: join '
                  'them in the driver, such as by the joint_state_broadcaster')
    return BagError(f'bag {bag}: no message on {topic} can be used for the robot: {reason}')


def _wrong_fields(message: object, names: list[str], wanted: tuple[str, ...]) -> str:
    """Return what is wrong in a message that has all joints, empty without."""
    if twice := [name for name in wanted if names.count(name) > 1]:
        return f'joint names are not unique: {", ".join(twice)}'
    for field in ('position', 'velocity'):
        count = len(getattr(message, field, ()))
        if count != len(names) and (count or field == 'position'):
            return f'{field} has {count} values for {len(names)} names'
    return 'an angle or a rate is not a finite number'
