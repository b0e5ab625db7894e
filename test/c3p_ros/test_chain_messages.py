# SPDX-License-Identifier: Apache-2.0
"""Messages as values: immutable, and equal to what another process reads from the wire."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from geometry_msgs.msg import AccelStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from trajectory_msgs.msg import MultiDOFJointTrajectory  # noqa: E402

from c3p_ros.cdr import MOST_NAMES, MOST_POINTS, MOST_TEXT  # noqa: E402
from c3p_ros.messages import planar_pose  # noqa: E402
from c3p_ros.spatial_wire import OdometryWriter  # noqa: E402
from c3p_ros.trajectory_points import planar_points  # noqa: E402
from c3p_ros.wire import (  # noqa: E402
    READERS,
    AccelWriter,
    JointStateWriter,
    PlanarOdometryWriter,
    TrajectoryWriter,
)

STAMP = st.integers(-2**31, 2**31 - 1).flatmap(lambda sec: st.integers(0, 10**9 - 1).map(
    lambda nanosec: sec * 10**9 + nanosec))


def numbers(count):
    """Return a strategy of arrays of finite numbers, zeros with a minus and tiny ones included."""
    return st.lists(st.floats(-1e300, 1e300), min_size=count, max_size=count).map(np.array)


def bits(message):
    """Return a message as texts, integers and the bits of its numbers, without covariances."""
    return [np.asarray(part, float).tobytes() if name not in ('stamp', 'name', 'frame_id',
                                                              'child_frame_id') else part
            for name, part in message._asdict().items() if not name.endswith('covariance')]


def assert_same(kind, write, message):
    """Compare a value with what a reader gets from its bytes."""
    read = READERS[kind]()(write.serialize(message))
    assert type(read) is type(message)
    assert bits(read) == bits(message)


@settings(max_examples=60, deadline=None)
@given(STAMP, numbers(2), numbers(2))
def test_joint_states_are_the_same_in_process_and_from_the_wire(stamp, position, effort):
    write = JointStateWriter(['a', 'b'], ['position', 'effort'])
    message = write.message(stamp, position=position, effort=effort)
    assert message.velocity == () and message.name == ('a', 'b')
    assert_same(JointState, write, message)
    # a field that is left out is zero, whatever the message before
    assert write.message(stamp, effort=effort).position == (0.0, 0.0)


@settings(max_examples=60, deadline=None)
@given(STAMP, numbers(3), numbers(3), numbers(9))
def test_planar_odometry_is_the_same_in_process_and_from_the_wire(stamp, pose, twist, covariance):
    write = PlanarOdometryWriter('odom', 'base_link')
    message = write.message(stamp, pose, twist, covariance.reshape(3, 3),
                            covariance.reshape(3, 3))
    assert_same(Odometry, write, message)


@settings(max_examples=60, deadline=None)
@given(STAMP, numbers(7), numbers(6), numbers(36), numbers(3))
def test_spatial_messages_are_the_same_in_process_and_from_the_wire(stamp, pose, twist,
                                                                    covariance, accel):
    write = OdometryWriter('odom', 'base_link')
    assert_same(Odometry, write, write.message(stamp, pose, twist, covariance, covariance))
    write = AccelWriter('base_link')
    assert_same(AccelStamped, write, write.message(stamp, accel))


@settings(max_examples=60, deadline=None)
@given(STAMP, st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_a_trajectory_is_the_same_in_process_and_from_the_wire(stamp, count, seed):
    rng = np.random.default_rng(seed)
    pose, velocity = rng.normal(size=(2, count, 3))
    write = TrajectoryWriter('odom', 'base_link', np.cumsum(rng.uniform(0.001, 2.0, count)))
    message = write.message(stamp, pose, velocity)
    assert_same(MultiDOFJointTrajectory, write, message)
    # and what the controller makes of it
    read = READERS[MultiDOFJointTrajectory]()(write.serialize(message))
    for ours, theirs in zip(planar_points(message, 'odom'), planar_points(read, 'odom'),
                            strict=True):
        assert ours.tobytes() == theirs.tobytes()
        # kernels are compiled for arrays that can be written
        assert ours.flags.writeable


def messages():
    """Return a message of each writer, and of each reader."""
    made = [(JointState, JointStateWriter(['a'], ['effort']), {'effort': [0.5]}),
            (Odometry, PlanarOdometryWriter('odom', 'base_link'),
             {'pose': np.ones(3), 'twist': np.ones(3), 'pose_covariance': np.eye(3),
              'twist_covariance': np.eye(3)}),
            (Odometry, OdometryWriter('odom', 'base_link'), {'pose': [0.0] * 7,
                                                             'twist': [0.0] * 6}),
            (AccelStamped, AccelWriter('base_link'), {'accel': np.ones(3)}),
            (MultiDOFJointTrajectory, TrajectoryWriter('odom', 'base_link', [0.0, 0.1]),
             {'pose': np.ones((2, 3)), 'velocity': np.ones((2, 3))})]
    for kind, write, values in made:
        message = write.message(7, **values)
        yield message
        yield READERS[kind]()(write.serialize(message))


@pytest.mark.parametrize('message', messages(), ids=lambda message: type(message).__name__)
def test_a_subscriber_cannot_change_what_the_next_one_gets(message):
    for name, part in message._asdict().items():
        with pytest.raises(AttributeError):
            setattr(message, name, part)
        if isinstance(part, np.ndarray):
            with pytest.raises(ValueError, match='read-only'):
                part[...] = 0.0
            assert part.base is None or not part.base.flags.writeable
        else:
            # and no list within a tuple
            items = part if isinstance(part, tuple) else (part,)
            assert all(isinstance(item, int | float | str) for item in items)


def test_a_value_does_not_follow_the_arrays_it_was_made_of():
    """An estimator may use its arrays again, and the bytes are written later."""
    pose, twist, covariance = np.ones(3), np.ones(3), np.eye(3)
    write = PlanarOdometryWriter('odom', 'base_link')
    message = write.message(7, pose, twist, covariance, covariance)
    before = write.serialize(message)
    for values in (pose, twist, covariance):
        values[:] = 9.0
    assert write.serialize(message) == before
    assert planar_pose(message.pose, 'pose') == pytest.approx([1.0, 1.0, 1.0])
    effort = np.ones(1)
    joints = JointStateWriter(['a'], ['effort'])
    value = joints.message(7, effort=effort)
    effort[:] = 9.0
    assert value.effort == (1.0,)


def test_a_message_is_serialized_as_it_was_made_also_after_later_ones():
    write = AccelWriter('base_link')
    first, second = write.message(1, [1.0, 2.0, 3.0]), write.message(2, [4.0, 5.0, 6.0])
    late = write.serialize(second), write.serialize(first)
    assert late == (AccelWriter('base_link')(2, [4.0, 5.0, 6.0]),
                    AccelWriter('base_link')(1, [1.0, 2.0, 3.0]))


def test_joint_values_of_another_count_or_field_are_refused_by_name():
    write = JointStateWriter(['a', 'b'], ['effort'], 'wheel_effort')
    with pytest.raises(ValueError, match='wheel_effort: effort has 1 values; must have one for'):
        write.message(1, effort=[0.5])
    with pytest.raises(KeyError, match='position'):
        write.message(1, position=[0.5, 0.5])


@pytest.mark.parametrize(('writer', 'text'), [
    (lambda: JointStateWriter([f'j{k}' for k in range(MOST_NAMES + 1)], ['effort']),
     f'{MOST_NAMES + 1} names: must be at most {MOST_NAMES}'),
    (lambda: AccelWriter('x' * (MOST_TEXT + 1)), f'must have at most {MOST_TEXT}'),
    (lambda: TrajectoryWriter('odom', 'base_link', 0.1 * np.arange(MOST_POINTS + 1)),
     f'{MOST_POINTS + 1} points: must be at most {MOST_POINTS}')])
def test_a_writer_knows_the_limit_that_its_readers_would_name(writer, text):
    assert text in writer().refusal


def test_writers_of_the_size_of_a_robot_exceed_no_limit():
    for writer in (JointStateWriter([f'j{k}' for k in range(MOST_NAMES)], ['effort']),
                   TrajectoryWriter('odom', 'base_link', 0.1 * np.arange(MOST_POINTS))):
        assert writer.refusal == ''
