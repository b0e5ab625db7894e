# SPDX-License-Identifier: Apache-2.0
"""The analytic plant of a robot on any mix of wheels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description import wheels
from c3p_description.model import Array, CasterRobot
from c3p_dynamics import _wheel_equations as kernels
from c3p_dynamics._wheel_motion_kernels import energy_of, march_wheels
from c3p_dynamics.side_tyres import SideTyre, side_tyre
from c3p_dynamics.wheel_dynamics import friction_rate, speeds_of, wheel_model
from c3p_kinematics.rolling import rolling_rates
from c3p_simulation.plants.checks import positive
from c3p_simulation.plants.plant import SUBSTEP, AnalyticPlant, JointSample, MarchedPlant

# substep times the largest rate with which friction slows a joint: up to 2.7 the method is stable
STABLE = 2.0


class WheelPlant(MarchedPlant):
    """
    The equations of motion of any mix of wheels, with the interface of `AnalyticPlant`.

    Wheels roll without slip along, and do not slide across beyond what their tyres give way
    (`SideTyre`). Casters, with an offset b or not, and two wheels on a pivot follow from the
    motion; a wheel below its pivot has its own steering angle and motor; a fixed one has the
    angle ``steering_zero``. Integrated as in `AnalyticPlant`, bit-reproducibly, and in shorter
    steps where friction slows a light fork faster.

    Parameters
    ----------
    robot : CasterRobot
        On wheels of any kind.
    substep : float, s
        Longest integration step.
    tyre : SideTyre, optional
        Across wheels that do not trail; default `side_tyre`.

    Raises
    ------
    ValueError
        `substep` is not a positive number, or a caster has an offset below `LEAST_OFFSET`.
    ModelError
        A wheel below its pivot turns without inertia.

    Examples
    --------
    >>> from c3p_description import load
    >>> plant = WheelPlant(load('swerve'))
    >>> for _ in range(200):  # four wheels push ahead, against 0.05 N·m of friction each
    ...     sample = plant.step([0.85] * 4 + [0.0] * 4, 0.005)
    >>> round(float(plant.truth().pose[1]), 2)  # 1 m/s² for one second, almost
    0.5
    """

    def __init__(self, robot: CasterRobot, substep: float = SUBSTEP,
                 tyre: SideTyre | None = None) -> None:
        """Place the robot at the origin with all steering angles 0."""
        super().__init__(robot)
        model = wheel_model(robot, tyre or side_tyre(robot))
        self._turning = model.turning
        # plain tuples: kernels take named ones later by 1 µs
        self._model = tuple(model)
        self._substep = min(positive('substep', substep), STABLE / max(friction_rate(robot), 1.0))
        n = robot.count
        size = max(3, int(self._turning.max()) + 1)
        self._size = size
        self._terms = tuple(kernels.WheelTerms(
            np.empty((size, size)), np.empty(size), np.empty((n, 3, size)), np.empty((n, 3)),
            np.empty((n, 3))))
        self._state = np.zeros(5 + size + 2 * n)
        self.reset()

    @property
    def kinetic_energy(self) -> float:
        """
        ½ q̇ᵀ M q̇ now, J: its value at `reset` plus `work` minus `dissipated`.

        While wheels slide, what their tyres hold is part of it: about C T σ²/2 each.
        """
        kinetic, held = energy_of(self._model, self._terms, self._angles(), self._speeds(),
                                  np.zeros(self._robot.efforts))
        return float(kinetic + held)

    def _speeds(self) -> Array:
        return self._state[3:3 + self._size]

    def _angles(self) -> Array:
        return self._state[3 + self._size:3 + self._size + self._robot.count]

    def _place(self, pose: Array, steering: Array, twist: Array) -> None:
        robot = self._robot
        self._state[:] = 0.0
        self._state[0:3] = pose
        self._speeds()[:] = speeds_of(robot, twist, np.zeros(robot.count))
        self._angles()[:] = np.where(robot.fixed, robot.steering_zero,
                                     steering)[wheels.first_on_pivot(robot)]

    def sense(self) -> JointSample:
        """Return the joints now; rates follow from the speeds by rolling without slip."""
        n = self._robot.count
        turned = self._turning_rates()
        rates = rolling_rates(self._robot, self._angles(), self._state[3:6], turned)
        wheel_angle = self._state[3 + self._size + n:3 + self._size + 2 * n]
        return JointSample(self._time, self._angles().copy(), rates.steering_rate,
                           wheel_angle.copy(), rates.wheel_rate, self._torque.copy())

    def _turning_rates(self) -> Array:
        """Return the steering rates (n,) of wheels below their pivots, 0 of others."""
        return np.where(self._turning >= 0, self._speeds()[np.maximum(self._turning, 0)], 0.0)

    def _march(self, wrench: Array, step: float, count: int) -> None:
        march_wheels(self._model, self._terms, self._state, self._torque, wrench, step, count)


def analytic_plant(robot: CasterRobot, friction: ArrayLike | None = None
                   ) -> AnalyticPlant | WheelPlant:
    """
    Return the analytic plant of a robot: `AnalyticPlant` on ordinary casters, else `WheelPlant`.

    Parameters
    ----------
    robot : CasterRobot
    friction : array_like, one or (n,), optional
        µ of the tyres across wheels that do not trail; default ``robot.tyre_friction``.
    """
    if robot.other_wheels:
        return WheelPlant(robot, tyre=side_tyre(robot, friction))
    return AnalyticPlant(robot)
