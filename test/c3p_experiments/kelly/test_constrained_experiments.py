# SPDX-License-Identifier: Apache-2.0
"""The experiments of constrained motion: they reach their goals, and the accounts close."""

import json
from pathlib import Path

import numpy as np
import pytest

from c3p_bags.report import style
from c3p_experiments.kelly.berthing import run_berthing
from c3p_experiments.kelly.chain import run_chain
from c3p_experiments.kelly.grasp import hand_path, run_grasp
from c3p_experiments.kelly.laws import point_to_point, quintic, three_joint_angles


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
    assert [Path(file).suffix for file in again['files']] == ['.png', '.pdf']
    assert all(Path(file).stat().st_size > 10_000 for file in again['files'])
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
