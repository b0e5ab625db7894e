# SPDX-License-Identifier: Apache-2.0
"""
Singularity of the motors: distance from the loss of a direction of motion.

A driven wheel pushes along its rolling line only, the line through its pivot (and its contact
point) along e. All wheels together move the platform in every direction unless their lines are all
parallel (the push across them is lost) or all meet in one point (the turn about it is lost). These
are exactly the singularities of the wheel Jacobian; equal steering angles, which paper I names,
are one case (docs/papers/el_shenawy.md). A motor in a steering axis pushes its tyre along the
axle: its line is that through the contact point along a. Two casters with both motors leave no
singular steering angles.

Measure: the singular values of the rows ``r J_x`` of driven wheels and ``d J_s`` of steering
motors, the speeds of pivots along e and of contact points along a, for the twist taken at the mean
of all pivots, with the yaw rate scaled by the length scale L, the root mean square distance of the
pivots from there (the hip radius h of pivots on a regular circle). It has no units, and depends
neither on the choice of ``base_link``, nor on r and the robot's size.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.casters import batched

# singular values (no unit, the largest is between 1 and √n·√3) that count as zero; 1e-6 is a
# steering angle of about 1e-6 rad, far below any encoder and far above rounding
SINGULAR_TOLERANCE = 1e-6

# scaled yaw rate of a lost unit twist below which the lines count as parallel: they would meet
# farther away than L/1e-6
PARALLEL_TOLERANCE = 1e-6


class Lines(IntEnum):
    """Configuration of the lines along which the motors push; of driven wheels, rolling lines."""

    REGULAR = 0
    PARALLEL = 1
    CONCURRENT = 2
    COINCIDENT = 3


class Singularity(NamedTuple):
    """
    Actuation of the platform by its motors at given steering angles.

    Attributes
    ----------
    sigma_min : (…) array, 1
        Smallest singular value of the scaled Jacobian; 0 with fewer than three motors.
    condition : (…) array, 1
        Largest over smallest singular value; inf where the rank is below 3.
    rank : (…) int array
        Number of singular values above the tolerance, at most 3.
    unactuated_direction : (…, 3) array
        Twist (vx, vy, ω) in ``base_link`` that no motor can drive, m/s and rad/s, of unit
        length in the scaled norm at the mean pivot, its largest scaled component positive. *Zeros*
        where the rank is 3, so that projecting on it takes nothing away. For rank 1, one of two:
        see `directions`.
    lines : (…) int array
        `Lines`.
    line_direction : (…, 2) array
        Unit vector along the lines where they are PARALLEL or COINCIDENT, else nan.
    point : (…, 2) array, m
        Common point in ``base_link`` where they are CONCURRENT, else nan.
    singular_values : (…, 3) array, 1
        Descending.
    directions : (…, 3, 3) array
        The twists that belong to them, one per row, scaled and framed as `unactuated_direction`.
    """

    sigma_min: Array
    condition: Array
    rank: Array
    unactuated_direction: Array
    lines: Array
    line_direction: Array
    point: Array
    singular_values: Array
    directions: Array


def length_scale(robot: CasterRobot) -> float:
    """Return L [m], the root mean square distance of the pivots from their mean."""
    centred = robot.hip_position - robot.hip_position.mean(axis=0)
    return float(np.sqrt(np.mean(np.sum(centred**2, axis=1))))


def scaled_wheel_jacobian(robot: CasterRobot, steering: ArrayLike) -> Array:
    """
    Return the rows ``[e, e·(ẑ×(m − mean))/L]`` of the driven wheels: pivot speeds along them.

    Behind them stand the rows ``[a, a·(ẑ×(m − d e − mean))/L]`` of the steering motors: speeds of
    the contact points along the axles. (…, number of motors, 3) for the twist (vx, vy, L ω) at
    the mean pivot. ValueError unless `steering` (…, n) has one finite angle per caster.
    """
    batch, (angles,) = batched(robot.count, steering=(steering, robot.count))
    x, y = (robot.hip_position - robot.hip_position.mean(axis=0)).T
    c = np.cos(angles)
    s = np.sin(angles)
    length = length_scale(robot)
    rows = np.stack([-s, c, (s * y + c * x) / length], axis=-1)[:, robot.driven]
    if robot.steered.any():
        axles = np.stack([c, s, (s * x - c * y + robot.caster_offset) / length], axis=-1)
        rows = np.concatenate([rows, axles[:, robot.steered]], axis=1)
    return rows.reshape(*batch, rows.shape[1], 3)


def always_actuated(robot: CasterRobot) -> bool:
    """
    Return whether the motors reach every acceleration at any steering angles.

    Two casters with both motors do, since each pushes its contact point in every direction, and
    pivots farther apart than both offsets keep the two points apart.

    Examples
    --------
    >>> from c3p_description import load
    >>> always_actuated(load('c3p')), always_actuated(load('powered_caster'))
    (False, True)
    """
    both = np.flatnonzero(robot.driven & robot.steered)
    return any(np.linalg.norm(robot.hip_position[i] - robot.hip_position[j])
               > robot.caster_offset[i] + robot.caster_offset[j]
               for i, j in combinations(both, 2))


def singularity(robot: CasterRobot, steering: ArrayLike,
                tolerance: float = SINGULAR_TOLERANCE) -> Singularity:
    """
    Return the rank and conditioning of the platform's actuation by its motors.

    `steering` is (…, n), rad; singular values up to `tolerance` ≥ 0 count as zero. ValueError
    unless `steering` has one finite angle per caster and `tolerance` is in range.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> aligned = singularity(robot, [0, 0, 0])
    >>> Lines(aligned.lines).name, aligned.unactuated_direction.round(6).tolist()
    ('PARALLEL', [1.0, 0.0, 0.0])
    >>> radial = singularity(robot, np.radians([-60, 60, 180]))  # every wheel rolls outwards
    >>> Lines(radial.lines).name, (radial.unactuated_direction.round(3) + 0.0).tolist()
    ('CONCURRENT', [0.0, 0.0, 2.915])
    """
    if not 0 <= tolerance < np.inf:
        raise ValueError(f'tolerance = {tolerance}: must be finite and not negative, such as '
                         f'{SINGULAR_TOLERANCE}')
    rows = scaled_wheel_jacobian(robot, steering)
    batch = rows.shape[:-2]
    driven = rows.shape[-2]
    # missing motors are rows of zeros, so that there are always three singular values
    if driven < 3:
        rows = np.concatenate([rows, np.zeros((*batch, 3 - driven, 3))], axis=-2)
    _, sigma, scaled = np.linalg.svd(rows, full_matrices=False)
    # the sign of a singular vector is arbitrary: make its largest component positive
    largest = np.argmax(np.abs(scaled).round(9), axis=-1)[..., None]
    scaled = scaled * np.sign(np.take_along_axis(scaled, largest, axis=-1))
    rank = np.sum(sigma > tolerance, axis=-1)
    with np.errstate(divide='ignore'):
        condition = np.where(rank == 3, sigma[..., 0] / sigma[..., 2], np.inf)
    directions = _to_base_link(robot, scaled)
    lost = (rank < 3)[..., None]
    lines, line_direction, point = _geometry(robot, rank, scaled, rows)
    return Singularity(sigma[..., 2], condition, rank, np.where(lost, directions[..., 2, :], 0.0),
                       lines, line_direction, point, sigma, directions)


def shown_singularity(robot: CasterRobot, steering: ArrayLike) -> Singularity | None:
    """
    Return `singularity` where it is a measure of the robot, None on other wheels than casters.

    Modules roll in parallel on every line, and fixed wheels never push across their axle: the
    measure is then zero, although nothing is wrong.

    Examples
    --------
    >>> from c3p_description import load
    >>> shown_singularity(load('amr'), [0.0] * 6)
    >>> int(shown_singularity(load('c3p'), [0.0] * 3).rank)
    2
    """
    return None if robot.other_wheels else singularity(robot, steering)


def singularity_metrics(robot: CasterRobot, steering: ArrayLike) -> dict[str, str]:
    """
    Return the measures of `shown_singularity` by their names in diagnostics.

    Examples
    --------
    >>> from c3p_description import load
    >>> singularity_metrics(load('c3p'), [0.0] * 3)['sigma_min of the wheel Jacobian']
    '0.0000'
    >>> singularity_metrics(load('amr'), [0.0] * 6)
    {}
    """
    shown = shown_singularity(robot, steering)
    return {} if shown is None else {
        'sigma_min of the wheel Jacobian': f'{abs(float(shown.sigma_min)):.4f}',
        'condition of the wheel Jacobian': f'{float(shown.condition):.3g}'}


def _to_base_link(robot: CasterRobot, scaled: Array) -> Array:
    # (v, L ω) at the mean pivot to (v, ω) at the origin of base_link: v − ω ẑ×mean
    x, y = robot.hip_position.mean(axis=0)
    rate = scaled[..., 2] / length_scale(robot)
    return np.stack([scaled[..., 0] + rate * y, scaled[..., 1] - rate * x, rate], axis=-1)


def _geometry(robot: CasterRobot, rank: Array, scaled: Array, rows: Array
              ) -> tuple[Array, Array, Array]:
    lost = scaled[..., 2, :]
    parallel = (rank == 2) & (np.abs(lost[..., 2]) <= PARALLEL_TOLERANCE)
    meeting = (rank == 2) & ~parallel
    lines = np.where(parallel, Lines.PARALLEL,
                     np.where(meeting, Lines.CONCURRENT,
                              np.where(rank < 2, Lines.COINCIDENT, Lines.REGULAR)))
    # every line passes through the centre of the lost rotation: v + ω ẑ×c = 0
    rate = np.where(meeting, lost[..., 2], 1.0)[..., None]
    centre = length_scale(robot) * np.stack([-lost[..., 1], lost[..., 0]], axis=-1) / rate
    point = np.where(meeting[..., None], centre + robot.hip_position.mean(axis=0), np.nan)
    along = (parallel | (rank < 2))[..., None]
    return lines, np.where(along, rows[..., 0, :2], np.nan), point
