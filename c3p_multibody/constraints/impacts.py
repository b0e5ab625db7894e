# SPDX-License-Identifier: Apache-2.0
"""
Impacts: closing a constraint that the velocity does not satisfy.

Kelly's report has temporary constraints but no impacts: with ``B q̇⁻ ≠ g`` there is an impulse,
``A (q̇⁺ − q̇⁻) = BᵀΛ``, and Newton's restitution requires ``B q̇⁺ − g = −e (B q̇⁻ − g)``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_multibody.constraints.packing import Array, ConstraintError
from c3p_multibody.constraints.rows import Rows
from c3p_multibody.constraints.solvers import solve


class Impact(NamedTuple):
    """
    Result of an impact.

    Attributes
    ----------
    qd : (n,) array
        q̇⁺.
    impulse : (m,) array
        Λ on the body of each constraint, along the axes of its rows, N·s or N·m·s; the least one
        where rows are dependent.
    energy_loss : float, J
        Kinetic energy before less after. Without driven constraints it is Carnot's,
        ``(1 − e)/(1 + e) ½ (q̇⁺ − q̇⁻)ᵀ A (q̇⁺ − q̇⁻) ≥ 0``.
    """

    qd: Array
    impulse: Array
    energy_loss: float


def impact(inertia: ArrayLike, qd: ArrayLike, rows: Rows, restitution: float = 0.0) -> Impact:
    """
    Return the velocity after all rows closed at once.

    `inertia` A (n, n), `qd` q̇⁻ (n,), `rows` of `evaluate`, which may be dependent, and
    `restitution` e, 0 (they stay closed) to 1 (no energy is lost). ConstraintError for another e,
    or as for `solve`.

    Examples
    --------
    A mass of 2 kg at 3 m/s against a wall:

    >>> import numpy as np
    >>> from c3p_multibody.constraints import Rows, impact
    >>> rows = Rows(np.ones((1, 1)), np.zeros(1), np.zeros(1), np.zeros(1), ('wall',))
    >>> hit = impact([[2.0]], [-3.0], rows, 0.5)
    >>> hit.qd.tolist(), hit.impulse.tolist(), hit.energy_loss
    ([1.5], [9.0], 6.75)
    """
    if not 0.0 <= restitution <= 1.0:
        raise ConstraintError(f'restitution = {restitution}: must be 0 to 1')
    a = np.asarray(inertia, float)
    before = np.asarray(qd, float)
    return to_velocity(a, before, rows,
                       rows.rate - restitution * (rows.jacobian @ before - rows.rate))


def to_velocity(inertia: Array, qd: Array, rows: Rows, target: Array) -> Impact:
    """Return the impact after which ``B q̇⁺ = target`` (m,); all else as for `impact`."""
    # the velocity after it is a constrained "acceleration" with A q̇⁻ as force
    found = solve(inertia, np.zeros(len(qd)), inertia @ qd, rows._replace(bias=-target))
    # T⁻ − T⁺ as a product of sum and difference: exact for small losses, too
    loss = 0.5 * float((qd - found.qdd) @ inertia @ (qd + found.qdd))
    return Impact(found.qdd, found.multipliers, loss)
