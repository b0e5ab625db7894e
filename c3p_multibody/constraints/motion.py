# SPDX-License-Identifier: Apache-2.0
"""
Motion with temporary constraints, contacts that close and open, and an energy balance.

Between events the motion is integrated in one compiled loop with a fixed step. A contact that goes
below its plane, or that would pull, ends the loop; the step is then taken again in part, up to the
instant found by Brent's method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from c3p_multibody.constraints import _step_kernels as kernels
from c3p_multibody.constraints._row_kernels import DISTANCE
from c3p_multibody.constraints._straight_kernels import (
    MEMORY,
    WEAK,
    StraightMemory,
)
from c3p_multibody.constraints.constraint_states import VECTORS, system_of
from c3p_multibody.constraints.contact_state import Contacts
from c3p_multibody.constraints.generated import Generated, TracedSystem, made, ready
from c3p_multibody.constraints.impacts import Impact
from c3p_multibody.constraints.kinds import HELD, Constraint, Contact
from c3p_multibody.constraints.motion_settings import DEFAULT, MotionSettings
from c3p_multibody.constraints.packing import Array, ConstraintError, checked, pack
from c3p_multibody.constraints.record import Event, Record
from c3p_multibody.constraints.rows import Rows, evaluate
from c3p_multibody.trees import Tree, bias, crba

Torque = ArrayLike | Callable[[float, Array, Array], ArrayLike]

# steps per call of the compiled loop, which bounds the memory of its log
CHUNK = 4096
# steps with the general solver before straight-line code is tried again
GENERAL = 16
# steps with a set of constraints in force before code is generated for it
WARM = 256
# largest error of a constraint when it is closed, m or rad; the first step removes it
CLOSE_ENOUGH = 1e-6
# largest contradiction of dependent rows, m/s² or rad/s²
DISAGREEMENT = 1e-3
# relative to the step: times nearer than this are the same
SAME_TIME = 1e-9


class ConstrainedMotion:
    """
    A tree that moves under constraints and contacts.

    Parameters
    ----------
    tree : Tree
    q, qd : (n,) array_like
        State at time 0. A velocity that violates the constraints causes an impact.
    constraints : sequence of Constraint
        In force from the start; `add` closes further ones.
    contacts : sequence of Contact
        Monitored throughout.
    torque : (n,) array_like or callable
        τ, constant or ``torque(time, q, qd)``, evaluated once in `hold` steps of the settings and
        held.
    damping : float or (n,) array_like
        Viscous friction of the joints, N·m·s/rad or N·s/m.
    settings : MotionSettings

    Attributes
    ----------
    time : float, s
    record : Record

    Raises
    ------
    ConstraintError
        An invalid constraint, contact or state.

    Notes
    -----
    Runge and Kutta's fourth order. A contact that penetrates its plane and returns within one
    step is not detected.

    Examples
    --------
    A ball of 1 kg falls from 1 m and bounces to a quarter of it:

    >>> from c3p_multibody.constraints import ConstrainedMotion, Contact
    >>> from c3p_multibody.trees import Body, Joint, Tree
    >>> ball = Tree.from_connection([-1], [Joint('height', 'prismatic')], [Body('ball', 1.0)])
    >>> motion = ConstrainedMotion(ball, [1.0], [0.0],
    ...                            contacts=[Contact(body='ball', restitution=0.5)])
    >>> motion.advance(0.7)
    >>> [(round(event.time, 6), round(event.energy_loss, 6)) for event in motion.record.events]
    [(0.451524, 7.3575)]
    """

    def __init__(self, tree: Tree, q: ArrayLike, qd: ArrayLike,
                 constraints: Sequence[Constraint] = (), contacts: Sequence[Contact] = (), *,
                 torque: Torque = 0.0, damping: float | ArrayLike = 0.0,
                 settings: MotionSettings = DEFAULT) -> None:
        """Check the arguments; project the state onto the constraints."""
        self.tree = tree
        self.time = 0.0
        self.step = float(settings.step)
        self._hold = int(settings.hold)
        self._state = np.zeros((VECTORS, tree.count))
        self._state[kernels.Q], self._state[kernels.QD] = (checked(tree, 'q', q),
                                                           checked(tree, 'qd', qd))
        damps = np.broadcast_to(np.asarray(damping, float), (tree.count,))
        self._state[kernels.DAMPING] = checked(tree, 'damping', damps)
        self.torque = torque
        self._contacts = Contacts(tree, contacts, settings.rest_speed, self.step)
        baumgarte = settings.stabilisation == 'baumgarte'
        self._frequency = float(settings.frequency) if baumgarte else 0.0
        self._rule = kernels.SolverRule(DISAGREEMENT, self._contacts.margin,
                                        settings.stabilisation == 'projection')
        self._generated = settings.generated
        self._ages: dict[TracedSystem, int] = {}
        self._code: Generated | None = None
        self._system: TracedSystem | None = None
        self._noted = -1.0
        self._constraints: list[tuple[Constraint, float]] = []
        self._sums = np.zeros((5, 3))
        self._loss = 0.0
        self.record = Record(tree.count)
        self._constraints = [(one, 0.0) for one in constraints]
        self._rebuild()
        self._near_enough(constraints)
        self._settle('add')

    @property
    def q(self) -> Array:
        """Place (n,), a copy."""
        return self._state[kernels.Q].copy()

    @property
    def qd(self) -> Array:
        """Velocity (n,), a copy."""
        return self._state[kernels.QD].copy()

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Constraints in force, without contacts."""
        return tuple(one for one, _ in self._constraints)

    @property
    def closed(self) -> tuple[Contact, ...]:
        """Active contacts."""
        return self._contacts.closed

    @property
    def energy_loss(self) -> float:
        """Energy lost in impacts so far, J."""
        return self._loss

    def error(self) -> float:
        """Return the largest error of the constraints and closed contacts now, m or rad."""
        rows = self._rows((*self.constraints, *self.closed))
        return float(np.max(np.abs(rows.error), initial=0.0))

    def add(self, constraint: Constraint) -> Impact:
        """
        Close a constraint now; a velocity that violates it causes an impact.

        ConstraintError if its error is larger than 1e-6 (see `Weld.here`), or it contradicts the
        others.
        """
        self._near_enough([constraint])
        self._constraints.append((constraint, self.time))
        self._rebuild()
        return self._settle('add', constraint)

    def remove(self, constraint: Constraint | str) -> None:
        """Release a constraint, given or named, now; ConstraintError if it is not in force."""
        kept = [(one, since) for one, since in self._constraints
                if one is not constraint and one.title != constraint]
        if len(kept) == len(self._constraints):
            there = ', '.join(one.title for one in self.constraints) or 'nothing'
            raise ConstraintError(f'{constraint!r} is not in force; in force: {there}')
        gone = next(one for one in self._constraints if one not in kept)
        self._constraints = kept
        self._rebuild()
        self.record.events.append(Event(self.time, 'remove', gone[0].title))
        self._decide()

    def advance(self, duration: float) -> None:
        """
        Integrate the motion for a `duration`, s.

        ConstraintError names the time at which the inertia matrix is singular, numbers overflow,
        or dependent constraints contradict each other.
        """
        end = self.time + duration
        while end - self.time > SAME_TIME * self.step:
            whole = int((end - self.time) / self.step + SAME_TIME)
            steps = min(max(whole, 1), self._hold if callable(self.torque) else CHUNK)
            h = self.step if whole else end - self.time
            self._hold_torque()
            kind, done, culprit, log = self._march(steps, h, self._watch)
            # a contact that would pull at once is released: the line follows without it
            if done or kind != kernels.OPENS:
                self._keep(log[:done + 1], done * h)
            if kind in (kernels.CLOSES, kernels.OPENS):
                self._event(kind, culprit, h)
            elif kind != kernels.DONE:
                raise self._failure(kind, culprit)

    def _hold_torque(self) -> None:
        """Evaluate the torques that are held from now on."""
        torque = self.torque
        if callable(torque):
            torque = torque(self.time, self.q, self.qd)
        self._state[kernels.TAU] = torque

    def _march(self, steps: int, h: float, watch: np.ndarray
               ) -> tuple[int, int, int, Array]:
        log = np.empty((steps + 1, 1 + 2 * self.tree.count + kernels.FACTS
                        + len(self._found)))
        packed = self._contacts.packed
        contacts = (packed.ties, packed.places), watch, self._contacts.gap
        rule = tuple(self._rule)
        if self._code is not None:
            end, done, culprit = self._code.march(
                tuple(self._straight), contacts, (self._state, self._sums), self.time, h, rule,
                log)
            if end != WEAK or done:
                self._patience = GENERAL
                return (kernels.DONE if end == WEAK else end), done, culprit, log
            # the rows are not clearly independent here: some steps with the general solver, and
            # more each time
            log = log[:min(steps, self._patience) + 1]
            self._patience = min(2 * self._patience, CHUNK)
        elif self._system is not None:
            log = log[:self._warm(self._system, steps) + 1]
        end = kernels.march(self._block, tuple(self._integers), contacts, self._sums, self.time,
                            h, rule, log)
        return (*end, log)

    def _warm(self, system: TracedSystem, steps: int) -> int:
        """Return how many of `steps` the general solver takes; generate code after the last."""
        age = self._ages[system] = self._ages.get(system, 0) + min(steps, WARM)
        if age >= WARM:
            self._use(made(system))
            self._system = None
        return min(steps, WARM)

    def _keep(self, lines: Array, passed: float) -> None:
        """Append lines to the record; the first one only if it does not repeat the last."""
        again = (self._noted == self.time) and len(lines) > 1
        self.record.extend(self._packed.labels, lines[1:] if again else lines, self._loss)
        self.time += passed
        self._noted = self.time

    def _event(self, kind: int, culprit: int, h: float) -> None:
        """Integrate up to the instant at which a contact closes or opens, and apply it."""
        part = self._contacts.locate(kind, culprit, h, self._trial, self._watch)
        if part > 0.0:
            unwatched = np.full_like(self._watch, -2)
            _, done, _, log = self._march(1, part, unwatched)
            self._keep(log[:done + 1], part)
        if kind == kernels.CLOSES:
            self._settle('impact')
        else:
            self.record.events.append(Event(self.time, 'open',
                                            self._contacts.contacts[culprit].title))
            self._decide(without=culprit)

    def _trial(self, part: float) -> tuple[Array, Array, Array]:
        """Return gaps, speeds and multipliers after part of a step; restore the state."""
        before = self._state.copy()
        sums = self._sums.copy()
        self._march(1, part, np.full_like(self._watch, -2))
        self._state[:] = before
        self._sums[:] = sums
        return self._contacts.gap[0].copy(), self._contacts.gap[1].copy(), self._found.copy()

    def _rows(self, constraints: Sequence[Constraint]) -> Rows:
        since = dict((id(one), begun) for one, begun in self._constraints)
        driven = [one for one in constraints if np.any(one.rate)]
        rows = evaluate(self.tree, constraints, self._state[kernels.Q], self._state[kernels.QD])
        if not driven:
            return rows
        packed = pack(self.tree, constraints)
        error = rows.error.copy()
        for one, tie in zip(constraints, packed.ties, strict=True):
            place = slice(tie[4], tie[4] + tie[5])
            begun = since.get(id(one), self.time)
            held = [one.kind == DISTANCE or one.mask >> (k + HELD) & 1 for k in range(HELD)
                    if one.mask >> k & 1]
            error[place] -= rows.rate[place] * (self.time - begun) * np.array(held)
        return rows._replace(error=error)

    def _near_enough(self, constraints: Sequence[Constraint]) -> None:
        rows = self._rows(constraints)
        if len(rows.error) and np.max(np.abs(rows.error)) > CLOSE_ENOUGH:
            row = int(np.argmax(np.abs(rows.error)))
            raise ConstraintError(f'{rows.labels[row]} (row {row}) has an error of '
                                  f'{rows.error[row]:.3g}: bring it within {CLOSE_ENOUGH}, or '
                                  'close it in the present pose (Weld.here)')

    def _rebuild(self) -> None:
        """Pack the constraints in force and allocate memory for them."""
        closed = self._contacts.closed
        self._packed = pack(self.tree, (*self.constraints, *closed),
                            [since for _, since in self._constraints])
        m = len(self._packed.labels)
        numbers, self._integers = system_of(self.tree, self._packed, self._frequency)
        numbers.vectors[:] = self._state
        self._block = numbers.block
        self._state = numbers.vectors
        self._found = numbers.space.multipliers
        self._watch = self._contacts.watched(m)
        self._noted = -1.0
        self._code = None
        self._patience = GENERAL
        self._system = None
        if self._generated:
            system = self._system = TracedSystem(self.tree, self._packed, self._contacts.packed,
                                                 self._frequency)
            self._use(made(system) if self._ages.get(system, 0) >= WARM else ready(system))

    def _use(self, code: Generated | None) -> None:
        """Use generated code from now on."""
        self._code = code
        if code is not None:
            x, y = code.memory(self._packed, self._contacts.packed)
            self._straight = StraightMemory(
                code.turning, x, y, np.zeros((MEMORY, self.tree.count)), self._found, code.rank)

    def _settle(self, kind: str, new: Constraint | None = None) -> Impact:
        """Project the velocity onto all constraints; then determine the active contacts."""
        q = self.q
        qd = self.qd
        inertia = crba(self.tree, q)
        equal = self._rows(self.constraints)
        hit, names, impulses = self._contacts.collide(self.time, inertia, q, qd, equal)
        self._state[kernels.QD] = hit.qd
        self._loss += hit.energy_loss
        if new is not None:
            at = [k for k, label in enumerate(equal.labels) if label in new.labels]
            names = [new.title]
            impulses = [tuple(hit.impulse[at])]
        elif not names and hit.energy_loss > 0.0 and not self.record.events:
            # an initial velocity that violates the constraints
            names = ['start']
            impulses = [tuple(hit.impulse)]
        for k, (name, impulse) in enumerate(zip(names, impulses, strict=True)):
            self.record.events.append(Event(self.time, kind, name,
                                            hit.energy_loss if k == 0 else 0.0, impulse))
        self._decide(equal=equal)
        return hit

    def _decide(self, without: int | None = None, equal: Rows | None = None) -> None:
        """Determine the contacts that are active from now on."""
        if self._contacts.contacts:
            self._hold_torque()
            q = self.q
            qd = self.qd
            equal = self._rows(self.constraints)
            force = (self._state[kernels.TAU] - self._state[kernels.DAMPING] * qd
                     - bias(self.tree, q, qd))
            self._contacts.decide(self.time, crba(self.tree, q), force, q, qd, equal, without)
        self._rebuild()

    def _failure(self, kind: int, culprit: int) -> ConstraintError:
        when = f'at {self.time:.6g} s'
        if kind == kernels.EMPTY:
            return ConstraintError(f'{when} the inertia matrix is singular: nothing resists joint '
                                   f'{self.tree.names[culprit]} (row {culprit})')
        if kind == kernels.DISAGREE:
            return ConstraintError(f'{when} dependent rows of {", ".join(self._packed.labels)} '
                                   'contradict each other; drop some, or take a smaller step')
        return ConstraintError(f'{when} the numbers overflow: take a smaller step')
