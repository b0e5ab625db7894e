# SPDX-License-Identifier: Apache-2.0
"""
State of traction control: every number that it remembers, with shape and unit.

`n` is the number of casters, `efforts` that of the motors' torques, n or 2n: a caster's steering
motor has its torque n places behind that of its wheel.
"""

from __future__ import annotations

from typing import Annotated

from c3p_description.model import Array
from c3p_kernels.state import Parts, state


@state
class TractionState(Parts):
    """Traction control: slip and limit of each wheel (limits.py)."""

    sizes = 'n', 'efforts'

    slip_speed: float                       # of the rim above which a wheel slips, m/s
    slip_fraction: float                    # the same per speed of the floor
    cut_part: float                         # limit at the begin of a slip, by the torque
    least: float                            # and at least, by the bound
    hold: float                             # time after a slip until the limit rises, s
    recovery: float                         # time of the rise from zero to the bound, s
    overspeed: float                        # largest rate by its limit
    # of the robot
    radius: Annotated[Array, 'n']           # of the wheels, m
    driven: Annotated[Array, 'n']           # 1 for a wheel with a motor
    rate_limit: Annotated[Array, 'n']       # of the wheels, rad/s
    damping: Annotated[Array, 'n']          # of a spinning wheel, N·m·s/rad
    bound: Annotated[Array, 'efforts']      # of the torques while all wheels grip, N·m
    # of the present cycle
    steering: Annotated[Array, 'n']         # rad
    wheel_rate: Annotated[Array, 'n']       # rad/s
    twist: Annotated[Array, 3]              # odometry, m/s and rad/s
    command: Annotated[Array, 3]            # twist, m/s and rad/s
    torque: Annotated[Array, 'efforts']     # since the last cycle, N·m
    rolling: Annotated[Array, 'n', 3]       # Rx
    axle: Annotated[Array, 'n', 3]          # Ra
    # of each wheel
    spin: Annotated[Array, 'n']             # rate beyond that of rolling, rad/s
    slipping: Annotated[Array, 'n']         # 1 during a slip
    wheel_limit: Annotated[Array, 'n']      # of the torque, N·m
    gripped: Annotated[Array, 'n']          # time since the last slip, s
    slipped: Annotated[Array, 'n']          # duration of the slip, s
    fast: Annotated[Array, 'n']             # duration of overspeed, s
    # of each motor
    limit: Annotated[Array, 'efforts']      # of the torque, N·m
    limited: Annotated[Array, 'efforts']    # torque within the limits, N·m
