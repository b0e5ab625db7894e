# SPDX-License-Identifier: Apache-2.0
"""
Wheel loads and traction: the torque that a tyre transmits before it slips.

A wheel under the load N on a floor with the friction coefficient µ transmits a torque of at most
``µ N r``. The loads are those of a robot at rest on equally stiff wheels: they carry the weight at
the centre of mass, ``N_i = a + b x_i + c y_i``. Three wheels have one solution; for more of them
it is the one of least Σ N². The steering motor of a caster pushes the tyre along its axle: at most
``µ N d``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from c3p_description.model import GRAVITY, Array, CasterRobot
from c3p_kinematics.singularity import always_actuated

# travel directions over which the least load of a wheel is sought
DIRECTIONS = 24

# a wheel with less than this fraction of the mean load is reported as unloaded
LIGHT = 0.05


def wheel_loads(robot: CasterRobot, steering: Array) -> Array:
    """
    Return the static load of each wheel on level ground, (n,) N; 0 for one that would lift off.

    Parameters
    ----------
    robot : CasterRobot
    steering : (n,) array, rad

    Examples
    --------
    >>> from c3p_description import load
    >>> wheel_loads(load('c3p'), np.zeros(3)).round(1)
    array([125.9, 125.9,  89.5])
    """
    rolling = np.column_stack([-np.sin(steering), np.cos(steering)])
    axle = np.column_stack([np.cos(steering), np.sin(steering)])
    contact = (robot.hip_position - robot.caster_offset[:, None] * rolling
               + robot.lateral_offset[:, None] * axle)
    link = robot.hip_position - robot.link_com[:, None] * rolling
    # Σ m x of platform, links and wheels; a wheel stands over its contact point
    moment = (robot.platform_mass * robot.platform_com + robot.link_mass @ link
              + robot.wheel_mass @ contact)
    # rows: sum of the loads, their moments about the origin
    rows = np.vstack([np.ones(robot.count), contact.T])
    weight = GRAVITY * np.array([robot.total_mass, *moment])
    return np.maximum(np.linalg.lstsq(rows, weight, rcond=None)[0], 0.0)


def least_loads(robot: CasterRobot) -> Array:
    """
    Return the smallest static load of each wheel over all travel directions, (n,) N.

    The casters are parallel, as on every straight drive: they trail by the offset d, which moves
    all contact points to one side of the pivots.

    Examples
    --------
    >>> from c3p_description import load
    >>> least_loads(load('c3p')).round(1)
    array([89.5, 89.5, 89.5])
    """
    return _least_loads(robot).copy()


@lru_cache(maxsize=64)
def _least_loads(robot: CasterRobot) -> Array:
    angles = 2.0 * np.pi / DIRECTIONS * np.arange(DIRECTIONS)
    return np.min([wheel_loads(robot, np.where(robot.fixed, robot.steering_zero, angle))
                   for angle in angles], axis=0)


def traction_torque(robot: CasterRobot) -> Array:
    """
    Return the torque that each tyre transmits without slip, ``margin·µ·N·r``, (n,) N·m.

    N is the least load over all travel directions. The margin covers load transfer, side forces
    and floors that grip less than ``tyre_friction``.

    Examples
    --------
    >>> from c3p_description import load
    >>> traction_torque(load('c3p')).round(3)
    array([1.504, 1.504, 1.504])
    """
    return _grip(robot) * robot.wheel_radius


def braking_deceleration(robot: CasterRobot) -> float:
    """
    Return the deceleration of wheels that all brake in one direction, m/s².

    ``Σ min(τ_max, margin·µ·N·r) / r`` of the driven wheels, by the mass of the robot.

    Examples
    --------
    >>> from c3p_description import load
    >>> round(braking_deceleration(load('c3p')), 2)
    2.59
    """
    force = np.minimum(robot.torque_limit, traction_torque(robot)) / robot.wheel_radius
    return float(force[robot.driven].sum()) / robot.total_mass


def _grip(robot: CasterRobot) -> Array:
    """Return the force that each tyre transmits without slip, (n,) N."""
    return robot.traction_margin * robot.tyre_friction * least_loads(robot)


def torque_bounds(robot: CasterRobot) -> Array:
    """
    Return the largest torques that a controller uses, (robot.efforts,) N·m; all are finite.

    Of a wheel, the smaller of the motor's limit and `traction_torque`; of a steering axis, of the
    motor's limit and ``margin·µ·N·d``, or ``margin·µ·N·r`` beyond twice the dry friction of a
    wheel below its pivot, whose steering pushes no tyre; 0 where no motor is.

    Examples
    --------
    >>> from c3p_description import load
    >>> torque_bounds(load('c3p'))
    array([1.2, 1.2, 1.2])
    """
    grip = traction_torque(robot)
    if robot.efforts > robot.count:
        below = robot.caster_offset == 0.0
        lever = np.where(below, robot.wheel_radius, robot.caster_offset)
        # such a motor overcomes the friction of its pivot and the scrub of its tyre
        dry = 2.0 * (robot.losses[:, 1] + robot.losses[:, 4])
        grip = np.concatenate([grip, _grip(robot) * lever + np.where(below, dry, 0.0)])
    return np.where(robot.actuated, np.minimum(robot.effort_limit, grip), 0.0)


class SteeringMotors(NamedTuple):
    """
    Steering motors in the allocation of a force.

    Attributes
    ----------
    weight : (n,) array
        w of ``min Σ τ_x² + τ_s²/w``: the squared ratio of the bound of the steering torque to the
        mean of those of the driven wheels, so that motors give equal parts of what they can; 0
        where no motor is.
    spanned : bool
        The motors reach every acceleration at any steering angles: no virtual motors are needed.
    """

    weight: Array
    spanned: bool


@lru_cache(maxsize=64)
def steering_motors(robot: CasterRobot) -> SteeringMotors:
    """
    Return the weights of the steering motors, and whether they make virtual ones superfluous.

    Examples
    --------
    >>> from c3p_description import load
    >>> steering_motors(load('powered_caster')).weight.round(2)
    array([0.63, 0.63, 0.63, 0.63])
    """
    if not robot.steered.any():
        return SteeringMotors(np.zeros(robot.count), False)
    bound = torque_bounds(robot)
    wheels = bound[:robot.count]
    steering = bound[robot.count:]
    reference = wheels[wheels > 0] if np.any(wheels > 0) else steering[steering > 0]
    # a motor without a load on its tyre keeps a small share, so that no weight is 0
    ratio = np.maximum(steering / reference.mean(), LIGHT)
    weight = np.where(robot.steered, ratio**2, 0.0)
    weight.setflags(write=False)
    return SteeringMotors(weight, always_actuated(robot))


def traction_report(robot: CasterRobot) -> str:
    """
    Return one line that compares motors and tyres; '' when no motor is stronger than its tyre.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from c3p_description import load
    >>> traction_report(load('c3p'))
    ''
    >>> traction_report(replace(load('c3p'), torque_limit=6.0))
    'wheel_joint_1, wheel_joint_2, wheel_joint_3: torque limit 6 N·m, tyres transmit 1.5 N·m \
(0.7 · µ 0.6 · load 89.5 N · radius 0.04 m): controllers use the smaller; \
casters.tyre_friction and casters.traction_margin set the traction'
    """
    grip = traction_torque(robot)
    loads = least_loads(robot)
    strong = np.flatnonzero(robot.driven & (robot.torque_limit > grip))
    if not strong.size:
        return ''
    names = ', '.join(robot.wheel_joints[i] for i in strong)
    return (f'{names}: torque limit {_range(robot.torque_limit[strong])} N·m, tyres transmit '
            f'{_range(grip[strong])} N·m ({robot.traction_margin:g} · µ '
            f'{robot.tyre_friction:g} · load {_range(loads[strong])} N · radius '
            f'{_range(robot.wheel_radius[strong])} m): controllers use the smaller; '
            'casters.tyre_friction and casters.traction_margin set the traction'
            + _light(robot, loads))


def _light(robot: CasterRobot, loads: Array) -> str:
    """Return a clause that names the wheels which carry next to nothing."""
    light = np.flatnonzero(loads < LIGHT * GRAVITY * robot.total_mass / robot.count)
    names = ', '.join(robot.wheel_joints[i] for i in light)
    return (f'; {names} carries less than {LIGHT:.0%} of the mean load: check platform.com'
            if names else '')


def _range(values: Array) -> str:
    """Return one number for equal values, else the range."""
    low = float(np.min(values))
    high = float(np.max(values))
    return f'{low:.3g}' if f'{low:.3g}' == f'{high:.3g}' else f'{low:.3g} to {high:.3g}'
