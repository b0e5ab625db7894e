# SPDX-License-Identifier: Apache-2.0
"""Gains of the closed-form law."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ClosedFormSettings:
    """
    Gains and weights of the closed-form law; `latency` is the known input delay, s.

    The desired acceleration across, along and in yaw has stiffnesses, 1/s², dampings, 1/s, limits,
    m/s² and rad/s², and weights in the least squares, s⁴/m² and s⁴/rad²; all torques have
    `torque_weight`, 1/(N·m)², and the part of them that changes neither the acceleration along the
    path nor that in yaw `opposing_weight` besides.

    Attributes
    ----------
    escape_weight : float
        Weight of the task that restores controllability.
    escape_margin : float
        Target of the determinant, as a multiple of the value that the desired acceleration needs.
    escape_begin, escape_gap : float
        The task sets in below `escape_begin` of the determinant needed, and has its full weight
        `escape_gap` below that.
    escape_rate, escape_damping : float, 1/s
        Poles of the determinant.
    escape_hold, escape_small : float, s and m
        Decay time of the determinant needed; the task fades out where it is below `escape_small`.
    free_yaw : float, rad/s²
        Tolerance of the yaw acceleration in the determinant needed.
    stuck_fraction, stuck_progress, patience : float, 1, 1/s and s
        No progress: less than the first fraction of the along-track acceleration is achieved, and
        the determinant grows by less than the second of the need per second. After the time
        `patience` of it yaw and escape have a quarter of their weights.
    flip : float, m
        Determinant needed when all casters face backward.
    turn_margin, turn_rate, turn_time : float, 1, rad/s and s
        Turn rate as a multiple of the need of a cross-track force (0 is off), its limit, and the
        averaging time of the force.
    turn_crawl, turn_stride : float, m/s
        Speed allowed without turning where turning is needed, and least speed of a turn.
    push_jerk : float, m/s³
        Growth of the acceleration that is added when a commanded turn on the spot does not start;
        up to `along_limit`, 0 is off.
    torque_rate, friction_smoothing : float, N·m/s and rad/s
        Rate limit of the torques; rate over which the dry friction of the model changes its sign.
    bandwidth, wrench_limit, moment_limit : float, rad/s, N and N·m
        Of the observer, and saturation limits of its disturbance estimate.
    acceleration, yaw_acceleration, leash, yaw_leash : float, m/s², rad/s², m and rad
        Of the reference for a bare twist, and its largest distance from the robot.
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
    opposing_weight: float = 0.3
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
        if not self.opposing_weight >= 0.0:
            raise ValueError(f'opposing_weight = {self.opposing_weight}: must be 0 or more')
        for name in ('along_weight', 'torque_weight', 'escape_gap', 'escape_rate',
                     'escape_damping', 'escape_hold', 'escape_small', 'patience', 'torque_rate',
                     'friction_smoothing', 'bandwidth', 'acceleration', 'yaw_acceleration'):
            if not getattr(self, name) > 0:
                raise ValueError(f'{name} = {getattr(self, name)}: must be greater than zero')
