# SPDX-License-Identifier: Apache-2.0
"""
Tyres across wheels that do not trail: below their pivots (d = 0), and fixed.

Such a wheel resists sliding sideways. The ideal law, σ = 0, has no solution where four modules
point a hundredth of a degree apart, and no unique side forces where they agree. A tyre gives way:

    F = −κ (σ + T dσ/dt),   κ = C/√(1 + (C σ/L)²)

with the slip σ [m/s] across the wheel. It creeps with σ = F/C under a steady force, up to the
limit L = µ N, and a slip that nothing holds ends with the time constant T. This is the regularised
constraint of simulators, ``dσ/dt = −σ/T − λ/(C T)``, and one model for both uses:

- it takes no decision on rank; where the rows of wheels agree, the forces are the least ones;
- C → ∞ gives the ideal constraint, with an error of 1/C;
- slip ends with 1/T at most for any C, so that an explicit step of 2 T is stable: the second part
  is an inertia κ T in the row of the wheel, which the equations of motion take with the others;
- it only takes energy: C σ² or less, beside what T stores and gives back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import GRAVITY, Array, ArrayField, CasterRobot

# slip under a side force equal to the limit divided by √2, m/s: at 0.5 m/s a slip angle of 0.6°
CREEP = 5e-3

# time constant of side slip, s
LEAD = 2e-3


@dataclass(frozen=True, eq=False)
class SideTyre:
    """
    Law of the tyres across wheels that do not trail.

    Attributes
    ----------
    stiffness : array_like, one or (n,), N·s/m
        C > 0: side force over slip.
    limit : array_like, one or (n,), N
        L > 0, what the tyre transmits; inf for no limit.
    lead : float, s
        T > 0.

    Raises
    ------
    ValueError
        A value that is not greater than zero, or not finite (except `limit`).
    """

    stiffness: ArrayField
    limit: ArrayField = np.inf
    lead: float = LEAD

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ('stiffness', 'limit', 'lead'):
            value = np.asarray(getattr(self, name), float)
            finite = np.isfinite(value) | (name == 'limit')
            if not np.all((value > 0) & finite):
                raise ValueError(f'{name} = {value.tolist()}: must be greater than zero'
                                 f'{"" if name == "limit" else " and finite"}')


def side_tyre(robot: CasterRobot, friction: ArrayLike | None = None) -> SideTyre:
    """
    Return the tyre law of a robot: limits of µ times the mean load of a wheel, creep `CREEP`.

    Parameters
    ----------
    robot : CasterRobot
    friction : array_like, one or (n,), optional
        µ > 0 between tyres and floor; default ``robot.tyre_friction``.

    Examples
    --------
    >>> from c3p_description import load
    >>> tyre = side_tyre(load('swerve'))  # 62 kg on four wheels, µ = 1
    >>> round(float(tyre.limit), 1), round(float(tyre.stiffness))
    (152.0, 30401)
    """
    grip = np.asarray(robot.tyre_friction if friction is None else friction, float)
    limit = grip * GRAVITY * robot.total_mass / robot.count
    return SideTyre(limit / CREEP, limit)


def tyre_columns(robot: CasterRobot, tyre: SideTyre | None) -> Array:
    """Return stiffness and limit of each wheel (n, 2); without a tyre 0 and inf."""
    stiffness, limit = (0.0, np.inf) if tyre is None else (tyre.stiffness, tyre.limit)
    return np.column_stack([np.broadcast_to(stiffness, robot.count),
                            np.broadcast_to(limit, robot.count)])
