# SPDX-License-Identifier: Apache-2.0
"""
States of the wiring monitor: a window of motion, and the hypotheses with their evidence.

`n` is the number of casters, `k` that of hypotheses, `m` that of those that are compared with
unknown radii and zeros: the description and the wirings that reverse the yaw. The window is a part
of `OdometryState`.
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
class SideEvidence(Parts):
    """Evidence of the side to which the robot turns; row 0 is the description."""

    sizes = 'n', 'm'

    wiring: Annotated[Array, 'm']           # number of the hypothesis in WiringCosts
    cost: Annotated[Array, 'm']             # −2 ln of prior and evidence, above the description
    excluded: Annotated[Array, 'm']         # 1: for good
    other: Number                           # probability of all but the description
    spent: Annotated[Array, 'm']            # −2 ln of the likelihood of all windows
    faulty: Annotated[Array, 'm']           # 1 if it needed a fault in the last window
    added: Annotated[Array, 'm']            # to its cost by the last window
    square: Annotated[Array, 'm']           # sum of χ² with radii and zeros as described
    information: Annotated[Array, 'm', '2n', '2n']  # of the errors, in their prior deviations
    right: Annotated[Array, 'm', '2n']      # right side of the normal equations
    column: Annotated[Array, '2n', 2]       # motion of a contact by an error, m
    moment: Annotated[Array, '2n']          # about the centre of the contacts, m²
    tried: Annotated[Array, '2n', '2n']     # information with the present window
    pulled: Annotated[Array, '2n']          # right side with it
    factor: Annotated[Array, '2n', '2n']
    solved: Annotated[Array, '2n']


@state
class WiringCosts(Parts):
    """Hypotheses of wiring and their evidence; hypothesis 0 is the description."""

    sizes = 'n', 'k', 'm'

    noise: float                            # deviation of the motion of a contact, m
    fraction: float                         # the same per path
    creep: float                            # the same with unknown radii and zeros
    radius: float                           # deviation of these radii, per radius
    zero: float                             # deviation of these zeros, rad
    skew: float                             # of the times of two joints, s
    caster: Annotated[Array, 'k']           # the one whose own joints alone are wrong, −1: others
    prior: Annotated[Array, 'k']            # −2 ln of the probability before any motion
    steering_of: Annotated[Array, 'k', 'n']     # channel of each caster
    wheel_of: Annotated[Array, 'k', 'n']
    steering_sign: Annotated[Array, 'k', 'n']
    wheel_sign: Annotated[Array, 'k', 'n']
    turn_cosine: Annotated[Array, 'k', 'n']     # of the turn of the zero
    turn_sine: Annotated[Array, 'k', 'n']
    unstable: Annotated[Array, 'n']         # 1/offset of a free caster, which must trail; else 0
    led: Annotated[Array, 'k', 'n']         # ln of the growth of its angle while it has led
    cost: Annotated[Array, 'k']             # −2 ln of prior and evidence, above the least
    fault: Annotated[Array, 'k']            # cost of the likeliest fault in the last window
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
    rolled: Annotated[Array, 'n', 2]        # the part of it that the wheels roll, m
    ahead: Annotated[Array, 'n']            # and of the pivots along the wheels, m
    sides: SideEvidence
