# SPDX-License-Identifier: Apache-2.0
"""Record of a constrained motion: states, forces, and the energy balance."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from c3p_multibody.constraints import _step_kernels as kernels
from c3p_multibody.constraints.packing import Array


@dataclass(frozen=True)
class Event:
    """
    Change of the constraints in force.

    Attributes
    ----------
    time : float, s
    kind : str
        ``'add'``, ``'remove'``, ``'impact'``, ``'open'``.
    name : str
        Of the constraint or contact.
    energy_loss : float, J
        Energy lost in its impact.
    impulse : tuple of float
        Λ of its own rows.
    """

    time: float
    kind: str
    name: str
    energy_loss: float = 0.0
    impulse: tuple[float, ...] = ()


def _fact(which: int) -> property:
    """Return the property for one of the facts in the kernels' log."""
    return property(lambda record: record._column(1 + 2 * record.freedoms + which))


@dataclass
class Record:
    """
    Motion so far, line by line, with one line before and one after each event.

    Attributes
    ----------
    freedoms : int
        n.
    events : list of Event
    time : (k,) array, s
    q, qd : (k, n) arrays
        Places and velocities.
    kinetic, potential : (k,) array, J
    work, friction, driven : (k,) array, J
        So far: work of the torques, energy dissipated by the joints' friction, and work of driven
        constraints, ``∫ λᵀg dt``.
    rank : (k,) array
        Independent rows.
    step_error : (k,) array, m or rad
        Largest constraint error of a step, before its projection.
    """

    freedoms: int
    events: list[Event] = field(default_factory=list)
    _pieces: list[tuple[tuple[str, ...], Array, float]] = field(default_factory=list)

    time = property(lambda self: self._column(0))
    q = property(lambda self: self._column(slice(1, 1 + self.freedoms)))
    qd = property(lambda self: self._column(slice(1 + self.freedoms, 1 + 2 * self.freedoms)))
    kinetic = _fact(kernels.KINETIC)
    potential = _fact(kernels.POTENTIAL)
    work = _fact(kernels.WORK)
    friction = _fact(kernels.FRICTION)
    driven = _fact(kernels.DRIVEN)
    rank = _fact(kernels.RANK)
    step_error = _fact(kernels.CLOSURE)

    def extend(self, labels: tuple[str, ...], lines: Array, loss: float) -> None:
        """Append lines of the kernels' log; labels of active rows, loss in impacts so far, J."""
        if len(lines):
            self._pieces.append((labels, lines, loss))

    def _column(self, at: int | slice) -> Array:
        return np.concatenate([lines[:, at] for _, lines, _ in self._pieces])

    @property
    def loss(self) -> Array:
        """Energy lost in impacts so far, J."""
        return np.concatenate([np.full(len(lines), loss) for _, lines, loss in self._pieces])

    @property
    def energy_error(self) -> Array:
        """
        Return the residual of the energy balance, J.

        ``(T + V) − (T + V)₀ − W_torques − W_driven + W_friction + losses``: 0 but for integration.
        """
        total = self.kinetic + self.potential
        return (total - total[0] - self.work - self.driven + self.friction + self.loss)

    def multiplier(self, label: str) -> Array:
        """Return λ of the row with this `label`, nan while it is not active."""
        at = 1 + 2 * self.freedoms + kernels.FACTS
        return np.concatenate([
            lines[:, at + labels.index(label)] if label in labels else np.full(len(lines), np.nan)
            for labels, lines, _ in self._pieces])
