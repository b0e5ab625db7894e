# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled fit of a rigid motion to the contacts of a hypothesis of wiring; no checks.

Public side: wiring_monitor.py. `costs` is the state `WiringCosts` of wiring_states.py.
"""

from __future__ import annotations

from c3p_kernels.compiled import inner

# cost of a fault that begins: in these centimetres it has a probability of 1 in 400
BEGIN = 12.0

# difference of costs beyond which a hypothesis is excluded for good, and that never grows beyond
# the second: new evidence must be able to prevail
EXCLUDED = 30.0
FORGIVEN = 60.0


@inner
def place_contacts(geometry, costs, k):
    """Write the contact points (x, y) and their motions by hypothesis `k`; return Σ |u|², m²."""
    whole = 0.0
    for i in range(len(geometry)):
        j = int(costs.steering_of[k, i])
        m = int(costs.wheel_of[k, i])
        c = costs.cosine[j]
        s = costs.sine[j] * costs.steering_sign[k, i]
        tc = costs.turn_cosine[k, i]
        ts = costs.turn_sine[k, i]
        c, s = c * tc - s * ts, s * tc + c * ts
        d = geometry[i, 2]
        b = geometry[i, 6]
        steered = costs.steering_sign[k, i] * costs.turned[0, j]
        roll = geometry[i, 3] * costs.wheel_sign[k, i] * costs.turned[1, m]
        along = roll - b * steered
        across = -d * steered
        # e = (−sin θ, cos θ), a = (cos θ, sin θ); the contact trails by d, and is b along a
        costs.contact[i, 0] = geometry[i, 0] + d * s + b * c
        costs.contact[i, 1] = geometry[i, 1] - d * c + b * s
        costs.moved[i, 0] = across * c - along * s
        costs.moved[i, 1] = across * s + along * c
        costs.rolled[i, 0] = -roll * s
        costs.rolled[i, 1] = roll * c
        costs.ahead[i] = along
        whole += along * along + across * across
    return whole


@inner
def misfit_without(costs, without):
    """Return the sum of the squared residuals of all contacts but one, −1 for all, m²."""
    n = len(costs.contact)
    count = 0
    cx = cy = ux = uy = 0.0
    for i in range(n):
        if i != without:
            count += 1
            cx += costs.contact[i, 0]
            cy += costs.contact[i, 1]
            ux += costs.moved[i, 0]
            uy += costs.moved[i, 1]
    cx /= count
    cy /= count
    ux /= count
    uy /= count
    spread = turn = whole = 0.0
    for i in range(n):
        if i != without:
            x = costs.contact[i, 0] - cx
            y = costs.contact[i, 1] - cy
            u = costs.moved[i, 0] - ux
            v = costs.moved[i, 1] - uy
            spread += x * x + y * y
            turn += x * v - y * u
            whole += u * u + v * v
    return max(0.0, whole - turn * turn / spread) if spread > 0.0 else whole
