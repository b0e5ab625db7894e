# SPDX-License-Identifier: Apache-2.0
"""
The papers' forward and inverse dynamics: wheel torque dynamics and dynamic steering estimator.

With the blocks of M_q and G_q of joint_space.py, rows of the wheels (x) and of the steering (s):

===================== ============================================================================
constrained (13)      ``τ_x = M_xx q̈_x + M_xs q̈_s + G_x − A_xᵀλ``
constrained (14)      ``q̈_s = −M_ss⁻¹ (M_sx q̈_x + G_s − A_sᵀλ)``, λ from ``A q̈ = A J̇ν``
wheels (13)           ``τ_x = M(q_s) q̈_x + G_x``, M(q_s) = J_x⁻ᵀ M J_x⁻¹,
                      G_x = J_x⁻ᵀ G − M(q_s) J̇_xν
wheels (14)           ``q̈_s = J_s J_x⁻¹ (q̈_x − J̇_xν) + J̇_sν``
blocks (13)           ``τ_x = M_xx q̈_x + G_x``
blocks (14)           ``q̈_s = −M_ss⁻¹ (M_sx q̈_x + G_s)``
constrained (15)-(18) ``M_x = D J_x + J_fxᵀ (M − J_xᵀ D J_x)``, D = diag(r² μ_e): least effort of n
                      wheel motors and n virtual steering motors, whose torques are dropped
wheels (15)-(18)      ``M_x = J_x⁻ᵀ M``: no torque in the steering axes
blocks (15)-(18)      ``M_x = M_xx J_x + M_xs J_s``: the rows of the wheels
===================== ============================================================================

Numbers are those of paper II; paper I has (13)-(14) as (8) and its text, (15)-(18) as (9)-(12).
The papers print neither M(q_s) nor the blocks. *Constrained* needs nothing else and holds at every
steering angle; *wheels* is the same wherever J_x has an inverse, which needs three casters;
*blocks* takes Lagrange's equations of six free coordinates without multipliers.
scripts/wheel_torque_readings.py compares the three, for docs/papers/el_shenawy.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_dynamics.caster_dynamics import bias, mass_matrix
from c3p_experiments.el_shenawy.joint_space import (
    JointSpace,
    check_steering_weight,
    joint_space,
    one_state,
)
from c3p_kinematics.casters import inverse

FORMS = ('constrained', 'wheels', 'blocks')

# reciprocal condition of J_x below which the reading by wheels does not exist
SINGULAR = 1e-12


class JointAcceleration(NamedTuple):
    """
    Accelerations of the joints, and the torques that close the chains.

    Attributes
    ----------
    wheel, steering : (n,) array, rad/s²
        q̈_x and q̈_s.
    twist : (3,) array, m/s² and rad/s²
        ν̇ = J_f (q̈ − J̇ν) in ``base_link``, by the sensed forward solution (6).
    multiplier : (2n − 3,) array, N·m
        λ; zeros in the other readings, which have none.
    closing_torque : (2n,) array, N·m
        Aᵀλ on q_x and q_s. Depends on the left inverse J_f, as M_q does.
    closure_error : float, rad/s²
        ``|A (q̈ − J̇ν)|``: rate at which these accelerations open the chains.
    """

    wheel: Array
    steering: Array
    twist: Array
    multiplier: Array
    closing_torque: Array
    closure_error: float


class InverseForm(NamedTuple):
    """
    ``τ_x = M_x ν̇ + G_xi``, paper I (10)-(12) and II (16)-(18).

    Attributes
    ----------
    mass : (n, 3) array
        M_x, N·m per m/s² and rad/s².
    bias : (n,) array, N·m
        G_xi.
    """

    mass: Array
    bias: Array


def joint_forward(robot: CasterRobot, steering: ArrayLike, wheel_rate: ArrayLike,
                  steering_rate: ArrayLike, wheel_torque: ArrayLike, form: str = 'constrained',
                  steering_weight: float = 1.0) -> JointAcceleration:
    """
    Return the accelerations of wheels and steering that the wheel torques cause.

    Parameters
    ----------
    robot : CasterRobot
        With its friction.
    steering : (n,) array_like, rad
    wheel_rate, steering_rate : (n,) array_like, rad/s
        q̇_x and q̇_s; 'wheels' does not use the latter.
    wheel_torque : (n,) array_like, N·m
    form : str
        One of `FORMS`: 'constrained', and at regular poses 'wheels', equals
        ``caster_dynamics.forward_dynamics`` for rates that close the chains.
    steering_weight : float, > 0
        w_s of the left inverse; only 'blocks' depends on it.

    Returns
    -------
    JointAcceleration

    Raises
    ------
    ValueError
        A vector that is not one state of finite numbers, an unknown form, or a weight that is not
        positive; 'blocks' for a robot whose blocks of M_q are singular, 'wheels' at a singular
        pose or for other than three casters.
    """
    _check(form)
    n = robot.count
    (torque,) = one_state(n, wheel_torque=(wheel_torque, n))
    space = joint_space(robot, steering, wheel_rate, steering_rate, steering_weight)
    if form == 'wheels':
        # the wheels alone determine the motion
        spun = _wheels_inverse(space) @ np.asarray(wheel_rate, float)
        space = joint_space(robot, steering, wheel_rate, space.jacobian[n:] @ spun,
                            steering_weight)
    applied = space.applied + np.concatenate([torque, np.zeros(n)])
    solve = {'constrained': _constrained, 'wheels': _by_wheels, 'blocks': _blocks}[form]
    return solve(space, applied)


def joint_inverse(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike,
                  form: str = 'constrained', steering_weight: float = 1.0) -> InverseForm:
    """
    Return the papers' inverse dynamics as a matrix and a bias, friction left out.

    Parameters
    ----------
    robot : CasterRobot
        Driven on all wheels.
    steering : (n,) array_like, rad
    twist : (3,) array_like
        ν, ``base_link``.
    form : str
        One of `FORMS`: with 'constrained' ``M_x ν̇ + G_xi`` is ``caster_dynamics.inverse_dynamics``
        of the weight `steering_weight`.
    steering_weight : float, > 0
        w_s of the virtual steering motors.

    Returns
    -------
    InverseForm

    Raises
    ------
    ValueError
        A vector that is not one state of finite numbers, an unknown form, a weight that is not
        positive, or a caster that is not driven.
    """
    _check(form)
    n = robot.count
    if not robot.driven.all():
        raise ValueError(f'driven = {robot.driven.tolist()}: the papers drive all wheels; '
                         'caster_dynamics.inverse_dynamics supports wheels without a motor')
    angles, nu = one_state(n, steering=(steering, n), twist=(twist, 3))
    wheel_rate, steering_rate, _ = inverse(robot, angles, nu)
    space = joint_space(robot, angles, wheel_rate, steering_rate, steering_weight)
    if form == 'blocks':
        rows = space.mass[:n]
        return InverseForm(rows @ space.jacobian, space.lagrange_bias[:n] + rows @ space.drift)
    if form == 'wheels':
        back = _wheels_inverse(space).T
        return InverseForm(back @ mass_matrix(robot, angles), back @ bias(robot, angles, nu))
    wheels = space.jacobian[:n]
    shares = space.sensed[:, :n].T
    spin = robot.wheel_radius**2 * robot.caster_inertia[:, 0]
    own = spin[:, None] * wheels
    spent = spin * space.drift[:n]
    mass = own + shares @ (mass_matrix(robot, angles) - wheels.T @ own)
    return InverseForm(mass, spent + shares @ (bias(robot, angles, nu) - wheels.T @ spent))


def _check(form: str) -> None:
    if form not in FORMS:
        raise ValueError(f'form = {form!r}: must be one of {FORMS}')


def _constrained(space: JointSpace, applied: Array) -> JointAcceleration:
    """Solve ``M_q q̈ − Aᵀλ = Q − G_q`` with ``A q̈ = A J̇ν``."""
    size = space.closure.shape[1]
    rows = space.closure.shape[0]
    system = np.block([[space.mass, -space.closure.T],
                       [space.closure, np.zeros((rows, rows))]])
    right = np.concatenate([applied - space.bias, space.closure @ space.drift])
    solved = np.linalg.solve(system, right)
    return _result(space, solved[:size], solved[size:])


def _wheels_inverse(space: JointSpace) -> Array:
    """Return J_x⁻¹."""
    wheels = space.jacobian[:len(space.jacobian) // 2]
    if len(wheels) != 3:
        raise ValueError(f"form = 'wheels': needs three casters, not {len(wheels)}, as J_x must "
                         "have an inverse; use 'constrained'")
    if 1.0 / np.linalg.cond(wheels) < SINGULAR:
        raise ValueError("form = 'wheels': J_x has no inverse at this singular pose; use "
                         "'constrained'")
    return np.linalg.inv(wheels)


def _by_wheels(space: JointSpace, applied: Array) -> JointAcceleration:
    """Solve (13) with M(q_s) = J_x⁻ᵀ M J_x⁻¹; (14) follows from the rates of the platform."""
    n = len(space.mass) // 2
    inverted = _wheels_inverse(space)
    mass = inverted.T @ space.jacobian.T @ space.mass @ space.jacobian @ inverted
    force = space.jacobian.T @ (applied - space.mass @ space.drift - space.bias)
    wheel = np.linalg.solve(mass, inverted.T @ force) + space.drift[:n]
    steering = space.jacobian[n:] @ inverted @ (wheel - space.drift[:n]) + space.drift[n:]
    return _result(space, np.concatenate([wheel, steering]), np.zeros(len(space.closure)))


def _blocks(space: JointSpace, applied: Array) -> JointAcceleration:
    """Solve (13) for the wheels with M_xx, then (14) for the steering with M_ss."""
    n = len(space.mass) // 2
    left = applied - space.lagrange_bias
    if min(map(np.linalg.matrix_rank, (space.mass[:n, :n], space.mass[n:, n:]))) < n:
        raise ValueError("form = 'blocks': M_xx or M_ss is singular, as the platform alone gives "
                         "them rank 3; give links and wheels masses or inertias, or use "
                         "'constrained'")
    wheel = np.linalg.solve(space.mass[:n, :n], left[:n])
    steering = np.linalg.solve(space.mass[n:, n:], left[n:] - space.mass[n:, :n] @ wheel)
    return _result(space, np.concatenate([wheel, steering]), np.zeros(len(space.closure)))


def _result(space: JointSpace, accel: Array, multiplier: Array) -> JointAcceleration:
    n = len(accel) // 2
    rest = accel - space.drift
    return JointAcceleration(accel[:n], accel[n:], space.sensed @ rest, multiplier,
                             space.closure.T @ multiplier,
                             float(np.linalg.norm(space.closure @ rest)))


class WheelTorqueSimulation:
    """
    Paper II, Fig. 5: wheels and steering integrated as coordinates of their own.

    The papers calculate the steering "recursively": wheel torque dynamics and estimator see
    steering angles and rates that are delayed by one time step. That is the option `unit_delay`;
    without it the six speeds are integrated together by the classical Runge-Kutta method. Either
    case only the equations keep the chains closed; `closure_error` is the deviation.

    Parameters
    ----------
    robot : CasterRobot
    form : str
        One of `FORMS`.
    unit_delay : bool
        True for the papers' scheme, of first order in the time step.
    steering_weight : float, > 0
        w_s of the left inverse.

    Attributes
    ----------
    wheel_angle, steering : (n,) array, rad
        q_x and q_s.
    wheel_rate, steering_rate : (n,) array, rad/s
        q̇_x and q̇_s.

    Raises
    ------
    ValueError
        An unknown form, or a weight that is not positive.
    """

    def __init__(self, robot: CasterRobot, form: str = 'constrained', unit_delay: bool = False,
                 steering_weight: float = 1.0) -> None:
        """Stand with all angles 0."""
        _check(form)
        check_steering_weight(steering_weight)
        self._robot = robot
        self._form = form
        self._weight = steering_weight
        self._unit_delay = unit_delay
        self.reset(np.zeros(robot.count))

    def reset(self, steering: ArrayLike, twist: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """
        Start with closed chains: `steering` (n,) in rad, `twist` (3,) in ``base_link``.

        Raises
        ------
        ValueError
            A vector that is not one state of finite numbers.
        """
        n = self._robot.count
        angles, nu = one_state(n, steering=(steering, n), twist=(twist, 3))
        wheel_rate, steering_rate, _ = inverse(self._robot, angles, nu)
        self.wheel_angle: Array = np.zeros(n)
        self.steering: Array = angles.copy()
        self.wheel_rate: Array = wheel_rate
        self.steering_rate: Array = steering_rate
        self._delayed = self.steering.copy(), self.steering_rate.copy()

    @property
    def twist(self) -> Array:
        """ν = J_f q̇, the sensed forward solution (5) of the joints' rates."""
        return self._space().twist

    @property
    def closure_error(self) -> float:
        """``|A q̇|``, rad/s: zero as long as the chains are closed."""
        speeds = np.concatenate([self.wheel_rate, self.steering_rate])
        return float(np.linalg.norm(self._space().closure @ speeds))

    def step(self, wheel_torque: ArrayLike, dt: float) -> JointAcceleration:
        """
        Hold `wheel_torque` (n,) for `dt` seconds; return the accelerations at the start.

        Raises
        ------
        ValueError
            A torque that is not n finite numbers, or a `dt` that is not positive; a model that
            has diverged, as 'blocks' does.
        """
        if not 0 < dt < np.inf:
            raise ValueError(f'dt = {dt}: must be finite and greater than zero')
        if self._unit_delay:
            return self._delayed_step(wheel_torque, dt)
        state = np.concatenate([self.wheel_angle, self.steering, self.wheel_rate,
                                self.steering_rate])
        first, k1 = self._rates(state, wheel_torque)
        _, k2 = self._rates(state + 0.5 * dt * k1, wheel_torque)
        _, k3 = self._rates(state + 0.5 * dt * k2, wheel_torque)
        _, k4 = self._rates(state + dt * k3, wheel_torque)
        state = state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        self.wheel_angle, self.steering, self.wheel_rate, self.steering_rate = state.reshape(4, -1)
        return first

    def _delayed_step(self, wheel_torque: ArrayLike, dt: float) -> JointAcceleration:
        """Advance by Euler's rule, with the steering of the step before in all equations."""
        angles, rates = self._delayed
        accel = joint_forward(self._robot, angles, self.wheel_rate, rates, wheel_torque,
                              self._form, self._weight)
        self._delayed = self.steering, self.steering_rate
        self.wheel_rate = self.wheel_rate + dt * accel.wheel
        self.steering_rate = self.steering_rate + dt * accel.steering
        self.wheel_angle = self.wheel_angle + dt * self.wheel_rate
        self.steering = self.steering + dt * self.steering_rate
        return accel

    def _rates(self, state: Array, wheel_torque: ArrayLike) -> tuple[JointAcceleration, Array]:
        _, steering, wheel_rate, steering_rate = state.reshape(4, -1)
        accel = joint_forward(self._robot, steering, wheel_rate, steering_rate, wheel_torque,
                              self._form, self._weight)
        return accel, np.concatenate([wheel_rate, steering_rate, accel.wheel, accel.steering])

    def _space(self) -> JointSpace:
        return joint_space(self._robot, self.steering, self.wheel_rate, self.steering_rate,
                           self._weight)
