# SPDX-License-Identifier: Apache-2.0
"""Search for the wiring on synthetic records: named, ties found, bad records refused."""

from dataclasses import replace

import numpy as np
import pytest
from commissioning_records import (
    STEP,
    measured_record,
    rolled_joints,
    uneven_robot,
)

from c3p_description.model import CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_experiments.commissioning.trial import errors
from c3p_experiments.commissioning.wired import everything, few
from c3p_kinematics.casters import inverse
from c3p_kinematics.commissioning.assignment import NONE, as_described, channels_of
from c3p_kinematics.commissioning.motions import WiringMotions
from c3p_kinematics.commissioning.search import (
    SearchSettings,
    WiringError,
    displacement,
    find_wiring,
    settle,
)
from c3p_kinematics.commissioning.ties import parts_wrong, separated


def of_encoders(wiring, robot):
    """Return a wiring without motors: a record without torques knows none."""
    return wiring._replace(motor_of=np.full(2 * robot.count, NONE),
                           leads=np.ones(2 * robot.count))


@pytest.mark.parametrize('count', [3, 4, 5])
@pytest.mark.parametrize('seed', range(2))
def test_uneven_robots_are_named_exactly(count, seed):
    rng = np.random.default_rng([seed, count])
    robot = uneven_robot(rng, count)
    true = of_encoders((everything if seed % 2 else few)(robot, rng), robot)
    record = measured_record(true, rolled_joints(robot, rng), rng, creep=0.01, noise=0.001,
                             counts=4096)
    found = find_wiring(robot, record)
    gear, zero = errors(true, found.assignment)
    # 1 % of creep over a window of 8 mm, and tens of windows
    assert gear < 0.02 and zero < np.radians(1.5), (true, found)
    assert found.probability > 0.999
    assert not found.undecided
    assert found.residual < 1.5
    assert np.all(np.abs(np.log(found.assignment.gear / true.gear))[count:]
                  < 5.0 * found.deviation.gear[count:] + 1e-3)


def test_exact_rolling_leaves_nothing_and_gears_are_exact():
    rng = np.random.default_rng(5)
    robot = uneven_robot(rng, 3)
    true = of_encoders(everything(robot, rng), robot)
    found = find_wiring(robot, measured_record(true, rolled_joints(robot, rng), rng))
    gear, zero = errors(true, found.assignment)
    # a window of 8 mm takes the turn as uniform, and the prior of the gears pulls a little
    assert gear < 5e-3 and zero < np.radians(0.3)
    assert found.residual < 0.2


@pytest.mark.parametrize(('robot', 'count'), [
    (load_casters('c3p'), 6), (load_casters('powered_caster'), 4),
    (CasterRobot.regular(0.35, np.radians([45, 135, 225, 315]), 0.04, 0.05, 40.0, 4.5,
                         torque_limit=1.2), 8)], ids=['c3p', 'powered_caster', 'square'])
def test_robots_with_symmetry_are_ties_that_a_push_ahead_and_to_the_left_settles(robot, count):
    rng = np.random.default_rng(3)
    true = of_encoders(everything(robot, rng), robot)
    joints = rolled_joints(robot, rng)
    found = find_wiring(robot, _without_torques(robot, measured_record(true, joints, rng,
                                                                       creep=0.01)))
    told = [found.assignment, *(w for w, _ in found.others)]
    # as many as turns and reflections that map the pivots onto themselves
    assert len(told) == count
    assert any(errors(true, w)[0] < 0.03 for w in told)
    assert separated(found)
    assert 'push it ahead' in ' '.join(found.undecided)
    assert 'to the left' in ' '.join(found.undecided)
    for direction in ((0.0, 1.0), (-1.0, 0.0)):
        push = measured_record(true, _pushed(robot, joints[-1], direction), rng)
        found = settle(robot, found, push.measured, direction)
    assert not found.undecided and found.probability == pytest.approx(1.0)
    gear, zero = errors(true, found.assignment)
    assert gear < 0.03 and zero < np.radians(1.5)


def _without_torques(robot, record):
    motors = len(channels_of(robot).motors)
    return record._replace(ordered=np.zeros((len(record.time), motors)))


def _pushed(robot, joints, direction):
    n = robot.count
    steering, wheels = joints[:n].copy(), joints[n:].copy()
    rows = [np.concatenate([steering, wheels])]
    for _ in range(80):
        rolling, rate, _ = inverse(robot, steering, (*(0.05 * np.array(direction)), 0.0))
        steering = steering + STEP * rate
        wheels = wheels + STEP * rolling
        rows.append(np.concatenate([steering, wheels]))
    return np.array(rows)


def test_displacement_is_that_of_the_push():
    robot = load_casters('c3p')
    rng = np.random.default_rng(1)
    true = everything(robot, rng)
    joints = _pushed(robot, np.append(rng.uniform(-3, 3, 3), np.zeros(3)), (0.6, 0.8))
    record = measured_record(true, joints, rng)
    # all but the last, incomplete, window of 4 mm
    assert displacement(robot, true, record.measured) == pytest.approx(
        [0.048, 0.064, 0.0], abs=0.006)


def test_a_dead_encoder_is_named():
    robot = load_casters('c3p')
    rng = np.random.default_rng(2)
    record = measured_record(as_described(robot), rolled_joints(robot, rng), rng)
    record.measured[:, 4] = 0.7
    with pytest.raises(WiringError, match=r'encoder wheel_joint_2 does not count'):
        find_wiring(robot, record)


def test_a_short_record_is_refused_with_what_is_needed():
    robot = load_casters('c3p')
    rng = np.random.default_rng(2)
    record = measured_record(as_described(robot), rolled_joints(robot, rng, 1), rng)
    with pytest.raises(WiringError, match=r'too short .* 0\.16 m are needed'):
        find_wiring(robot, record)


def test_a_loose_encoder_has_no_wiring():
    robot = load_casters('c3p')
    rng = np.random.default_rng(2)
    record = measured_record(as_described(robot), rolled_joints(robot, rng), rng)
    record.measured[:, 0] += 0.8 * np.sin(3.0 * record.time)
    with pytest.raises(WiringError, match=r'no wiring explains the motion: the best leaves'):
        find_wiring(robot, record)


def test_a_record_that_is_not_finite_is_refused():
    robot = load_casters('c3p')
    rng = np.random.default_rng(2)
    record = measured_record(as_described(robot), rolled_joints(robot, rng), rng)
    record.measured[3, 0] = np.nan
    with pytest.raises(WiringError, match='must be finite'):
        find_wiring(robot, record, SearchSettings())


def test_robots_whose_channels_are_not_found_so_are_refused():
    swerve = load_casters('swerve')
    with pytest.raises(ValueError, match=r'is below its pivot .* `c3p commission --by-hand`'):
        find_wiring(swerve, measured_record(as_described(swerve), np.zeros((9, 8)),
                                            np.random.default_rng(0)))
    with pytest.raises(ValueError, match='is below its pivot'):
        WiringMotions(replace(swerve, caster_offset=np.array([0.0, 0.05, 0.0, 0.05])))
    with pytest.raises(ValueError, match='one wheel each'):
        channels_of(load_casters('twin'))


def test_the_parts_that_are_wrong_are_counted_as_a_builder_would():
    robot = load_casters('powered_caster')
    right = as_described(robot)
    assert parts_wrong(robot, right) == 0
    # a whole module at another place is two parts, one for each place
    swap = np.array([1, 0, 2, 3, 5, 4, 6, 7])
    module = right._replace(encoder_of=right.encoder_of[swap], motor_of=right.motor_of[swap])
    assert parts_wrong(robot, module) == 2
    back = np.ones(8)
    back[4] = -1.0
    assert parts_wrong(robot, right._replace(gear=back, leads=back)) == 1
    assert parts_wrong(robot, right._replace(gear=back)) == 1
    turned = np.append(np.full(4, 0.5), np.zeros(4))
    assert parts_wrong(robot, right._replace(zero=turned)) == 1
