# SPDX-License-Identifier: Apache-2.0
"""
Berthing by a person: the planar scene of `berthing`, with hand velocities and constraints on call.

The caller commands the velocity of the hand in the axes of the orbiter, makes the next constraint
(grapple, then latch) and releases the grapple, and advances the time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from c3p_description.model import Array
from c3p_experiments.kelly.berthing import (
    STEP,
    berth_miss,
    draw_checks,
    draw_version,
    place_of,
    start_of,
)
from c3p_experiments.kelly.page import head
from c3p_experiments.kelly.shuttle import FIXTURE, planar_berthing
from c3p_experiments.loop.outcome import Row
from c3p_experiments.page_curves import save_page
from c3p_multibody.constraints import (
    ConstrainedMotion,
    MotionSettings,
    Weld,
    evaluate,
    svd_basis,
)
from c3p_multibody.constraints.kinds import pose
from c3p_multibody.trees import crba, momentum

NAME = 'berthing_by_hand'
TITLE = 'A person captures a satellite and berths it'
SOURCE = 'Kelly, Fig. 1, man in the loop'

# the satellite is at the hand that much after the start, if the hand stays, s
AHEAD = 20.0
# largest distance and angle at which grapple and latch close, m and rad
GRAPPLE = (0.1, 0.15)
LATCH = (0.05, 0.05)
# speeds of the hand: initial values and limits, m/s and rad/s
SPEED = (0.1, 0.5)
TURN = (0.05, 0.2)
# bandwidth of the joints, 1/s; largest joint rate, rad/s; damping of their inverse kinematics, m
BANDWIDTH = 2.0
JOINT_RATE = 0.1
DAMPED = 0.05
# largest torque of a joint, N·m, and joint rate of an arm that stands, rad/s
TORQUE = 1500.0
STILL = 1e-3

SMALL: dict[str, Any] = {'digits': 1, 'scientific': True}
ROWS = (Row('duration_s', 'duration', 's', digits=0),
        Row('capture_loss_j', 'energy lost in the capture', 'J', digits=4),
        Row('latch_loss_j', 'energy lost in the latching', 'J', digits=4),
        Row('berth_error_m', 'position error of the hand at the berth', 'mm', 1e3, digits=1),
        Row('torque_max_nm', 'largest torque of a joint', 'N·m', digits=0),
        Row('energy_error_j', 'energy account, error', 'J', bar=1e-8, **SMALL),
        Row('drift_max_m', 'constraint error, largest', 'm', bar=1e-12, **SMALL),
        Row('momentum_error_ns', 'change of total momentum', 'N·s', bar=1e-7, **SMALL))


class Berthing:
    """
    Orbiter, arm and satellite in the plane, driven from outside.

    Attributes
    ----------
    motion : ConstrainedMotion
    grappled, latched, released : bool
        State of the constraints; `released` after the release of a latched satellite.
    """

    def __init__(self) -> None:
        """Start with a satellite that drifts towards the hand."""
        self._plan = planar_berthing()
        q, qd = start_of(self._plan, AHEAD)
        self.motion = ConstrainedMotion(self._plan.tree, q, qd, torque=self._torque,
                                        settings=MotionSettings(STEP))
        self.grappled = self.latched = self.released = False
        self._held, self._rate, self._since = q[self._plan.arm], np.zeros(3), 0.0
        self._inertia: Array | None = None
        self._facts: dict[str, Any] = {'torque_max_nm': 0.0, 'drift_max_m': 0.0,
                                       'capture_loss_j': None, 'latch_loss_j': None,
                                       'berth_error_m': None}
        self._first = momentum(self._plan.tree, q, qd)
        self._instants: dict[str, float] = {}

    @property
    def miss(self) -> Array:
        """
        Distance and turn (3,) that remain, in the axes of the orbiter, m and rad.

        From the hand to the fixture of the satellite; once grappled, to the berth.
        """
        plan = self._plan
        q = self.motion.q
        turn, origin = pose(plan.tree, q, 'orbiter')
        tip = place_of(plan, q, plan.hand, plan.reach)
        angle = q[plan.arm].sum()
        if self.grappled:
            berthed = np.zeros(plan.tree.count)
            berthed[plan.arm] = plan.berth
            aim = place_of(plan, berthed, plan.hand, plan.reach)
            aimed = plan.berth.sum()
        else:
            aim = turn.T @ (place_of(plan, q, 'satellite', FIXTURE) - origin)
            aimed = q[-1] - q[2]
        way = aim - turn.T @ (tip - origin)
        return np.array([way[0], way[1], (aimed - angle + np.pi) % (2 * np.pi) - np.pi])

    @property
    def near(self) -> bool:
        """True where the next constraint can be made."""
        miss, (far, turned) = self.miss, LATCH if self.grappled else GRAPPLE
        return not self.latched and bool(np.hypot(*miss[:2]) < far and abs(miss[2]) < turned)

    def make(self) -> bool:
        """Make the next constraint, if it is near: the grapple, then the latch."""
        if not self.near:
            return False
        plan = self._plan
        motion = self.motion
        name, base, point = (('latch', 'orbiter', np.zeros(3)) if self.grappled
                             else ('grapple', plan.hand, FIXTURE))
        if self.grappled:
            self._facts['berth_error_m'] = berth_miss(plan, motion.q)
        weld = Weld.here(plan.tree, motion.q, 'satellite', base, point, name=name)
        loss = motion.add(weld).energy_loss
        self._facts['latch_loss_j' if self.grappled else 'capture_loss_j'] = loss
        self._instants['latch' if self.grappled else 'capture'] = motion.time
        self.latched = self.grappled
        self.grappled = True
        self.command(np.zeros(3))
        return True

    def release(self) -> bool:
        """Release the grapple, if it is closed; a satellite that is not latched drifts away."""
        if not self.grappled:
            return False
        self._drift()
        self.motion.remove('grapple')
        self.grappled, self.released = False, self.latched
        self.command(np.zeros(3))
        return True

    def command(self, velocity: Array) -> None:
        """Move the hand with `velocity` (vx, vy, ω) in the axes of the orbiter from now on."""
        plan = self._plan
        q = self.motion.q
        # what stands is held in place; what moves, only braked
        if np.any(velocity) or np.abs(self.motion.qd[plan.arm]).max() > STILL:
            self._held = q[plan.arm]
        self._rate, self._since = np.zeros(3), self.motion.time
        if np.any(velocity):
            turn, origin = pose(plan.tree, q, 'orbiter')
            tip = turn.T @ (place_of(plan, q, plan.hand, plan.reach) - origin)
            joints = np.array([turn.T @ (pose(plan.tree, q, name)[1] - origin)
                               for name in ('upper_arm', 'forearm', plan.hand)])
            reach = tip[:2] - joints[:, :2]
            matrix = np.vstack([-reach[:, 1], reach[:, 0], np.ones(3)])
            rate = matrix.T @ np.linalg.solve(
                matrix @ matrix.T + DAMPED**2 * np.eye(3), np.asarray(velocity, float))
            self._rate = rate / max(1.0, np.abs(rate).max() / JOINT_RATE)
        self._inertia = self._joint_inertia()

    @staticmethod
    def warm_up() -> None:
        """Compile what all states of the scene need."""
        one = Berthing()
        tree = one._plan.tree
        motion = one.motion
        one.advance(STEP)
        for base in (one._plan.hand, 'orbiter'):
            motion.add(Weld.here(tree, motion.q, 'satellite', base, name=base))
            one.advance(STEP)

    def advance(self, duration: float) -> None:
        """Integrate for `duration`, s."""
        self.motion.advance(duration)

    def status(self) -> tuple[str, str]:
        """Return the state in two lines of text."""
        x, y, turn = self.miss
        to = 'berth' if self.grappled else 'satellite'
        state = ('berthed' if self.released else 'latched: r releases the arm' if self.latched
                 else f'e closes the {"latch" if self.grappled else "grapple"}' if self.near
                 else 'grappled' if self.grappled else 'free')
        return (f'{self.motion.time:6.1f} s   hand to {to}: x {x:+7.3f} m  y {y:+7.3f} m  '
                f'turn {np.degrees(turn):+6.1f}°', state)

    def finish(self, out: Path) -> dict[str, Any]:
        """Draw the page into `out`; return the metrics."""
        self._drift()
        plan = self._plan
        record = self.motion.record
        moments = np.array([momentum(plan.tree, *state) for state in zip(
            record.q[::20], record.qd[::20], strict=True)])
        metrics = {'conditions': {'by': 'keys'}, 'reached': self.released,
                   'duration_s': self.motion.time, **self._facts,
                   'energy_error_j': float(np.max(np.abs(record.energy_error))),
                   'momentum_error_ns': float(np.max(np.abs(moments - self._first)[:, :3]))}
        page, grid = head(TITLE, SOURCE, [
            f'{metrics["duration_s"]:.0f} s',
            f'momentum kept to {metrics["momentum_error_ns"]:.0e} N·s',
            f'energy account error {metrics["energy_error_j"]:.0e} J'],
            self.released, rows=2, columns=4)
        draw_version(page, grid, 0, 'by hand', plan, record, self._instants)
        draw_checks(page, grid, 1, {'by hand': (plan, record, metrics)})
        return metrics | {'files': save_page(page, out / NAME)}

    def _torque(self, time: float, q: Array, qd: Array) -> Array:
        """Return the torques towards the commanded joint rates; none on a closed chain."""
        arm = self._plan.arm
        torque = np.zeros(self._plan.tree.count)
        if self._inertia is not None:
            error = self._held + self._rate * (time - self._since) - q[arm]
            wanted = self._inertia @ (BANDWIDTH**2 * error
                                      + 2 * BANDWIDTH * (self._rate - qd[arm]))
            torque[arm] = wanted / max(1.0, np.abs(wanted).max() / TORQUE)
        self._facts['torque_max_nm'] = max(self._facts['torque_max_nm'],
                                           float(np.abs(torque).max()))
        return torque

    def _joint_inertia(self) -> Array | None:
        """Return the inertia that the joints of the arm feel; None on a closed chain."""
        if self.grappled and self.latched:
            return None
        tree = self._plan.tree
        q = self.motion.q
        rows = evaluate(tree, list(self.motion.constraints), q, np.zeros(tree.count)).jacobian
        free = svd_basis(rows).basis if len(rows) else np.eye(tree.count)
        arm = free[self._plan.arm]
        return np.linalg.inv(arm @ np.linalg.solve(free.T @ crba(tree, q) @ free, arm.T))

    def _drift(self) -> None:
        self._facts['drift_max_m'] = max(self._facts['drift_max_m'], self.motion.error())
