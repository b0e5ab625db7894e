# SPDX-License-Identifier: Apache-2.0
"""Draws of campaigns: pure functions of specification and index, inside their ranges."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from c3p_bringup.cli.campaign import spec_of
from c3p_bringup.cli.main import parser
from c3p_description import load
from c3p_experiments.campaigns.campaign import command, degrees, source_digest
from c3p_experiments.campaigns.spec import STREAMS, CampaignSpec, draw

SPEC = CampaignSpec()


def parameters(spec, indices):
    """Return what is drawn by `indices`, name → array."""
    rows = [draw(spec, index).parameters() for index in indices]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def test_a_draw_depends_on_its_index_and_on_nothing_before_it():
    forward = [draw(SPEC, index).parameters() for index in range(4)]
    backward = [draw(SPEC, index).parameters() for index in reversed(range(4))][::-1]
    assert forward == backward
    assert len({row['latency_s'] for row in forward}) == 4
    assert draw(replace(SPEC, seed=1), 0).parameters() != forward[0]


def test_what_is_drawn_fills_its_range_and_stays_inside():
    found, described = parameters(SPEC, range(200)), load('c3p')
    ranges = {'friction': SPEC.friction, 'latency_s': SPEC.latency, 'noise_counts': SPEC.noise,
              'pivot_factor': SPEC.pivot, 'scrub_factor': SPEC.scrub,
              'rolling_factor': SPEC.rolling, 'com_x_m': (-0.01, 0.01), 'com_y_m': (-0.01, 0.01),
              'platform_mass_kg': (27.0, 33.0), 'link_mass_2_kg': (1.08, 1.32)}
    for name, (low, high) in ranges.items():
        values = (found[name] - low) / (high - low)
        assert values.min() >= 0 and values.max() <= 1, name
        # of 200 uniform values the smallest exceeds 0.05 with a probability of 3e-5
        assert values.min() < 0.05 and values.max() > 0.95, name
    assert set(found['wheel_counts']) == set(SPEC.wheel_counts)
    assert set(found['steering_counts']) == set(SPEC.steering_counts)
    # geometry has no error unless one is asked for
    assert set(found['wheel_radius_1_m']) == {described.wheel_radius[0]}
    assert set(found['start_steering_3_rad']) == {0.0}


def test_quantities_are_independent_of_each_other():
    found = parameters(SPEC, range(200))
    names = [name for name, values in found.items() if np.ptp(values) > 0]
    rho = np.corrcoef([found[name] for name in names])[np.triu_indices(len(names), 1)]
    # 1/√200 is one standard deviation; of some 500 pairs the largest has about 3.3 of them
    assert len(names) > 25 and np.abs(rho).max() < 4.5 / np.sqrt(200)


@pytest.mark.parametrize('change', [
    {'latency': (0.0, 0.1)}, {'mass': 0.3}, {'friction': (0.35, 0.9)}, {'noise': (0.0, 0.0)},
    {'wheel_counts': (500,)}, {'start_steering': 'random'}, {'com': 0.0}])
def test_another_range_leaves_the_draws_of_all_others(change):
    changed = {'start_steering': 'start_steering', 'mass': ('mass', 'inertia'),
               'com': 'com_'}.get(next(iter(change)), next(iter(change)))
    before = draw(SPEC, 5).parameters()
    after = draw(replace(SPEC, **change), 5).parameters()
    different = {name for name in before if before[name] != after[name]}
    assert different and all(any(part in name for part in np.atleast_1d(changed))
                             for name in different)


def test_friction_is_scaled_by_its_own_factor():
    drawn, described = draw(SPEC, 3), load('c3p')
    factor = drawn.factors
    expected = described.losses * [factor['pivot'], factor['pivot'], factor['rolling'],
                                   factor['rolling'], factor['scrub'], 1.0]
    np.testing.assert_allclose(drawn.robot.losses, expected, rtol=1e-12)
    # the controller's robot is the description
    np.testing.assert_array_equal(drawn.described.losses, described.losses)


def test_random_start_steering_is_one_angle_for_each_caster_all_around():
    found = parameters(replace(SPEC, start_steering='random'), range(200))
    angles = np.array([found[f'start_steering_{i}_rad'] for i in (1, 2, 3)])
    assert angles.min() < -3.0 and angles.max() > 3.0
    assert np.abs(np.corrcoef(angles)[np.triu_indices(3, 1)]).max() < 0.25


def test_the_analytic_plant_has_no_friction_of_the_ground():
    assert draw(replace(SPEC, plant='analytic'), 0).parameters()['friction'] is None


@settings(max_examples=25)
@given(seed=st.integers(0, 2**40), yaw=st.floats(-3.0, 3.0), angle=st.floats(-180.0, 180.0),
       high=st.floats(0.02, 1.0), plant=st.sampled_from(['analytic', 'mujoco']))
def test_the_command_line_of_a_draw_gives_its_specification(seed, yaw, angle, high, plant):
    spec = CampaignSpec(seed=seed, goal=(1.5, -0.25, yaw), latency=(0.01, high), plant=plant,
                        start_steering=(float(np.radians(angle)), 0.0, 1.0), wheel_counts=(512,))
    words = command(spec, 12).split()
    assert words[:4] == ['c3p', 'campaign', '--only', '12']
    assert spec_of(parser().parse_args(words[1:])) == spec


def test_the_command_line_of_a_default_campaign_is_short():
    assert command(SPEC, 0) == 'c3p campaign --only 0'
    assert spec_of(parser().parse_args(['campaign'])) == SPEC
    assert degrees(np.radians(45.0)) == 45.0


def test_an_experiment_brings_its_own_robot():
    spec = spec_of(parser().parse_args(['campaign', '--experiment', 'ramp_y']))
    assert (spec.experiment, spec.robot) == ('ramp_y', 'c3p_25kg')


@pytest.mark.parametrize('change, message', [
    ({'controller': 'pid'}, 'controller = pid: must be one of'),
    ({'plant': 'real'}, 'plant = real: must be one of'),
    ({'latency': (0.02, 0.01)}, 'latency = 0.02 0.01: must be two finite numbers'),
    ({'noise': (-1.0, 1.0)}, 'noise = -1.0 1.0'),
    ({'friction': (0.0, 0.9)}, 'friction = .* greater than zero'),
    ({'goal': (1.0, np.nan, 0.0)}, 'goal = '), ({'seed': -1}, 'seed = -1'),
    ({'mass': 1.5}, 'mass = 1.5'), ({'timeout': 0.0}, 'timeout = 0.0'),
    ({'wheel_counts': ()}, 'wheel_counts'), ({'start_steering': 'left'}, 'start_steering = left'),
    ({'experiment': 'line', 'goal': (1.0, 0.0, 0.0)}, 'goals and start steering of its own')])
def test_what_cannot_be_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        replace(SPEC, **change)


def test_a_wrong_number_of_start_angles_is_named():
    with pytest.raises(ValueError, match='start_steering has 2 angles: must have 1, or 3'):
        draw(replace(SPEC, start_steering=(0.0, 1.0)), 0)


def test_a_specification_is_json_and_its_robot_has_a_digest(tmp_path):
    assert json.loads(json.dumps(SPEC.plain()))['latency'] == [0.0, 0.02]
    other = tmp_path / 'other.yaml'
    other.write_text('extends: c3p\nname: c3p\nplatform:\n  mass: 31.0\n')
    assert source_digest('c3p') == source_digest('c3p') != source_digest(str(other))


def test_streams_are_only_ever_added_at_the_end():
    # a campaign of yesterday has the same draws tomorrow; nobody may sort these
    assert STREAMS == ('robot', 'friction', 'pivot', 'scrub', 'rolling', 'latency',
                       'wheel_counts', 'steering_counts', 'noise', 'sensor_seed', 'steering')
    np.testing.assert_allclose(
        [draw(SPEC, 17).latency, draw(SPEC, 17).friction, draw(SPEC, 17).noise],
        [0.006080781340472046, 0.6782002172440917, 0.1210191593003771], rtol=1e-12)
