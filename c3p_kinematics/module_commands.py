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

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.module_plan import STANDING, ModuleCommand, ModulePlan
from c3p_kinematics.module_settings import ModuleSettings
from c3p_kinematics.module_ways import turns_to
from c3p_kinematics.rolling import rolling_rates

# largest slip of fixed wheels, relative to that across their axle, with which they stand on one:
# files round angles and places, and the reader takes wheels as parallel up to 0.02 rad
ONE_AXLE = 0.1

__all__ = ['ModuleCommand', 'ModuleSteering', 'allowed_twist']


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
    barred, scale = _barred(robot)
    scaled = nu * scale
    return (scaled - barred.T @ (barred @ scaled)) / scale


@lru_cache(maxsize=64)
def _barred(robot: CasterRobot) -> tuple[Array, Array]:
    """Return the motions (m, 3) that fixed wheels bar, and the scale (3,) of a twist in them."""
    size = float(np.sqrt(np.mean(np.sum(robot.hip_position**2, axis=1)))) or 1.0
    scale = np.array([1.0, 1.0, size])
    # columns: side slip of the fixed wheels in a motion along each axis
    slips = np.column_stack([rolling_rates(robot, np.zeros(robot.count), unit).side_slip
                             for unit in np.eye(3)])[robot.fixed] / scale
    _, values, rows = np.linalg.svd(slips)
    return rows[:int(np.sum(values > ONE_AXLE * values[0]))], scale


class ModuleSteering:
    """
    Commands of the modules of one robot, which remembers the way that each rolls.

    Parameters
    ----------
    robot : CasterRobot
        On wheels of any kind; those that steer below their pivots are commanded, and with
        `settings` also two wheels that turn the pivot between them.
    settings : ModuleSettings, optional
        Limits of the motion, by which it is planned (module_plan.py). Without, the modules turn at
        their largest rates, and the platform moves as soon as they allow it.

    Attributes
    ----------
    plan : ModulePlan or None
        With settings: the twist of the platform, and the modules that are behind.

    Examples
    --------
    >>> from c3p_description import load
    >>> modules = ModuleSteering(load('swerve'))
    >>> command = modules.step([0.0] * 4, [0.0, -0.508, 0.0], 0.01)  # straight back: reversed
    >>> command.steering_rate.tolist(), command.wheel_rate.round(6).tolist()
    ([0.0, 0.0, 0.0, 0.0], [-10.0, -10.0, -10.0, -10.0])
    """

    def __init__(self, robot: CasterRobot, settings: ModuleSettings | None = None) -> None:
        """Store the robot; wheels roll forward until a command reverses them."""
        self.robot = robot
        self.plan = None if settings is None else ModulePlan(robot, settings)
        self._steers = ~robot.fixed & (robot.caster_offset == 0.0)
        self._pivots = robot.hip_position @ np.array([1.0, 1.0j])
        self._backward = np.zeros(robot.count, bool)

    def step(self, steering: ArrayLike, twist: ArrayLike, dt: float) -> ModuleCommand:
        """
        Return the commands of a cycle of `dt` [s] towards the motion `twist` (3,).

        `steering` (n,) are the present angles, rad: with settings those measured. At standstill
        they are kept.
        """
        wanted = allowed_twist(self.robot, twist)
        if self.plan is not None:
            return self.plan.step(steering, wanted, dt)
        return self._direct(np.asarray(steering, float), wanted, dt)

    def _direct(self, angles: Array, wanted: Array, dt: float) -> ModuleCommand:
        """Return the commands of a cycle without limits of the platform."""
        robot = self.robot
        velocity = complex(wanted[0], wanted[1]) + 1j * wanted[2] * self._pivots
        moves = self._steers & (np.abs(velocity) > STANDING)
        # angle to the path of the pivot, rolling forward
        ahead = np.where(moves, np.angle(velocity) - 0.5 * np.pi - angles, 0.0)
        room = robot.steering_lower - angles, robot.steering_upper - angles
        turn, self._backward, inside = turns_to(ahead, self._backward, moves, room)
        # up to the stop; one behind it, as of a start against it, is left where it is
        turn = np.clip(turn, np.minimum(room[0], 0.0), np.maximum(room[1], 0.0))
        rates = np.abs(turn) / robot.steering_rate_limit
        share = 1.0 if dt >= rates.max() else dt / float(rates.max())
        turned = share * turn
        factor = float(np.cos(np.abs(turn - turned).max()))**2 if moves.any() else 1.0
        rate = turned / dt
        motion = wanted * (factor if inside.all() else 0.0)
        rolled = rolling_rates(robot, angles + turned, motion, rate)
        return ModuleCommand(angles + turned, rolled.steering_rate, rolled.wheel_rate, motion)
