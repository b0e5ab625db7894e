# SPDX-License-Identifier: Apache-2.0
"""Rows are the derivatives of what they hold; λ is a force in the frame that is named."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanisms import free_body, random_loop, random_state, random_tree

from c3p_multibody.constraints import (
    ConstraintError,
    Contact,
    Distance,
    KnifeEdge,
    PlanarLoop,
    Point,
    RollingBall,
    RollingWheel,
    Weld,
    evaluate,
)
from c3p_multibody.trees import point_jacobian

# central differences with this step leave 1e-10 of rounding and truncation
STEP, SLOPE = 1e-5, 1e-7


def everything(rng, first, last):
    """Return one constraint of each kind between two bodies, and with the world."""
    def aim():
        return rng.normal(size=3)

    def at():
        return rng.uniform(-0.3, 0.3, 3)

    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    ends = {'body': last, 'base': first}
    return [
        Point(**ends, point=at(), place=at(), axes=turn),
        Weld(**ends, point=at(), place=at(), axes=turn),
        Distance(**ends, point=at(), place=at(), length=0.4, rate=0.3),
        PlanarLoop(**ends, point=at(), place=at(), normal=aim()),
        RollingWheel(**ends, point=at(), radius=0.3, axle=aim(), normal=aim()),
        RollingBall(body=last, point=at(), radius=0.2, normal=aim()),
        KnifeEdge(**ends, point=at(), sideways=aim()),
        Contact(body=last, point=at(), normal=aim(), rough=True),
        Contact(**ends, point=at(), place=at(), normal=aim())]


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_bias_is_the_derivative_of_the_jacobian_and_the_jacobian_that_of_the_error(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(seed, 6)
    q, qd, _ = random_state(tree, seed)
    constraints = everything(rng, int(tree.order[0]), int(tree.order[-1]))
    rows = evaluate(tree, constraints, q, qd)
    before, after = (evaluate(tree, constraints, q + s * STEP * qd, qd) for s in (-1, 1))
    held = np.array([not (label.startswith('blade') or 'axis of the plane' in label
                          or (label.startswith('contact') and label[-1] in 'xy')
                          or 'about' in label) for label in rows.labels])
    size = 1 + np.max(np.abs(rows.bias))
    # a wheel that is nearly flat has large higher derivatives
    scale = size * (1 + np.max(np.abs(rows.jacobian)))
    slope = (after.jacobian - before.jacobian) @ qd / (2 * STEP)
    assert np.max(np.abs(slope - rows.bias)) < 1e-4 * scale
    assert np.median(np.abs(slope - rows.bias)) < SLOPE * scale
    slope = (after.error - before.error) / (2 * STEP)
    assert np.max(np.abs(slope - rows.jacobian @ qd)[held]) < SLOPE * scale


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_a_weld_has_no_error_here_and_its_rows_are_those_of_the_point(seed):
    tree = random_tree(seed, 7)
    q, qd, _ = random_state(tree, seed)
    weld = Weld.here(tree, q, int(tree.order[-1]), point=(0.1, 0.2, 0.3))
    rows = evaluate(tree, [weld], q, qd)
    assert np.max(np.abs(rows.error)) < 1e-13
    plain = point_jacobian(tree, q, int(tree.order[-1]), (0.1, 0.2, 0.3))
    np.testing.assert_allclose(rows.jacobian, plain, atol=1e-13)


def test_the_turn_of_a_weld_is_a_rotation_vector_in_axes_of_the_base():
    tree = free_body()
    q = np.array([0.1, 0.2, 0.3, 2.0, 0.0, 0.0])
    rows = evaluate(tree, [Weld(body='body', place=(0, 0, 0.3))], q, np.zeros(6))
    np.testing.assert_allclose(rows.error, [0.1, 0.2, 0, 0, 0, 2.0], atol=1e-15)


def test_a_driven_row_moves_away_with_its_rate():
    tree = free_body()
    rod = Distance(body='body', length=1.0, rate=0.25)
    q = np.array([0, 0, 2.0, 0, 0, 0])
    rows = evaluate(tree, [rod], q, np.zeros(6), time=4.0)
    assert rows.rate.tolist() == [0.25]
    # 1 m at the beginning, 2 m after 4 s
    assert rows.error.tolist() == [0.0]


def test_dependent_constraints_of_random_loops_can_be_met_by_their_velocity():
    tree, constraints, q, qd, _ = random_loop(3)
    rows = evaluate(tree, constraints, q, qd)
    assert np.max(np.abs(rows.jacobian @ qd - rows.rate)) < 1e-12


@pytest.mark.parametrize(('constraint', 'words'), [
    (Weld(body='nobody'), ['weld nobody-world', 'no such body']),
    (Point(body='body', point=(1, 2)), ['point body-world', '(1, 2)', '(3,)']),
    (Point(body='body', axes=np.eye(2)), ['axes', '(3, 3)']),
    (Weld(body='body', axes=2 * np.eye(3)), ['not right-handed axes']),
    (Point(body='body', base='body'), ["'body'", 'do not move']),
    (PlanarLoop(body='body', normal=(0, 0, 0)), ['loop', 'direction', 'not all zero']),
    (Distance(body='body', length=0.0), ['rod body-world', 'positive']),
    (RollingWheel(body='body', radius=-1.0), ['rolling', '-1.0 m']),
    (Contact(body='body', restitution=1.5), ['contact', '1.5', '0 to 1']),
    (Point(body='body', rate=(1, 2)), ['rate', '(3,)']),
    ('weld', ['constraint 0', "'weld'"])])
def test_constraints_that_cannot_be_are_refused_in_words(constraint, words):
    with pytest.raises(ConstraintError) as caught:
        evaluate(free_body(), [constraint], np.zeros(6), np.zeros(6))
    assert all(word in str(caught.value) for word in words), caught.value


def test_states_that_cannot_be_are_refused_in_words():
    tree = free_body()
    with pytest.raises(ConstraintError, match=r'q has shape \(5,\): expected \(6,\)'):
        evaluate(tree, [], np.zeros(5), np.zeros(6))
    with pytest.raises(ConstraintError, match=r'qd of joint free.z \(row 2\) = nan'):
        evaluate(tree, [], np.zeros(6), [0, 0, np.nan, 0, 0, 0])
    with pytest.raises(ConstraintError, match='has no direction in this state'):
        evaluate(tree, [Distance(body='body', length=1.0)], np.zeros(6), np.zeros(6))
    with pytest.raises(ConstraintError, match='wheel is flat'):
        evaluate(tree, [RollingWheel(body='body', radius=1.0, axle=(0, 0, 1))], np.zeros(6),
                 np.ones(6))
