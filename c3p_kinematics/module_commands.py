# SPDX-License-Identifier: Apache-2.0
"""
Commands of steered wheels below their pivots: angles and rates that give a twist.

A wheel below its pivot must point along the path of the pivot before it rolls. It can do so in two
ways, rolling forward or backward; the nearer one is taken. Where both are about as far, at a right
angle, noise would turn some modules one way and some the other, and the platform would swing: all
modules in doubt decide together, and keep what they do unless the other way is clearly shorter.

Meanwhile the speed of all wheels has one factor, cos² of the largest remaining angle, so that the
direction of the motion is kept. Steering rates are scaled as a whole, and all modules arrive
together. Wheels beside their pivots also roll where they turn, so that the platform stands.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.rolling import rolling_rates

# speed of a pivot below which its module stays as it is, m/s
STANDING = 1e-3

# from a right angle, rad: modules within it decide together
DOUBT = math.radians(15.0)

# by which the other way must be shorter for them, rad
CLEARLY = math.radians(5.0)


class ModuleCommand(NamedTuple):
    """
    Commands of one cycle.

    Attributes
    ----------
    steering : (n,) array, rad
        Angles at the end of the cycle, continuous with those given.
    steering_rate, wheel_rate : (n,) array, rad/s
    twist : (3,) array, m/s and rad/s
        Motion of the platform that the wheels make, ``base_link``: what fixed wheels allow of the
        command, with the factor of the speed.
    """

    steering: Array
    steering_rate: Array
    wheel_rate: Array
    twist: Array


def allowed_twist(robot: CasterRobot, twist: ArrayLike) -> Array:
    """
    Return the part of a twist (3,) with which no fixed wheel slides sideways.

    The part that remains is nearest in the speeds of points at the mean distance of the pivots.

    Examples
    --------
    >>> from c3p_description import load
    >>> (allowed_twist(load('amr'), [0.3, 0.2, 0.5]).round(12) + 0.0).tolist()
    [0.3, 0.0, 0.5]
    """
    nu = np.asarray(twist, float)
    if not robot.fixed.any():
        return nu
    size = float(np.sqrt(np.mean(np.sum(robot.hip_position**2, axis=1)))) or 1.0
    scale = np.array([1.0, 1.0, size])
    # columns: side slip of the fixed wheels in a motion along each axis
    slips = np.column_stack([rolling_rates(robot, np.zeros(robot.count), unit).side_slip
                             for unit in np.eye(3)])[robot.fixed] / scale
    _, values, rows = np.linalg.svd(slips)
    barred = rows[:int(np.sum(values > 1e-9))]
    scaled = nu * scale
    return (scaled - barred.T @ (barred @ scaled)) / scale


class ModuleSteering:
    """
    Commands of the modules of one robot, which remembers the way that each rolls.

    Parameters
    ----------
    robot : CasterRobot
        On wheels of any kind; those that steer below their pivots are commanded.

    Examples
    --------
    >>> from c3p_description import load
    >>> modules = ModuleSteering(load('swerve'))
    >>> command = modules.step([0.0] * 4, [0.0, -0.508, 0.0], 0.01)  # straight back: reversed
    >>> command.steering_rate.tolist(), command.wheel_rate.round(6).tolist()
    ([0.0, 0.0, 0.0, 0.0], [-10.0, -10.0, -10.0, -10.0])
    """

    def __init__(self, robot: CasterRobot) -> None:
        """Store the robot; wheels roll forward until a command reverses them."""
        self.robot = robot
        self._steers = ~robot.fixed & (robot.caster_offset == 0.0)
        self._pivots = robot.hip_position @ np.array([1.0, 1.0j])
        self._backward = np.zeros(robot.count, bool)

    def step(self, steering: ArrayLike, twist: ArrayLike, dt: float) -> ModuleCommand:
        """
        Return the commands of a cycle of `dt` [s] towards the motion `twist` (3,).

        `steering` (n,) are the present angles, rad. At standstill they are kept.
        """
        robot = self.robot
        angles = np.asarray(steering, float)
        wanted = allowed_twist(robot, twist)
        velocity = complex(wanted[0], wanted[1]) + 1j * wanted[2] * self._pivots
        moves = self._steers & (np.abs(velocity) > STANDING)
        # angle to the path of the pivot, rolling forward
        ahead = np.where(moves, _wrapped(np.angle(velocity) - 0.5 * np.pi - angles), 0.0)
        turn = self._turns(ahead, moves)
        rates = np.abs(turn) / robot.steering_rate_limit
        share = 1.0 if dt >= rates.max() else dt / float(rates.max())
        turned = share * turn
        factor = float(np.cos(np.abs(turn - turned).max()))**2 if moves.any() else 1.0
        rate = turned / dt
        motion = wanted * factor
        rolled = rolling_rates(robot, angles + turned, motion, rate)
        return ModuleCommand(angles + turned, rolled.steering_rate, rolled.wheel_rate, motion)

    def _turns(self, ahead: Array, moves: Array) -> Array:
        """Return the angles (n,) by which modules turn, from those for rolling forward."""
        back = _wrapped(ahead - np.pi)
        self._backward = self._decided(ahead, back, moves)
        return np.where(moves, np.where(self._backward, back, ahead), 0.0)

    def _decided(self, ahead: Array, back: Array, moves: Array) -> Array:
        """Return which modules roll backward: the nearer way, and one for those in doubt."""
        nearer = np.abs(back) < np.abs(ahead)
        doubt = moves & (np.abs(np.abs(ahead) - 0.5 * np.pi) < DOUBT)
        kept = np.where(moves & ~doubt, nearer, self._backward)
        if not doubt.any():
            return kept
        keep = np.where(kept, np.abs(back), np.abs(ahead))[doubt].max()
        turn = np.where(kept, np.abs(ahead), np.abs(back))[doubt].max()
        return np.where(doubt, ~kept, kept) if turn < keep - CLEARLY else kept


def _wrapped(angle: Array) -> Array:
    """Return angles in (−π, π]."""
    return np.pi - np.mod(np.pi - angle, 2.0 * np.pi)
