# SPDX-License-Identifier: Apache-2.0
"""
States of the wiring monitor: a window of motion, and the hypotheses with their evidence.

`n` is the number of casters, `k` that of hypotheses. The window is a part of `OdometryState`.
"""

from __future__ import annotations

from typing import Annotated

from c3p_description.model import Array
from c3p_kernels.state import Number, Parts, state


@state
class WiringWindow(Parts):
    """Motion of all joints over a window, and what it has shown of their wiring."""

    length: Annotated[Array, 2, 'n']        # path of a contact per turn of steering and wheel, m
    begun: Annotated[Array, 'n']            # steering at its begin, rad
    turned: Annotated[Array, 2, 'n']        # steering and wheels since then, rad
    steps: Number                           # in it
    time: Number                            # in it, s
    alarm: Number                           # of the residuals, see _wiring_kernels.py
    due: Number                             # 1 for a window to judge
    judged: Number                          # 0 for an alarm that another wiring may explain
    proved: Number                          # 1: a caster was named while right was sure
    share: Number                           # factor of the probability of single faults
    open: Number                            # 1 unless each wrong wiring is excluded
    right: Number                           # probability of the description
    own: Annotated[Array, 'n']              # of wrong ones of each caster's own joints alone
    against: Number                         # windows in a row in which it is the less likely one
    doubted: Number                         # 1 from some of them on


@state
class WiringCosts(Parts):
    """Hypotheses of wiring and their evidence; hypothesis 0 is the description."""

    sizes = 'n', 'k'

    noise: float                            # deviation of the motion of a contact, m
    fraction: float                         # the same per path
    skew: float                             # of the times of two joints, s
    caster: Annotated[Array, 'k']           # the one whose own joints alone are wrong, −1: others
    prior: Annotated[Array, 'k']            # −2 ln of the probability before any motion
    steering_of: Annotated[Array, 'k', 'n']     # channel of each caster
    wheel_of: Annotated[Array, 'k', 'n']
    steering_sign: Annotated[Array, 'k', 'n']
    wheel_sign: Annotated[Array, 'k', 'n']
    turn_cosine: Annotated[Array, 'k', 'n']     # of the turn of the zero
    turn_sine: Annotated[Array, 'k', 'n']
    cost: Annotated[Array, 'k']             # −2 ln of prior and evidence, above the least
    faulty: Annotated[Array, 'k']           # 1 if it needed a fault in the last window
    excluded: Annotated[Array, 'k']         # 1: for good
    misfit: Annotated[Array, 'k']           # sum of χ², without faults
    windows: Number                         # in this sum
    probability: Annotated[Array, 'k']
    turned: Annotated[Array, 2, 'n']        # of the channels, rad
    cosine: Annotated[Array, 'n']           # of the mean steering of the channels
    sine: Annotated[Array, 'n']
    contact: Annotated[Array, 'n', 2]       # points, base_link, m
    moved: Annotated[Array, 'n', 2]         # their motion, m
