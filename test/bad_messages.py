# SPDX-License-Identifier: Apache-2.0
"""Messages that must not be used, per topic, with a word of the reason that a node must give."""

import math

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import (
    AccelStamped,
    PoseStamped,
    PoseWithCovarianceStamped,
    Transform,
    Twist,
    TwistStamped,
)
from nav_msgs.msg import Odometry
from robots import C3P
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint

WHEELS, JOINTS = list(C3P.wheel_joints), [*C3P.steering_joints, *C3P.wheel_joints]

# tells what a test injected from what the robot itself has said
JUNK = 'junk'
BAD = [math.nan, math.inf, -math.inf]


def stamped(kind, stamp, frame=JUNK, **fields):
    """Return a message of `kind` with header and fields."""
    message = kind(**fields)
    message.header.stamp, message.header.frame_id = stamp, frame
    return message


def put(message, path, value):
    """Set ``message.a.b.c`` for path 'a.b.c' and return the message."""
    *places, last = path.split('.')
    place = message
    for name in places:
        place = getattr(place, name)
    setattr(place, last, value)
    return message


def joints(stamp, names=None, position=None, velocity=None):
    """Return joint states, all zero where not given."""
    names = JOINTS if names is None else names
    return stamped(JointState, stamp, name=names, effort=[0.0] * len(names),
                   position=[0.0] * len(names) if position is None else position,
                   velocity=[0.0] * len(names) if velocity is None else velocity)


def efforts(stamp, effort, names=None):
    """Return a message with the wheels' efforts."""
    return stamped(JointState, stamp, name=WHEELS if names is None else names, effort=effort)


def trajectory(stamp, poses=((0.0, 0.0), (0.0, 0.02)), times=None, frame='odom',
               velocity=(0.0, 0.2)):
    """Return a reference ahead through (x, y) at `times`, 0.1 s apart when left out."""
    message = stamped(MultiDOFJointTrajectory, stamp, frame, joint_names=['base_link'])
    for k, (x, y) in enumerate(poses):
        seconds = 0.1 * k if times is None else times[k]
        point = MultiDOFJointTrajectoryPoint(
            transforms=[Transform()], velocities=[Twist()],
            time_from_start=Duration(sec=int(seconds), nanosec=round(1e9 * (seconds % 1.0))))
        put(put(point.transforms[0], 'translation.x', x), 'translation.y', y)
        put(put(point.velocities[0], 'linear.x', velocity[0]), 'linear.y', velocity[1])
        message.points.append(point)
    return message


def bad_joint_states(now):
    """Yield (message, word of the reason) for every node that takes joint states."""
    for k, value in enumerate(BAD):
        yield joints(now(), position=[0.0] * k + [value] + [0.0] * (5 - k)), JOINTS[k]
        if not math.isnan(value):
            yield joints(now(), velocity=[0.0] * (3 + k) + [value] + [0.0] * (2 - k)), 'velocity'
    yield joints(now(), position=[0.0] * 5), '5 values for 6 names'
    yield joints(now(), velocity=[0.0] * 5), '5 values for 6 names'
    yield joints(now(), names=JOINTS[:-1]), 'missing'
    yield joints(now(), names=[*JOINTS[:-1], 'arm']), 'missing'
    yield joints(now(), names=[*JOINTS, JOINTS[0]]), 'more than once'
    yield joints(now(), names=[]), 'missing'


def bad_cycle_stamps(now):
    """Yield joint states that would be good but for their stamps."""
    yield joints(now(-5.0)), 'stale'
    yield joints(now(5.0)), 'future'
    yield joints(type(now())()), 'zero'
    # for the estimator; the controller has the stamp's age to go by
    yield joints(now(-0.1)), 'out of order'


def bad_odom(now):
    """Yield odometry whose twist cannot be used."""
    for value in BAD:
        yield put(stamped(Odometry, now()), 'twist.twist.linear.x', value), f'linear.x = {value}'
        yield put(stamped(Odometry, now()), 'twist.twist.angular.z', value), 'angular.z'


def bad_pose_odom(now):
    """Yield odometry whose pose or stamp cannot be used."""
    def odom(stamp, w=1.0):
        return put(stamped(Odometry, stamp), 'pose.pose.orientation.w', w)

    for value in BAD:
        yield put(odom(now()), 'pose.pose.position.x', value), 'finite'
    yield odom(now(), w=0.0), 'not a rotation'
    yield odom(now(-5.0)), 'stale'
    yield odom(now(5.0)), 'future'
    yield odom(type(now())()), 'zero'
    yield odom(now(-0.1)), 'out of order'


def bad_accel(now):
    """Yield accelerations that no robot is asked for."""
    for value in [*BAD, 101.0, -1e300]:
        yield put(stamped(AccelStamped, now()), 'accel.linear.y', value), 'accel'


def bad_twists(now):
    """Yield stamped commands."""
    for value in BAD:
        yield put(stamped(TwistStamped, now()), 'twist.linear.x', value), f'linear.x = {value}'
        yield put(stamped(TwistStamped, now()), 'twist.angular.x', value), 'angular.x'
    yield put(stamped(TwistStamped, now(-1.0)), 'twist.linear.x', 0.1), 'stale'
    yield put(stamped(TwistStamped, now(1.0)), 'twist.linear.x', 0.1), 'future'


def bad_aheads(now):
    """Yield references ahead."""
    for value in [*BAD, 1e300]:
        yield trajectory(now(), ((0.0, 0.0), (value, 0.0))), 'points[1].position'
        yield trajectory(now(), velocity=(0.0, value)), 'points[0].linear.y'
    for field in 'xyzw':
        message = trajectory(now())
        put(message.points[1].transforms[0], f'rotation.{field}', 0.5 if field != 'w' else 0.0)
        yield message, 'points[1].orientation'
    yield trajectory(now(), ()), 'no points'
    yield trajectory(now(), times=(0.0, 0.0)), 'increase'
    yield trajectory(now(), times=(0.2, 0.3)), 'begin with 0'
    yield trajectory(now(), [(0.0, 0.0)] * 300), 'must be at most'
    yield trajectory(now(), ((0.0, 0.0), (1e6, 0.0))), 'at the limits'
    for frame in ('map', 'base_link', ''):
        yield trajectory(now(), frame=frame), 'frame'
    for field in ('transforms', 'velocities'):
        message = trajectory(now())
        setattr(message.points[1], field, [])
        yield message, field
    yield trajectory(now(-1.0)), 'stale'
    yield trajectory(now(1.0)), 'future'
    yield trajectory(type(now())()), 'zero'


def bad_plain_twists(now):
    """Yield unstamped commands."""
    for value in BAD:
        for path in ('linear.x', 'linear.y', 'linear.z', 'angular.z'):
            yield put(Twist(), path, value), f'{path} = {value}'


def bad_goals(now):
    """Yield goals."""
    def goal(stamp, frame='odom', w=1.0):
        return put(stamped(PoseStamped, stamp, frame), 'pose.orientation.w', w)

    for value in BAD:
        yield put(goal(now()), 'pose.position.y', value), 'pose.position'
        yield goal(now(), w=value), 'not a rotation'
    yield goal(now(), w=0.0), 'not a rotation'
    yield goal(now(-60.0)), 'stale'
    yield goal(now(60.0)), 'future'
    yield goal(now(), frame='the_moon'), 'the_moon'


def bad_efforts(now):
    """Yield wheel commands."""
    for k, value in enumerate(BAD):
        effort = [0.1, 0.1, 0.1]
        effort[k] = value
        yield efforts(now(), effort), f'{WHEELS[k]} is {value}'
    yield efforts(now(), [0.1, 0.1]), '2 values for 3 names'
    yield efforts(now(), []), '0 values for 3 names'
    yield efforts(now(), [0.1] * 3, [*WHEELS[:2], 'arm']), 'missing'
    yield efforts(now(), [0.1] * 4, [*WHEELS, WHEELS[0]]), 'more than once'
    yield efforts(now(), [], []), 'missing'
    # what a topic bridge sends that names all joints and gives efforts for the wheels alone
    yield efforts(now(), [0.1] * 3, JOINTS), '3 values for 6 names'
    yield efforts(now(-1.0), [0.1] * 3), 'stale'
    yield efforts(now(1.0), [0.1] * 3), 'future'
    yield efforts(type(now())(), [0.1] * 3), 'stale'


def bad_poses(now):
    """Yield poses for the odometry."""
    def pose(frame='odom', w=1.0):
        return put(stamped(PoseWithCovarianceStamped, now(), frame), 'pose.pose.orientation.w', w)

    for value in BAD:
        yield put(pose(), 'pose.pose.position.x', value), 'pose.position'
        yield pose(w=value), 'not a rotation'
    yield pose(w=0.0), 'not a rotation'
    yield pose(frame='map'), "'map'"


def joint_states_without_rates(now):
    """Yield the messages that are enough for the odometry and for laws, which use the angles."""
    yield joints(now(), velocity=[]), '0 values for 6 names'
    for k in range(6):
        yield joints(now(), velocity=[0.0] * k + [math.nan] + [0.0] * (5 - k)), JOINTS[k]


# topic, type, cases, nodes that must refuse
TOPICS = {
    'joint_states': ('joint_states', JointState, bad_joint_states,
                     ('sensed_kinematics', 'velocity_controller', 'inverse_dynamics')),
    'joint_states_rates': ('joint_states', JointState, joint_states_without_rates,
                           ('inverse_dynamics',)),
    'joint_states_stamps': ('joint_states', JointState, bad_cycle_stamps, ('sensed_kinematics',)),
    'odom': ('odom', Odometry, bad_odom, ('velocity_controller', 'inverse_dynamics')),
    'odom_pose': ('odom', Odometry, bad_pose_odom, ('position_controller',)),
    'reference_acceleration': ('reference_acceleration', AccelStamped, bad_accel,
                               ('inverse_dynamics',)),
    'cmd_vel': ('cmd_vel', TwistStamped, bad_twists, ('velocity_controller',)),
    'reference_trajectory': ('reference_trajectory', MultiDOFJointTrajectory, bad_aheads,
                             ('velocity_controller',)),
    'goal_pose': ('goal_pose', PoseStamped, bad_goals, ('position_controller',)),
    'wheel_effort': ('wheel_effort', JointState, bad_efforts, ('simulation',)),
    'set_pose': ('sensed_kinematics/set_pose', PoseWithCovarianceStamped, bad_poses,
                 ('sensed_kinematics',)),
}
