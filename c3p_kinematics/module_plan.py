# SPDX-License-Identifier: Apache-2.0
"""
Plan of a robot on modules: the motion of its platform, and the angles of its modules, in limits.

The platform moves in a straight line from its present twist to the commanded one, so that the
direction of the path is kept, and the modules follow the direction of their pivots. Two things end
that:

- The directions turn by more than a right angle, as in a reversal. On the straight line the
  platform would nearly stand, and the modules turn around, each at its own time. It is then
  sooner at the command if it stops along its present motion, turns the modules the short way, and
  starts. Which of the two is sooner decides.
- Modules are behind their angles, because their axes lag or are stuck. Up to `BEHIND` the twist
  waits for them, beyond it the platform stops along its present motion.

From standstill it starts when the measured angles are near the direction of the command.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.limited_steps import next_rate, straightened_twist
from c3p_kinematics.module_settings import PIVOT_GAIN, ModuleSettings, two_wheels
from c3p_kinematics.module_ways import turns_to, wrapped
from c3p_kinematics.rolling import rolling_rates

# speed of a pivot below which its module stays as it is, m/s
STANDING = 1e-3

# difference of a module to its direction at which the platform stops, rad
BEHIND = math.radians(12.0)

# part of the acceleration with which the twist goes on while it waits: behind a stuck module it
# would otherwise wait for ever, and the platform keep its old direction
PRESSING = 0.3

# difference below which it starts, rad: first-order axes arrive slowly, and unequally
ALIGNED = math.radians(5.0)

# largest lead of the planned angle before the measured one, rad
LEAD = 1.0

# part of the largest speed of a pivot above which its direction counts in full
COUNTS = 0.3

# part of it below which a module may take its other way while the platform moves
SLOW = 0.2

# turn of the paths below which the platform is on the same path, and up to which it never stops in
# between, rad
STRAIGHT = math.radians(1.0)
DIRECT = math.radians(45.0)

# steering rate that a moving platform can wait for, rad/s: `BEHIND` over a lag of 50 ms
FOLLOWED = 4.0


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
        command, as fast as the modules allow it.
    """

    steering: Array
    steering_rate: Array
    wheel_rate: Array
    twist: Array


class ModulePlan:
    """
    Plan of one robot: the memory is twist and acceleration, and angle, rate and way of modules.

    Parameters
    ----------
    robot : CasterRobot
    settings : ModuleSettings

    Attributes
    ----------
    twist, acceleration : (3,) array, m/s, rad/s, m/s² and rad/s²
    behind : (n,) array, rad
        Differences of the modules to their directions at the last cycle.
    lag : (n,) array, rad
        Differences of the modules to their planned angles, which turn to the directions.
    inside : (n,) bool array
        Modules whose direction is between their stops.
    """

    def __init__(self, robot: CasterRobot, settings: ModuleSettings) -> None:
        """Start at rest, rolling forward."""
        self.robot = robot
        self.settings = settings
        self._pairs = two_wheels(robot)
        self.steers = ~robot.fixed & ((robot.caster_offset == 0.0) & robot.steered | self._pairs)
        # pivots with two wheels are turned by them, wherever the motion of the platform trails
        self._rolling = _below_pivots(robot, self._pairs)
        self._pivots = robot.hip_position @ np.array([1.0, 1.0j])
        self._lower = np.broadcast_to(np.asarray(settings.steering_lower, float), robot.count)
        self._upper = np.broadcast_to(np.asarray(settings.steering_upper, float), robot.count)
        self._endless = ~(np.isfinite(self._lower) | np.isfinite(self._upper))
        self._gain = np.where(self._pairs, max(PIVOT_GAIN, settings.steering_gain),
                              settings.steering_gain)
        self._followed = np.minimum(settings.steering_rates(robot), FOLLOWED)
        self._steering_limits = settings.steering_limits(robot)
        self.backward = np.zeros(robot.count, bool)
        self.forget()

    def forget(self) -> None:
        """Start at rest from the next measured angles; modules keep their ways."""
        n = self.robot.count
        self.twist = np.zeros(3)
        self.acceleration = np.zeros(3)
        self.behind = np.zeros(n)
        self.lag = np.zeros(n)
        self.inside = np.ones(n, bool)
        self._angle: Array | None = None
        self._goal = np.zeros(n)
        self._rate = np.zeros(n)
        self._rolled = np.zeros(n)

    def step(self, steering: ArrayLike, twist: Array, dt: float) -> ModuleCommand:
        """
        Return the command of a cycle of `dt` [s] towards the motion `twist` (3,).

        `steering` (n,) are the measured angles, rad; those of wheels that do not steer are not
        used. ValueError: a number is not finite, or `dt` is not positive; the plan stays as it is.
        """
        given = np.where(self.steers, np.asarray(steering, float), 0.0)
        for name, value in (('steering', given), ('twist', twist)):
            if not np.isfinite(value).all():
                raise ValueError(f'{name} = {value.tolist()}: every value must be a finite number')
        if not 0.0 < dt < math.inf:
            raise ValueError(f'dt = {dt}: must be above 0')
        sensed = self._continued(given)
        self.lag = np.where(self.steers, np.abs(self._angle - sensed), 0.0)
        target = self._reachable(straightened_twist(twist, self.settings.straight_time))
        before = self.twist
        if self._fastest(before) > STANDING:
            self._move(sensed, target, dt)
        else:
            self._start(sensed, target, dt)
        self._steer(sensed, dt)
        # the plan at the middle of the cycle
        return self._command(given, sensed, 0.5 * (before + self.twist), dt)

    def _continued(self, given: Array) -> Array:
        """Return the measured angles continuous with those of the plan."""
        if self._angle is None:
            self._angle = given.copy()
            self._goal = given.copy()
        # an encoder may wrap the angle of a joint without stops
        return np.where(self._endless, self._angle + wrapped(given - self._angle), given)

    def _reachable(self, twist: Array) -> Array:
        """Return `twist`, scaled to the limits of the wheel rates."""
        velocity = self._velocity(twist)
        rates = rolling_rates(self._rolling, np.angle(velocity) - 0.5 * np.pi, twist).wheel_rate
        excess = np.max(np.abs(rates / self.robot.wheel_rate_limit), where=self.robot.driven,
                        initial=1.0)
        return twist / float(excess)

    def _velocity(self, twist: Array) -> Array:
        """Return the velocities of the pivots (n,), complex, m/s."""
        return complex(twist[0], twist[1]) + 1j * twist[2] * self._pivots

    def _fastest(self, twist: Array) -> float:
        """Return the largest speed of a wheel's pivot, m/s."""
        return float(np.abs(self._velocity(twist)).max())

    def _weights(self, twist: Array) -> Array:
        """Return by how much the direction of each module counts, 0 to 1."""
        speed = np.abs(self._velocity(twist))
        fastest = float(speed.max())
        counts = np.minimum(1.0, speed / (COUNTS * fastest)) if fastest > 0.0 else np.zeros(
            len(speed))
        return np.where(self.steers & (speed > STANDING), counts, 0.0)

    def _move(self, sensed: Array, target: Array, dt: float) -> None:
        """Move the twist of a platform that moves, and set the directions of its modules."""
        self.behind = self._weights(self.twist) * np.abs(self._goal - sensed)
        late = float(self.behind.max()) / BEHIND
        turn = self._turn(target)
        if late >= 1.0 or not target.any() or self._stops_sooner(target, turn):
            self._stop(dt, stops=not target.any())
            return
        # to be slower on the same path needs no angle
        slower = turn.max() < STRAIGHT and self._fastest(target) < self._fastest(self.twist)
        self._approach(target, dt, 1.0 if slower else max(1.0 - late * late, PRESSING))
        self._point(self.twist, may_turn=False)

    def _start(self, sensed: Array, target: Array, dt: float) -> None:
        """Turn the modules of a platform that stands, and let it start once they have arrived."""
        self._point(target, may_turn=True)
        behind = self._weights(target) * np.abs(self._goal - sensed)
        self.behind = behind
        late = float(behind.max()) / ALIGNED
        if late >= 1.0:
            self._approach(np.zeros(3), dt, 1.0)
        else:
            self._approach(target, dt, 1.0 - late * late)

    def _approach(self, target: Array, dt: float, part: float) -> None:
        """Move the twist towards `target` by a cycle, with `part` of its acceleration."""
        limits = self.settings.platform_limits(stops=not target.any())
        self.acceleration = next_rate(target - self.twist, self.acceleration, dt, limits, part)
        self.twist = self.twist + dt * self.acceleration

    def _stop(self, dt: float, stops: bool) -> None:
        """Slow the platform down along its present motion; `stops` for a command of zero."""
        limits = self.settings.platform_limits(stops)
        # what accelerates it across its motion ends at once
        along = float(self.acceleration @ self.twist) / float(self.twist @ self.twist)
        present = along * self.twist / max(1.0, limits.rate(along * self.twist))
        self.acceleration = next_rate(-self.twist, present, dt, limits)
        self._point(self.twist, may_turn=False)
        self.twist = self.twist + dt * self.acceleration

    def _turn(self, target: Array) -> Array:
        """Return by how much the paths of the pivots (n,) turn to `target`, rad; 0 to π."""
        weights = np.minimum(self._weights(self.twist), self._weights(target))
        counts = weights >= SLOW / COUNTS
        now = np.where(counts, self._velocity(self.twist), 1.0)
        return np.abs(np.angle(np.where(counts, self._velocity(target), 1.0) / now))

    def _stops_sooner(self, target: Array, turn: Array) -> bool:
        """Return whether the platform is sooner at `target` with a stop in between."""
        if turn.max() <= DIRECT:
            return False
        duration = self.settings.platform_limits().rate
        direct = duration(target - self.twist) + float(np.max(turn / self._followed))
        turned = np.minimum(turn, np.pi - turn)
        stopped = (duration(self.twist) + duration(target)
                   + float(np.max(turned / self._followed)))
        return stopped < direct

    def _point(self, twist: Array, may_turn: bool) -> None:
        """Set the angles to which modules turn in the motion `twist`."""
        assert self._angle is not None
        velocity = self._velocity(twist)
        speed = np.abs(velocity)
        moves = self.steers & (speed > STANDING)
        ahead = np.where(moves, np.angle(velocity) - 0.5 * np.pi - self._angle, 0.0)
        free = may_turn | (speed < SLOW * speed.max())
        room = self._lower - self._angle, self._upper - self._angle
        found = turns_to(ahead, self.backward, moves, room, free)
        self.backward = found.backward
        self.inside = found.inside
        self._goal = self._angle + found.turn

    def _steer(self, sensed: Array, dt: float) -> None:
        """Move the planned angles by a cycle."""
        assert self._angle is not None
        error = np.clip(self._goal, self._lower, self._upper) - self._angle
        self._rate = next_rate(error, self._rate, dt, self._steering_limits)
        angle = self._angle + dt * self._rate
        # not further ahead than an axis can follow, and not beyond what is measured of one that
        # was turned by hand
        bounded = np.where(self.steers, np.clip(angle, sensed - LEAD, sensed + LEAD), angle)
        self._rate = np.where(bounded == angle, self._rate, 0.0)
        self._angle = bounded

    def _command(self, given: Array, sensed: Array, motion: Array, dt: float) -> ModuleCommand:
        """Return the command of a cycle; more than the wheels can is scaled as a whole."""
        assert self._angle is not None
        rate = self._rate + self._gain * (self._angle - sensed)
        rate = np.where(self.steers, rate, 0.0)
        rolled = rolling_rates(self._rolling, self._angle, motion, rate).wheel_rate
        # what the lags of the axes need more
        leading = rolled + self.settings.wheel_lag / dt * (rolled - self._rolled)
        self._rolled = rolled
        ahead = np.clip(self._angle + self.settings.steering_lag * self._rate, self._lower,
                        self._upper)
        excess = float(np.max(np.abs(leading / self.robot.wheel_rate_limit),
                              where=self.robot.driven, initial=1.0))
        # angles continuous with those that were given
        return ModuleCommand(given + ahead - sensed, rate / excess, leading / excess,
                             motion / excess)


def _below_pivots(robot: CasterRobot, pairs: Array) -> CasterRobot:
    """Return the robot with wheels that turn their pivots below these."""
    if not pairs.any():
        return robot
    return replace(robot, caster_offset=np.where(pairs, 0.0, robot.caster_offset))
