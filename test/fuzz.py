# SPDX-License-Identifier: Apache-2.0
"""Random messages, from almost right to nonsense, reproducible by their generator."""

import math

from bad_messages import JOINTS, TOPICS, WHEELS, stamped, trajectory
from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import MultiDOFJointTrajectory

ODD = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-320, 1e308, -1e308, 1e19, 2.0**53]
FRAMES = ['', 'odom', 'base_link', 'map', 'ö', '/', 'x' * 300]
SHIFTS = [0.0, -0.001, 0.001, -0.1, 0.05, -0.3, 0.3, -5.0, 5.0, -1e6]


def random_number(rng):
    """Return something between ordinary and impossible."""
    kind = rng.integers(4)
    if kind == 0:
        return ODD[rng.integers(len(ODD))]
    return float(rng.normal() * 10.0 ** rng.integers(-3, 4 if kind < 3 else 300))


def random_stamp(rng, now):
    """Return a stamp, mostly near now."""
    if rng.integers(10) == 0:
        return Time(sec=int(rng.integers(-2**31, 2**31)), nanosec=int(rng.integers(2**32)))
    return now(SHIFTS[rng.integers(len(SHIFTS))])


def fill(rng, place):
    """Fill every number of a message, at any depth, with something random."""
    for name, kind in place.get_fields_and_field_types().items():
        value = getattr(place, name)
        if kind == 'double':
            setattr(place, name, random_number(rng))
        elif kind.startswith('double['):
            setattr(place, name, [random_number(rng) for _ in value])
        elif hasattr(value, 'get_fields_and_field_types') and name != 'header':
            fill(rng, value)


def random_joints(rng, message):
    """Fill names and values of a JointState, often with sizes and names that do not fit."""
    pool = [*JOINTS, *WHEELS, 'arm', '']
    names = [[*JOINTS], [*WHEELS], [pool[k] for k in rng.integers(len(pool), size=6)],
             []][rng.integers(4)]
    rng.shuffle(names)
    message.name = [str(name) for name in names]
    for field in ('position', 'velocity', 'effort'):
        size = len(names) if rng.integers(4) else int(rng.integers(0, 9))
        setattr(message, field, [random_number(rng) for _ in range(size)])
    return message


def random_trajectory(rng, stamp):
    """Return a trajectory, sometimes one that could be followed, of the wrong frame or shape."""
    count = int(rng.integers(0, 6))
    message = trajectory(
        stamp, rng.normal(size=(count, 2)) * 10.0 ** rng.integers(-3, 3), frame='odom' if
        rng.integers(4) else FRAMES[rng.integers(len(FRAMES))], velocity=rng.normal(size=2))
    for point in message.points:
        kind = rng.integers(8)
        if kind == 0:
            fill(rng, point.transforms[0])
        elif kind == 1:
            fill(rng, point.velocities[0])
        elif kind == 2:
            point.transforms = list(point.transforms) * int(rng.integers(3))
        elif kind == 3:
            point.time_from_start.sec = int(rng.integers(-5, 5))
    return message


def random_message(rng, topic, now, kind=None):
    """Return a random message of `kind`, or of the type that `topic` has."""
    kind = kind or next((k for t, k, *_ in TOPICS.values() if t == topic), JointState)
    message = kind()
    if hasattr(message, 'header'):
        message = stamped(kind, random_stamp(rng, now))
    if kind is JointState:
        return random_joints(rng, message)
    if kind is MultiDOFJointTrajectory:
        return random_trajectory(rng, message.header.stamp)
    fill(rng, message)
    if topic in ('goal_pose', 'sensed_kinematics/set_pose'):
        message.header.frame_id = FRAMES[rng.integers(len(FRAMES))]
    return message
