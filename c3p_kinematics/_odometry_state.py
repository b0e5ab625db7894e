# SPDX-License-Identifier: Apache-2.0
"""
Arrays and constants of the odometry and its monitors, as its kernels take them.

Each is made once by the class that owns it; the arrays change in place.
"""

from __future__ import annotations

from typing import NamedTuple

from c3p_description.model import Array


class SlipState(NamedTuple):
    """
    Of a SlipMonitor, as `_odometry_kernels.track` takes it.

    Attributes
    ----------
    time_constant, noise, fraction : float
        Of the low-pass, s; noise of a contact velocity, m/s, and per speed.
    mean, power : (n, 2) and (n,) arrays
        Low-passed residuals in ``base_link``, m/s, and squared contact speeds.
    variance, without : (n,) arrays
        Of the contact velocities, m²/s²; χ² without each caster.
    contact, residual : (n, 2) arrays, m/s
        Low-passed contact velocities, and their residuals.
    """

    time_constant: float
    noise: float
    fraction: float
    mean: Array
    power: Array
    variance: Array
    contact: Array
    residual: Array
    without: Array


class FaultState(NamedTuple):
    """
    Of a FaultMonitor, as `_fault_kernels.hypotheses` takes it.

    Attributes
    ----------
    time_constant, leak : float, s and 1/m
    noise, trusted : (7,) and (n,) arrays
    memory, statistic, innovation : (n, MEMORY), (n, 4) and (n, 2) arrays
    """

    time_constant: float
    leak: float
    noise: Array
    trusted: Array
    memory: Array
    statistic: Array
    innovation: Array


class GripState(NamedTuple):
    """
    Of a GripMonitor, as `_odometry_kernels.judge` takes it.

    Attributes
    ----------
    acceleration, noise, resolution, fraction, longest_hold : float
        As of GripSettings.
    reference, twist : (3,) arrays
    weight, excess : (n,) arrays
    """

    acceleration: float
    noise: float
    resolution: float
    fraction: float
    longest_hold: float
    reference: Array
    twist: Array
    weight: Array
    excess: Array


class LastingState(NamedTuple):
    """
    Of LastingErrors, as `_uncertainty_kernels` take it.

    Attributes
    ----------
    units : (5n,) array
    rounding, resolution, lag : float, rad, rad and s
    spread, cross, covariance : (5n, 5n), (3, 5n) and (3, 3) arrays
    slopes, rounded, lasting : (3, 5n), (3, n) and (3, n) arrays
    turned, slow : (n,) and (3,) arrays
    twist_slopes, twist_rounded : (3, 5n) and (3, n) arrays
        Derivatives of the newest twist.
    """

    units: Array
    rounding: float
    resolution: float
    lag: float
    spread: Array
    cross: Array
    covariance: Array
    slopes: Array
    rounded: Array
    lasting: Array
    turned: Array
    slow: Array
    twist_slopes: Array
    twist_rounded: Array


class Motion(NamedTuple):
    """
    Of one step, from sample to sample.

    Attributes
    ----------
    latch : (3, n) array
        As of `_odometry_kernels.increments`.
    steering, wheel_rate, steering_rate : (n,) arrays, rad and rad/s
        Halfway, and mean rates.
    weight : (n,) array
        Of each caster in the fit.
    twist, residual, unit : (3,), (n, 2) and (3, 3) arrays
        Of the fit, and its covariance for unit variance.
    """

    latch: Array
    steering: Array
    wheel_rate: Array
    steering_rate: Array
    weight: Array
    twist: Array
    residual: Array
    unit: Array


class Ring(NamedTuple):
    """
    Newest steps, for a second fit.

    Attributes
    ----------
    casters, steps : (k, 4, n) and (k, 5) arrays
        As of `_odometry_kernels.refit`.
    """

    casters: Array
    steps: Array


class Place(NamedTuple):
    """
    Pose on the floor and its covariance, without errors that last.

    Attributes
    ----------
    pose, anchor : (3,) arrays, m and rad
        Now, and where `covariance` is of.
    covariance, ends : (3, 3) arrays
        Of the path, and of the rounding of the angles at both of its ends.
    growth : (4,) array
        Variances of position per metre and radian, and of yaw.
    lever, standing, end_variance : float, m, m and m²/s²
        Lever of yaw; motion that counts as none; of the rounding of a contact velocity's integral.
    """

    pose: Array
    anchor: Array
    covariance: Array
    ends: Array
    growth: Array
    lever: float
    standing: float
    end_variance: float


class Peak(NamedTuple):
    """
    The largest covariance of a twist in the last seconds of motion.

    Attributes
    ----------
    hold : float, s
        At standstill it stays for so long.
    fraction, creep : float
        Deviations of a contact velocity per speed: of wrong parameters, and of creep.
    value, time : (3, 3) and (1,) arrays
        The covariance and its time, s.
    """

    hold: float
    fraction: float
    creep: float
    value: Array
    time: Array
