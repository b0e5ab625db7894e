# SPDX-License-Identifier: Apache-2.0
"""Gains of the closed-form law."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ClosedFormSettings:
    """
    Gains and weights of the closed-form law.

    Attributes
    ----------
    latency : float, s
        Known time from the sample to the effect of its torque.
    across_stiffness, along_stiffness, yaw_stiffness : float, 1/s²
    across_damping, along_damping, yaw_damping : float, 1/s
        Of the desired acceleration.
    across_limit, along_limit, yaw_limit : float, m/s², m/s² and rad/s²
        Limits of the desired acceleration.
    across_weight, along_weight, yaw_weight : float, s⁴/m², s⁴/m² and s⁴/rad²
        Of the least squares.
    torque_weight : float, 1/(N·m)²
        Of all torques.
    escape_weight : float
        Of the task that restores controllability.
    escape_margin : float
        Target of the determinant, as a multiple of the value that the desired acceleration needs.
    escape_begin, escape_gap : float
        The task sets in below `escape_begin` of the determinant needed, and has its full weight
        `escape_gap` below that.
    escape_rate, escape_damping : float, 1/s
        Poles of the determinant.
    escape_hold : float, s
        Decay time of the determinant needed.
    escape_small : float, m
        The task is faded out where the determinant needed is below this.
    free_yaw : float, rad/s²
        Tolerance of the yaw acceleration in the determinant needed.
    stuck_fraction, stuck_progress : float, 1 and 1/s
        The robot is stuck when less than this fraction of the along-track acceleration is
        achieved, and the determinant grows by less than this fraction of the need in a second.
    patience : float, s
        Time without progress after which yaw and escape have a quarter of their weights.
    flip : float, m
        Determinant needed when all casters face backward.
    turn_margin : float
        Turn rate as a multiple of the need of a cross-track force; 0 is off.
    turn_time : float, s
        Averaging time of the cross-track force.
    turn_rate : float, rad/s
        Largest turn rate for a cross-track force.
    turn_crawl, turn_stride : float, m/s
        Speed allowed without turning where turning is needed, and least speed of a turn.
    push_jerk : float, m/s³
        Growth of the acceleration that is added when a commanded turn on the spot does not start;
        up to `along_limit`, 0 is off.
    torque_rate : float, N·m/s
        Fastest change of a torque; keeps it continuous.
    friction_smoothing : float, rad/s
        Rate over which the dry friction of the model changes its sign.
    bandwidth : float, rad/s
        Of the observer.
    wrench_limit, moment_limit : float, N and N·m
        Saturation limits of the disturbance estimate.
    acceleration, yaw_acceleration : float, m/s² and rad/s²
        Of the reference for a bare twist.
    leash, yaw_leash : float, m and rad
        Largest distance of the reference of a bare twist from the robot.
    standstill_speed, standstill_yaw_rate : float, m/s and rad/s
        Below these, without commanded motion, the torques are zero.
    """

    latency: float = 0.01
    across_stiffness: float = 130.0
    across_damping: float = 14.0
    across_limit: float = 1.5
    along_stiffness: float = 30.0
    along_damping: float = 9.0
    along_limit: float = 1.8
    yaw_stiffness: float = 4.0
    yaw_damping: float = 4.0
    yaw_limit: float = 6.0
    across_weight: float = 45.0
    along_weight: float = 1.0
    yaw_weight: float = 0.1
    torque_weight: float = 0.01
    escape_weight: float = 0.6
    escape_margin: float = 0.95
    escape_begin: float = 0.4
    escape_gap: float = 0.4
    escape_rate: float = 9.0
    escape_damping: float = 11.0
    escape_hold: float = 0.07
    escape_small: float = 0.05
    free_yaw: float = 2.4
    stuck_fraction: float = 0.2
    stuck_progress: float = 0.4
    patience: float = 0.05
    flip: float = 0.45
    turn_margin: float = 2.2
    turn_time: float = 0.15
    turn_rate: float = 0.9
    turn_crawl: float = 0.05
    turn_stride: float = 0.2
    push_jerk: float = 10.0
    torque_rate: float = 120.0
    friction_smoothing: float = 0.5
    bandwidth: float = 30.0
    wrench_limit: float = 40.0
    moment_limit: float = 8.0
    acceleration: float = 1.5
    yaw_acceleration: float = 3.0
    leash: float = 0.1
    yaw_leash: float = 0.6
    standstill_speed: float = 0.005
    standstill_yaw_rate: float = 0.01

    def __post_init__(self) -> None:
        """Reject invalid values."""
        if not 0.0 <= self.latency < 1.0:
            raise ValueError(f'latency = {self.latency}: must be from 0 to below 1 s')
        for name in ('along_weight', 'torque_weight', 'escape_gap', 'escape_rate',
                     'escape_damping', 'escape_hold', 'escape_small', 'patience', 'torque_rate',
                     'friction_smoothing', 'bandwidth', 'acceleration', 'yaw_acceleration'):
            if not getattr(self, name) > 0:
                raise ValueError(f'{name} = {getattr(self, name)}: must be greater than zero')
