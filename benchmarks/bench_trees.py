# SPDX-License-Identifier: Apache-2.0
"""
How fast trees of rigid bodies are, beside Pinocchio and MuJoCo, in one run.

``python benchmarks/bench_trees.py`` from the root of the repository prints medians of the time of
one state, taken in turns: for each n, serial and branched, ours from a batch (generic recursion,
and straight-line code where the tree is small enough for it), ours as one call, and the peers
called from Python, which is how a Python program can call them. Then an arm of seven joints, and
the curve of composite against articulated bodies, which Kelly has crossing at n = 12 by counting
operations. ``--quick`` leaves out the large trees.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import mujoco
import numpy as np
import pinocchio as pin
from measuring import Figure, beside, turns

from c3p_kernels.straight.expressions import needed
from c3p_multibody.trees import (
    Body,
    Joint,
    Tree,
    aba_into,
    aba_workspace,
    compile_tree,
    composite_workspace,
    crba,
    forward_composite_into,
    rnea,
    rnea_into,
    rnea_workspace,
)
from c3p_multibody.trees._inertia_kernels import COMPOSITE_WIDTH, composite
from c3p_multibody.trees.tracing import traced_aba, traced_rnea

# runs so short that the machine seldom takes another process in between
ROUNDS, RUN = 101, 5e-4
# bytes of the inertia matrices of a batch: it stays in the processor's second cache
BATCH = 2**17
# states of a batch of straight-line code, large enough for the cost of the call to vanish
SAMPLES = 4096
SIZES = (3, 7, 12, 24, 48, 96)
CURVE = (2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96)
# largest tree with straight-line code here; beyond, the compiler takes a minute
STRAIGHT = 7


def arm(count: int, branched: bool, right_angled: bool = False) -> Tree:
    """Return a chain, or a tree in which each body carries two, with turning joints."""
    rng = np.random.default_rng(count)
    joints, bodies = [], []
    for k in range(count):
        axis = np.eye(3)[(2, 1)[k % 2]] if right_angled else rng.normal(size=3)
        place = (0, 0, 0.3 * (k > 0)) if right_angled else rng.uniform(-0.3, 0.3, 3)
        joints.append(Joint(f'j{k}', axis=axis, translation=place))
        bodies.append(Body(f'b{k}', rng.uniform(0.5, 2), rng.uniform(-0.2, 0.2, 3),
                           np.diag(rng.uniform(0.02, 0.03, 3))))
    lower = [(k - 1) // 2 if branched else k - 1 for k in range(count)]
    lower[0] = -1
    return Tree.from_connection(lower, joints, bodies)


def pinocchio_model(tree: Tree) -> pin.Model:
    """Return the tree in Pinocchio, joints depth first: `pin.crba` is wrong in any other order."""
    model, made = pin.Model(), {-1: 0}
    for k in tree.order:
        joint, body = tree.joints[k], tree.bodies[k]
        made[k] = model.addJoint(
            made[int(tree.lower[k])], pin.JointModelRevoluteUnaligned(np.asarray(joint.axis)),
            pin.SE3(joint.rotation, joint.translation), joint.name)
        model.appendBodyToJoint(made[k], pin.Inertia(body.mass, body.com, body.inertia),
                                pin.SE3.Identity())
    return model


def mujoco_model(tree: Tree) -> mujoco.MjModel:
    """Return the tree in MuJoCo."""
    spec = mujoco.MjSpec()
    spec.compiler.autolimits, made = False, {-1: spec.worldbody}
    for k in tree.order:
        joint, body = tree.joints[k], tree.bodies[k]
        made[k] = made[int(tree.lower[k])].add_body(
            name=body.name, pos=joint.translation, mass=body.mass, ipos=body.com,
            inertia=np.diag(body.inertia), explicitinertial=True)
        made[k].add_joint(name=joint.name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=joint.axis)
    return spec.compile()


def repeated(call: Callable[[], object]) -> Callable[[int], int]:
    """Return what calls as often as asked, and says how many states that were."""
    def run(count: int) -> int:
        for _ in range(count):
            call()
        return count
    return run


def rows_of(n: int) -> int:
    """Return how many states a batch has."""
    return max(8, BATCH // (8 * n * n))


def batch(n: int, call: Callable[[], object], rows: int = 0) -> Callable[[int], int]:
    """Return what takes whole batches, at least as many states as asked."""
    rows = rows or rows_of(n)

    def run(count: int) -> int:
        for _ in range(-(-count // rows)):
            call()
        return -(-count // rows) * rows
    return run


def straight(tree: Tree) -> dict[str, Callable[[int], int]]:
    """Return the straight-line code of a tree, taking SAMPLES states in a call."""
    fast, what = compile_tree(tree), {}
    states = np.random.default_rng(0).uniform(-2, 2, (3, SAMPLES, tree.count))
    for name in ('rnea', 'crba', 'aba'):
        part = fast.part(name)
        work, out = part.workspace(), np.empty((SAMPLES, part.width))
        what[f'{name} straight'] = batch(
            tree.count, lambda part=part, work=work, out=out: part.into(work, *states, out),
            SAMPLES)
    return what


def ours(tree: Tree) -> dict[str, Callable[[int], int]]:
    """Return our recursions of a tree, from a batch and as single calls."""
    n, rows = tree.count, rows_of(tree.count)
    q, qd, x = np.random.default_rng(0).uniform(-2, 2, (3, rows, n))
    none, out, inertia = np.zeros((rows, 0, 6)), np.empty((rows, n)), np.empty((rows, n, n))
    one = [v[:1].copy() for v in (q, qd, x)]
    links, numbers, _ = tree.arrays
    works = (rnea_workspace(tree), np.empty((n, COMPOSITE_WIDTH)), aba_workspace(tree),
             composite_workspace(tree, rows))
    what = {
        'rnea batch': batch(n, lambda: rnea_into(tree, works[0], q, qd, x, none, out)),
        'crba batch': batch(n, lambda: composite(links, numbers, q, works[1], inertia)),
        'aba batch': batch(n, lambda: aba_into(tree, works[2], q, qd, x, none, out)),
        'composite batch': batch(n, lambda: forward_composite_into(tree, works[3], q, qd, x,
                                                                   none, out)),
        'rnea call': repeated(lambda: rnea_into(tree, works[0], *one, none[:1], out[:1])),
        'aba call': repeated(lambda: aba_into(tree, works[2], *one, none[:1], out[:1])),
    }
    if n <= STRAIGHT:
        what |= straight(tree)
    return what


def peers(tree: Tree) -> dict[str, Callable[[int], int]]:
    """Return Pinocchio's and MuJoCo's ways to the same results."""
    model, q, qd, x = pinocchio_model(tree), *np.random.default_rng(0).uniform(-2, 2,
                                                                             (3, tree.count))
    data, mj = model.createData(), mujoco_model(tree)
    at = mujoco.MjData(mj)
    at.qpos[:], at.qvel[:], at.qfrc_applied[:], at.qacc[:] = q, qd, x, x
    result = np.empty(tree.count)

    def positions() -> None:
        mujoco.mj_kinematics(mj, at)
        mujoco.mj_comPos(mj, at)

    def inverse() -> None:
        positions()
        mujoco.mj_comVel(mj, at)
        mujoco.mj_rne(mj, at, 1, result)

    def inertia() -> None:
        positions()
        mujoco.mj_crb(mj, at)

    return {'rnea pinocchio': repeated(lambda: pin.rnea(model, data, q, qd, x)),
            'crba pinocchio': repeated(lambda: pin.crba(model, data, q)),
            'aba pinocchio': repeated(lambda: pin.aba(model, data, q, qd, x)),
            'rnea mujoco': repeated(inverse), 'crba mujoco': repeated(inertia),
            'aba mujoco': repeated(lambda: mujoco.mj_forward(mj, at))}


def medians(what: dict[str, Callable[[int], int]]) -> dict[str, float]:
    """Return the median time of one state of each, s; they take turns and meet the same load."""
    counts, times = {}, {name: [] for name in what}
    for name, run in what.items():
        # the first call compiles
        run(2)
        start = time.perf_counter()
        done = run(5)
        counts[name] = max(1, int(RUN * done / (time.perf_counter() - start)))
    for _ in range(ROUNDS):
        for name, run in what.items():
            start = time.perf_counter()
            done = run(counts[name])
            times[name].append((time.perf_counter() - start) / done)
    return {name: float(np.median(row)) for name, row in times.items()}


def check(tree: Tree) -> None:
    """Stop when what is timed does not give the peers' numbers."""
    q, qd, x = np.random.default_rng(1).uniform(-2, 2, (3, tree.count))
    model, inner, back = pinocchio_model(tree), tree.order, np.argsort(tree.order)
    expected = pin.rnea(model, model.createData(), q[inner], qd[inner], x[inner])[back]
    np.testing.assert_allclose(rnea(tree, q, qd, x), expected, rtol=0,
                               atol=1e-11 * np.abs(expected).max())
    mj = mujoco_model(tree)
    data, whole = mujoco.MjData(mj), np.empty((tree.count, tree.count))
    data.qpos[[mj.joint(name).qposadr[0] for name in tree.names]] = q
    mujoco.mj_forward(mj, data)
    mujoco.mj_fullM(mj, data, whole)
    at = [mj.joint(name).dofadr[0] for name in tree.names]
    np.testing.assert_allclose(crba(tree, q), whole[np.ix_(at, at)], rtol=0,
                               atol=1e-9 * whole.max())


def table(branched: bool, sizes: tuple[int, ...]) -> None:
    """Print the times of trees of all sizes."""
    columns = ('rnea batch', 'rnea straight', 'rnea call', 'rnea pinocchio', 'rnea mujoco',
               'crba batch', 'crba straight', 'crba pinocchio', 'crba mujoco', 'aba batch',
               'composite batch', 'aba straight', 'aba call', 'aba pinocchio', 'aba mujoco')
    print('\n' + ('branched' if branched else 'serial') + ', µs for one state')
    print(f'{"":20}' + ''.join(f'{f"n = {n}":>10}' for n in sizes))
    times = {}
    for n in sizes:
        tree = arm(n, branched)
        check(tree)
        times[n] = medians({**ours(tree), **peers(tree)})
    for name in columns:
        row = [times[n].get(name) for n in sizes]
        print(f'{name:20}' + ''.join(f'{"–":>10}' if t is None else f'{1e6 * t:10.2f}'
                                     for t in row))
    for name in ('rnea', 'crba', 'aba'):
        row = [times[n][f'{name} pinocchio'] / times[n][f'{name} batch'] for n in sizes]
        print(f'{f"pinocchio/ours {name}":20}' + ''.join(f'{r:10.1f}' for r in row))


def seven_joints() -> None:
    """Print how many states of an arm with right-angled axes one core takes in a second."""
    tree = arm(7, False, right_angled=True)
    check(tree)
    times = medians({**ours(tree), **peers(tree)})
    print('\narm of 7 joints, axes at right angles: million states per second and core')
    for name in ('rnea', 'crba', 'aba'):
        peer = times[f'{name} pinocchio']
        for how in ('straight', 'batch', 'pinocchio', 'mujoco'):
            t = times[f'{name} {how}']
            print(f'{name} {how:12}{1e-6 / t:8.2f}   {peer / t:6.1f} times Pinocchio from Python')
    for name, traced in (('rnea', traced_rnea), ('aba', traced_aba)):
        print(f'{name}: {sum(e.kind in "+-*/" for e in needed(traced(tree)))} operations')


def crossover(sizes: tuple[int, ...]) -> None:
    """Print composite against articulated bodies over n."""
    print('\nforward dynamics: time of composite bodies / time of articulated bodies')
    print(f'{"n":>6}{"serial":>10}{"branched":>10}')
    for n in sizes:
        ratios = []
        for branched in (False, True):
            what = ours(arm(n, branched))
            times = medians({k: what[k] for k in ('composite batch', 'aba batch')})
            ratios.append(times['composite batch'] / times['aba batch'])
        print(f'{n:6}' + ''.join(f'{r:10.2f}' for r in ratios))


def figures(quick: bool = False) -> list[Figure]:
    """Return the figures that are compared over versions; `quick` leaves out trees over 7."""
    found = []
    for n in (7,) if quick else (7, 24, 96):
        tree = arm(n, False, right_angled=n == STRAIGHT)
        what = {**ours(tree), **peers(tree)}
        kind = 'straight' if n <= STRAIGHT else 'batch'
        pairs = [(name, f'{name} {kind}', f'{name} {peer}') for name in ('rnea', 'crba', 'aba')
                 for peer in ('pinocchio', 'mujoco')]
        times = turns({key: what[key] for _, a, b in pairs for key in (a, b)}, ROUNDS, RUN)
        found += [beside(f'{name}, serial tree of {n} joints, {kind}', times, a, b)
                  for name, a, b in pairs]
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[1])
    parser.add_argument('--quick', action='store_true', help='trees of up to 12 bodies only')
    largest = 12 if parser.parse_args().quick else max(CURVE)
    seven_joints()
    sizes = tuple(n for n in SIZES if n <= largest)
    table(False, sizes)
    table(True, sizes)
    crossover(tuple(n for n in CURVE if n <= largest))


if __name__ == '__main__':
    main()
