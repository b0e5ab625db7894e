# SPDX-License-Identifier: Apache-2.0
"""Straight-line code of constrained systems against the general solver and other programs."""

import numpy as np
import pytest
from mechanisms import closed, four_bar, random_loop, random_weld
from test_constrained_pinocchio import pin, pinocchio_answer, two_chains

from c3p_kernels.elementary import circle
from c3p_kernels.straight.batches import PASS_SIZE
from c3p_kernels.straight.expressions import needed
from c3p_multibody.constraints import (
    ConstrainedDynamics,
    ConstrainedMotion,
    Contact,
    Distance,
    MotionSettings,
    Point,
    RollingBall,
    Weld,
    evaluate,
    solve,
)
from c3p_multibody.constraints import generated as module
from c3p_multibody.constraints import motion as motion_module
from c3p_multibody.constraints.generated import Generated
from c3p_multibody.constraints.packing import pack
from c3p_multibody.constraints.traced_solution import trace
from c3p_multibody.trees import Body, Joint, Tree, bias, crba

# condition of the random systems, squared in the metric of A, times rounding
TOLERANCE = 1e-9


def plain(tree, constraints, q, qd, tau, guards=()):
    """Return the results of the generated code, run as Python: everything that `whole` writes."""
    code = Generated(tree, pack(tree, constraints), pack(tree, guards), 0.0)
    x, y = code.memory(pack(tree, constraints), pack(tree, guards))
    n = tree.count
    x[:n] = q
    for j in np.flatnonzero(code.turning):
        x[j], x[n + j] = circle(q[j])
    x[2 * n:3 * n], x[3 * n:4 * n] = qd, tau
    # a division by zero gives infinity in compiled code, too
    with np.errstate(all='ignore'):
        code.whole.uncompiled(x, y)
    return code, y


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    # code is generated from the first step on
    monkeypatch.setattr(motion_module, 'WARM', 1)


def close(got, expected, tolerance=TOLERANCE):
    np.testing.assert_allclose(got, expected, rtol=0,
                               atol=tolerance * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize('seed', range(10))
def test_generated_code_solves_loops_of_all_kinds(seed):
    # so many joints that no two constraints have more rows
    tree, constraints, q, qd, tau = random_loop(seed, 11)
    # away from the constraints, that the projection has something to do
    q, qd = q + 1e-3, qd + 1e-3
    code, y = plain(tree, constraints, q, qd, tau)
    n, m = tree.count, code.rows
    rows, a = evaluate(tree, constraints, q, qd), crba(tree, q)
    found = solve(a, bias(tree, q, qd), tau, rows)
    if found.rank < m:
        assert not y[n] > 0.0
        return
    assert y[n] > 0.0
    close(y[:n], found.qdd)
    close(y[n + 2:n + 2 + m], found.multipliers)
    potential, before, after, closure = y[n + 2 + m:n + 6 + m]
    dq, dqd = y[n + 6 + m:6 + 2 * n + m], y[6 + 2 * n + m:6 + 3 * n + m]
    assert closure == pytest.approx(np.abs(rows.error).max(), rel=1e-9)
    # the corrections satisfy the linearised constraints and are A-orthogonal to what is allowed
    close(rows.jacobian @ dq, -rows.error)
    close(rows.jacobian @ (qd + dqd), rows.rate)
    for move in (dq, dqd):
        part = np.linalg.lstsq(rows.jacobian.T, a @ move, rcond=None)[0]
        close(rows.jacobian.T @ part, a @ move)
    assert before == pytest.approx(0.5 * qd @ a @ qd)
    assert after == pytest.approx(0.5 * (qd + dqd) @ a @ (qd + dqd))
    assert np.isfinite(potential)


@pytest.mark.parametrize('seed', range(3))
def test_a_welded_chain_agrees_with_pinocchio(seed):
    tree, weld, q, qd, tau = random_weld(seed)
    code, y = plain(tree, [weld], q, qd, tau)
    assert pin and y[tree.count] > 0.0
    close(y[:tree.count], pinocchio_answer(tree, weld, q, qd, tau), 1e-8)


@pytest.mark.parametrize('seed', range(2))
def test_rows_that_are_zero_in_every_state_have_no_force(seed):
    # a weld in the plane: three of its six rows
    rng = np.random.default_rng(seed)
    tree = Tree.from_connection(range(-1, 4), [Joint(f'j{k}', translation=(0.3, 0, 0))
                                               for k in range(5)],
                                [Body(f'b{k}', 1.0, (0.1, 0, 0), np.eye(3)) for k in range(5)])
    q, qd, tau = rng.uniform(-1, 1, (3, 5))
    weld = Weld.here(tree, q, 'b4')
    code, y = plain(tree, [weld], q, qd, tau)
    rows = evaluate(tree, [weld], q, qd)
    found = solve(crba(tree, q), bias(tree, q, qd), tau, rows)
    assert y[5] > 0.0 and code.rank == found.rank == 3
    close(y[:5], found.qdd)
    close(y[7:13], found.multipliers)


@pytest.mark.parametrize('rank', [3, 4, 5])
def test_dependent_rows_are_left_to_the_general_solver(rank):
    tree, tie, q, qd, tau = two_chains(rank, 0)
    _, y = plain(tree, [tie], q, qd, tau)
    assert not y[tree.count] > 0.0


def test_calls_and_batches_equal_the_general_solver_where_rows_become_dependent():
    tree, cut = four_bar()
    # a second bar parallel to the first: dependent where all are in line
    tie = Distance(body='crank', point=(0.3, 0, 0), base='rocker', place=(0.6, 0, 0), length=0.9)
    fast, general = (ConstrainedDynamics(tree, [cut, tie], generated=flag)
                     for flag in (True, False))
    rng = np.random.default_rng(2)
    q, qd, tau = rng.uniform(-2, 2, (3, PASS_SIZE + 3, 3))
    q[5] = [0.0, 0.0, 0.0]
    for k in (0, 1, 5):
        close(fast(q[k], qd[k], tau[k]), general(q[k], qd[k], tau[k]))
        close(fast.multipliers, general.multipliers)
        assert fast.rank == general.rank and fast.fine
        close(fast.error, general.error)
        close(fast.jacobian, general.jacobian)
        close(fast.inertia, general.inertia)
    assert general.rank < 3
    found = fast.batch(q, qd, tau)
    for k in range(len(q)):
        close(found[k], general(q[k], qd[k], tau[k]))
    close(fast.batch(q[:6].reshape(2, 3, 3), qd[0], tau[0])[1, 2], general.batch(q[5], qd[0],
                                                                              tau[0]))


def test_compiled_code_gives_the_bits_of_its_source():
    tree, cut = four_bar()
    q, qd, tau = closed(0.4), np.array([0.3, -0.2, 0.5]), np.array([1.0, 2.0, 3.0])
    _, y = plain(tree, [cut], q, qd, tau)
    fast = ConstrainedDynamics(tree, [cut], generated=True)
    np.testing.assert_array_equal(fast(q, qd, tau), y[:3])
    np.testing.assert_array_equal(fast.batch(q, qd, tau), y[:3])


@pytest.mark.parametrize('stabilisation', ['projection', 'baumgarte'])
def test_motion_of_a_four_bar_with_torque_friction_and_drive(stabilisation):
    tree, cut = four_bar()
    spin = Distance(body='coupler', point=(0.9, 0, 0), place=(2.0, 1.0, 0), rate=0.2, length=1.0,
                    name='winch')
    q = closed(0.5)
    reach = spin.length + evaluate(tree, [spin], q, np.zeros(3)).error[0]
    motions = []
    for flag in (False, True):
        motion = ConstrainedMotion(tree, q, np.zeros(3), [cut], torque=(0.3, 0, 0), damping=0.05,
                                   settings=MotionSettings(
                                       stabilisation=stabilisation, generated=flag))
        motion.advance(0.2)
        motion.add(Distance(body='coupler', point=(0.9, 0, 0), place=(2.0, 1.0, 0),
                            length=reach + _change(tree, spin, q, motion.q), rate=0.2))
        motion.advance(0.1)
        motions.append(motion)
    general, fast = motions
    close(fast.q, general.q, 1e-11)
    close(fast.qd, general.qd, 1e-10)
    for name in ('time', 'q', 'kinetic', 'potential', 'work', 'friction', 'driven', 'rank'):
        close(getattr(fast.record, name), getattr(general.record, name), 1e-10)
    if stabilisation == 'projection':
        assert fast.error() < 1e-14
    assert np.abs(fast.record.driven).max() > 1e-3
    assert np.abs(fast.record.energy_error).max() < 1e-6


def _change(tree, rod, before, after):
    still = np.zeros(tree.count)
    return (evaluate(tree, [rod], after, still).error[0]
            - evaluate(tree, [rod], before, still).error[0])


def test_a_ball_bounces_and_rests_as_in_the_general_motion():
    tree = Tree.from_connection([-1], [Joint('free', 'planar')],
                                [Body('ball', 1.0, inertia=np.eye(3))], (0, -9.81, 0))
    floor = Contact(body='ball', restitution=0.6, normal=(0, 1, 0))
    records = []
    for flag in (False, True):
        motion = ConstrainedMotion(tree, [0, 1.0, 0], [0.5, 0, 0.1], contacts=[floor],
                                   settings=MotionSettings(generated=flag))
        motion.advance(3.0)
        records.append(motion.record)
    general, fast = records
    assert len(fast.events) == len(general.events) > 5
    for one, other in zip(fast.events, general.events, strict=True):
        assert one.kind == other.kind and one.time == pytest.approx(other.time, abs=1e-9)
    close(fast.q[-1], general.q[-1], 1e-9)
    assert fast.multiplier(floor.labels[0])[-1] == pytest.approx(9.81)


def test_a_ball_rolls_on_dependent_rows_by_the_general_solver(monkeypatch):
    tree = Tree.from_connection([-1], [Joint('free', 'floating')],
                                [Body('ball', 1.0, inertia=0.1 * np.eye(3))])
    ball = RollingBall(body='ball', radius=0.5)
    # the same rows twice: rank 3 of 6
    start = [0, 0, 0.5, 0, 0, 0], [0.5, 0, 0, 0, 1.0, 0]
    again = RollingBall(body='ball', radius=0.5, name='again')
    motions = [ConstrainedMotion(tree, *start, [ball, again],
                                 settings=MotionSettings(generated=flag))
               for flag in (False, True)]
    for motion in motions:
        motion.advance(0.1)
    np.testing.assert_array_equal(motions[0].record.q, motions[1].record.q)
    assert motions[1].record.rank[-1] == 3
    # systems that are too large use it, too
    monkeypatch.setattr(module, 'MOST_OPERATIONS', 10)
    monkeypatch.setattr(module, '_kept', {})
    large = ConstrainedDynamics(tree, [ball], generated=True)
    np.testing.assert_array_equal(large(*map(np.array, start), np.zeros(6)),
                                  ConstrainedDynamics(tree, [ball])(*map(np.array, start),
                                                                    np.zeros(6)))


def test_a_constraint_at_another_place_needs_no_new_code():
    tree, _ = four_bar()
    ties = [pack(tree, [Point(body='coupler', point=(x, 0, 0), place=(0.5, y, 0))])
            for x, y in ((0.9, 0.2), (0.4, 0.3), (0.4, 1.0))]
    none = pack(tree, [])
    first, other, special = (module.generate(tree, tie, none) for tie in ties)
    assert first is other and special is not first
    assert module.generate(tree, ties[0], none, 50.0) is not first


def test_zeros_leave_no_trace():
    tree, cut = four_bar()
    found = trace(tree, pack(tree, [cut]), pack(tree, []))
    assert Generated(tree, pack(tree, [cut]), pack(tree, []), 0.0).slope.operations < 200
    assert found.driven == 0.0
    # a rod between world and rocker leaves the other chain alone: no operation for its columns
    rod = Distance(body='rocker', point=(0.6, 0, 0), place=(0.5, 1.0, 0), length=0.7)
    free = trace(tree, pack(tree, []), pack(tree, []))
    tied = trace(tree, pack(tree, [rod]), pack(tree, []))
    assert len(needed([tied.qdd[0]])) == len(needed([free.qdd[0]]))
    assert len(needed([tied.qdd[2]])) > len(needed([free.qdd[2]]))
