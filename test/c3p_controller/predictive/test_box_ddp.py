# SPDX-License-Identifier: Apache-2.0
"""The predictive controller's solver against enumeration, differences and a general solver."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import caster_robots
from scipy.optimize import minimize

from c3p_controller.predictive import _kernels as cost
from c3p_controller.predictive import _kernels as motion
from c3p_controller.predictive import states as layout
from c3p_controller.predictive._box_ddp import box_step, improve
from c3p_controller.predictive.states import BoxStage, Plan
from c3p_description.reading.loader import load
from c3p_dynamics._caster_equations import packed_model
from c3p_kernels.compiled import borrowed, kernel

SEEDS = st.integers(0, 2**32 - 1)


cut_stage = BoxStage.cut
cut_plan = Plan.cut
cut_usual = Plan.cut_for(n=3, efforts=3)


@kernel
def step_in_box(block, sizes, step):
    """Execute `box_step` on a BoxStage."""
    return box_step(cut_stage(block, sizes), step)


@kernel
def linearised(block, sizes, model, wrench):
    """Linearise the first step of a Plan."""
    motion.linearise(borrowed(model), cut_plan(block, sizes), 0, borrowed(wrench))


@kernel
def expanded(block, sizes, geometry, scale):
    """Expand the cost of the first state of a Plan."""
    cost.expand(geometry, cut_plan(block, sizes), 0, scale)


@kernel
def improved(block, sizes, model, start, limit, ends):
    """Improve a Plan without a disturbance; `ends` are iterations and tolerance."""
    iterations, tolerance = ends
    plan = cut_plan(block, sizes)
    improve(borrowed(model), plan, borrowed(start), np.zeros(3), borrowed(limit), iterations,
            tolerance)


@kernel
def improved_usual(block, sizes, model, start, limit, ends):
    """Improve a Plan of three casters and torques, sizes that the compiler knows."""
    iterations, tolerance = ends
    plan = cut_usual(block, sizes)
    improve(borrowed(model), plan, borrowed(start), np.zeros(3), borrowed(limit), iterations,
            tolerance)


def model_of(robot):
    losses = robot.losses.copy()
    losses[:, 5] = 0.2
    return packed_model(robot.geometry, robot.caster_inertia, robot.platform, losses)


def states(rng, count):
    return np.concatenate([rng.normal(size=3), rng.normal(size=3) * 0.5,
                           rng.uniform(-np.pi, np.pi, count)])


def best_in_box(hessian, gradient, lower, upper):
    """Return the minimum by trying every set of bounds: the problem is convex, so one is it."""
    n, best, where = len(gradient), np.inf, None
    for choice in itertools.product((-1, 0, 1), repeat=n):
        free = [i for i in range(n) if choice[i] == 0]
        p = np.where(np.array(choice) < 0, lower, upper).astype(float)
        if free:
            fixed = [i for i in range(n) if i not in free]
            right = -gradient[free] - hessian[np.ix_(free, fixed)] @ p[fixed]
            p[free] = np.linalg.solve(hessian[np.ix_(free, free)], right)
        if (p >= lower - 1e-12).all() and (p <= upper + 1e-12).all():
            value = 0.5 * p @ hessian @ p + gradient @ p
            if value < best:
                best, where = value, p
    return where


@settings(max_examples=200, deadline=None)
@given(SEEDS, st.integers(1, 4), st.floats(0.01, 10.0))
def test_box_step_finds_the_minimum_that_enumeration_finds(seed, n, scale):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    hessian, gradient = root @ root.T + 0.05 * np.eye(n), scale * rng.normal(size=n)
    lower, upper = -rng.uniform(0.0, 1.0, n), rng.uniform(0.0, 1.0, n)
    step, stage = np.empty(n), BoxStage.new((1, n))
    stage.quu[:], stage.qu[:] = hessian, gradient
    stage.lower[:], stage.upper[:] = lower, upper
    assert step_in_box(stage.block, stage.values, step)
    # eigenvalues reach down to 0.05 and the active set ends exactly: rounding alone is left
    np.testing.assert_allclose(step, best_in_box(hessian, gradient, lower, upper), atol=1e-9)


def test_box_step_tells_of_a_hessian_that_is_not_positive_definite():
    n = 2
    stage = BoxStage.new((1, n))
    stage.quu[:], stage.qu[:] = np.diag([1.0, -1.0]), 1.0
    stage.lower[:], stage.upper[:] = -1.0, 1.0
    assert not step_in_box(stage.block, stage.values, np.empty(n))


@settings(max_examples=60, deadline=None)
@given(caster_robots(), SEEDS)
def test_linearisation_is_that_of_finite_differences(robot, seed):
    rng, n = np.random.default_rng(seed), robot.count
    model, dt = model_of(robot), 0.02
    x, torque, wrench = states(rng, n), rng.normal(size=n), rng.normal(size=3)
    plan, after = Plan.new((n, n, 1)), np.empty(6 + n)
    plan.states[0], plan.torques[0], plan.dt[0] = x, torque, dt
    linearised(plan.block, plan.values, model, wrench)
    a, b = plan.by_state[0], plan.by_torque[0]

    def step(x, torque):
        motion.advance(model, x, torque, wrench, dt, plan.rate, after)
        return after.copy()

    h = 1e-6
    for j in range(6 + n):
        e = h * np.eye(6 + n)[j]
        slope = (step(x + e, torque) - step(x - e, torque)) / (2 * h)
        # central differences: rounding/h = 1e-10, truncation h² times a third derivative
        np.testing.assert_allclose(a[:, j], slope, atol=1e-5 * (1 + abs(slope).max()))
    for j in range(n):
        e = h * np.eye(n)[j]
        slope = (step(x, torque + e) - step(x, torque - e)) / (2 * h)
        np.testing.assert_allclose(b[:, j], slope, atol=1e-6 * (1 + abs(slope).max()))


@settings(max_examples=60, deadline=None)
@given(caster_robots(), SEEDS)
def test_gradient_of_the_cost_is_that_of_finite_differences(robot, seed):
    rng, n = np.random.default_rng(seed), robot.count
    x, reference = states(rng, n), rng.normal(size=7)
    weight = rng.uniform(0.1, 3.0, layout.WEIGHTS)
    # two wheels beside one rolling line, in most draws within the range of its cost
    weight[layout.FIRST], weight[layout.SECOND] = 0, n - 1
    weight[layout.LINE] = x[6] + 0.5 * np.pi + rng.normal(0.0, 0.1)
    x[5 + n] = x[6] + rng.normal(0.0, 0.1)
    plan = Plan.new((n, n, 1))
    plan.states[0], plan.rows[0], plan.weights[0] = x, reference, weight
    expanded(plan.block, plan.values, robot.geometry, 0.7)
    gradient, hessian = plan.gradients[0], plan.hessians[0]

    # the same cost as that of a last state
    both = Plan.new((n, n, 1))
    both.rows[:], both.weights[:], both.dt[0] = reference, weight, 1.0
    both.weights[1, :layout.FIRST] *= 0.7

    def value(x):
        return cost.cost_of(robot.geometry, both, np.array([x, x]), np.zeros((1, n)))

    h = 1e-6
    slope = [(value(x + h * e) - value(x - h * e)) / (2 * h) for e in np.eye(6 + n)]
    np.testing.assert_allclose(gradient, slope, atol=1e-6 * (1 + abs(gradient).max()))
    # Gauss-Newton: symmetric and never negative
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-12 * abs(hessian).max())
    assert np.linalg.eigvalsh(hessian).min() >= -1e-9 * abs(hessian).max()


def problem(steps=8, rate_weight=0.0):
    robot = load('c3p')
    reference = np.zeros((steps + 1, 7))
    times = 0.03 * np.arange(steps + 1)
    reference[:, 1], reference[:, 4], reference[:, 6] = 0.4 * times, 0.4, np.pi / 2
    weights = np.zeros((steps + 1, layout.WEIGHTS))
    weights[:, :7] = [400.0, 20.0, 5.0, 5.0, 10.0, 1.0, 0.02]
    weights[:, layout.TORQUE_RATE] = rate_weight
    start = np.array([0.01, -0.02, 0.05, 0.05, 0.2, -0.1, 0.3, -0.2, 0.1])
    plan = Plan.new((robot.count, robot.count, steps))
    plan.rows[:], plan.weights[:], plan.dt[:] = reference, weights, 0.03
    return robot, plan, start


# none, one that changes the torques by up to 0.5 N·m, and one that outweighs everything else
@pytest.mark.parametrize('rate_weight', [0.0, 1e-3, 1.0])
def test_the_solution_is_that_of_a_general_solver(rate_weight):
    robot, plan, start = problem(rate_weight=rate_weight)
    plan.before[:] = [0.3, -0.2, 0.1]
    steps, n = plan.torques.shape
    model = model_of(robot)
    found = np.zeros((steps + 1, 6 + n))
    improved(plan.block, plan.values, model, start, np.full(n, 1.2), (200, 0.0))
    torques, reached = plan.torques, plan.cost[0]

    def value(flat):
        motion.roll_out(model, start, flat.reshape(steps, n), np.zeros(3), plan.dt, plan.rate,
                        found)
        return cost.cost_of(robot.geometry, plan, found, flat.reshape(steps, n))

    # from elsewhere, by quasi-Newton steps in a box and numeric derivatives
    other = minimize(value, np.full(steps * n, 0.1), method='L-BFGS-B', bounds=[(-1.2, 1.2)] * 24,
                     options={'maxiter': 3000, 'maxfun': 200_000, 'ftol': 1e-14, 'gtol': 1e-9})
    assert value(torques.ravel()) == pytest.approx(reached, rel=1e-12)
    # L-BFGS with differences stops within some 1e-5 of a cost near 1
    assert reached <= other.fun * (1 + 1e-6)
    assert reached == pytest.approx(other.fun, rel=1e-3)
    # limits act unless the torques hardly change from those before
    assert (abs(torques) <= 1.2).all()
    assert (abs(torques) == 1.2).any() == (rate_weight < 1e-3)


def test_every_iteration_lowers_the_cost_and_keeps_the_limits():
    robot, plan, start = problem(24)
    model, costs = model_of(robot), []
    for _ in range(12):
        improved(plan.block, plan.values, model, start, np.full(robot.count, 0.3), (1, 0.0))
        costs.append(plan.cost[0])
        assert (abs(plan.torques) <= 0.3).all()
    assert (np.diff(costs) <= 0.0).all() and costs[-1] < costs[0]


def test_constant_sizes_change_no_bit():
    """The sizes of the usual robot are constants of the compiler, those of others are read."""
    blocks = []
    for solve in (improved, improved_usual):
        robot, plan, start = problem(24)
        solve(plan.block, plan.values, model_of(robot), start, np.full(robot.count, 0.3),
              (5, 0.0))
        assert plan.iterations[0] == 5 and plan.gains.any()
        blocks.append(plan.block)
    np.testing.assert_array_equal(*blocks)


@pytest.mark.parametrize('off, expected', [(0.0, 1.0), (0.29, 1.0), (0.45, 0.5), (0.61, 0.0),
                                           (np.pi, 0.0), (2 * np.pi, 1.0)])
def test_ripple_is_weighted_while_all_casters_trail(off, expected):
    robot = load('c3p')
    # 0.3 m/s along +X: casters trail at −90°
    reference = np.array([0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.0])
    state = np.zeros(9)
    state[6:] = -np.pi / 2
    state[7] += off
    assert cost.trailing_part(robot.geometry, state, reference) == pytest.approx(expected)


def test_ripple_has_no_weight_at_rest_where_no_direction_is_desired():
    assert cost.trailing_part(load('c3p').geometry, np.zeros(9), np.zeros(7)) == 0.0


@pytest.mark.parametrize('turn, part', [(0.0, 0.0), (0.02, 0.5), (-0.2, 0.99)])
def test_ripple_is_weighted_in_turns_alone(turn, part):
    # a circle of the pivots' common centre; casters trail it
    robot = load('c3p')
    reference = np.tile([0.0, 0.0, 0.0, 0.3, 0.0, turn, 0.0], (3, 1))
    state = np.zeros(9)
    state[6:] = -np.pi / 2
    weights, full = np.zeros((3, layout.WEIGHTS)), np.full(3, 8.0)
    cost.calm(robot.geometry, state, full, np.full((3, 2), 0.01), reference, weights)
    assert weights[:, layout.RIPPLE] == pytest.approx(8.0 * part, rel=0.02)
    assert reference[:, 5] - turn == pytest.approx(0.01 * part, rel=0.02)
    # on a line neither weight nor dither
    assert turn or not weights.any()
