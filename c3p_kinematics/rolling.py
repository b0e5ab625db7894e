# SPDX-License-Identifier: Apache-2.0
"""
Inverse kinematics of any mix of wheels: the rates of the joints in a motion of the platform.

With s = Rx ν and u = Ra ν, the velocity of the pivot along and across the wheel (casters.py), and
θ̇_c = ω + θ̇_s the yaw rate of the wheel over ground,

    r θ̇_x = s + b θ̇_c        slip across = u + d θ̇_c

A caster (d > 0) that steers is turned by the motion, ``θ̇_c = −u/d``, and does not slip. Below its
pivot (d = 0) the steering rate is free, and a fixed wheel has none: what remains of u + d θ̇_c is
side slip of the tyre.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.casters import batched


class RollingRates(NamedTuple):
    """
    Rates of the joints of a motion, and what the tyres slip.

    Attributes
    ----------
    wheel_rate, steering_rate : (…, n) array, rad/s
    side_slip : (…, n) array, m/s
        Velocity of each contact point across its wheel; 0 where nothing slips.
    """

    wheel_rate: Array
    steering_rate: Array
    side_slip: Array


def rolling_rates(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike,
                  steering_rate: ArrayLike = 0.0) -> RollingRates:
    """
    Return the rates of all joints when the platform moves with `twist`.

    For casters equal to `casters.inverse`. `sensed_forward` of the result is `twist` again where
    no tyre slips sideways.

    Parameters
    ----------
    robot : CasterRobot
        On wheels of any kind.
    steering : (…, n) array_like, rad
        Of fixed wheels `steering_zero` is taken.
    twist : (…, 3) array_like, m/s and rad/s
        ν = (vx, vy, ω) in ``base_link``.
    steering_rate : array_like, broadcast to (…, n), rad/s
        Of steered wheels below their pivots; of others it does not matter.

    Raises
    ------
    ValueError
        A vector of the wrong size, or a number that is not finite.

    Examples
    --------
    >>> from c3p_description import load
    >>> swerve = load('swerve')
    >>> found = rolling_rates(swerve, [0.0] * 4, [0.0, 0.508, 0.0])
    >>> found.wheel_rate.round(6).tolist(), found.side_slip.round(6).tolist()
    ([10.0, 10.0, 10.0, 10.0], [0.0, 0.0, 0.0, 0.0])
    """
    n = robot.count
    steering = np.asarray(steering, float)
    turning = np.broadcast_to(np.asarray(steering_rate, float), (*steering.shape[:-1], n))
    batch, (angles, nu, turned) = batched(n, steering=(steering, n), twist=(twist, 3),
                                          steering_rate=(turning, n))
    angles = np.where(robot.fixed, robot.steering_zero, angles)
    c = np.cos(angles)
    s = np.sin(angles)
    # velocities of the pivots, v + ω ẑ×m
    x = nu[:, :1] - nu[:, 2:] * robot.hip_position[:, 1]
    y = nu[:, 1:2] + nu[:, 2:] * robot.hip_position[:, 0]
    along = c * y - s * x
    across = c * x + s * y
    trails = ~robot.fixed & (robot.caster_offset > 0.0)
    offset = np.where(trails, robot.caster_offset, 1.0)
    free = np.where(robot.fixed, 0.0, turned) + nu[:, 2:]
    contact = np.where(trails, -across / offset, free)
    wheel = (along + robot.lateral_offset * contact) / robot.wheel_radius
    steer = np.where(robot.fixed, 0.0, contact - nu[:, 2:])
    slip = np.where(trails, 0.0, across + robot.caster_offset * contact)
    return RollingRates(*(part.reshape(*batch, n) for part in (wheel, steer, slip)))
