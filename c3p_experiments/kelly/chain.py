# SPDX-License-Identifier: Apache-2.0
"""Fall of a chain with joint springs: impacts, and rest against a wall."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from c3p_description.model import Array
from c3p_experiments.kelly.page import TIME, closures, energies, head, lines_at, outline
from c3p_experiments.page_curves import save_page
from c3p_multibody.constraints import ConstrainedMotion, Contact, MotionSettings, Record
from c3p_multibody.trees import Body, Joint, Tree
from c3p_plots import style

LINKS = 5
LENGTH = 0.25
MASS = 0.4
STIFFNESS = 14.0
DAMPING = 0.2
WALL = 0.55
DURATION = 6.0
STEP = 2.5e-4
# cycle of the spring torques: 1 ms
HOLD = 4
RESTITUTION = 0.5
# start of the foot and angle of the chain
START = (0.05, 0.35, np.radians(70.0))
# kinetic energy at rest, J
AT_REST = 1e-3


def chain_tree() -> Tree:
    """Return the chain: its lowest link free in the plane, the others hinged in a row."""
    turn = MASS * LENGTH**2 / 12
    bodies = [Body(f'link{k}', MASS, (LENGTH / 2, 0, 0), np.diag([1e-5, turn, turn]))
              for k in range(LINKS)]
    joints = [Joint('foot', 'planar')] + [Joint(f'hinge{k}', translation=(LENGTH, 0, 0))
                                          for k in range(1, LINKS)]
    return Tree.from_connection(range(-1, LINKS - 1), joints, bodies, (0, -9.81, 0))


def chain_contacts() -> list[Contact]:
    """Return the contacts: every joint with ground and wall; the foot does not slip."""
    contacts = [Contact(body='link0', normal=(0, 1, 0), restitution=RESTITUTION, rough=True,
                        name='foot on ground')]
    for k in range(LINKS):
        end: dict[str, Any] = {'body': f'link{k}', 'point': (LENGTH, 0, 0),
                               'restitution': RESTITUTION}
        contacts += [Contact(**end, normal=(0, 1, 0), name=f'joint {k + 1} on ground'),
                     Contact(**end, place=(WALL, 0, 0), normal=(-1, 0, 0),
                             name=f'joint {k + 1} on wall')]
    return contacts


def joints_of(q: Array) -> Array:
    """
    Return the places of foot, hinges and tip.

    Parameters
    ----------
    q : (…, n) array

    Returns
    -------
    (…, LINKS + 1, 2) array, m
    """
    turns = np.cumsum(q[..., 2:], axis=-1)
    steps = LENGTH * np.stack([np.cos(turns), np.sin(turns)], axis=-1)
    foot = q[..., None, :2]
    return np.concatenate([foot, foot + np.cumsum(steps, axis=-2)], axis=-2)


def run_chain(out: str | Path) -> dict[str, Any]:
    """Simulate the fall; draw ``chain.png`` and ``.pdf`` into `out`, return the metrics."""
    tree = chain_tree()

    def springs(time: float, q: Array, qd: Array) -> Array:
        return np.concatenate([np.zeros(3), -STIFFNESS * q[3:]])

    q = np.zeros(tree.count)
    q[:3] = START
    motion = ConstrainedMotion(tree, q, np.zeros(tree.count), contacts=chain_contacts(),
                               torque=springs, damping=[0, 0, 0] + [DAMPING] * (LINKS - 1),
                               settings=MotionSettings(STEP, HOLD))
    motion.advance(DURATION)
    record = motion.record
    joints = joints_of(record.q)
    depth = max(np.max(-joints[..., 1]), np.max(joints[:, 1:, 0] - WALL))
    impacts = [event for event in record.events if event.kind == 'impact']
    metrics = {
        'experiment': 'chain', 'title': 'A springy chain falls and rests against a wall',
        'energy_error_j': float(np.max(np.abs(record.energy_error))),
        'energy_lost_in_impacts_j': float(record.loss[-1]),
        'energy_lost_in_joints_j': float(record.friction[-1]),
        'penetration_max_m': float(depth), 'impacts': len(impacts),
        'openings': sum(event.kind == 'open' for event in record.events),
        'kinetic_energy_end_j': float(record.kinetic[-1]),
        'closed_at_end': [contact.title for contact in motion.closed],
        'reached': bool(record.kinetic[-1] < AT_REST and motion.closed)}
    metrics['files'] = [str(file) for file in _draw(record, metrics, Path(out) / 'chain')]
    return metrics


def _draw(record: Record, metrics: dict[str, Any], path: Path) -> list[Path]:
    page, grid = head(
        metrics['title'], 'temporary constraints: contacts that close and open',
        [f'{metrics["impacts"]} impacts, {metrics["openings"]} openings',
         f'lost in impacts {metrics["energy_lost_in_impacts_j"]:.2f} J, in joints '
         f'{metrics["energy_lost_in_joints_j"]:.2f} J',
         f'energy account error {metrics["energy_error_j"]:.1e} J',
         f'deepest {metrics["penetration_max_m"]:.1e} m'], metrics['reached'])
    place = page.add_subplot(grid[:2, 0])
    style.dress(place, '(a) the chain, light to dark', 'x [m]', 'y [m]')
    place.axhline(0.0, color=style.GREY, linewidth=2)
    place.axvline(WALL, color=style.GREY, linewidth=2)
    times = [0.0, 0.15, 0.28, 0.45, 0.7, 1.0, 1.5, DURATION]
    for k, line in enumerate(lines_at(record, times)):
        outline(place, joints_of(record.q[line]), style.CASTERS[0], 0.2 + 0.8 * k / len(times))
    place.set_aspect('equal', adjustable='datalim')
    energies(page.add_subplot(grid[0, 1:]), 'b', 'energy account', record,
             'work of the springs')
    heights = page.add_subplot(grid[1, 1])
    style.dress(heights, '(c) height of the joints', TIME, 'y [m]')
    joints = joints_of(record.q)
    for k in range(LINKS + 1):
        heights.plot(*style.thin(record.time, joints[:, k, 1]), color=style.CASTERS[k],
                     linewidth=0.9, linestyle=style.caster_dash(k),
                     label='foot' if k == 0 else f'joint {k}')
    style.legend(heights, ncols=2)
    wall = page.add_subplot(grid[1, 2])
    style.dress(wall, '(d) distance from the wall', TIME, 'distance [m]')
    for k in range(1, LINKS + 1):
        wall.plot(*style.thin(record.time, WALL - joints[:, k, 0]), color=style.CASTERS[k],
                  linewidth=0.9, linestyle=style.caster_dash(k), label=f'joint {k}')
    style.legend(wall, ncols=2)
    forces = page.add_subplot(grid[2, 0])
    style.dress(forces, '(e) contact forces', TIME, r'$\lambda$ [N]')
    for k, (label, name) in enumerate((('foot on ground, z', 'foot, up'),
                                       (f'joint {LINKS} on wall, z', 'tip, off the wall'))):
        forces.plot(*style.thin(record.time, record.multiplier(label)), color=style.CASTERS[k],
                    linewidth=0.9, label=name)
    forces.set_ylim(0.0, 60.0)
    style.legend(forces)
    stairs = page.add_subplot(grid[2, 1])
    style.dress(stairs, '(f) impacts, one by one', TIME, 'lost [J]')
    hits = [event for event in record.events if event.energy_loss > 0]
    stairs.set_yscale('log')
    stairs.plot([event.time for event in hits], [event.energy_loss for event in hits], 'o',
                color=style.ALERT, markersize=3)
    closures(page.add_subplot(grid[2, 2]), 'g',
             {'energy account [J]': (record.time, record.energy_error),
              'constraint error of a step': (record.time, record.step_error)},
             'residuals', 'J, m')
    return save_page(page, path)
