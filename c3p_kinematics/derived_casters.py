# SPDX-License-Identifier: Apache-2.0
"""
Angles of casters without sensors, from the motion that the other casters measure.

A caster with both sensors measures two of the three components of the platform's displacement δ,

    r Δθ_x = Rx δ,   d Δθ_s = (−Ra − d [0 0 1]) δ,

so that two of them determine δ unless their contact points coincide. The angle of a caster without
an encoder follows by integration of ``θ̇_s = f(ν, θ_s)``, and its wheel rolls along.

An error of the first angle is unknown but shrinks: along the path of a trailing caster by e for
each caster offset, as the caster itself aligns. It grows while the caster leads, in which time the
caster itself is unstable.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot, Friction
from c3p_kinematics import _planar_kernels as kernels

# largest displacement of a hip in one step of the integration, in caster offsets: the midpoint
# rule then errs by less than 1e-4 rad a step
LONGEST_STEP = 0.1

_PER_CASTER = ('hip_position', 'caster_offset', 'wheel_radius', 'link_mass', 'link_com',
               'link_inertia', 'wheel_mass', 'wheel_spin_inertia', 'wheel_yaw_inertia',
               'torque_limit', 'wheel_rate_limit', 'steering_sign', 'steering_zero', 'wheel_sign',
               'lateral_offset')


def part_of(robot: CasterRobot, casters: ArrayLike) -> CasterRobot:
    """Return the geometry of some casters of a robot; the robot itself for all of them."""
    casters = np.asarray(casters, int)
    if len(casters) == robot.count:
        return robot
    # without their losses, whose values may be those of all casters
    return replace(
        robot, **{name: getattr(robot, name)[casters] for name in _PER_CASTER},
        friction=Friction(), driven=True, steered=False, steering_torque_limit=np.inf,
        steering_rate_limit=np.inf,
        steering_joints=tuple(robot.steering_joints[i] for i in casters),
        wheel_joints=tuple(robot.wheel_joints[i] for i in casters))


class DerivedCasters:
    """
    Completes the angles of a robot's casters, of which some have no sensors.

    Parameters
    ----------
    robot : CasterRobot
    steering, wheel : (n,) bool arrays
        True for the angles that are measured. Two casters or more have both.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.3, np.radians([45, 135, 225, 315]), 0.05, 0.05, 20.0, 1.0)
    >>> casters = DerivedCasters(robot, [True, True, False, False], [True, True, False, False])
    >>> before = np.zeros((2, 4))
    >>> after = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]])
    >>> casters.complete(before, after)  # straight on by one radian of the wheels
    >>> after[1].round(9).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """

    def __init__(self, robot: CasterRobot, steering: ArrayLike, wheel: ArrayLike) -> None:
        """Compile the kernels."""
        self._robot = robot
        self._steering, self._wheel = np.asarray(steering, bool), np.asarray(wheel, bool)
        self._both = np.flatnonzero(self._steering & self._wheel)
        if len(self._both) < 2:
            raise ValueError(f'{len(self._both)} casters have both sensors: must be 2 or more, '
                             'or the motion of the platform is unknown')
        self._jacobians = np.empty((3, 1, robot.count, 3))
        self._rows(np.zeros(robot.count))

    def complete(self, before: Array, after: Array) -> None:
        """
        Write the angles that are not measured into `after`.

        Parameters
        ----------
        before, after : (2, n) arrays, rad
            Steering and wheel angles, not wrapped, of two cycles; those of `before` are complete.
        """
        after[0, ~self._steering] = before[0, ~self._steering]
        after[1, ~self._wheel] = before[1, ~self._wheel]
        delta = self._displacement(before, after)
        # the derived angles turn in steps, the measured ones in proportion
        steps = max(1, math.ceil(self._travel(delta) / LONGEST_STEP))
        turned = (after[0] - before[0]) / steps
        part = delta / steps
        steering = before[0].copy()
        wheel = before[1].copy()
        derived = ~self._steering
        for _ in range(steps):
            middle = steering + 0.5 * np.where(derived, self._rows(steering)[1] @ part, turned)
            rolling, turning = self._rows(middle)
            wheel += rolling @ part
            steering += np.where(derived, turning @ part, turned)
        after[0, derived] = steering[derived]
        after[1, ~self._wheel] = wheel[~self._wheel]

    def _displacement(self, before: Array, after: Array) -> Array:
        """Return the displacement of the platform (3,) by least squares, m and rad."""
        both = self._both
        robot = self._robot
        rolling, turning = self._rows(0.5 * (before[0] + after[0]))
        radius = robot.wheel_radius[both]
        offset = robot.caster_offset[both]
        rows = np.concatenate([turning[both] * offset[:, None], rolling[both] * radius[:, None]])
        moved = (after - before)[:, both]
        y = np.concatenate([moved[0] * offset, moved[1] * radius])
        return np.linalg.lstsq(rows, y, rcond=None)[0]

    def _travel(self, delta: Array) -> float:
        """Return the largest displacement of a hip in caster offsets."""
        x, y = self._robot.hip_position.T
        moved = np.hypot(delta[0] - delta[2] * y, delta[1] + delta[2] * x)
        return float(np.max(moved / self._robot.caster_offset))

    def _rows(self, steering: Array) -> tuple[Array, Array]:
        """Return J_x and J_s (n, 3) at the steering angles."""
        kernels.jacobians(self._robot.geometry, steering[None], *self._jacobians)
        (wheels,), (turning,), _ = self._jacobians
        return wheels.copy(), turning.copy()
