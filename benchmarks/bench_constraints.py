# SPDX-License-Identifier: Apache-2.0
"""
How fast constrained dynamics are, beside Pinocchio and MuJoCo, in one run.

``python benchmarks/bench_constraints.py`` from the root of the repository prints medians of the
time of one call, taken in turns, and ratios, for the general solver and for straight-line code
("generated"); then drift and energy of a four-bar over ten seconds,
with every integrator given the same time on the wall. Pinocchio solves the same trees by
``constraintDynamics`` and by ``lcaba``, both proximal, from Python; MuJoCo holds the four-bar by
its soft equality constraint, with the constraint parameters made as stiff as they go, and without.
Linear algebra of NumPy runs on one thread, as in a real-time loop; more only wait for each other
here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # before NumPy is imported

import mujoco
import numpy as np
import pinocchio as pin
from measuring import Figure, beside, turns

from c3p_kernels.compiled import inlined, kernel
from c3p_multibody.constraints import (
    METHODS,
    ConstrainedDynamics,
    ConstrainedMotion,
    MotionSettings,
    PlanarLoop,
    Weld,
    consistent_velocity,
    evaluate,
    solve,
)
from c3p_multibody.constraints import _step_kernels as kernels
from c3p_multibody.constraints.motion_settings import STABILISATIONS
from c3p_multibody.trees import Body, Joint, Tree, bias, crba

ROUNDS, RUN, BATCH = 41, 5e-4, 256
CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.9, 0.6, 0.9
START, SPAN = np.array([0.5, -0.31, 1.39]), 10.0
AXES = ((0, 0, 1), (0, 1, 0), (1, 0, 0))


def chain(count: int) -> Tree:
    """Return a spatial chain of equal links with turning axes."""
    joints = [Joint(f'j{k}', axis=AXES[k % 3], translation=(0.3 if k else 0, 0, 0))
              for k in range(count)]
    bodies = [Body(f'b{k}', 1.0, (0.15, 0.01, 0.02), np.diag([0.01, 0.02, 0.02]))
              for k in range(count)]
    return Tree.from_connection(range(-1, count - 1), joints, bodies)


def welded(count: int) -> tuple[Tree, Weld, np.ndarray]:
    """Return a chain, a weld of its last body, and a state (q, q̇, τ)."""
    tree, rng = chain(count), np.random.default_rng(1)
    q, qd, tau = rng.uniform(-1, 1, (3, count))
    weld = Weld.here(tree, q, f'b{count - 1}', point=(0.3, 0, 0))
    qd = consistent_velocity(evaluate(tree, [weld], q, qd), crba(tree, q), qd)
    return tree, weld, np.array([q, qd, tau])


class Pinocchio:
    """The same chain and weld by Pinocchio."""

    def __init__(self, tree: Tree, weld: Weld) -> None:
        """Build the model."""
        self.model = pin.Model()
        made = 0
        for joint, one in zip(tree.joints, tree.bodies, strict=True):
            made = self.model.addJoint(made, pin.JointModelRevoluteUnaligned(joint.axis),
                                       pin.SE3(joint.rotation, joint.translation), joint.name)
            self.model.appendBodyToJoint(made, pin.Inertia(one.mass, one.com, one.inertia),
                                         pin.SE3.Identity())
        self.data = self.model.createData()
        constraint = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_6D, self.model, 0,
            pin.SE3(np.eye(3), np.asarray(weld.place)), made,
            pin.SE3(np.asarray(weld.turned), np.asarray(weld.point, float)),
            pin.ReferenceFrame.LOCAL)
        self.models = pin.StdVec_RigidConstraintModel()
        self.models.append(constraint)
        self.datas = pin.StdVec_RigidConstraintData()
        self.datas.append(constraint.createData())
        pin.initConstraintDynamics(self.model, self.data, self.models, self.datas)
        self.settings = pin.ProximalSettings(1e-12, 1e-8, 10)

    def __call__(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Return the accelerations."""
        return pin.constraintDynamics(self.model, self.data, q, qd, tau, self.models, self.datas,
                                      self.settings)


class LoopConstrained(Pinocchio):
    """
    The same by the articulated bodies of loops (``lcaba``).

    Its wheel fails when the world is the first joint of a constraint, and needs a larger mu: its
    accelerations are exact to 1e-10 of the largest after four or five iterations.
    """

    def __init__(self, tree: Tree, weld: Weld) -> None:
        """Build the model with the order in which joints are eliminated."""
        super().__init__(tree, weld)
        constraint = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_6D, self.model, self.model.njoints - 1,
            pin.SE3(np.asarray(weld.turned), np.asarray(weld.point, float)), 0,
            pin.SE3(np.eye(3), np.asarray(weld.place)), pin.ReferenceFrame.LOCAL)
        self.models = pin.StdVec_RigidConstraintModel()
        self.models.append(constraint)
        self.datas = pin.StdVec_RigidConstraintData()
        self.datas.append(constraint.createData())
        self.data = self.model.createData()
        pin.computeJointMinimalOrdering(self.model, self.data, self.models)
        self.settings = pin.ProximalSettings(1e-10, 1e-4, 20)

    def __call__(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Return the accelerations."""
        return pin.lcaba(self.model, self.data, q, qd, tau, self.models, self.datas,
                         self.settings)


@kernel
def constrained_loop(state, block, links, ties, order, count):
    """Compiled loop over the fast path; the state changes each time."""
    for _ in range(count):
        state[0, 0] += 1e-12
        kernels.constrained(state[0], state[1], state[2], 0.0, block, links, ties, order)


def general_loop(fast: ConstrainedDynamics, state: np.ndarray) -> Callable[[int], object]:
    """Return `constrained_loop` over a system, from a `state` (3, n)."""
    own = state.copy()
    return lambda count: constrained_loop(own, *fast._fixed, count)


def generated_loop(fast: ConstrainedDynamics, state: np.ndarray) -> Callable[[int], object]:
    """Return the same loop over straight-line code."""
    own = state.copy()
    single = fast._code.single

    @inlined
    def loop(state, turning, x, y, count):  # noqa: ANN001, ANN202
        for _ in range(count):
            state[0, 0] += 1e-12
            single(state[0], state[1], state[2], 0.0, turning, x, y)

    return lambda count: loop(own, *fast._room, count)


def generated_batch(fast: ConstrainedDynamics, tree: Tree) -> Callable[[int], object]:
    """Return straight-line code on states side by side, BATCH in a call; the time of one."""
    states = np.random.default_rng(0).uniform(-1, 1, (3, BATCH, tree.count))

    def run(count: int) -> int:
        for _ in range(-(-count // BATCH)):
            fast._code.batch(fast._packed, *states, 0.0)
        return -(-count // BATCH) * BATCH
    return run


def python(call: Callable[[], object]) -> Callable[[int], None]:
    """Return what makes a number of calls from Python."""
    def run(count: int) -> None:
        for _ in range(count):
            call()
    return run


def medians(what: dict[str, Callable[[int], object]]) -> dict[str, float]:
    """Return the median time of one call of each, s; they take turns and meet the same load."""
    counts, times = {}, {}
    for name, run in what.items():
        run(3)
        start = time.perf_counter()
        done = run(5) or 5
        counts[name] = max(1, int(RUN * done / (time.perf_counter() - start)))
        times[name] = []
    for _ in range(ROUNDS):
        for name, run in what.items():
            start = time.perf_counter()
            done = run(counts[name]) or counts[name]
            times[name].append((time.perf_counter() - start) / done)
    return {name: float(np.median(row)) for name, row in times.items()}


def calls() -> None:
    """Measure constrained forward dynamics and print."""
    what: dict[str, Callable[[int], object]] = {}
    for count in (7, 12, 24):
        tree, weld, state = welded(count)
        fast, peer = ConstrainedDynamics(tree, [weld]), Pinocchio(tree, weld)
        off = np.max(np.abs(fast(*state) - peer(*state)))
        largest = np.max(np.abs(fast(*state)))
        print(f'n = {count}: accelerations differ by {off:.1e} of {largest:.0f}')
        what[f'n = {count}, weld: call'] = python(lambda f=fast, s=state: f(*s))
        what[f'n = {count}, weld: compiled loop'] = general_loop(fast, state)
        fast = ConstrainedDynamics(tree, [weld], generated=True)
        if fast._code is not None:
            off = np.max(np.abs(fast(*state) - peer(*state)))
            print(f'    generated: {off:.1e}')
            what[f'n = {count}, weld: generated, call'] = python(lambda f=fast, s=state: f(*s))
            what[f'n = {count}, weld: generated, loop'] = generated_loop(fast, state)
            what[f'n = {count}, weld: generated, batch'] = generated_batch(fast, tree)
        loops = LoopConstrained(tree, weld)
        off = np.max(np.abs(fast(*state) - loops(*state)))
        print(f'    lcaba: {off:.1e}')
        what[f'n = {count}, weld: lcaba call'] = python(lambda p=loops, s=state: p(*s))
        what[f'n = {count}, weld: pinocchio call'] = python(lambda p=peer, s=state: p(*s))
    tree, weld, state = welded(12)
    rows = evaluate(tree, [weld], state[0], state[1])
    a, c = crba(tree, state[0]), bias(tree, state[0], state[1])
    for method in METHODS:
        what[f'n = 12, weld: solve by {method}'] = python(
            lambda m=method: solve(a, c, state[2], rows, m))
    times = medians(what)
    print(f'\n{"":44}{"µs":>9}{"per second":>14}')
    for name, seconds in times.items():
        print(f'{name:44}{1e6 * seconds:9.2f}{1 / seconds:14,.0f}')
    for count in (7, 12, 24):
        peer = times[f'n = {count}, weld: pinocchio call']
        ratios = (f'{peer / times[name]:.2f} ({kind})'
                  for kind in ('call', 'compiled loop', 'generated, call', 'generated, loop',
                               'generated, batch')
                  if (name := f'n = {count}, weld: {kind}') in times)
        print(f'n = {count}: the time of pinocchio divided by ours: {", ".join(ratios)}')


def four_bar() -> tuple[Tree, PlanarLoop]:
    """Return the linkage, cut between coupler and rocker."""
    def rod(name: str, length: float, mass: float) -> Body:
        turn = mass * length**2 / 12
        return Body(name, mass, (length / 2, 0, 0), np.diag([1e-4, turn, turn]))

    tree = Tree.from_connection(
        [-1, 0, -1], [Joint('crank'), Joint('coupler', translation=(CRANK, 0, 0)),
                      Joint('rocker', translation=(GROUND, 0, 0))],
        [rod('crank', CRANK, 1.0), rod('coupler', COUPLER, 2.0), rod('rocker', ROCKER, 1.5)],
        (0, -9.81, 0))
    return tree, PlanarLoop(body='coupler', point=(COUPLER, 0, 0), base='rocker',
                            place=(ROCKER, 0, 0), name='cut')


def closed_start(tree: Tree, cut: PlanarLoop) -> np.ndarray:
    """Return angles near START at which the loop is closed (Newton)."""
    q = START.copy()
    for _ in range(30):
        rows = evaluate(tree, [cut], q, np.zeros(3))
        q[1:] -= np.linalg.solve(rows.jacobian[:, 1:], rows.error)
    return q


MODEL = """
<mujoco><option timestep="{step}" gravity="0 -9.81 0" integrator="{integrator}" solver="Newton"
 iterations="100" tolerance="1e-14"><flag contact="disable" energy="enable"/></option><worldbody>
<body name="crank"><joint axis="0 0 1"/>
<inertial pos="{c2} 0 0" mass="1" diaginertia="1e-4 {i1} {i1}"/>
<body name="coupler" pos="{c} 0 0"><joint axis="0 0 1"/>
<inertial pos="{k2} 0 0" mass="2" diaginertia="1e-4 {i2} {i2}"/>
<site name="a" pos="{k} 0 0"/></body></body>
<body name="rocker" pos="{g} 0 0"><joint axis="0 0 1"/>
<inertial pos="{r2} 0 0" mass="1.5" diaginertia="1e-4 {i3} {i3}"/>
<site name="b" pos="{r} 0 0"/></body>
</worldbody><equality><connect site1="a" site2="b" solref="{solref}" solimp="{solimp}"/></equality>
</mujoco>"""


def mujoco_four_bar(q: np.ndarray, step: float, integrator: str, stiff: bool
                    ) -> tuple[float, float, float]:
    """Return wall time, largest distance at the cut and largest change of energy."""
    text = MODEL.format(
        step=step, integrator=integrator, c=CRANK, c2=CRANK / 2, k=COUPLER, k2=COUPLER / 2,
        r=ROCKER, r2=ROCKER / 2, g=GROUND, i1=CRANK**2 / 12, i2=2 * COUPLER**2 / 12,
        i3=1.5 * ROCKER**2 / 12, solref=f'{2 * step} 1' if stiff else '0.02 1',
        solimp='0.9999 0.9999 0.001' if stiff else '0.9 0.95 0.001')
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    first = data.energy.sum()
    drift = change = spent = 0.0
    for _ in range(int(round(SPAN / step))):
        start = time.perf_counter()
        mujoco.mj_step(model, data)
        spent += time.perf_counter() - start
        drift = max(drift, float(np.linalg.norm((data.site_xpos[0] - data.site_xpos[1])[:2])))
        change = max(change, abs(float(data.energy.sum() - first)))
    return spent, drift, change


def ours(tree: Tree, cut: PlanarLoop, q: np.ndarray, step: float, stabilisation: str,
         generated: bool = False) -> tuple[float, float, float]:
    """Return the same of ours."""
    motion = ConstrainedMotion(tree, q, np.zeros(3), [cut], settings=MotionSettings(
        step, stabilisation=stabilisation, generated=generated))
    start = time.perf_counter()
    motion.advance(SPAN)
    spent = time.perf_counter() - start
    some = motion.record.q[::max(1, len(motion.record.q) // 500)]
    drift = max(float(np.linalg.norm(evaluate(tree, [cut], one, np.zeros(3)).error))
                for one in some)
    return spent, drift, float(np.max(np.abs(motion.record.energy_error)))


def linkage() -> None:
    """Measure drift and energy of the four-bar and print."""
    tree, cut = four_bar()
    q = closed_start(tree, cut)
    # compile, or load what was compiled
    for generated in (False, True):
        for stabilisation in STABILISATIONS:
            ours(tree, cut, q, 1e-2, stabilisation, generated)
    print(f'\n{"four-bar, 10 s":44}{"step [ms]":>10}{"× real time":>13}{"drift [m]":>11}'
          f'{"energy [J]":>12}')

    def line(name: str, step: float, result: tuple[float, float, float]) -> None:
        spent, drift, change = result
        print(f'{name:44}{1e3 * step:10.2f}{SPAN / spent:13,.0f}{drift:11.1e}{change:12.1e}')

    for generated in (True, False):
        for stabilisation in STABILISATIONS:
            best = min(ours(tree, cut, q, 1e-3, stabilisation, generated) for _ in range(5))
            line(f'RK4, {stabilisation}{", generated" if generated else ""}', 1e-3, best)
            if stabilisation == 'projection':
                budget = best[0]
    for integrator in ('Euler', 'implicitfast', 'RK4'):
        for stiff in (False, True):
            # the step with which it needs the time that ours needed with 1 ms
            spent, *_ = mujoco_four_bar(q, 1e-3, integrator, stiff)
            for step in (1e-3, 1e-3 * spent / budget):
                step = SPAN / round(SPAN / step)
                line(f'MuJoCo {integrator}, {"stiffest" if stiff else "default"} constraint',
                     step, mujoco_four_bar(q, step, integrator, stiff))


def figures(quick: bool = False) -> list[Figure]:
    """Return the figures that are compared over versions; `quick` takes n = 7 and 12 only."""
    found = []
    for count in (7, 12) if quick else (7, 12, 24):
        tree, weld, state = welded(count)
        peer, general = Pinocchio(tree, weld), ConstrainedDynamics(tree, [weld])
        loops = LoopConstrained(tree, weld)
        fast = ConstrainedDynamics(tree, [weld], generated=True)
        what = {'general': general_loop(general, state),
                'general call': python(lambda f=general, s=state: f(*s)),
                'call': python(lambda f=fast, s=state: f(*s)),
                'Pinocchio': python(lambda p=peer, s=state: p(*s)),
                'lcaba': python(lambda p=loops, s=state: p(*s))}
        if fast._code is not None:
            what['loop'] = generated_loop(fast, state)
        times = turns(what, ROUNDS, RUN)
        name = f'constrained forward dynamics, n = {count}, weld'
        found += [beside(f'{name}, {how}', times, key, 'Pinocchio', bar)
                  for how, key, bar in (('call', 'call', None), ('loop', 'loop', 3.0),
                                        ('loop, general code', 'general', None)) if key in times]
        found += [beside(f'{name}, {how}', times, key, 'lcaba', bar)
                  for how, key, bar in (('call, beside lcaba', 'call', 2.0),
                                        ('call, general code, beside lcaba', 'general call', 1.2))]
    return found


def main() -> None:
    """Measure and print."""
    calls()
    linkage()


if __name__ == '__main__':
    main()
