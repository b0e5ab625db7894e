# SPDX-License-Identifier: Apache-2.0
"""
States of the calibration while driving: what a window and the estimate remember.

`n` is the number of casters, 5n that of their parameters, 2n that of their equations.
"""

from __future__ import annotations

from typing import Annotated

from c3p_description.model import Array
from c3p_kernels.state import Number, Parts, state


@state
class MotionWindow(Parts):
    """Motion since the begin of a window."""

    factors: Annotated[Array, 'n', 3]           # of the rows along and across the wheels, and b, m
    begin: Annotated[Array, 'n']                # steering angles at the begin, rad
    sums: Annotated[Array, 'n', 3]              # ∫ e(ψ_i) dθ_x,i (2), turn of the steering, rad
    slopes: Annotated[Array, '2n', '5n']        # of r_i ∫ e(ψ_i) dθ_x,i through φ
    turn: Number                                # φ, rad
    by_parameter: Annotated[Array, '5n']        # its derivative
    travel: Annotated[Array, 'n', 2]            # path of the contact with that of the pivot
                                                # around it, |r dθ_x| + |d dψ|, m; |dθ_s|, rad


@state
class WindowEquations(Parts):
    """Equations of a window, and the change of (p, φ) that fits best."""

    value: Annotated[Array, '2n']               # F, m; whitened from row 3 on
    of_step: Annotated[Array, '2n', 3]          # by (p, φ)
    of_parameters: Annotated[Array, '2n', '5n']
    variance: Annotated[Array, '2n']            # of both components of each caster, m²
    step: Annotated[Array, 3]                   # change of (p, φ), m and rad
    by_parameters: Annotated[Array, 3, '5n']    # its derivative
    spread: Annotated[Array, 3, 3]              # S with SSᵀ its covariance


@state
class Learner(Parts):
    """Recursive estimate; the unknowns are in units of the prior."""

    length: float                               # mean path of the casters in a window, m
    wheel_step: float                           # encoder step, rad
    steering_step: float                        # encoder step, rad
    creep: float                                # deviation of a contact's path per length
    limit: float                                # largest normalised innovation squared in use
    least_gain: float                           # smallest information gain in use, nats
    most: float                                 # largest size of an unknown
    forgotten: float                            # part by which a window returns to the prior
    noise: Number                               # factor of all deviations, 1 or greater
    late: Number                                # deviation of the ages of the joints, s
    changing: Number                            # of the part that changes between samples, s
    shown: Number                               # the part of that which motion has shown, s
    rates: Annotated[Array, 2, 'n']             # of steering axes and wheels, rad/s
    began: Annotated[Array, 2, 'n']             # the same at the begin of the window
    swept: Annotated[Array, 'n']                # ∫ |θ̇_s r dθ_x| since then, m/s
    square: Number                              # of the last window: normalised innovation squared
    gain: Number                                # of the last window: information gain, nats
    deviation: Annotated[Array, '5n']           # units of the unknowns, m and rad
    unknown: Annotated[Array, '5n']
    covariance: Annotated[Array, '5n', '5n']
    cross: Annotated[Array, 4, '5n']            # of a pose's error (3) and a gyro's scale error
    window: MotionWindow
    equations: WindowEquations
