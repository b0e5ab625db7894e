# SPDX-License-Identifier: Apache-2.0
"""Two planar arms catch a sliding box, lift, carry, set down and release it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from c3p_description.model import Array
from c3p_experiments.kelly.laws import Reference, point_to_point, three_joint_angles
from c3p_experiments.kelly.page import (
    TIME,
    closures,
    energies,
    head,
    lines_at,
    marks,
    outline,
    stairs,
)
from c3p_experiments.page_curves import save_page
from c3p_multibody.constraints import ConstrainedMotion, Contact, MotionSettings, Record, Weld
from c3p_multibody.trees import Body, Joint, Tree, bias, crba, point_jacobian
from c3p_plots import style

LENGTHS = (0.55, 0.5, 0.15)
MASSES = (2.0, 1.5, 0.5)
BASES = (-0.6, 0.6)
HEIGHT = 0.8
BOX = (0.3, 0.2)
BOX_MASS = 2.0
STEP = 1e-3
# speed of the box, m/s, and times of catch, lifting, carrying, setting down, release, end, s
SLIDE = 0.15
CATCH = 1.0
LIFTED = 1.8
CARRIED = 2.8
DOWN = 3.6
RELEASE = 3.7
END = 4.5
LIFT = 0.3
CARRY = 0.2
TILT = np.radians(15.0)
# gains of the joints, 1/s² and 1/s
STIFF = 900.0
DAMP = 60.0
ARM = len(LENGTHS)
# largest final position error of the box, m
NEAR = 0.01


def grasp_tree() -> Tree:
    """Return two arms with three joints each, and the box, in a vertical plane."""
    connection: list[int] = []
    joints: list[Joint] = []
    bodies: list[Body] = []
    for arm, base in enumerate(BASES):
        for k, (length, mass) in enumerate(zip(LENGTHS, MASSES, strict=True)):
            below = len(connection) - 1 if k else -1
            at = (LENGTHS[k - 1], 0, 0) if k else (base, HEIGHT, 0)
            turn = mass * length**2 / 12
            connection.append(below)
            joints.append(Joint(f'arm{arm}_joint{k}', translation=at))
            bodies.append(Body(f'arm{arm}_link{k}', mass, (length / 2, 0, 0),
                               np.diag([1e-4, turn, turn])))
    turn = BOX_MASS * (BOX[0]**2 + BOX[1]**2) / 12
    connection.append(-1)
    joints.append(Joint('box', 'planar'))
    bodies.append(Body('box', BOX_MASS, inertia=np.diag([turn, turn, turn])))
    return Tree.from_connection(connection, joints, bodies, (0, -9.81, 0))


def hand_path(arm: int) -> Reference:
    """Return the desired pose (x, y, direction) of hand `arm`: to the box, with it, and away."""
    side = -1.0 if arm == 0 else 1.0
    turn = 0.0 if arm == 0 else np.pi

    def at(x: float, y: float, tilt: float, apart: float = 0.0) -> Array:
        grip = (BOX[0] / 2 + apart) * side
        return np.array([x + grip * np.cos(tilt), y + grip * np.sin(tilt), turn + tilt])

    ground = BOX[1] / 2
    top = BOX[1] / 2 + LIFT
    return point_to_point([(0.0, at(0.0, ground + 0.15, 0.0, 0.12)),
                           (CATCH, at(0.0, ground, 0.0)),
                           (LIFTED, at(0.0, top, TILT)), (CARRIED, at(CARRY, top, -TILT)),
                           (DOWN, at(CARRY, ground, 0.0)), (RELEASE, at(CARRY, ground, 0.0)),
                           (END, at(CARRY, ground + 0.15, 0.0, 0.12))])


def joint_path(arm: int) -> Reference:
    """Return the joint angles that follow `hand_path` of `arm`, with two derivatives."""
    hand = hand_path(arm)
    base = np.array([BASES[arm], HEIGHT, 0.0])
    side = -1.0 if arm == 0 else 1.0

    def angles(time: float) -> Array:
        return three_joint_angles(hand(time)[0] - base, LENGTHS, side)

    def reference(time: float) -> tuple[Array, Array, Array]:
        # central differences of a closed-form path: relative error of accelerations 1e-6
        h = 1e-4
        before, now, after = (angles(time + k * h) for k in (-1, 0, 1))
        ahead = now + _wrapped(after - now)
        behind = now + _wrapped(before - now)
        return now, (ahead - behind) / (2 * h), (ahead - 2 * now + behind) / h**2

    return reference


def _wrapped(angle: Array) -> Array:
    return (angle + np.pi) % (2 * np.pi) - np.pi


class Law:
    """Computed torques of both arms, each with half the weight of a held box."""

    def __init__(self, tree: Tree) -> None:
        """Set tree and paths."""
        self.tree, self.paths = tree, [joint_path(0), joint_path(1)]
        self.holds = False
        self.largest = 0.0

    def __call__(self, time: float, q: Array, qd: Array) -> Array:
        """Return the torques at a state."""
        accel = np.zeros(self.tree.count)
        for arm, path in enumerate(self.paths):
            place = slice(ARM * arm, ARM * arm + ARM)
            angle, rate, desired = path(time)
            accel[place] = (desired + STIFF * _wrapped(angle - q[place])
                            + DAMP * (rate - qd[place]))
        torque = crba(self.tree, q) @ accel + bias(self.tree, q, qd)
        torque[2 * ARM:] = 0.0
        if self.holds:
            for arm in range(2):
                jacobian = point_jacobian(self.tree, q, f'arm{arm}_link{ARM - 1}',
                                          (LENGTHS[-1], 0, 0))
                torque += jacobian[1] * 0.5 * BOX_MASS * 9.81
        self.largest = max(self.largest, float(np.max(np.abs(torque))))
        return torque


def run_grasp(out: str | Path) -> dict[str, Any]:
    """Simulate catch, transport and release; draw the page into `out`, return the metrics."""
    tree = grasp_tree()
    law = Law(tree)
    q = np.zeros(tree.count)
    qd = np.zeros(tree.count)
    for arm, path in enumerate(law.paths):
        q[ARM * arm:ARM * arm + ARM] = path(0.0)[0]
    # the box reaches the middle at the time of the catch
    q[-3:] = (-SLIDE * CATCH, BOX[1] / 2, 0.0)
    qd[-3:] = (SLIDE, 0.0, 0.0)
    corners = [Contact(body='box', point=(side * BOX[0] / 2, -BOX[1] / 2, 0), normal=(0, 1, 0),
                       restitution=0.2, name=f'corner {name}')
               for side, name in ((-1, 'left'), (1, 'right'))]
    motion = ConstrainedMotion(tree, q, qd, contacts=corners, torque=law,
                               settings=MotionSettings(STEP))
    motion.advance(CATCH)
    hits = []
    for arm, name in enumerate(('left', 'right')):
        hits.append(motion.add(Weld.here(
            tree, motion.q, f'arm{arm}_link{ARM - 1}', 'box', (LENGTHS[-1], 0, 0),
            name=f'{name} hand')))
    law.holds = True
    motion.advance(RELEASE - motion.time)
    drift = motion.error()
    for name in ('left hand', 'right hand'):
        motion.remove(name)
    law.holds = False
    motion.advance(END - motion.time)
    record = motion.record
    miss = float(abs(motion.q[-3] - CARRY))
    held = record.rank[(record.time > LIFTED) & (record.time < CARRIED)]
    metrics = {
        'experiment': 'grasp', 'title': 'Two arms catch, carry and release a box',
        'energy_error_j': float(np.max(np.abs(record.energy_error))),
        'drift_max_m': drift, 'step_error_max_m': float(np.max(record.step_error)),
        'grasp_loss_j': float(sum(hit.energy_loss for hit in hits)),
        'energy_lost_in_impacts_j': float(record.loss[-1]),
        'place_error_m': miss, 'tilt_end_rad': float(abs(motion.q[-1])),
        'torque_max_nm': law.largest, 'rows_held': 12, 'rank_held': int(np.median(held)),
        'closed_at_end': [contact.title for contact in motion.closed],
        'reached': bool(miss < NEAR and len(motion.closed) == len(corners))}
    metrics['files'] = [str(file) for file in _draw(tree, record, metrics, Path(out) / 'grasp')]
    return metrics


def _arm_points(q: Array, arm: int) -> Array:
    turns = np.cumsum(q[ARM * arm:ARM * arm + ARM])
    steps = np.array(LENGTHS)[:, None] * np.column_stack([np.cos(turns), np.sin(turns)])
    base = np.array([BASES[arm], HEIGHT])
    return np.vstack([base, base + np.cumsum(steps, axis=0)])


def _box_points(q: Array) -> Array:
    x, y, turn = q[-3:]
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) * np.array(BOX) / 2
    c, s = np.cos(turn), np.sin(turn)
    return np.array([x, y]) + corners @ np.array([[c, s], [-s, c]])


def _draw(tree: Tree, record: Record, metrics: dict[str, Any], path: Path) -> list[Path]:
    page, grid = head(
        metrics['title'], 'temporary constraints between bodies (Kelly, Fig. 3)',
        [f'lost in the catch {metrics["grasp_loss_j"] * 1e3:.1f} mJ',
         f'position error of the box {metrics["place_error_m"] * 1e3:.1f} mm',
         f'held by {metrics["rows_held"]} rows of rank {metrics["rank_held"]}',
         f'drift {metrics["drift_max_m"]:.0e} m',
         f'energy account error {metrics["energy_error_j"]:.0e} J'], metrics['reached'])
    instants = {'catch': CATCH, 'release': RELEASE}
    place = page.add_subplot(grid[:2, :2])
    style.dress(place, '(a) arms and box: begin, catch, lifted, carried, end', 'x [m]', 'y [m]')
    place.axhline(0.0, color=style.GREY, linewidth=2)
    for k, line in enumerate(lines_at(record, [0.0, CATCH, LIFTED, CARRIED, END])):
        strength = (0.25, 0.4, 0.6, 0.8, 1.0)[k]
        for arm in range(2):
            outline(place, _arm_points(record.q[line], arm), style.CASTERS[arm], strength)
        outline(place, _box_points(record.q[line]), style.CASTERS[2], strength, joints=False)
    place.set_aspect('equal', adjustable='datalim')
    energies(page.add_subplot(grid[0, 2]), 'b', 'energy account', record)
    box = page.add_subplot(grid[1, 2])
    style.dress(box, '(c) box', TIME, 'm, rad')
    for k, name in enumerate(('x', 'y', 'tilt')):
        box.plot(*style.thin(record.time, record.q[:, -3 + k]), color=style.CASTERS[k],
                 linewidth=style.LINE, label=name)
    style.legend(box)
    force = page.add_subplot(grid[2, 0])
    style.dress(force, '(d) force of the hands and of the ground', TIME, r'$\lambda$ [N]')
    for k, name in enumerate(('left hand', 'right hand')):
        size = np.linalg.norm([record.multiplier(f'{name}, {axis}') for axis in 'xyz'], axis=0)
        force.plot(*style.thin(record.time, size), color=style.CASTERS[k], linewidth=style.LINE,
                   label=name)
    ground = sum(np.nan_to_num(record.multiplier(f'corner {name}, z'))
                 for name in ('left', 'right'))
    force.plot(*style.thin(record.time, ground), color=style.CASTERS[2], linewidth=style.LINE,
               label='ground')
    style.legend(force)
    lost = page.add_subplot(grid[2, 1])
    stairs(lost, 'e', {'': record})
    closures(page.add_subplot(grid[2, 2]), 'f',
             {'energy account [J]': (record.time, record.energy_error),
              'constraint error of a step': (record.time, record.step_error)},
             'residuals', 'J, m')
    for axes in (box, force, lost):
        marks(axes, instants)
    return save_page(page, path)
