# SPDX-License-Identifier: Apache-2.0
"""
Fusion of inverse dynamics and inverse kinematics, paper I, eq. (13), in all its readings.

    τ = (1 − c)^λ1 τ_D + c^λ2 τ_K,   c = |cos Ψ|,   Ψ = δ − β

with δ the direction of the motion and β the commanded one. The paper calls Ψ = 90° "pure
un-actuation" and 0° and 180° alike "full ability of motion", which needs |cos Ψ|: with the cosine
as printed, odd powers would reverse τ_K beyond 90° and fractional ones be complex. `FusionOptions`
names the choices that the print leaves open; its defaults follow the text.
docs/papers/el_shenawy.md compares the others.
"""

from __future__ import annotations

import math

from c3p_controller.paper.angles import direction_angle
from c3p_controller.velocity_controller_parameters import FusionParameters
from c3p_description.model import Array
from c3p_kinematics.se2 import wrap

# the direction of a smaller speed is undefined, m/s
DIRECTION_SPEED = 0.02


class FusionOptions(FusionParameters):
    """
    Readings of eq. (13); the exponents are `VelocityGains.lambda_1` and `lambda_2`.

    With λ = 0, 0 (Table I) both weights are one and no option has any effect.

    Attributes
    ----------
    cosine : {'absolute', 'as_printed'}
        Absolute: |cos Ψ|, as in the text on 0° and 180°. As printed: cos|Ψ|, negative beyond
        90°: odd λ2 reverses τ_K, fractional λ2 is complex, and 1 − cos Ψ reaches 2.
    at_rest : {'missing_direction', 'zero', 'hold_last', 'computed'}
        Ψ where a direction is undefined, because the robot or the reference is slower than
        DIRECTION_SPEED. Missing direction: π/2 where travel is commanded and the robot does not
        move, 0 where no travel is commanded. Zero: 0; with λ1 > 0 the robot never starts. Hold
        last: the last defined value, π/2 before the first. Computed: the value of the arctangents
        at any speed: at exact rest the angle of +X, or NaN with one argument.
    arctangent : {'two_argument', 'one_argument'}
        See `direction_angle`. One argument does not distinguish opposite directions, which |cos|
        does not either; with the cosine as printed it also confuses other directions.
    sense : {'clockwise', 'counter_clockwise'}
        The minus sign in the arctangents. It cancels: only the sign of Ψ changes.
    yaw : {'ignored', 'included'}
        Ignored: as printed, Ψ depends on vx and vy only, and a pure turn has no missing direction.
        Included: Ψ is the angle between (vx, vy, L ω) of both twists.
    yaw_length : float, m
        L; the default is about the platform's radius of gyration and the hip radius of Table I.
    complex_power : {'stop', 'real_part'}
        Result of a weight that is not a real number. Stop: NaN, as of C's pow(), for which the
        controller sends zero torque. Real part: of the principal value, |c|^λ cos(πλ).
    """

    def __post_init__(self) -> None:
        """Reject invalid and contradictory choices."""
        super().__post_init__()
        if self.yaw == 'included' and self.arctangent == 'one_argument':
            raise ValueError("yaw = 'included' is an angle between vectors, without an arctangent "
                             "of one argument: choose arctangent = 'two_argument'")


# the text of the paper
OUR_READING = FusionOptions()


def singularity_indicator(sensed: Array, reference: Array, options: FusionOptions = OUR_READING,
                          held: float = math.pi / 2) -> float:
    """
    Return |Ψ| in [0, π], the angle between the directions of `sensed` and `reference` twist.

    Without motion in spite of a command, the commanded direction is not actuated: π/2. Without a
    command, or with a pure turn, no direction is missing: 0. The `options` have other readings;
    'hold_last' takes `held`, the last defined value. The arctangent of one argument is NaN for
    0/0.

    Examples
    --------
    >>> import numpy as np
    >>> singularity_indicator(np.array([0.0, 0.3, 0.0]), np.array([0.3, 0.0, 0.0])) == np.pi / 2
    True
    """
    if options.at_rest != 'computed':
        commanded = _speed(reference, options)
        actual = _speed(sensed, options)
        if commanded < DIRECTION_SPEED or actual < DIRECTION_SPEED:
            if options.at_rest == 'hold_last':
                return held
            missing = options.at_rest == 'missing_direction' and commanded >= DIRECTION_SPEED
            return math.pi / 2 if missing else 0.0
    if options.yaw == 'included':
        return _angle_between(sensed, reference, options.yaw_length)
    delta, beta = (direction_angle(float(twist[0]), float(twist[1]), options.arctangent,
                                   options.sense) for twist in (sensed, reference))
    return abs(float(wrap(delta - beta)))


def _speed(twist: Array, options: FusionOptions) -> float:
    turn = options.yaw_length * twist[2] if options.yaw == 'included' else 0.0
    return math.hypot(twist[0], twist[1], turn)


def _angle_between(one: Array, other: Array, length: float) -> float:
    """Return the angle between (vx, vy, L ω) of two twists; 0 with a twist that is zero."""
    a, b = ((twist[0], twist[1], length * twist[2]) for twist in (one, other))
    cross = math.hypot(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                       a[0] * b[1] - a[1] * b[0])
    return math.atan2(cross, a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


def fusion_weights(indicator: float, lambda_1: float, lambda_2: float,
                   options: FusionOptions = OUR_READING) -> tuple[float, float]:
    """
    Return the weights of τ_D and τ_K in eq. (13) at |Ψ| = `indicator`, rad, read by `options`.

    A weight is NaN where it is not a real number; with an exponent (`lambda_1`, `lambda_2`) of 0
    it is 1 at any Ψ.

    Examples
    --------
    >>> as_printed = FusionOptions(cosine='as_printed')
    >>> fusion_weights(math.pi, 1.0, 1.0, as_printed)
    (2.0, -1.0)
    >>> fusion_weights(math.pi, 1.0, 0.5, as_printed)
    (2.0, nan)
    """
    c = math.cos(indicator)
    if options.cosine == 'absolute':
        c = abs(c)
    return (1.0 - c) ** lambda_1, _power(c, lambda_2, options.complex_power)


def _power(base: float, exponent: float, complex_power: str) -> float:
    if base >= 0.0 or math.isnan(base) or exponent == int(exponent):
        return base ** exponent
    if complex_power == 'stop':
        return math.nan
    return abs(base) ** exponent * math.cos(math.pi * exponent)


def fuse(dynamics: Array, kinematics: Array, indicator: float, lambda_1: float,
         lambda_2: float, options: FusionOptions = OUR_READING) -> Array:
    """
    Return the fused wheel torques (n,) N·m, from τ_D (`dynamics`) and τ_K (`kinematics`).

    The others are as in `fusion_weights`. With `lambda_1` = `lambda_2` = 0, as in Table I of the
    paper, the fusion is a plain sum. A weight may be NaN: the caller must check before sending
    torques.

    Examples
    --------
    >>> import numpy as np
    >>> fuse(np.ones(3), 2 * np.ones(3), 1.0, 0.0, 0.0)
    array([3., 3., 3.])
    """
    first, second = fusion_weights(indicator, lambda_1, lambda_2, options)
    return first * dynamics + second * kinematics
