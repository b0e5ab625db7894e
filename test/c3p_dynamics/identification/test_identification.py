# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from excited import RATE, excited
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import caster_robots

from c3p_description import load
from c3p_description.model import Friction
from c3p_dynamics.identification.identify import identify
from c3p_dynamics.identification.parameters import (
    PARAMETERS,
    USUAL,
    Unknown,
    described,
    scale,
    unknowns,
    with_values,
)
from c3p_dynamics.identification.recording import IdentificationError, Recording
from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.sensors import SensorSettings

ROBOT = load('c3p')
LATENCY = 0.010
# one reading per cycle: the rates, which are not used, would take most of the time
SENSORS = SensorSettings(latency=LATENCY, sample_rate=RATE)


def truth(robot, name, latency=LATENCY):
    return latency if name == 'delay' else described(robot, Unknown(name))


def other_robot(seed):
    """Return the C3P with masses wrong by 20 %, friction by half, and its centre 2 cm away."""
    rng = np.random.default_rng(seed)
    friction = {name: value * rng.uniform(0.5, 1.5)
                for name, value in vars(ROBOT.friction).items()}
    return replace(ROBOT, platform_mass=30.0 * rng.uniform(0.8, 1.2),
                   platform_inertia=3.51 * rng.uniform(0.8, 1.2),
                   platform_com=rng.uniform(-0.02, 0.02, 2), friction=Friction(**friction))


@pytest.fixture(scope='module')
def noisy():
    """Return {seed: (robot that moved, result)} of 8 s with encoders and 10 ms of latency."""
    robots = {seed: other_robot(seed) for seed in range(4)}
    return {seed: (robot, identify(ROBOT, excited(robot, settings=SENSORS, seed=seed)))
            for seed, robot in robots.items()}


def test_masses_friction_and_centre_are_recovered_within_five_percent(noisy):
    for robot, result in noisy.values():
        assert [e.name for e in result.estimates] == sorted(USUAL, key=list(PARAMETERS).index)
        for e in result.estimates:
            # of the centre a millimetre; measured: 0.1 % of masses, 0.2 mm, 4 % of the smallest
            # friction, pivot_viscous
            allowed = 1e-3 if e.name.startswith('platform_com') else (
                0.05 * truth(robot, e.name))
            assert abs(e.value - truth(robot, e.name)) < allowed, e.name
        assert abs(result.delay - LATENCY) < 1e-4


def test_intervals_cover_the_truth_as_often_as_they_say(noisy):
    inside = [e.low <= truth(robot, e.name) <= e.high
              for robot, result in noisy.values() for e in result.estimates]
    # of 44; with 95 % each, fewer than 85 % would be a chance of 1 in 150
    assert len(inside) == 44 and np.mean(inside) >= 0.85
    # and they say something: the mass is known to 2 in 1000
    assert all(e.high - e.low < 4e-3 * e.value
               for _, result in noisy.values() for e in result.estimates
               if e.name == 'platform_mass')


def test_errors_are_those_of_rounded_encoders(noisy):
    """A rounded angle is wrong by 2π/counts/√12 rms."""
    for _, result in noisy.values():
        rounding = 0.04 * 2 * np.pi / np.array([4096, 2000]) / np.sqrt(12)
        np.testing.assert_allclose(result.noise, rounding, rtol=0.1)
        assert abs(result.persistence) < 0.2 and not result.set_aside.any()
        assert np.mean(result.errors**2) < np.mean(result.described_errors**2)


@settings(max_examples=2)
@given(caster_robots(max_casters=4), st.integers(0, 1000))
def test_exact_angles_give_exact_parameters_of_any_robot(robot, seed):
    # a torque that accelerates it by about 2 m/s², and friction in proportion
    torque = robot.total_mass * robot.wheel_radius.mean() * 2.0 / robot.count
    robot = replace(robot, friction=Friction(
        rolling_coulomb=0.1 * torque, rolling_viscous=0.003 * torque, smoothing=0.2,
        scrub_coulomb=0.05 * torque, pivot_coulomb=0.03 * torque, pivot_viscous=0.01 * torque))
    recording = excited(robot, 7.0, torque, seed=seed)
    wrong = replace(robot, platform_mass=1.3 * robot.platform_mass,
                    platform_inertia=0.8 * robot.platform_inertia)
    result = identify(wrong, recording)
    for e in result.estimates:
        size = max(scale(robot, e.unknown, torque, 5.0), abs(e.value))
        # what is left is the difference of integration steps
        assert abs(e.value - truth(robot, e.name, 0.0)) < max(0.01 * size, e.high - e.low), e.name
    assert {'platform_mass', 'platform_inertia', 'rolling_coulomb'} <= {
        e.name for e in result.estimates}


def test_parameters_of_a_robot_in_contact_are_recovered_by_another_engine():
    """Tyres that may slip, dry friction that sticks, other integrator: MuJoCo."""
    pytest.importorskip('mujoco')
    from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant
    result = identify(ROBOT, excited(ROBOT, 10.0, 0.4, SENSORS, plant=MujocoPlant('c3p')))
    assert result.sudden
    for e in result.estimates:
        # its friction sticks, so there is no smoothing; it applies torques half a step early
        if e.name not in ('smoothing', 'delay'):
            true = truth(ROBOT, e.name)
            assert abs(e.value - true) < (1e-3 if 'com' in e.name else 0.05 * true), e.name
    assert abs(result.delay - LATENCY) < 1e-3


def test_friction_that_changes_its_sign_at_once_is_told():
    robot = replace(ROBOT, friction=replace(ROBOT.friction, smoothing=1e-3))
    recording = excited(robot, 6.0, settings=SENSORS, plant=AnalyticPlant(robot, substep=2e-4))
    result = identify(ROBOT, recording, ['platform_mass', 'rolling_coulomb', 'scrub_coulomb',
                                         'smoothing', 'delay'])
    assert result.sudden and result['smoothing'].value < 0.005
    for name in ('platform_mass', 'rolling_coulomb', 'scrub_coulomb'):
        assert result[name].value == pytest.approx(truth(robot, name), rel=0.01)
    assert not identify(ROBOT, excited(ROBOT, 4.0), ['smoothing', 'delay']).sudden


@pytest.mark.parametrize('start', [
    replace(ROBOT, platform_mass=90.0, platform_inertia=12.0, platform_com=[0.1, -0.1],
            friction=Friction(smoothing=0.2)),
    replace(ROBOT, platform_mass=10.0, platform_inertia=1.0, friction=Friction(
        0.02, 0.1, 0.01, 0.2, 0.2, 0.2))], ids=['heavy and frictionless', 'light and braked'])
def test_a_description_wrong_by_three_times_leads_to_the_same_place(start, noisy):
    robot, result = noisy[0]
    again = identify(start, excited(robot, settings=SENSORS, seed=0))
    for e in result.estimates:
        # where the search ends must not be seen beside what the data say
        assert abs(again[e.name].value - e.value) < 0.02 * (e.high - e.low), e.name


def test_casters_may_have_friction_of_their_own():
    robot = replace(ROBOT, friction=replace(ROBOT.friction, rolling_coulomb=[0.03, 0.05, 0.09]))
    result = identify(ROBOT, excited(robot, settings=SENSORS), ['platform_mass',
                                                                'rolling_coulomb', 'delay'],
                      ['rolling_coulomb'])
    found = [result[f'rolling_coulomb_{i}'].value for i in (1, 2, 3)]
    np.testing.assert_allclose(found, [0.03, 0.05, 0.09], rtol=0.01)
    np.testing.assert_allclose(result.robot.friction.rolling_coulomb, found)


def test_a_caster_without_a_motor_and_recordings_as_lists_are_as_good():
    # what is said to be commanded to a wheel without a motor does not count
    robot = replace(ROBOT, driven=[True, False, True], torque_limit=np.inf)
    plant, time = AnalyticPlant(robot), np.arange(0.0, 6.0, 1 / RATE)
    torque = 0.4 * np.sin(np.outer(time, [3.0, 5.0, 7.0]) + [0.0, 1.0, 2.0])
    samples = [plant.sense()] + [plant.step(row * robot.driven, 1 / RATE) for row in torque[:-1]]
    result = identify(replace(robot, platform_mass=24.0), Recording(
        *(list(part) for part in (time, [s.steering for s in samples],
                                  [s.wheel_angle for s in samples], time, torque))),
        ['platform_mass', 'platform_inertia', 'rolling_coulomb', 'delay'])
    for name in ('platform_mass', 'platform_inertia', 'rolling_coulomb'):
        assert result[name].value == pytest.approx(truth(ROBOT, name), rel=1e-3), name


def test_mass_at_the_pivots_is_not_told_from_mass_of_the_platform():
    """M and G depend on Σ link_mass + platform_mass alone once inertias are free."""
    result = identify(ROBOT, excited(ROBOT, settings=SENSORS),
                      ['platform_mass', 'platform_inertia', 'link_mass', 'link_inertia',
                       'wheel_spin_inertia', 'delay'])
    assert [u.unknown.name for u in result.unseen] == ['link_mass']
    assert result.unseen[0].half_width == np.inf and 'weigh' in result.unseen[0].remedy
    assert result['link_inertia'].low < 1.5e-3 < result['link_inertia'].high


def straight(seconds=7.0):
    """Return a drive along the parallel rolling lines: nothing turns; noise as of encoders."""
    plant = AnalyticPlant(ROBOT)
    samples, sample = [], plant.sense()
    time = np.arange(0.0, seconds, 1 / RATE)
    torque = (0.15 + 0.3 * np.sin(3.0 * time))[:, None] * np.ones(3)
    for row in torque:
        samples.append(sample)
        sample = plant.step(row, 1 / RATE)
    rng = np.random.default_rng(1)
    steering, wheel = (noise * rng.normal(size=torque.shape)
                       + np.array([getattr(s, name) for s in samples])
                       for name, noise in (('steering', 4e-4), ('wheel_angle', 9e-4)))
    return Recording(time, steering, wheel, time, torque)


def test_a_straight_drive_does_not_show_what_only_turning_shows():
    result = identify(ROBOT, straight())
    unseen = {u.unknown.name for u in result.unseen}
    # acceleration along Y turns a platform whose centre is beside the line: com_x is seen
    assert unseen == {'platform_inertia', 'platform_com_y', 'pivot_coulomb', 'pivot_viscous',
                      'scrub_coulomb', 'smoothing'}
    mass = result['platform_mass']
    assert mass.low < 30.0 < mass.high and abs(mass.value - 30.0) < 0.5
    # what was not seen stays as described
    assert result.robot.platform_inertia == ROBOT.platform_inertia


def test_nothing_to_be_seen_is_an_error_with_a_remedy():
    with pytest.raises(IdentificationError, match='scrub_coulomb.*circles of constant radius'):
        identify(ROBOT, straight(), ['scrub_coulomb'])


def test_pieces_with_a_push_are_set_aside():
    plant = AnalyticPlant(ROBOT)
    clean = excited(ROBOT, settings=SENSORS)
    step, count = plant.step, 0

    def pushed(torque, dt):
        nonlocal count
        count += 1
        if count == int(6.0 * RATE):
            plant.push([40.0, 0.0], 0.0, 0.3)
        return step(torque, dt)

    plant.step = pushed
    recording = excited(ROBOT, settings=SENSORS, plant=plant)
    assert np.abs(recording.wheel_angle - clean.wheel_angle).max() > 0.1
    result = identify(ROBOT, recording)
    aside = result.segments[result.set_aside]
    assert 1 <= len(aside) <= 2 and 5.4 < aside[0, 0] and aside[-1, 1] < 6.9
    assert abs(result['platform_mass'].value - 30.0) < 0.1


def test_influence_is_what_another_description_would_give():
    recording = excited(ROBOT, settings=SENSORS)
    names = ['platform_mass', 'rolling_coulomb']
    result = identify(ROBOT, recording, names)
    for name in ('platform_inertia', 'link_mass', 'scrub_coulomb'):
        # a tenth of 1 %: a wrong description also changes the weights
        more, _ = with_values(ROBOT, [Unknown(name)], [1.001 * described(ROBOT, Unknown(name))])
        again = identify(more, recording, names)
        change = 10 * np.array([again[n].value - result[n].value for n in names])
        assert abs(result.influence[name][0] - change[0]) < 0.1 * abs(change[0]), name
        assert abs(change[0]) > 1e-3


def test_too_few_segments_are_an_error():
    with pytest.raises(IdentificationError, match='[34] segments .* for 11 unknowns: at least 13'):
        identify(ROBOT, excited(ROBOT, 1.7, settings=SENSORS))


def test_no_torque_at_all_is_an_error():
    recording = excited(ROBOT, 3.0)
    with pytest.raises(IdentificationError, match='all commanded wheel torques are zero'):
        identify(ROBOT, recording._replace(torque=0 * recording.torque))


@pytest.mark.parametrize('options, says', [
    ({'estimate': ['mass']}, r"estimate = \['mass'\]: not known"),
    ({'estimate': []}, 'estimate is empty'),
    ({'estimate': ['delay'], 'per_caster': ['delay']}, 'belongs to the whole robot'),
    ({'estimate': ['delay'], 'per_caster': ['link_mass']}, 'not among what is estimated'),
    ({'confidence': 95}, 'confidence = 95')])
def test_options_that_cannot_be_are_named(options, says):
    with pytest.raises(ValueError, match=says):
        identify(ROBOT, straight(0.1), **options)


@given(caster_robots(), st.data())
def test_values_come_back_from_where_they_were_put(robot, data):
    names = data.draw(st.lists(st.sampled_from(list(PARAMETERS)), min_size=1, unique=True))
    single = [n for n in names if n not in ('delay', 'smoothing') and not n.startswith('platform')]
    where = unknowns(robot, names, single[:2])
    values = data.draw(st.lists(st.floats(0.1, 10.0), min_size=len(where), max_size=len(where)))
    changed, delay = with_values(robot, where, values)
    for unknown, value in zip(where, values, strict=True):
        found = delay if unknown.parameter == 'delay' else described(changed, unknown)
        assert found == pytest.approx(value, rel=1e-12)
    # and nothing else has changed
    for name in set(PARAMETERS) - set(names) - {'delay'}:
        assert described(changed, Unknown(name)) == described(robot, Unknown(name))
