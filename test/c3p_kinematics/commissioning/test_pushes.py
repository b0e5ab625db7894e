# SPDX-License-Identifier: Apache-2.0
"""Pushes by hand that are searched together with the motions, for robots of two casters."""

import numpy as np
import pytest
from commissioning_records import STEP, measured_record, rolled_joints

from c3p_experiments.commissioning.trial import (
    AHEAD,
    EXACT,
    LEFT,
    UNDECIDED,
    WRONG,
    errors,
    judged,
)
from c3p_experiments.commissioning.wired import everything, few, robot_named
from c3p_kinematics.casters import inverse
from c3p_kinematics.commissioning.assignment import NONE, WiringPush
from c3p_kinematics.commissioning.pushes import moves_so, with_pushes
from c3p_kinematics.commissioning.search import WiringError, find_wiring, settle
from c3p_kinematics.commissioning.windows import windows_of

ROBOT = robot_named('two_casters')
SPEED = 0.05


def pushed(joints, direction, steps=80):
    """Return joints (T, 4) of the robot that is pushed in a direction without a turn."""
    steering, wheels = joints[:2].copy(), joints[2:].copy()
    rows = [joints]
    for _ in range(steps):
        rolling, rate, _ = inverse(ROBOT, steering, (*(SPEED * direction), 0.0))
        steering = steering + STEP * rate
        wheels = wheels + STEP * rolling
        rows.append(np.concatenate([steering, wheels]))
    return np.array(rows)


def drawn(seed, strokes=8, creep=0.02, noise=0.001):
    """Return a wiring, the record of some motions, and the channels of two pushes."""
    rng = np.random.default_rng([seed, 2])
    true = (everything if seed % 2 else few)(ROBOT, rng)
    true = true._replace(motor_of=np.full(4, NONE), leads=np.ones(4))
    joints = rolled_joints(ROBOT, rng, strokes)
    record = measured_record(true, joints, rng, creep, noise)
    measured = []
    for direction in (AHEAD, LEFT):
        joints = pushed(joints[-1], direction)
        measured.append(measured_record(true, joints, rng, noise=noise).measured)
    return true, record._replace(ordered=np.zeros((len(record.time), 2))), measured


def by_both(found, measured):
    """Return what is found after both pushes."""
    for push, direction in zip(measured, (AHEAD, LEFT), strict=True):
        found = settle(ROBOT, found, push, direction)
    return found


@pytest.mark.parametrize('seed', range(3))
def test_two_casters_are_named_by_motions_and_pushes(seed):
    true, record, measured = drawn(seed)
    found = by_both(find_wiring(ROBOT, record), measured)
    assert judged(true, found) == EXACT
    assert len(found.pushes) == 2
    # 2 % of creep over some 60 windows
    gear, zero = errors(true, found.assignment)
    assert gear < 0.03 and zero < np.radians(1.0)


def test_poor_motions_leave_two_casters_undecided_and_not_wrong():
    # few motions with 3 % of creep: the likeliest wiring by them is another one
    true, record, measured = drawn(3, strokes=6, creep=0.03, noise=0.003)
    found = find_wiring(ROBOT, record)
    assert judged(true, by_both(found._replace(record=None), measured)) == WRONG
    assert judged(true, by_both(found, measured)) == UNDECIDED


def test_zeros_that_the_motions_hardly_show_are_those_of_the_pushes():
    true, record, measured = drawn(45, strokes=6, creep=0.03, noise=0.003)
    found = find_wiring(ROBOT, record)
    alone = errors(true, by_both(found._replace(record=None), measured).assignment)
    both = errors(true, by_both(found, measured).assignment)
    assert both[0] < 0.5 * alone[0] and both[1] < 0.6 * alone[1]


def test_pushes_that_contradict_each_other_are_refused():
    _, record, measured = drawn(0)
    found = settle(ROBOT, find_wiring(ROBOT, record), measured[0], AHEAD)
    # the same motion, stated as the one to the left
    with pytest.raises(WiringError, match='no wiring'):
        settle(ROBOT, found, measured[0], LEFT)


def test_windows_of_pushes_follow_those_of_the_motions():
    true, record, measured = drawn(1)
    arm = np.array([0.04, 0.04, 0.05, 0.05])
    windows = windows_of(record.measured, arm, 0.008)
    push = WiringPush(measured[0], AHEAD)
    both = with_pushes(windows, [push], arm, 0.008, (1e-4, 0.35))
    count = int(np.sum(both.push == 0))
    assert count >= 8 and len(both.windows.begin) == len(windows.begin) + count
    assert both.equations == 2 * count
    # across the push and in the turn; along it the robot is free
    assert np.all(both.known.rows[both.push < 0] == 0.0)
    assert np.all(both.known.rows[both.push == 0] @ [0.0, 1.0, 0.0] == 0.0)
    motion = np.zeros((2, len(both.push), 3))
    motion[0, both.push == 0, 1] = 0.008
    motion[1, both.push == 0, 1] = -0.008
    assert moves_so(both, motion, [push]).tolist() == [True, False]
    assert with_pushes(windows, [], arm, 0.008, (1e-4, 0.35)).known is None
