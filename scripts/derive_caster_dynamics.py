# SPDX-License-Identifier: Apache-2.0
"""
Derive the caster dynamics from positions, with SymPy, and write reference numbers.

Nothing of c3p_dynamics is used. Coordinates q = (X, Y, φ, θ_s, θ_x) of a platform with one caster;
kinetic energy from the floor-frame positions of the parts; the rolling constraints from the
velocity of the contact point, which give q̇ = J(q) ν; Euler-Lagrange projected (Kane):

    M = JᵀM_q J        G = Jᵀ(M_q J̇ν + d/dt ∂T/∂q̇|_{q̈=0} − ∂T/∂q)

Casters add up, so a robot is the platform's terms plus those of each caster. Run from the root of
the repository: ``python scripts/derive_caster_dynamics.py`` remakes the reference file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import sympy as sp

REFERENCE = Path(__file__).parents[1] / 'test' / 'data' / 'caster_dynamics_reference.json'
DIGITS = 50
PLATFORM = ('platform_mass', 'platform_inertia', 'com_x', 'com_y')
CASTER = ('hip_x', 'hip_y', 'caster_offset', 'wheel_radius', 'link_mass', 'link_com',
          'link_inertia', 'wheel_mass', 'wheel_spin_inertia', 'wheel_yaw_inertia')

q = x, y, phi, steer, spin = sp.symbols('x y phi theta_s theta_x')
speeds = sp.symbols('qd0:5')
twist = vx, vy, w = sp.symbols('vx vy w')


def turn(angle: sp.Expr) -> sp.Matrix:
    """Return the rotation matrix of `angle`."""
    return sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])


def velocity(position: sp.Matrix) -> sp.Matrix:
    """Return d/dt of a position that depends on q."""
    return position.jacobian(q) * sp.Matrix(speeds)


def squared(vector: sp.Matrix) -> sp.Expr:
    """Return |vector|²."""
    return (vector.T * vector)[0]


def project(energy: sp.Expr, rates: sp.Matrix) -> tuple[sp.Matrix, sp.Matrix]:
    """Return M (3, 3) and G (3, 1) of kinetic `energy` (q, q̇) under ``q̇ = rates(q, ν)``."""
    jacobian = rates.jacobian(twist)
    momentum = sp.Matrix([sp.diff(energy, s) for s in speeds])
    mass = momentum.jacobian(speeds)
    bias = velocity(momentum) - sp.Matrix([sp.diff(energy, c) for c in q])
    drift = (jacobian * sp.Matrix(twist)).jacobian(q) * rates
    bias = bias.subs(dict(zip(speeds, rates, strict=True)))
    return jacobian.T * mass * jacobian, jacobian.T * (mass * drift + bias)


def derive() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """
    Return two functions that give (M, G) at high precision.

    Returns
    -------
    platform, caster : callable
        ``platform(*PLATFORM, vx, vy, w)`` and ``caster(*CASTER, θ_s, vx, vy, w)``.
    """
    base = sp.Matrix([x, y])
    inertias = mp, ip, cx, cy = sp.symbols(PLATFORM)
    parts = hx, hy, d, r, ml, cl, il, mw, iwx, iwz = sp.symbols(CASTER)
    # platform twist in its own axes
    floor = turn(phi) * sp.Matrix([vx, vy])
    free = sp.Matrix([floor[0], floor[1], w, 0, 0])
    energy = (mp * squared(velocity(base + turn(phi) * sp.Matrix([cx, cy])))
              + ip * speeds[2]**2) / 2
    platform = sp.lambdify((*inertias, *twist), [e.subs(phi, 0) for e in project(energy, free)],
                           'mpmath')
    # the caster trails: link and contact are behind the pivot, against the rolling direction
    pivot = base + turn(phi) * sp.Matrix([hx, hy])
    rolling = turn(phi + steer) * sp.Matrix([0, 1])
    axle = turn(phi + steer) * sp.Matrix([1, 0])
    contact = pivot - d * rolling
    across = (axle.T * velocity(contact))[0]
    along = (rolling.T * velocity(contact))[0] - r * speeds[4]
    known = dict(zip(speeds[:3], free[:3], strict=True))
    solved = sp.solve([sp.simplify(across.subs(known)), sp.simplify(along.subs(known))],
                      speeds[3:], dict=True)[0]
    rates = sp.Matrix([*free[:3], solved[speeds[3]], solved[speeds[4]]])
    energy = (ml * squared(velocity(pivot - cl * rolling)) + mw * squared(velocity(contact))
              + (il + iwz) * (speeds[2] + speeds[3])**2 + iwx * speeds[4]**2) / 2
    caster = sp.lambdify((*parts, steer, *twist), [e.subs(phi, 0) for e in project(energy, rates)],
                         'mpmath')
    return platform, caster


def evaluate(derived: tuple[Callable[..., Any], Callable[..., Any]], platform: list[float],
             casters: list[list[float]], steering: list[float], nu: list[float]
             ) -> tuple[list[list[float]], list[float]]:
    """Return M and G of a whole robot, added up with `DIGITS` digits and rounded once."""
    with mpmath.workdps(DIGITS):
        exact = [mpmath.mpf(v) for v in nu]
        mass, bias = derived[0](*map(mpmath.mpf, platform), *exact)
        for parts, angle in zip(casters, steering, strict=True):
            more = derived[1](*map(mpmath.mpf, parts), mpmath.mpf(angle), *exact)
            mass, bias = mass + more[0], bias + more[1]
        return ([[float(mass[i, j]) for j in range(3)] for i in range(3)],
                [float(bias[i]) for i in range(3)])


def main() -> None:
    """Write robots with 2 to 6 unequal casters at random states, with their M and G."""
    import numpy as np

    rng, derived, cases = np.random.default_rng(20), derive(), []
    for count in (2, 3, 3, 3, 4, 5, 6):
        platform = [*rng.uniform((5, 0.5, -0.1, -0.1), (50, 5, 0.1, 0.1))]
        low = (-0.5, -0.5, 0.02, 0.03, 0.2, -0.01, 1e-4, 0.1, 1e-4, 1e-4)
        high = (0.5, 0.5, 0.08, 0.1, 3, 0.06, 1e-2, 2, 1e-2, 1e-2)
        casters = rng.uniform(low, high, (count, len(CASTER))).tolist()
        steering = rng.uniform(-np.pi, np.pi, count).tolist()
        nu = rng.uniform(-2, 2, 3).tolist()
        mass, bias = evaluate(derived, platform, casters, steering, nu)
        cases.append({'platform': [float(v) for v in platform], 'casters': casters,
                      'steering': steering, 'twist': nu, 'mass': mass, 'bias': bias})
    REFERENCE.parent.mkdir(exist_ok=True)
    REFERENCE.write_text(json.dumps({'platform': PLATFORM, 'caster': CASTER, 'cases': cases},
                                    indent=1) + '\n')


if __name__ == '__main__':
    main()
