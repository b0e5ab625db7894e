# SPDX-License-Identifier: Apache-2.0
"""Which effort is whose, in both shapes of ros2_control's commands."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import caster_robots

from c3p_description import load
from c3p_hardware.joint_commands import (
    FrozenCommand,
    GroupCommand,
    JointCommandError,
    TopicCommand,
    driven_joints,
)

C3P = load('c3p')
WHEELS = ['wheel_joint_1', 'wheel_joint_2', 'wheel_joint_3']
STEERING = ['steering_joint_1', 'steering_joint_2', 'steering_joint_3']
INTERLEAVED = [name for pair in zip(STEERING, WHEELS, strict=True) for name in pair]
TORQUE = np.array([0.1, -0.2, 0.3])
NAN = math.nan


def topic_message(joints):
    """Return names and efforts as JointStateTopicSystem writes them: `joints` is {name: command}.

    Every joint is named; only one that owns an effort interface (a command that is not None) has
    an effort.
    """
    return list(joints), [command for command in joints.values() if command is not None]


@given(robot=caster_robots(), data=st.data())
def test_any_block_of_the_robot_is_read_back(robot, data):
    each = {'min_size': robot.count, 'max_size': robot.count}
    signs = st.lists(st.sampled_from([-1.0, 1.0]), **each)
    robot = replace(robot, driven=np.array(data.draw(st.lists(st.booleans(), **each).filter(any))),
                    steered=np.array(data.draw(st.lists(st.booleans(), **each))),
                    wheel_sign=np.array(data.draw(signs)),
                    steering_sign=np.array(data.draw(signs)))
    torque = np.where(robot.actuated, np.resize(data.draw(
        st.lists(st.floats(-5.0, 5.0), **each)), robot.efforts), 0.0)
    # what the joints of the description are told: signs and order are not those of the model
    told = dict(zip(robot.effort_joints, torque * robot.effort_sign, strict=True))
    block = {name: told[name] if name in driven_joints(robot) else None
             for name in data.draw(st.permutations([*robot.steering_joints, *robot.wheel_joints]))}
    names, efforts = topic_message(block)
    np.testing.assert_array_equal(TopicCommand(robot).read(names, efforts), torque)
    order = data.draw(st.permutations(driven_joints(robot)))
    assert GroupCommand(robot, order).encode(torque) == [told[name] for name in order]


@pytest.mark.parametrize('names, efforts', [
    (WHEELS, [0.1, -0.2, 0.3]),
    (WHEELS[::-1], [0.3, -0.2, 0.1]),
    # every joint owns an interface, and nobody claims that of the passive ones
    (INTERLEAVED, [NAN, 0.1, 0.0, -0.2, NAN, 0.3]),
    # another machine in the same block
    (['lift', *WHEELS], [9.0, 0.1, -0.2, 0.3])])
def test_one_effort_per_name_is_aligned(names, efforts):
    np.testing.assert_array_equal(TopicCommand(C3P).read(names, efforts), TORQUE)


@pytest.mark.parametrize('names', [
    INTERLEAVED, WHEELS + STEERING, STEERING + WHEELS,
    ['wheel_joint_1', 'steering_joint_2', 'wheel_joint_2', 'steering_joint_1', 'wheel_joint_3']])
def test_passive_joints_without_efforts_are_left_out(names):
    np.testing.assert_array_equal(TopicCommand(C3P).read(names, [0.1, -0.2, 0.3]), TORQUE)


@pytest.mark.parametrize('names, efforts, reason', [
    (INTERLEAVED, [0.1, 0.2], '2 efforts for 6 joints, 3 of them driven: ambiguous'),
    (INTERLEAVED, [0.1] * 5, '5 efforts for 6 joints.*a <ros2_control> block of their own'),
    (WHEELS, [0.1] * 4, '4 efforts for 3 joints'),
    (WHEELS, [], '0 efforts for 3 joints.*from version 1.1.0'),
    # as many efforts as wheels, and yet they may be the lift's
    (['lift', *WHEELS], [0.1, 0.2, 0.3], r"\['lift'\] may own an effort"),
    (WHEELS[:2], [0.1, 0.2], r"no effort for \['wheel_joint_3'\]"),
    ([*STEERING, *WHEELS[:2]], [0.1, 0.2], r"no effort for \['wheel_joint_3'\]"),
    (['wheel_joint_1', *WHEELS], [0.1] * 4, r"\['wheel_joint_1'\] are named more than once"),
    (STEERING, [0.1] * 3, r'no effort for .*wheel_joint_1'),
    ([], [], 'no effort for'),
    (INTERLEAVED, [0.5, 0.1, NAN, 0.1, NAN, 0.1], 'effort 0.5 for steering_joint_1.*passive'),
    (INTERLEAVED, [math.inf, 0.1, NAN, 0.1, NAN, 0.1], 'effort inf for steering_joint_1')])
def test_what_would_be_a_guess_is_refused_with_its_reason(names, efforts, reason):
    reader = TopicCommand(C3P)
    with pytest.raises(JointCommandError, match=reason):
        reader.read(names, efforts)
    # and is forgotten
    np.testing.assert_array_equal(reader.read(WHEELS, list(TORQUE)), TORQUE)


@pytest.mark.parametrize('bad', [NAN, math.inf, -math.inf])
@pytest.mark.parametrize('place', range(3))
def test_one_effort_that_is_not_finite_makes_it_no_command(bad, place):
    efforts = list(TORQUE)
    efforts[place] = bad
    assert TopicCommand(C3P).read(INTERLEAVED, efforts) is None
    assert TopicCommand(C3P).read(WHEELS, [NAN] * 3) is None


def test_a_layout_that_changes_is_found_out_again():
    reader, names = TopicCommand(C3P), list(WHEELS)
    np.testing.assert_array_equal(reader.read(names, [1.0, 2.0, 3.0]), [1.0, 2.0, 3.0])
    names[0], names[2] = names[2], names[0]  # the same list, as a reader of messages may give it
    np.testing.assert_array_equal(reader.read(names, [1.0, 2.0, 3.0]), [3.0, 2.0, 1.0])


def test_a_wheel_without_motor_is_passive_and_signs_are_those_of_the_description():
    robot = replace(C3P, driven=np.array([True, False, True]),
                    wheel_sign=np.array([1.0, 1.0, -1.0]))
    torque = np.array([0.1, 0.0, 0.3])
    names, efforts = topic_message({name: None if name not in ('wheel_joint_1', 'wheel_joint_3')
                                    else 0.1 if name == 'wheel_joint_1' else -0.3
                                    for name in INTERLEAVED})
    np.testing.assert_array_equal(TopicCommand(robot).read(names, efforts), torque)
    assert GroupCommand(robot).encode(torque) == [0.1, -0.3]


@pytest.mark.parametrize('joints', [
    WHEELS[:2], [*WHEELS, 'wheel_joint_1'], [*WHEELS, 'steering_joint_1'], ['lift']])
def test_an_order_that_is_not_that_of_the_driven_wheels_is_refused(joints):
    with pytest.raises(JointCommandError, match=r"joints = .*must be the driven joints \['wheel_"):
        GroupCommand(C3P, joints)


def test_torques_that_change_or_are_zero_are_never_frozen():
    frozen = FrozenCommand(0.5)
    for k in range(100):
        # the last bit is enough
        assert frozen.age(np.nextafter(TORQUE, k % 2), 0.1 * k) == 0.0
    for k in range(100):
        assert frozen.age(np.zeros(3), 10.0 + 0.1 * k) == 0.0


def test_torques_that_are_held_are_frozen_until_they_change():
    frozen = FrozenCommand(0.5)
    ages = [frozen.age(TORQUE, 0.1 * k) for k in range(10)]
    assert ages[:6] == [0.0] * 6 and ages[6:] == pytest.approx([0.6, 0.7, 0.8, 0.9])
    assert frozen.age(-TORQUE, 1.0) == 0.0
    # the array of the caller may be written again
    held = TORQUE.copy()
    assert frozen.age(held, 2.0) == 0.0
    held[0] = 0.0
    assert frozen.age(held, 2.6) == 0.0


def test_zero_timeout_never_freezes_and_a_negative_one_is_refused():
    frozen = FrozenCommand(0.0)
    assert [frozen.age(TORQUE, now) for now in (0.0, 1e6)] == [0.0, 0.0]
    with pytest.raises(JointCommandError, match='frozen_timeout = -1'):
        FrozenCommand(-1.0)
