# SPDX-License-Identifier: Apache-2.0
"""A bag and the messages in it tell the same moments; what is old or unknown is not shown."""

import dataclasses

import numpy as np
import pytest
from synthetic import Messages, opened, read_raw, topics_of

from c3p_bags.runs.run_log import Series
from c3p_bags.storage.bag_writer import message_types
from c3p_description.reading.loader import load
from c3p_viewers.mujoco.pictures import numbers
from c3p_viewers.scene.shapes import Arrow
from c3p_viewers.sources.bag_source import BagSource
from c3p_viewers.sources.moment import joint_positions, scene_of
from c3p_viewers.sources.moment_reader import MomentReader
from c3p_viewers.sources.newest import topic_below


def test_a_moment_between_samples_is_between_them(source):
    joints = source.log.joints
    early, late = (source.at(t) for t in joints.time[40:42])
    middle = source.at(joints.time[40:42].mean())
    for name in ('steering', 'wheel_angle', 'pose', 'twist'):
        np.testing.assert_allclose(getattr(middle, name),
                                   (getattr(early, name) + getattr(late, name)) / 2, atol=1e-12)
    np.testing.assert_array_equal(early.steering, joints.steering[40])


def test_before_the_start_and_after_the_end_it_is_the_first_and_the_last(source):
    assert source.at(-5.0).time == source.start and source.at(1e9).time == source.end
    np.testing.assert_array_equal(source.at(1e9).steering, source.log.joints.steering[-1])


def test_halfway_is_where_half_of_the_way_is_behind(source):
    pose = source.at(source.halfway).pose
    # a straight line of 1.118 m with the sway of the start
    assert np.hypot(*pose[:2]) == pytest.approx(np.hypot(1.0, 0.5) / 2, abs=0.05)
    assert 0 < len(source.driven(source.halfway)) < len(source.path)


def test_the_goal_appears_when_it_arrives_and_stays(source):
    assert source.at(0.2).goal is None
    for time in (0.6, source.end):
        np.testing.assert_allclose(source.at(time).goal, [1.0, 0.5, 0.4], atol=1e-12)


def test_the_slipping_wheel_is_named_while_it_slips(robot, source):
    assert source.at(1.3).suspect == 1 and source.at(2.0).suspect is None
    shown = {shape.name: shape for shape in scene_of(robot, source.at(1.3))}
    # 6 cm/s across, drawn as the way of two seconds
    assert isinstance(shown['slip_2'], Arrow)
    assert np.linalg.norm(shown['slip_2'].end - shown['slip_2'].start) == pytest.approx(
        0.12, abs=0.02)
    assert 'suspect_2' in shown and 'suspect_1' not in shown


def test_what_is_too_old_says_nothing(robot, source):
    log = source.log
    cut = dataclasses.replace(log, cmd_vel=log.cmd_vel._replace(
        time=log.cmd_vel.time[:30], value=log.cmd_vel.value[:30]))
    last = cut.cmd_vel.time[-1]
    moments = [type(source)(cut).at(last + later) for later in (0.4, 0.6)]
    assert moments[0].command is not None and moments[1].command is None


def test_without_odometry_the_robot_stands_where_it_truly_is(source):
    blind = type(source)(dataclasses.replace(source.log, odom=None))
    moment = blind.at(2.0)
    assert moment.pose is None and moment.twist is None
    np.testing.assert_allclose(moment.place, moment.truth)
    lost = type(source)(dataclasses.replace(source.log, odom=None, ground_truth=None))
    np.testing.assert_array_equal(lost.at(2.0).place, np.zeros(3))


def test_messages_one_by_one_tell_the_same_as_the_bag(robot, source, viewed_bag):
    """The reader of live topics against the reader of bags, on the same bytes."""
    reader, kinds = MomentReader(robot), {t: k for t, (k, _) in topics_of(viewed_bag).items()}
    start, _ = opened(lambda bag: bag.span, viewed_bag)
    compared, last = 0, None
    for message in read_raw(viewed_bag):
        if message.topic == '/joint_states' and reader.received('joint_states'):
            # everything of the cycle before has come
            heard = reader.moment(last)
            recorded = source.at(heard.time)
            for name in ('steering', 'steering_rate', 'wheel_angle', 'wheel_rate', 'pose',
                         'twist', 'truth', 'command', 'torque', 'residual', 'goal'):
                one, other = getattr(heard, name), getattr(recorded, name)
                # the goal has the time of a cycle, and stands before or behind it in the file
                if name == 'goal' and abs(heard.time - 0.5) < 0.05:
                    continue
                assert (one is None) == (other is None), (name, heard.time)
                if one is not None:
                    # yaw in a bag is continuous; this one never passes ±π
                    np.testing.assert_allclose(one, other, atol=1e-9, err_msg=name)
            assert heard.suspect == recorded.suspect
            compared += 1
        last = (message.time - start) * 1e-9
        reader.put(topic_below(message.topic, ''), message.data, last, kinds[message.topic])
    assert compared == len(source.log.joints.time) - 1


def test_the_reader_leaves_out_what_it_cannot_use(robot, viewed_bag):
    reader = MomentReader(robot)
    assert reader.moment(0.0) is None
    joints = next(m.data for m in read_raw(viewed_bag, ['/joint_states']))
    odom = next(m.data for m in read_raw(viewed_bag, ['/odom']))
    reader.put('joint_states', joints, 0.0)
    # cut off, as another type, and of a topic that nobody wants
    reader.put('odom', odom[:40], 0.0)
    reader.put('cmd_vel', b'', 0.0)
    reader.put('camera/image', b'...', 0.0)
    moment = reader.moment(0.1)
    assert moment.pose is None and moment.command is None and moment.time == 0.0
    # nothing comes any more
    assert reader.moment(0.6) is None and reader.received('joint_states')


def test_joint_positions_are_those_of_the_description(robot, source):
    turned = dataclasses.replace(robot, steering_sign=[-1, 1, 1], steering_zero=[0.3, 0.0, 0.0],
                                 wheel_sign=[1, 1, -1])
    moment = source.at(2.0)
    positions = joint_positions(turned, moment.steering, moment.wheel_angle)
    assert positions['steering_joint_1'] == pytest.approx(-(moment.steering[0] - 0.3))
    assert positions['wheel_joint_3'] == pytest.approx(-moment.wheel_angle[2])
    assert len(positions) == 6


def test_torques_of_steering_motors_stand_apart_from_those_of_wheels(source):
    powered, base = load('powered_caster'), source.log
    count = powered.count
    wide = base.joints._replace(**{name: np.resize(getattr(base.joints, name), (
        len(base.joints.time), count)) for name in base.joints._fields[1:]})
    efforts = np.tile(np.arange(1.0, 2 * count + 1), (len(base.joints.time), 1))
    log = dataclasses.replace(base, joints=wide, slip=None,
                              wheel_effort=Series(base.joints.time, efforts))
    moment = BagSource(log).at(1.0)
    np.testing.assert_array_equal(moment.torque, [1, 2, 3, 4])
    np.testing.assert_array_equal(moment.steering_torque, [5, 6, 7, 8])
    assert ('of steering', '+5.00  +6.00  +7.00  +8.00 N·m') in numbers(powered, moment)
    assert source.at(1.0).steering_torque is None
    # one message after the other
    reader = MomentReader(powered)
    make = Messages(message_types())
    names = [*powered.steering_joints, *powered.wheel_joints]
    still = [0.1] * (2 * count)
    for topic, message in (
            ('joint_states', make.joints(1000, names, still, still, still)),
            ('wheel_effort', make.joints(1000, powered.effort_joints, [], [], efforts[0]))):
        data = message_types().serialize_cdr(message, message.__msgtype__)
        reader.put(topic, bytes(data), 1.0, message.__msgtype__)
    heard = reader.moment(1.0)
    np.testing.assert_array_equal(heard.torque, moment.torque * powered.wheel_sign)
    np.testing.assert_array_equal(heard.steering_torque,
                                  moment.steering_torque * powered.steering_sign)
