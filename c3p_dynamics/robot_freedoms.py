# SPDX-License-Identifier: Apache-2.0
"""Summary of what the motors of a caster robot control, for pages and checks before a drive."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from c3p_description.model import Array, CasterRobot
from c3p_dynamics.freedoms import driven_freedoms, motors
from c3p_dynamics.motion_freedoms import BALANCED, MotionFreedoms, motion_freedoms

# speed and curvature of the motions of the summary, m/s and 1/m; the turn in place in rad/s
SPEED = 0.3
CURVATURE = 2.0 / 3.0
TURN = 0.5

# headings that are tried to balance a path
HEADINGS = 36

# what of a reference motion can be held
POSE = 'pose'
PATH = 'path'
NOTHING = 'nothing'


class PathFreedoms(NamedTuple):
    """
    Part of a steady motion that motors can hold.

    Attributes
    ----------
    name : str
        ``line``, ``sideways``, ``circle`` (nose forward), ``sideways_circle``, ``spin``.
    motion : MotionFreedoms
        With the heading of the reference.
    headings : (m,) array, rad
        Directions of travel in ``base_link`` at which torques balance the path; empty
        without such a direction, and for the spin.
    """

    name: str
    motion: MotionFreedoms
    headings: Array

    @property
    def holds(self) -> str:
        """``pose``: path, speed and heading; ``path``: with another heading; ``nothing``."""
        if self.motion.balanced:
            return POSE
        return PATH if len(self.headings) else NOTHING


class RobotFreedoms(NamedTuple):
    """
    Freedoms that the motors of a robot control.

    Attributes
    ----------
    motors : int
        Driven wheels with a load.
    driven_freedoms : int
        Accelerations of the platform at an instant, 0 to 3.
    paths : tuple of PathFreedoms
        Steady motions.
    """

    motors: int
    driven_freedoms: int
    paths: tuple[PathFreedoms, ...]

    @property
    def heading_free(self) -> bool:
        """The heading has to be given up on paths: there are fewer motors than freedoms."""
        return self.driven_freedoms < 3

    def text(self) -> str:
        """Return sentences for a page."""
        wheels = f'{self.motors} driven wheel{"" if self.motors == 1 else "s"}'
        if not self.heading_free:
            return f'{wheels} control place and heading independently.'
        held = {what: [path.name for path in self.paths if path.holds == what]
                for what in (POSE, PATH, NOTHING)}
        parts = [f'{wheels} accelerate {self.driven_freedoms} of the 3 freedoms at an instant.']
        for what, meaning in ((POSE, 'with the heading of the reference'),
                              (PATH, "with a heading of the robot's own"),
                              (NOTHING, 'not steadily with any heading')):
            if held[what]:
                parts.append(f'{", ".join(held[what]).replace("_", " ")}: {meaning}.')
        return ' '.join(parts)


def balancing_headings(robot: CasterRobot, speed: float, curvature: float) -> Array:
    """
    Return the directions of travel in ``base_link``, rad, at which a circle is balanced.

    The robot travels at `speed`, m/s, on a path of `curvature`, 1/m, and its heading keeps the
    angle to the path. With fewer motors than freedoms the others need a yaw that is not steady.
    """
    def unbalanced(heading: float) -> float:
        twist = [speed * math.cos(heading), speed * math.sin(heading), speed * curvature]
        return motion_freedoms(robot, twist, steps=1).unbalanced

    angles = 2.0 * np.pi / HEADINGS * np.arange(HEADINGS)
    values = np.array([unbalanced(angle) for angle in angles])
    good = values <= BALANCED
    found = angles[good].tolist()
    step = angles[1]
    for k in range(HEADINGS):
        left = k - 1
        right = (k + 1) % HEADINGS
        if good[[left, k, right]].any() or values[k] > min(values[left], values[right]):
            continue
        best = minimize_scalar(unbalanced, bounds=(angles[k] - step, angles[k] + step),
                               method='bounded', options={'xatol': 1e-5})
        if best.fun <= BALANCED:
            found.append(best.x % (2.0 * np.pi))
    return np.array(sorted(found))


def robot_freedoms(robot: CasterRobot) -> RobotFreedoms:
    """
    Return what the motors of `robot` control.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from c3p_description import load
    >>> robot_freedoms(load('c3p')).text()
    '3 driven wheels control place and heading independently.'
    >>> two = robot_freedoms(replace(load('c3p'), driven=[True, True, False]))
    >>> two.driven_freedoms, two.heading_free
    (2, True)
    """
    return _robot_freedoms(robot)


@lru_cache(maxsize=16)
def _robot_freedoms(robot: CasterRobot) -> RobotFreedoms:
    paths = []
    for name, direction, curvature in (
            ('line', 0.0, 0.0), ('sideways', 0.5 * math.pi, 0.0), ('circle', 0.0, CURVATURE),
            ('sideways_circle', 0.5 * math.pi, CURVATURE)):
        motion = motion_freedoms(robot, [SPEED * math.cos(direction), SPEED * math.sin(direction),
                                         SPEED * curvature])
        paths.append(PathFreedoms(name, motion, np.zeros(0) if motion.balanced
                                  else balancing_headings(robot, SPEED, curvature)))
    spin = motion_freedoms(robot, [0.0, 0.0, TURN])
    paths.append(PathFreedoms('spin', spin, np.zeros(0)))
    return RobotFreedoms(len(motors(robot)), driven_freedoms(robot), tuple(paths))
