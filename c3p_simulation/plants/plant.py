# SPDX-License-Identifier: Apache-2.0
"""
Interface of simulated robots, and the analytic plant.

Joint coordinates are those of the model: θ_s relative to the platform, 0 when the wheel rolls
along +Y; θ_x grows when the wheel rolls forward. Zeros and signs of a URDF apply to messages only
(`CasterRobot.steering_sign` and its neighbours).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_dynamics._caster_equations import caster_model
from c3p_dynamics._caster_motion_kernels import runge_kutta
from c3p_dynamics.caster_dynamics import kinetic_energy
from c3p_kinematics.casters import inverse
from c3p_simulation.plants.checks import clipped_torque, finite, per_caster, positive, pushing

# longest Runge-Kutta step, s: energy of a free motion drifts by less than 1e-8 per minute
SUBSTEP = 1e-3

# smallest caster offset of a simulation, m: casters with less turn so fast that the integration
# ends in nan
LEAST_OFFSET = 1e-4

NO_PUSH = np.zeros(3)


class JointSample(NamedTuple):
    """
    Joint states as measured by encoders and drives, without noise.

    Attributes
    ----------
    time : float, s
    steering, steering_rate : (n,) array, rad and rad/s
        θ_s, not wrapped, and θ̇_s.
    wheel_angle, wheel_rate : (n,) array, rad and rad/s
        θ_x, not wrapped, and θ̇_x.
    wheel_torque : (robot.efforts,) array, N·m
        Applied during the last step, after limits; steering torques behind those of the wheels.
    """

    time: float
    steering: Array
    steering_rate: Array
    wheel_angle: Array
    wheel_rate: Array
    wheel_torque: Array


class GroundTruth(NamedTuple):
    """
    True pose and twist of the robot.

    Attributes
    ----------
    time : float, s
    pose : (3,) array
        X, Y, φ of ``base_link`` in the floor frame, m and rad; φ is not wrapped.
    twist : (3,) array
        vx, vy, ω in ``base_link``, m/s and rad/s.
    """

    time: float
    pose: Array
    twist: Array


class Plant(Protocol):
    """Simulated robot: wheel torques in, joint states out."""

    @property
    def robot(self) -> CasterRobot:
        """Model of the simulated robot."""

    @property
    def time(self) -> float:
        """Seconds since `reset`."""

    def reset(self, pose: ArrayLike = (0.0, 0.0, 0.0), steering: ArrayLike = 0.0,
              twist: ArrayLike = (0.0, 0.0, 0.0)) -> JointSample:
        """Place the robot at `pose` (floor), `steering` and `twist` (``base_link``), time 0."""

    def step(self, wheel_torque: ArrayLike, dt: float) -> JointSample | None:
        """Hold `wheel_torque` for `dt` seconds; return the joints, None if they are lost."""

    def push(self, force: ArrayLike, moment: float, duration: float) -> None:
        """Push the platform for `duration` seconds, N and N·m in ``base_link``."""

    def sense(self) -> JointSample:
        """Return the joints now."""

    def truth(self) -> GroundTruth:
        """Return pose and twist now."""


class PushedPlant(ABC):
    """
    Base of plants: holds torques for a step, and applies pushes meanwhile.

    Parameters
    ----------
    robot : CasterRobot

    Raises
    ------
    ValueError
        The offset of a caster is positive and below `LEAST_OFFSET`.
    """

    def __init__(self, robot: CasterRobot) -> None:
        """Start without torque or push."""
        # below its pivot a wheel does not trail
        trails = np.where(robot.fixed | (robot.caster_offset == 0.0), np.inf, robot.caster_offset)
        least = int(np.argmin(trails))
        if trails[least] < LEAST_OFFSET:
            raise ValueError(
                f'caster_offset = {robot.caster_offset[least]:g} m of caster {least + 1}: a '
                f'simulation needs {LEAST_OFFSET:g} m or more, because a caster turns with v/d; '
                'give the offset in metres as measured, or use the recordings of this robot '
                '(c3p report, c3p recompute), which need no dynamics')
        self._robot = robot
        self._let_go()

    def _let_go(self) -> None:
        """Set time, torques and push to zero."""
        self._time, self._torque = 0.0, np.zeros(self._robot.efforts)
        self._wrench = np.zeros(3)
        self._push_left = 0.0

    @property
    def robot(self) -> CasterRobot:
        """Model of the simulated robot."""
        return self._robot

    @property
    def time(self) -> float:
        """Seconds since `reset`."""
        return self._time

    def reset(self, pose: ArrayLike = (0.0, 0.0, 0.0), steering: ArrayLike = 0.0,
              twist: ArrayLike = (0.0, 0.0, 0.0)) -> JointSample:
        """
        Place the robot, rolling with `twist`; wheel angles, time and energies become 0.

        Parameters
        ----------
        pose : (3,) array_like
            X, Y, φ in the floor frame, m and rad.
        steering : (n,) array_like or float, rad
        twist : (3,) array_like
            ν in ``base_link``.

        Returns
        -------
        JointSample

        Raises
        ------
        ValueError
            A vector of the wrong size or with a value that is not finite.
        """
        pose = finite('pose', pose, 3)
        twist = finite('twist', twist, 3)
        self._place(pose, per_caster('steering', steering, self._robot.count), twist)
        self._let_go()
        return self.sense()

    def push(self, force: ArrayLike, moment: float, duration: float) -> None:
        """
        Push the platform from now on; replaces a push in progress.

        Parameters
        ----------
        force : (2,) array_like, N
            At the origin of ``base_link``, in its axes.
        moment : float, N·m
        duration : float, s
            0 ends the push.

        Raises
        ------
        ValueError
            A value that is not finite, or a negative duration.
        """
        self._wrench, self._push_left = pushing(force, moment, duration)

    def step(self, wheel_torque: ArrayLike, dt: float) -> JointSample:
        """
        Hold `wheel_torque` for `dt` and return the joints afterwards.

        Parameters
        ----------
        wheel_torque : (robot.efforts,) array_like, N·m
            Clipped at ``robot.effort_limit``; 0 where no motor is.
        dt : float, s

        Returns
        -------
        JointSample
            With the applied `wheel_torque`.

        Raises
        ------
        ValueError
            A torque that is not finite, a wrong size, or a `dt` that is not positive.
        FallenError
            The robot has fallen over (contact plant).
        """
        self._torque, dt = clipped_torque(self._robot, wheel_torque), positive('dt', dt)
        pushed = min(self._push_left, dt)
        self._integrate(self._wrench, pushed)
        self._integrate(NO_PUSH, dt - pushed)
        self._push_left -= pushed
        self._time += dt
        return self.sense()

    @abstractmethod
    def _place(self, pose: Array, steering: Array, twist: Array) -> None:
        """Set the state; wheel angles are 0."""

    @abstractmethod
    def sense(self) -> JointSample:
        """Return the joints now."""

    @abstractmethod
    def _integrate(self, wrench: Array, duration: float) -> None:
        """Advance by `duration` with the held torque and a `wrench` at the platform."""


class MarchedPlant(PushedPlant):
    """
    Base of plants that march equations of motion without contacts, in equal short steps.

    The state begins with pose and twist, and ends with work and dissipated energy.
    """

    _state: Array
    _substep: float

    @property
    def work(self) -> float:
        """Work of motors and pushes since `reset`, J."""
        return float(self._state[-2])

    @property
    def dissipated(self) -> float:
        """Energy dissipated by friction and sliding since `reset`, J; never decreases."""
        return float(self._state[-1])

    def truth(self) -> GroundTruth:
        """Return pose and twist now."""
        return GroundTruth(self._time, self._state[0:3].copy(), self._state[3:6].copy())

    def _integrate(self, wrench: Array, duration: float) -> None:
        """Advance the state by `duration` in equal steps no longer than the substep."""
        if duration <= 0:
            return
        # rounding of a whole ratio must not add a step
        steps = max(1, math.ceil(duration / self._substep - 1e-9))
        self._march(wrench, duration / steps, steps)

    @abstractmethod
    def _march(self, wrench: Array, step: float, count: int) -> None:
        """Advance the state by `count` steps with the held torque and a `wrench`."""


class AnalyticPlant(MarchedPlant):
    """
    The closed-chain equations of motion: rolling without slip, friction of `robot.friction`.

    Integrates ``[X, Y, φ, ν, θ_s, θ_x]`` by the classical fourth-order Runge-Kutta method,
    bit-reproducibly. An unloaded robot at standstill stays exactly in place. Smoothed dry friction
    has no stiction (it creeps under load) and is stiff: the substep must be below
    ``m d² smoothing/coulomb``, some 10 ms for the C3P.

    Parameters
    ----------
    robot : CasterRobot
    substep : float, s
        Longest integration step; `step` divides `dt` evenly.

    Raises
    ------
    ValueError
        `substep` is not a positive number.

    Examples
    --------
    >>> import numpy as np
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> plant = AnalyticPlant(robot)
    >>> for _ in range(200):  # 3 · 0.4 N·m/0.04 m on 30 kg along +Y, for one second
    ...     sample = plant.step([0.4, 0.4, 0.4], 0.005)
    >>> round(float(plant.truth().pose[1]), 9)
    0.5
    """

    def __init__(self, robot: CasterRobot, substep: float = SUBSTEP) -> None:
        """Place the robot at the origin with all steering angles 0."""
        robot.require_casters('the analytic plant')
        super().__init__(robot)
        self._substep = positive('substep', substep)
        self._state = np.zeros(8 + 2 * robot.count)
        self._model = caster_model(robot)
        self.reset()

    @property
    def kinetic_energy(self) -> float:
        """½ νᵀ M ν now, J: its value at `reset` plus `work` minus `dissipated`."""
        n = self._robot.count
        return float(kinetic_energy(self._robot, self._state[6:6 + n], self._state[3:6]))

    def _place(self, pose: Array, steering: Array, twist: Array) -> None:
        self._state[:] = 0.0
        self._state[0:3] = pose
        self._state[3:6] = twist
        self._state[6:6 + len(steering)] = steering

    def sense(self) -> JointSample:
        """Return the joints now; rates follow from ν by the rolling constraints."""
        n = self._robot.count
        state = self._state
        wheel_rate, steering_rate, _ = inverse(self._robot, state[6:6 + n], state[3:6])
        return JointSample(self._time, state[6:6 + n].copy(), steering_rate,
                           state[6 + n:6 + 2 * n].copy(), wheel_rate, self._torque.copy())

    def _march(self, wrench: Array, step: float, count: int) -> None:
        runge_kutta(self._model, self._state, self._torque, wrench, step, count)
