# SPDX-License-Identifier: Apache-2.0
"""
Torques with which a law feeds the reference of a robot on wheels of any kind forward.

Inertia, friction and rows are those of wheel_dynamics.py, ``M q̈ = F + Jᵀτ + Aᵀλ``. Its `inverse`
is exact for a motion that the robot has. A law has accelerations that it requires, at angles that
are not those of its reference yet, and needs other answers to three questions:

- Friction is that of the reference, ½ (F(q̇) − F(−q̇)). Terms of second order are left out: a caster
  across the reference would turn with u/d in it, which it does not, and with d = 1 cm its terms of
  (u/d)² are larger than the motors.
- The tyres do not help. `inverse` divides a force among motors and side forces, but real ones
  arise from the motion alone. Here the acceleration is first that which stiff tyres let pass, and
  the motors give it by least squares, in the units of their bounds; a force that they do not have,
  such as one along the axles of wheels that all point one way, is left to the tyres.
- Casters without encoders have angles by the motion (`FreeCasters`). M and F are their means over
  the possible ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_description.wheels import angle_known
from c3p_dynamics.traction import torque_bounds
from c3p_dynamics.wheel_dynamics import equations, speeds_of
from c3p_kinematics.free_casters import FreeCasters

# angles of each caster without an encoder over which the equations are averaged
POSSIBLE = 16

# weight of the squared torques, in units of their bounds, beside the squared force that is left,
# in the metric of M and units of the force of all motors
TORQUE_WEIGHT = 1e-3

# squared slope of the direction across a tyre, in which it moves a tenth as easily as along
TYRE_WEIGHT = 100.0


class WheelForces:
    """
    Torques for the accelerations that a law of one robot requires.

    Parameters
    ----------
    robot : CasterRobot

    Attributes
    ----------
    casters : FreeCasters
        Belief about the angles of casters without encoders; moved by its owner.

    Examples
    --------
    >>> from c3p_description import load
    >>> forces = WheelForces(load('swerve'))
    >>> ahead = np.full(4, -np.pi / 2)
    >>> torque = forces.torques(ahead, [1.0, 0.0, 0.0], np.zeros(4), np.zeros(3), np.zeros(4))
    >>> torque[:4].round(2)  # 62 kg by r/4
    array([0.8, 0.8, 0.8, 0.8])
    """

    def __init__(self, robot: CasterRobot) -> None:
        """Begin with unknown angles of free casters."""
        self.robot = robot
        self.casters = FreeCasters(robot)
        # without free casters all sets of angles are the same
        self._count = POSSIBLE if self.casters.free.any() else 1
        self._bound = torque_bounds(robot)
        # no motor pushes with a wheel without load, or at an angle that is not measured
        known = np.tile(angle_known(robot), 2)[:robot.efforts]
        self._motors = np.flatnonzero(known & (self._bound > 0.0))

    def torques(self, steering: ArrayLike, accel: ArrayLike, steering_accel: ArrayLike,
                twist: ArrayLike, steering_rate: ArrayLike) -> Array:
        """
        Return the torques (robot.efforts,) of accelerations, N·m; beyond limits of motors as well.

        Parameters
        ----------
        steering : (n,) array_like, rad
            Those of free casters do not matter, and may be nan.
        accel, steering_accel : (3,), (n,) array_like
            ν̇ in ``base_link``, m/s² and rad/s², and that of wheels below their pivots, rad/s².
        twist, steering_rate : (3,), (n,) array_like
            Motion whose friction is compensated, m/s and rad/s.

        Raises
        ------
        ValueError, ModelError
            As of `wheel_dynamics.forward`.
        """
        robot = self.robot
        angles = np.where(self.casters.free, self.casters.possible(self._count),
                          np.asarray(steering, float))
        # friction is what changes its sign with the rates
        ways = np.array([1.0, -1.0])[:, None, None]
        motion, _ = equations(robot, np.broadcast_to(angles, (2, *angles.shape)),
                              ways * np.asarray(twist, float),
                              ways * np.asarray(steering_rate, float))
        mass = motion.terms.mass.mean(axis=0)
        ahead, back = np.split(motion.terms.force, 2)
        friction = 0.5 * (ahead - back).mean(axis=0)
        wanted = speeds_of(robot, np.asarray(accel, float), np.asarray(steering_accel, float))
        # rows of fixed wheels and of measured angles are those of any of the motions
        force = mass @ _across(motion.side()[0][0], mass, wanted, robot.total_mass) - friction
        columns = np.concatenate([motion.along()[0] / robot.wheel_radius[:, None],
                                  motion.steering()[0]])[:robot.efforts].T
        return self._share(columns, mass, force)

    def _share(self, columns: Array, mass: Array, force: Array) -> Array:
        """Return the torques whose generalised force is nearest to `force`."""
        torque = np.zeros(self.robot.efforts)
        motors = self._motors
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


def _across(rows: Array, mass: Array, wanted: Array, total_mass: float) -> Array:
    """Return the acceleration nearest to `wanted` across whose `rows` (k, N) tyres are stiff."""
    if not len(rows):
        return wanted
    # of the mass above each tyre
    stiff = mass + TYRE_WEIGHT * total_mass / len(rows) * rows.T @ rows
    return np.linalg.solve(stiff, mass @ wanted)
