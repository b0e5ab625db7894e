# SPDX-License-Identifier: Apache-2.0
"""
Kinematics of a platform on offset casters: inverse, accelerations, sensed forward solution.

Everything holds for any number of casters at any place. With e = (−sin θ_s, cos θ_s) the rolling
direction and a = (cos θ_s, sin θ_s) the axle of a caster whose pivot is at m, the pivot moves with

    s = e·(v + ω ẑ×m) = Rx ν        u = a·(v + ω ẑ×m) = Ra ν

and rolling without slip makes ``θ̇_x = s/r``, ``θ̇_c = −u/d`` and ``θ̇_s = θ̇_c − ω``. The twist
ν = (vx, vy, ω) is in ``base_link``. Paper I, eqs (2)-(7), derived again: the printed (4) has sine
and cosine exchanged (docs/papers/el_shenawy.md).

Leading dimensions broadcast: ``steering`` (…, n) with ``twist`` (…, 3).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics import _planar_kernels as kernels
from c3p_kinematics.measured_joints import MeasuredJoints


class SensedForward(NamedTuple):
    """
    Least-squares solution for the platform's motion from wheels and steering axes.

    Attributes
    ----------
    twist : (…, 3) array
        ν = (vx, vy, ω), m/s and rad/s, ``base_link``.
    residual : (…, n, 2) array, m/s
        Measured minus fitted velocity of each contact point, [along, across] its wheel. Zero when
        nothing slips, and where nothing is measured.
    information : (…, 3, 3) array
        ``Σ wᵢ JᵢᵀJᵢ`` of the fit; its inverse is the twist's covariance when the weights are
        inverse variances.
    """

    twist: Array
    residual: Array
    information: Array


def batched(count: int, **arrays: tuple[ArrayLike, int]) -> tuple[tuple[int, ...], list[Array]]:
    """
    Return the common leading shape of named vectors, and the vectors as contiguous (B, last).

    ``name=(value, last dimension)``. ValueError names a vector with a wrong last dimension, a
    number that is not finite, or leading dimensions that do not broadcast, for a robot with
    `count` casters.
    """
    vectors = []
    for name, (value, last) in arrays.items():
        vector = np.asarray(value, float)
        if vector.ndim == 0 or vector.shape[-1] != last:
            raise ValueError(f'{name} has shape {vector.shape}: the last dimension must be {last} '
                             f'for a robot with {count} casters')
        vectors.append(vector)
    batch = vectors[0].shape[:-1]
    if any(v.shape[:-1] != batch for v in vectors):
        try:
            batch = np.broadcast_shapes(*(v.shape[:-1] for v in vectors))
        except ValueError:
            shapes = ', '.join(f'{name} {v.shape}' for name, v in zip(arrays, vectors,
                                                                      strict=True))
            raise ValueError(f'{shapes}: the leading dimensions must broadcast') from None
        # copies: kernels are compiled once more for arrays that are read-only
        vectors = [v if v.shape[:-1] == batch else np.array(np.broadcast_to(
            v, batch + v.shape[-1:])) for v in vectors]
    rows = [np.ascontiguousarray(v.reshape(-1, v.shape[-1])) for v in vectors]
    for name, row in zip(arrays, rows, strict=True):
        wrong = kernels.first_not_finite(row)
        if wrong >= 0:
            place = ', '.join(map(str, np.unravel_index(wrong, batch)))
            raise ValueError(f'{name}{f"[{place}]" if place else ""} = {row[wrong].tolist()}: '
                             'every number must be finite')
    return batch, rows


def _jacobians(robot: CasterRobot, steering: ArrayLike) -> list[Array]:
    n = robot.count
    batch, (angles,) = batched(n, steering=(steering, n))
    out = np.empty((3, len(angles), n, 3))
    kernels.jacobians(robot.geometry, angles, out[0], out[1], out[2])
    return [part.reshape(*batch, n, 3) for part in out]


def wheel_jacobian(robot: CasterRobot, steering: ArrayLike) -> Array:
    """
    Return ``J_x = Rx/r``: wheel rates of a body twist, ``θ̇_x = J_x ν``.

    (…, n, 3), 1/m and 1, for `steering` θ_s (…, n), rad. Singular when the rolling lines are
    parallel or meet in one point: see singularity.py. Paper I, eq. (2), for the twist in the
    platform frame. ValueError unless `steering` has one finite angle per caster.

    Examples
    --------
    >>> import numpy as np
    >>> from c3p_description.model import CasterRobot
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> np.round(wheel_jacobian(robot, [0, 0, 0]) @ [0, 0.3, 0], 3)  # all along +Y: 0.3/0.04
    array([7.5, 7.5, 7.5])
    """
    return _jacobians(robot, steering)[0]


def steering_jacobian(robot: CasterRobot, steering: ArrayLike) -> Array:
    """
    Return ``J_s = −Ra/d − [0 0 1]``: steering rates of a body twist, ``θ̇_s = J_s ν``.

    Shapes, frames and errors as `wheel_jacobian`. Paper I, eq. (3).

    Examples
    --------
    >>> import numpy as np
    >>> from c3p_description.model import CasterRobot
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> np.round(steering_jacobian(robot, [0, 0, 0]) @ [0.1, 0, 0], 3)  # dragged sideways
    array([-2.5, -2.5, -2.5])
    """
    robot.require_casters('the Jacobian of the steering axes')
    return _jacobians(robot, steering)[1]


def contact_jacobian(robot: CasterRobot, steering: ArrayLike) -> Array:
    """
    Return ``J_c = −Ra/d``: rates at which the wheels turn about their contacts, ``θ̇_c = J_c ν``.

    θ̇_c = φ̇ + θ̇_s is the yaw rate of the wheel over ground. Shapes, frames and errors as
    `wheel_jacobian`. Paper I, eq. (4), corrected.
    """
    robot.require_casters('the Jacobian of the contacts')
    return _jacobians(robot, steering)[2]


def inverse(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike
            ) -> tuple[Array, Array, Array]:
    """
    Return the rates of all wheels when the platform moves with `twist` and nothing slips.

    ``θ̇_x = Rx ν/r``, ``θ̇_s = −Ra ν/d − ω``, ``θ̇_c = −Ra ν/d``: (…, n), rad/s, from `steering`
    (…, n), rad, and `twist` ν = (vx, vy, ω) (…, 3), m/s and rad/s, ``base_link``. ValueError names
    a vector of the wrong size or a number that is not finite, ModelError a robot with other wheels
    than casters.

    Examples
    --------
    >>> import numpy as np
    >>> from c3p_description.model import CasterRobot
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> wheel, steer, contact = inverse(robot, [0.1, -0.4, 2.0], [0.3, -0.1, 0.5])
    >>> bool(np.allclose(contact, steer + 0.5))
    True
    """
    n = robot.count
    robot.require_casters('rates of a motion')
    batch, (angles, nu) = batched(n, steering=(steering, n), twist=(twist, 3))
    out = np.empty((3, len(angles), n))
    kernels.rates(robot.geometry, angles, nu, out[0], out[1], out[2])
    wheel, steer, contact = (part.reshape(*batch, n) for part in out)
    return wheel, steer, contact


def inverse_acceleration(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike,
                         accel: ArrayLike) -> tuple[Array, Array]:
    """
    Return wheel and steering accelerations of a rigid motion without slip.

    ``θ̈_x = J_x ν̇ − θ̇_s u/r`` and ``θ̈_s = J_s ν̇ − θ̇_s s/d`` because ``dRx/dθ = −Ra`` and
    ``dRa/dθ = Rx``: the velocity term that paper I, eq. (7), calls g_cs and does not print.

    `steering`, `twist` and errors as in `inverse`; `accel` is ν̇ (…, 3), the derivative of ν's
    components (not the inertial acceleration, which is ν̇ + [−ω vy, ω vx, 0]), m/s² and rad/s².
    Both results are (…, n), rad/s².
    """
    n = robot.count
    robot.require_casters('accelerations of the joints')
    batch, (angles, nu, nudot) = batched(n, steering=(steering, n), twist=(twist, 3),
                                         accel=(accel, 3))
    out = np.empty((2, len(angles), n))
    kernels.accelerations(robot.geometry, angles, nu, nudot, out[0], out[1])
    return out[0].reshape(*batch, n), out[1].reshape(*batch, n)


def sensed_forward(robot: CasterRobot, steering: ArrayLike, wheel_rate: ArrayLike,
                   steering_rate: ArrayLike, weight: ArrayLike = 1.0) -> SensedForward:
    """
    Return the least-squares twist of all wheel and steering rates, and the residuals.

    Minimises ``Σ w_x (r θ̇_x − b θ̇_s − (Rx + b[0 0 1]) ν)² + w_a (−d θ̇_s − (Ra + d[0 0 1]) ν)²``:
    the velocities of the n platform points over the contacts. It has full rank as long as two
    contact points differ (if all coincide the twist is nan), also where the wheel Jacobian is
    singular. Without slip it equals paper I, eq. (5), and Muir and Neuman's closed form.

    For wheels without encoders, fixed wheels and wheels without offset both sides of a row have
    the factor `CasterRobot.rows` as well; angles and rates of joints without an encoder are not
    used, and may be nan.

    Parameters
    ----------
    robot : CasterRobot
    steering : (…, n) array_like, rad
    wheel_rate, steering_rate : (…, n) array_like, rad/s
    weight : array_like, broadcast to (…, n, 2)
        w_x (along) and w_a (across) of each caster, ≥ 0; inverse variances in s²/m² where they are
        known. A caster with weight 0 is left out.

    Returns
    -------
    SensedForward

    Raises
    ------
    ValueError
        A vector of the wrong size, a number that is not finite, a negative weight; the text
        names it.

    Examples
    --------
    >>> import numpy as np
    >>> from c3p_description.model import CasterRobot
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> wheel, steer, _ = inverse(robot, [0, 0, 0], [0.3, -0.1, 0.5])  # singular for J_x alone
    >>> np.round(sensed_forward(robot, [0, 0, 0], wheel, steer).twist, 12)
    array([ 0.3, -0.1,  0.5])
    """
    n = robot.count
    joints = MeasuredJoints(robot)
    if not joints.complete:
        steering, _ = joints.angles(np.asarray(steering, float), 0.0)
        wheel_rate, steering_rate = joints.rates(wheel_rate, steering_rate)
    batch, (angles, wheel, steer) = batched(n, steering=(steering, n), wheel_rate=(wheel_rate, n),
                                            steering_rate=(steering_rate, n))
    weights = _weights(weight, (*batch, n, 2))
    twist = np.empty((len(angles), 3))
    residual = np.empty((len(angles), n, 2))
    information = np.empty((len(angles), 3, 3))
    kernels.least_squares(robot.geometry, angles, wheel, steer, weights, twist, residual,
                          information)
    residual = joints.velocities(residual)
    return SensedForward(twist.reshape(*batch, 3), residual.reshape(*batch, n, 2),
                         information.reshape(*batch, 3, 3))


def _weights(weight: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return the weights of `sensed_forward` as contiguous (B, n, 2)."""
    given = np.asarray(weight, float)
    try:
        weights = np.broadcast_to(given, shape)
    except ValueError:
        raise ValueError(f'weight has shape {given.shape}: must broadcast to {shape}, along and '
                         'across of each caster') from None
    if not np.all((given >= 0) & (given < np.inf)):
        raise ValueError(f'weight = {given.tolist()}: must be finite and not negative; 0 leaves a '
                         'caster out')
    return np.ascontiguousarray(weights.reshape(-1, *shape[-2:]))
