# SPDX-License-Identifier: Apache-2.0
"""Experiment of the AGV: metrics, files and rejected robots."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from c3p_description import ModelError, load
from c3p_experiments.saha_angeles.experiment import ROWS, load_agv, run_agv
from c3p_experiments.saha_angeles.simulation import circle_torque
from c3p_experiments.saha_angeles.study import PAPER_TOLERANCES
from c3p_multibody.agv.circle import Circle, joint_path
from c3p_multibody.agv.dynamics import friction_torque, kinetic_energy


@pytest.fixture(scope='module')
def metrics(tmp_path_factory):
    return run_agv(tmp_path_factory.mktemp('agv'))


def test_figures_of_the_paper(metrics):
    np.testing.assert_allclose(metrics['theta_end_rad'], [-32 * math.pi, -48 * math.pi],
                               rtol=1e-12)
    # 1.875 B/T at the middle, times (R ∓ l/2)/r
    fastest = 1.875 * 2 * math.pi / 60
    np.testing.assert_allclose(metrics['rate_max_rad_s'], [16 * fastest, 24 * fastest], rtol=1e-9)
    np.testing.assert_allclose(metrics['torque_max_nm'], [0.01292, 0.01158], atol=5e-6)
    assert metrics['reached'] and metrics['direct_dynamics_error_rad'] < 1e-9
    # energy gained is work done; Simpson's rule of 300 intervals leaves 1e-9
    assert metrics['work_balance_j'] < 1e-8


def test_error_falls_with_the_tolerance_but_for_a_table(metrics):
    rows = {row['tolerance']: row for row in metrics['tolerances']}
    exact = [rows[t]['exact_torque_error_rad'] for t in PAPER_TOLERANCES]
    assert all(later < 0.2 * earlier for earlier, later in zip(exact[:-2], exact[1:-1],
                                                               strict=True))
    assert exact[-1] < 3e-6
    tables = [rows[t]['table_error_rad'] for t in PAPER_TOLERANCES[2:]]
    np.testing.assert_allclose(tables, metrics['table_error_at_1e-5_rad'], rtol=1e-2)
    # every floor is where the mean error of a chord leads
    assert metrics['prediction_miss'] < 2e-3


def test_rank_of_constraints_and_units_of_least_squares(metrics):
    assert (metrics['constraint_rows'], metrics['constraint_rank']) == (33, 28)
    assert metrics['lateral_sum_undetermined'] < 1e-12 < metrics['lateral_difference_undetermined']
    assert min(metrics['wheel_load_min_n']) > 0 and metrics['friction_needed'] < 0.01
    left, right = metrics['rates_least_squares_mm_rad_s']
    assert left == pytest.approx(right, rel=1e-4)
    assert 300 < metrics['without_caster_state_error_rad'] < 330


def test_files_and_json(metrics):
    assert json.loads(json.dumps(metrics))['experiment'] == 'agv'
    picture, table = (open(metrics['files'][key], 'rb').read() for key in ('picture', 'table'))
    assert picture.startswith(b'\x89PNG') and b'![AGV' in table
    verdicts = {row['figure']: row['verdict'] for row in metrics['table']}
    assert verdicts['direct dynamics against the path'] == 'stretch'
    assert len(metrics['table']) == len(ROWS)


def test_robots_of_another_kind_are_refused(tmp_path):
    assert load_agv('agv').name == load('agv').name
    with pytest.raises(ModelError, match="'c3p' is not an AGV.*extends: agv"):
        run_agv(tmp_path, robot='c3p')
    assert not list(tmp_path.iterdir())


def test_circle_that_the_caster_cannot_follow_is_refused(tmp_path):
    narrow = tmp_path / 'narrow.yaml'
    narrow.write_text('extends: agv\ngeometry: {caster_offset: 0.5}\n')
    with pytest.raises(ValueError, match='wider than caster_offset'):
        run_agv(tmp_path, narrow, Circle(0.1))


@given(radius=st.floats(0.7, 4.0), angle=st.floats(0.5, 6.3), duration=st.floats(20.0, 90.0))
@settings(max_examples=5)
def test_kinetic_energy_is_the_work_on_other_circles(radius, angle, duration):
    circle, agv = Circle(radius, duration, angle), load_agv('agv')
    time = np.linspace(0.0, duration, 401)
    path, torque = joint_path(agv, circle, time), circle_torque(agv, circle, time)
    # independent of the direct dynamics: trapezoidal work of motors and friction
    power = np.einsum('ki,ki->k', torque + friction_torque(agv, path.caster, path.rates),
                      path.rates)
    work = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(time))])
    energy = kinetic_energy(agv, path.caster, path.rates)
    np.testing.assert_allclose(energy, work, atol=2e-4 * np.abs(energy).max())


def test_wheels_differ_by_the_arc_of_the_track_on_any_circle():
    # plane geometry: both wheels are on concentric circles, one track apart
    agv = load_agv('agv')
    for radius in (1.0, 2.0, 3.0):
        path = joint_path(agv, Circle(radius), np.array([0.0, 60.0]))
        rolled = np.abs(path.angles[-1]) * agv.wheel_radius
        assert np.ptp(rolled) == pytest.approx(agv.track * Circle(radius).angle, rel=1e-12)
