# SPDX-License-Identifier: Apache-2.0
"""
Torques of a robot on wheels of any kind, from the work of its joints.

The motion has the coordinates q̇ = (ν, σ): the twist of the platform, and the steering rate of each
pivot that the motion does not turn, those of steered wheels below their pivots (d = 0). The rates
of all joints are linear in it, ``J q̇`` (rolling.py), and torques τ do the work of the generalised
force ``Jᵀτ``. With the mass matrix M of q̇ and the friction τ_f of the joints,

    Jᵀτ = M q̈ + Jᵀτ_f

Terms of second order in the rates are left out. More motors than coordinates share the force by
least squares, in the units of their bounds; a force that the motors do not have, such as one along
the axles of wheels that all point one way, is left to the tyres.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_description.wheels import angle_known, believed, pivots
from c3p_dynamics.traction import torque_bounds
from c3p_kinematics.rolling import rolling_rates

# weight of the squared torques, in units of their bounds, beside the squared force that is left,
# in the metric of M and units of the force of all motors
TORQUE_WEIGHT = 1e-3

# squared slope of the direction across a tyre, in which it moves a tenth as easily as along
TYRE_WEIGHT = 100.0


class WheelForces:
    """
    Map from accelerations to motor torques of one robot.

    Parameters
    ----------
    robot : CasterRobot

    Attributes
    ----------
    free : (n,) bool array
        Wheels whose steering rate is a coordinate.
    pivot : (p,) array
        First wheel on the pivot of each of these coordinates.

    Examples
    --------
    >>> from c3p_description import load
    >>> forces = WheelForces(load('swerve'))
    >>> ahead = np.full(4, -np.pi / 2)
    >>> forces.torques(ahead, [1.0, 0.0, 0.0], np.zeros(4), np.zeros(3), np.zeros(4))[:4].round(2)
    array([0.8, 0.8, 0.8, 0.8])
    """

    def __init__(self, robot: CasterRobot) -> None:
        """Find the coordinates."""
        self.robot = robot
        n = robot.count
        self.free = ~robot.fixed & (robot.caster_offset == 0.0) & robot.steering_encoder
        first = pivots(robot.hip_position)
        self.pivot = np.unique(first[self.free])
        # unit motions: of the twist, then of each free pivot
        self._twists = np.vstack([np.eye(3), np.zeros((len(self.pivot), 3))])
        self._turns = np.vstack([np.zeros((3, n)), (first == self.pivot[:, None]) & self.free])
        # where the angle is not measured, a joint is mass alone
        self._known = angle_known(robot)
        self._bound = torque_bounds(robot)
        self._smoothing = robot.losses[:, 5]

    def motions(self, steering: Array) -> tuple[Array, Array]:
        """
        Return the rates of wheels and steering axes in a unit motion of each coordinate.

        Both (3 + p, n); zero where the steering angle is not known. `steering` (n,) in rad.
        """
        count = len(self._twists)
        rates = rolling_rates(self.robot, np.broadcast_to(steering, (count, len(steering))),
                              self._twists, self._turns)
        return (np.where(self._known, rates.wheel_rate, 0.0),
                np.where(self._known, rates.steering_rate, 0.0))

    def mass(self, steering: Array, wheel: Array, steer: Array) -> Array:
        """Return M (3 + p, 3 + p) at `steering` (n,), rad, of the `motions` there."""
        robot = self.robot
        x, y = robot.hip_position.T
        cx, cy = robot.platform_com
        vx, vy, turn = self._twists.T[:, :, None]
        # of the platform's centre of mass, and of forks and wheels; they turn over ground by ω + σ
        total = robot.platform_mass * ((vx - turn * cy) @ (vx - turn * cy).T
                                       + (vy + turn * cx) @ (vy + turn * cx).T)
        total += robot.platform_inertia * turn @ turn.T
        over = np.where(self._known, turn + steer, turn)
        angles = np.where(robot.fixed, robot.steering_zero, steering)
        c = np.where(self._known, np.cos(angles), 0.0)
        s = np.where(self._known, np.sin(angles), 0.0)
        d = robot.caster_offset
        b = robot.lateral_offset
        for mass, along, across in ((robot.link_mass, 0.0, robot.link_com),
                                    (robot.wheel_mass, b, d)):
            for velocity in (vx - turn * y + over * (across * c - along * s),
                             vy + turn * x + over * (across * s + along * c)):
                total += (velocity * mass) @ velocity.T
        yaw = robot.link_inertia + robot.wheel_yaw_inertia
        return total + (over * yaw) @ over.T + (wheel * robot.wheel_spin_inertia) @ wheel.T

    def friction(self, wheel_rate: Array, steering_rate: Array, yaw_rate: float
                 ) -> tuple[Array, Array, Array]:
        """Return the friction of wheels, pivots and turning tyres at their rates, (n,) N·m."""
        pivot_viscous, pivot, rolling_viscous, rolling, scrub, smooth = self.robot.losses.T
        return (rolling_viscous * wheel_rate + rolling * np.tanh(wheel_rate / smooth),
                pivot_viscous * steering_rate + pivot * np.tanh(steering_rate / smooth),
                scrub * np.tanh((steering_rate + yaw_rate) / smooth))

    def torques(self, steering: ArrayLike, accel: ArrayLike, steering_accel: ArrayLike,
                twist: ArrayLike, steering_rate: ArrayLike) -> Array:
        """
        Return the torques (robot.efforts,) of accelerations, N·m; beyond limits of motors as well.

        Parameters
        ----------
        steering : (n,) array_like, rad
        accel, steering_accel : (3,), (n,) array_like
            ν̇ in ``base_link``, m/s² and rad/s², and that of the free pivots, rad/s².
        twist, steering_rate : (3,), (n,) array_like
            Motion whose friction is compensated, m/s and rad/s.
        """
        robot = self.robot
        steering = np.asarray(steering, float)
        wheel, steer = self.motions(steering)
        mass = self.mass(steering, wheel, steer)
        wanted = np.concatenate([np.asarray(accel, float),
                                 np.asarray(steering_accel, float)[self.pivot]])
        moving = np.concatenate([np.asarray(twist, float),
                                 np.asarray(steering_rate, float)[self.pivot]])
        rolling, pivot, scrub = self.friction(moving @ wheel, moving @ steer, float(moving[2]))
        force = mass @ self._across(steering, mass, wanted)
        force += wheel @ rolling + steer @ pivot
        force += (self._twists[:, 2:] + steer) @ scrub
        return self._share(np.hstack([wheel, steer])[:, :robot.efforts], mass, force)

    def _across(self, steering: Array, mass: Array, wanted: Array) -> Array:
        """Return the acceleration nearest to `wanted` across which the tyres are stiff."""
        robot = self.robot
        held = believed(robot) & self._known
        if not held.any():
            return wanted
        angles = np.where(robot.fixed, robot.steering_zero, steering)[held]
        c = np.cos(angles)
        s = np.sin(angles)
        x, y = robot.hip_position[held].T
        rows = np.zeros((int(held.sum()), len(wanted)))
        rows[:, 0] = c
        rows[:, 1] = s
        rows[:, 2] = s * x - c * y + robot.caster_offset[held]
        # of the mass above each tyre
        stiff = mass + TYRE_WEIGHT * robot.total_mass / len(rows) * rows.T @ rows
        return np.linalg.solve(stiff, mass @ wanted)

    def _share(self, columns: Array, mass: Array, force: Array) -> Array:
        """Return the torques whose generalised force is nearest to `force`."""
        torque = np.zeros(self.robot.efforts)
        motors = np.flatnonzero(self._bound > 0.0)
        if not motors.size:
            return torque
        # forces in the metric of M, torques in the units of their bounds
        lower = np.linalg.cholesky(mass)
        reach = np.linalg.solve(lower, columns[:, motors] * self._bound[motors])
        gram = reach.T @ reach
        gram += TORQUE_WEIGHT * np.trace(gram) / len(motors) * np.eye(len(motors))
        part = np.linalg.solve(gram, reach.T @ np.linalg.solve(lower, force))
        torque[motors] = part * self._bound[motors]
        return torque
