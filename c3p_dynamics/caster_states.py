# SPDX-License-Identifier: Apache-2.0
"""
States of the kernels of the caster dynamics.

`n` is the number of casters. w is the weight of the steering motor of a caster, or w_s of a
virtual one, whose torque is dropped. Where the motors reach every acceleration at any steering
angles there are no virtual ones, and w_s is 1. With eᵀe + aᵀa = 1, what a caster adds to
A = J_xᵀJ_x + w J_sᵀJ_s is constant but for `turning` times eᵀe, and for what the turning of the
platform adds to its steering rate.
"""

from __future__ import annotations

from typing import Annotated

from c3p_description.model import Array
from c3p_kernels.state import Number, Parts, state


@state
class InverseState(Parts):
    """Robot, demand, torques and work memory of the inverse dynamics."""

    platform: Annotated[Array, 4]           # m, m cx, m cy, inertia about the origin
    weight: Number                          # w_s
    tolerance: Number                       # of singular values, relative to the largest
    normal: Annotated[Array, 5]             # constant part of A: 00, 02, 11, 12, 22
    x: Annotated[Array, 'n']                # of the pivots, m
    y: Annotated[Array, 'n']                # m
    per_offset: Annotated[Array, 'n']       # 1/d, 1/m
    radius: Annotated[Array, 'n']           # r, m
    rolling: Annotated[Array, 'n']          # μ_e, kg
    axle: Annotated[Array, 'n']             # μ_a, kg
    kappa: Annotated[Array, 'n']            # κ of CasterRobot.caster_inertia
    gain: Annotated[Array, 'n']             # 1/r of a driven wheel, else 0, 1/m
    turning: Annotated[Array, 'n']          # 1/r² of a driven wheel − w/d²
    pull: Annotated[Array, 'n']             # w/d
    share: Annotated[Array, 'n']            # w
    motor: Annotated[Array, 'n']            # 1 for a steering motor, 0 for a virtual one
    cosine: Annotated[Array, 'n']           # of θ_s
    sine: Annotated[Array, 'n']
    demand: Annotated[Array, '6+n']         # θ_s …, vx, vy, ω, v̇x, v̇y, ω̇
    torque: Annotated[Array, '2n']          # of the wheels, then of the steering axes, N·m
