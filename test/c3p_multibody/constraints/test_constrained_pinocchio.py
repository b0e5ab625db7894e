# SPDX-License-Identifier: Apache-2.0
"""Closed loops of ranks two to six against Pinocchio's constrained dynamics."""

import numpy as np
import pytest
from mechanisms import dynamics, random_state, random_weld

from c3p_multibody.constraints import (
    METHODS,
    ConstrainedDynamics,
    Point,
    Weld,
    consistent_velocity,
    evaluate,
    solve,
)
from c3p_multibody.trees import Joint, Tree, crba

pin = pytest.importorskip('pinocchio')

from random_trees import body, pinocchio_model  # noqa: E402

X, Y, Z = np.eye(3)
# joints of a chain whose last body, welded, loses just so many freedoms; each chain has more
CHAINS = {
    2: [('revolute', Z)] * 4,
    3: [('revolute', Z)] * 5,
    4: [('prismatic', X), ('prismatic', Y), ('prismatic', Z), ('revolute', Z), ('revolute', Z),
        ('revolute', Z)],
    5: [('prismatic', X), ('prismatic', Y), ('prismatic', Z), ('revolute', Z), ('revolute', X),
        ('revolute', X), ('revolute', X)],
    6: [('revolute', axis) for axis in (Z, Y, X, Y, X, Z, X, Y)]}


def two_chains(rank, seed):
    """Return a tree of two chains on a first body, and a constraint that ties their ends."""
    rng = np.random.default_rng(100 * rank + seed)
    half = CHAINS[rank]
    # turning axes of both chains add up: the second one must not bring a third direction
    second = [(kind, Z) if rank == 5 and kind == 'revolute' else (kind, axis)
              for kind, axis in half]
    kinds = [('revolute', Y), *half, *second]
    connection = [-1, 0, *range(1, len(half)), 0, *range(len(half) + 1, 2 * len(half))]
    # no offsets along the axis of a planar chain: it has to stay one
    joints = [Joint(f'j{k}', kind, axis, translation=rng.uniform(-0.5, 0.5, 3))
              for k, (kind, axis) in enumerate(kinds)]
    tree = Tree.from_connection(connection, joints,
                                [body(rng, f'b{k}') for k in range(len(kinds))])
    q, qd, tau = random_state(tree, seed)
    last, other = f'b{len(half)}', f'b{2 * len(half)}'
    if rank == 2:
        place = Weld.here(tree, q, last, other, (0.1, 0.2, 0.3)).place
        tie = Point(body=last, base=other, point=(0.1, 0.2, 0.3), place=place)
    else:
        tie = Weld.here(tree, q, last, other, (0.1, 0.2, 0.3))
    rows = evaluate(tree, [tie], q, qd)
    return tree, tie, q, consistent_velocity(rows, crba(tree, q), qd), tau


def pinocchio_answer(tree, tie, q, qd, tau):
    """Return q̈ by Pinocchio, with the proximal iteration carried to the end."""
    model = pinocchio_model(tree)
    data, order = model.createData(), tree.order
    number = {tree.bodies[k].name: model.getJointId(tree.names[k]) for k in order} | {'world': 0}
    turned = getattr(tie, 'turned', np.eye(3))
    body_name, base_name = (tree.bodies[k].name if isinstance(k, int) else k
                            for k in (tie.body, tie.base))
    kind = (pin.ContactType.CONTACT_6D if isinstance(tie, Weld) else pin.ContactType.CONTACT_3D)
    constraint = pin.RigidConstraintModel(
        kind, model, number[base_name], pin.SE3(np.eye(3), np.asarray(tie.place, float)),
        number[body_name], pin.SE3(np.asarray(turned, float), np.asarray(tie.point, float)),
        pin.ReferenceFrame.LOCAL)
    models = pin.StdVec_RigidConstraintModel()
    models.append(constraint)
    datas = pin.StdVec_RigidConstraintData()
    datas.append(constraint.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    # μ small enough to end after a few rounds and large enough for dependent rows
    settings = pin.ProximalSettings(1e-15, 1e-6, 200)
    qdd = np.empty(tree.count)
    qdd[order] = pin.constraintDynamics(model, data, q[order], qd[order], tau[order], models,
                                        datas, settings)
    return qdd


@pytest.mark.parametrize('rank', CHAINS)
def test_loops_agree_with_pinocchio(rank):
    for seed in range(3):
        tree, tie, q, qd, tau = two_chains(rank, seed)
        rows = evaluate(tree, [tie], q, qd)
        expected = pinocchio_answer(tree, tie, q, qd, tau)
        size = 1 + np.max(np.abs(expected))
        for method in METHODS:
            found = solve(*dynamics(tree, q, qd), tau, rows, method)
            assert found.rank == rank, method
            # eigenvectors of BᵀB are right to the root of rounding times the condition of B
            near = 1e-8 if method == 'zero_eigenvalue' else 1e-10
            assert np.max(np.abs(found.qdd - expected)) < near * size, method
        fast = ConstrainedDynamics(tree, [tie])
        assert np.max(np.abs(fast(q, qd, tau) - expected)) < 1e-10 * size
        assert fast.rank == rank and fast.fine


def test_a_weld_to_the_world_agrees_with_pinocchio():
    for seed in range(3):
        tree, weld, q, qd, tau = random_weld(seed)
        expected = pinocchio_answer(tree, weld, q, qd, tau)
        found = solve(*dynamics(tree, q, qd), tau, evaluate(tree, [weld], q, qd))
        assert np.max(np.abs(found.qdd - expected)) < 1e-10 * (1 + np.max(np.abs(expected)))
