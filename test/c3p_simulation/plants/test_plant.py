# SPDX-License-Identifier: Apache-2.0
"""The analytic plant: energy, rest, pushes, refusals, and starts from exactly singular poses."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plant_cases import BRISK, REFUSED
from robots import C3P, caster_robots

from c3p_description.model import Friction
from c3p_dynamics.caster_dynamics import forward_dynamics, inverse_dynamics
from c3p_kinematics.casters import sensed_forward, wheel_jacobian
from c3p_simulation.plants.plant import LEAST_OFFSET, AnalyticPlant

LOSSES = Friction(pivot_viscous=1e-3, pivot_coulomb=5e-3, rolling_viscous=1e-3,
                  rolling_coulomb=1e-2, scrub_coulomb=1e-2)


def at(robot=C3P, **start):
    plant = AnalyticPlant(robot)
    plant.reset(**start)
    return plant


# --- energy and accuracy --------------------------------------------------------------------

def test_energy_of_a_free_motion_drifts_less_than_1e_8_in_a_minute():
    plant = at(**BRISK)
    before = plant.kinetic_energy
    plant.step([0, 0, 0], 60.0)
    # fourth order at 1 ms against rates of about 10 rad/s: (0.01)^5 a step, mostly at the start
    assert abs(plant.kinetic_energy / before - 1) < 1e-8


@pytest.mark.parametrize('friction', [Friction(), LOSSES])
def test_energy_grows_by_the_work_minus_the_losses(friction):
    plant = at(replace(C3P, friction=friction), **BRISK)
    before = plant.kinetic_energy
    for k in range(400):
        plant.step(0.3 * np.sin(0.05 * k + np.arange(3)), 0.005)
    # work and losses are integrated with the state, so only the integration error remains; the
    # dry friction changes sign within 0.05 rad/s, which costs the method some of its order
    turnover = plant.kinetic_energy + abs(plant.work) + plant.dissipated
    missing = plant.kinetic_energy - before - plant.work + plant.dissipated
    assert abs(missing) < 1e-6 * turnover


def test_work_is_the_sum_of_torque_times_wheel_travel():
    plant = at(**BRISK)
    torque = np.array([0.1, -0.2, 0.3])
    after = plant.step(torque, 0.7)
    # at constant torque the integral of τ θ̇_x is τ times the angle turned
    assert plant.work == pytest.approx(torque @ after.wheel_angle, rel=1e-12)


@settings(max_examples=20)
@given(caster_robots(), st.integers(0, 1000))
def test_friction_never_adds_energy(robot, seed):
    rng = np.random.default_rng(seed)
    plant = at(replace(robot, friction=LOSSES), twist=rng.uniform(-1, 1, 3),
               steering=rng.uniform(-3, 3, robot.count))
    energy, lost = plant.kinetic_energy, 0.0
    for _ in range(20):
        plant.step(np.zeros(robot.count), 0.02)
        # in steps the integration may err by rounding and by its own order at light rates
        assert plant.kinetic_energy <= energy * (1 + 1e-7)
        assert plant.dissipated >= lost
        energy, lost = plant.kinetic_energy, plant.dissipated


def test_halving_the_substep_divides_the_error_by_sixteen():
    def end(substep):
        plant = AnalyticPlant(C3P, substep)
        plant.reset(**BRISK)
        plant.step([0.2, -0.1, 0.3], 0.5)
        return np.concatenate([plant.truth().pose, plant.truth().twist])

    exact = end(2.5e-4)
    coarse, fine = (np.linalg.norm(end(h) - exact) for h in (8e-3, 4e-3))
    # fourth order; higher terms are still seen at these steps
    assert 10 < coarse / fine < 26


def test_result_does_not_depend_on_how_the_time_is_divided():
    one, many = at(**BRISK), at(**BRISK)
    one.step([0.2, -0.1, 0.3], 0.5)
    for _ in range(100):
        many.step([0.2, -0.1, 0.3], 0.005)
    # same substeps, but for rounding of their length
    np.testing.assert_allclose(one.truth().pose, many.truth().pose, atol=1e-12)
    assert many.time == pytest.approx(0.5)


# --- interface ------------------------------------------------------------------------------

@pytest.mark.parametrize('friction', [Friction(), LOSSES])
def test_robot_at_rest_stays_exactly(friction):
    plant = at(replace(C3P, friction=friction), pose=(1, 2, 3), steering=[0.3, 1, -2])
    sample = plant.step([0, 0, 0], 1.0)
    assert plant.truth().pose.tolist() == [1, 2, 3]
    assert not plant.truth().twist.any() and not sample.wheel_rate.any()
    assert sample.steering.tolist() == [0.3, 1, -2]


def test_sensed_rates_are_the_slopes_of_the_sensed_angles():
    plant = at(**BRISK)
    before = plant.sense()
    middle = plant.step([0, 0, 0], 1e-4)
    after = plant.step([0, 0, 0], 1e-4)
    # central difference over 0.1 ms
    for angle, rate in (('steering', 'steering_rate'), ('wheel_angle', 'wheel_rate')):
        slope = (getattr(after, angle) - getattr(before, angle)) / 2e-4
        np.testing.assert_allclose(slope, getattr(middle, rate), rtol=1e-5, atol=1e-5)


def test_torque_is_clipped_and_what_was_applied_is_reported():
    robot = replace(C3P, torque_limit=1.2, driven=[True, True, False])
    assert at(robot).step([5, -0.5, 1.0], 0.01).wheel_torque.tolist() == [1.2, -0.5, 0.0]


def test_samples_do_not_change_when_the_plant_moves_on():
    plant = at(**BRISK)
    sample, truth = plant.sense(), plant.truth()
    kept = sample.steering.copy(), truth.pose.copy()
    plant.step([1, 1, 1], 0.1)
    assert np.array_equal(sample.steering, kept[0]) and np.array_equal(truth.pose, kept[1])


def test_push_accelerates_as_force_over_inertia_and_ends_within_a_step():
    plant = at()
    plant.push((0, 7.0), 0.0, 0.0025)
    plant.step([0, 0, 0], 0.01)
    along = forward_dynamics(C3P, [0] * 3, [0] * 3, [7.0 * 0.04 / 3] * 3)[1]
    np.testing.assert_allclose(plant.truth().twist, [0, 0.0025 * along, 0], atol=1e-12)
    assert plant.work == pytest.approx(plant.kinetic_energy, rel=1e-9)
    plant.reset()
    assert not plant.step([0, 0, 0], 0.01).wheel_rate.any()


@pytest.mark.parametrize(('call', 'text'), [
    *REFUSED,
    (lambda p: p.step([0, 0, -np.inf], 0.01), 'wheel_joint_3'),
    (lambda p: p.push((1, np.nan), 3, 1), 'moment'),
    (lambda p: AnalyticPlant(C3P, 0.0), 'substep'),
])
def test_wrong_input_is_refused_by_name_and_changes_nothing(call, text):
    plant = at(**BRISK)
    with pytest.raises(ValueError, match=text):
        call(plant)
    assert plant.time == 0.0 and plant.truth().twist.tolist() == list(BRISK['twist'])


# --- starts from all steering angles 0, asked to go sideways --------------------------------

def sideways(weight, seconds, wheel_gain=0.0, robot=C3P):
    """Return the plant that was asked for 0.3 m/s along X by ν̇ = 3(ν_d − ν)."""
    plant, wanted = at(replace(robot, torque_limit=1.2)), np.array([0.3, 0, 0])
    for _ in range(round(seconds / 0.005)):
        joints, nu = plant.sense(), plant.truth().twist
        torque = inverse_dynamics(robot, joints.steering, nu, 3 * (wanted - nu), weight)
        # the wheel-axis loop of the papers' fusion, weight 1: λ = 0, 0
        asked = wheel_jacobian(robot, joints.steering) @ wanted
        plant.step(torque + wheel_gain * (asked - joints.wheel_rate), 0.005)
    return plant


@pytest.mark.parametrize('wheel_gain', [0.0, 0.5])
@pytest.mark.parametrize('friction', [Friction(), LOSSES])
def test_pseudo_inverse_never_leaves_an_exactly_singular_start(wheel_gain, friction):
    plant = sideways(0.0, 10.0, wheel_gain, replace(C3P, friction=friction))
    # not even its rounding is amplified: the pose is the start to 1e-12 after ten seconds
    np.testing.assert_allclose(plant.truth().pose, 0, atol=1e-12)
    np.testing.assert_allclose(plant.sense().steering, 0, atol=1e-12)


@pytest.mark.parametrize('friction', [Friction(), LOSSES])
@pytest.mark.parametrize('weight', [1.0, 0.1, 0.01])
def test_any_damping_leaves_a_singular_start_within_a_second(weight, friction):
    plant = sideways(weight, 1.0, robot=replace(C3P, friction=friction))
    assert np.degrees(np.abs(plant.sense().steering)).max() > 10


def test_smaller_weight_leaves_sooner_and_the_papers_weight_hardly_moves():
    # side speed after one second of 0.3 m/s asked, frictionless: about 0.02, 0.13, 0.10 m/s
    speed = {w: sideways(w, 1.0).truth().twist[0] for w in (1.0, 0.1, 0.01)}
    assert speed[1.0] < 0.03 < 0.08 < speed[0.01] and speed[0.1] > 0.1


def test_plain_sum_with_the_wheel_loop_brakes_the_escape():
    # λ = 0, 0: the loop asks for no wheel rate at the singular pose and so resists turning
    speed = [sideways(0.1, 1.0, gain).truth().twist[0] for gain in (0.0, 0.1, 0.5)]
    assert speed[0] > speed[1] > speed[2] and speed[2] < 0.4 * speed[0]


@pytest.mark.parametrize('offset', [1e-6, 1e-5, 9e-5])
def test_an_offset_that_is_too_small_for_a_simulation_is_refused_with_the_remedy(offset):
    offsets = np.array([0.04, offset, 0.04])
    robot = replace(C3P, caster_offset=offsets)
    named = f'caster_offset = {offset:g} m of caster 2: a simulation needs 0.0001 m or more'
    with pytest.raises(ValueError, match=re.escape(named)):
        AnalyticPlant(robot)
    with pytest.raises(ValueError, match='c3p recompute'):
        pytest.importorskip('c3p_simulation.contact_plant.mujoco_plant').MujocoPlant(robot)
    # recordings of it need no dynamics
    assert np.all(np.isfinite(sensed_forward(robot, np.zeros(3), np.ones(3), np.zeros(3)).twist))


def test_the_smallest_offset_of_a_simulation_drives():
    plant = AnalyticPlant(replace(C3P, caster_offset=LEAST_OFFSET))
    plant.reset(steering=[0.1, -0.2, 0.3])
    for _ in range(100):
        plant.step([0.2, 0.1, 0.2], 0.005)
    assert np.all(np.isfinite(plant.truth().pose)) and np.abs(plant.truth().twist).max() < 10.0
