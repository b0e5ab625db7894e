# SPDX-License-Identifier: Apache-2.0
"""
Capture and berthing of a drifting satellite by the arm of the shuttle: the paper's Fig. 1.

The orbiter is free, so momentum is conserved through capture, manoeuvre, latching and release, and
the energy account must close.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from c3p_description.model import Array
from c3p_experiments.kelly.laws import quintic
from c3p_experiments.kelly.page import TIME, closures, energies, head, lines_at, marks, stairs
from c3p_experiments.kelly.shuttle import (
    FIXTURE,
    Berth,
    chain_coordinates,
    planar_berthing,
    spatial_berthing,
)
from c3p_experiments.page_curves import save_page
from c3p_multibody.constraints import (
    ConstrainedMotion,
    MotionSettings,
    Record,
    Weld,
    evaluate,
    svd_basis,
)
from c3p_multibody.constraints.kinds import pose
from c3p_multibody.trees import crba, momentum
from c3p_plots import style

# times of capture, start and end of the manoeuvre, latch, release of the arm, end, s
CAPTURE = 5.0
STILL = 15.0
MOVED = 75.0
LATCH = 95.0
RELEASE = 96.0
END = 100.0
STEP = 0.02
# bandwidth of the joint law, 1/s
BANDWIDTH = 0.8
# largest misalignment of the latch, m
LATCH_MISS = 0.02


def run_berthing(out: str | Path) -> dict[str, Any]:
    """
    Berth the satellite in the plane and in space; draw ``berthing.png`` and ``.pdf`` into `out`.

    Returns the metrics for JSON, SI units; ``planar`` and ``spatial`` hold those of each version.
    """
    results = {name: berth(make()) for name, make in (('planar', planar_berthing),
                                                      ('spatial', spatial_berthing))}
    parts = {name: metrics for name, (_, _, metrics) in results.items()}
    metrics = {
        'experiment': 'berthing', 'title': 'The arm captures a satellite and berths it',
        'energy_error_j': max(part['energy_error_j'] for part in parts.values()),
        'drift_max_m': max(part['drift_max_m'] for part in parts.values()),
        'momentum_error_ns': max(part['momentum_error_ns'] for part in parts.values()),
        'berth_error_m': max(part['berth_error_m'] for part in parts.values()),
        'reached': all(part['reached'] for part in parts.values()), **parts}
    metrics['files'] = [str(file) for file in _draw(results, metrics, Path(out) / 'berthing')]
    return metrics


def berth(plan: Berth) -> tuple[Berth, Record, dict[str, Any]]:
    """Run one version; return the plan, its record and the metrics."""
    tree = plan.tree
    q, qd = start_of(plan)
    law = _law(plan, q)
    motion = ConstrainedMotion(tree, q, qd, torque=law, settings=MotionSettings(STEP))
    motion.advance(CAPTURE)
    tip = place_of(plan, motion.q, plan.hand, plan.reach)
    capture_miss = float(np.linalg.norm(tip - place_of(plan, motion.q, 'satellite', FIXTURE)))
    grip = motion.add(Weld.here(tree, motion.q, 'satellite', plan.hand, FIXTURE, name='grapple'))
    before = momentum(tree, motion.q, motion.qd)
    motion.advance(LATCH - CAPTURE)
    drift = motion.error()
    miss = berth_miss(plan, motion.q)
    latch = motion.add(Weld.here(tree, motion.q, 'satellite', 'orbiter', name='latch'))
    rows = sum(len(one.labels) for one in motion.constraints)
    motion.advance(RELEASE - LATCH)
    held = int(motion.record.rank[-1])
    drift = max(drift, motion.error())
    motion.remove('grapple')
    motion.advance(END - RELEASE)
    record = motion.record
    some = slice(None, None, 20)
    moments = np.array([momentum(tree, *state) for state in zip(record.q[some], record.qd[some],
                                                                strict=True)])
    metrics = {
        'freedoms': tree.count, 'capture_miss_m': capture_miss,
        'capture_loss_j': grip.energy_loss, 'latch_loss_j': latch.energy_loss,
        'berth_error_m': miss, 'drift_max_m': drift,
        'energy_error_j': float(np.max(np.abs(record.energy_error))),
        'momentum_error_ns': float(np.max(np.abs(moments - before)[:, :3])),
        'angular_momentum_error_nms': float(np.max(np.abs(moments - before)[:, 3:])),
        'momentum_ns': float(np.linalg.norm(before[:3])),
        'angular_momentum_nms': float(np.linalg.norm(before[3:])),
        'torque_max_nm': law.largest, 'rows_latched': rows, 'rank_latched': held,
        'reached': bool(miss < LATCH_MISS)}
    return plan, record, metrics


def start_of(plan: Berth, ahead: float = CAPTURE) -> tuple[Array, Array]:
    """Return q and q̇ of a `plan` from which the satellite is at the hand `ahead` s later."""
    tree = plan.tree
    count = plan.base
    q = np.zeros(tree.count)
    qd = np.zeros(tree.count)
    q[plan.arm] = plan.start
    turn, origin = pose(tree, q, plan.hand)
    centre = origin + turn @ (plan.reach - FIXTURE)
    q[-count:] = chain_coordinates(turn, centre, count)
    # constant rates of the chain lead there
    q[-count:] -= ahead * plan.drift
    qd[-count:] = plan.drift
    return q, qd


class _Law:
    """Computed torques towards a reference, with a constant joint inertia."""

    def __init__(self, plan: Berth, inertia: Array) -> None:
        self.plan = plan
        self.inertia = inertia
        self.largest = 0.0

    def __call__(self, time: float, q: Array, qd: Array) -> Array:
        plan = self.plan
        torque = np.zeros(self.plan.tree.count)
        s, rate, accel = quintic(time, STILL, MOVED)
        change = plan.berth - plan.start
        error = plan.start + s * change - q[plan.arm]
        slip = rate * change - qd[plan.arm]
        desired = accel * change + BANDWIDTH**2 * error + 2 * BANDWIDTH * slip
        # the latched arm is a closed chain: no torque
        if time < LATCH:
            torque[plan.arm] = self.inertia @ desired
        self.largest = max(self.largest, float(np.max(np.abs(torque))))
        return torque


def _law(plan: Berth, q: Array) -> _Law:
    """Return the law with the inertia of arm and satellite, orbiter at rest."""
    tree = plan.tree
    held = np.array(q)
    held[plan.arm] = 0.5 * (plan.start + plan.berth)
    count = plan.base
    turn, origin = pose(tree, held, plan.hand)
    held[-count:] = chain_coordinates(turn, origin + turn @ (plan.reach - FIXTURE), count)
    weld = Weld.here(tree, held, 'satellite', plan.hand, FIXTURE)
    rows = evaluate(tree, [weld], held, np.zeros(tree.count)).jacobian
    # motions of arm and satellite with the orbiter at rest
    free = svd_basis(np.vstack([rows, np.eye(tree.count)[:count]])).basis
    arm = free[plan.arm]
    return _Law(plan, np.linalg.inv(arm @ np.linalg.solve(free.T @ crba(tree, held) @ free,
                                                          arm.T)))


def place_of(plan: Berth, q: Array, body: str, point: Array) -> Array:
    """Return the place (3,) of a `point` of a `body` in state `q` of a `plan`, m."""
    turn, origin = pose(plan.tree, q, body)
    return origin + turn @ point


def berth_miss(plan: Berth, q: Array) -> float:
    """Return the distance of the tip of the hand from the berth, relative to the orbiter."""
    berthed = np.zeros(plan.tree.count)
    berthed[plan.arm] = plan.berth
    aim = place_of(plan, berthed, plan.hand, plan.reach)
    turn, origin = pose(plan.tree, q, 'orbiter')
    return float(np.linalg.norm(
        turn.T @ (place_of(plan, q, plan.hand, plan.reach) - origin) - aim))


def outlines(plan: Berth, q: Array, axes: tuple[int, int]) -> list[tuple[Array, str]]:
    """Return the outlines of orbiter, arm and satellite in the plane of two axes."""
    shapes = []
    for body, size, colour in (('orbiter', (11.0, 2.5, 2.0), style.GREY),
                               ('satellite', (1.5, 1.0, 1.0), style.CASTERS[1])):
        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)], float)
        box = np.zeros((5, 3))
        box[:, list(axes)] = corners * np.array(size)[list(axes)]
        turn, origin = pose(plan.tree, q, body)
        shapes.append(((origin + box @ turn.T)[:, list(axes)], colour))
    names = [name for name in plan.tree.frames
             if name not in ('world', 'satellite', 'orbiter') and '.' not in name]
    points = [pose(plan.tree, q, name)[1] for name in names]
    points.append(place_of(plan, q, plan.hand, plan.reach))
    shapes.append((np.array(points)[:, list(axes)], style.CASTERS[0]))
    return shapes


def _draw(results: dict[str, tuple[Berth, Record, dict[str, Any]]], metrics: dict[str, Any],
          path: Path) -> list[Path]:
    page, grid = head(
        metrics['title'], 'Kelly, Fig. 1: constrained motion between arm and satellite',
        [f'momentum kept to {metrics["momentum_error_ns"]:.0e} N·s',
         f'berthed within {metrics["berth_error_m"]:.0e} m',
         f'energy account error {metrics["energy_error_j"]:.0e} J',
         f'drift {metrics["drift_max_m"]:.0e} m',
         *(f'{name}: n = {part["freedoms"]}, rank {part["rank_latched"]} of '
           f'{part["rows_latched"]} rows' for name, part in ((n, metrics[n]) for n in results))],
        metrics['reached'], rows=3, columns=4)
    instants = {'capture': CAPTURE, 'latch': LATCH}
    for row, (name, (plan, record, _)) in enumerate(results.items()):
        draw_version(page, grid, row, name, plan, record, instants)
    draw_checks(page, grid, 2, results)
    return save_page(page, path)


def draw_version(page: Any, grid: Any, row: int, name: str, plan: Berth, record: Record,
                 instants: Mapping[str, float]) -> None:
    """
    Draw a `row` of panels: motion, energy, force and joints.

    `page` and its `grid`, `name` and `plan` of the version, its `record`, and `instants` (s) of
    capture and latch, at which lines are drawn.
    """
    letters = 'abcdefgh'[4 * row:]
    axes = (0, 1) if plan.base == 3 else (0, 2)
    first = instants.get('capture', 0.0)
    view = page.add_subplot(grid[row, 0])
    style.dress(view, f'({letters[0]}) {name}: begin, capture, latched', 'x [m]',
                f'{"xyz"[axes[1]]} [m]')
    for strength, line in zip((0.25, 0.5, 1.0), lines_at(record, [0.0, first, record.time[-1]]),
                              strict=True):
        for points, colour in outlines(plan, record.q[line], axes):
            view.plot(points[:, 0], points[:, 1], color=colour, alpha=strength,
                      linewidth=1.2)
    view.set_aspect('equal', adjustable='datalim')
    energies(page.add_subplot(grid[row, 1]), letters[1], f'{name}: energy account', record)
    force = page.add_subplot(grid[row, 2])
    style.dress(force, f'({letters[2]}) {name}: force at the grapple', TIME,
                r'$|\lambda|$ [N]')
    for k, tie in enumerate(('grapple', 'latch')):
        size = np.linalg.norm([record.multiplier(f'{tie}, {axis}') for axis in 'xyz'], axis=0)
        force.plot(*style.thin(record.time, size), color=style.CASTERS[k], label=tie,
                   linewidth=style.LINE)
    style.legend(force)
    joints = page.add_subplot(grid[row, 3])
    style.dress(joints, f'({letters[3]}) {name}: joints of the arm', TIME, 'angle [rad]')
    for k in range(plan.arm.stop - plan.arm.start):
        joints.plot(*style.thin(record.time, record.q[:, plan.arm.start + k]),
                    color=style.CASTERS[k], linewidth=style.LINE,
                    label=plan.tree.names[plan.arm.start + k])
    style.headroom(joints, above=0.4)
    style.legend(joints, fontsize=5.5, loc='upper center', ncols=2)
    for one in (force, joints):
        marks(one, instants)


def draw_checks(page: Any, grid: Any, row: int,
                results: Mapping[str, tuple[Berth, Record, dict[str, Any]]]) -> None:
    """Draw impacts, ranks and residuals of `results` into a `row` of the `grid` of `page`."""
    letters = 'abcdefghijkl'[4 * row:]
    stairs(page.add_subplot(grid[row, 0]), letters[0],
           {name: record for name, (_, record, _) in results.items()})
    ranks = page.add_subplot(grid[row, 1])
    style.dress(ranks, f'({letters[1]}) independent rows', TIME, 'rank')
    kept = {}
    closed = {}
    for k, (name, (plan, record, _)) in enumerate(results.items()):
        ranks.step(record.time, record.rank, color=style.CASTERS[k], linewidth=style.LINE,
                   label=name)
        some = slice(1, None, 20)
        values = np.array([momentum(plan.tree, *state) for state in zip(
            record.q[some], record.qd[some], strict=True)])
        first = momentum(plan.tree, record.q[0], record.qd[0])
        kept[f'{name} [N·s]'] = (record.time[some], np.max(np.abs(values - first)[:, :3], axis=1))
        kept[f'{name} [N·m·s]'] = (record.time[some],
                                   np.max(np.abs(values - first)[:, 3:], axis=1))
        closed[f'{name} [J]'] = (record.time, record.energy_error)
    style.legend(ranks)
    closures(page.add_subplot(grid[row, 2]), letters[2], kept, 'momentum: change', 'N·s, N·m·s')
    closures(page.add_subplot(grid[row, 3]), letters[3], closed, 'energy account: residual', 'J')
