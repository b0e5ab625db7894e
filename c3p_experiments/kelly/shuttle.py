# SPDX-License-Identifier: Apache-2.0
"""Models of the berthing: orbiter, arm and satellite, all free, planar or spatial."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, ArrayField
from c3p_multibody.trees import Body, Joint, Tree

# orbiter and satellite: mass, radii of gyration; our values, of the size of the Shuttle
ORBITER = 9.0e4, np.array([4.0, 9.0, 9.5])
SATELLITE = 3.0e3, np.array([1.4, 1.6, 1.6])
# from the satellite's centre to its grapple fixture, in its axes
FIXTURE = np.array([-1.5, 0.0, 0.0])
SHOULDER = np.array([6.0, 0.0, 2.5])
Y = (0.0, 1.0, 0.0)
Z = (0.0, 0.0, 1.0)
X = (1.0, 0.0, 0.0)


class Berth(NamedTuple):
    """
    A version of the berthing.

    Attributes
    ----------
    tree : Tree
    base : int
        Freedoms of the orbiter, and of the satellite.
    arm : slice
        Joints of the arm in q.
    hand : str
        Last body of the arm.
    reach : (3,) array, m
        Tip of the arm in the axes of the hand.
    start, berth : arrays
        Joint angles at the capture and at the berth.
    drift : array
        Rates of the chain of the satellite before the capture.
    """

    tree: Tree
    base: int
    arm: slice
    hand: str
    reach: Array
    start: Array
    berth: Array
    drift: Array


def _body(name: str, mass: float, gyration: Array, com: ArrayField = (0.0, 0.0, 0.0)) -> Body:
    return Body(name, mass, com, mass * np.diag(gyration**2))


def _link(name: str, length: float, mass: float, axis: int = 0) -> Body:
    gyration = np.full(3, length / np.sqrt(12.0))
    gyration[axis] = 0.15
    com = np.zeros(3)
    com[axis] = length / 2
    return _body(name, mass, gyration, com)


def planar_berthing() -> Berth:
    """Return orbiter, a three-joint arm and a satellite in the plane."""
    joints = [Joint('orbiter', 'planar'), Joint('shoulder', translation=(SHOULDER[0], 0, 0)),
              Joint('elbow', translation=(6.4, 0, 0)), Joint('wrist', translation=(7.0, 0, 0)),
              Joint('satellite', 'planar')]
    bodies = [_body('orbiter', *ORBITER), _link('upper_arm', 6.4, 140.0),
              _link('forearm', 7.0, 90.0), _link('hand', 1.5, 80.0),
              _body('satellite', *SATELLITE)]
    tree = Tree.from_connection([-1, 0, 1, 2, -1], joints, bodies, (0, 0, 0))
    return Berth(tree, 3, slice(3, 6), 'hand', np.array([1.5, 0, 0]), np.array([1.0, -0.5, -0.6]),
                 np.array([1.9, -1.7, -0.9]), np.array([-0.02, 0.015, 0.004]))


def spatial_berthing() -> Berth:
    """Return orbiter, a six-joint arm and a satellite in space."""
    joints = [Joint('orbiter', 'floating'),
              Joint('shoulder_yaw', axis=Z, translation=SHOULDER),
              Joint('shoulder_pitch', axis=Y), Joint('elbow_pitch', axis=Y,
                                                     translation=(6.4, 0, 0)),
              Joint('wrist_pitch', axis=Y, translation=(7.0, 0, 0)),
              Joint('wrist_yaw', axis=Z, translation=(0.5, 0, 0)),
              Joint('wrist_roll', axis=X, translation=(0.75, 0, 0)),
              Joint('satellite', 'floating')]
    bodies = [_body('orbiter', *ORBITER), _body('shoulder', 30.0, np.full(3, 0.2)),
              _link('upper_arm', 6.4, 110.0), _link('forearm', 7.0, 90.0),
              _link('wrist', 0.5, 30.0), _link('wrist_middle', 0.75, 30.0),
              _link('hand', 0.65, 20.0), _body('satellite', *SATELLITE)]
    tree = Tree.from_connection([-1, 0, 1, 2, 3, 4, 5, -1], joints, bodies, (0, 0, 0))
    return Berth(tree, 6, slice(6, 12), 'hand', np.array([0.65, 0, 0]),
                 np.array([0.5, -1.2, 1.0, 0.5, 0.3, 0.2]),
                 np.array([-0.2, -1.9, 2.0, 0.4, -0.3, -0.2]),
                 np.array([-0.02, 0.015, 0.01, 0.004, -0.003, 0.005]))


def chain_coordinates(rotation: Array, translation: Array, count: int) -> Array:
    """
    Return q of a planar or floating chain (``R = Rz Ry Rx``) with this pose.

    Parameters
    ----------
    rotation : (3, 3) array
    translation : (3,) array, m
    count : int
        3 or 6.
    """
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    if count == 3:
        return np.array([translation[0], translation[1], yaw])
    pitch = np.arctan2(-rotation[2, 0], np.hypot(rotation[0, 0], rotation[1, 0]))
    return np.array([*translation, yaw, pitch, np.arctan2(rotation[2, 1], rotation[2, 2])])
