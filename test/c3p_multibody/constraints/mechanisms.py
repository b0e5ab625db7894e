# SPDX-License-Identifier: Apache-2.0
"""Mechanisms with closed-form answers, and random trees with loops, shared by the tests."""

import math
import sys
from pathlib import Path

import numpy as np

from c3p_multibody.constraints import (
    Distance,
    KnifeEdge,
    PlanarLoop,
    Point,
    RollingWheel,
    Rows,
    Weld,
    consistent_velocity,
    evaluate,
)
from c3p_multibody.trees import Body, Joint, Tree, bias, crba

sys.path.insert(0, str(Path(__file__).parents[1] / 'trees'))
from random_trees import random_state, random_tree  # noqa: E402

CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.9, 0.6, 0.9


def rod(name, length, mass):
    """Return a thin rod along x from its joint."""
    turn = mass * length**2 / 12
    return Body(name, mass, (length / 2, 0, 0), np.diag([1e-4, turn, turn]))


def four_bar():
    """Return a four-bar linkage in the vertical plane, cut between coupler and rocker."""
    joints = [Joint('crank'), Joint('coupler', translation=(CRANK, 0, 0)),
              Joint('rocker', translation=(GROUND, 0, 0))]
    tree = Tree.from_connection(
        [-1, 0, -1], joints, [rod('crank', CRANK, 1.0), rod('coupler', COUPLER, 2.0),
                              rod('rocker', ROCKER, 1.5)], (0, -9.81, 0))
    return tree, PlanarLoop(body='coupler', point=(COUPLER, 0, 0), base='rocker',
                            place=(ROCKER, 0, 0), name='cut')


def closed(crank):
    """Return the angles of the closed four-bar for a crank angle: two circles intersect."""
    tip, far = CRANK * np.array([math.cos(crank), math.sin(crank)]), np.array([GROUND, 0.0])
    way = far - tip
    span = np.linalg.norm(way)
    along = (COUPLER**2 - ROCKER**2 + span**2) / (2 * span)
    aside = math.sqrt(COUPLER**2 - along**2)
    joint = tip + along * way / span + aside * np.array([-way[1], way[0]]) / span
    coupler = math.atan2(*(joint - tip)[::-1])
    return np.array([crank, coupler - crank, math.atan2(*(joint - far)[::-1])])


def free_body(mass=1.0, inertia=(1.0, 1.0, 1.0), gravity=(0, 0, -9.81), kind='floating'):
    """Return one body that moves freely."""
    return Tree.from_connection([-1], [Joint('free', kind)],
                                [Body('body', mass, inertia=np.diag(inertia))], gravity)


def random_loop(seed, count=8):
    """
    Return a random chain and constraints of many kinds that hold where it is, and its state.

    The velocity satisfies the constraints.
    """
    rng = np.random.default_rng(seed)
    tree = random_tree(seed, count, 1, kinds=('revolute',))
    q, qd, tau = random_state(tree, seed)
    first, middle, last = (int(tree.order[k]) for k in (0, count // 2, -1))
    at = rng.uniform(-0.3, 0.3, (4, 3))
    kinds = (
        lambda: Weld.here(tree, q, last, point=at[0]),
        lambda: Point(body=last, point=at[0], place=_place(tree, q, last, at[0])),
        lambda: Distance(body=last, point=at[0], base=first, place=at[1],
                         length=_far(tree, q, last, at[0], first, at[1])),
        lambda: PlanarLoop(body=middle, point=at[2], place=_place(tree, q, middle, at[2]),
                           normal=rng.normal(size=3)),
        lambda: RollingWheel(body=middle, radius=0.2, axle=rng.normal(size=3),
                             normal=rng.normal(size=3)),
        lambda: KnifeEdge(body=last, point=at[3], sideways=rng.normal(size=3)))
    chosen = rng.choice(len(kinds), 2, replace=False)
    constraints = [kinds[k]() for k in chosen]
    free = evaluate(tree, constraints, q, qd)
    qd = consistent_velocity(free, crba(tree, q), qd)
    return tree, constraints, q, qd, tau


def random_weld(seed, count=9):
    """Return a chain welded at its last body, its state at rest on the weld, and torques."""
    tree = random_tree(seed, count, 1, kinds=('revolute',))
    q, qd, tau = random_state(tree, seed)
    weld = Weld.here(tree, q, int(tree.order[-1]), point=(0.1, 0.2, -0.1))
    qd = consistent_velocity(evaluate(tree, [weld], q, qd), crba(tree, q), qd)
    return tree, weld, q, qd, tau


def dynamics(tree, q, qd):
    """Return A and c."""
    return crba(tree, q), bias(tree, q, qd)


def _place(tree, q, body, point):
    return Weld.here(tree, q, body, point=point).place


def _far(tree, q, body, point, base, place):
    return float(np.linalg.norm(_place(tree, q, body, point) - _place(tree, q, base, place)))


def rows_of(jacobian, target):
    """Return rows that ask ``B q̈ = target``."""
    m = len(jacobian)
    return Rows(np.asarray(jacobian, float), np.zeros(m), -np.asarray(target, float), np.zeros(m),
                tuple(f'row {k}' for k in range(m)))
