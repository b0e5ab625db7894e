# SPDX-License-Identifier: Apache-2.0
"""
Forward and inverse dynamics of a robot on any mix of wheels.

The generalised speeds are the twist ν in ``base_link`` and the steering rates of wheels that are
located below their pivots (d = 0); casters and two wheels on one pivot follow from ν, with an
offset b of the wheels or without. With the rows S, U and T of a wheel, ``r θ̇_x = (S + b T) q̇`` and
the motors between platform and fork (τ_s) and between fork and wheel (τ),

    M q̈ = F + Σ (S + b T)ᵀ τ/r + (T − [0 0 1])ᵀ τ_s + Aᵀ λ,   A q̇ = 0

F are friction and centripetal forces, and λ the side forces of wheels that are fixed or located
below their pivots, which do not slide. `forward` and `inverse` solve for the ideal λ; with a
`SideTyre`, `forward` takes the forces of tyres. docs/wheel_dynamics.md derives the equations.

Leading dimensions broadcast: ``steering`` (…, n) with ``twist`` (…, 3).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description import wheels
from c3p_description.model import Array, CasterRobot, ModelError
from c3p_dynamics import _wheel_equations as kernels
from c3p_dynamics._caster_equations import platform_terms
from c3p_dynamics.caster_dynamics import inverse_dynamics
from c3p_dynamics.friction import friction_compensation
from c3p_dynamics.side_tyres import SideTyre, tyre_columns
from c3p_kinematics.casters import batched

# singular values below this fraction of the largest count as zero: wheels that point 1e-9 rad
# apart have one row
RANK_TOLERANCE = 1e-9

# random steering angles at which rates of friction are compared
POSTURES = 64


class WheelAccelerations(NamedTuple):
    """
    Accelerations of a robot.

    Attributes
    ----------
    twist_accel : (…, 3) array, m/s² and rad/s²
        ν̇, derivatives of the components in ``base_link``.
    steering_accel : (…, n) array, rad/s²
        θ̈_s of all wheels, also of those that the motion turns; 0 of fixed ones.
    """

    twist_accel: Array
    steering_accel: Array


@lru_cache(maxsize=64)
def turning_places(robot: CasterRobot) -> Array:
    """
    Return the place of the steering rate of each wheel among the speeds q̇, (n,) int.

    3 or more below a pivot; `TRAILS` where the motion turns the wheel, `FIXED` where nothing does.

    Examples
    --------
    >>> from c3p_description import load
    >>> turning_places(load('tricycle_agv')).tolist(), turning_places(load('twin')).tolist()[:2]
    ([3, -2, -2], [-1, -1])
    """
    places = np.where(robot.fixed, kernels.FIXED, kernels.TRAILS)
    below = np.flatnonzero(~robot.fixed & (robot.caster_offset == 0.0))
    first = wheels.first_on_pivot(robot)
    pivots = list(dict.fromkeys(first[below].tolist()))
    places[below] = [3 + pivots.index(first[i]) for i in below]
    places.setflags(write=False)
    return places


@lru_cache(maxsize=64)
def _joints(robot: CasterRobot) -> tuple[Array, Array]:
    """Return the wheel whose joint each wheel has (n,), and those of the own speeds (N − 3,)."""
    places = turning_places(robot)
    own = [int(np.argmax(places == place)) for place in range(3, places.max() + 1)]
    return wheels.first_on_pivot(robot), np.array(own, int)


@lru_cache(maxsize=64)
def wheel_model(robot: CasterRobot, tyre: SideTyre | None = None) -> kernels.WheelModel:
    """
    Return the numbers of a robot for the equations of motion.

    Two wheels on a pivot have one steering joint, and its friction is that of the first of them.

    Raises
    ------
    ModelError
        A wheel below its pivot that turns without inertia.
    """
    first = wheels.first_on_pivot(robot)
    losses = robot.losses.copy()
    losses[first != np.arange(robot.count), :2] = 0.0
    columns = np.column_stack([
        robot.hip_position, robot.caster_offset, robot.lateral_offset, robot.wheel_radius,
        robot.link_mass, robot.link_com, robot.link_inertia + robot.wheel_yaw_inertia,
        robot.wheel_mass, robot.wheel_spin_inertia / robot.wheel_radius**2, losses,
        tyre_columns(robot, tyre)])
    m, mx, my, about = platform_terms(robot.platform)
    places = turning_places(robot)
    own = (robot.link_inertia + robot.wheel_yaw_inertia + robot.link_mass * robot.link_com**2
           + columns[:, kernels.SPIN] * robot.lateral_offset**2
           + robot.wheel_mass * robot.lateral_offset**2)
    for place in range(3, places.max() + 1):
        if not np.sum(own[places == place]) > 0:
            wheel = int(np.argmax(places == place))
            raise ModelError(f'link_inertia = {robot.link_inertia[wheel]:g}, wheel_yaw_inertia = '
                             f'{robot.wheel_yaw_inertia[wheel]:g} of wheel {wheel + 1}: a wheel '
                             'below its pivot (d = 0) has a steering acceleration of its own; '
                             'one of them must be greater than zero')
    return kernels.WheelModel(np.array([m, mx, my, about]), np.ascontiguousarray(columns), places,
                              1.0 if tyre is None else float(tyre.lead))


def speeds_of(robot: CasterRobot, twist: Array, steering_rate: Array) -> Array:
    """Return q̇ (…, N) from ν (…, 3) and θ̇_s (…, n); steering rates of others do not matter."""
    return np.concatenate([twist, steering_rate[..., _joints(robot)[1]]], axis=-1)


class WheelMotion(NamedTuple):
    """
    Equations of a batch of B motions.

    Attributes
    ----------
    robot : CasterRobot
    batch : tuple of int
        Leading shape of the arguments.
    speeds : (B, N) array
        q̇.
    terms : WheelTerms
        M, F and the rows, each with the batch in front.
    """

    robot: CasterRobot
    batch: tuple[int, ...]
    speeds: Array
    terms: kernels.WheelTerms

    def along(self) -> Array:
        """Return the rows S + b T (B, n, N), of r θ̇_x."""
        rows = self.terms.rows
        return rows[:, :, 0] + self.robot.lateral_offset[:, None] * rows[:, :, 2]

    def steering(self) -> Array:
        """Return the rows T − [0 0 1] (B, n, N), of θ̇_s; 0 of fixed wheels."""
        rows = self.terms.rows[:, :, 2].copy()
        rows[..., 2] -= 1.0
        return rows

    def side(self) -> tuple[Array, Array]:
        """Return the rows A (B, k, N) of wheels that do not trail, and their drifts (B, k)."""
        held = wheels.believed(self.robot)
        d = self.robot.caster_offset[held]
        rows, drifts = self.terms.rows[:, held], self.terms.drifts[:, held]
        return rows[:, :, 1] + d[:, None] * rows[:, :, 2], drifts[..., 1] + d * drifts[..., 2]


def _of_all(value: ArrayLike, count: int) -> Array:
    """Return values of all wheels, also where one number stands for all of them."""
    given = np.asarray(value, float)
    return np.full(count, given) if given.ndim == 0 else given


def equations(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike,
              steering_rate: ArrayLike, tyre: SideTyre | None = None, **torque: ArrayLike
              ) -> tuple[WheelMotion, list[Array]]:
    """
    Return the equations of motions, and the rows of other vectors that were given by name.

    `forward` and `inverse` solve them.

    Parameters
    ----------
    robot, steering, twist, steering_rate, tyre
        As of `forward`, and its errors.
    **torque
        Vectors ``accel``, ``steering_accel`` or ``torque`` of the same motions.
    """
    n = robot.count
    sizes = {'accel': 3, 'steering_accel': n, 'torque': robot.efforts}
    batch, (angles, nu, rates, *more) = batched(
        n, steering=(steering, n), twist=(twist, 3), steering_rate=(_of_all(steering_rate, n), n),
        **{name: (value, sizes[name]) for name, value in torque.items()})
    angles = np.where(robot.fixed, robot.steering_zero, angles)[:, _joints(robot)[0]]
    speeds = speeds_of(robot, nu, rates)
    count, size = speeds.shape
    terms = kernels.WheelTerms(np.empty((count, size, size)), np.empty((count, size)),
                               np.empty((count, n, 3, size)), np.empty((count, n, 3)),
                               np.empty((count, n, 3)))
    push = more[-1] if 'torque' in torque else np.zeros((count, n))
    kernels.equations_of_all(tuple(wheel_model(robot, tyre)), np.ascontiguousarray(angles), speeds,
                             push, tuple(terms))
    return WheelMotion(robot, batch, speeds, terms), more


def _whitened(mass: Array, columns: Array) -> tuple[Array, Array]:
    """Return L of ``M = L Lᵀ`` (B, N, N), and ``L⁻¹`` times columns (B, N, k)."""
    factor = np.linalg.cholesky(mass)
    return factor, np.linalg.solve(factor, columns)


def forward(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike, steering_rate: ArrayLike,
            torque: ArrayLike, tyre: SideTyre | None = None) -> WheelAccelerations:
    """
    Return the accelerations that torques cause, with the friction of ``robot.friction``.

    The side forces keep wheels that do not trail from sliding, ``A q̈ = −dA/dt q̇``, if they do not
    slide now. Where rows of several wheels agree, they share the force; where they contradict each
    other, as those of modules that turn apart do, what is left of the slip's accelerations is
    least. With a `tyre` the side forces are those of its law instead.

    For ordinary casters equal to `caster_dynamics.forward_dynamics`.

    Parameters
    ----------
    robot : CasterRobot
        On wheels of any kind.
    steering : (…, n) array_like, rad
        Of fixed wheels `steering_zero` is taken, of two wheels on a pivot that of the first.
    twist : (…, 3) array_like, m/s and rad/s
        ν, ``base_link``.
    steering_rate : (…, n) array_like or float, rad/s
        Of wheels below their pivots; of others it does not matter.
    torque : (…, robot.efforts) array_like, N·m
        Of the wheels and, with steering motors, of the steering axes behind; a torque where no
        motor is counts as an external one.
    tyre : SideTyre, optional
        Default: ideal tyres.

    Returns
    -------
    WheelAccelerations

    Raises
    ------
    ValueError
        A vector of the wrong size, or a number that is not finite; the text names it.
    ModelError
        See `wheel_model`.

    Examples
    --------
    >>> from c3p_description import load
    >>> amr = load('amr')  # two fixed wheels: the driven axle cannot slide sideways
    >>> torque = [2.0, 2.0, 0.0, 0.0, 0.0, 0.0]
    >>> accel, _ = forward(amr, [0.0] * 6, [0.5, 0.0, 0.4], 0.0, torque)
    >>> round(float(accel[1]), 12) + 0.0
    0.0
    """
    motion, _ = equations(robot, steering, twist, steering_rate, tyre, torque=torque)
    terms = motion.terms
    accel = np.empty_like(motion.speeds)
    if tyre is not None:
        model = tuple(wheel_model(robot, tyre))
        for b in range(len(accel)):
            parts = tuple(part[b] for part in terms)
            kernels.tyres(model, parts)
            kernels.accelerate(parts, accel[b])
    else:
        rows, drifts = motion.side()
        columns = np.concatenate([terms.force[..., None], rows.transpose(0, 2, 1)], axis=-1)
        factor, white = _whitened(terms.mass, columns)
        free = white[..., :1]
        rows = white[..., 1:].transpose(0, 2, 1)
        # the nearest acceleration, in kinetic energy, that the rows allow
        barred = rows @ free + drifts[..., None]
        held = free - np.linalg.pinv(rows, rcond=RANK_TOLERANCE) @ barred
        accel = np.linalg.solve(factor.transpose(0, 2, 1), held)[..., 0]
    steer = np.einsum('bij,bj->bi', motion.steering(), accel) + terms.drifts[..., 2]
    return WheelAccelerations(accel[:, :3].reshape(*motion.batch, 3),
                              steer.reshape(*motion.batch, robot.count))


def inverse(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike, steering_rate: ArrayLike,
            accel: ArrayLike, steering_accel: ArrayLike) -> Array:
    """
    Return the torques for an acceleration, friction included.

    The pushes of the driven wheels, τ/r, and the side forces have the least sum of squares that
    gives it: what uses least of the tyres' grip, and what is continuous where wheels nearly agree.
    Steering motors of wheels below their pivots have one solution, of casters they count as the
    force τ_s/d at the contact. Side forces bear what wheels that do not trail bar; what neither
    motors nor side forces reach is left out, nearest in kinetic energy.

    `forward` of the torques is the acceleration again, where it is one that the wheels allow. For
    ordinary casters the torques are those of `caster_dynamics.inverse_dynamics` and
    `friction.friction_compensation` with their defaults and the friction's own smoothing.

    Parameters
    ----------
    robot, steering, twist, steering_rate
        As of `forward`.
    accel : (…, 3) array_like, m/s² and rad/s²
        ν̇, component derivatives.
    steering_accel : (…, n) array_like or float, rad/s²
        Of wheels below their pivots; of others it does not matter.

    Returns
    -------
    (…, robot.efforts) array, N·m
        Zero where no motor is.

    Raises
    ------
    ValueError, ModelError
        As of `forward`.

    Examples
    --------
    >>> from c3p_description import load
    >>> swerve = load('swerve')
    >>> torque = inverse(swerve, [0.0] * 4, [0.0] * 3, 0.0, [0.0, 1.0, 0.0], 0.0)
    >>> torque[:4].round(3).tolist()  # 62 kg and four times I/r² of the wheels, by r/4
    [0.8, 0.8, 0.8, 0.8]
    """
    if not robot.other_wheels:
        return (inverse_dynamics(robot, steering, twist, accel)
                + friction_compensation(robot, steering, twist,
                                        smoothing=float(robot.losses[:, 5].max())))
    motion, (nudot, turned) = equations(robot, steering, twist, steering_rate, accel=accel,
                                         steering_accel=_of_all(steering_accel, robot.count))
    terms = motion.terms
    needed = np.einsum('bij,bj->bi', terms.mass, speeds_of(robot, nudot, turned)) - terms.force
    # a torque is a force times r, of steering motors times d
    lever = np.where(robot.caster_offset > 0.0, robot.caster_offset, 1.0)
    steer = motion.steering() * lever[:, None]
    pushes = np.concatenate([motion.along()[:, robot.driven], steer[:, robot.steered],
                             motion.side()[0]], axis=1)
    columns = np.concatenate([needed[..., None], pushes.transpose(0, 2, 1)], axis=-1)
    _, white = _whitened(terms.mass, columns)
    force = (np.linalg.pinv(white[..., 1:], rcond=RANK_TOLERANCE) @ white[..., :1])[..., 0]
    torque = np.zeros((len(force), robot.efforts))
    levers = np.concatenate([robot.wheel_radius[robot.driven], lever[robot.steered]])
    torque[:, robot.actuated] = force[:, :len(levers)] * levers
    return torque.reshape(*motion.batch, robot.efforts)


def friction_rate(robot: CasterRobot) -> float:
    """
    Return the largest rate at which friction slows a motion, 1/s, of `POSTURES` random ones.

    Dry friction counts with its slope at standstill: an explicit step must be shorter than about
    two over this rate.
    """
    angles = np.random.default_rng(0).uniform(-np.pi, np.pi, (POSTURES, robot.count))
    motion, _ = equations(robot, angles, np.zeros(3), 0.0)
    spin = motion.along() / robot.wheel_radius[:, None]
    losses = wheel_model(robot).wheels[:, kernels.PIVOT_VISCOUS:kernels.SMOOTHING + 1]
    # viscous and dry, of which the slope at standstill is the torque over the smoothing
    smoothing = losses[:, 5]
    pivot = losses[:, 0] + losses[:, 1] / smoothing
    roll = losses[:, 2] + losses[:, 3] / smoothing
    scrub = losses[:, 4] / smoothing
    slopes = np.concatenate([np.sqrt(slope)[:, None] * rows for slope, rows in (
        (pivot, motion.steering()), (roll, spin), (scrub, motion.terms.rows[:, :, 2]))], axis=1)
    _, white = _whitened(motion.terms.mass, slopes.transpose(0, 2, 1))
    return float(np.linalg.norm(white, 2, axis=(1, 2)).max()**2)


def kinetic_energy(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike,
                   steering_rate: ArrayLike) -> Array:
    """
    Return ½ q̇ᵀ M q̇ of the whole robot, (…) array in joule; arguments as of `forward`.

    Raises
    ------
    ValueError, ModelError
        As of `forward`.
    """
    motion, _ = equations(robot, steering, twist, steering_rate)
    energy = 0.5 * np.einsum('bi,bij,bj->b', motion.speeds, motion.terms.mass, motion.speeds)
    return energy.reshape(motion.batch)
