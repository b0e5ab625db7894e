# SPDX-License-Identifier: Apache-2.0
"""Record of a constrained motion: states, forces, and the energy balance."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from c3p_dynamics.constraints import _step_kernels as kernels
from c3p_dynamics.constraints.packing import Array


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


@dataclass
class Record:
    """
    Motion so far, line by line, with one line before and one after each event.

    Attributes
    ----------
    freedoms : int
        n.
    events : list of Event
    """

    freedoms: int
    events: list[Event] = field(default_factory=list)
    _pieces: list[tuple[tuple[str, ...], Array, float]] = field(default_factory=list)

    def extend(self, labels: tuple[str, ...], lines: Array, loss: float) -> None:
        """Append lines of the kernels' log; labels of active rows, loss in impacts so far, J."""
        if len(lines):
            self._pieces.append((labels, lines, loss))

    def _column(self, at: int) -> Array:
        return np.concatenate([lines[:, at] for _, lines, _ in self._pieces])

    def _fact(self, which: int) -> Array:
        return self._column(1 + 2 * self.freedoms + which)

    @property
    def time(self) -> Array:
        """Times of the lines, s."""
        return self._column(0)

    @property
    def q(self) -> Array:
        """Places (k, n)."""
        n = self.freedoms
        return np.concatenate([lines[:, 1:1 + n] for _, lines, _ in self._pieces])

    @property
    def qd(self) -> Array:
        """Velocities (k, n)."""
        n = self.freedoms
        return np.concatenate([lines[:, 1 + n:1 + 2 * n] for _, lines, _ in self._pieces])

    @property
    def kinetic(self) -> Array:
        """Kinetic energy, J."""
        return self._fact(kernels.KINETIC)

    @property
    def potential(self) -> Array:
        """Potential energy, J."""
        return self._fact(kernels.POTENTIAL)

    @property
    def work(self) -> Array:
        """Work of the torques so far, J."""
        return self._fact(kernels.WORK)

    @property
    def friction(self) -> Array:
        """Energy dissipated by the joints' friction so far, J."""
        return self._fact(kernels.FRICTION)

    @property
    def driven(self) -> Array:
        """Work of driven constraints so far, ``∫ λᵀg dt``, J."""
        return self._fact(kernels.DRIVEN)

    @property
    def loss(self) -> Array:
        """Energy lost in impacts so far, J."""
        return np.concatenate([np.full(len(lines), loss) for _, lines, loss in self._pieces])

    @property
    def rank(self) -> Array:
        """Independent rows."""
        return self._fact(kernels.RANK)

    @property
    def step_error(self) -> Array:
        """Largest constraint error of a step, before its projection; m or rad."""
        return self._fact(kernels.CLOSURE)

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
