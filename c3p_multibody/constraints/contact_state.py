# SPDX-License-Identifier: Apache-2.0
"""Contact state of a moving tree: closed contacts, event location, impacts and release."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import brentq

from c3p_multibody.constraints import _step_kernels as kernels
from c3p_multibody.constraints.impacts import Impact, to_velocity
from c3p_multibody.constraints.kinds import Contact
from c3p_multibody.constraints.packing import Array, ConstraintError, gap_of, pack
from c3p_multibody.constraints.rows import Rows, evaluate
from c3p_multibody.constraints.unilateral import pushing
from c3p_multibody.trees import Tree

# penetration that counts as below the plane, m: above rounding, below any relevant depth
MARGIN = 1e-12
# largest gap of a touching and speed of a resting contact, m and m/s: well above the error of the
# event location, well below any relevant motion
TOUCHING = 1e-9
RESTING = 1e-9
# Zeno behaviour: after this number of impacts of a contact within so few steps it does not bounce
MOST_IMPACTS = 8
WITHIN_STEPS = 4.0
# chattering: after this number of events within an instant (s) resting contacts are kept closed
# for one step, even if they would pull
MOST_EVENTS = 12
INSTANT = 1e-9
# number of events within an instant that is an error
ENDLESS = 200
# smallest part of a step: rounding of the event time
SMALLEST_PART = 1e-12
HALVES = 0.5 ** np.arange(1, 34)

Trial = Callable[[float], tuple[Array, Array, Array]]


class Contacts:
    """
    Contacts and their state; used by `ConstrainedMotion`, whose `step` scales the Zeno guard.

    Attributes
    ----------
    contacts : tuple of Contact
    packed : Packed
        All of them, closed or not.
    gap : (2, k) array
        Gap and speed of each after a step, written by the kernels.
    margin : float, m
        Penetration that counts as below the plane.
    """

    def __init__(self, tree: Tree, contacts: Sequence[Contact], rest_speed: float, step: float
                 ) -> None:
        """Pack the contacts."""
        for k, contact in enumerate(contacts):
            if not isinstance(contact, Contact):
                raise ConstraintError(f'contact {k} = {contact!r}: expected a Contact')
        self.tree, self.contacts = tree, tuple(contacts)
        self.packed = pack(tree, self.contacts)
        self.gap = np.zeros((2, len(self.contacts)))
        self.margin = MARGIN
        self._rest_speed = rest_speed
        self._step = step
        self._closed: list[int] = []
        self._hits: dict[int, list[float]] = {}
        self._events: list[float] = []
        self._kept = False

    @property
    def closed(self) -> tuple[Contact, ...]:
        """Those that push, in the order of their rows."""
        return tuple(self.contacts[k] for k in self._closed)

    def watched(self, rows: int) -> np.ndarray:
        """Return for each contact −1 while it is open, else the row of its λ of all `rows`."""
        watch = np.full(len(self.contacts), -1, np.int64)
        row = rows - sum(len(contact.labels) for contact in self.closed)
        for k in self._closed:
            row += len(self.contacts[k].labels)
            watch[k] = -2 if self._kept else row - 1
        return watch

    def locate(self, kind: int, culprit: int, h: float, trial: Trial, watch: np.ndarray) -> float:
        """
        Return the part of a step `h`, s, after which the first contact closes or opens.

        The contact `culprit` has an event of this `kind` (``CLOSES``, ``OPENS``) by the end of the
        step; `trial` returns gaps, speeds and multipliers after part of it; `watch` is that of
        `watched`.
        """
        part = h
        tried = set()
        while True:
            tried.add((kind, culprit))

            def height(size: float, kind: int = kind, culprit: int = culprit) -> float:
                gap, _, multipliers = trial(size)
                return float(gap[culprit] if kind == kernels.CLOSES
                             else multipliers[watch[culprit]])

            low = SMALLEST_PART * h
            if height(low) <= 0.0:
                # on the plane and moving up: a bounce that ends within the step
                if kind == kernels.OPENS or trial(low)[1][culprit] <= 0.0:
                    return 0.0
                low = next((size for size in part * HALVES if height(size) > 0.0), 0.0)
                if low == 0.0:
                    return 0.0
            if height(part) < 0.0:
                part = float(brentq(height, low, part, xtol=SMALLEST_PART * h, rtol=1e-14))
            if kind == kernels.OPENS:
                return part
            # another contact may have closed earlier in the step
            gap, speed, _ = trial(part)
            earlier = [k for k in range(len(gap)) if watch[k] == -1 and gap[k] < -self.margin
                       and speed[k] < 0.0 and (kind, k) not in tried]
            if not earlier:
                return part
            culprit = earlier[0]

    def _touching(self, q: Array, qd: Array) -> tuple[list[int], Rows, np.ndarray]:
        """Return the contacts that touch, their rows, and the last row of each: its normal."""
        touching = [k for k, contact in enumerate(self.contacts)
                    if k in self._closed or gap_of(self.tree, contact, q) < TOUCHING]
        rows = evaluate(self.tree, [self.contacts[k] for k in touching], q, qd)
        ends = np.cumsum([len(self.contacts[k].labels) for k in touching], dtype=int) - 1
        return touching, rows, ends

    def collide(self, time: float, inertia: Array, q: Array, qd: Array, equal: Rows
                ) -> tuple[Impact, list[str], list[tuple[float, ...]]]:
        """
        Return the impact of all that touches, and names and impulses of the contacts in it.

        Newton's restitution, the least one of the contacts that close at once; of these only those
        take part that push (`pushing`). No impact gains energy. `equal` are the rows of the
        constraints in force at `time`; `inertia` is A at `q`, `qd` the velocity before.
        """
        touching, rows, ends = self._touching(q, qd)
        approach = (rows.jacobian @ qd - rows.rate)[ends]
        e = min((0.0 if self._zeno(k, time) else self.contacts[k].restitution
                 for k, speed in zip(touching, approach, strict=True)
                 if speed < -self._rest_speed), default=0.0)
        need = np.where(approach < 0.0, -e * approach, 0.0)
        push = np.zeros(len(touching), bool)
        if touching:
            found = pushing(inertia, inertia @ qd, (equal.jacobian, equal.rate),
                            (rows.jacobian[ends], rows.rate[ends] + need))
            push = found.pushes
        taken = self._taken(touching, push)
        jacobian = np.vstack([equal.jacobian, rows.jacobian[taken]])
        after = np.zeros(len(rows.labels))
        after[ends] = need
        away = np.concatenate([equal.rate, (rows.rate + after)[taken]])
        labels = equal.labels + tuple(rows.labels[k] for k in taken)
        both = Rows(jacobian, away, -away, np.zeros(len(away)), labels)
        hit = to_velocity(inertia, qd, both, away)
        hits = [k for k, p in zip(touching, push, strict=True) if p]
        impulses = []
        at = len(equal.labels)
        for k in hits:
            size = len(self.contacts[k].labels)
            impulses.append(tuple(hit.impulse[at:at + size]))
            at += size
            self._hits.setdefault(k, []).append(time)
        return hit, [self.contacts[k].title for k in hits], impulses

    def decide(self, time: float, inertia: Array, force: Array, q: Array, qd: Array, equal: Rows,
               without: int | None = None) -> None:
        """
        Determine the active contacts (`pushing`), `without` one that has just opened.

        As `collide`, with `force` τ − c.

        Raises
        ------
        ConstraintError
            Contact chattering that does not end.
        """
        self._events = [t for t in self._events if time - t < INSTANT] + [time]
        if len(self._events) > ENDLESS:
            raise ConstraintError(f'at {time:.6g} s: contact chattering, {ENDLESS} events in one '
                                  'instant; take a smaller step or a larger rest_speed')
        touching, rows, ends = self._touching(q, qd)
        speed = (rows.jacobian @ qd - rows.rate)[ends]
        self._kept = len(self._events) > MOST_EVENTS
        resting = [i for i, k in enumerate(touching)
                   if abs(speed[i]) < RESTING and (k != without or self._kept)]
        if resting and not self._kept:
            found = pushing(inertia, force, (equal.jacobian, -equal.bias),
                            (rows.jacobian[ends[resting]], -rows.bias[ends[resting]]))
            resting = [i for i, p in zip(resting, found.pushes, strict=True) if p]
        self._closed = [touching[i] for i in resting]

    def _taken(self, touching: list[int], push: np.ndarray) -> list[int]:
        """Return the rows of active contacts."""
        taken: list[int] = []
        row = 0
        for k, pushed in zip(touching, push, strict=True):
            size = len(self.contacts[k].labels)
            taken += range(row, row + size) if pushed else []
            row += size
        return taken

    def _zeno(self, k: int, time: float) -> bool:
        """Return True if a contact has bounced often enough to count as resting."""
        recent = [t for t in self._hits.get(k, []) if time - t < WITHIN_STEPS * self._step]
        self._hits[k] = recent
        return len(recent) >= MOST_IMPACTS

