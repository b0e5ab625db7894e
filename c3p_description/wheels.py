# SPDX-License-Identifier: Apache-2.0
"""
Rows of measurement of a wheel, by its pivot, offsets and encoders.

A wheel stands at ``hip − d e + b a``: d ≥ 0 behind its pivot, and b of either sign along its
axle. It is steered by a motor, free, or fixed at an angle; rolling and steering have an encoder or
not. With the rows of casters.py,

    along    (Rx + b [0 0 1]) ν = r θ̇_x − b θ̇_s    needs an encoder of the wheel
    across   (Ra + d [0 0 1]) ν = −d θ̇_s            needs a steering angle

and both need the steering angle, by an encoder or because the wheel is fixed. Across a caster
(d > 0) the row is a measurement, by the steering encoder. Without an offset, and for a fixed
wheel, its right side is zero: the row states that the tyre does not slide sideways, and is as good
as the tyre. Beside a row along, whose deviation is `ROLLING_SLIP` of the speed, it has the factor
``ROLLING_SLIP / slip_angle``, `BELIEF` at most. Rows that are not measured have the factor 0, and
a free caster without encoders contributes nothing.

Two wheels on one axle behind one pivot are two wheels with ±b that share a steering joint. Both
have the same row across: each has the factor 1/√2, so that the sum of their squares is that of
one row.

Equations that multiply both sides of the rows with these factors hold for every wheel; nothing
else distinguishes kinds of wheels.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# deviation of the direction of motion from the plane of a tyre, rad
SLIP_ANGLE = math.radians(1.0)

# deviation of the path along a wheel per its length, beside which the row across is weighted
ROLLING_SLIP = 0.005

# largest slip angle that still is a belief in the tyre, rad
LARGEST_SLIP = 0.5

# largest factor of such a row: a belief is not a measurement
BELIEF = 0.9

# singular value relative to the largest below which a motion of the platform is not measured
UNMEASURED = 1e-9

# pivots nearer to each other than this are one, m
ONE_PIVOT = 1e-6

# what such a wheel is
NO_OFFSET = 'without offset (d = 0)'

# commands and functions for robots on other wheels than casters
WORKS = ('the controller modules drives the robot on both plants, and reading works: odometry, '
         'c3p import, report, recompute and calibrate')


def pivots(hips: Any) -> Any:
    """
    Return the first wheel on the pivot of each wheel (n,), from the pivots `hips` (n, 2).

    Examples
    --------
    >>> pivots(np.array([[0.2, 0.0], [0.2, 0.0], [-0.2, 0.0]])).tolist()
    [0, 0, 2]
    """
    apart = np.abs(hips[:, None, :] - hips[None, :, :]).max(axis=2)
    return np.argmax(apart < ONE_PIVOT, axis=1)


def farthest_wheel(robot: Any) -> float:
    """
    Return the distance of the farthest pivot from the origin of ``base_link``, m.

    Where all pivots are in the origin it is that of the farthest wheel from its pivot.

    Examples
    --------
    >>> from c3p_description import load
    >>> round(farthest_wheel(load('swerve')), 4)
    0.4311
    """
    farthest = float(np.hypot(*robot.hip_position.T).max())
    if farthest > ONE_PIVOT:
        return farthest
    return float(np.hypot(robot.caster_offset, robot.lateral_offset).max())


def on_pivot(robot: Any) -> Any:
    """Return the number of wheels on the pivot of each wheel, (n,); 1 for a fixed one."""
    first = pivots(robot.hip_position)
    return np.where(robot.fixed, 1, np.bincount(first, minlength=len(first))[first])


def first_on_pivot(robot: Any) -> Any:
    """
    Return the wheel whose steering joint a wheel has, (n,): the first one on its pivot.

    Examples
    --------
    >>> from c3p_description import load
    >>> first_on_pivot(load('twin')).tolist()
    [0, 0, 2, 2, 4, 4, 6, 6]
    """
    first = np.arange(robot.count)
    turns = np.flatnonzero(~robot.fixed)
    if turns.size:
        first[turns] = turns[pivots(robot.hip_position[turns])]
    return first


def steering_axes(robot: Any) -> Any:
    """
    Return which entries of the steering axes are joints, (n,) bool: one on each pivot that turns.

    Of wheels on one pivot it is the first one with a steering motor, or without any the first.

    Examples
    --------
    >>> from c3p_description import load
    >>> steering_axes(load('tricycle_agv')).tolist()
    [True, False, False]
    >>> steering_axes(load('twin')).tolist()[:4]
    [True, False, True, False]
    """
    axes = np.zeros(robot.count, bool)
    first = first_on_pivot(robot)
    for pivot in np.unique(first[~robot.fixed]):
        on = np.flatnonzero((first == pivot) & ~robot.fixed)
        axes[on[np.argmax(robot.steered[on])]] = True
    return axes


def steering_names(robot: Any) -> Any:
    """
    Return the steering joints that a robot has, each once.

    Examples
    --------
    >>> from c3p_description import load
    >>> steering_names(load('tricycle_agv'))
    ('steering_joint_1',)
    """
    return tuple(robot.steering_joints[i] for i in np.flatnonzero(steering_axes(robot)))


def joint_places(robot: Any) -> Any:
    """
    Return ``{joint: place}`` among (steering axes, wheels), each joint once.

    A fixed wheel has no steering joint, and wheels on one pivot share theirs: `steering_axes`.

    Examples
    --------
    >>> from c3p_description import load
    >>> load('tricycle_agv').joint_places
    {'steering_joint_1': 0, 'wheel_joint_1': 3, 'wheel_joint_2': 4, 'wheel_joint_3': 5}
    """
    names = [*robot.steering_joints, *robot.wheel_joints]
    there = np.concatenate([steering_axes(robot), np.ones(robot.count, bool)])
    return {names[i]: i for i in np.flatnonzero(there).tolist()}


def effort_places(robot: Any) -> Any:
    """
    Return ``{joint: place}`` in an effort vector, each joint once, as `joint_places`.

    Examples
    --------
    >>> from c3p_description import load
    >>> load('tricycle_agv').effort_places
    {'wheel_joint_1': 0, 'wheel_joint_2': 1, 'wheel_joint_3': 2, 'steering_joint_1': 3}
    """
    there = np.concatenate([np.ones(robot.count, bool), steering_axes(robot)])[:robot.efforts]
    return {robot.effort_joints[i]: i for i in np.flatnonzero(there).tolist()}


def angle_known(robot: Any) -> Any:
    """Return which wheels have a known steering angle, (n,) bool."""
    return robot.fixed | robot.steering_encoder


def shown_axes(robot: Any) -> Any:
    """
    Return the steering axes whose angle is measured, each once, as their places (k,).

    Examples
    --------
    >>> from c3p_description import load
    >>> shown_axes(load('tricycle_agv')).tolist(), shown_axes(load('twin')).tolist()
    ([0], [0, 2, 4, 6])
    """
    return np.flatnonzero(steering_axes(robot) & robot.steering_encoder)


def believed(robot: Any) -> Any:
    """Return the wheels across which only the tyre holds, (n,) bool."""
    return robot.fixed | (robot.caster_offset == 0.0)


def rows(robot: Any) -> Any:
    """
    Return the factors of the rows along and across each wheel, (n, 2).

    Examples
    --------
    >>> from c3p_description import load
    >>> load('tricycle_agv').rows.round(3).tolist()  # steered with encoders; fixed without
    [[1.0, 0.286], [0.0, 0.286], [0.0, 0.286]]
    """
    known = angle_known(robot)
    across = np.where(believed(robot), np.minimum(BELIEF, ROLLING_SLIP / robot.slip_angle), 1.0)
    # wheels on one pivot have one row across
    across /= np.sqrt(on_pivot(robot))
    factors = np.column_stack([known & robot.wheel_encoder, np.where(known, across, 0.0)])
    factors.setflags(write=False)
    return factors


def sensed(robot: Any) -> Any:
    """Return the places of the joints with an encoder among (steering axes, wheels), (k,)."""
    return np.flatnonzero(np.concatenate([robot.steering_encoder & ~robot.fixed,
                                          robot.wheel_encoder]))


def caster_inertia(robot: Any) -> Any:
    """
    Return rows ``[μ_e, μ_a, κ]`` (n, 3): what a caster weighs along its rolling line and its axle.

    ``μ_e = m_l + m_w + I_wx/r²``, ``μ_a = m_l k² + (I_l + I_wz)/d²``, ``κ = m_l k/d`` with
    ``k = 1 − c_l/d``. The link's centre of mass moves with ``s e + k u a`` when the pivot moves
    with ``s e + u a``; the wheel's with ``s e``.
    """
    offset = robot.caster_offset
    k = 1.0 - robot.link_com / offset
    rolling = robot.link_mass + robot.wheel_mass + robot.wheel_spin_inertia / robot.wheel_radius**2
    axle = robot.link_mass * k**2 + (robot.link_inertia + robot.wheel_yaw_inertia) / offset**2
    return np.ascontiguousarray(np.column_stack([rolling, axle, robot.link_mass * k / offset]))


def other_wheels(robot: Any) -> str:
    """Return the wheels other than casters with all encoders, with the reason, or ''."""
    texts = ((robot.fixed, 'fixed'),
             ((robot.caster_offset == 0.0) & ~robot.fixed, NO_OFFSET),
             ((robot.lateral_offset != 0.0) & ~robot.fixed & (on_pivot(robot) == 1),
              'beside the pivot (b ≠ 0)'),
             (on_pivot(robot) > 1, 'on one pivot with another'),
             (~(robot.steering_encoder | robot.fixed), 'without steering encoder'),
             (~robot.wheel_encoder, 'without wheel encoder'))
    found = []
    for which, what in texts:
        numbers = [f'{i + 1}' for i in np.flatnonzero(which)]
        if len(numbers) == len(which):
            found.append(f'all wheels are {what}')
        elif numbers:
            plural = 's' if len(numbers) > 1 else ''
            found.append(f'wheel{plural} {", ".join(numbers)} '
                         f'{"are" if plural else "is"} {what}')
    return ', '.join(found)


def one_place(robot: Any) -> str:
    """Return why wheels cannot stand where they are, or an empty text."""
    hips = robot.hip_position
    first = pivots(hips)
    if len(set(first.tolist())) == 1 and not np.ptp(robot.lateral_offset):
        return ('hip_position: all casters share one pivot, so the yaw rate of the platform is '
                'unobservable; move the casters apart')
    for i, j in enumerate(first.tolist()):
        if i != j and robot.lateral_offset[i] == robot.lateral_offset[j]:
            return (f'hip_position: casters {j + 1} and {i + 1} share one pivot and one '
                    'lateral_offset: move the casters apart; two wheels on one axle have '
                    'different lateral offsets')
    return ''


def contradiction(robot: Any) -> str:
    """Return why the wheels of a robot do not belong together, or an empty text."""
    if np.any(robot.fixed & robot.steered):
        return (f'fixed = {robot.fixed.tolist()}, steered = {robot.steered.tolist()}: a fixed '
                'wheel has no steering motor; set one of them to false')
    if np.any(robot.slip_angle > LARGEST_SLIP):
        return (f'slip_angle = {robot.slip_angle.tolist()}: at most {LARGEST_SLIP:g} rad; give '
                'degrees as `!degrees 1`')
    factors = rows(robot)
    if np.all(factors == 1.0) or _motions(robot, factors) == 3:
        return ''
    return ('steering_encoder, wheel_encoder: the wheels with encoders do not determine the '
            'motion of the platform at any steering angles; two casters with both encoders do, '
            'or two fixed wheels with encoders, or a steered wheel with both and a fixed one')


def _motions(robot: Any, factors: Any) -> int:
    """Return how many of three motions the wheels measure at general steering angles."""
    # any angles that are not special: of wheels that steer, beside each other by irrational steps
    general = math.e * (1.0 + pivots(robot.hip_position))
    angles = np.where(robot.fixed, robot.steering_zero, general)
    x, y = (robot.hip_position - robot.hip_position.mean(axis=0)).T
    c = np.cos(angles)
    s = np.sin(angles)
    size = max(float(np.abs(robot.hip_position).max()), float(np.abs(robot.lateral_offset).max()),
               1e-6)
    along = np.column_stack([-s, c, (s * y + c * x + robot.lateral_offset) / size])
    along *= factors[:, :1]
    across = np.column_stack([c, s, (s * x - c * y + robot.caster_offset) / size])
    values = np.linalg.svd(np.concatenate([along, across * factors[:, 1:]]), compute_uv=False)
    return int(np.sum(values > UNMEASURED * values[0]))
