# SPDX-License-Identifier: Apache-2.0
"""Places and directions of wheels by turning the joints of a URDF, apart from its reader."""

from xml.etree import ElementTree

import numpy as np


def rotation(axis, angle):
    """Return the matrix of a turn about a unit axis (Rodrigues)."""
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def numbers(element, name, default):
    text = None if element is None else element.get(name)
    return np.array([float(word) for word in (text or default).split()])


def places(text, angles, base):
    """
    Return the origin (3,) and the axis (3,) of each joint in the link `base`, joints at `angles`.
    """
    robot = ElementTree.fromstring(text)
    joints = {joint.get('name'): joint for joint in robot.findall('joint')}
    below = {joint.find('child').get('link'): joint for joint in joints.values()}

    def pose(link):
        if link not in below:
            return np.eye(4)
        joint = below[link]
        result = frame(joint)
        axis = numbers(joint.find('axis'), 'xyz', '1 0 0')
        turn = np.eye(4)
        turn[:3, :3] = rotation(axis / max(np.linalg.norm(axis), 1e-12),
                                angles.get(joint.get('name'), 0.0))
        return result @ turn

    def frame(joint):
        origin = joint.find('origin')
        roll, pitch, yaw = numbers(origin, 'rpy', '0 0 0')
        own = np.eye(4)
        own[:3, :3] = (rotation([0, 0, 1], yaw) @ rotation([0, 1, 0], pitch)
                       @ rotation([1, 0, 0], roll))
        own[:3, 3] = numbers(origin, 'xyz', '0 0 0')
        return pose(joint.find('parent').get('link')) @ own

    inverse = np.linalg.inv(pose(base))
    found = {}
    for name, joint in joints.items():
        at = inverse @ frame(joint)
        axis = numbers(joint.find('axis'), 'xyz', '1 0 0')
        found[name] = at[:3, 3], at[:3, :3] @ axis / max(np.linalg.norm(axis), 1e-12)
    return found


def misplaced(text, robot, base, seed=0):
    """
    Return how far wheels stand from where the model of a robot has them, m and 1.

    Steering joints are turned by random angles q; by the model the wheel then stands at
    ``m − d e + b a`` for θ = sign q + zero, and its joint turns about −sign a.
    """
    rng = np.random.default_rng(seed)
    joints = dict.fromkeys(robot.steering_joints)
    angles = {name: rng.uniform(-3, 3) for name in joints}
    at = places(text, angles, base)
    worst = 0.0
    for i in range(robot.count):
        q = angles[robot.steering_joints[i]] if not robot.fixed[i] else 0.0
        theta = robot.steering_sign[i] * q + robot.steering_zero[i]
        forward = np.array([-np.sin(theta), np.cos(theta)])
        axle = np.array([np.cos(theta), np.sin(theta)])
        expected = (robot.hip_position[i] - robot.caster_offset[i] * forward
                    + robot.lateral_offset[i] * axle)
        place, axis = at[robot.wheel_joints[i]]
        worst = max(worst, np.abs(place[:2] - expected).max(),
                    np.abs(axis[:2] + robot.wheel_sign[i] * axle).max())
    return worst
