# SPDX-License-Identifier: Apache-2.0
"""Experiments of constrained motion: goals, energy accounts, references and models."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import BPoly

from c3p_experiments.kelly.berthing import run_berthing
from c3p_experiments.kelly.chain import (
    LENGTH,
    LINKS,
    chain_contacts,
    chain_tree,
    joints_of,
    run_chain,
)
from c3p_experiments.kelly.grasp import (
    ARM,
    BASES,
    BOX,
    CARRIED,
    CATCH,
    DOWN,
    HEIGHT,
    LENGTHS,
    LIFTED,
    RELEASE,
    TILT,
    grasp_tree,
    hand_path,
    joint_path,
    run_grasp,
)
from c3p_experiments.kelly.laws import point_to_point, quintic, three_joint_angles
from c3p_experiments.kelly.shuttle import (
    ORBITER,
    SATELLITE,
    chain_coordinates,
    planar_berthing,
    spatial_berthing,
)
from c3p_multibody.constraints.kinds import pose
from c3p_multibody.trees import crba, point_jacobian
from c3p_plots import style

ANGLE = st.floats(-3.1, 3.1)


@pytest.fixture
def coarse(monkeypatch):
    """Draw pages with few dots: what is tested is not how sharp they are."""
    def save(page, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        files = [path.with_name(f'{path.name}{suffix}') for suffix in ('.png', '.pdf')]
        page.savefig(files[0], dpi=60)
        files[1].write_bytes(files[0].read_bytes())
        return files

    monkeypatch.setattr(style, 'save', save)


def ready(metrics):
    """Check what all have in common; return the metrics as read from JSON."""
    again = json.loads(json.dumps(metrics))
    assert again['reached'] is True
    assert [Path(file).suffix for file in again['files']] == ['.png', '.pdf', '.csv']
    assert all(Path(file).stat().st_size > 1_000 for file in again['files'])
    return again


def test_two_arms_catch_carry_and_release_a_box(tmp_path, coarse):
    metrics = ready(run_grasp(tmp_path))
    # torques are held for a step each, their work is exact to the integrator's fourth order
    assert metrics['energy_error_j'] < 1e-9
    assert metrics['drift_max_m'] < 1e-12
    # six of the twelve rows are independent in a plane
    assert (metrics['rows_held'], metrics['rank_held']) == (12, 6)
    # the box and the first hand: more than nothing, less than all of ½ 2 kg (0.15 m/s)²
    assert 0 < metrics['grasp_loss_j'] < 0.0225
    assert metrics['grasp_loss_j'] <= metrics['energy_lost_in_impacts_j']


def test_the_arm_berths_the_satellite_and_momentum_stays(tmp_path, coarse):
    metrics = ready(run_berthing(tmp_path))
    for name, rank in (('planar', 6), ('spatial', 12)):
        part = metrics[name]
        assert part['momentum_error_ns'] < 1e-9 * part['momentum_ns']
        assert part['angular_momentum_error_nms'] < 1e-9 * part['angular_momentum_nms']
        assert part['energy_error_j'] < 1e-9
        assert part['drift_max_m'] < 1e-12
        assert (part['rows_latched'], part['rank_latched']) == (12, rank)
        assert part['capture_loss_j'] > 0
        # rates of a chain are not a straight way in space; the envelope is some centimetres
        assert part['capture_miss_m'] < 0.01


def test_the_chain_comes_to_lean_against_the_wall(tmp_path, coarse):
    metrics = ready(run_chain(tmp_path))
    # after the first hit the joints shake at some 100 Hz, which a step of 0.25 ms follows to 1e-7
    assert metrics['energy_error_j'] < 1e-5
    assert metrics['penetration_max_m'] < 1e-9
    assert set(metrics['closed_at_end']) == {'foot on ground', 'joint 5 on wall'}
    assert metrics['energy_lost_in_impacts_j'] > 1.0


def test_smooth_steps_have_the_derivatives_that_they_return():
    h = 1e-5
    for time in np.linspace(-0.2, 2.3, 11):
        before, here, after = (quintic(time + k * h, 0.1, 2.0) for k in (-1, 0, 1))
        assert (after[0] - before[0]) / (2 * h) == pytest.approx(here[1], abs=1e-8)
        assert (after[1] - before[1]) / (2 * h) == pytest.approx(here[2], abs=1e-7)


def test_references_pass_their_points():
    path = point_to_point([(0.0, np.zeros(2)), (1.0, np.ones(2)), (3.0, np.array([1.0, -1.0]))])
    for time, place in ((-1.0, [0, 0]), (1.0, [1, 1]), (3.0, [1, -1]), (9.0, [1, -1])):
        np.testing.assert_allclose(path(time)[0], place)
    # both hands are where the box is
    assert hand_path(1)(1.0)[0][0] - hand_path(0)(1.0)[0][0] == pytest.approx(0.3)


def test_joint_angles_reach_their_place_or_are_rejected():
    lengths = (0.5, 0.4, 0.1)
    for side in (-1.0, 1.0):
        angles = np.cumsum(three_joint_angles(np.array([0.4, 0.5, 0.7]), lengths, side))
        tip = np.array(lengths) @ np.column_stack([np.cos(angles), np.sin(angles)])
        np.testing.assert_allclose(tip, [0.4, 0.5], atol=1e-12)
        assert angles[2] == pytest.approx(0.7)
    with pytest.raises(ValueError, match='out of reach'):
        three_joint_angles(np.array([2.0, 0.0, 0.0]), lengths, 1.0)


def test_a_quintic_is_the_hermite_polynomial_at_rest_at_both_ends():
    # independent oracle: Bernstein form from the six end conditions
    oracle = BPoly.from_derivatives([0.5, 2.5], [[0, 0, 0], [1, 0, 0]])
    for time in np.linspace(0.5, 2.5, 23):
        expected = [oracle(time), oracle.derivative()(time), oracle.derivative(2)(time)]
        np.testing.assert_allclose(quintic(time, 0.5, 2.5), expected, atol=1e-12)
    assert quintic(0.0, 0.5, 2.5) == (0.0, 0.0, 0.0)
    assert quintic(9.0, 0.5, 2.5) == (1.0, 0.0, 0.0)


@given(shoulder=ANGLE, elbow=st.floats(0.05, 3.0), wrist=ANGLE, left=st.booleans(),
       lengths=st.tuples(*3 * [st.floats(0.1, 2.0)]))
def test_inverse_kinematics_inverts_the_forward_kinematics(shoulder, elbow, wrist, left, lengths):
    side = 1.0 if left else -1.0
    turns = np.cumsum([shoulder, side * elbow, wrist])
    tip = np.array(lengths) @ np.column_stack([np.cos(turns), np.sin(turns)])
    found = np.cumsum(three_joint_angles(np.array([*tip, turns[2]]), lengths, side))
    # angles agree up to whole turns; the elbow is badly conditioned near the straight arm
    np.testing.assert_allclose(np.exp(1j * found), np.exp(1j * turns), atol=1e-6)


@pytest.mark.parametrize('arm', [0, 1])
def test_joint_references_follow_the_hand_and_are_consistent(arm):
    hand, joints, h = hand_path(arm), joint_path(arm), 1e-3
    for time in np.linspace(0.05, 4.45, 12):
        angle, rate, _ = joints(time)
        turns = np.cumsum(angle)
        tip = [BASES[arm], HEIGHT] + np.array(LENGTHS) @ np.column_stack(
            [np.cos(turns), np.sin(turns)])
        np.testing.assert_allclose(tip, hand(time)[0][:2], atol=1e-12)
        before, after = joints(time - h)[0], joints(time + h)[0]
        np.testing.assert_allclose((after - before) / (2 * h), rate, atol=1e-3)


def test_hands_hold_the_box_at_its_width_at_every_stop():
    for time in (CATCH, LIFTED, CARRIED, DOWN, RELEASE):
        left, right = (hand_path(arm)(time)[0] for arm in (0, 1))
        assert np.hypot(*(right - left)[:2]) == pytest.approx(BOX[0], abs=1e-12)


def test_hands_come_nearer_by_less_than_the_chord_while_they_turn():
    # each hand moves on a straight line while the box turns by 2 TILT at most
    for time in np.linspace(CATCH, RELEASE, 40):
        left, right = (hand_path(arm)(time)[0] for arm in (0, 1))
        assert BOX[0] * np.cos(TILT) < np.hypot(*(right - left)[:2]) <= BOX[0] + 1e-12
        assert right[2] - left[2] == pytest.approx(np.pi)


@given(st.lists(st.floats(-1.5, 1.5), min_size=LINKS + 2, max_size=LINKS + 2))
def test_places_of_the_chain_are_those_of_its_tree(q):
    tree, q = chain_tree(), np.array(q)
    joints = joints_of(q)
    for k in range(LINKS):
        turn, origin = pose(tree, q, f'link{k}')
        np.testing.assert_allclose(joints[k], origin[:2], atol=1e-12)
        np.testing.assert_allclose(joints[k + 1], (origin + turn @ (LENGTH, 0, 0))[:2],
                                   atol=1e-12)
    np.testing.assert_allclose(np.hypot(*np.diff(joints, axis=0).T), LENGTH)
    # ground for every joint and the foot, wall for every joint but the foot
    assert len(chain_contacts()) == 2 * LINKS + 1


def test_the_tip_of_an_arm_has_the_jacobian_of_its_forward_kinematics():
    tree, q = grasp_tree(), np.random.default_rng(1).uniform(-1.0, 1.0, 2 * ARM + 3)
    for arm in (0, 1):
        def tip(q, arm=arm):
            turn, origin = pose(tree, q, f'arm{arm}_link{ARM - 1}')
            return origin + turn @ (LENGTHS[-1], 0, 0)

        numeric = np.column_stack([(tip(q + step) - tip(q - step)) / 2e-6
                                   for step in 1e-6 * np.eye(tree.count)])
        found = point_jacobian(tree, q, f'arm{arm}_link{ARM - 1}', (LENGTHS[-1], 0, 0))
        np.testing.assert_allclose(found[:3], numeric, atol=1e-8)


@pytest.mark.parametrize(('make', 'mass'), [
    (planar_berthing, 140.0 + 90.0 + 80.0), (spatial_berthing, 30.0 + 110.0 + 90.0 + 80.0)])
def test_orbiter_arm_and_satellite_are_free_and_have_their_masses(make, mass):
    plan = make()
    q = np.zeros(plan.tree.count)
    q[plan.arm] = plan.start
    inertia = crba(plan.tree, q)
    # translation of a free base moves the mass of all that hangs on it
    assert inertia[0, 0] == pytest.approx(ORBITER[0] + mass)
    assert inertia[-plan.base, -plan.base] == pytest.approx(SATELLITE[0])
    assert not inertia[:-plan.base, -plan.base:].any()
    assert len(plan.start) == len(plan.berth) == plan.arm.stop - plan.arm.start
    assert plan.tree.count == 2 * plan.base + len(plan.start)


@given(st.floats(-3.0, 3.0), st.floats(-1.5, 1.5), st.floats(-3.0, 3.0),
       st.tuples(*3 * [st.floats(-5.0, 5.0)]))
def test_coordinates_of_a_free_body_give_back_its_pose(yaw, pitch, roll, place):
    plan = spatial_berthing()
    q = np.zeros(plan.tree.count)
    q[-6:] = [*place, yaw, pitch, roll]
    turn, origin = pose(plan.tree, q, 'satellite')
    np.testing.assert_allclose(chain_coordinates(turn, origin, 6), q[-6:], atol=1e-9)
    planar = planar_berthing()
    q = np.zeros(planar.tree.count)
    q[-3:] = [*place[:2], yaw]
    turn, origin = pose(planar.tree, q, 'satellite')
    np.testing.assert_allclose(chain_coordinates(turn, origin, 3), q[-3:], atol=1e-9)
