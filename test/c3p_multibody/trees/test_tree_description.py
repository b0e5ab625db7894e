# SPDX-License-Identifier: Apache-2.0
"""Trees in any numbering, and what is refused, by body and row."""

import numpy as np
import pytest
from random_trees import body, joint, random_state, random_tree

from c3p_multibody.trees import (
    Body,
    Joint,
    Tree,
    TreeError,
    TreeWarning,
    aba,
    crba,
    factor,
    forward_composite,
    point_jacobian,
    potential_energy,
    rnea,
    solve,
)

X = (1, 0, 0)


def chain(connection, bodies=None, joints=None, **more):
    count = len(connection)
    names = [f'b{k}' for k in range(count)]
    return Tree.from_connection(
        connection, joints or [Joint(f'j{k}', axis=(0, 1, 0), translation=(0, 0, 1))
                               for k in range(count)],
        bodies or [Body(name, 1.0, (0, 0, 0.5), np.eye(3)) for name in names], **more)


def test_bodies_are_numbered_depth_first_inside():
    for seed in range(50):
        tree = random_tree(seed)
        lower = tree.arrays.links[:, 0]
        assert (lower < np.arange(tree.count)).all()
        # all above a body follow it without a gap
        for i in range(tree.count):
            above = [i]
            for j in range(i + 1, tree.count):
                if lower[j] in above:
                    above.append(j)
            assert above == list(range(i, i + len(above)))
        assert sorted(tree.order) == list(range(tree.count))


def test_the_papers_numbering_counts_from_one():
    ours, papers = chain([-1, 0, 1]), chain([0, 1, 2], first=1)
    np.testing.assert_array_equal(ours.lower, papers.lower)


def test_inner_rotations_between_parallel_and_right_angled_axes_have_only_zeros_and_ones():
    turned = [[np.cos(np.pi / 2), -1, 0], [1, np.cos(np.pi / 2), 0], [0, 0, 1]]
    tree = chain([-1, 0, 1, 2], joints=[
        Joint('a', axis=(0, 0, 1)), Joint('b', axis=(0, 1, 0), rotation=turned),
        Joint('c', 'prismatic', axis=(-1, 0, 0)), Joint('d', axis=(0, 0, -1))])
    assert set(np.abs(tree.arrays.numbers[:, :9]).ravel()) == {0.0, 1.0}


def test_bodies_on_fixed_joints_are_part_of_what_carries_them():
    rng = np.random.default_rng(1)
    joints = [joint(rng, f'j{k}') for k in range(4)]
    bodies = [body(rng, f'b{k}') for k in range(4)]
    welded = [*joints[:1], Joint('j1', 'fixed', rotation=joints[1].rotation,
                                 translation=joints[1].translation), *joints[2:]]
    merged = Tree.from_connection([-1, 0, 1, 1], welded, bodies)
    assert merged.names == ('j0', 'j2', 'j3')
    assert merged.lower.tolist() == [-1, 0, 0]
    # the same tree with the weld as a joint that stands still
    held = Tree.from_connection([-1, 0, 1, 1], joints, bodies)
    q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, 4))
    q[1] = qd[1] = qdd[1] = 0.0
    keep = [0, 2, 3]
    np.testing.assert_allclose(rnea(merged, q[keep], qd[keep], qdd[keep]),
                               rnea(held, q, qd, qdd)[keep], atol=1e-12)
    np.testing.assert_allclose(point_jacobian(merged, q[keep], 'b1', (1, 2, 3)),
                               point_jacobian(held, q, 'b1', (1, 2, 3))[:, keep], atol=1e-13)


def test_what_is_fixed_to_the_world_has_no_part_in_the_motion():
    rng = np.random.default_rng(3)
    arm = joint(rng, 'arm')
    tree = Tree.from_connection([-1, 0], [Joint('base', 'fixed', translation=(0, 0, 2)), arm],
                                [Body('plinth', 100.0), body(rng, 'link')])
    assert tree.names == ('arm',)
    assert tree.frames['plinth'].body == -1
    np.testing.assert_array_equal(tree.joints[0].translation, arm.translation + [0, 0, 2])


def test_chains_stand_in_the_place_of_their_joint():
    tree = chain([1, -1], joints=[Joint('wrist', 'spherical', translation=(0, 0, 1)),
                                  Joint('base', 'planar')])
    assert tree.names == ('wrist.yaw', 'wrist.pitch', 'wrist.roll', 'base.x', 'base.y', 'base.yaw')
    assert tree.lower.tolist() == [5, 0, 1, -1, 3, 4]
    assert tree.frames['b0'].body == 2
    # a free body falls
    free = chain([-1], joints=[Joint('free', 'floating')])
    state = np.array([1, 2, 3, 0.3, 0.2, 0.1])
    np.testing.assert_allclose(aba(free, state, 0 * state, 0 * state), [0, 0, -9.81, 0, 0, 0],
                               atol=1e-14)
    np.testing.assert_allclose(potential_energy(free, 0 * state), 9.81 * 0.5)


def broken(**change):
    """Return a body with one thing wrong."""
    return [Body('b0', 1.0, inertia=np.eye(3)), Body(**{'name': 'b1', 'mass': 1.0,
                                                        'inertia': np.eye(3), **change})]


@pytest.mark.parametrize(('make', 'says'), [
    (lambda: chain([1, 2, 0]), r'body b0 \(row 0\).*cyclic: b0 → b1 → b2 → b0'),
    (lambda: chain([-1, 2, 1]), r'body b1 \(row 1\).*cyclic: b1 → b2 → b1'),
    (lambda: chain([-1, 1]), r'body b1 \(row 1\).*cyclic: b1 → b1'),
    (lambda: chain([-1, 5]), r'body b1 \(row 1\): L\(k\) = 5'),
    (lambda: chain([0, 3], first=1), r'body b1 \(row 1\): L\(k\) = 3'),
    (lambda: chain([-1.0, 0.0]), 'whole'),
    (lambda: Tree.from_connection([-1], [Joint('a'), Joint('b')], [Body('c')]), '2 joints and 1'),
    (lambda: Tree.from_connection([[-1]], [Joint('a')], [Body('c', 1.0)]), r'shape \(1, 1\)'),
    (lambda: chain([-1, 0], broken(name='b0')), 'body b0 is named twice, in rows 0 and 1'),
    (lambda: chain([-1, 0], joints=[Joint('a'), Joint('a')]), 'joint a is named twice'),
    (lambda: chain([-1, 0], broken(name='')), 'row 1 has the name'),
    (lambda: chain([-1, 0], broken(mass=-1.0)), r'body b1 \(row 1\): mass = -1.0'),
    (lambda: chain([-1, 0], broken(mass=np.nan)), r'body b1 \(row 1\): mass'),
    (lambda: chain([-1, 0], broken(com=(1, 2))), r'body b1 \(row 1\): com has shape \(2,\)'),
    (lambda: chain([-1, 0], broken(inertia=np.diag([1, 1, -1]))),
     r'body b1 \(row 1\): inertia has the eigenvalue -1'),
    (lambda: chain([-1, 0], broken(inertia=np.triu(np.ones((3, 3))))), 'b1.*symmetric'),
    (lambda: chain([-1, 0], broken(inertia='heavy')), r'body b1 \(row 1\).*expected numbers'),
    (lambda: chain([-1, 0], broken(mass=0.0, inertia=np.zeros((3, 3)))),
     r'body b1 \(row 1\) is a leaf with no inertia about the axis'),
    (lambda: chain([-1], [Body('b0', inertia=np.eye(3))], [Joint('a', 'prismatic')]),
     r'body b0 \(row 0\) is a leaf with no mass'),
    (lambda: chain([-1], joints=[Joint('a', axis=(0, 0, 0))]), r'joint a \(row 0\): axis = 0 0 0'),
    (lambda: chain([-1], joints=[Joint('a', 'screw')]), r'joint a \(row 0\): kind = .screw.'),
    (lambda: chain([-1], joints=[Joint('a', rotation=np.diag([1, 1, -1]))]), 'improper rotation'),
    (lambda: chain([-1], joints=[Joint('a', rotation=1.1 * np.eye(3))]), 'improper rotation'),
    (lambda: chain([-1], gravity=(0, 0)), 'gravity'),
    (lambda: chain([-1]).frame('nobody'), "body 'nobody'.*there are b0"),
    (lambda: chain([-1]).frame(3), 'body 3: the tree has bodies 0 to 0'),
])
def test_what_cannot_be_is_refused_by_name(make, says):
    with pytest.raises(TreeError, match=says):
        make()


@pytest.mark.parametrize(('call', 'says'), [
    (lambda t: rnea(t, [0], [0, 0], [0, 0]), r'q has shape \(1,\).*must be 2'),
    (lambda t: rnea(t, [0, 0], [0, 0], [0, np.nan]), r'qdd of joint j1 \(row 1\) = nan'),
    (lambda t: aba(t, [0, 0], [[0, 0], [0, np.inf]], [0, 0]), r'qd\[1\] of joint j1.*= inf'),
    (lambda t: aba(t, np.zeros((2, 2)), np.zeros((3, 2)), [0, 0]), 'broadcast'),
    (lambda t: rnea(t, [0, 0], [0, 0], [0, 0], np.zeros((3, 6))), r'external has shape \(3, 6\)'),
    (lambda t: rnea(t, [0, 0], [0, 0], [0, 0], [[0] * 6, [np.nan] * 6]),
     r'external on body b1 \(row 1\)'),
    (lambda t: point_jacobian(t, [0, 0], 'b1', (1, 2)), 'point'),
    (lambda t: factor(t, np.eye(3)), r'\(2, 2\)'),
    (lambda t: solve(t, np.eye(2), [1, 2, 3]), r'b has shape \(3,\)'),
])
def test_states_that_cannot_be_are_refused(call, says):
    with pytest.raises(TreeError, match=says):
        call(chain([-1, 0]))


def two_coaxial():
    """Return a massless body turning about the axis of the body it carries: A is singular."""
    return chain([-1, 0], [Body('shaft'), Body('wheel', 1.0, inertia=np.eye(3))],
                 [Joint('outer', axis=(1, 2, 3)), Joint('inner', axis=(1, 2, 3))])


@pytest.mark.parametrize('method', [aba, forward_composite])
def test_singular_inertia_is_refused_by_body_and_row(method):
    tree = two_coaxial()
    with pytest.raises(TreeError, match=r'body shaft \(row 0\): .*nothing resists joint outer'):
        method(tree, [0.1, 0.2], [0, 0], [0, 0])
    with pytest.raises(TreeError, match=r'body shaft \(row 0\) in state 0'):
        method(tree, np.zeros((3, 2)), [0, 0], [0, 0])
    with pytest.raises(TreeError, match='shaft'):
        factor(tree, crba(tree, [0.1, 0.2]))


def test_inertia_a_million_times_smaller_than_its_neighbours_is_not_singular():
    tree = chain([-1, 0], [Body('shaft', inertia=1e-6 * np.eye(3)),
                           Body('wheel', 1.0, inertia=np.eye(3))],
                 [Joint('outer', axis=(1, 2, 3)), Joint('inner', axis=(1, 2, 3))])
    q, qd, qdd = random_state(tree, 0)
    for method in (aba, forward_composite):
        # six of sixteen digits are lost in the difference of the two inertias
        np.testing.assert_allclose(method(tree, q, qd, rnea(tree, q, qd, qdd)), qdd, atol=1e-8)


NOISE = -2.4e-35 * np.diag([1.0, 0.0, 0.0])


def test_rounding_noise_in_an_inertia_is_no_negative_eigenvalue():
    """Files have inertias of 1e-35, from a program that computed zero."""
    body = Body('head', 1.3, (0.0, -0.1, 0.0), NOISE)
    assert chain([-1], [body], [Joint('neck', axis=X)]).count == 1


def test_a_small_inertia_that_no_body_has_is_used_with_a_warning():
    """Relative to m·size² = 1 kg·m²: 5 % are told, 20 % refused."""
    arm = (0.0, 0.0, 1.0)
    with pytest.warns(TreeWarning, match=r'body leg \(row 0\).*-0.05 kg·m², with 1 kg and a size '
                                         'of 1 m'):
        chain([-1], [Body('leg', 1.0, arm, np.diag([0.1, 0.1, -0.05]))], [Joint('hip', axis=X)])
    with pytest.raises(TreeError, match='-0.2 kg·m².*must be positive'):
        chain([-1], [Body('leg', 1.0, arm, np.diag([0.1, 0.1, -0.2]))], [Joint('hip', axis=X)])


def test_inertia_is_checked_with_what_fixed_joints_add():
    """An antenna of 1 mg with a careless inertia, bolted to 10 kg."""
    antenna = Body('antenna', 1e-6, inertia=-1e-8 * np.eye(3))
    base = Body('base', 10.0, (0.0, 0.0, 0.1), np.eye(3))
    joints = [Joint('a', axis=X), Joint('b', 'fixed')]
    assert chain([-1, 0], [base, antenna], joints).count == 1
    with pytest.raises(TreeError, match=r'body antenna \(row 1\)'):
        chain([-1, 0], [base, antenna], [Joint('a', axis=X), Joint('b', axis=X)])
